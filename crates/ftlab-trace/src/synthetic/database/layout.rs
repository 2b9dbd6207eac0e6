//! Where the parts of a database are.

use crate::pages::SECTOR_BYTES;

/// Where the redo log and the double-write area are, in pages of the database; their files come first.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Layout {
    /// Bytes of a database page, a multiple of 512.
    pub(in super::super) page_bytes: u32,
    /// Pages that the database may grow to.
    pub(in super::super) pages: u32,
    /// Pages of the buffer pool.
    pub(in super::super) pool_pages: u32,
    /// Share of the pool where pages begin that are read; 0 for LRU.
    pub(in super::super) old_share: f64,
    /// Pages that leave the pool at a time, beside those that are too many; 0 for those alone.
    pub(in super::super) batch_pages: u32,
    /// Pages of the redo log.
    pub(in super::super) log_pages: u32,
    /// Whether the log is on this drive.
    pub(in super::super) logs_here: bool,
    /// Pages of the double-write area; 0 for none.
    pub(in super::super) doublewrite_pages: u32,
    /// Transactions whose commits are written at once.
    pub(in super::super) group: u32,
    /// Pages that are written by the load and never again: the first, and how many.
    pub(in super::super) idle_first: u32,
    pub(in super::super) idle_pages: u32,
}

impl Layout {
    pub(super) fn page_sectors(&self) -> u32 {
        self.page_bytes / SECTOR_BYTES as u32
    }
}

#[cfg(test)]
impl Layout {
    /// A kilopage with a pool of four, a log elsewhere, and nothing else.
    pub(in super::super) const SMALL: Self = Self {
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
