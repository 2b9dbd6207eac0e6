//! Circumstances other than those of the recording: what an answer would be then.

use super::Evidence;
use ftlab_sim::{Experiment, Logical, Workload};
use ftlab_trace::Layout;
use serde::Serialize;
use std::fmt;

/// What is other than recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Circumstance {
    /// The host trims nothing.
    WithoutTrims,
    /// All of the drive is used as the part that the trace writes.
    AllInUse,
    /// A real drive collects half as much at once.
    HalfUnit,
    /// A real drive collects twice as much at once.
    DoubleUnit,
    /// A real drive collects the least at once that its fit does not exclude.
    LeastUnit,
    /// The most.
    MostUnit,
    /// A real drive has the least over-provisioning that its fit does not exclude.
    LeastOp,
    /// The most.
    MostOp,
}

impl fmt::Display for Circumstance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WithoutTrims => "Without discard",
            Self::AllInUse => "If all of the drive is used as the part that the trace writes",
            Self::HalfUnit => "In units of half the size",
            Self::DoubleUnit => "In units of double the size",
            Self::LeastUnit => "In the smallest units that the fit does not exclude",
            Self::MostUnit => "In the largest units that the fit does not exclude",
            Self::LeastOp => "With the least over-provisioning that the fit does not exclude",
            Self::MostOp => "With the most over-provisioning that the fit does not exclude",
        })
    }
}

/// A trace that writes less of the drive is also run on one that has room for these pages alone.
const IN_USE: f64 = 0.9;

/// Those that would be other for the workload of `base`, and how it is run under them: without its trims if they
/// free anything, and without the addresses that it never writes if these are many.
pub(super) fn circumstances(
    base: &Experiment,
    evidence: Option<&Evidence>,
) -> Vec<(Circumstance, Experiment)> {
    let Some(evidence) = evidence else { return Vec::new() };
    let mut others = Vec::new();
    if evidence.trimmed_pages > 0 && !base.ignore_trims {
        let without = Experiment { ignore_trims: true, ..base.clone() };
        others.push((Circumstance::WithoutTrims, without));
    }
    if evidence.written_share < IN_USE
        && let Workload::Trace { path, options } = &base.workload
    {
        let mut options = options.clone();
        options.layout = Layout::Pieces(base.drive.page_bytes.into());
        let workload = Workload::Trace { path: path.clone(), options };
        let mut all = Experiment { workload, ignore_trims: true, ..base.clone() };
        all.drive.logical = Logical::OfWorkload;
        others.push((Circumstance::AllInUse, all));
    }
    others
}
