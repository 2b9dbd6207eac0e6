//! `sep-gc`: relocated pages apart from host writes.
//!
//! # Idea
//! A page that garbage collection had to move has lived longer than most: keep it from the new ones.
//!
//! # Rule
//! Host writes go to one open block, relocated pages to another. A relocated page that is rewritten
//! is a host write again.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! Nothing to decide.
//!
//! # Reference
//! Van Houdt, "On the necessity of hot and cold data identification to reduce the write
//! amplification in flash-based SSDs", Performance Evaluation 82, 2014.

use crate::Metadata;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use ftlab_spec::NoParameters;

const HOST: StreamId = StreamId(0);
const RELOCATED: StreamId = StreamId(1);

/// One stream for host writes, one for relocated pages.
pub struct SepGc;

state!(SepGc {});

impl PlacementEntry for SepGc {
    type Parameters = NoParameters;
    const NAME: &'static str = "sep-gc";
    const SUMMARY: &'static str = "relocated pages have an open block of their own";
    const SOURCE: &'static str = "Van Houdt (Performance Evaluation 2014)";

    fn new(_parameters: &NoParameters, _shape: DriveShape) -> Self {
        Self
    }
}

impl Placement for SepGc {
    fn streams(&self) -> Vec<Stream> {
        vec![
            Stream { name: "host", takes_relocations: false, cold: false },
            Stream { name: "relocated", takes_relocations: true, cold: true },
        ]
    }

    fn follows_pages(&self) -> bool {
        false
    }

    #[inline]
    fn place_host(&mut self, _write: HostWrite, _drive: &DriveState) -> StreamId {
        HOST
    }

    #[inline]
    fn place_relocation(&mut self, _page: Relocation, _drive: &DriveState) -> StreamId {
        RELOCATED
    }

    fn metadata(&self) -> Metadata {
        Metadata::NONE
    }
}
