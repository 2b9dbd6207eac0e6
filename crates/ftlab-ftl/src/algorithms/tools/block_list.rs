//! All blocks in use, in the order in which they were allocated, searchable by valid pages.
//!
//! Every victim rule of the papers is a question to this list: greedy asks for the block with the
//! fewest valid pages (ties: the first allocated), FIFO for the oldest, 2R for the next one from
//! `cur_scan` on that is emptier than a threshold; cost-benefit for the one with the highest score, which
//! [`best`](BlockList::best) finds without looking at most blocks: a group cannot hold a higher score
//! than its oldest age with its fewest valid pages would have.
//!
//! Blocks stand in slots in order of allocation; a collected block leaves a hole, and when there are more
//! holes than blocks the list is compacted, so that short lists stay in the cache. Above the slots
//! stand two levels of minima, each over 64 entries below it. Valid counts only fall, so an
//! invalidation costs one comparison and rarely a second; a search looks at 64 entries per level.

use crate::ensure::ensure;
use crate::page::policy::Victims;
use crate::page::{DriveState, Phase};
use crate::state::state;
use ftlab_flash::BlockId;
use std::ops::Range;

/// Entries below one minimum; few in unit tests, so that small lists reach every level and compact.
const FANOUT: usize = if cfg!(test) { 4 } else { 64 };

/// Slots below one top-level minimum.
const TOP_SPAN: usize = FANOUT * FANOUT;

/// Holes below which a list is not compacted, however few blocks are on it.
const HOLES_MIN: u32 = 4 * FANOUT as u32;

/// Set on the key of a block that must not be selected: it is open, or already a victim.
const UNSELECTABLE: u32 = 1 << 31;

/// The key of an empty slot; every block's key is below it.
const HOLE: u32 = u32::MAX;

/// The position of a block that is not on the list.
const ABSENT: u32 = u32::MAX;

/// Blocks in order of allocation, with their valid page counts.
#[derive(Debug, Clone)]
pub struct BlockList {
    /// Slot -> valid pages, or a mark: what is searched.
    keys: Vec<u32>,
    /// Slot -> block.
    blocks: Vec<BlockId>,
    /// Block -> slot.
    slots: Vec<u32>,
    /// Slot -> when the block was appended; rises with the slot, and is kept in a hole.
    stamps: Vec<u64>,
    group_min: Vec<u32>,
    top_min: Vec<u32>,
    /// Blocks in each group of slots.
    group_len: Vec<u32>,
    len: u32,
    /// The first slot that was never used since the last compaction.
    tail: u32,
    /// A place in the list that survives compaction: 2R's `cur_scan`.
    cursor: u32,
}

state!(BlockList { keys, blocks, slots, stamps, group_min, top_min, group_len, len, tail, cursor });

impl BlockList {
    /// An empty list with room for `blocks` blocks.
    pub fn new(blocks: u32) -> Self {
        let slots = (2 * blocks as usize).next_multiple_of(TOP_SPAN);
        Self {
            keys: vec![HOLE; slots],
            blocks: vec![BlockId(0); slots],
            slots: vec![ABSENT; blocks as usize],
            stamps: vec![0; slots],
            group_min: vec![HOLE; slots / FANOUT],
            top_min: vec![HOLE; slots / TOP_SPAN],
            group_len: vec![0; slots / FANOUT],
            len: 0,
            tail: 0,
            cursor: 0,
        }
    }

    /// Blocks on the list, open ones included.
    pub fn len(&self) -> u32 {
        self.len
    }

    /// True if no block is on the list.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a block that has just been allocated with `pages` pages; it can't be selected yet.
    ///
    /// The pages count as valid from the start, so that only invalidations need to be told. `stamp`
    /// is a time, such as the write clock; it never falls from one call to the next.
    pub fn push(&mut self, block: BlockId, pages: u32, stamp: u64) {
        debug_assert_eq!(self.slots[block.index()], ABSENT, "block {block} is on the list");
        if self.tail as usize == self.keys.len() || self.tail > 2 * self.len + HOLES_MIN {
            self.compact();
        }
        let slot = self.tail;
        self.tail += 1;
        self.blocks[slot as usize] = block;
        self.stamps[slot as usize] = stamp;
        self.slots[block.index()] = slot;
        self.group_len[slot as usize / FANOUT] += 1;
        self.len += 1;
        self.lower_to(slot as usize, UNSELECTABLE | pages);
    }

