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

use crate::page::policy::Policy;
use crate::page::{PageMapped, Phase};
use crate::stream::StreamId;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Flash};

impl<P: Policy, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// Closes the open block of `stream`, of which a page could not be programmed; any other error is
    /// returned.
    #[cold]
    pub(crate) fn give_up(
        &mut self,
        stream: StreamId,
        error: F::Error,
    ) -> Result<(), FtlError<F::Error>> {
        if !F::is_wear_out(&error) {
            return Err(FtlError::Flash(error));
        }
        let (block, pages) = self.drive.give_up(stream);
        self.policy.on_pages_lost(block, pages, &self.drive);
        self.seal(stream);
        self.failing.push(block);
        self.schedule_background();
        Ok(())
    }

    /// Collects the blocks that failed and have not been collected since.
    pub(crate) fn retire_failing(&mut self) -> Result<(), FtlError<F::Error>> {
        if self.failing.is_empty() {
            return Ok(());
        }
        // The victims of a collection in steps come first: one of them may have failed.
        self.complete()?;
        loop {
            self.refill_reserve()?;
            let Some(&block) = self.failing.last() else { return Ok(()) };
            debug_assert_eq!(self.drive.phase(block), Phase::Sealed);
            self.collect_block(block)?;
        }
    }

    /// Takes `block`, whose valid pages have moved, out of use.
    #[cold]
    pub(crate) fn retire(&mut self, block: BlockId) -> Result<(), FtlError<F::Error>> {
        self.failing.retain(|&other| other != block);
        self.drive.retire(block);
        self.policy.on_block_erased(block, &self.drive);
        let streams = self.drive.streams().len() as u32;
        let retired = self.drive.retired_blocks();
        if u64::from(self.config.geometry.blocks() - retired) < self.config.needed_blocks(streams) {
            self.is_read_only = true;
            return Err(self.read_only());
        }
        Ok(())
    }

    pub(crate) fn read_only(&self) -> FtlError<F::Error> {
        FtlError::ReadOnly {
            retired_blocks: self.drive.retired_blocks(),
            blocks: self.config.geometry.blocks(),
        }
    }

    /// Why there is no free block: too many failed, or a bug.
    #[cold]
    pub(crate) fn no_free_block(&mut self) -> FtlError<F::Error> {
        let failed = self.drive.retired_blocks() as usize + self.failing.len();
        if failed == 0 {
            return FtlError::NoFreeBlock;
        }
        self.is_read_only = true;
        self.read_only()
    }
}
