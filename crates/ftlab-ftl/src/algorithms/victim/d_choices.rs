//! `d-choices`: the emptiest of d blocks taken at random.
//!
//! # Idea
//! Greedy's effect at the price of looking at d blocks, with no order to maintain.
//!
//! # Rule
//! d sealed blocks are drawn at random, with replacement; the one with the fewest valid pages is the
//! victim. `random` is d = 1.
//!
//! # Parameters
//! `d` 10; `seed` of the draws.
//!
//! # Where the paper is silent
//! If all d blocks are full of valid pages, the draw is repeated; after 64 vain rounds, the blocks are
//! gone through from a random one on.
//!
//! # Reference
//! Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid
//! state drives", ACM SIGMETRICS, 2013.

use crate::Metadata;
use crate::algorithms::tools::sealed_blocks::SealedBlocks;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, VictimEntry};
use crate::page::policy::{VictimRule, Victims};
use crate::state::state;
use ftlab_flash::BlockId;

ftlab_spec::parameters! {
    pub struct DChoicesParameters {
        /// Blocks drawn.
        d: u32 = 10, "d" in 1..=1024, from "Van Houdt (SIGMETRICS 2013)";
        /// Seed of the draws.
        seed: u64 = 1, "seed", from "our choice";
    }
}

/// The emptiest of d.
pub struct DChoices {
    sealed: SealedBlocks,
    d: u32,
}

state!(DChoices { sealed } constant d);

const ROUNDS_MAX: u32 = 64;

impl VictimEntry for DChoices {
    type Parameters = DChoicesParameters;
    const NAME: &'static str = "d-choices";
    const SUMMARY: &'static str = "the emptiest of d blocks taken at random";
    const SOURCE: &'static str = "Van Houdt (SIGMETRICS 2013)";

    fn new(parameters: &DChoicesParameters, shape: DriveShape) -> Self {
        Self { sealed: SealedBlocks::new(shape.blocks, parameters.seed), d: parameters.d }
    }
}

impl VictimRule for DChoices {
    fn select(&mut self, drive: &DriveState, victims: &mut Victims) {
        let most = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let fits = |block: &BlockId| drive.valid_pages(*block) <= most;
        let emptiest = (0..ROUNDS_MAX).find_map(|_| {
            let drawn = (0..self.d).filter_map(|_| self.sealed.draw()).filter(fits);
            drawn.min_by_key(|&block| drive.valid_pages(block))
        });
        if let Some(block) = emptiest.or_else(|| self.sealed.find(fits)) {
            victims.push(block, drive.valid_pages(block));
        }
    }

    fn on_block_opened(&mut self, _block: BlockId, _drive: &DriveState) {}

    fn on_block_sealed(&mut self, block: BlockId, _drive: &DriveState) {
        self.sealed.insert(block);
    }

    #[inline]
    fn on_invalidate(&mut self, _block: BlockId, _drive: &DriveState) {}

    fn on_block_erased(&mut self, block: BlockId, _drive: &DriveState) {
        self.sealed.remove(block);
    }

    fn metadata(&self) -> Metadata {
        Metadata::NONE
    }

    fn memory_bytes(&self) -> usize {
        self.sealed.bytes()
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        self.sealed.check(drive)
    }
}
