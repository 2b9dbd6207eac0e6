//! The mapping as it is saved and restored: apart from the rest, a part at a time.

use crate::StateError;
use crate::page::drive::tables::{DriveState, NONE};
use ftlab_flash::Lpn;

impl DriveState {
    /// Logical page -> flash page, [`u32::MAX`] where it holds nothing.
    pub fn mapping(&self) -> &[u32] {
        &self.flash_page_of
    }

    /// Restores the mapping from page `first` on, and with it the owners of these flash pages.
    pub(crate) fn set_mapping(
        &mut self,
        first: Lpn,
        flash_pages: &[u32],
    ) -> Result<(), StateError> {
        let (found, expected) = (flash_pages.len(), self.flash_page_of.len());
        let entries = self.flash_page_of.get_mut(first.index()..first.index() + found);
        let Some(entries) = entries else {
            let (found, expected) = ((first.index() + found) as u64, expected as u64);
            return Err(StateError::Length { found, expected });
        };
        for ((&page, entry), lpn) in flash_pages.iter().zip(entries).zip(first.0..) {
            *entry = page;
            if page != NONE {
                let owner = self.owner_of.get_mut(page as usize);
                *owner.ok_or(StateError::Value(page.into()))? = lpn;
            }
        }
        Ok(())
    }
}
