//! What an FTL and its host have counted.

use ftlab_ftl::page::Refreshed;
use ftlab_ftl::{Counters, SlcCounts};

/// Counts of an FTL and its host; the difference of two gives those of a span.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Pages that the host has written. Some never came to the FTL, or have not yet: they were written or trimmed again
    /// in the write buffer, or are still there.
    pub host_pages: u64,
    /// What the FTL has counted.
    pub counters: Counters,
    /// What was rewritten because it was read too often or too old.
    pub refreshed: Refreshed,
    /// What happened in its SLC cache; nothing if it has none.
    pub slc: SlcCounts,
}

impl Tally {
    /// What has been counted since `earlier`, a tally of the same FTL. Time was not [measured](crate::AnyFtl::measure)
    /// from another moment on in between.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            host_pages: self.host_pages - earlier.host_pages,
            counters: self.counters.since(&earlier.counters),
            refreshed: self.refreshed.since(earlier.refreshed),
            slc: self.slc.since(&earlier.slc),
        }
    }
}
