//! What LUNs did.

use crate::Cause;

/// What was done: pages that the host wrote, and LUN time, in nanoseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// Pages that the host wrote.
    pub host_writes: u64,
    /// Time of host programs.
    pub host_writes_ns: u64,
    /// Time of host reads.
    pub host_reads_ns: u64,
    /// Time of copies by collections, and by whatever else moves pages, but for merges.
    pub relocations_ns: u64,
    /// Time of copies by merges; the erases of merges are among the erases.
    pub merges_ns: u64,
    /// Time of erases.
    pub erases_ns: u64,
    /// Time of reads by the FTL, and of programs that no host write asked for.
    pub others_ns: u64,
}

impl Work {
    /// Time of copies for this cause.
    #[inline]
    pub(crate) fn copies_ns(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Merge => &mut self.merges_ns,
            _ => &mut self.relocations_ns,
        }
    }

    /// What was done after `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            host_writes: self.host_writes - before.host_writes,
            host_writes_ns: self.host_writes_ns - before.host_writes_ns,
            host_reads_ns: self.host_reads_ns - before.host_reads_ns,
            relocations_ns: self.relocations_ns - before.relocations_ns,
            merges_ns: self.merges_ns - before.merges_ns,
            erases_ns: self.erases_ns - before.erases_ns,
            others_ns: self.others_ns - before.others_ns,
        }
    }
}
