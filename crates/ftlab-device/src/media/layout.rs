//! Where things are in the backing file.

use ftlab_flash::{Geometry, Ppn};
use std::ops::Range;

/// What everything is aligned to.
pub(crate) const ALIGNMENT: u64 = 4096;

/// Bytes of a superblock, and of the header of a checkpoint.
pub(crate) const HEADER_BYTES: usize = 4096;

/// The regions of a backing file, one behind the other.
///
/// ```text
/// superblock | checkpoint 0 | checkpoint 1 | journal | flash pages | superblock
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes of each checkpoint slot, its header included.
    pub(crate) checkpoint_bytes: u64,
    pub(crate) journal_bytes: u64,
    pub(crate) geometry: Geometry,
}

impl Layout {
    /// Where checkpoint slot 0 or 1 begins.
    pub(crate) fn checkpoint(&self, slot: u8) -> u64 {
        HEADER_BYTES as u64 + u64::from(slot) * self.checkpoint_bytes
    }

    /// Where the journal begins.
    pub(crate) fn journal(&self) -> u64 {
        self.checkpoint(2)
    }

    /// Where a flash page begins.
    #[inline]
    pub(crate) fn page(&self, page: Ppn) -> u64 {
        self.pages().start + u64::from(page.0) * u64::from(self.geometry.page_bytes())
    }

    /// Where the flash pages are.
    pub(crate) fn pages(&self) -> Range<u64> {
        let start = (self.journal() + self.journal_bytes).next_multiple_of(ALIGNMENT);
        let bytes = u64::from(self.geometry.pages()) * u64::from(self.geometry.page_bytes());
        start..start + bytes
    }

    /// Where the second superblock begins.
    pub(crate) fn second_superblock(&self) -> u64 {
        self.pages().end.next_multiple_of(ALIGNMENT)
    }

    /// Bytes of the backing file.
    pub(crate) fn bytes(&self) -> u64 {
        self.second_superblock() + HEADER_BYTES as u64
    }
}
