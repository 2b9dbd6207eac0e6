//! What is counted of an SLC cache.

/// What happened in an SLC cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlcCounts {
    /// Pages that the host wrote to it.
    pub writes: u64,
    /// Pages that the host wrote past it, since it was full.
    pub bypassed: u64,
    /// Pages that were written to normal blocks.
    pub folds: u64,
    /// Pages that were written again or trimmed before.
    pub dropped: u64,
    /// Pages that the host read from it.
    pub read_hits: u64,
    /// Blocks of it that were erased.
    pub erases: u64,
}

impl SlcCounts {
    /// What came after `before`.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        Self {
            writes: self.writes - before.writes,
            bypassed: self.bypassed - before.bypassed,
            folds: self.folds - before.folds,
            dropped: self.dropped - before.dropped,
            read_hits: self.read_hits - before.read_hits,
            erases: self.erases - before.erases,
        }
    }
}
