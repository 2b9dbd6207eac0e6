//! The backing storage of a drive.

use rustix::fs::{FlockOperation, OFlags, flock};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::time::Duration;

/// Persistent bytes: a file, or a test double that loses power.
///
/// Writes are visible to reads at once; they are durable when a [`sync`](Self::sync) that began
/// later has succeeded. After a failed sync nothing may be assumed about the writes since the
/// previous one.
pub trait Backing: Send + Sync {
    /// Fills `data` from `offset`.
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()>;
    /// Fills `data` with what is on the medium. After a failed sync, a cache may hold what was never written, and
    /// recovery must not trust it.
    fn read_medium_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_at(data, offset)
    }
    /// Writes all of `data` at `offset`.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
    /// Its size in bytes.
    fn bytes(&self) -> io::Result<u64>;
    /// Waits before what was wrong is read again. What is in memory gets no better by waiting.
    fn pause(&self, pause: Duration) {
        std::thread::sleep(pause);
    }
}

/// A file, or a disk.
#[derive(Debug)]
pub struct BackingFile {
    file: File,
    /// The file without the page cache of the operating system, unless the file system has only that.
    direct: Option<File>,
}

/// Alignment of offset, length and memory of reads that bypass the page cache.
const DIRECT_ALIGNMENT: usize = 4096;

impl BackingFile {
    /// Of a file that is open for reading, and for writing if it is to be written.
    pub fn new(file: File) -> Self {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = OFlags::DIRECT.bits().cast_signed();
        let direct = File::options().read(true).custom_flags(flags).open(path).ok();
        Self { file, direct }
    }
}

/// Gives back the lock on the file, if there is one. Closing the file is not enough: a child process has it open, and
/// locked, until it runs its own program.
impl Drop for BackingFile {
    fn drop(&mut self) {
        let _ = flock(&self.file, FlockOperation::Unlock);
    }
}

impl Backing for BackingFile {
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(data, offset)
    }

    fn read_medium_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        let Some(direct) = &self.direct else { return self.read_at(data, offset) };
        let skipped = (offset % DIRECT_ALIGNMENT as u64) as usize;
        let bytes = (skipped + data.len()).next_multiple_of(DIRECT_ALIGNMENT);
        let mut buffer = vec![0; bytes + DIRECT_ALIGNMENT];
        let start = buffer.as_ptr().align_offset(DIRECT_ALIGNMENT);
        let aligned = &mut buffer[start..start + bytes];
        direct.read_exact_at(aligned, offset - skipped as u64)?;
        data.copy_from_slice(&aligned[skipped..skipped + data.len()]);
        Ok(())
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.file.write_all_at(data, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn bytes(&self) -> io::Result<u64> {
        self.file.metadata().map(|metadata| metadata.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_given_back_although_the_file_is_open_elsewhere() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let open = || File::options().read(true).write(true).open(file.path()).unwrap();
        let lock = |file: &File| flock(file, FlockOperation::NonBlockingLockExclusive);
        let first = open();
        // As a process has it that is being started.
        let inherited = first.try_clone().unwrap();
        lock(&first).unwrap();
        let backing = BackingFile::new(first);
        assert!(lock(&open()).is_err());
        drop(backing);
        lock(&open()).unwrap();
        drop(inherited);
    }
}
