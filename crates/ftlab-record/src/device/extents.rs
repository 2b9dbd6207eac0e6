//! The streams of requests by the files that lie where they go.
//!
//! The block layer does not tell files, but file systems tell where a file lies (FIEMAP, through filefrag). A thread between
//! reader and recording looks up where all files on the device lie, again and again, and gives the requests that have come
//! meanwhile the streams of what it found. Where no file lies, a request has the stream of the last one that did: so the trims
//! of a deleted file have its stream. Requests of a file that came and went between two looks have stream 0, and so have
//! journal and metadata.

use super::block_device::BlockDevice;
use crate::RecordError;
use crate::streams::{FileStream, stream_of};
use ftlab_trace::{Op, RequestBatch};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Time from one look to the next, at least.
const PAUSE: Duration = Duration::from_millis(200);

/// Files that filefrag is asked for at once.
const FILES_MAX: usize = 256;

/// Starts giving streams to requests: what is sent to the result reaches `sender`.
pub(super) fn start(
    device: BlockDevice,
    streams: Vec<FileStream>,
    sender: Sender<RequestBatch>,
) -> Result<Sender<RequestBatch>, RecordError> {
    let version = Command::new("filefrag").arg("-V").output();
    version.map_err(|source| RecordError::NoFilefrag { source })?;
    let (to_looker, from_reader) = channel();
    let looker = Looker { device, streams, known: FxHashMap::default(), placed: Placed::default() };
    std::thread::spawn(move || looker.run(&from_reader, &sender));
    Ok(to_looker)
}

/// What a file was like when its place was looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    size: u64,
    blocks: u64,
    changed: (i64, i64),
    stream: u16,
}

/// Looks up where files lie.
struct Looker {
    device: BlockDevice,
    streams: Vec<FileStream>,
    /// Files whose places are known, by device and number.
    known: FxHashMap<(u64, u64), Seen>,
    placed: Placed,
}

/// A file whose place is to be looked up.
struct Unknown {
    path: PathBuf,
    identity: (u64, u64),
    seen: Seen,
    /// The first sector of its file system.
    first: u64,
}

impl Looker {
    /// Until the reader has ended.
    fn run(mut self, reader: &Receiver<RequestBatch>, sender: &Sender<RequestBatch>) {
        let mut waiting: Vec<RequestBatch> = Vec::new();
        loop {
            let begun = Instant::now();
            let has_ended = loop {
                match reader.recv_timeout(PAUSE.saturating_sub(begun.elapsed())) {
                    Ok(batch) => waiting.push(batch),
                    Err(RecvTimeoutError::Timeout) => break false,
                    Err(RecvTimeoutError::Disconnected) => break true,
                }
            };
            self.look();
            for mut batch in waiting.drain(..) {
                self.placed.name_streams(&mut batch);
                // Without a receiver the recording has ended.
                let _ = sender.send(batch);
            }
            if has_ended {
                return;
            }
        }
    }

    /// Looks up every file that is new or has changed.
    fn look(&mut self) {
        let mut unknown = Vec::new();
        for (mount_point, first) in self.device.file_systems() {
            self.changed_below(&mount_point, &mount_point, first, &mut unknown);
        }
        for files in unknown.chunks(FILES_MAX) {
            let paths = files.iter().map(|file| &file.path);
            let output = Command::new("filefrag")
                .args(["-v", "-b512"])
                .args(paths)
                .stdin(Stdio::null())
                .output();
            // A file that is gone by now is of no interest any more.
            let Ok(output) = output else { return };
            let found = parse(&String::from_utf8_lossy(&output.stdout));
            for file in files {
                let Some(extents) = found.get(&*file.path.to_string_lossy()) else { continue };
                for range in &extents.ranges {
                    let range = file.first + range.start..file.first + range.end;
                    self.placed.place(range, file.seen.stream);
                }
                if extents.are_all {
                    self.known.insert(file.identity, file.seen);
                }
            }
        }
    }

    /// Adds the files below `directory` whose places are not known, without those of other file systems.
    fn changed_below(&self, root: &Path, directory: &Path, first: u64, unknown: &mut Vec<Unknown>) {
        let Ok(device) = fs::metadata(directory).map(|of| of.dev()) else { return };
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            // A file that was deleted meanwhile is ignored.
            let Ok(metadata) = entry.metadata() else { continue };
            if metadata.dev() != device {
                continue;
            }
            let path = entry.path();
            if metadata.is_dir() {
                self.changed_below(root, &path, first, unknown);
            } else if metadata.is_file() && metadata.blocks() > 0 {
                let below = path.strip_prefix(root).unwrap_or(&path).to_string_lossy();
                let seen = Seen {
                    size: metadata.len(),
                    blocks: metadata.blocks(),
                    changed: (metadata.ctime(), metadata.ctime_nsec()),
                    stream: stream_of(&self.streams, &below),
                };
                let identity = (metadata.dev(), metadata.ino());
                if self.known.get(&identity) != Some(&seen) {
                    unknown.push(Unknown { path, identity, seen, first });
                }
            }
        }
    }
}

/// Where a file lies.
#[derive(Debug, Default, PartialEq, Eq)]
struct Extents {
    /// Sectors of its file system.
    ranges: Vec<Range<u64>>,
    /// Whether all of it has a place: what was written lately has none until it is written back.
    are_all: bool,
}

