//! A directory with a single file, `drive`, which is the device: with a loop device on it, the
//! drive becomes a block device without a kernel module (`ftlab drive serve FILE --fuse DIR`,
//! `ftlab drive mount`).
//!
//! The page cache is bypassed, and writes may run in parallel, so that the store sees exactly the
//! requests of the loop device. A discard of the loop device arrives as a punched hole, zeros that
//! must be written as a zeroed range, and a flush as fsync.

use crate::ServeError;
use ftlab_drive::Store;
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, Session,
    TimeOrNow, WriteFlags,
};
use rustix::mount::{UnmountFlags, unmount};
use std::cell::RefCell;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What the drive is called in the directory where it is mounted.
pub const FILE_NAME: &str = "drive";

const DRIVE: INodeNo = INodeNo(2);

/// The attributes of the two files never change.
const FOREVER: Duration = Duration::from_secs(1 << 30);

/// The longest write that the kernel may request.
const WRITE_BYTES_MAX: u32 = 1 << 20;

/// Maximum number of pending requests of the kernel.
const REQUESTS_MAX: u16 = 128;

/// Modes of fallocate.
const KEEP_SIZE: i32 = 0x01;
const PUNCH_HOLE: i32 = 0x02;
const ZERO_RANGE: i32 = 0x10;

thread_local! {
    /// Buffer for reads, so that they do not allocate.
    static DATA: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// A store mounted as a file in a directory, until it is dropped.
pub struct FuseMount {
    session: Option<BackgroundSession>,
    file: PathBuf,
}

impl FuseMount {
    /// Mounts on `directory`; `threads` serve requests.
    pub fn start(
        directory: &Path,
        store: Arc<dyn Store>,
        threads: usize,
    ) -> Result<Self, ServeError> {
        let failed =
            |error: io::Error| ServeError::Mount { directory: directory.to_owned(), source: error };
        let mut config = Config::default();
        config.mount_options =
            vec![MountOption::FSName("ftlab".to_owned()), MountOption::Subtype("ftlab".to_owned())];
        config.n_threads = Some(threads.max(1));
        config.clone_fd = true;
        let session = Session::new(DriveFile::new(store), directory, &config).map_err(failed)?;
        let session = Some(session.spawn().map_err(failed)?);
        Ok(Self { session, file: directory.join(FILE_NAME) })
    }

    /// The file that is the device.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Whether it is still mounted; anyone may unmount it.
    pub fn is_mounted(&self) -> bool {
        self.session.as_ref().is_some_and(|session| !session.guard.is_finished())
    }

    /// Unmounts it; fails while the file is open.
    pub fn unmount(&self) -> io::Result<()> {
        if self.is_mounted() {
            Ok(unmount(self.directory(), UnmountFlags::empty())?)
        } else {
            Ok(())
        }
    }

    /// Unmounts it lazily: it disappears at once, but open files continue to work.
    pub fn detach(&self) {
        // It may already have been unmounted.
        let _ = unmount(self.directory(), UnmountFlags::DETACH);
    }

    /// Waits until it is no longer in use, and releases the store.
    pub fn join(mut self) {
        if let Some(session) = self.session.take() {
            // Errors at the end mean only that there is no client left.
            let _ = session.join();
        }
    }

    fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }
}

impl Drop for FuseMount {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            let _ = unmount(self.directory(), UnmountFlags::DETACH);
            let _ = session.join();
        }
    }
}

struct DriveFile {
    store: Arc<dyn Store>,
    size: u64,
    uid: u32,
    gid: u32,
}

impl DriveFile {
    fn new(store: Arc<dyn Store>) -> Self {
        let (uid, gid) = (rustix::process::getuid(), rustix::process::getgid());
        Self { size: store.bytes(), store, uid: uid.as_raw(), gid: gid.as_raw() }
    }

    fn attributes(&self, inode: INodeNo) -> Option<FileAttr> {
        let (kind, perm, nlink, size) = match inode {
            INodeNo::ROOT => (FileType::Directory, 0o755, 2, 0),
            DRIVE => (FileType::RegularFile, 0o600, 1, self.size),
            _ => return None,
        };
        Some(FileAttr {
            ino: inode,
            size,
            blocks: size / 512,
            atime: UNIX_EPOCH,
            mtime: UNIX_EPOCH,
            ctime: UNIX_EPOCH,
            crtime: UNIX_EPOCH,
            kind,
            perm,
            nlink,
            uid: self.uid,
            gid: self.gid,
            rdev: 0,
            blksize: self.store.block_bytes(),
            flags: 0,
        })
    }

