//! The effect of each call on the files: the only place that knows system calls.

use super::call::{Call, Descriptor, elements, number, quoted_path};
use super::processes::{OpenFile, Process, Processes, Shares};
use super::tree::{Requests, Tree};
use ftlab_trace::RequestBatch;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::rc::Rc;

/// The calls to trace: those of [`Calls::take`].
pub(super) const TRACED: &str = "write,writev,pwrite64,pwritev,pwritev2,read,readv,lseek,\
    copy_file_range,sendfile,splice,open,openat,openat2,creat,dup,dup2,dup3,fcntl,close,close_range,\
    fsync,fdatasync,sync,syncfs,fallocate,truncate,ftruncate,unlink,unlinkat,rename,renameat,\
    renameat2,link,linkat,chdir,fchdir,clone,clone3,fork,vfork,mmap,io_submit,io_uring_setup";

/// Those that are traced too if reads are recorded.
pub(super) const TRACED_READS: &str = "pread64,preadv,preadv2";

/// No call writes more than this at once (read(2)).
const BYTES_MAX: u64 = 0x7fff_f000;

/// The state of the files, updated call by call.
pub(super) struct Calls {
    pub(super) tree: Tree,
    pub(super) processes: Processes,
    pub(super) blind_spots: BlindSpots,
    /// Whether reads become requests.
    reads: bool,
    /// The wall clock at the start of the trace.
    start_us: u64,
}

/// Writes that calls do not show.
#[derive(Debug, Default)]
pub(super) struct BlindSpots {
    io_uring: u64,
    mapped: BTreeSet<String>,
    /// Files that are read through mappings, if reads are recorded.
    read_mapped: BTreeSet<String>,
    not_followed: BTreeMap<&'static str, u64>,
}

impl BlindSpots {
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.io_uring > 0 {
            warnings.push(format!(
                "the command created {} io_urings, and writes through them are not in the trace; \
                 disable them (MariaDB: --innodb-use-native-aio=0, PostgreSQL: -c \
                 io_method=sync), or record with --device",
                self.io_uring
            ));
        }
        if let Some(first) = self.mapped.first() {
            warnings.push(format!(
                "{} files were mapped for writing (the first by name is {first}), and writes through \
                 mappings are not in the trace; record with --device to include them",
                self.mapped.len()
            ));
        }
        if let Some(first) = self.read_mapped.first() {
            warnings.push(format!(
                "{} files were mapped for reading (the first by name is {first}), and reads through mappings are not in \
                 the trace; record with --device to include them",
                self.read_mapped.len()
            ));
        }
        let not_followed = self.not_followed.iter();
        warnings.extend(not_followed.map(|(what, times)| format!("{times} x {what} not followed")));
        warnings
    }
}

impl Calls {
    pub(super) fn new(tree: Tree, directory: String, start_us: u64, reads: bool) -> Self {
        let processes = Processes::new(directory);
        Self { tree, processes, blind_spots: BlindSpots::default(), reads, start_us }
    }

