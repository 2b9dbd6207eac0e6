//! Reading every page from the medium, before somebody needs it.

use crate::drive::Drive;
use crate::drive::core::Core;
use crate::media::checksum;
use ftlab_flash::Lpn;
use std::io;

/// The state of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScrubbedPage {
    /// It holds no data.
    Empty,
    /// The medium has what was written.
    Sound,
    /// The medium does not have it where it should be, but it could be read: it was written again.
    Refreshed,
    /// It cannot be read.
    Unreadable,
}

impl Drive {
    /// Reads `lpn` from the medium, not from a cache, and writes it again if that fails and there is still a
    /// copy: then it counts as a page write of the host, without bytes. An error if it cannot be written.
    pub fn scrub(&self, lpn: Lpn) -> io::Result<ScrubbedPage> {
        let mut page = vec![0; self.shared.page_bytes as usize];
        if self.is_view {
            return Ok(self.shared.lock().look_at(lpn, &mut page));
        }
        let mut core = self.shared.lock_to_write()?;
        let found = core.look_at(lpn, &mut page);
        let refreshed = match found {
            ScrubbedPage::Refreshed => core.write_page(lpn, checksum(lpn, &page), &page, 0, 0),
            _ => Ok(()),
        };
        self.shared.unlock(core)?;
        refreshed.map(|()| found)
    }

    /// Logical pages of the drive.
    pub fn logical_pages(&self) -> u32 {
        (self.shared.bytes / u64::from(self.shared.page_bytes)) as u32
    }
}

impl Core {
    /// The state of `lpn`: [`ScrubbedPage::Refreshed`] if it should be, and then its data.
    fn look_at(&mut self, lpn: Lpn, data: &mut [u8]) -> ScrubbedPage {
        let page = match self.find(lpn) {
            Ok(Some(page)) => page,
            Ok(None) => return ScrubbedPage::Empty,
            Err(_) => return ScrubbedPage::Unreadable,
        };
        if self.media().is_on_medium(page, lpn) {
            return ScrubbedPage::Sound;
        }
        match self.read_page(lpn, data) {
            Ok(()) => ScrubbedPage::Refreshed,
            Err(_) => ScrubbedPage::Unreadable,
        }
    }
}
