//! `greedy`: the block with the fewest valid pages.
//!
//! # Idea
//! The cheapest block to collect now.
//!
//! # Rule
//! The sealed block with the fewest valid pages, one per collection.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! Ties go to the block that was allocated first. A block may be chosen from the moment it is full, so
//! one that was rewritten while it filled can be the victim of the very collection that makes room for
//! its successor.
//!
//! # Reference
//! Kang et al., "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 13(11), 2020,
//! section 2.1; Desnoyers, "Analytic models of SSD write performance", ACM TOS 10(2), 2014.

use crate::Metadata;
use crate::algorithms::tools::block_list::{BlockList, keep_block_list};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, VictimEntry};
use crate::page::policy::{VictimRule, Victims};
use crate::state::state;
use ftlab_spec::NoParameters;

/// Fewest valid pages first.
pub struct Greedy {
    list: BlockList,
}

state!(Greedy { list });

impl VictimEntry for Greedy {
    type Parameters = NoParameters;
    const NAME: &'static str = "greedy";
    const SUMMARY: &'static str = "the block with the fewest valid pages";
    const SOURCE: &'static str = "2R (PVLDB 2020), section 2.1";

    fn new(_parameters: &NoParameters, shape: DriveShape) -> Self {
        Self { list: BlockList::new(shape.blocks) }
    }
}

impl VictimRule for Greedy {
    fn select(&mut self, _drive: &DriveState, victims: &mut Victims) {
        if let Some(slot) = self.list.min()
            && self.list.valid_pages(slot) <= victims.valid_pages_max()
        {
            self.list.take(slot, victims);
        }
    }

    fn metadata(&self) -> Metadata {
        Metadata::NONE
    }

    keep_block_list!();
}
