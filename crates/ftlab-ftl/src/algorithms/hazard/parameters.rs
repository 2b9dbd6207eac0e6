//! What can be set about hazard.

use crate::algorithms::hazard::rungs::RUNGS_MAX;
use crate::state::{Archive, State, StateError};

ftlab_spec::choices! {
    /// When blocks are scored for the choice of victims.
    pub enum Estimates {
        /// Whenever one has lost a sixteenth of its pages, at snapshots, and before it is chosen.
        Kept = "kept",
        /// All of them at every choice; slow.
        Fresh = "fresh",
    }
}

ftlab_spec::choices! {
    /// Whether it keeps what is expected of every page.
    pub enum KnownPages {
        /// Yes.
        On = "on",
        /// No: what is known of a page is known of its block.
        Off = "off",
    }
}

ftlab_spec::choices! {
    /// Which [`Rule`] holds.
    pub enum RuleChoice {
        /// At all times the one whose ghost has moved fewest pages lately.
        Best = "best",
        /// That of pages.
        Pages = "pages",
        /// That of blocks.
        Blocks = "blocks",
        /// That of moves.
        Moves = "moves",
    }
}

/// What tells how long a page will live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// Its own past.
    Pages,
    /// When the host rewrites it, the block that it leaves and the run that it belongs to; when it is moved, its own past.
    Blocks,
    /// When the host rewrites it, nothing; when it is moved, the block that it leaves.
    Moves,
}

impl Rule {
    pub(super) const ALL: [Self; 3] = [Self::Pages, Self::Blocks, Self::Moves];

    /// As the parameter has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Pages => "pages",
            Self::Blocks => "blocks",
            Self::Moves => "moves",
        }
    }
}

impl RuleChoice {
    /// That rule at all times.
    pub(super) fn always(rule: Rule) -> Self {
        match rule {
            Rule::Pages => Self::Pages,
            Rule::Blocks => Self::Blocks,
            Rule::Moves => Self::Moves,
        }
    }

    /// The rule at first, pages being known or not.
    pub(super) fn first(self, knows_pages: bool) -> Rule {
        match self {
            Self::Best if knows_pages => Rule::Pages,
            Self::Pages => Rule::Pages,
            Self::Best | Self::Blocks => Rule::Blocks,
            Self::Moves => Rule::Moves,
        }
    }
}

impl State for Rule {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let mut number = *self as u8;
        number.transfer(archive)?;
        let rule = Self::ALL.get(usize::from(number));
        *self = *rule.ok_or(StateError::Value(number.into()))?;
        Ok(())
    }
}

ftlab_spec::parameters! {
    pub struct HazardParameters {
        /// Streams beside that of first writes, at most; 0: 6, or as many as the spare blocks allow.
        rungs: u32 = 0, "rungs" in 0..=RUNGS_MAX as u32, from "ours";
        /// Host writes between two snapshots of the valid pages, per logical page; there are three more between them.
        epoch: f64 = 0.015_625, "epoch" in 0.000_1..=1.0, from "ours";
        /// Pages of prior evidence, per page of a block; a quarter for what is lost lately.
        prior: f64 = 0.05, "prior" in 0.000_1..=10.0, from "ours";
        /// Pages of a sequential run that share what their blocks let expect, at most; 0: all.
        run: u32 = 0, "run" in 0..=u32::MAX, from "ours";
        /// Weight of what an open block costs when lifetimes are divided among streams; 0: none, all streams.
        merge: f64 = 2.0, "merge" in 0.0..=1000.0, from "ours";
        /// When blocks are scored for the choice of victims.
        estimates: Estimates = Estimates::Kept, "estimates", from "ours";
        /// Whether it keeps the lifetime expected of every page.
        pages: KnownPages = KnownPages::On, "pages", from "ours";
        /// What tells how long a page will live.
        rule: RuleChoice = RuleChoice::Best, "rule", from "ours";
    }
}

ftlab_spec::parameters! {
    pub struct RateParameters {
        /// Streams, at most; 0: 6, or as many as the spare blocks allow.
        rungs: u32 = 0, "rungs" in 0..=RUNGS_MAX as u32, from "ours";
        /// Host writes between two divisions of lifetimes among streams, per logical page.
        epoch: f64 = 0.031_25, "epoch" in 0.000_1..=1.0, from "ours";
        /// Weight of what an open block costs when lifetimes are divided among streams; 0: none, all streams.
        merge: f64 = 1.0, "merge" in 0.0..=1000.0, from "ours";
    }
}
