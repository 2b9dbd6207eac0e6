//! Places files side by side on a drive.
//!
//! A drive is an array of chunks. A file takes the lowest free chunk when it first writes to a
//! place without one, and releases its chunks, as a trim, when it is truncated or deleted. It is a
//! file system without metadata and without a page cache: the drive contains exactly the data of
//! the files.

use ftlab_trace::pages::SECTOR_BYTES;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ops::Range;

/// Small, because a database has hundreds of small files; large enough that a file that grows alone
/// is contiguous.
const CHUNK_BYTES: u64 = 64 * 1024;
const CHUNK_SECTORS: u64 = CHUNK_BYTES / SECTOR_BYTES;

/// A piece of the drive: its first sector and its length.
pub(super) type Extent = (u64, u64);

/// The chunks in use.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    free: BinaryHeap<Reverse<u32>>,
    /// Number of chunks ever in use.
    chunks: u32,
}

impl Chunks {
    fn take(&mut self) -> u32 {
        if let Some(Reverse(chunk)) = self.free.pop() {
            return chunk;
        }
        let chunk = self.chunks;
        // 2^32 chunks are 256 TiB.
        self.chunks = self.chunks.saturating_add(1);
        chunk
    }

    /// The required size of the drive.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.chunks) * CHUNK_BYTES
    }
}

/// The parts of a file that are on the drive.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// The chunk of the drive for each chunk of the file; none where nothing was written.
    chunks: BTreeMap<u64, u32>,
}

impl Layout {
    /// Allocates space for `bytes` that were written before.
    pub(super) fn reserve(&mut self, bytes: u64, drive: &mut Chunks) {
        self.write(0..bytes, drive, |_| {});
    }

    /// Passes the sectors of a write to `each`, in order, in as few pieces as possible.
    pub(super) fn write(
        &mut self,
        bytes: Range<u64>,
        drive: &mut Chunks,
        each: impl FnMut(Extent),
    ) {
        if bytes.is_empty() {
            return;
        }
        for index in bytes.start / CHUNK_BYTES..bytes.end.div_ceil(CHUNK_BYTES) {
            self.chunks.entry(index).or_insert_with(|| drive.take());
        }
        self.extents(bytes.start / SECTOR_BYTES..bytes.end.div_ceil(SECTOR_BYTES), each);
    }

    /// Passes the sectors that hold `bytes` to `each`, as far as they are on the drive.
    pub(super) fn read(&self, bytes: Range<u64>, each: impl FnMut(Extent)) {
        if !bytes.is_empty() {
            self.extents(bytes.start / SECTOR_BYTES..bytes.end.div_ceil(SECTOR_BYTES), each);
        }
    }

    /// Passes the sectors that `bytes` covers completely to `each`: they no longer contain data.
    pub(super) fn punch(&self, bytes: Range<u64>, each: impl FnMut(Extent)) {
        self.extents(bytes.start.div_ceil(SECTOR_BYTES)..bytes.end / SECTOR_BYTES, each);
    }

    /// Truncates the file at `bytes`, and passes the freed sectors to `each`.
    pub(super) fn truncate(&mut self, bytes: u64, drive: &mut Chunks, each: impl FnMut(Extent)) {
        self.punch(bytes..u64::MAX, each);
        let cut = self.chunks.split_off(&bytes.div_ceil(CHUNK_BYTES));
        drive.free.extend(cut.into_values().map(Reverse));
    }

    /// The pieces of the drive that contain sectors of the file, in the order of the file.
    fn extents(&self, sectors: Range<u64>, mut each: impl FnMut(Extent)) {
        if sectors.is_empty() {
            return;
        }
        let mut piece: Option<Extent> = None;
        let chunks = sectors.start / CHUNK_SECTORS..=(sectors.end - 1) / CHUNK_SECTORS;
        for (index, chunk) in self.chunks.range(chunks) {
            let first = (index * CHUNK_SECTORS).max(sectors.start);
            let length = ((index + 1) * CHUNK_SECTORS).min(sectors.end) - first;
            let at = u64::from(*chunk) * CHUNK_SECTORS + first % CHUNK_SECTORS;
            piece = match piece {
                Some((begin, before)) if begin + before == at => Some((begin, before + length)),
                _ => {
                    piece.into_iter().for_each(&mut each);
                    Some((at, length))
                }
            };
        }
        piece.into_iter().for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const C: u64 = CHUNK_BYTES;

    fn write(layout: &mut Layout, drive: &mut Chunks, bytes: Range<u64>) -> Vec<Extent> {
        let mut extents = Vec::new();
        layout.write(bytes, drive, |extent| extents.push(extent));
        extents
    }

    #[test]
    fn files_that_grow_together_take_turns() {
        let (mut drive, mut a, mut b) = (Chunks::default(), Layout::default(), Layout::default());
        assert_eq!(write(&mut a, &mut drive, 0..2 * C), [(0, 256)]);
        assert_eq!(write(&mut b, &mut drive, 0..1), [(256, 1)]);
        assert_eq!(write(&mut a, &mut drive, 2 * C - 512..2 * C + 1), [(255, 1), (384, 1)]);
        assert_eq!(write(&mut b, &mut drive, 100..4200), [(256, 9)]);
        assert_eq!(write(&mut b, &mut drive, 7..7), []);
        assert_eq!(drive.bytes(), 4 * C);
    }

    #[test]
    fn what_is_cut_off_is_free_for_others() {
        let (mut drive, mut a, mut b) = (Chunks::default(), Layout::default(), Layout::default());
        a.reserve(3 * C, &mut drive);
        let mut freed = Vec::new();
        a.truncate(C + 100, &mut drive, |extent| freed.push(extent));
        assert_eq!(freed, [(129, 255)]);
        assert_eq!(write(&mut b, &mut drive, 0..C), [(256, 128)]);
        freed.clear();
        a.truncate(0, &mut drive, |extent| freed.push(extent));
        assert_eq!(freed, [(0, 256)]);
        assert_eq!(drive.bytes(), 3 * C);
    }

    #[test]
    fn holes_are_nowhere() {
        let (mut drive, mut a) = (Chunks::default(), Layout::default());
        assert_eq!(write(&mut a, &mut drive, 5 * C..5 * C + 512), [(0, 1)]);
        let mut punched = Vec::new();
        a.punch(0..u64::MAX, |extent| punched.push(extent));
        assert_eq!(punched, [(0, 128)]);
        punched.clear();
        a.punch(5 * C + 1..5 * C + 1024, |extent| punched.push(extent));
        assert_eq!(punched, [(1, 1)]);
    }
}
