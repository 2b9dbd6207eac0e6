//! What carries out the decisions of FTLs, and the versions of what it decides itself.

/// The version of the decisions of the page-mapped engine.
const PAGE_MAPPED: u32 = 1;
/// And of the hybrid-mapped one.
const HYBRID: u32 = 1;

/// What several FTLs share: mapping, free blocks, when and in which order blocks are collected or merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Any page of the host may lie anywhere; a policy decides.
    PageMapped,
    /// Blocks are mapped, with a log of rewritten pages.
    Hybrid,
}

impl Engine {
    /// How it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PageMapped => "engine",
            Self::Hybrid => "hybrid",
        }
    }

    /// The version of its decisions, from 1: raised when FTLs on it do otherwise than before though they decide
    /// the same. A test of `ftlab-sim` over golden counters asks for it.
    pub const fn decisions(self) -> u32 {
        match self {
            Self::PageMapped => PAGE_MAPPED,
            Self::Hybrid => HYBRID,
        }
    }
}
