//! Static wear levelling: cold pages are moved off the blocks that are worn least (`drive/wear.rs`).

use crate::page::policy::Policy;
use crate::page::{Drive, PageMapped, Phase};
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Flash};

impl Drive {
    /// The sealed block with the fewest erases; of equal ones the first allocated.
    fn coldest(&self) -> Option<BlockId> {
        let blocks = (0..self.geometry().blocks()).map(BlockId);
        let sealed = blocks.filter(|&block| self.phase(block) == Phase::Sealed);
        sealed.min_by_key(|&block| (self.erases(block), self.allocated(block)))
    }
}

impl<P: Policy, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// Calls for static wear levelling if `block`, which was erased, has too many erases.
    pub(crate) fn watch_wear(&mut self, block: BlockId) {
        let threshold = self.config.wear.threshold;
        if threshold > 0 && self.drive.wear.excess(block) > threshold {
            self.is_worn_unevenly = true;
            self.schedule_background();
        }
    }

    /// Static wear levelling, if it has been called for.
    pub(crate) fn level(&mut self) -> Result<(), FtlError<F::Error>> {
        if !self.is_worn_unevenly || self.progress.is_under_way() {
            return Ok(());
        }
        self.is_worn_unevenly = false;
        self.refill_reserve()?;
        if let Some(block) = self.drive.coldest() {
            self.collect_block(block)?;
        }
        self.refill_reserve()
    }
}
