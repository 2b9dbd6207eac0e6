//! `cost-benefit`: the block that gains most free space for its age and for the pages to be moved.
//!
//! # Idea
//! The free space of an old block stays free longer, because the pages that are still valid in it are
//! cold: it is worth a dearer collection.
//!
//! # Rule
//! The sealed block with the highest score. u is its valid share, its age the host writes since it was
//! sealed, plus 1. `score=simple` is age x (1 - u) / u, infinite at u = 0; `score=lfs` is
//! age x (1 - u) / (1 + u), the original, which counts the read of the whole block as a cost.
//!
//! # Parameters
//! `score`; `age-power` e, with which the age enters as age^e; `batch` n: a collection takes one block
//! (n = 1), or as many of the best as free n blocks.
//!
//! # Where the paper is silent
//! Ties go to the block that was allocated first. Nothing is scanned: see
//! [`BlockList::best`](crate::page::BlockList::best).
//!
//! # Reference
//! Rosenblum and Ousterhout, "The design and implementation of a log-structured file system", ACM TOCS
//! 10(1), 1992, section 3.6; Kang et al., "2R", PVLDB 13(11), 2020, section 6, for the simple score.

use crate::algorithms::tools::block_list::{BlockList, keep_block_list};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, VictimEntry};
use crate::page::policy::{BlockScore, VictimRule, Victims};
use crate::state::state;
use crate::{Metadata, STAMP_BITS};
use ftlab_flash::BlockId;

ftlab_spec::choices! {
    /// How benefit and cost are weighed.
    pub enum Score {
        /// age x (1 - u) / u.
        Simple = "simple",
        /// age x (1 - u) / (1 + u).
        Lfs = "lfs",
    }
}

ftlab_spec::parameters! {
    pub struct CostBenefitParameters {
        /// simple: age x (1 - u) / u; lfs: age x (1 - u) / (1 + u).
        score: Score = Score::Simple, "score", from "2R (PVLDB 2020), section 6; LFS (TOCS 1992), section 3.6";
        /// The power with which the age enters.
        age_power: f64 = 1.0, "age-power" in 0.0..=4.0, from "LFS (TOCS 1992), section 3.6";
        /// Blocks that a collection frees; 1 takes one victim.
        batch: u32 = 1, "batch" in 1..=4096, from "our reading";
    }
}

/// Highest score first.
pub struct CostBenefit {
    list: BlockList,
    parameters: CostBenefitParameters,
    /// The age enters as it is.
    linear: bool,
}

state!(CostBenefit { list } constant parameters, linear);

impl VictimEntry for CostBenefit {
    type Parameters = CostBenefitParameters;
    const NAME: &'static str = "cost-benefit";
    const SUMMARY: &'static str = "the block with the highest age x (1 - u) / u";
    const SOURCE: &'static str = "LFS (TOCS 1992), section 3.6";

    fn new(parameters: &CostBenefitParameters, shape: DriveShape) -> Self {
        Self {
            list: BlockList::new(shape.blocks),
            parameters: parameters.clone(),
            linear: (parameters.age_power - 1.0).abs() < f64::EPSILON,
        }
    }
}

impl CostBenefit {
    /// The slot of the best block with at most `most` valid pages.
    fn best(&self, drive: &DriveState, most: u32) -> Option<u32> {
        // Asked once, not in the score: compiled code would work out the power first and then choose.
        if self.linear {
            self.best_by(drive, most, |age| age)
        } else {
            self.best_by(drive, most, |age| age.powf(self.parameters.age_power))
        }
    }

    /// The slot of the best block with at most `most` valid pages, age entering as `weight` of it.
    fn best_by(&self, drive: &DriveState, most: u32, weight: impl Fn(f64) -> f64) -> Option<u32> {
        let score = |stamp, valid_pages| self.score(drive, stamp, valid_pages, &weight);
        // A block is appended to the list when it is opened, and its age counts from when it was sealed.
        self.list.best(score, |slot, valid_pages| {
            if valid_pages > most {
                return 0.0;
            }
            score(drive.sealed_at(self.list.block(slot)), valid_pages)
        })
    }

    /// The score of a block that was sealed at `stamp`, age entering as `weight` of it.
    #[inline]
    fn score(
        &self,
        drive: &DriveState,
        stamp: u64,
        valid_pages: u32,
        weight: impl Fn(f64) -> f64,
    ) -> f64 {
        let pages = f64::from(drive.pages_per_block());
        let age = weight((drive.write_clock() - stamp + 1) as f64);
        let valid = f64::from(valid_pages);
        match self.parameters.score {
            Score::Simple => age * (pages - valid) / valid,
            Score::Lfs => age * (pages - valid) / (pages + valid),
        }
    }
}

impl VictimRule for CostBenefit {
    fn select(&mut self, drive: &DriveState, victims: &mut Victims) {
        let wanted = match self.parameters.batch {
            1 => 1,
            batch => u64::from(batch) * u64::from(drive.pages_per_block()),
        };
        while u64::from(victims.invalid_pages()) < wanted
            && let Some(slot) = self.best(drive, victims.valid_pages_max())
        {
            self.list.take(slot, victims);
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        let weight = |age: f64| if self.linear { age } else { age.powf(self.parameters.age_power) };
        let formula = match (self.parameters.score, self.linear) {
            (Score::Simple, true) => "age x (1 - u) / u",
            (Score::Simple, false) => "age^e x (1 - u) / u",
            (Score::Lfs, true) => "age x (1 - u) / (1 + u)",
            (Score::Lfs, false) => "age^e x (1 - u) / (1 + u)",
        };
        let value = self.score(drive, drive.sealed_at(block), drive.valid_pages(block), weight);
        Some(BlockScore { formula, value })
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_block(STAMP_BITS)
    }

    keep_block_list!();
}
