//! The invariants of a hybrid-mapped drive.

use crate::Observer;
use crate::ensure::ensure;
use crate::hybrid::HybridDrive;
use crate::hybrid::drive::DATA;
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Flash, Lpn};

impl<F: Flash, O: Observer> HybridDrive<F, O> {
    /// Verifies that both maps, the state of pages, streams and the free list agree.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.check_pages()?;
        self.check_blocks()
    }

    /// Every page of the log is named once, and every other live page is in its data block.
    fn check_pages(&self) -> Result<(), String> {
        let mut in_log = 0_u32;
        for lpn in (0..self.logical_pages()).map(Lpn) {
            let live = self.live.get(lpn.0);
            let Some(page) = self.flash_page(lpn) else {
                ensure!(!live, "page {lpn} holds something and is nowhere");
                continue;
            };
            ensure!(live, "page {lpn} is at {page} and holds nothing");
            let in_data_block = self.log_page_of[lpn.index()] == u32::MAX;
            ensure!(
                !in_data_block || self.programmed.get(lpn.0),
                "page {lpn} is in its data block, which is clean there"
            );
            ensure!(
                in_data_block || self.owner_of[page.index()] == lpn.0,
                "page {lpn} is mapped to {page}, which holds {}",
                self.owner_of[page.index()]
            );
            in_log += u32::from(!in_data_block);
        }
        let blocks = (0..self.geometry().blocks()).map(BlockId);
        let valid: u32 = blocks.map(|block| self.valid_pages(block)).sum();
        ensure!(
            valid == in_log,
            "{in_log} pages are mapped to the log and {valid} are valid there"
        );
        Ok(())
    }

    /// Every block is a data block, free, or of one of the other streams.
    fn check_blocks(&self) -> Result<(), String> {
        let mut uses = vec![0; self.geometry().blocks() as usize];
        for (logical, &block) in self.data_blocks.iter().enumerate() {
            uses[block.index()] += 1;
            ensure!(
                self.stream_of(block) == DATA && self.log_pages[block.index()] == 0,
                "data block {block} of logical block {logical} is {:?} with {} log pages",
                self.stream_of(block),
                self.log_pages[block.index()]
            );
        }
        for &block in &self.free {
            uses[block.index()] += 1;
            ensure!(self.log_pages[block.index()] == 0, "free block {block} has log pages");
        }
        let of_logs: u32 = self.stream_blocks[DATA.index() + 1..].iter().sum();
        let used: u32 = uses.iter().sum();
        ensure!(uses.iter().all(|&uses| uses <= 1), "a block has two uses: {uses:?}");
        ensure!(
            used + of_logs == self.geometry().blocks(),
            "{used} blocks hold data or are free and {of_logs} are of the log, of {}",
            self.geometry().blocks()
        );
        Ok(())
    }

    /// Verifies that `blocks`, at most `most`, are the blocks of `stream`.
    pub(crate) fn check_stream(
        &self,
        stream: StreamId,
        blocks: impl Iterator<Item = BlockId>,
        most: usize,
    ) -> Result<(), String> {
        let blocks: Vec<BlockId> = blocks.collect();
        let counted = self.stream_blocks.get(stream.index()).copied().unwrap_or(0);
        ensure!(
            blocks.len() == counted as usize && blocks.len() <= most,
            "{stream:?} has the blocks {blocks:?}, counted {counted}, at most {most}"
        );
        let mut taken = vec![false; self.geometry().blocks() as usize];
        for block in self.data_blocks.iter().chain(&self.free) {
            taken[block.index()] = true;
        }
        for block in blocks {
            ensure!(self.stream_of(block) == stream, "block {block} is not of {stream:?}");
            ensure!(!taken[block.index()], "block {block} of {stream:?} has another use");
            taken[block.index()] = true;
        }
        Ok(())
    }
}
