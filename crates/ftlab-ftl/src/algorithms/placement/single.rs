//! `single`: one region for everything.
//!
//! # Idea
//! The page-mapped FTL of most drives: no page is told from another.
//!
//! # Rule
//! Host writes and relocated pages share one open block; host writes fill the rest of the block that
//! garbage collection began. That is what spreads cold pages over all blocks.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! Nothing to decide.
//!
//! # Reference
//! Kang et al., "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 13(11), 2020,
//! sections 2.1 and 3.2 (as 1R-Greedy, with greedy victims).

use crate::Metadata;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use ftlab_spec::NoParameters;

const ALL: StreamId = StreamId(0);

/// One stream.
pub struct Single;

state!(Single {});

impl PlacementEntry for Single {
    type Parameters = NoParameters;
    const NAME: &'static str = "single";
    const SUMMARY: &'static str = "host writes and relocated pages share one open block";
    const SOURCE: &'static str = "2R (PVLDB 2020), section 2.1";

    fn new(_parameters: &NoParameters, _shape: DriveShape) -> Self {
        Self
    }
}

impl Placement for Single {
    fn streams(&self) -> Vec<Stream> {
        vec![Stream { name: "all", takes_relocations: true, cold: false }]
    }

    fn follows_pages(&self) -> bool {
        false
    }

    #[inline]
    fn place_host(&mut self, _write: HostWrite, _drive: &DriveState) -> StreamId {
        ALL
    }

    #[inline]
    fn place_relocation(&mut self, _page: Relocation, _drive: &DriveState) -> StreamId {
        ALL
    }

    fn metadata(&self) -> Metadata {
        Metadata::NONE
    }
}
