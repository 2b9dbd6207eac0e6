//! What figures of workloads show.

use ftlab_analysis::Inspection;

/// A workload with its name in figures.
pub(super) struct Named<'a> {
    pub(super) name: String,
    pub(super) found: &'a Inspection,
}
