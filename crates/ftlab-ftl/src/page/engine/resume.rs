//! A page-mapped FTL that outlives its process: what a drive on real media runs.

use crate::page::Drive;
use crate::page::engine::page_mapped::PageMapped;
use crate::page::entry::Hinted;
use crate::{Archive, Ftl, Observer, State, StateError};
use ftlab_flash::{Flash, Lpn};

/// A page-mapped FTL of any policy, which can be looked into, saved and restored.
///
/// The mapping is kept apart from the rest of the state because it is nearly all of it: it can be saved a
/// part at a time.
pub trait Resume: Ftl {
    /// Mapping, block states and free list, to look at.
    fn drive(&self) -> &Drive;

    /// Saves all but the mapping, or replaces it by what was saved of an FTL with the same parameters.
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError>;

    /// Restores the mapping from page `first` on, as [`Drive::mapping`] gives it.
    fn set_mapping(&mut self, first: Lpn, flash_pages: &[u32]) -> Result<(), StateError>;
}

impl<P: Hinted, F: Flash + Send, O: Observer> Resume for PageMapped<P, F, O> {
    fn drive(&self) -> &Drive {
        &self.drive
    }

    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self {
            policy,
            drive,
            counters,
            victims,
            requester,
            progress,
            background_below,
            failing,
            is_read_only,
            is_worn_unevenly,
            refreshing,
            flash: _,
            observer: _,
            config: _,
            reserve_min: _,
            has_groups: _,
        } = self;
        policy.transfer(archive)?;
        drive.transfer(archive)?;
        counters.transfer(archive)?;
        victims.transfer(archive)?;
        requester.transfer(archive)?;
        progress.transfer(archive)?;
        background_below.transfer(archive)?;
        failing.transfer(archive)?;
        is_read_only.transfer(archive)?;
        is_worn_unevenly.transfer(archive)?;
        // Nothing is saved of what is off.
        refreshing.iter_mut().try_for_each(|refreshing| refreshing.transfer(archive))
    }

    fn set_mapping(&mut self, first: Lpn, flash_pages: &[u32]) -> Result<(), StateError> {
        self.drive.set_mapping(first, flash_pages)
    }
}
