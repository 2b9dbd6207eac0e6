//! `random`: any sealed block.
//!
//! # Idea
//! The cheapest rule there is, and the worst case to compare with.
//!
//! # Rule
//! A sealed block drawn at random: `d-choices` with d = 1.
//!
//! # Parameters
//! `seed` of the draws.
//!
//! # Where the paper is silent
//! As `d-choices`: a block that is full of valid pages is drawn again.
//!
//! # Reference
//! Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid
//! state drives", ACM SIGMETRICS, 2013.

use crate::Metadata;
use crate::algorithms::victim::d_choices::{DChoices, DChoicesParameters};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, VictimEntry};
use crate::page::policy::{VictimRule, Victims};
use ftlab_flash::BlockId;

ftlab_spec::parameters! {
    pub struct RandomParameters {
        /// Seed of the draws.
        seed: u64 = 1, "seed", from "our choice";
    }
}

/// One draw.
pub struct Random(DChoices);

impl crate::State for Random {
    fn transfer(&mut self, archive: &mut dyn crate::Archive) -> Result<(), crate::StateError> {
        self.0.transfer(archive)
    }
}

impl VictimEntry for Random {
    type Parameters = RandomParameters;
    const NAME: &'static str = "random";
    const SUMMARY: &'static str = "any sealed block";
    const SOURCE: &'static str = "Van Houdt (SIGMETRICS 2013)";

    fn new(parameters: &RandomParameters, shape: DriveShape) -> Self {
        Self(DChoices::new(&DChoicesParameters { d: 1, seed: parameters.seed }, shape))
    }
}

impl VictimRule for Random {
    fn select(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.0.select(drive, victims);
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.0.on_block_opened(block, drive);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.0.on_block_sealed(block, drive);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        self.0.on_invalidate(block, drive);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.0.on_block_erased(block, drive);
    }

    fn metadata(&self) -> Metadata {
        self.0.metadata()
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        self.0.check(drive)
    }
}
