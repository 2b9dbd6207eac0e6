//! New groups, and groups that become one.

use crate::algorithms::groups::group::{Groups, NONE};
use crate::page::{DriveState, Phase};

impl Groups {
    /// Puts a new, empty group into the order at `place` and returns it, if there can be another.
    pub(super) fn create(&mut self, place: usize, drive: &DriveState) -> Option<u8> {
        let drained = |group: &u8| {
            !self.order().contains(group)
                && !self.streams_of(*group).any(|stream| drive.takes_pages(stream))
        };
        let group = (0..self.slots.len() as u8).find(drained)?;
        let next = std::mem::replace(&mut self.get_mut(group).drains, NONE);
        for other in &mut self.slots {
            if other.drains == group {
                other.drains = next;
            }
        }
        let created = self.get_mut(group);
        created.frequency = 0.0;
        created.interval_writes = 0;
        created.converged = 0;
        self.take_back(group);
        self.change_order(|order| order.insert(place, group));
        Some(group)
    }

    /// Merges the group at `place` in the order into the one at `into`: its blocks, open ones
    /// included, and its statistics.
    pub(super) fn merge(&mut self, place: usize, into: usize, drive: &DriveState) {
        let kept = self.order()[into];
        let gone = self.change_order(|order| order.remove(place));
        self.hand_over(gone, kept);
        self.merging.clear();
        for group in [gone, kept] {
            let blocks = &mut self.slots[usize::from(group)].blocks;
            let mut from = 0;
            while let Some(slot) = blocks.next_in_use(from..blocks.end()) {
                let block = blocks.block(slot);
                blocks.remove(block);
                self.merging.push(block);
                from = slot + 1;
            }
        }
        self.merging.sort_unstable_by_key(|&block| drive.allocated(block));
        for &block in &self.merging {
            let blocks = &mut self.slots[usize::from(kept)].blocks;
            self.group_of[block.index()] = kept;
            blocks.push(block, drive.valid_pages(block), drive.write_clock());
            if drive.phase(block) == Phase::Sealed {
                blocks.seal(block);
            }
        }
        let from = self.get_mut(gone);
        let (size, frequency) = (std::mem::take(&mut from.size), from.frequency);
        let donated = std::mem::take(&mut from.donated);
        let to = self.get_mut(kept);
        to.donated += donated;
        to.size += size;
        to.frequency += frequency;
        let mut last = gone;
        while self.get(last).drains != NONE {
            last = self.get(last).drains;
        }
        self.get_mut(last).drains = self.get(kept).drains;
        self.get_mut(kept).drains = gone;
    }
}
