//! `windowed-greedy`: the emptiest of the w oldest blocks.
//!
//! # Idea
//! Between FIFO (w = 1) and greedy (w = all): young blocks are left to lose more pages.
//!
//! # Rule
//! Of the w blocks in use that were allocated first, the sealed one with the fewest valid pages.
//!
//! # Parameters
//! `w`, a share of the blocks in use.
//!
//! # Where the paper is silent
//! Its window counts blocks; ours is a share of them, so that it scales with the drive. Ties go to the
//! block that was allocated first. If no block of the window has an invalid page, the whole list is
//! the window.
//!
//! # Reference
//! Hu et al., "Write amplification analysis in flash-based solid state drives", SYSTOR, 2009.

use crate::algorithms::tools::block_list::{BlockList, keep_block_list};
use crate::algorithms::tools::emptiest::take_emptiest_one;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, VictimEntry};
use crate::page::policy::{BlockScore, VictimRule, Victims};
use crate::state::state;
use crate::{LINK_BITS, Metadata};
use ftlab_flash::BlockId;

ftlab_spec::parameters! {
    pub struct WindowedGreedyParameters {
        /// The oldest share of the blocks in use among which the emptiest is chosen.
        w: f64 = 0.5, "w" in 0.0..=1.0, from "our choice: Hu et al. vary it";
    }
}

/// Fewest valid pages among the oldest.
pub struct WindowedGreedy {
    list: BlockList,
    window: f64,
}

state!(WindowedGreedy { list } constant window);

impl VictimEntry for WindowedGreedy {
    type Parameters = WindowedGreedyParameters;
    const NAME: &'static str = "windowed-greedy";
    const SUMMARY: &'static str = "the emptiest of the oldest blocks";
    const SOURCE: &'static str = "Hu et al. (SYSTOR 2009)";

    fn new(parameters: &WindowedGreedyParameters, shape: DriveShape) -> Self {
        Self { list: BlockList::new(shape.blocks), window: parameters.w }
    }
}

impl WindowedGreedy {
    /// The slot after the window.
    fn window_end(&self) -> u32 {
        let oldest = (self.window * f64::from(self.list.len())).ceil() as u32;
        self.list.slot_after(oldest)
    }
}

impl VictimRule for WindowedGreedy {
    fn select(&mut self, drive: &DriveState, victims: &mut Victims) {
        for end in [self.window_end(), self.list.end()] {
            if victims.is_empty() {
                take_emptiest_one(&mut self.list, end, drive.pages_per_block(), victims);
            }
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        let invalid_pages = drive.pages_per_block() - drive.valid_pages(block);
        let formula = "invalid pages, of a block in the window";
        (self.list.slot_of(block) < self.window_end())
            .then_some(BlockScore { formula, value: invalid_pages.into() })
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_block(LINK_BITS)
    }

    keep_block_list!();
}
