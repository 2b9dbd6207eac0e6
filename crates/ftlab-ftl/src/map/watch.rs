//! What collection does to pages, told to the map.

use crate::Observer;
use crate::map::units::UnitPages;
use crate::page::DriveState;
use crate::page::policy::{Policy, Victims};
use crate::state::state;
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Cause, Lpn, Merge, Ppn};

/// Stands between the moved pages of one victim and the next.
pub(super) const NEXT_VICTIM: u32 = u32::MAX;

/// Takes note of moved units. The observer below is told of pages of the host, and of all blocks: all pages of a unit
/// are written when some of them are.
pub(super) struct MapWatch<O> {
    pub(super) below: O,
    units: UnitPages,
    /// Units of the host, and their pages.
    host_units: u32,
    logical_pages: u32,
    /// Whether it is taken note of.
    keeps_moved: bool,
    /// Units of the host that have moved, by victim.
    pub(super) moved: Vec<u32>,
    /// Translation pages that have moved.
    pub(super) relocations: u64,
}

state!([O] MapWatch<O> { moved, relocations } constant below, units, host_units, logical_pages, keeps_moved);

impl<O> MapWatch<O> {
    pub(super) fn new(
        below: O,
        units: UnitPages,
        [host_units, logical_pages]: [u32; 2],
        keeps_moved: bool,
    ) -> Self {
        Self {
            below,
            units,
            host_units,
            logical_pages,
            keeps_moved,
            moved: Vec::new(),
            relocations: 0,
        }
    }

    #[inline]
    fn is_of_host(&self, unit: Lpn) -> bool {
        unit.0 < self.host_units
    }

    /// The pages of a unit.
    #[inline]
    fn pages(&self, unit: Lpn) -> impl Iterator<Item = (Lpn, u32)> + use<O> {
        let first = unit.0 * self.units.pages;
        let end = (first + self.units.pages).min(self.logical_pages);
        (first..end).zip(0..).map(|(page, index)| (Lpn(page), index))
    }

    /// The flash page of one page of a unit.
    #[inline]
    fn place(&self, unit: Ppn, page: u32) -> Ppn {
        Ppn(unit.0 * self.units.pages + page)
    }
}

impl<O: Observer> Observer for MapWatch<O> {
    #[inline]
    fn host_write_begins(&mut self, lpn: Lpn) {
        if self.is_of_host(lpn) {
            self.pages(lpn).for_each(|(page, _)| self.below.host_write_begins(page));
        }
    }

    #[inline]
    fn host_write(&mut self, lpn: Lpn, to: Ppn, stream: StreamId) {
        if self.is_of_host(lpn) {
            for (page, index) in self.pages(lpn) {
                self.below.host_write(page, self.place(to, index), stream);
            }
        }
    }

    #[inline]
    fn relocation(&mut self, lpn: Lpn, from: Ppn, to: Ppn, stream: StreamId) {
        if self.is_of_host(lpn) {
            if self.keeps_moved {
                self.moved.push(lpn.0);
            }
            for (page, index) in self.pages(lpn) {
                let [from, to] = [from, to].map(|unit| self.place(unit, index));
                self.below.relocation(page, from, to, stream);
            }
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
        if self.keeps_moved {
            self.moved.push(NEXT_VICTIM);
        }
        self.below.collection(victim, stream, valid_pages * self.units.pages, cause);
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
        self.pages(lpn).for_each(|(page, _)| self.below.trim(page));
    }
}
