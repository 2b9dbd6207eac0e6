//! The groups that the blocks are divided among.

use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::StreamId;
use ftlab_flash::BlockId;

pub(super) const HOT: usize = 0;

/// The first group of the chain.
pub(super) const FIRST: usize = 1;

/// Groups without the hot one, at most.
pub(super) const GROUPS_MAX: usize = 9;

/// Streams: one for every group that there may be.
pub(super) const STREAMS: usize = GROUPS_MAX + 1;

/// Generations of the pool where no model is known to hold.
const GENERATIONS: usize = 4;

/// Blocks that leave a group before its valid share says anything.
const BLOCKS_TELLING: u64 = 8;

/// The present division of the blocks: queues, and behind them the pool of all other blocks. Without queues, hot
/// blocks are in the pool, too.
pub(super) struct Groups {
    /// Queues beside the hot group; the pool begins behind them.
    pub(super) queues: usize,
    pub(super) last: usize,
    /// Group -> blocks that it may have, if it is a queue.
    sizes: [u32; STREAMS],
    /// Group -> the valid share that its victims should have.
    expected: [f64; STREAMS],
    /// Group -> blocks and valid pages that left it since all groups have been collected.
    left: [(u64, u64); STREAMS],
    /// One bit for every group that was collected since the groups were chosen.
    collected: u32,
    /// Block -> its group.
    of: Vec<u8>,
}

state!(Groups { queues, last, sizes, expected, left, collected, of });

impl Groups {
    /// The pool alone, with a generation for every relocation.
    pub(super) fn unknown(blocks: u32) -> Self {
        Self {
            queues: 0,
            last: GENERATIONS,
            sizes: [0; STREAMS],
            expected: [1.0; STREAMS],
            left: [(0, 0); STREAMS],
            collected: 0,
            of: vec![0; blocks as usize],
        }
    }

    #[inline]
    pub(super) fn of(&self, block: BlockId) -> usize {
        usize::from(self.of[block.index()])
    }

    /// A block is opened; streams behind the last group fill blocks of that.
    pub(super) fn open(&mut self, block: BlockId, stream: StreamId) {
        self.of[block.index()] = stream.index().min(self.last) as u8;
    }

    #[inline]
    pub(super) fn is_queue(&self, group: usize) -> bool {
        self.queues > 0 && group <= self.queues
    }

    /// Whether a queue with `sealed` full blocks has to give one away.
    pub(super) fn is_full(&self, group: usize, sealed: u32) -> bool {
        sealed >= self.sizes[group]
    }

    /// The group after `group`, for pages that are moved out of it.
    #[inline]
    pub(super) fn after(&self, group: usize) -> usize {
        (group + 1).min(self.last)
    }

    /// The stream that fills blocks of `group`. What is open of streams that have no group any more is filled up
    /// by the last group first.
    #[inline]
    pub(super) fn stream(&self, group: usize, drive: &DriveState) -> StreamId {
        let stream = |index: usize| StreamId(index as u8);
        let is_open = |index: &usize| drive.open_block(stream(*index)).is_some();
        if group == self.last {
            return stream((group + 1..STREAMS).find(is_open).unwrap_or(group));
        }
        stream(group)
    }

    /// Queues of these sizes, the hot group first, and a last group: what was in the pool goes there, as do the oldest
    /// blocks of queues that shrink.
    pub(super) fn choose(&mut self, sizes: &[u32], expected: &[f64], drive: &DriveState) {
        let (queues, last) = (sizes.len() - 1, sizes.len());
        let pool = if self.queues == 0 { FIRST } else { self.queues + 1 };
        for group in &mut self.of {
            if usize::from(*group) >= pool.min(last) {
                *group = last as u8;
            }
        }
        self.sizes[..sizes.len()].copy_from_slice(sizes);
        self.expected[..expected.len()].copy_from_slice(expected);
        (self.queues, self.last) = (queues, last);
        for (group, &size) in sizes.iter().enumerate() {
            let mut sealed: Vec<BlockId> = self.sealed(group, drive).collect();
            sealed.sort_by_key(|block| drive.allocated(*block));
            let surplus = sealed.len().saturating_sub(size.saturating_sub(1) as usize);
            for block in &sealed[..surplus] {
                self.of[block.index()] = last as u8;
            }
        }
        self.restart();
    }

