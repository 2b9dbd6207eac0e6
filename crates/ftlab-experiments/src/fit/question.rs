//! What is asked of a fit.

use super::series::Measured;
use crate::parallel::Stop;
use ftlab_sim::Experiment;
use ftlab_spec::Spec;
use std::borrow::Cow;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// The workload that was run, the fill, the page size, the reserve and the seed.
    pub base: Experiment,
    /// What was measured.
    pub measured: Measured,
    /// Bytes that the host can address; several if that is to be found too.
    pub capacities: Vec<u64>,
    /// Pages of the drives that are simulated.
    pub pages: u32,
    /// The FTLs to choose from.
    pub ftls: Vec<Spec>,
    /// Least and most over-provisioning of the coarse grid.
    pub op_ratios: (f64, f64),
    /// Least and most pages of a unit.
    pub unit_pages: (u32, u32),
    /// Drive writes at the start whose intervals do not count.
    pub skip: f64,
    /// Ends all runs when it is set.
    pub stop: Stop,
}

/// Share of a series that is its beginning, and drive writes that it has at least.
const BEGINNING: (f64, f64) = (0.25, 4.0);

/// How large a drive is simulated, and how much of the series it is held against.
pub(super) struct Extent<'a> {
    pub(super) pages: u32,
    pub(super) measured: Cow<'a, Measured>,
}

impl Question {
    pub(super) fn whole(&self) -> Extent<'_> {
        Extent { pages: self.pages, measured: Cow::Borrowed(&self.measured) }
    }

    /// The beginning of the series after what is skipped, on a drive of `pages`: enough to tell what need not be
    /// looked at further, in a fraction of the time.
    pub(super) fn beginning(&self, pages: u32) -> Extent<'_> {
        let largest = self.capacities.iter().copied().max().unwrap_or(1) as f64;
        let skipped = self.skip * largest;
        let (share, drive_writes) = BEGINNING;
        let counted = share * (self.measured.host_bytes() - skipped);
        let bytes = skipped + counted.max(drive_writes * largest);
        Extent { pages, measured: Cow::Owned(self.measured.until(bytes)) }
    }
}
