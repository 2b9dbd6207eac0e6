//! The invariants of a page-mapped drive and of a block list.

use crate::page::drive::{Drive, Frontier, Phase};
use crate::page::{BlockList, StreamId};
use ftlab_flash::{BlockId, Lpn, Ppn};

/// Fails with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}

impl Drive {
    /// Verifies that mapping, valid bits, valid counts, phases, free list and frontiers agree.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_mapping()?;
        self.check_blocks()?;
        self.check_free_list()
    }

    /// Every mapped page is where the mapping says, and nothing else is valid.
    fn check_mapping(&self) -> Result<(), String> {
        let mut mapped = 0_u64;
        for lpn in (0..self.logical_pages()).map(Lpn) {
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
            stream_blocks[self.stream_of(block).index()] += 1;
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
        self.open_stream(block).map_or(0, |stream| {
            let frontier = self.frontiers[stream.index()];
            frontier.end - frontier.next
        })
    }
}

impl BlockList {
    /// Verifies that the list holds exactly the blocks in use that are `wanted`, in order of
    /// allocation, with their valid counts, and can select exactly the sealed ones.
    pub(crate) fn check(
        &self,
        drive: &Drive,
        wanted: impl Fn(BlockId) -> bool,
    ) -> Result<(), String> {
        let mut expected: Vec<BlockId> = (0..drive.geometry().blocks())
            .map(BlockId)
            .filter(|&block| !matches!(drive.phase(block), Phase::Free | Phase::Retired))
            .filter(|&block| wanted(block))
            .collect();
        expected.sort_by_key(|&block| drive.allocated(block));
        let listed: Vec<BlockId> =
            (0..self.len()).map(|rank| self.block(self.slot_after(rank))).collect();
        ensure!(listed == expected, "the list holds {listed:?}, not {expected:?}");
        let mut from = 0;
        for block in expected.into_iter().filter(|&block| drive.phase(block) == Phase::Sealed) {
            let slot = self.next_below(from..self.end(), u32::MAX);
            ensure!(
                slot.map(|slot| (self.block(slot), self.valid_pages(slot)))
                    == Some((block, drive.valid_pages(block))),
                "sealed block {block} with {} valid pages is listed as {slot:?}",
                drive.valid_pages(block)
            );
            from = slot.map_or(0, |slot| slot + 1);
        }
        ensure!(
            self.next_below(from..self.end(), u32::MAX).is_none(),
            "a block can be selected that is not sealed"
        );
        Ok(())
    }
}
