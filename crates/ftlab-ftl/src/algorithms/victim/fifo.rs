//! `fifo`: the oldest block. Wolf's paper calls it LRU cleaning.
//!
//! # Idea
//! Give every block the same time to lose its pages.
//!
//! # Rule
//! The sealed block that was allocated first, one per collection.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! A block without an invalid page is passed over, because moving it gains nothing; it keeps its place
//! and is looked at again by the next collection.
//!
//! # Reference
//! Desnoyers, "Analytic models of SSD write performance", ACM TOS 10(2), 2014, section 3.

use crate::algorithms::tools::block_list::{BlockList, keep_block_list};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, VictimEntry};
use crate::page::policy::{BlockScore, VictimRule, Victims};
use crate::state::state;
use crate::{LINK_BITS, Metadata};
use ftlab_flash::BlockId;
use ftlab_spec::NoParameters;

/// Oldest first.
pub struct Fifo {
    list: BlockList,
}

state!(Fifo { list });

impl VictimEntry for Fifo {
    type Parameters = NoParameters;
    const NAME: &'static str = "fifo";
    const SUMMARY: &'static str = "the oldest block";
    const SOURCE: &'static str = "Desnoyers (ACM TOS 2014), section 3";

    fn new(_parameters: &NoParameters, shape: DriveShape) -> Self {
        Self { list: BlockList::new(shape.blocks) }
    }
}

impl VictimRule for Fifo {
    fn select(&mut self, drive: &DriveState, victims: &mut Victims) {
        let threshold = drive.pages_per_block().min(victims.valid_pages_max() + 1);
        if let Some(slot) = self.list.next_below(0..self.list.end(), threshold) {
            self.list.take(slot, victims);
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        // A block without an invalid page is passed over.
        let since = drive.allocations() - drive.allocated(block) - 1;
        let formula = "blocks opened since";
        (drive.valid_pages(block) < drive.pages_per_block())
            .then_some(BlockScore { formula, value: since as f64 })
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_block(LINK_BITS)
    }

    keep_block_list!();
}
