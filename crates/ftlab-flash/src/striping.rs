//! Where the pages of a block are.

use crate::parameters::{ChipParameters, Layout};
use crate::{BlockId, BlockOf, Geometry, Ppn};
use std::ops::Range;

/// Maps pages to LUNs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Striping {
    /// Every superblock has as many pages on each LUN, and LUNs are a power of two: page p of the drive is on
    /// LUN p & mask. By far the most frequent case, and one without divisions.
    Even { mask: u32, block_of: BlockOf },
    /// `unit` pages of a superblock, which are a page of the chip, are on the same LUN, the next ones on the next.
    Superblock { luns: u32, unit: u32, pages_per_block: u32, block_of: BlockOf },
    /// Block b is on LUN b mod the number of LUNs.
    Block { luns: u32, block_of: BlockOf },
}

impl Striping {
    pub(crate) fn new(parameters: &ChipParameters, geometry: &Geometry) -> Self {
        let luns = parameters.luns();
        let unit = parameters.pages.flash_page.pages(geometry.page_bytes());
        let (pages_per_block, block_of) = (geometry.pages_per_block(), geometry.block_of());
        let is_even = luns.is_power_of_two() && pages_per_block.is_multiple_of(luns);
        match parameters.times.layout {
            Layout::Superblock if unit == 1 && is_even => Self::Even { mask: luns - 1, block_of },
            Layout::Superblock => Self::Superblock { luns, unit, pages_per_block, block_of },
            Layout::Block => Self::Block { luns, block_of },
        }
    }

    #[inline]
    pub(crate) fn lun(self, page: Ppn) -> usize {
        let lun = match self {
            Self::Even { mask, .. } => page.0 & mask,
            Self::Superblock { luns, unit, pages_per_block, block_of } => {
                (page.0 - block_of.page(page).0 * pages_per_block) / unit % luns
            }
            Self::Block { luns, block_of } => block_of.page(page).0 % luns,
        };
        lun as usize
    }

    /// How many LUNs the pages of a block take turns on.
    pub(crate) fn width(self) -> u32 {
        match self {
            Self::Even { mask, .. } => mask + 1,
            Self::Superblock { luns, .. } => luns,
            Self::Block { .. } => 1,
        }
    }

    pub(crate) fn block(self, page: Ppn) -> BlockId {
        let (Self::Even { block_of, .. }
        | Self::Superblock { block_of, .. }
        | Self::Block { block_of, .. }) = self;
        block_of.page(page)
    }

    /// The LUNs that hold pages of `block`.
    #[inline]
    pub(crate) fn luns_of(self, block: BlockId) -> Range<usize> {
        match self {
            Self::Even { mask, .. } => 0..mask as usize + 1,
            Self::Superblock { luns, unit, pages_per_block, .. } => {
                0..luns.min(pages_per_block.div_ceil(unit)) as usize
            }
            Self::Block { luns, .. } => {
                let lun = (block.0 % luns) as usize;
                lun..lun + 1
            }
        }
    }
}