/// What `filefrag -v -b512` prints, by file.
fn parse(text: &str) -> BTreeMap<String, Extents> {
    let none = || Extents { are_all: true, ..Extents::default() };
    let (mut files, mut extents) = (BTreeMap::new(), none());
    for line in text.lines() {
        if let Some(extent) = Extent::parse(line) {
            extents.are_all &= extent.has_place;
            extents.ranges.extend(extent.has_place.then_some(extent.sectors));
        } else if let Some((path, _)) = line.rsplit_once(": ").filter(|(_, of)| is_count(of)) {
            files.insert(path.to_owned(), std::mem::replace(&mut extents, none()));
        }
    }
    files
}

/// Whether the end of a line is that of a file: `2 extents found`.
fn is_count(text: &str) -> bool {
    let mut words = text.split(' ');
    let is_number = words.next().is_some_and(|word| word.parse::<u64>().is_ok());
    is_number && words.next().is_some_and(|word| word.starts_with("extent"))
}

/// A line of an extent.
struct Extent {
    sectors: Range<u64>,
    /// Whether it lies there: what was not yet written back lies nowhere, and small files lie within metadata.
    has_place: bool,
}

impl Extent {
    /// Reads `0: 0.. 7: 69632.. 69639: 8: last,eof`; none of other lines.
    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.split(':').map(str::trim);
        parts.next()?.parse::<u64>().ok()?;
        let range = |text: &str| {
            let (first, last) = text.split_once("..")?;
            let end = last.trim().parse::<u64>().ok()?.checked_add(1)?;
            Some(first.trim().parse::<u64>().ok()?..end)
        };
        range(parts.next()?)?;
        let sectors = range(parts.next()?)?;
        let flags = line.rsplit(':').next().unwrap_or_default();
        let has_place = !["delalloc", "unknown", "inline"].iter().any(|flag| flags.contains(flag));
        Some(Self { sectors, has_place })
    }
}

/// Which stream lies where.
#[derive(Debug, Default)]
struct Placed {
    /// First sector of a range -> the sector after it, and its stream; ranges do not overlap.
    ranges: BTreeMap<u64, (u64, u16)>,
}

impl Placed {
    /// A file of this stream lies there from now on.
    fn place(&mut self, range: Range<u64>, stream: u16) {
        if range.is_empty() {
            return;
        }
        // What lay there before is cut: what begins before it, and all that begins within it.
        let before = self.ranges.range(..range.start).next_back();
        let before = before.filter(|(_, (end, _))| *end > range.start);
        let within = self.ranges.range(range.clone());
        let cut: Vec<_> =
            before.into_iter().chain(within).map(|(first, of)| (*first, *of)).collect();
        for (first, (end, of)) in cut {
            self.ranges.remove(&first);
            if first < range.start {
                self.ranges.insert(first, (range.start, of));
            }
            if end > range.end {
                self.ranges.insert(range.end, (end, of));
            }
        }
        self.ranges.insert(range.start, (range.end, stream));
    }

    /// The stream at a sector; 0 where no file ever lay.
    fn stream_at(&self, sector: u64) -> u16 {
        let found = self.ranges.range(..=sector).next_back();
        found.filter(|(_, (end, _))| *end > sector).map_or(0, |(_, (_, stream))| *stream)
    }

    /// Every request has the stream of where it begins; flushes have 0.
    fn name_streams(&self, batch: &mut RequestBatch) {
        let of = |index: usize| match batch.op[index] {
            Op::Flush => 0,
            Op::Write | Op::Read | Op::Trim => self.stream_at(batch.lba[index]),
        };
        batch.stream = (0..batch.len()).map(of).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_filefrag_prints_is_understood() {
        let text = "\
Filesystem type is: ef53
File size of /mnt/a b: c is 8200 (17 blocks of 512 bytes)
 ext:     logical_offset:        physical_offset: length:   expected: flags:
   0:        0..       7:      69632..     69639:      8:            
   1:        8..      23:      80000..     80015:     16:      69640: last,eof
/mnt/a b: c: 2 extents found
File size of /mnt/new is 4096 (8 blocks of 512 bytes)
 ext:     logical_offset:        physical_offset: length:   expected: flags:
   0:        0..       7:          0..         7:      8:             last,unknown_loc,delalloc,eof
/mnt/new: 1 extent found
/mnt/empty: 0 extents found
";
        let found = parse(text);
        let whole = Extents { ranges: vec![69_632..69_640, 80_000..80_016], are_all: true };
        assert_eq!(found["/mnt/a b: c"], whole);
        assert_eq!(found["/mnt/new"], Extents { ranges: Vec::new(), are_all: false });
        assert_eq!(found["/mnt/empty"], Extents { ranges: Vec::new(), are_all: true });
        assert_eq!(found.len(), 3);
    }

    #[test]
    fn requests_have_the_stream_of_the_file_that_was_there_last() {
        let mut placed = Placed::default();
        placed.place(8..24, 1);
        placed.place(16..20, 2);
        let mut batch = RequestBatch::new();
        for (op, lba) in [(Op::Write, 8), (Op::Trim, 16), (Op::Write, 20), (Op::Write, 24)] {
            batch.push(op, lba, 8);
        }
        batch.push(Op::Flush, 0, 0);
        placed.name_streams(&mut batch);
        assert_eq!(batch.stream, [1, 2, 1, 0, 0]);
    }

    proptest! {
        #[test]
        fn ranges_are_those_of_an_array(
            places in prop::collection::vec((0_u64..60, 0_u64..30, 0_u16..4), 0..40),
        ) {
            let (mut placed, mut naive) = (Placed::default(), vec![0; 100]);
            for (first, length, stream) in places {
                placed.place(first..first + length, stream);
                naive[first as usize..(first + length) as usize].fill(stream);
                let found: Vec<u16> = (0..100).map(|sector| placed.stream_at(sector)).collect();
                prop_assert_eq!(&found, &naive);
            }
        }
    }
}
