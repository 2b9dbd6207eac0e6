//! Pages of the map itself, where it does not fit into memory.

use crate::page::DriveState;
use crate::page::engine::page_mapped::PageMapped;
use crate::page::policy::Policy;
use crate::{FtlError, Observer, PageWrite};
use ftlab_flash::{BlockId, Cause, Flash, Lpn, Ppn, Purpose};

/// Bytes of an entry of a translation page.
const ENTRY_BYTES: usize = 4;

impl<P: Policy + 'static, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// Writes a page of the map, for which a page of the host waits, or not. The host has not asked for it, so the write
    /// clock stands still. It has data if nothing else tells what is in it.
    pub(crate) fn write_map_page(
        &mut self,
        lpn: Lpn,
        data: &[u8],
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert!(lpn.0 >= self.drive.logical_pages(), "page {lpn} is one of the host");
        self.refuse_if_read_only()?;
        self.put(PageWrite { purpose, ..PageWrite::by_host(lpn, data) })
    }

    /// Whether too many blocks are worn out for it to take pages.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Reads a page of the map into `data`, if it has data; false if none has been written.
    pub(crate) fn read_map_page(
        &mut self,
        lpn: Lpn,
        data: &mut [u8],
        purpose: Purpose,
    ) -> Result<bool, FtlError<F::Error>> {
        debug_assert!(lpn.0 >= self.drive.logical_pages(), "page {lpn} is one of the host");
        let Some(page) = self.drive.flash_page(lpn) else { return Ok(false) };
        match self.flash.read_map_page(page, lpn, data, purpose) {
            Err(_) if self.drive.is_paged() && self.any().find_places(lpn, data) => {
                self.flash.mend_map_page(page, lpn, data);
                Ok(true)
            }
            read => read.map(|()| true).map_err(FtlError::Flash),
        }
    }

    /// Keeps the places of those pages of the host only that the map holds, one by one and all of some translation pages;
    /// the others are on flash.
    pub(crate) fn page_out(&mut self, held: &[Lpn], held_pages: &[u32]) {
        self.drive.page_out(held, held_pages);
    }

    /// Finds in the map what the pages of `block` hold, whose spare areas are damaged; false if the map is as well.
    pub(crate) fn mend(&mut self, block: BlockId) -> bool {
        self.any().mend_owners(block)
    }

    /// What the engine keeps of the drive.
    pub(crate) fn drive_mut(&mut self) -> &mut DriveState {
        &mut self.drive
    }

    /// Reads a flash page in vain, since the map said that another page is there.
    pub(crate) fn read_in_vain(
        &mut self,
        page: Ppn,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        self.flash.read(page, &mut [], purpose).map_err(FtlError::Flash)
    }
}

/// The map is on flash twice: in translation pages, and in the spare areas of the pages themselves. So what is damaged of
/// one is found in the other.
impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Reads what the pages of `victim`, which are to move, hold, unless the owners of all pages are in memory.
    #[cold]
    pub(super) fn know_owners(&mut self, victim: BlockId) -> Result<(), FtlError<F::Error>> {
        let mut owners = self.drive.take_owners();
        let is_right = |owners: &[Lpn]| self.drive.are_owners(victim, owners);
        // What is wrong is noticed next.
        let _ = self.flash.owners(victim, &mut owners, &is_right);
        if self.drive.know_owners(victim, owners) || self.mend_owners(victim) {
            return Ok(());
        }
        Err(FtlError::SpareAreas(victim))
    }

    /// As [`mend`](Self::mend).
    #[cold]
    fn mend_owners(&mut self, block: BlockId) -> bool {
        let Some(owners) = self.find_owners(block) else { return false };
        self.flash.mend_owners(block, &owners);
        self.drive.know_owners(block, owners)
    }

    /// What the map says that the pages of `block` hold, by their places in it: all translation pages are read.
    fn find_owners(&mut self, block: BlockId) -> Option<Vec<Lpn>> {
        let first = self.drive.geometry().first_page(block).0;
        let mut owners = vec![Lpn(u32::MAX); self.drive.pages_per_block() as usize];
        let mut note = |lpn, place: u32| {
            if let Some(owner) = owners.get_mut(place.wrapping_sub(first) as usize) {
                *owner = lpn;
            }
        };
        let host_pages = self.drive.logical_pages();
        let mut data = vec![0; self.drive.geometry().page_bytes() as usize];
        for (of_map, first) in
            (host_pages..self.drive.all_pages()).zip((0..).step_by(data.len() / ENTRY_BYTES))
        {
            let of_map = Lpn(of_map);
            data.fill(u8::MAX);
            if let Some(page) = self.drive.flash_page(of_map) {
                note(of_map, page.0);
                let purpose = Cause::Map.unawaited();
                self.flash.read_map_page(page, of_map, &mut data, purpose).ok()?;
            }
            for (lpn, entry) in (first..host_pages).map(Lpn).zip(data.as_chunks().0) {
                let on_flash = || u32::from_le_bytes(*entry);
                note(lpn, self.drive.place_in_memory(lpn).unwrap_or_else(on_flash));
            }
        }
        self.drive.are_owners(block, &owners).then_some(owners)
    }

    /// Finds in the spare areas of all blocks what the translation page `lpn` says, which cannot be read; false if they
    /// are damaged as well.
    #[cold]
    fn find_places(&mut self, lpn: Lpn, data: &mut [u8]) -> bool {
        let first = (lpn.0 - self.drive.logical_pages()) * (data.len() / ENTRY_BYTES) as u32;
        let mut owners = vec![Lpn(u32::MAX); self.drive.pages_per_block() as usize];
        data.fill(u8::MAX);
        for block in (0..self.drive.geometry().blocks()).map(BlockId) {
            let first_page = self.drive.geometry().first_page(block).0;
            if self.drive.holds_map(block) || self.drive.held_pages(block).next().is_none() {
                continue;
            }
            let is_right = |owners: &[Lpn]| self.drive.are_owners(block, owners);
            if self.flash.owners(block, &mut owners, &is_right).is_err() || !is_right(&owners) {
                return false;
            }
            for page in self.drive.held_pages(block) {
                let entry = owners[(page.0 - first_page) as usize].0.wrapping_sub(first) as usize;
                if let Some(entry) = data.as_chunks_mut().0.get_mut(entry) {
                    *entry = page.0.to_le_bytes();
                }
            }
        }
        true
    }
}