    /// The part of a request within the file: reads stop at its end, as for any file.
    fn clipped(&self, offset: u64, bytes: u32) -> usize {
        u64::from(bytes).min(self.size.saturating_sub(offset)) as usize
    }

    fn is_inside(&self, offset: u64, bytes: u64) -> bool {
        offset.checked_add(bytes).is_some_and(|end| end <= self.size)
    }

    fn allocate(&self, offset: u64, bytes: u64, mode: i32) -> Result<(), Errno> {
        const PUNCHED: i32 = PUNCH_HOLE | KEEP_SIZE;
        const ZEROED: i32 = ZERO_RANGE | KEEP_SIZE;
        if !self.is_inside(offset, bytes) {
            return Err(Errno::EFBIG);
        }
        match mode {
            PUNCHED => self.store.trim(offset, bytes).map_err(|error| errno(&error)),
            ZEROED | ZERO_RANGE => {
                self.store.write_zeroes(offset, bytes, false).map_err(|error| errno(&error))
            }
            // The whole drive is always allocated.
            0 | KEEP_SIZE => Ok(()),
            _ => Err(Errno::EOPNOTSUPP),
        }
    }
}

impl Filesystem for DriveFile {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // If the kernel supports less, it reports its limit, which is sufficient.
        let _ = config.set_max_write(WRITE_BYTES_MAX);
        let _ = config.set_max_background(REQUESTS_MAX);
        Ok(())
    }

    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.attributes(DRIVE) {
            Some(drive) if parent == INodeNo::ROOT && name == FILE_NAME => {
                reply.entry(&FOREVER, &drive, Generation(0));
            }
            _ => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, inode: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.attributes(inode) {
            Some(attributes) => reply.attr(&FOREVER, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        inode: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        match size {
            Some(size) if size != self.size => reply.error(Errno::EPERM),
            _ => self.getattr(request, inode, handle, reply),
        }
    }

    fn readdir(
        &self,
        _: &Request,
        inode: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        if inode != INodeNo::ROOT {
            return reply.error(Errno::ENOTDIR);
        }
        let entries = [
            (INodeNo::ROOT, FileType::Directory, "."),
            (INodeNo::ROOT, FileType::Directory, ".."),
            (DRIVE, FileType::RegularFile, FILE_NAME),
        ];
        for (index, (inode, kind, name)) in entries.into_iter().enumerate().skip(offset as usize) {
            if reply.add(inode, index as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let block_bytes = self.store.block_bytes();
        let blocks = self.size / u64::from(block_bytes);
        reply.statfs(blocks, 0, 0, 1, 0, block_bytes, 255, block_bytes);
    }

    fn open(&self, _: &Request, inode: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        if inode == DRIVE {
            let flags = FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES;
            reply.opened(FileHandle(0), flags);
        } else {
            reply.error(Errno::EISDIR);
        }
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        DATA.with_borrow_mut(|data| {
            let bytes = self.clipped(offset, bytes);
            if bytes == 0 {
                return reply.data(&[]);
            }
            if data.len() < bytes {
                data.resize(bytes, 0);
            }
            match self.store.read(offset, &mut data[..bytes]) {
                Ok(()) => reply.data(&data[..bytes]),
                Err(error) => reply.error(errno(&error)),
            }
        });
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let bytes = self.clipped(offset, data.len() as u32);
        if bytes == 0 && !data.is_empty() {
            return reply.error(Errno::ENOSPC);
        }
        match self.store.write(offset, &data[..bytes]) {
            Ok(()) => reply.written(bytes as u32),
            Err(error) => reply.error(errno(&error)),
        }
    }

    /// A close; there is nothing to do, because nothing is cached.
    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _datasync: bool, reply: ReplyEmpty) {
        match self.store.flush() {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(errno(&error)),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        bytes: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        match self.allocate(offset, bytes, mode) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(errno),
        }
    }
}

/// The error of a store, as a kernel error number.
fn errno(error: &io::Error) -> Errno {
    use io::ErrorKind as Kind;
    match error.kind() {
        Kind::ReadOnlyFilesystem => Errno::EROFS,
        Kind::StorageFull => Errno::ENOSPC,
        Kind::InvalidInput => Errno::EINVAL,
        Kind::OutOfMemory => Errno::ENOMEM,
        _ => Errno::EIO,
    }
}