    /// Its full blocks.
    pub(super) fn sealed(&self, group: usize, drive: &DriveState) -> impl Iterator<Item = BlockId> {
        let blocks = (0..self.of.len() as u32).map(BlockId);
        blocks.filter(move |block| self.of(*block) == group && drive.phase(*block) == Phase::Sealed)
    }

    /// Makes `group` and those after it the pool.
    pub(super) fn merge_from(&mut self, group: usize) {
        let pool = group.max(FIRST);
        for of in &mut self.of {
            if usize::from(*of) > pool {
                *of = pool as u8;
            }
        }
        self.queues = pool - 1;
        self.last = (pool + GENERATIONS - 1).min(STREAMS - 1);
        self.left = [(0, 0); STREAMS];
    }

    fn restart(&mut self) {
        self.left = [(0, 0); STREAMS];
        self.collected = 0;
    }

    /// The first group whose victims hold more valid pages than expected, by a share of over `tolerance`; the
    /// last counts where it is a group of the model.
    pub(super) fn off(&mut self, tolerance: f64, pages_per_block: u32) -> Option<usize> {
        let modelled = if self.last == self.queues + 1 { self.last } else { self.queues };
        let groups = &*self;
        let is_off = |&group: &usize| {
            let share = groups.valid_share(group, pages_per_block);
            share.is_some_and(|share| share - groups.expected[group] > tolerance)
        };
        let off = (FIRST..=modelled).find(is_off);
        self.left = [(0, 0); STREAMS];
        off.filter(|_| self.queues > 0)
    }

    /// The mean valid share of the blocks that left a group, if they were enough to tell.
    fn valid_share(&self, group: usize, pages_per_block: u32) -> Option<f64> {
        let (blocks, valid) = self.left[group];
        let pages = (blocks * u64::from(pages_per_block)) as f64;
        (blocks >= BLOCKS_TELLING).then(|| valid as f64 / pages)
    }

    /// A block with `valid_pages` leaves a group.
    pub(super) fn take_note(&mut self, group: usize, valid_pages: u32) {
        self.collected |= 1 << group;
        let chain = (1 << (self.queues + 2)) - 1;
        if self.collected & chain == chain {
            self.left[group].0 += 1;
            self.left[group].1 += u64::from(valid_pages);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.of.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(groups: &Groups) -> Vec<usize> {
        (0..5).map(|block| groups.of(BlockId(block))).collect()
    }

    #[test]
    fn groups_behind_a_merge_are_the_pool_and_move_on_by_generations() {
        let mut groups = Groups::unknown(5);
        (groups.queues, groups.last) = (5, 6);
        (0..5).for_each(|block| groups.open(BlockId(block), StreamId(block as u8 + 2)));
        groups.merge_from(3);
        assert_eq!(of(&groups), [2, 3, 3, 3, 3]);
        assert_eq!([HOT, 2, 3].map(|group| groups.is_queue(group)), [true, true, false]);
        assert_eq!([2, 3, 5, 6].map(|group| groups.after(group)), [3, 4, 6, 6]);
        groups.merge_from(FIRST);
        assert_eq!((groups.queues, groups.last), (0, 4));
        assert!(!groups.is_queue(HOT), "without queues hot blocks are in the pool");
    }

    #[test]
    fn only_shares_that_are_too_large_are_off() {
        let mut groups = Groups::unknown(5);
        (groups.queues, groups.last) = (1, 2);
        groups.expected[FIRST] = 0.5;
        let leave = |groups: &mut Groups, valid| {
            (0..BLOCKS_TELLING + 2).for_each(|_| groups.take_note(FIRST, valid));
        };
        leave(&mut groups, 64);
        assert_eq!(groups.off(0.1, 64), None, "not all groups have been collected");
        groups.take_note(HOT, 0);
        groups.take_note(2, 0);
        leave(&mut groups, 10);
        assert_eq!(groups.off(0.1, 64), None);
        leave(&mut groups, 40);
        assert_eq!(groups.off(0.1, 64), Some(FIRST));
    }
}