    /// Adds the requests of a call to `batch`.
    pub(super) fn take(&mut self, call: &Call<'_>, batch: &mut RequestBatch) {
        // Failed calls have no effect.
        let Some(returned) = call.returned() else { return };
        let bytes = returned.min(BYTES_MAX);
        let mut to = self.requests(call.time_us, batch);
        let process = self.processes.of(call.pid);
        match call.name {
            "write" | "writev" => self.write(&process, call.argument(0), None, bytes, &mut to),
            "pwrite64" | "pwritev" | "pwritev2" => {
                let offset = number(call.argument(3));
                self.write(&process, call.argument(0), offset, bytes, &mut to);
            }
            "copy_file_range" | "splice" => {
                self.read(&process, call.argument(0), call.argument(1), bytes, &mut to);
                let offset = number(call.argument(3));
                self.write(&process, call.argument(2), offset, bytes, &mut to);
            }
            "sendfile" => {
                self.read(&process, call.argument(1), call.argument(2), bytes, &mut to);
                self.write(&process, call.argument(0), None, bytes, &mut to);
            }
            "read" | "readv" => self.read(&process, call.argument(0), "", bytes, &mut to),
            "pread64" | "preadv" | "preadv2" => {
                self.read(&process, call.argument(0), call.argument(3), bytes, &mut to);
            }
            "lseek" => {
                if let Some(open) = self.open_file(&process, call.argument(0)) {
                    open.position.set(returned);
                }
            }
            "io_submit" => self.submit(&process, call, returned, &mut to),
            "fsync" | "fdatasync" | "syncfs" => {
                if self.open_file(&process, call.argument(0)).is_some() {
                    to.flush();
                }
            }
            "sync" => to.flush(),
            "open" | "openat" | "openat2" | "creat" => self.open(&process, call, &mut to),
            "dup" | "dup2" | "dup3" => self.duplicate(&process, call, returned, &mut to),
            "fcntl" if call.argument(1).starts_with("F_DUPFD") => {
                self.duplicate(&process, call, returned, &mut to);
            }
            "close" => {
                let closed = descriptor(call.argument(0)).and_then(|fd| process.set(fd, None));
                self.release(closed, &mut to);
            }
            "close_range" if !call.argument(2).contains("CLOEXEC") => {
                let range = [0, 1].map(|index| number(call.argument(index)).unwrap_or(0));
                let [first, last] = range.map(|fd| i32::try_from(fd).unwrap_or(i32::MAX));
                self.release(process.close_range(first, last), &mut to);
            }
            "mmap" => self.map(call),
            "io_uring_setup" => self.blind_spots.io_uring += 1,
            "clone" | "clone3" | "fork" | "vfork" => {
                if let Ok(child) = u32::try_from(returned) {
                    self.processes.clone_thread(call.pid, child, shares(&call.arguments.join(",")));
                }
            }
            _ => self.name(&process, call, &mut to),
        }
    }

    pub(super) fn exit(&mut self, thread: u32, time_us: u64, batch: &mut RequestBatch) {
        let closed = self.processes.exit(thread);
        let mut to = self.requests(time_us, batch);
        self.release(closed, &mut to);
    }

    /// `child` acts before the call of `parent` that created it has ended; `call` is that call so
    /// far.
    pub(super) fn early_child(&mut self, parent: u32, child: u32, call: &str) {
        self.processes.clone_thread(parent, child, shares(call));
    }

