//! Blocks are rewritten before their errors cannot be corrected any more (`--refresh`).
//!
//! Reads disturb the other pages of a block, and charge leaks in time. So the valid pages of a block are moved, as a
//! collection moves them, after a number of reads since it was erased, or of host page writes since it became
//! full. An open block is not rewritten: one that was read too often waits for its first read after
//! it is full. A block without valid pages has nothing to lose.
//!
//! # Reference
//! Cai et al., "Error Characterization, Mitigation, and Recovery in Flash-Memory-Based Solid-State Drives",
//! Proceedings of the IEEE 105(9), 2017. Counts of a whole block, and time in host page writes,
//! are our choice.

use crate::page::Phase;
use crate::page::engine::page_mapped::PageMapped;
use crate::page::policy::Policy;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Cause, Flash, Ppn, Purpose};

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// The host has read a page; rewrites its block if that was once too often.
    pub(super) fn count_host_read(&mut self, page: Ppn) -> Result<(), FtlError<F::Error>> {
        let Some(refreshing) = &mut self.refreshing else { return Ok(()) };
        let block = self.drive.block_of(page);
        let Some(reads) = refreshing.reads.get_mut(block.index()) else { return Ok(()) };
        *reads = reads.saturating_add(1);
        let is_due = *reads >= refreshing.when.reads
            && self.drive.phase(block) == Phase::Sealed
            && self.drive.valid_pages(block) > 0;
        if is_due && !(F::WEARS_OUT && self.is_read_only) {
            self.refresh(block, Cause::Move.unawaited())?;
        }
        Ok(())
    }

    /// A block is full.
    pub(super) fn note_sealed(&mut self, block: BlockId) {
        let (now, drive) = (self.drive.write_clock(), &self.drive);
        let Some(refreshing) = self.refreshing.as_mut().filter(|it| it.has_age()) else { return };
        if refreshing.sealed.len() == refreshing.sealed_max {
            refreshing.sealed.retain(|(block, at)| drive.holds_since(*block, *at));
        }
        refreshing.push_sealed(block, now);
    }

    /// Rewrites the blocks that are too old.
    pub(super) fn refresh_old(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        while let Some(block) = self.next_old() {
            self.refresh(block, purpose)?;
        }
        Ok(())
    }

    fn next_old(&mut self) -> Option<BlockId> {
        let refreshing = self.refreshing.as_mut()?;
        let now = self.drive.write_clock();
        while let Some((block, at)) = refreshing.sealed.front().copied() {
            if now - at < refreshing.when.age_writes {
                break;
            }
            refreshing.sealed.pop_front();
            if self.drive.holds_since(block, at) && self.drive.valid_pages(block) > 0 {
                return Some(block);
            }
        }
        None
    }

    /// Moves the valid pages of a block, if it is full, and erases it.
    #[cold]
    fn refresh(&mut self, block: BlockId, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        let at = self.drive.sealed_at(block);
        // The victims of a collection in steps come first: it may be one of them.
        self.complete(purpose)?;
        self.refill_reserve(purpose)?;
        let moved = self.drive.valid_pages(block);
        if !self.drive.holds_since(block, at) || moved == 0 {
            return Ok(());
        }
        self.collect_block(block, purpose.because_of(Cause::Refresh))?;
        if let Some(refreshing) = &mut self.refreshing {
            refreshing.so_far.blocks += 1;
            refreshing.so_far.pages += u64::from(moved);
        }
        self.refill_reserve(purpose)
    }
}