    /// Lets a block be selected: it has been filled and closed.
    pub fn seal(&mut self, block: BlockId) {
        let slot = self.slots[block.index()] as usize;
        self.lower_to(slot, self.keys[slot] & !UNSELECTABLE);
    }

    /// Takes note that one more page of `block` is invalid.
    #[inline]
    pub fn invalidate(&mut self, block: BlockId) {
        let slot = self.slots[block.index()] as usize;
        self.lower_to(slot, self.keys[slot] - 1);
    }

    /// Removes a block: it has been erased.
    pub fn remove(&mut self, block: BlockId) {
        let slot = std::mem::replace(&mut self.slots[block.index()], ABSENT) as usize;
        self.group_len[slot / FANOUT] -= 1;
        self.len -= 1;
        self.raise_to(slot, HOLE);
    }

    /// Makes the selectable block in `slot` a victim; it can't be selected again.
    pub fn take(&mut self, slot: u32, victims: &mut Victims) {
        victims.push(self.block(slot), self.valid_pages(slot));
        self.raise_to(slot as usize, self.keys[slot as usize] | UNSELECTABLE);
    }

    /// The block in `slot`, which [`next_below`](Self::next_below) or [`min`](Self::min) returned.
    #[inline]
    pub fn block(&self, slot: u32) -> BlockId {
        self.blocks[slot as usize]
    }

    /// The slot of a block that is on the list.
    pub fn slot_of(&self, block: BlockId) -> u32 {
        self.slots[block.index()]
    }

    /// Valid pages of the selectable block in `slot`.
    #[inline]
    pub fn valid_pages(&self, slot: u32) -> u32 {
        self.keys[slot as usize] & !UNSELECTABLE
    }

    /// 2R's `cur_scan`: the slot where the next scan begins.
    pub fn cursor(&self) -> u32 {
        self.cursor
    }

    /// Moves `cur_scan`.
    pub fn set_cursor(&mut self, slot: u32) {
        self.cursor = slot;
    }

    /// The slot after the last block.
    pub fn end(&self) -> u32 {
        self.tail
    }

    /// The slot at which `count` blocks, open ones included, stand before it.
    pub fn slot_after(&self, count: u32) -> u32 {
        if count >= self.len {
            return self.tail;
        }
        let mut left = count;
        let mut group = 0;
        while self.group_len[group] <= left {
            left -= self.group_len[group];
            group += 1;
        }
        let mut slot = group * FANOUT;
        while left > 0 || self.keys[slot] == HOLE {
            left -= u32::from(self.keys[slot] != HOLE);
            slot += 1;
        }
        slot as u32
    }

    /// The first slot in `range` whose block is selectable and has fewer than `threshold` valid pages.
    pub fn next_below(&self, range: Range<u32>, threshold: u32) -> Option<u32> {
        let threshold = threshold.min(UNSELECTABLE);
        let (mut slot, end) = (range.start as usize, range.end as usize);
        while slot < end {
            if slot.is_multiple_of(TOP_SPAN) && self.top_min[slot / TOP_SPAN] >= threshold {
                slot += TOP_SPAN;
            } else if slot.is_multiple_of(FANOUT) && self.group_min[slot / FANOUT] >= threshold {
                slot += FANOUT;
            } else if self.keys[slot] < threshold {
                return Some(slot as u32);
            } else {
                slot += 1;
            }
        }
        None
    }

