//! Whether a block of the host is emptier than some number of valid pages.

use crate::ensure::ensure;
use crate::page::{DriveState, Phase};
use ftlab_flash::BlockId;

/// Blocks below one bound; few in unit tests, so that small drives have several groups.
const GROUP: u32 = if cfg!(test) { 4 } else { 64 };

/// Of every group of blocks a bound: no sealed block of the host in it has fewer valid pages. Invalid pages lower it at
/// once, and a collected block leaves it where it is, until the group is looked at.
pub(super) struct Emptiest(Vec<u32>);

impl Emptiest {
    /// That of a drive with this many blocks.
    pub(super) fn new(blocks: u32) -> Self {
        Self(vec![0; blocks.div_ceil(GROUP) as usize])
    }

    /// Nothing is known of the blocks.
    pub(super) fn forget(&mut self) {
        self.0.fill(0);
    }

    /// `block`, which holds pages of the host, has this many valid ones now.
    #[inline]
    pub(super) fn note(&mut self, block: BlockId, valid_pages: u32) {
        if let Some(bound) = self.0.get_mut((block.0 / GROUP) as usize) {
            *bound = valid_pages.min(*bound);
        }
    }

    /// Whether a sealed block of the host has fewer than `pages` valid ones.
    pub(super) fn is_below(&mut self, pages: u32, drive: &DriveState) -> bool {
        let blocks = drive.geometry().blocks();
        let is_sealed =
            |block: &BlockId| drive.phase(*block) == Phase::Sealed && !drive.holds_map(*block);
        self.0.iter_mut().zip((0..blocks).step_by(GROUP as usize)).any(|(bound, first)| {
            if *bound < pages {
                let group = (first..blocks.min(first + GROUP)).map(BlockId).filter(is_sealed);
                *bound = group.map(|block| drive.valid_pages(block)).min().unwrap_or(u32::MAX);
            }
            *bound < pages
        })
    }

    /// Verifies that no sealed block is below the bound of its group.
    pub(super) fn check(&self, drive: &DriveState) -> Result<(), String> {
        for block in drive.host_blocks().filter(|&block| drive.phase(block) == Phase::Sealed) {
            let (bound, valid) = (self.0[(block.0 / GROUP) as usize], drive.valid_pages(block));
            ensure!(bound <= valid, "block {block} has {valid} valid pages, below {bound}");
        }
        Ok(())
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.0[..])
    }
}
