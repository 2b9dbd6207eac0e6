//! The invariants of a page-mapped drive.

use crate::ensure::ensure;
use crate::page::drive::block::{Frontier, Phase};
use crate::page::drive::tables::DriveState;
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Lpn, Ppn};

impl DriveState {
    /// Verifies that mapping, valid bits, valid counts, phases, free list and frontiers agree.
    pub(crate) fn check(&self) -> Result<(), String> {
        if !self.is_paged() {
            self.check_mapping()?;
        }
        self.check_blocks()?;
        self.check_free_list()
    }

    /// Every mapped page is where the mapping says, and nothing else is valid.
    fn check_mapping(&self) -> Result<(), String> {
        let mut mapped = 0_u64;
        for lpn in (0..self.all_pages()).map(Lpn) {
            let Some(page) = self.flash_page(lpn) else { continue };
            mapped += 1;
            ensure!(page.0 < self.geometry().pages(), "page {lpn} is mapped beyond the flash");
            ensure!(self.is_valid(page), "page {lpn} is mapped to {page}, which is invalid");
            ensure!(
                self.owner(page) == lpn,
                "page {lpn} is mapped to {page}, which holds {}",
                self.owner(page)
            );
            let phase = self.phase(self.block_of(page));
            let is_used = !matches!(phase, Phase::Free | Phase::Retired);
            ensure!(is_used, "page {lpn} is mapped to {page} in a block that is {phase:?}");
        }
        let valid: u64 = (0..self.geometry().blocks())
            .map(BlockId)
            .map(|block| u64::from(self.valid_pages(block) - self.unwritten_pages(block)))
            .sum();
        ensure!(
            u64::from(self.mapped_pages) == mapped,
            "{mapped} pages are mapped, counted {}",
            self.mapped_pages
        );
        ensure!(valid == mapped, "{mapped} pages are mapped and {valid} are valid");
        Ok(())
    }

    fn check_blocks(&self) -> Result<(), String> {
        let mut stream_blocks = vec![0; self.streams().len()];
        for block in (0..self.geometry().blocks()).map(BlockId) {
            let phase = self.phase(block);
            let counted = self.valid_pages(block);
            if matches!(phase, Phase::Free | Phase::Retired) {
                ensure!(counted == 0, "{phase:?} block {block} counts {counted} valid pages");
                continue;
            }
            stream_blocks[self.frontier_of(block).index()] += 1;
            let first = self.geometry().first_page(block).0;
            let pages = (first..first + self.pages_per_block()).map(Ppn);
            let valid = pages.filter(|&page| self.is_valid(page)).count();
            ensure!(counted as usize == valid, "block {block} counts {counted} of {valid} valid");
            let open = self.open_stream(block).is_some();
            ensure!(open == (phase == Phase::Open), "block {block} is {phase:?}, open: {open}");
        }
        ensure!(
            stream_blocks == self.stream_blocks,
            "streams have {stream_blocks:?} blocks, counted {:?}",
            self.stream_blocks
        );
        Ok(())
    }

    fn check_free_list(&self) -> Result<(), String> {
        let mut seen = vec![false; self.geometry().blocks() as usize];
        for &block in &self.free {
            ensure!(self.phase(block) == Phase::Free, "block {block} is on the free list and used");
            ensure!(!seen[block.index()], "block {block} is on the free list twice");
            seen[block.index()] = true;
        }
        let free = self.blocks.iter().filter(|block| block.phase == Phase::Free).count();
        ensure!(free == self.free.len(), "{free} blocks are free, {} listed", self.free.len());
        Ok(())
    }

    /// The stream whose open block `block` is.
    fn open_stream(&self, block: BlockId) -> Option<StreamId> {
        let is_open =
            |frontier: &Frontier| frontier.end > 0 && self.block_of(Ppn(frontier.end - 1)) == block;
        self.frontiers.iter().position(is_open).map(|stream| StreamId(stream as u8))
    }

    /// Pages of `block` that its stream has yet to program.
    fn unwritten_pages(&self, block: BlockId) -> u32 {
        self.open_stream(block).map_or(0, |stream| self.room(stream))
    }
}
