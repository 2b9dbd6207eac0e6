//! Which blocks are collected: those that should be dead, or else the best of the last groups.

use crate::algorithms::dogi::policy::{Dogi, HOT, LastGroup};
use crate::page::policy::Victims;
use crate::page::{DriveState, Phase};
use ftlab_flash::BlockId;

/// Expired blocks without an invalid page that a collection moves at most.
const FULL_VICTIMS_MAX: usize = 4;

impl Dogi {
    /// Expired blocks until one has an invalid page, or else the best one.
    pub(super) fn choose_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        while victims.invalid_pages() == 0
            && victims.blocks().len() < FULL_VICTIMS_MAX
            && let Some(block) = self.expired(drive, victims)
        {
            self.choose(block, drive, victims);
        }
        if victims.invalid_pages() == 0
            && let Some(block) = self.best_of_last(drive, victims)
        {
            self.choose(block, drive, victims);
        }
    }

    fn eligible<'a>(
        drive: &'a DriveState,
        victims: &Victims,
    ) -> impl Iterator<Item = BlockId> + 'a {
        let most = victims.valid_pages_max();
        let chosen = victims.blocks().to_vec();
        drive.host_blocks().filter(move |&block| {
            drive.phase(block) == Phase::Sealed
                && drive.valid_pages(block) <= most
                && !chosen.contains(&block)
        })
    }

    /// The oldest block of the first group that has expired ones.
    fn expired(&self, drive: &DriveState, victims: &Victims) -> Option<BlockId> {
        let now = drive.write_clock();
        let is_expired = |&block: &BlockId| {
            let bound = self.bound(drive.stream_of(block));
            bound.is_some_and(|bound| now - self.opened_at[block.index()] > bound)
        };
        let order = |&block: &BlockId| (drive.stream_of(block).0, drive.allocated(block));
        Self::eligible(drive, victims).filter(is_expired).min_by_key(order)
    }

    /// What a block of the last group is worth as a victim.
    pub(super) fn score(&self, block: BlockId, drive: &DriveState) -> f64 {
        let pages = f64::from(drive.pages_per_block());
        let valid = f64::from(drive.valid_pages(block));
        match self.last {
            LastGroup::Greedy => pages - valid,
            LastGroup::CostBenefit if valid <= 0.0 => f64::INFINITY,
            LastGroup::CostBenefit => {
                let age = (drive.write_clock() - self.opened_at[block.index()]) as f64;
                age.sqrt() * (pages - valid) / valid
            }
        }
    }

    /// The best block without a bound that has an invalid page, or of all if there is none.
    fn best_of_last(&self, drive: &DriveState, victims: &Victims) -> Option<BlockId> {
        let gains = |&block: &BlockId| drive.valid_pages(block) < drive.pages_per_block();
        let blocks = || Self::eligible(drive, victims).filter(gains);
        let best = |blocks: &mut dyn Iterator<Item = BlockId>| {
            let scored = blocks.map(|block| (self.score(block, drive), block));
            scored.min_by(|a, b| {
                b.0.total_cmp(&a.0).then_with(|| drive.allocated(a.1).cmp(&drive.allocated(b.1)))
            })
        };
        let is_last = |&block: &BlockId| self.bound(drive.stream_of(block)).is_none();
        let found = best(&mut blocks().filter(is_last)).or_else(|| best(&mut blocks()));
        found.map(|(_, block)| block)
    }

    fn choose(&mut self, block: BlockId, drive: &DriveState, victims: &mut Victims) {
        let valid = drive.valid_pages(block);
        if drive.stream_of(block) == HOT {
            self.hot_traffic.victims += 1;
            self.hot_traffic.moved += u64::from(valid);
        }
        victims.push(block, valid);
    }
}
