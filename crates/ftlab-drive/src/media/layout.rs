//! The layout of the backing file.

use crate::media::slots::spare_slots;
use ftlab_flash::{Geometry, Ppn};
use std::ops::Range;

/// The alignment of all regions.
pub(crate) const ALIGNMENT: u64 = 4096;

/// Bytes of an owner on the medium.
pub(crate) const OWNER_BYTES: usize = 16;

/// Copies of the journal and of the flush mark.
pub(crate) const COPIES: u64 = 2;

/// Size of a superblock, and of the header of a checkpoint, in bytes.
pub(crate) const HEADER_BYTES: usize = 4096;

/// The regions of a backing file, in order.
///
/// ```text
/// superblock | checkpoint 0 | checkpoint 1 | marks | journal | journal | owners | flash pages | spare | superblock
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Size of each checkpoint slot in bytes, including its header.
    pub(crate) checkpoint_bytes: u64,
    /// Size of each of the two copies of the journal in bytes.
    pub(crate) journal_bytes: u64,
    pub(crate) geometry: Geometry,
}

impl Layout {
    /// Offset of checkpoint slot 0 or 1.
    pub(crate) fn checkpoint(&self, slot: u8) -> u64 {
        HEADER_BYTES as u64 + u64::from(slot) * self.checkpoint_bytes
    }

    /// Offset of copy 0 or 1 of the flush mark.
    pub(crate) fn mark(&self, copy: u64) -> u64 {
        self.checkpoint(2) + copy * ALIGNMENT
    }

    /// Offset of copy 0 or 1 of the journal.
    pub(crate) fn journal(&self, copy: u64) -> u64 {
        self.mark(COPIES) + copy * self.journal_bytes.next_multiple_of(ALIGNMENT)
    }

    /// Offset of the owner of a place.
    pub(crate) fn owner(&self, place: Ppn) -> u64 {
        self.journal(COPIES) + u64::from(place.0) * OWNER_BYTES as u64
    }

    /// Flash pages, spare ones included.
    pub(crate) fn places(&self) -> u32 {
        let blocks = self.geometry.blocks() + spare_slots(&self.geometry);
        blocks * self.geometry.pages_per_block()
    }

    /// Offset of a flash page.
    #[inline]
    pub(crate) fn page(&self, page: Ppn) -> u64 {
        self.pages().start + u64::from(page.0) * u64::from(self.geometry.page_bytes())
    }

    /// Offsets of the flash pages, spare ones included.
    pub(crate) fn pages(&self) -> Range<u64> {
        let start = self.owner(Ppn(self.places())).next_multiple_of(ALIGNMENT);
        start..start + u64::from(self.places()) * u64::from(self.geometry.page_bytes())
    }

    /// Offset of the second superblock.
    pub(crate) fn second_superblock(&self) -> u64 {
        self.pages().end.next_multiple_of(ALIGNMENT)
    }

    /// Size of the backing file in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.second_superblock() + HEADER_BYTES as u64
    }
}
