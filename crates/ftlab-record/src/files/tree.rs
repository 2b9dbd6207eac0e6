//! The files below the directory: their names, their sizes, and their places on the drive.

use super::drive::{Chunks, Extent, Layout};
use crate::RecordError;
use crate::streams::{FileStream, stream_of};
use ftlab_trace::{Op, RequestBatch};
use rustc_hash::FxHashMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A file, with or without a name.
#[derive(Debug, Default)]
struct File {
    layout: Layout,
    size: u64,
    names: u32,
    /// Number of times that it is open.
    opened: u32,
    is_written: bool,
    stream: u16,
}

/// The destination of requests, and their time.
pub(super) struct Requests<'a> {
    pub(super) batch: &'a mut RequestBatch,
    pub(super) time_us: u64,
    /// Of the file that is written or trimmed, if requests name streams.
    pub(super) stream: Option<u16>,
}

impl Requests<'_> {
    fn push(&mut self, op: Op, (lba, sectors): Extent) {
        /// A trim may be of any length, a request of less than 2^32 sectors.
        const SECTORS_MAX: u64 = 1 << 31;
        let end = lba + sectors;
        let mut lba = lba;
        while lba < end {
            let sectors = (end - lba).min(SECTORS_MAX);
            self.batch.push_at(self.time_us, op, lba, sectors as u32);
            self.batch.stream.extend(self.stream);
            lba += sectors;
        }
    }

    pub(super) fn flush(&mut self) {
        self.batch.push_at(self.time_us, Op::Flush, 0, 0);
        self.batch.stream.extend(self.stream.map(|_| 0));
    }
}

/// All files below a directory.
#[derive(Debug)]
pub(super) struct Tree {
    root: String,
    names: FxHashMap<String, usize>,
    files: Vec<File>,
    pub(super) drive: Chunks,
    pub(super) bytes_written: u64,
    streams: Vec<FileStream>,
}

impl Tree {
    /// Lays out the files below `root`, an absolute path without symbolic links, in order of names.
    pub(super) fn new(root: &Path, streams: Vec<FileStream>) -> Result<Self, RecordError> {
        let mut tree = Self {
            root: root.to_string_lossy().into_owned(),
            names: FxHashMap::default(),
            files: Vec::new(),
            drive: Chunks::default(),
            bytes_written: 0,
            streams,
        };
        tree.add_directory(root, &mut FxHashMap::default())?;
        Ok(tree)
    }

