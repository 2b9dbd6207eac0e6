//! Where the parts of a database are.

use ftlab_trace::pages::SECTOR_BYTES;

/// Where the redo log and the double-write area are, in pages of the database; their files come first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Layout {
    /// Bytes of a database page, a multiple of 512.
    pub(crate) page_bytes: u32,
    /// Pages that the database may grow to.
    pub(crate) pages: u32,
    /// Pages of the buffer pool.
    pub(crate) pool_pages: u32,
    /// Share of the pool where pages begin that are read; 0 for LRU.
    pub(crate) old_share: f64,
    /// Pages that leave the pool at a time, beside those that are too many; 0 for those alone.
    pub(crate) batch_pages: u32,
    /// Pages of the redo log.
    pub(crate) log_pages: u32,
    /// Whether the log is on this drive.
    pub(crate) logs_here: bool,
    /// Pages of the double-write area; 0 for none.
    pub(crate) doublewrite_pages: u32,
    /// Transactions whose commits are written at once.
    pub(crate) group: u32,
    /// Pages that are written by the load and never again: the first, and how many.
    pub(crate) idle_first: u32,
    pub(crate) idle_pages: u32,
}

impl Layout {
    pub(super) fn page_sectors(&self) -> u32 {
        self.page_bytes / SECTOR_BYTES as u32
    }
}

#[cfg(test)]
impl Layout {
    /// A kilopage with a pool of four, a log elsewhere, and nothing else.
    pub(crate) const SMALL: Self = Self {
        page_bytes: 4096,
        pages: 1024,
        pool_pages: 4,
        old_share: 0.0,
        batch_pages: 0,
        log_pages: 64,
        logs_here: false,
        doublewrite_pages: 0,
        group: 1,
        idle_first: 0,
        idle_pages: 0,
    };
}
