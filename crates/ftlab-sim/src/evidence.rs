//! Whether a run is evidence: the one place that decides what is compared, what enters a mean, and what an answer states.
//!
//! A run without evidence is shown, but what it lacks is said, and nothing is concluded from it. It is evidence if it has
//!
//! - [`ENOUGH_ERASES`]: a mean of fewer victims is known to no better than a tenth;
//! - [`ENOUGH_DRIVE_WRITES`] of the pages that it writes, those of its warm-up included: one that replaces what the fill
//!   left, and one that is counted;
//! - [`ENOUGH_REQUESTS`] of a trace: n draws tell a share to 1 / sqrt(n), which is 3% as of a steady value.

use crate::format::{grouped, significant};
use crate::steady::Settling;
use ftlab_feed::Brought;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Drive writes from which on a workload speaks for itself, of the pages that it writes: one that replaces what the fill
/// left, and one that is measured.
pub const ENOUGH_DRIVE_WRITES: f64 = 2.0;

/// Of these, those that are counted.
const ENOUGH_COUNTED: f64 = 1.0;

/// Blocks that are erased while a run is counted.
pub const ENOUGH_ERASES: u64 = 100;

/// Write requests of a trace.
pub const ENOUGH_REQUESTS: u64 = 1000;

/// What the write amplification of a run is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// A longer run has the same.
    Steady,
    /// A longer run has at least or at most what is known.
    Bound,
    /// It can be compared with runs of the same length: what a longer one has is not known.
    Short,
    /// Nothing is to be concluded from it.
    #[default]
    None,
}

/// What a run is evidence of.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvidence {
    /// What its write amplification is.
    pub standing: Standing,
    /// What it lacks, with value and limit; none if it is evidence.
    pub lacks: Option<String>,
    /// The write amplification that an answer states: the steady value, or that of the whole run if there is none.
    pub headline_waf: f64,
    /// Counted page writes as a multiple of the logical pages.
    pub drive_writes: f64,
    /// Write requests of a trace, warm-up included; none of a generator.
    pub requests: Option<u64>,
    /// Blocks erased as a multiple of the blocks of the drive.
    pub erases_per_block: f64,
    /// Of the time that LUNs worked, the share of erases; none without a clock.
    pub erase_time_share: Option<f64>,
}

/// What was counted of a run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    pub(crate) host_writes: u64,
    pub(crate) erases: u64,
    pub(crate) waf: f64,
    pub(crate) settling: Settling,
    pub(crate) erase_time_share: Option<f64>,
    pub(crate) logical_pages: u32,
    pub(crate) blocks: u32,
}

impl RunEvidence {
    /// What a run is evidence of; of results of earlier versions, nobody knows what was `brought`.
    pub(crate) fn of(run: &Counted, brought: Option<Brought>) -> Self {
        let lacks = lacks(run, brought);
        let steady_waf = run.settling.steady_waf();
        let standing = match (&lacks, steady_waf) {
            (Some(_), _) => Standing::None,
            (None, Some(_)) => Standing::Steady,
            (None, None) if run.settling.bound().is_some() => Standing::Bound,
            (None, None) => Standing::Short,
        };
        Self {
            standing,
            lacks,
            headline_waf: steady_waf.unwrap_or(run.waf),
            drive_writes: run.host_writes as f64 / f64::from(run.logical_pages.max(1)),
            requests: brought.and_then(|brought| brought.requests),
            erases_per_block: run.erases as f64 / f64::from(run.blocks.max(1)),
            erase_time_share: run.erase_time_share,
        }
    }
}

/// What a run lacks to be evidence.
fn lacks(run: &Counted, brought: Option<Brought>) -> Option<String> {
    if run.erases == 0 {
        return Some("no block was erased".into());
    }
    if run.erases < ENOUGH_ERASES {
        return Some(format!("{} blocks were erased, and {ENOUGH_ERASES} are enough", run.erases));
    }
    let Brought { requests, page_writes, footprint } = brought?;
    let pages = f64::from(footprint.max(1));
    let [all, counted] = [page_writes, run.host_writes].map(|writes| writes as f64 / pages);
    if all < ENOUGH_DRIVE_WRITES || counted < ENOUGH_COUNTED {
        let (what, written, enough) = if all < ENOUGH_DRIVE_WRITES {
            ("written", all, ENOUGH_DRIVE_WRITES)
        } else {
            ("counted", counted, ENOUGH_COUNTED)
        };
        return Some(format!(
            "its {} pages were {what} {} times, and {enough} are enough",
            grouped(footprint.into()),
            significant(written, 2)
        ));
    }
    let requests = requests.filter(|requests| *requests < ENOUGH_REQUESTS)?;
    Some(format!("it has {requests} write requests, and {} are enough", grouped(ENOUGH_REQUESTS)))
}
