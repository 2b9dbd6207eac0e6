//! Blocks that move between groups: collections of groups that have too many, and free blocks that are
//! kept for groups that have too few.

use crate::algorithms::groups::group::Groups;
use crate::algorithms::groups::surplus::Cleaning;
use crate::page::DriveState;
use crate::page::policy::Victims;
use crate::stream::StreamId;

ftlab_spec::choices! {
    /// When a group with a surplus of blocks gives one up.
    pub enum Movement {
        /// After each interval and each erase, for as long as another group has too few.
        Interval = "interval",
        /// When a group needs one.
        Need = "need",
    }
}

impl Groups {
    /// Lets groups with a surplus give blocks up of their own accord.
    pub(crate) fn with_movement(mut self, movement: Movement) -> Self {
        self.moving.on_their_own = movement == Movement::Interval;
        self
    }

    /// Whether a movement, or wear, is to be considered.
    #[inline]
    pub(crate) fn movement_is_due(&self) -> bool {
        self.moving.is_due | self.levelling_is_due
    }

    /// Lets a movement be considered, at the end of an interval or after an erase.
    pub(crate) fn consider_movement(&mut self) {
        self.moving.is_due = self.moving.on_their_own;
    }

    /// Chooses a block of the group with the largest surplus, if that is a block or more and a group has
    /// a deficit; free blocks that are kept for a group with a surplus change hands first. Before, if an
    /// interval has ended, one that levels wear.
    pub(crate) fn select_movement(
        &mut self,
        cleaning: Cleaning,
        drive: &DriveState,
        victims: &mut Victims,
    ) {
        self.moving.is_due = false;
        if std::mem::take(&mut self.levelling_is_due) {
            self.select_young(drive, victims);
            if !victims.is_empty() {
                return self.consider_movement();
            }
        }
        if !self.moving.on_their_own {
            return;
        }
        let most_valid = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let pages = f64::from(drive.pages_per_block());
        // Free blocks beyond those kept are there for every group that has a deficit.
        while drive.free_blocks() <= self.reserve_blocks + self.donated() {
            let mut most: Option<(f64, u8, Option<u32>)> = None;
            for &group in self.order() {
                let surplus = self.surplus(group, false, drive);
                if surplus < pages || most.is_some_and(|(most, ..)| surplus <= most) {
                    continue;
                }
                let slot = self.get(group).victim(cleaning, most_valid);
                if self.get(group).donated > 0 || slot.is_some() {
                    most = Some((surplus, group, slot));
                }
            }
            let Some((_, giver, slot)) = most else { return };
            let taker = self.neediest(drive);
            if self.surplus(taker, false, drive) >= 0.0 {
                return;
            }
            if self.get(giver).donated > 0 {
                self.get_mut(giver).donated -= 1;
                self.get_mut(taker).donated += 1;
            } else if let Some(slot) = slot {
                (self.moving.is_due, self.moving.is_under_way) = (true, true);
                return self.get_mut(giver).blocks.take(slot, victims);
            }
        }
    }

    /// Gives a block that a movement has freed to the group with the largest deficit.
    pub(super) fn donate(&mut self, drive: &DriveState) {
        if std::mem::take(&mut self.moving.is_under_way)
            && drive.free_blocks() > self.reserve_blocks + self.donated()
        {
            let taker = self.neediest(drive);
            self.get_mut(taker).donated += 1;
        }
        self.consider_movement();
    }

    /// Takes note that `group` has opened a free block: one that was kept for it, if there was any.
    pub(super) fn take_donated(&mut self, group: u8, drive: &DriveState) {
        let donated = &mut self.get_mut(group).donated;
        *donated = donated.saturating_sub(1);
        while self.donated() > drive.free_blocks().saturating_sub(self.reserve_blocks) {
            let keeps = |group: &u8| self.get(*group).donated > 0;
            let surplus = |group: &u8| self.surplus(*group, false, drive);
            let kept = self.order().iter().copied().filter(keeps);
            let Some(from) = kept.max_by(|a, b| surplus(a).total_cmp(&surplus(b))) else { return };
            self.get_mut(from).donated -= 1;
        }
    }

    /// Free blocks that are kept for other groups than that of `stream`; none if nothing can be collected.
    pub(crate) fn kept_from(
        &self,
        stream: StreamId,
        cleaning: Cleaning,
        drive: &DriveState,
    ) -> u32 {
        let kept = self.donated() - self.get(self.owner(stream)).donated;
        let most = drive.pages_per_block() - 1;
        let can_give = |&group: &u8| self.get(group).victim(cleaning, most).is_some();
        if kept > 0 && self.order().iter().any(can_give) { kept } else { 0 }
    }

    /// The group with the largest deficit.
    fn neediest(&self, drive: &DriveState) -> u8 {
        let surplus = |group: &u8| self.surplus(*group, false, drive);
        let order = self.order().iter().copied();
        order.min_by(|a, b| surplus(a).total_cmp(&surplus(b))).unwrap_or_default()
    }

    /// Free blocks that are kept for groups.
    pub(super) fn donated(&self) -> u32 {
        self.order().iter().map(|&group| self.get(group).donated).sum()
    }
}
