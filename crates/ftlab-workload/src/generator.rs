//! What a generator is, and what it tells of itself.

use super::areas::Areas;
use super::divided::Plan;
use super::parts::{Parts, Values};
use ftlab_spec::{Parameter, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::{Op, RequestBatch, TraceError};

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
    /// A file that it names tells.
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

/// A sequence that is ready to be drawn from.
pub(super) type Sequence = Box<dyn PageSequence>;

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

/// What requests belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A part of the initial load.
    Load,
    /// What a client asked for, from its first request to its last.
    Transaction,
}

/// What runs one transaction after the other.
pub(crate) trait ByTransaction {
    /// Puts the requests of the next transaction, or part of the load, into `out`, which is empty: any number of
    /// them, reads among them. `None` at the end, with nothing put in.
    fn next_transaction(&mut self, out: &mut RequestBatch) -> Result<Option<Work>, TraceError>;
}

/// A sequence of requests.
pub(crate) trait PageSequence: Send {
    /// Fills `batch`, which is empty, with the next requests. False at the end.
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError>;

    /// The sequence by transactions, if it is made of some.
    fn by_transaction(&mut self) -> Option<&mut dyn ByTransaction> {
        None
    }

    /// What else is worth knowing of this sequence, by name.
    fn properties(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A sequence without end of nothing but writes of single pages.
pub(crate) trait Pages: Send {
    /// Overwrites `pages` with the next page numbers of the sequence.
    fn fill(&mut self, pages: &mut [u64]);
}

impl<P: Pages> PageSequence for P {
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError> {
        batch.lba.resize(batch.limit(), 0);
        batch.op.resize(batch.limit(), Op::Write);
        batch.sectors.resize(batch.limit(), page_sectors);
        self.fill(&mut batch.lba);
        for lba in &mut batch.lba {
            *lba *= u64::from(page_sectors);
        }
        Ok(true)
    }
}

#[cfg(test)]
impl dyn PageSequence {
    /// The pages that any sequence of single-page writes writes next.
    pub(super) fn fill(&mut self, pages: &mut [u64]) {
        let mut filled = 0;
        while filled < pages.len() {
            let mut batch = RequestBatch::with_limit(pages.len() - filled);
            assert!(self.next_requests(&mut batch, 8).unwrap(), "it ends");
            for (op, lba, sectors) in batch.iter() {
                if op == Op::Write {
                    assert_eq!(sectors, 8);
                    pages[filled] = lba / 8;
                    filled += 1;
                }
            }
        }
    }
}
