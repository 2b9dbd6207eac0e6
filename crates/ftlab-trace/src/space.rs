//! What a workload writes to.

/// What a workload writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Space {
    /// Pages of the drive.
    pub logical_pages: u64,
    /// Bytes of a page, a multiple of 512.
    pub page_bytes: u32,
    /// Same seed, same sequence.
    pub seed: u64,
}

/// A drive on which parameters can be tried before the size of the real one is known: 1 GiB.
pub const TRIAL: Space = Space { logical_pages: 1 << 18, page_bytes: 4096, seed: 0 };
