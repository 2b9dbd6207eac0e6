//! Static wear levelling: cold pages are moved off the blocks that are worn least (`drive/wear.rs`).

use crate::page::engine::page_mapped::PageMapped;
use crate::page::policy::Policy;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Cause, Flash, Purpose};

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Calls for static wear levelling if `block`, which was erased, has too many erases.
    pub(super) fn watch_wear(&mut self, block: BlockId) {
        let threshold = self.config.wear.threshold;
        if threshold > 0 && self.drive.excess_erases(block) > threshold {
            self.is_worn_unevenly = true;
            self.schedule_background();
            debug_assert_eq!(self.background_below, u32::MAX);
        }
    }

    /// Static wear levelling, if it has been called for.
    pub(super) fn level(&mut self, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        if !self.is_worn_unevenly || self.progress.is_under_way() {
            return Ok(());
        }
        debug_assert!(self.config.wear.threshold > 0);
        self.is_worn_unevenly = false;
        self.refill_reserve(purpose)?;
        debug_assert!(!self.progress.is_under_way(), "whole collections only");
        if let Some(block) = self.drive.coldest() {
            self.collect_block(block, purpose.because_of(Cause::Wear))?;
        }
        self.refill_reserve(purpose)
    }
}