    /// The slots of all selectable blocks with fewer than `threshold` valid pages, oldest first.
    pub fn below(&self, threshold: u32) -> impl Iterator<Item = u32> + '_ {
        let next = move |from| self.next_below(from..self.tail, threshold);
        std::iter::successors(next(0), move |&slot| next(slot + 1))
    }

    /// The first slot in `range` that holds a block, open ones included.
    pub fn next_in_use(&self, mut range: Range<u32>) -> Option<u32> {
        range.find(|&slot| self.keys[slot as usize] != HOLE)
    }

    /// The first slot with the fewest valid pages among selectable blocks.
    pub fn min(&self) -> Option<u32> {
        let (top, &fewest) = first_min(&self.top_min)?;
        if fewest >= UNSELECTABLE {
            return None;
        }
        let groups = &self.group_min[top * FANOUT..(top + 1) * FANOUT];
        let group = top * FANOUT + first_min(groups)?.0;
        let keys = &self.keys[group * FANOUT..(group + 1) * FANOUT];
        Some((group * FANOUT + first_min(keys)?.0) as u32)
    }

    /// The slot of the selectable block with the highest positive score; of equal ones the first.
    ///
    /// `score(slot, valid_pages)` must never exceed `bound(stamp, valid_pages)` for a block that was
    /// appended at `stamp` or later and has at least `valid_pages` valid pages: `bound` rises with age and
    /// falls with valid pages.
    pub fn best(
        &self,
        bound: impl Fn(u64, u32) -> f64,
        score: impl Fn(u32, u32) -> f64,
    ) -> Option<u32> {
        let mut best = None;
        let mut best_score = 0.0;
        for top in 0..(self.tail as usize).div_ceil(TOP_SPAN) {
            if !self.may_beat(best_score, top * TOP_SPAN, self.top_min[top], &bound) {
                continue;
            }
            let groups = (self.tail as usize).div_ceil(FANOUT).min((top + 1) * FANOUT);
            for group in top * FANOUT..groups {
                if !self.may_beat(best_score, group * FANOUT, self.group_min[group], &bound) {
                    continue;
                }
                for slot in group * FANOUT..(group + 1) * FANOUT {
                    if self.keys[slot] < UNSELECTABLE {
                        let score = score(slot as u32, self.keys[slot]);
                        if score > best_score {
                            (best, best_score) = (Some(slot as u32), score);
                        }
                    }
                }
            }
        }
        best
    }

    /// Whether a block at or after `slot` with at least `fewest` valid pages may have a score above
    /// `best`.
    fn may_beat(
        &self,
        best: f64,
        slot: usize,
        fewest: u32,
        bound: impl Fn(u64, u32) -> f64,
    ) -> bool {
        fewest < UNSELECTABLE && bound(self.stamps[slot], fewest) > best
    }

    /// Bytes of memory that the list takes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.keys[..])
            + size_of_val(&self.blocks[..])
            + size_of_val(&self.slots[..])
            + size_of_val(&self.stamps[..])
            + size_of_val(&self.group_min[..])
            + size_of_val(&self.top_min[..])
            + size_of_val(&self.group_len[..])
    }

    #[inline]
    fn lower_to(&mut self, slot: usize, key: u32) {
        self.keys[slot] = key;
        let group_min = &mut self.group_min[slot / FANOUT];
        if key < *group_min {
            *group_min = key;
            let top_min = &mut self.top_min[slot / TOP_SPAN];
            *top_min = key.min(*top_min);
        }
    }

    fn raise_to(&mut self, slot: usize, key: u32) {
        self.keys[slot] = key;
        let (group, top) = (slot / FANOUT, slot / TOP_SPAN);
        self.group_min[group] = min_of(&self.keys[group * FANOUT..(group + 1) * FANOUT]);
        self.top_min[top] = min_of(&self.group_min[top * FANOUT..(top + 1) * FANOUT]);
    }

    /// Closes the holes; the order stays.
    fn compact(&mut self) {
        let mut to = 0;
        let mut cursor = None;
        for from in 0..self.tail as usize {
            if from == self.cursor as usize {
                cursor = Some(to as u32);
            }
            if self.keys[from] != HOLE {
                let block = self.blocks[from];
                self.keys[to] = self.keys[from];
                self.blocks[to] = block;
                self.stamps[to] = self.stamps[from];
                self.slots[block.index()] = to as u32;
                to += 1;
            }
        }
        let used = self.tail as usize;
        self.keys[to..used].fill(HOLE);
        self.cursor = cursor.unwrap_or(to as u32);
        self.tail = to as u32;
        for (group, keys) in self.keys.chunks_exact(FANOUT).enumerate().take(used.div_ceil(FANOUT))
        {
            self.group_min[group] = min_of(keys);
            self.group_len[group] = keys.iter().filter(|&&key| key != HOLE).count() as u32;
        }
        for (top, groups) in self.group_min.chunks_exact(FANOUT).enumerate() {
            self.top_min[top] = min_of(groups);
        }
    }
}

