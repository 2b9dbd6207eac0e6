//! What a generator is, and what it tells of itself.

use super::areas::Areas;
use super::divided::Plan;
use super::parts::{Parts, Values};
use super::sequence::Sequence;
use ftlab_spec::{Parameter, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::TraceError;

/// One generator: how it is called, described and built.
pub struct GeneratorInfo {
    /// The name to type.
    pub name: &'static str,
    /// What it writes, in one line.
    pub summary: &'static str,
    /// Where it is described.
    pub source: &'static str,
    /// What its spec may set.
    pub parameters: fn() -> Vec<Parameter>,
    /// The version of its sequence, from 1: raised when the same parameters, drive and seed give other requests
    /// than before. A test of `ftlab-sim` over golden hashes asks for it.
    pub version: u32,
    /// Whether its sequence ends.
    pub(super) end: End,
    /// How the sequence is made.
    pub(super) make: Make,
}

/// Whether a sequence ends.
pub(super) enum End {
    /// It has more for as long as it is asked.
    Never,
    /// It does.
    Always,
    /// Its parameters tell.
    If(fn(&Spec) -> Result<bool, SpecError>),
    /// A file that it names tells, or its parameters do without a drive.
    Told(fn(&Spec) -> Result<Bounds, TraceError>),
}

/// How long a sequence is, and how much room it needs.
pub(super) struct Bounds {
    /// Whether it ends.
    pub(super) has_end: bool,
    /// The smallest drive for it, in bytes; `None` if it takes whatever there is.
    pub(super) drive_bytes: Option<u64>,
    /// Whether it can write pages.
    pub(super) writes: bool,
}

/// How sequences are made.
pub(super) enum Make {
    /// By a function of the parameters.
    Parameters {
        /// All parameters of a spec with the values that they will have, as given or by default.
        resolve: fn(&Spec) -> Result<Values, SpecError>,
        /// Makes the sequence.
        build: fn(&Spec, &Space) -> Result<Sequence, TraceError>,
        /// The areas of the sequence.
        areas: fn(&Spec, &Space) -> Result<Areas, TraceError>,
    },
    /// By areas, each with a share of the writes.
    Areas {
        /// All parameters of a spec, as for `Parameters`.
        resolve: fn(&Spec) -> Result<Values, SpecError>,
        /// What is written where and when.
        plan: fn(&Spec, &Space) -> Result<Plan, TraceError>,
    },
    /// Of other generators. Whoever knows those by name makes their sequences first.
    Parts {
        /// The parts, which are the parameter `of`.
        parts: fn(&Spec) -> Result<Parts, SpecError>,
        /// Combines the sequences of the parts.
        build: fn(&Spec, &Space, Vec<Sequence>) -> Result<Sequence, TraceError>,
        /// Combines the areas of the parts.
        areas: fn(&Spec, Vec<Areas>) -> Result<Areas, TraceError>,
    },
}