    fn requests<'a>(&self, time_us: u64, batch: &'a mut RequestBatch) -> Requests<'a> {
        Requests {
            batch,
            time_us: time_us.saturating_sub(self.start_us),
            stream: self.tree.any_stream(),
        }
    }

    fn release(&mut self, closed: impl IntoIterator<Item = OpenFile>, to: &mut Requests<'_>) {
        closed.into_iter().for_each(|open| self.tree.closed(open.file, to));
    }

    /// The file below the directory that a descriptor refers to.
    fn open_file(&mut self, process: &Process, argument: &str) -> Option<Rc<OpenFile>> {
        let Descriptor { number, path, is_deleted } = Descriptor::parse(argument)?;
        let known = process.get(number?);
        let path = path.filter(|_| !is_deleted);
        let found = path.as_ref().and_then(|path| self.tree.find(path));
        if let Some(open) = known.filter(|open| path.is_none() || found == Some(open.file)) {
            return Some(open);
        }
        // Opened by another process: its position is unknown, and most likely at the end.
        let path = path.filter(|path| self.tree.holds(path))?;
        if Path::new(&path).is_dir() {
            return None;
        }
        let file = self.tree.find_or_create(&path);
        let position = Cell::new(self.tree.size(file));
        let open = Rc::new(OpenFile { file, position, appends: false, is_sync: false });
        self.tree.opened(file);
        process.set(number?, Some(open.clone()));
        Some(open)
    }

    /// `bytes` were written at `offset`, or at the position of the open file, which advances.
    fn write(
        &mut self,
        process: &Process,
        argument: &str,
        offset: Option<u64>,
        bytes: u64,
        to: &mut Requests<'_>,
    ) {
        let Some(open) = self.open_file(process, argument) else { return };
        // On Linux, a write with an offset appends too if the file was opened to append.
        let start = match offset {
            _ if open.appends => self.tree.size(open.file),
            Some(offset) => offset,
            None => open.position.get(),
        };
        let end = start.saturating_add(bytes);
        if offset.is_none() {
            open.position.set(end);
        }
        self.tree.write(open.file, start..end, to);
        if open.is_sync {
            to.flush();
        }
    }

    /// `bytes` were read at `offset`, or at the position of the open file, which advances.
    fn read(
        &mut self,
        process: &Process,
        argument: &str,
        offset: &str,
        bytes: u64,
        to: &mut Requests<'_>,
    ) {
        let offset = number(offset);
        if offset.is_some() && !self.reads {
            return;
        }
        let Some(open) = self.open_file(process, argument) else { return };
        let start = offset.unwrap_or_else(|| open.position.get());
        let end = start.saturating_add(bytes);
        if offset.is_none() {
            open.position.set(end);
        }
        if self.reads {
            self.tree.read(open.file, start..end, to);
        }
    }

    /// Asynchronous requests: submitted requests count as done.
    fn submit(&mut self, process: &Process, call: &Call<'_>, count: u64, to: &mut Requests<'_>) {
        for request in elements(call.argument(2)).into_iter().take(count as usize) {
            let value = |name: &str| request.split_once(name).map(|(_, rest)| rest);
            let Some(fd) = value("aio_fildes=") else { continue };
            let opcode = value("aio_lio_opcode=").unwrap_or_default();
            let offset = value("aio_offset=");
            let bytes = || {
                let one = value("aio_nbytes=").and_then(number);
                let parts = request.split("iov_len=").skip(1).filter_map(number).sum();
                one.filter(|_| !is_vector(opcode)).unwrap_or(parts)
            };
            if opcode.starts_with("IOCB_CMD_PWRITE") {
                self.write(process, fd, offset.and_then(number), bytes(), to);
            } else if opcode.starts_with("IOCB_CMD_PREAD") {
                self.read(process, fd, offset.unwrap_or_default(), bytes(), to);
            } else if opcode.starts_with("IOCB_CMD_F") && self.open_file(process, fd).is_some() {
                to.flush();
            }
        }
    }

    fn open(&mut self, process: &Process, call: &Call<'_>, to: &mut Requests<'_>) {
        let Some(opened) = Descriptor::parse(call.result) else { return };
        let (Some(number), Some(path)) = (opened.number, opened.path) else { return };
        let flags = call.arguments.join(",");
        let has = |flag: &str| flags.contains(flag);
        let is_ours = self.tree.holds(&path) && !has("O_DIRECTORY") && !has("O_PATH");
        if !is_ours || Path::new(&path).is_dir() {
            self.release(process.set(number, None), to);
            return;
        }
        let file = if opened.is_deleted {
            self.tree.create_unnamed()
        } else {
            self.tree.find_or_create(&path)
        };
        if has("O_TRUNC") || call.name == "creat" {
            self.tree.truncate(file, 0, to);
        }
        self.tree.opened(file);
        let open = OpenFile {
            file,
            position: Cell::new(0),
            appends: has("O_APPEND"),
            is_sync: has("O_SYNC") || has("O_DSYNC"),
        };
        self.release(process.set(number, Some(Rc::new(open))), to);
    }

    fn duplicate(&mut self, process: &Process, call: &Call<'_>, new: u64, to: &mut Requests<'_>) {
        let Ok(new) = i32::try_from(new) else { return };
        let open = self.open_file(process, call.argument(0));
        if open.is_none() || descriptor(call.argument(0)) != Some(new) {
            self.release(process.set(new, open), to);
        }
    }

    fn map(&mut self, call: &Call<'_>) {
        let is_writable = call.argument(2).contains("PROT_WRITE");
        let path = || Descriptor::parse(call.argument(4)).and_then(|descriptor| descriptor.path);
        let ours = || path().filter(|path| self.tree.holds(path));
        if is_writable && call.argument(3).contains("MAP_SHARED") {
            self.blind_spots.mapped.extend(ours());
        }
        if self.reads && call.argument(2).contains("PROT_READ") {
            self.blind_spots.read_mapped.extend(ours());
        }
    }

    /// Calls that name files, and those that change their sizes.
    fn name(&mut self, process: &Process, call: &Call<'_>, to: &mut Requests<'_>) {
        let here = || process.directory();
        let at = |index| path_at(&here(), call.argument(index), call.argument(index + 1));
        let plain = |index| absolute(&here(), call.argument(index));
        match call.name {
            "unlink" => plain(0).into_iter().for_each(|path| self.tree.unlink(&path, to)),
            "unlinkat" if call.argument(2).contains("AT_REMOVEDIR") => {}
            "unlinkat" => at(0).into_iter().for_each(|path| self.tree.unlink(&path, to)),
            "rename" | "renameat" | "renameat2" => {
                let pair =
                    if call.name == "rename" { plain(0).zip(plain(1)) } else { at(0).zip(at(2)) };
                let Some((from, into)) = pair else { return };
                if call.argument(4).contains("RENAME_EXCHANGE") {
                    self.tree.exchange(&from, &into);
                } else {
                    self.tree.rename(&from, &into, to);
                }
            }
            "link" | "linkat" => {
                let pair =
                    if call.name == "link" { plain(0).zip(plain(1)) } else { at(0).zip(at(2)) };
                if let Some((path, link)) = pair {
                    self.tree.link(&path, &link, to);
                }
            }
            "chdir" => plain(0).into_iter().for_each(|path| process.change_directory(path)),
            "fchdir" => {
                let directory = Descriptor::parse(call.argument(0)).and_then(|fd| fd.path);
                if let Some(path) = directory {
                    process.change_directory(path);
                }
            }
            "truncate" => {
                let file = plain(0).and_then(|path| self.tree.find(&path));
                let size = number(call.argument(1));
                file.zip(size)
                    .into_iter()
                    .for_each(|(file, size)| self.tree.truncate(file, size, to));
            }
            "ftruncate" => {
                let open = self.open_file(process, call.argument(0));
                let size = number(call.argument(1));
                open.zip(size)
                    .into_iter()
                    .for_each(|(o, size)| self.tree.truncate(o.file, size, to));
            }
            "fallocate" => self.allocate(process, call, to),
            _ => {}
        }
    }

    /// `fallocate`: takes no space until something is written; holes and zeroes contain no data.
    fn allocate(&mut self, process: &Process, call: &Call<'_>, to: &mut Requests<'_>) {
        let numbers = number(call.argument(2)).zip(number(call.argument(3)));
        let open = self.open_file(process, call.argument(0));
        let (Some((offset, bytes)), Some(open)) = (numbers, open) else { return };
        let (mode, end) = (call.argument(1), offset.saturating_add(bytes));
        for (flag, what) in [
            ("COLLAPSE_RANGE", "fallocate(FALLOC_FL_COLLAPSE_RANGE)"),
            ("INSERT_RANGE", "fallocate(FALLOC_FL_INSERT_RANGE)"),
        ] {
            if mode.contains(flag) {
                *self.blind_spots.not_followed.entry(what).or_default() += 1;
                return;
            }
        }
        if mode.contains("PUNCH_HOLE") || mode.contains("ZERO_RANGE") {
            self.tree.punch(open.file, offset..end, to);
        }
        if !mode.contains("KEEP_SIZE") {
            self.tree.grow(open.file, end);
        }
    }
}