/// What a list should hold of a block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Listed {
    pub(crate) block: BlockId,
    pub(crate) valid_pages: u32,
    pub(crate) is_sealed: bool,
}

impl BlockList {
    /// Blocks in order of allocation.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = BlockId> {
        (0..self.len()).map(|rank| self.block(self.slot_after(rank)))
    }

    /// Verifies that the list holds exactly the blocks in use that are `wanted`, in order of
    /// allocation, with their valid counts, and can select exactly the sealed ones.
    pub(crate) fn check(
        &self,
        drive: &DriveState,
        wanted: impl Fn(BlockId) -> bool,
    ) -> Result<(), String> {
        let mut expected: Vec<BlockId> = (0..drive.geometry().blocks())
            .map(BlockId)
            .filter(|&block| !matches!(drive.phase(block), Phase::Free | Phase::Retired))
            .filter(|&block| wanted(block))
            .collect();
        expected.sort_by_key(|&block| drive.allocated(block));
        let listed = expected.into_iter().map(|block| Listed {
            block,
            valid_pages: drive.valid_pages(block),
            is_sealed: drive.phase(block) == Phase::Sealed,
        });
        self.check_against(&listed.collect::<Vec<_>>())
    }

    /// Verifies that the list holds exactly `expected`, in this order, and can select exactly the sealed
    /// blocks.
    pub(crate) fn check_against(&self, expected: &[Listed]) -> Result<(), String> {
        ensure!(
            self.blocks().eq(expected.iter().map(|listed| listed.block)),
            "the list holds {:?}, not {expected:?}",
            self.blocks().collect::<Vec<_>>()
        );
        let mut from = 0;
        for Listed { block, valid_pages, .. } in expected.iter().filter(|listed| listed.is_sealed) {
            let slot = self.next_below(from..self.end(), u32::MAX);
            ensure!(
                slot.map(|slot| (self.block(slot), self.valid_pages(slot)))
                    == Some((*block, *valid_pages)),
                "sealed block {block} with {valid_pages} valid pages is listed as {slot:?}"
            );
            from = slot.map_or(0, |slot| slot + 1);
        }
        ensure!(
            self.next_below(from..self.end(), u32::MAX).is_none(),
            "a block can be selected that is not sealed"
        );
        Ok(())
    }
}

fn min_of(keys: &[u32]) -> u32 {
    keys.iter().fold(HOLE, |min, &key| min.min(key))
}

fn first_min(keys: &[u32]) -> Option<(usize, &u32)> {
    let min = min_of(keys);
    keys.iter().enumerate().find(|(_, key)| **key == min)
}