    fn add_directory(
        &mut self,
        directory: &Path,
        linked: &mut FxHashMap<(u64, u64), usize>,
    ) -> Result<(), RecordError> {
        let failed = |error| RecordError::path(directory, error);
        let entries: Result<Vec<_>, _> = fs::read_dir(directory).map_err(failed)?.collect();
        let mut entries = entries.map_err(failed)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            // A file that was deleted meanwhile is ignored.
            let Ok(metadata) = entry.metadata() else { continue };
            let path = entry.path();
            if metadata.is_dir() {
                self.add_directory(&path, linked)?;
            } else if metadata.is_file() {
                let identity = (metadata.dev(), metadata.ino());
                let file = *linked.entry(identity).or_insert_with(|| {
                    let mut file = File { size: metadata.len(), ..File::default() };
                    let held = metadata.len().min(metadata.blocks().saturating_mul(512));
                    file.layout.reserve(held, &mut self.drive);
                    self.files.push(file);
                    self.files.len() - 1
                });
                self.files[file].names += 1;
                self.name(path.to_string_lossy().into_owned(), file);
            }
        }
        Ok(())
    }

    /// Gives a file a name, and the stream of that name.
    fn name(&mut self, path: String, file: usize) {
        let below = path.strip_prefix(&self.root).unwrap_or(&path);
        self.files[file].stream = stream_of(&self.streams, below);
        self.names.insert(path, file);
    }

    /// What a file's requests name as their stream.
    fn stream(&self, file: usize) -> Option<u16> {
        (!self.streams.is_empty()).then(|| self.files[file].stream)
    }

    /// Whether requests name streams: the stream of flushes.
    pub(super) fn any_stream(&self) -> Option<u16> {
        (!self.streams.is_empty()).then_some(0)
    }

    /// Whether an absolute path is below the directory.
    pub(super) fn holds(&self, path: &str) -> bool {
        path.strip_prefix(&self.root).is_some_and(|rest| rest.starts_with('/') || self.root == "/")
    }

    /// The file of this name.
    pub(super) fn find(&self, path: &str) -> Option<usize> {
        self.names.get(path).copied()
    }

    /// The file of this name below the directory, created if it is new.
    pub(super) fn find_or_create(&mut self, path: &str) -> usize {
        if let Some(file) = self.find(path) {
            return file;
        }
        let file = self.create_unnamed();
        self.files[file].names = 1;
        self.name(path.to_owned(), file);
        file
    }

    /// A new file that has no name (`O_TMPFILE`).
    pub(super) fn create_unnamed(&mut self) -> usize {
        self.files.push(File::default());
        self.files.len() - 1
    }

    pub(super) fn size(&self, file: usize) -> u64 {
        self.files[file].size
    }

    pub(super) fn count(&self) -> u64 {
        self.files.len() as u64
    }

    pub(super) fn files_written(&self) -> u64 {
        self.files.iter().filter(|file| file.is_written).count() as u64
    }

    /// `bytes` of the file were written.
    pub(super) fn write(&mut self, file: usize, bytes: Range<u64>, to: &mut Requests<'_>) {
        to.stream = self.stream(file);
        let file = &mut self.files[file];
        self.bytes_written += bytes.end.saturating_sub(bytes.start);
        file.is_written = true;
        file.size = file.size.max(bytes.end);
        file.layout.write(bytes, &mut self.drive, |extent| to.push(Op::Write, extent));
    }

    /// `bytes` of the file were read, as far as they were ever written.
    pub(super) fn read(&self, file: usize, bytes: Range<u64>, to: &mut Requests<'_>) {
        to.stream = self.stream(file);
        self.files[file].layout.read(bytes, |extent| to.push(Op::Read, extent));
    }

    /// `bytes` of the file no longer contain data.
    pub(super) fn punch(&self, file: usize, bytes: Range<u64>, to: &mut Requests<'_>) {
        to.stream = self.stream(file);
        self.files[file].layout.punch(bytes, |extent| to.push(Op::Trim, extent));
    }

    /// The file grows to `size`, if it is smaller.
    pub(super) fn grow(&mut self, file: usize, size: u64) {
        let file = &mut self.files[file];
        file.size = file.size.max(size);
    }

    /// The file has `size` from now on.
    pub(super) fn truncate(&mut self, file: usize, size: u64, to: &mut Requests<'_>) {
        to.stream = self.stream(file);
        let file = &mut self.files[file];
        file.size = size;
        file.layout.truncate(size, &mut self.drive, |extent| to.push(Op::Trim, extent));
    }

    pub(super) fn opened(&mut self, file: usize) {
        self.files[file].opened += 1;
    }

    pub(super) fn closed(&mut self, file: usize, to: &mut Requests<'_>) {
        self.files[file].opened = self.files[file].opened.saturating_sub(1);
        self.free(file, to);
    }

    /// A second name.
    pub(super) fn link(&mut self, path: &str, link: &str, to: &mut Requests<'_>) {
        let Some(file) = self.find(path).filter(|_| self.holds(link)) else { return };
        self.unlink(link, to);
        self.files[file].names += 1;
        self.name(link.to_owned(), file);
    }

    /// A name is removed; with the last one, and when it is no longer open, so is the file.
    pub(super) fn unlink(&mut self, path: &str, to: &mut Requests<'_>) {
        if let Some(file) = self.names.remove(path) {
            self.files[file].names -= 1;
            self.free(file, to);
        }
    }

    /// A file or a directory is renamed, possibly replacing another file. Files moved in from
    /// outside bring no data; files moved out are gone.
    pub(super) fn rename(&mut self, from: &str, into: &str, to: &mut Requests<'_>) {
        if let Some(file) = self.names.remove(from) {
            self.unlink(into, to);
            if self.holds(into) {
                self.name(into.to_owned(), file);
            } else {
                self.files[file].names -= 1;
                self.free(file, to);
            }
            return;
        }
        let inside = format!("{from}/");
        let moved: Vec<_> =
            self.names.keys().filter(|name| name.starts_with(&inside)).cloned().collect();
        for name in moved {
            let new = format!("{into}/{}", &name[inside.len()..]);
            self.rename(&name, &new, to);
        }
    }

    /// Two names are exchanged.
    pub(super) fn exchange(&mut self, one: &str, other: &str) {
        if let (Some(first), Some(second)) = (self.find(one), self.find(other)) {
            self.name(one.to_owned(), second);
            self.name(other.to_owned(), first);
        }
    }

    fn free(&mut self, file: usize, to: &mut Requests<'_>) {
        if self.files[file].names == 0 && self.files[file].opened == 0 {
            self.truncate(file, 0, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests(run: impl FnOnce(&mut Tree, &mut Requests<'_>)) -> Vec<(Op, u64, u32)> {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("old"), [7; 5000]).unwrap();
        fs::hard_link(directory.path().join("old"), directory.path().join("also")).unwrap();
        let mut tree = Tree::new(directory.path(), Vec::new()).unwrap();
        tree.root = "/d".into();
        tree.names = tree
            .names
            .drain()
            .map(|(name, file)| (format!("/d/{}", name.rsplit('/').next().unwrap()), file))
            .collect();
        let mut batch = RequestBatch::new();
        run(&mut tree, &mut Requests { batch: &mut batch, time_us: 1, stream: None });
        batch.iter().collect()
    }

    #[test]
    fn what_was_there_has_its_place() {
        let found = requests(|tree, to| {
            assert_eq!(
                (tree.count(), tree.find("/d/old"), tree.find("/d/also")),
                (1, Some(0), Some(0))
            );
            let new = tree.find_or_create("/d/new");
            tree.write(new, 0..512, to);
            tree.write(0, 512..1024, to);
        });
        assert_eq!(found, [(Op::Write, 128, 1), (Op::Write, 1, 1)]);
    }

    #[test]
    fn a_file_is_gone_with_its_last_name_when_nobody_has_it_open() {
        let found = requests(|tree, to| {
            tree.opened(0);
            tree.unlink("/d/old", to);
            tree.unlink("/d/also", to);
            assert_eq!(to.batch.len(), 0);
            tree.closed(0, to);
        });
        assert_eq!(found, [(Op::Trim, 0, 128)]);
    }

    #[test]
    fn renaming_replaces_and_moves_whole_directories() {
        let found = requests(|tree, to| {
            let one = tree.find_or_create("/d/x/1");
            tree.write(one, 0..512, to);
            tree.rename("/d/x", "/d/y", to);
            assert_eq!((tree.find("/d/x/1"), tree.find("/d/y/1")), (None, Some(one)));
            tree.unlink("/d/also", to);
            tree.rename("/d/y/1", "/d/old", to);
            assert_eq!(tree.find("/d/old"), Some(one));
            tree.rename("/d/old", "/elsewhere", to);
        });
        assert_eq!(found, [(Op::Write, 128, 1), (Op::Trim, 0, 128), (Op::Trim, 128, 128)]);
    }

    #[test]
    fn only_what_is_below_counts() {
        requests(|tree, _| {
            assert!(
                tree.holds("/d/x") && !tree.holds("/dx") && !tree.holds("/d") && !tree.holds("/")
            );
        });
    }
}
