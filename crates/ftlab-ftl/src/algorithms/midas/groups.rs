//! The groups that the blocks are divided among.

use crate::algorithms::midas::model::GROUPS_MAX;
use crate::state::state;
use crate::stream::StreamId;

/// The hot group.
pub(super) const HOT: usize = 0;

/// The first group of the chain.
pub(super) const FIRST: usize = 1;

/// Streams: one for every group that there may be.
pub(super) const STREAMS: usize = GROUPS_MAX + 1;

/// Blocks that leave a group before its valid share says anything.
const BLOCKS_TELLING: u64 = 8;

/// The present division of the blocks.
pub(super) struct Groups {
    /// Stream -> blocks that it may have; the first and `queues` groups after it are queues.
    pub(super) sizes: [u32; STREAMS],
    /// Queues beside the hot group.
    pub(super) queues: usize,
    /// The last group.
    pub(super) last: usize,
    /// Stream -> the valid share that its victims should have.
    pub(super) expected: [f64; STREAMS],
    /// Stream -> blocks and valid pages that left it since the groups were chosen.
    pub(super) left: [(u64, u64); STREAMS],
}

state!(Groups { sizes, queues, last, expected, left });

impl Groups {
    /// A group for host writes and one for relocated pages, collected alike, and hardly any hot pages.
    pub(super) fn unknown() -> Self {
        let mut sizes = [0; STREAMS];
        sizes[HOT] = 1;
        let expected = [0.0; STREAMS];
        Self { sizes, queues: 0, last: 2, expected, left: [(0, 0); STREAMS] }
    }

    /// The group of a stream: streams after the last group count as the last.
    #[inline]
    pub(super) fn of(&self, stream: StreamId) -> usize {
        stream.index().min(self.last)
    }

    #[inline]
    pub(super) fn is_queue(&self, group: usize) -> bool {
        group <= self.queues
    }

    /// Makes `group` and those after it the last group.
    pub(super) fn merge_from(&mut self, group: usize) {
        self.queues = group - 1;
        self.last = group.max(2);
    }

    /// The mean valid share of the blocks that left a group, if they were enough to tell.
    pub(super) fn valid_share(&self, group: usize, pages_per_block: u32) -> Option<f64> {
        let (blocks, valid) = self.left[group];
        let pages = (blocks * u64::from(pages_per_block)) as f64;
        (blocks >= BLOCKS_TELLING).then(|| valid as f64 / pages)
    }

    pub(super) fn take_note(&mut self, group: usize, valid_pages: u32) {
        self.left[group].0 += 1;
        self.left[group].1 += u64::from(valid_pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_behind_a_merge_are_one() {
        let mut groups = Groups::unknown();
        (groups.queues, groups.last) = (5, 6);
        groups.merge_from(3);
        let of = [0, 1, 2, 3, 4, 7].map(|stream| groups.of(StreamId(stream)));
        assert_eq!(of, [0, 1, 2, 3, 3, 3]);
        let queues = [HOT, 1, 2, 3].map(|group| groups.is_queue(group));
        assert_eq!(queues, [true, true, true, false]);
        groups.merge_from(FIRST);
        // Host writes and relocated pages keep a stream each, and none is a queue.
        assert_eq!((groups.last, groups.is_queue(FIRST)), (2, false));
    }

    #[test]
    fn a_valid_share_takes_a_few_blocks() {
        let mut groups = Groups::unknown();
        (0..BLOCKS_TELLING - 1).for_each(|_| groups.take_note(FIRST, 16));
        assert_eq!(groups.valid_share(FIRST, 64), None);
        groups.take_note(FIRST, 16);
        assert_eq!(groups.valid_share(FIRST, 64), Some(0.25));
    }
}