/// Forwards the block hooks of a rule or policy to its `BlockList` in the field `list`.
macro_rules! keep_block_list {
    () => {
        fn on_block_opened(
            &mut self,
            block: ftlab_flash::BlockId,
            drive: &$crate::page::DriveState,
        ) {
            self.list.push(block, drive.pages_per_block(), drive.write_clock());
        }

        fn on_block_sealed(
            &mut self,
            block: ftlab_flash::BlockId,
            _drive: &$crate::page::DriveState,
        ) {
            self.list.seal(block);
        }

        #[inline]
        fn on_invalidate(
            &mut self,
            block: ftlab_flash::BlockId,
            _drive: &$crate::page::DriveState,
        ) {
            self.list.invalidate(block);
        }

        fn on_block_erased(
            &mut self,
            block: ftlab_flash::BlockId,
            _drive: &$crate::page::DriveState,
        ) {
            self.list.remove(block);
        }

        fn memory_bytes(&self) -> usize {
            self.list.bytes()
        }

        fn check(&self, drive: &$crate::page::DriveState) -> Result<(), String> {
            self.list.check(drive, |block| !drive.holds_map(block))
        }
    };
}
pub(crate) use keep_block_list;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A list without cleverness.
    #[derive(Default)]
    struct Naive {
        /// Block, valid pages, selectable; in order of allocation.
        entries: Vec<(BlockId, u32, bool)>,
    }

    impl Naive {
        fn entry(&mut self, block: BlockId) -> &mut (BlockId, u32, bool) {
            self.entries.iter_mut().find(|entry| entry.0 == block).unwrap()
        }

        fn min(&self) -> Option<BlockId> {
            self.entries.iter().filter(|entry| entry.2).min_by_key(|entry| entry.1).map(|e| e.0)
        }

        fn next_below(&self, skip: usize, threshold: u32) -> Option<BlockId> {
            self.entries.iter().skip(skip).find(|e| e.2 && e.1 < threshold).map(|e| e.0)
        }
    }

    proptest! {
        #[test]
        fn equals_a_plain_vector(blocks in 1_u32..200, steps in prop::collection::vec(any::<(u8, u32)>(), 1..2000)) {
            let mut list = BlockList::new(blocks);
            let mut naive = Naive::default();
            let mut absent: Vec<BlockId> = (0..blocks).map(BlockId).collect();
            for (kind, pick) in steps {
                let listed = naive.entries.len();
                match kind % 8 {
                    0..=2 if !absent.is_empty() => {
                        let block = absent.swap_remove(pick as usize % absent.len());
                        list.push(block, 50, 0);
                        naive.entries.push((block, 50, false));
                    }
                    3 if listed > 0 => {
                        let block = naive.entries.remove(pick as usize % listed).0;
                        list.remove(block);
                        absent.push(block);
                    }
                    4 if listed > 0 => {
                        let block = naive.entries[pick as usize % listed].0;
                        list.seal(block);
                        naive.entry(block).2 = true;
                    }
                    5 if listed > 0 => if let Some(slot) = list.min() {
                        let mut victims = Victims::new(1, 50);
                        list.take(slot, &mut victims);
                        let entry = naive.entry(victims.blocks()[0]);
                        prop_assert_eq!(victims.invalid_pages(), 50 - entry.1);
                        entry.2 = false;
                    },
                    _ if listed > 0 => {
                        let entry = &mut naive.entries[pick as usize % listed];
                        if entry.1 > 0 {
                            entry.1 -= 1;
                            list.invalidate(entry.0);
                        }
                    }
                    _ => {}
                }
                prop_assert_eq!(list.len() as usize, naive.entries.len());
                prop_assert_eq!(list.min().map(|slot| list.block(slot)), naive.min());
                let skip = pick % (list.len() + 1);
                let from = list.slot_after(skip);
                let found = list.next_below(from..list.end(), 49).map(|slot| list.block(slot));
                prop_assert_eq!(found, naive.next_below(skip as usize, 49));
            }
        }
    }

    #[test]
    fn the_cursor_keeps_its_place_when_the_list_is_compacted() {
        let mut list = BlockList::new(8);
        for round in 0..400_u32 {
            let block = BlockId(round % 3);
            if round >= 3 {
                list.remove(block);
            }
            list.push(block, 8, 0);
            list.seal(block);
            if round % 3 == 1 {
                list.set_cursor(list.end() - 1);
            }
            let at_cursor = list.next_below(list.cursor()..list.end(), 9).unwrap();
            assert_eq!(list.block(at_cursor), BlockId(round.min(1)), "{round}");
            if round % 3 == 0 && round > 0 {
                // Block 1 is now the oldest, and the cursor still points at it.
                assert_eq!(list.slot_after(0), at_cursor);
            }
        }
    }
}
