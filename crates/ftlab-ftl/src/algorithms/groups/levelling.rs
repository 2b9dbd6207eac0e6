//! Wear levelling between groups: worn blocks for cold groups, young ones for hot groups.

use crate::algorithms::groups::group::{Group, Groups, UNITS_MAX};
use crate::algorithms::groups::surplus::Cleaning;
use crate::page::policy::Victims;
use crate::page::{DriveState, Phase};
use crate::stream::StreamId;
use ftlab_flash::BlockId;

impl Groups {
    /// Lets groups clean and open blocks LUN by LUN, if `per_lun`, and levels wear between groups once a
    /// block of the coldest has `threshold` erases fewer than the mean; 0 is never.
    pub(crate) fn with_choice_of_blocks(mut self, per_lun: bool, threshold: u32) -> Self {
        (self.per_lun, self.wear_threshold) = (per_lun, threshold);
        self
    }

    /// The free block to open for `stream`: one of its LUN, if there is any; the least worn one for the
    /// hotter half of the groups, the most worn one for the others.
    pub(crate) fn free_block(&self, stream: StreamId, drive: &DriveState) -> Option<BlockId> {
        if !self.per_lun && self.wear_threshold == 0 {
            return None;
        }
        let lun = stream.index() % self.units;
        let choose = |fits: &dyn Fn(BlockId) -> bool| {
            let fitting = drive.free_list().iter().copied().filter(|&block| fits(block));
            if self.wear_threshold == 0 {
                return fitting.into_iter().next();
            }
            let group = self.owner(stream);
            let place = self.order().iter().position(|&other| other == group).unwrap_or(0);
            let is_hot = 2 * place >= self.order().len();
            let wear = |block: &BlockId| i64::from(drive.erases(*block));
            fitting.min_by_key(|block| if is_hot { wear(block) } else { -wear(block) })
        };
        choose(&|block| !self.per_lun || self.lun(block) == lun).or_else(|| choose(&|_| true))
    }

    /// The victim of `group` on the LUN that has the fewest free blocks, of equal ones that of `stream` or the
    /// next; none if victims are not chosen LUN by LUN, or it has none there.
    ///
    /// The streams of a group are filled in turn, so they are full at about the same time, and the relocations
    /// for the first open blocks for the others: the LUN of the stream that asks is often the same.
    pub(super) fn victim_on_lun(
        &self,
        group: &Group,
        stream: StreamId,
        cleaning: Cleaning,
        limit: u32,
        drive: &DriveState,
    ) -> Option<u32> {
        if !self.per_lun {
            return None;
        }
        let mut free = [0_u32; UNITS_MAX];
        drive.free_list().iter().for_each(|&block| free[self.lun(block)] += 1);
        let luns = (0..self.units).map(|step| (stream.index() + step) % self.units);
        let lun = luns.min_by_key(|&lun| free[lun]).unwrap_or(0);
        let blocks = &group.blocks;
        let fitting = blocks.below(limit + 1);
        let mut here = fitting.filter(|&slot| self.lun(blocks.block(slot)) == lun);
        match cleaning {
            Cleaning::Greedy => here.min_by_key(|&slot| blocks.valid_pages(slot)),
            Cleaning::Fifo | Cleaning::Lru => here.next(),
        }
    }

    /// Chooses the least worn block of the coldest group, whatever it holds, if its erases are by more than
    /// the threshold below the mean of all blocks. Its pages go to a worn block.
    pub(super) fn select_young(&mut self, drive: &DriveState, victims: &mut Victims) {
        let coldest = &self.get(self.order()[0]).blocks;
        let wear = |slot: &u32| drive.erases(coldest.block(*slot));
        let Some(slot) = coldest.below(u32::MAX).min_by_key(wear) else { return };
        let used = (0..drive.geometry().blocks())
            .map(BlockId)
            .filter(|&block| drive.phase(block) != Phase::Retired);
        let (sum, count) = used.fold((0, 0), |(sum, count), block| {
            (sum + u64::from(drive.erases(block)), count + 1_u64)
        });
        if (u64::from(wear(&slot)) + u64::from(self.wear_threshold)) * count >= sum {
            return;
        }
        if coldest.valid_pages(slot) <= victims.valid_pages_max() {
            let group = self.order()[0];
            self.get_mut(group).blocks.take(slot, victims);
        }
    }

    /// Lets wear be looked at, at the end of an interval.
    pub(crate) fn consider_levelling(&mut self) {
        self.levelling_is_due = self.wear_threshold > 0;
    }

    fn lun(&self, block: BlockId) -> usize {
        block.index() % self.units
    }
}
