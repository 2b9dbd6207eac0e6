//! What every benchmark has.

/// Why a benchmark cannot run.
pub(crate) type Failure = Box<dyn std::error::Error>;

/// Pages of every drive.
pub(crate) const PAGE_BYTES: u32 = 4096;

/// Writes per batch; generating them is not measured.
pub(crate) const BATCH_WRITES: u64 = 1 << 18;
