//! `cat`: cost-benefit that spares blocks which have been erased often (cost, age, times).
//!
//! # Idea
//! Cost-benefit looks at free space and age only, so a block that happens to hold hot pages is collected
//! over and over. If the number of times a block has been erased raises its cost, collection itself
//! levels wear.
//!
//! # Rule
//! The sealed block with the lowest u / (1 - u) x 1 / age x times, which is the highest
//! age x (1 - u) / (u x times). u is its valid share, its age the host writes since it was sealed, plus
//! 1, and times is how often it has been erased, plus 1.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! A block that was never erased would always win: erases are counted from 1. Age enters as it is; the
//! paper maps it to a few steps, which it does not list. Ties go to the block that was allocated first.
//!
//! # Reference
//! Chiang, Lee and Chang, "Using data clustering to improve cleaning performance for flash memory",
//! Software: Practice and Experience 29(3), 1999.

use crate::algorithms::tools::block_list::{BlockList, keep_block_list};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, VictimEntry};
use crate::page::policy::{BlockScore, VictimRule, Victims};
use crate::state::state;
use crate::{Metadata, STAMP_BITS};
use ftlab_flash::BlockId;
use ftlab_spec::NoParameters;

/// Cost, age, times.
pub struct Cat {
    list: BlockList,
}

state!(Cat { list });

impl VictimEntry for Cat {
    type Parameters = NoParameters;
    const NAME: &'static str = "cat";
    const SUMMARY: &'static str = "the block with the highest age x (1 - u) / (u x erases)";
    const SOURCE: &'static str = "Chiang et al. (SPE 1999)";

    fn new(_parameters: &NoParameters, shape: DriveShape) -> Self {
        Self { list: BlockList::new(shape.blocks) }
    }
}

/// The score of a block that was sealed at `since`.
#[inline]
fn score(drive: &DriveState, since: u64, valid_pages: u32, erases: u32) -> f64 {
    let pages = f64::from(drive.pages_per_block());
    let age = (drive.write_clock() - since + 1) as f64;
    let valid = f64::from(valid_pages);
    age * (pages - valid) / (valid * (f64::from(erases) + 1.0))
}

impl VictimRule for Cat {
    fn select(&mut self, drive: &DriveState, victims: &mut Victims) {
        // No block has a higher score than one as old and as empty that was erased least.
        let bound = |stamp, valid_pages| score(drive, stamp, valid_pages, drive.fewest_erases());
        let best = self.list.best(bound, |slot, valid_pages| {
            if valid_pages > victims.valid_pages_max() {
                return 0.0;
            }
            let block = self.list.block(slot);
            score(drive, drive.sealed_at(block), valid_pages, drive.erases(block))
        });
        if let Some(slot) = best {
            self.list.take(slot, victims);
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        let valid_pages = drive.valid_pages(block);
        let value = score(drive, drive.sealed_at(block), valid_pages, drive.erases(block));
        Some(BlockScore { formula: "age x (1 - u) / (u x (erases + 1))", value })
    }

    fn metadata(&self) -> Metadata {
        // When it was sealed; every drive counts erases.
        Metadata::per_block(STAMP_BITS)
    }

    keep_block_list!();
}

#[cfg(test)]
mod tests {
    use crate::page::{DriveConfig, FreeBlock, WearLeveling};
    use crate::registry;
    use ftlab_flash::{BlockId, Geometry, Lpn, NoPayload};

    /// The standard deviation of erases after skewed writes.
    fn deviation(ftl: &str) -> f64 {
        let wear = WearLeveling { free_block: FreeBlock::Fifo, threshold: 0 };
        let geometry = Geometry::new(72, 32, 512).unwrap();
        let config = DriveConfig { wear, ..DriveConfig::new(geometry, 64 * 32, 4) };
        let spec = ftl.parse().unwrap();
        let mut ftl = registry::build_page_mapped(&spec, config, NoPayload, ()).unwrap();
        let mut random: u32 = 1;
        for _ in 0..200_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let hot = random >> 24 < 230;
            let pages = if hot { 200 } else { config.logical_pages };
            ftl.write(Lpn((random >> 8) % pages), &[]).unwrap();
        }
        let erases = (0..72).map(|block| f64::from(ftl.drive().erases(BlockId(block))));
        let mean = erases.clone().sum::<f64>() / 72.0;
        (erases.map(|number| (number - mean).powi(2)).sum::<f64>() / 72.0).sqrt()
    }

    #[test]
    fn wear_is_more_even_than_under_cost_benefit() {
        let (cat, cost_benefit) = (deviation("sep-gc/cat"), deviation("sep-gc/cost-benefit"));
        assert!(cat < 0.9 * cost_benefit, "{cat} and {cost_benefit}");
    }
}
