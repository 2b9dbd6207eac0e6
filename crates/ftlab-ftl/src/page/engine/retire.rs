//! Blocks that fail are taken out of use, without losing a page.
//!
//! A page that cannot be programmed is programmed elsewhere. Its block is closed as it is and left to
//! garbage collection; at the end of the host write it is collected if it has not been yet. Whenever
//! such a block has been collected, or an erase fails, it is retired instead of going to the free
//! list.
//!
//! Every retired block is one of over-provisioning less. When the blocks left are fewer than
//! [`DriveConfig::verify`](crate::page::DriveConfig) asks for, or free ones run out because too many
//! failed at once, the drive becomes read-only. Every page can still be read then.

use crate::page::Phase;
use crate::page::engine::page_mapped::PageMapped;
use crate::page::policy::Policy;
use crate::stream::StreamId;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Cause, Flash, Purpose};

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Closes the open block of `stream`, of which a page could not be programmed; any other error is
    /// returned.
    #[cold]
    pub(super) fn give_up(
        &mut self,
        stream: StreamId,
        error: F::Error,
    ) -> Result<(), FtlError<F::Error>> {
        if !F::is_wear_out(&error) {
            return Err(FtlError::Flash(error));
        }
        debug_assert!(F::WEARS_OUT, "a medium that does not wear out says it is worn out");
        let (block, pages) = self.drive.give_up(stream);
        self.policy.on_pages_lost(block, pages, &self.drive);
        if let Some(handles) = self.policy.handles_mut() {
            handles.on_closed_early(stream, pages, false, &self.drive);
        }
        self.seal(stream);
        self.failing.push(block);
        self.schedule_background();
        debug_assert!(!self.drive.has_room(stream));
        Ok(())
    }

    /// Collects the blocks that failed and have not been collected since.
    pub(super) fn retire_failing(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        if self.failing.is_empty() {
            return Ok(());
        }
        // The victims of a collection in steps come first: one of them may have failed.
        self.complete(purpose)?;
        debug_assert!(!self.progress.is_under_way());
        loop {
            self.refill_reserve(purpose)?;
            let Some(&block) = self.failing.last() else { return Ok(()) };
            debug_assert_eq!(self.drive.phase(block), Phase::Sealed);
            self.collect_block(block, purpose.because_of(Cause::Retire))?;
        }
    }

    /// Takes `block`, whose valid pages have moved, out of use.
    #[cold]
    pub(super) fn retire(&mut self, block: BlockId) -> Result<(), FtlError<F::Error>> {
        debug_assert_eq!(self.drive.valid_pages(block), 0, "block {block} holds pages");
        self.failing.retain(|&other| other != block);
        self.drive.retire(block);
        debug_assert_eq!(self.drive.phase(block), Phase::Retired);
        self.policy.on_block_erased(block, &self.drive);
        let streams = self.drive.streams().len() as u32;
        let retired = self.drive.retired_blocks();
        if u64::from(self.config.geometry.blocks() - retired) < self.config.needed_blocks(streams) {
            self.is_read_only = true;
            return Err(self.read_only());
        }
        Ok(())
    }

    pub(super) fn read_only(&self) -> FtlError<F::Error> {
        FtlError::ReadOnly {
            retired_blocks: self.drive.retired_blocks(),
            blocks: self.config.geometry.blocks(),
        }
    }

    /// Why there is no free block: too many failed, or a bug.
    #[cold]
    pub(super) fn no_free_block(&mut self) -> FtlError<F::Error> {
        debug_assert!(self.has_groups || self.drive.free_blocks() == 0);
        let failed = self.drive.retired_blocks() as usize + self.failing.len();
        if failed == 0 {
            return FtlError::NoFreeBlock;
        }
        self.is_read_only = true;
        self.read_only()
    }
}