/// Whether an asynchronous request is of several pieces of memory.
fn is_vector(opcode: &str) -> bool {
    ["IOCB_CMD_PWRITEV", "IOCB_CMD_PREADV"].iter().any(|vector| opcode.starts_with(vector))
}

fn descriptor(argument: &str) -> Option<i32> {
    number(argument).and_then(|number| i32::try_from(number).ok())
}

/// What the child of a call such as `clone3({flags=CLONE_VM|CLONE_FILES, ...` shares.
fn shares(call: &str) -> Shares {
    Shares { files: call.contains("CLONE_FILES"), directory: call.contains("CLONE_FS") }
}

/// The path of a `*at` call: `AT_FDCWD</w>, "x"`.
fn path_at(here: &str, directory: &str, path: &str) -> Option<String> {
    let directory = Descriptor::parse(directory)?.path.unwrap_or_else(|| here.to_owned());
    absolute(&directory, path)
}

/// A quoted path, absolute and without symbolic links before its last name.
fn absolute(directory: &str, quoted: &str) -> Option<String> {
    let path = quoted_path(quoted)?;
    let path = Path::new(directory).join(path);
    let Some(name) = path.file_name() else { return Some(path.to_string_lossy().into_owned()) };
    let parent = path.parent().unwrap_or(Path::new("/"));
    // A directory that no longer exists most likely contained no links.
    let parent = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    Some(parent.join(name).to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests;
