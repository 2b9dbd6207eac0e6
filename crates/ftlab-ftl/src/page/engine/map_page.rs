//! Pages of the map itself, where it does not fit into memory.

use crate::page::engine::page_mapped::PageMapped;
use crate::page::policy::Policy;
use crate::{FtlError, Observer, PageWrite};
use ftlab_flash::{Flash, Lpn, Ppn, Purpose};

impl<P: Policy + 'static, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// Writes a page of the map, for which a page of the host waits, or not. The host has not asked for it, so the write
    /// clock stands still.
    pub(crate) fn write_map_page(
        &mut self,
        lpn: Lpn,
        purpose: Purpose,
    ) -> Result<(), FtlError<F::Error>> {
        debug_assert!(lpn.0 >= self.drive.logical_pages(), "page {lpn} is one of the host");
        if F::WEARS_OUT && self.is_read_only {
            return Err(self.any().read_only());
        }
        self.put(PageWrite { purpose, ..PageWrite::by_host(lpn, &[]) })
    }

    /// Reads a page of the map; false if none has been written.
    pub(crate) fn read_map_page(
        &mut self,
        lpn: Lpn,
        purpose: Purpose,
    ) -> Result<bool, FtlError<F::Error>> {
        debug_assert!(lpn.0 >= self.drive.logical_pages(), "page {lpn} is one of the host");
        let Some(page) = self.drive.flash_page(lpn) else { return Ok(false) };
        let read = self.flash.read(page, &mut [], purpose);
        read.map(|()| true).map_err(FtlError::Flash)
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
