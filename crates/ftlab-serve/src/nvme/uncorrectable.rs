//! Blocks that the host has marked as unreadable (Write Uncorrectable), until they are written.

use super::layout::Status;
use super::lock::lock;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Blocks whose bits are kept together, in 4 KiB.
const GROUP_BLOCKS: u64 = 32 << 10;

/// Marked blocks of the drive. They last as long as the server: a drive does not store them.
///
/// A bit for each block of a group that has any of them: however many ranges a host marks, and cuts into pieces by
/// writes, they take 32 KiB of memory for each GiB with blocks of 4 KiB at most.
#[derive(Debug)]
pub(super) struct Uncorrectable {
    block_shift: u8,
    groups: Mutex<BTreeMap<u64, Group>>,
    /// The number of groups: nearly always 0, and then nobody takes the lock.
    count: AtomicUsize,
}

#[derive(Debug)]
struct Group {
    bits: Box<[u64]>,
    /// How many are set.
    marked: u32,
}

impl Default for Group {
    fn default() -> Self {
        Self { bits: vec![0; (GROUP_BLOCKS / 64) as usize].into(), marked: 0 }
    }
}

impl Group {
    fn set(&mut self, blocks: Range<u64>, is_marked: bool) {
        for (word, mask) in words(blocks) {
            let before = self.bits[word];
            let after = if is_marked { before | mask } else { before & !mask };
            self.bits[word] = after;
            self.marked = self.marked + after.count_ones() - before.count_ones();
        }
    }

    fn any(&self, blocks: Range<u64>) -> bool {
        words(blocks).any(|(word, mask)| self.bits[word] & mask != 0)
    }
}

/// The words in which the bits of some blocks of a group are, and which of them.
fn words(blocks: Range<u64>) -> impl Iterator<Item = (usize, u64)> {
    let last = blocks.end.div_ceil(64);
    (blocks.start / 64..last).map(move |word| {
        let first_bit = blocks.start.saturating_sub(64 * word);
        let end_bit = (blocks.end - 64 * word).min(64);
        // None, of an empty range.
        let mask = u64::MAX.checked_shr((64 - (end_bit - first_bit)) as u32).unwrap_or(0);
        (word as usize, mask << first_bit)
    })
}

impl Uncorrectable {
    /// None is marked, of blocks of 2 to the power of `block_shift` bytes.
    pub(super) fn new(block_shift: u8) -> Self {
        Self { block_shift, groups: Mutex::default(), count: AtomicUsize::new(0) }
    }

    /// The parts of a range of bytes of the drive in each of `groups`: the group, and blocks of it.
    fn parts(&self, range: &Range<u64>) -> impl Iterator<Item = (u64, Range<u64>)> + use<> {
        let blocks = range.start >> self.block_shift..range.end >> self.block_shift;
        (blocks.start / GROUP_BLOCKS..blocks.end.div_ceil(GROUP_BLOCKS)).map(move |group| {
            let first = group * GROUP_BLOCKS;
            let end = blocks.end.min(first + GROUP_BLOCKS);
            (group, blocks.start.max(first) - first..end - first)
        })
    }

    pub(super) fn mark(&self, range: &Range<u64>) {
        let mut groups = lock(&self.groups);
        for (group, blocks) in self.parts(range) {
            groups.entry(group).or_default().set(blocks, true);
        }
        self.count.store(groups.len(), Ordering::Release);
    }

    /// A range is written.
    #[inline]
    pub(super) fn clear(&self, range: &Range<u64>) {
        if self.count.load(Ordering::Acquire) > 0 {
            self.remove(range);
        }
    }

    #[cold]
    fn remove(&self, range: &Range<u64>) {
        let mut groups = lock(&self.groups);
        for (group, blocks) in self.parts(range) {
            if let Some(bits) = groups.get_mut(&group) {
                bits.set(blocks, false);
                if bits.marked == 0 {
                    groups.remove(&group);
                }
            }
        }
        self.count.store(groups.len(), Ordering::Release);
    }

    /// An error if any of a range is marked.
    #[inline]
    pub(super) fn check(&self, range: &Range<u64>) -> Result<(), Status> {
        if self.count.load(Ordering::Acquire) == 0 { Ok(()) } else { self.find(range) }
    }

    #[cold]
    fn find(&self, range: &Range<u64>) -> Result<(), Status> {
        let groups = lock(&self.groups);
        let is_marked = |(group, blocks)| groups.get(&group).is_some_and(|bits| bits.any(blocks));
        if self.parts(range).any(is_marked) { Err(Status::UNREADABLE) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn groups(marked: &Uncorrectable) -> usize {
        lock(&marked.groups).len()
    }

    proptest! {
        #[test]
        fn it_is_a_set_of_numbers(steps in prop::collection::vec((any::<bool>(), 0..260_u64, 1..200_u64), 1..40)) {
            // Around the end of a group, and across it.
            let first = GROUP_BLOCKS - 200;
            let (marked, mut twin) = (Uncorrectable::new(0), [false; 460]);
            for (marks, start, length) in steps {
                let range = first + start..first + start + length;
                if marks {
                    marked.mark(&range);
                } else {
                    marked.clear(&range);
                }
                twin[start as usize..(start + length) as usize].fill(marks);
                for (at, is_marked) in (first..).zip(twin) {
                    prop_assert_eq!(marked.check(&(at..at + 1)).is_err(), is_marked);
                }
                let any = twin[10..300].contains(&true);
                prop_assert_eq!(marked.check(&(first + 10..first + 300)).is_err(), any);
                let has = |part: &[bool]| usize::from(part.contains(&true));
                prop_assert_eq!(groups(&marked), has(&twin[..200]) + has(&twin[200..]));
            }
        }
    }

    #[test]
    fn ranges_that_are_cut_into_pieces_take_no_more_memory() {
        const BLOCKS: u64 = 10 * GROUP_BLOCKS;
        let bytes = |blocks: Range<u64>| blocks.start << 12..blocks.end << 12;
        let marked = Uncorrectable::new(12);
        marked.mark(&bytes(0..BLOCKS));
        assert_eq!(groups(&marked), 10);
        // Every second one is written, so that there are 160 Ki ranges.
        for block in (0..BLOCKS).step_by(2) {
            marked.clear(&bytes(block..block + 1));
        }
        assert_eq!(groups(&marked), 10);
        for block in (0..BLOCKS).step_by(997) {
            let is_marked = block % 2 == 1;
            assert_eq!(marked.check(&bytes(block..block + 1)).is_err(), is_marked, "{block}");
        }
        // The rest of each pair of groups, one by one, and then all that is left at once.
        for block in (1..2 * GROUP_BLOCKS).step_by(2) {
            marked.clear(&bytes(block..block + 1));
        }
        assert_eq!(groups(&marked), 8);
        assert_eq!(marked.check(&bytes(0..2 * GROUP_BLOCKS)), Ok(()));
        marked.clear(&bytes(70_005..70_005));
        assert_eq!(groups(&marked), 8);
        marked.clear(&bytes(0..BLOCKS));
        assert_eq!((groups(&marked), marked.count.load(Ordering::Relaxed)), (0, 0));
    }
}
