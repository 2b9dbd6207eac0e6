//! What collection does to pages, told to the map.

use crate::Observer;
use crate::page::DriveState;
use crate::page::policy::{Policy, Victims};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Cause, Lpn, Merge, Ppn};

/// Stands between the moved pages of one victim and the next.
pub(super) const NEXT_VICTIM: u32 = u32::MAX;

/// Takes note of moved pages. The observer below is told of pages of the host, and of all blocks.
pub(super) struct MapWatch<O> {
    pub(super) below: O,
    host_pages: u32,
    /// Pages of the host that have moved, by victim.
    pub(super) moved: Vec<u32>,
    /// Translation pages that have moved.
    pub(super) relocations: u64,
}

impl<O> MapWatch<O> {
    pub(super) fn new(below: O, host_pages: u32) -> Self {
        Self { below, host_pages, moved: Vec::new(), relocations: 0 }
    }

    #[inline]
    fn is_of_host(&self, lpn: Lpn) -> bool {
        lpn.0 < self.host_pages
    }
}

impl<O: Observer> Observer for MapWatch<O> {
    #[inline]
    fn host_write_begins(&mut self, lpn: Lpn) {
        if self.is_of_host(lpn) {
            self.below.host_write_begins(lpn);
        }
    }

    #[inline]
    fn host_write(&mut self, lpn: Lpn, to: Ppn, stream: StreamId) {
        if self.is_of_host(lpn) {
            self.below.host_write(lpn, to, stream);
        }
    }

    #[inline]
    fn relocation(&mut self, lpn: Lpn, from: Ppn, to: Ppn, stream: StreamId) {
        if self.is_of_host(lpn) {
            self.moved.push(lpn.0);
            self.below.relocation(lpn, from, to, stream);
        } else {
            self.relocations += 1;
        }
    }

    fn collection_begins(&mut self) {
        self.below.collection_begins();
    }

    fn collection_ends(&mut self) {
        self.below.collection_ends();
    }

    fn step_begins(&mut self) {
        self.below.step_begins();
    }

    fn step_ends(&mut self) {
        self.below.step_ends();
    }

    fn choice_begins(&mut self, policy: &dyn Policy, drive: &DriveState) {
        self.below.choice_begins(policy, drive);
    }

    fn choice_ends(&mut self, victims: &Victims) {
        self.below.choice_ends(victims);
    }

    fn collection(&mut self, victim: BlockId, stream: StreamId, valid_pages: u32, cause: Cause) {
        self.moved.push(NEXT_VICTIM);
        self.below.collection(victim, stream, valid_pages, cause);
    }

    fn erase(&mut self, block: BlockId, cause: Cause) {
        self.below.erase(block, cause);
    }

    fn merge(&mut self, merge: Merge) {
        self.below.merge(merge);
    }

    fn emptied_by_merges(&mut self, data_blocks: u32) {
        self.below.emptied_by_merges(data_blocks);
    }

    #[inline]
    fn trim(&mut self, lpn: Lpn) {
        self.below.trim(lpn);
    }
}
