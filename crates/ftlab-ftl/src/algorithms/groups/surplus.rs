//! Which group gives up a block, and which block.

use crate::algorithms::groups::group::{Group, Groups};
use crate::page::DriveState;
use crate::page::policy::Victims;

ftlab_spec::choices! {
    /// Which block of a group is collected.
    pub enum Cleaning {
        /// The one with the fewest valid pages.
        Greedy = "greedy",
        /// The one that was allocated first, of those with an invalid page.
        Fifo = "fifo",
        /// The one that was allocated first; if it gains nothing, the next ones too until one does.
        Lru = "lru",
    }
}

impl Groups {
    /// Chooses a block of the group that has the most pages above its target, among the groups that
    /// `may_give` and have a block to give; if there is none, the block with the fewest valid pages.
    pub(crate) fn select(
        &mut self,
        cleaning: Cleaning,
        drive: &DriveState,
        victims: &mut Victims,
        may_give: impl Fn(&Self, u8, u8) -> bool,
    ) {
        let limit = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let requester = self.owner(victims.requester());
        let wants_block = !drive.takes_pages(victims.requester());
        let mut best: Option<(f64, u8, u32)> = None;
        for &group in self.order() {
            if may_give(self, group, requester)
                && let Some(slot) = self.get(group).victim(cleaning, limit)
            {
                let surplus = self.surplus(group, wants_block && group == requester, drive);
                if best.is_none_or(|(most, ..)| surplus > most) {
                    best = Some((surplus, group, slot));
                }
            }
        }
        let chosen = best.map(|(_, group, slot)| (group, slot)).or_else(|| self.emptiest(limit));
        if let Some((group, slot)) = chosen {
            let subgroup =
                self.victim_on_lun(self.get(group), victims.requester(), cleaning, limit, drive);
            let slot = subgroup.unwrap_or(slot);
            let blocks = &mut self.get_mut(group).blocks;
            if cleaning == Cleaning::Lru && victims.valid_pages_max() == drive.pages_per_block() {
                let mut from = 0;
                while let Some(older) = blocks.next_below(from..slot, u32::MAX) {
                    blocks.take(older, victims);
                    from = older + 1;
                }
            }
            blocks.take(slot, victims);
        }
    }

    /// Pages that `group` has beyond its target; a block more if it `wants_block`.
    pub(super) fn surplus(&self, group: u8, wants_block: bool, drive: &DriveState) -> f64 {
        let Group { blocks, donated, size, over_provisioning, .. } = self.get(group);
        f64::from(blocks.len() + donated + u32::from(wants_block))
            * f64::from(drive.pages_per_block())
            - f64::from(*size)
            - over_provisioning
    }

    fn emptiest(&self, limit: u32) -> Option<(u8, u32)> {
        let of_groups = self.order().iter().filter_map(|&group| {
            let slot = self.get(group).victim(Cleaning::Greedy, limit)?;
            Some((self.get(group).blocks.valid_pages(slot), group, slot))
        });
        of_groups.min().map(|(_, group, slot)| (group, slot))
    }

    /// Pages that the blocks of all groups, free ones included that are kept for them, have beyond the valid
    /// ones, without blocks borrowed from the reserve.
    pub(crate) fn over_provisioning(&self, drive: &DriveState) -> f64 {
        let groups = self.order().iter().map(|&group| self.get(group));
        let sums = |(blocks, pages), group: &Group| {
            (blocks + group.blocks.len() + group.donated, pages + group.size)
        };
        let (blocks, pages) = groups.fold((0, 0), sums);
        f64::from(blocks.min(self.blocks_max)) * f64::from(drive.pages_per_block())
            - f64::from(pages)
    }
}

impl Group {
    /// The slot of the block to collect, with at most `limit` valid pages.
    pub(super) fn victim(&self, cleaning: Cleaning, limit: u32) -> Option<u32> {
        match cleaning {
            Cleaning::Greedy => {
                self.blocks.min().filter(|&slot| self.blocks.valid_pages(slot) <= limit)
            }
            Cleaning::Fifo | Cleaning::Lru => {
                self.blocks.next_below(0..self.blocks.end(), limit + 1)
            }
        }
    }
}
