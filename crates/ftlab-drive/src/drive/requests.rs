//! Requests of any size and alignment.

use crate::drive::Drive;
use crate::drive::core::Core;
use crate::media::{Pages as Medium, checksum};
use crate::store::{Extent, Store};
use ftlab_flash::{Lpn, Ppn};
use std::io;

/// Maximum number of pages processed per locking.
const PAGES_AT_ONCE: usize = 32;

/// Maximum number of pages trimmed per locking.
const TRIMS_AT_ONCE: u32 = 4096;

/// The location of a page to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It has been read, or holds no data.
    Done,
    /// On the medium, with this checksum, or that which stands beside it.
    At(Ppn, Option<u32>),
}

/// A range of bytes as whole pages, and the partial pages before and after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Pages {
    /// Bytes of the first page that come before the range.
    skipped: usize,
    /// Bytes of the range in a first page that it covers only partly.
    head: usize,
    first: Lpn,
    count: u32,
    /// Bytes of the range in the page after the whole pages.
    tail: usize,
}

impl Pages {
    fn of(offset: u64, bytes: u64, page_bytes: u64) -> Self {
        let skipped = offset % page_bytes;
        let head = if skipped == 0 { 0 } else { bytes.min(page_bytes - skipped) };
        let rest = bytes - head;
        Self {
            skipped: skipped as usize,
            head: head as usize,
            first: Lpn(offset.div_ceil(page_bytes) as u32),
            count: (rest / page_bytes) as u32,
            tail: (rest % page_bytes) as usize,
        }
    }

    /// The page of the head.
    fn before(&self) -> Lpn {
        Lpn(self.first.0 - 1)
    }

    /// The page of the tail.
    fn after(&self) -> Lpn {
        Lpn(self.first.0 + self.count)
    }
}

impl Drive {
    /// The range as pages, if it is on the drive.
    fn pages(&self, offset: u64, bytes: u64) -> io::Result<Pages> {
        let end = offset.checked_add(bytes).filter(|&end| end <= self.bytes());
        end.ok_or_else(|| {
            let size = self.bytes();
            let message = format!("{bytes} bytes at {offset} are beyond the drive's {size}");
            io::Error::new(io::ErrorKind::InvalidInput, message)
        })?;
        Ok(Pages::of(offset, bytes, self.shared.page_bytes.into()))
    }

    /// One or more locked write operations.
    fn change(&self, change: impl FnOnce(&mut Core) -> io::Result<()>) -> io::Result<()> {
        let mut core = self.shared.lock_to_write()?;
        let changed = change(&mut core);
        self.shared.unlock(core)?;
        changed
    }

    fn write_part(&self, lpn: Lpn, start: usize, part: &[u8], stream: u16) -> io::Result<()> {
        self.change(|core| core.write_part(lpn, start, part, stream, part.len()))
    }

    /// Writes whole pages, all of which the host sent, or nothing of them.
    fn write_pages(&self, first: Lpn, data: &[u8], stream: u16, is_sent: bool) -> io::Result<()> {
        let page_bytes = self.shared.page_bytes as usize;
        let mut sums = [0; PAGES_AT_ONCE];
        for (chunk, first) in
            data.chunks(PAGES_AT_ONCE * page_bytes).zip((first.0..).step_by(PAGES_AT_ONCE))
        {
            let pages = || chunk.chunks_exact(page_bytes).zip((first..).map(Lpn));
            for ((page, lpn), sum) in pages().zip(&mut sums) {
                *sum = checksum(lpn, page);
            }
            let mut pages = pages().zip(sums).peekable();
            // The lock is released early if the journal runs short of space.
            while pages.peek().is_some() {
                self.change(|core| {
                    while let Some(((page, lpn), sum)) = pages.next_if(|_| core.has_room()) {
                        let sent = if is_sent { page.len() } else { 0 };
                        core.write_page(lpn, sum, page, stream, sent)?;
                    }
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    fn read_pages(&self, first: Lpn, data: &mut [u8]) -> io::Result<()> {
        let page_bytes = self.shared.page_bytes as usize;
        let chunks = data.chunks_mut(PAGES_AT_ONCE * page_bytes);
        for (chunk, first) in chunks.zip((first.0..).step_by(PAGES_AT_ONCE)) {
            let mut places = [Place::Done; PAGES_AT_ONCE];
            self.look_up(Lpn(first), chunk, &mut places)?;
            self.read_places(Lpn(first), &places[..chunk.len() / page_bytes], chunk)?;
        }
        Ok(())
    }

    /// Locates pages, and reads those that are in memory.
    fn look_up(&self, first: Lpn, data: &mut [u8], places: &mut [Place]) -> io::Result<()> {
        let mut core = self.shared.lock();
        let pages = data.chunks_exact_mut(self.shared.page_bytes as usize);
        for ((page, lpn), place) in pages.zip((first.0..).map(Lpn)).zip(places) {
            let Some(flash_page) = core.find(lpn)? else {
                page.fill(0);
                continue;
            };
            let media = core.ftl.flash_mut();
            media.time_host_read(flash_page);
            // A page that could not be read when it was moved is in a buffer, too.
            if let Some(gathered) = media.gathered(flash_page)
                && media.is_current(flash_page, lpn, gathered)
            {
                page.copy_from_slice(gathered);
            } else {
                let at = media.slots().place(flash_page);
                *place = Place::At(at, media.checksum(lpn));
            }
        }
        Ok(())
    }

    /// Reads pages from the medium, consecutive ones together.
    fn read_places(&self, first: Lpn, places: &[Place], data: &mut [u8]) -> io::Result<()> {
        let page_bytes = self.shared.page_bytes as usize;
        let follows = |a: &Place, b: &Place| match (a, b) {
            (Place::At(a, _), Place::At(b, _)) => a.0 + 1 == b.0,
            _ => a == b,
        };
        let mut index = 0;
        let mut failed = false;
        for run in places.chunk_by(follows) {
            let range = index * page_bytes..(index + run.len()) * page_bytes;
            if let Place::At(at, _) = run[0] {
                let offset = self.shared.layout.page(at);
                failed |= self.shared.backing.read_at(&mut data[range], offset).is_err();
            }
            index += run.len();
        }
        let pages = data.chunks_exact_mut(page_bytes).zip((first.0..).map(Lpn)).zip(places);
        for ((page, lpn), place) in pages {
            if let Place::At(at, sum) = *place
                && (failed || !self.is_right(at, lpn, sum, page))
            {
                // Its block may have been overwritten meanwhile; or it is tried again.
                self.shared.lock().read_page(lpn, page)?;
            }
        }
        Ok(())
    }

    /// Whether a page is what its checksum says, or what stands beside it at `at`.
    fn is_right(&self, at: Ppn, lpn: Lpn, sum: Option<u32>, page: &[u8]) -> bool {
        let beside = || {
            let pages = Medium { backing: &*self.shared.backing, layout: &self.shared.layout };
            let owner = pages.owner(at)?;
            (owner.lpn == lpn).then_some(owner.checksum)
        };
        sum.or_else(beside) == Some(checksum(lpn, page))
    }

    fn trim_pages(&self, first: Lpn, count: u32) -> io::Result<()> {
        let end = first.0 + count;
        for first in (first.0..end).step_by(TRIMS_AT_ONCE as usize) {
            let pages = TRIMS_AT_ONCE.min(end - first);
            self.change(|core| core.trim_pages(Lpn(first), pages))?;
        }
        Ok(())
    }

    /// Zeroes the partial pages at the edges of a range; the host sends nothing for that.
    fn zero_edges(&self, pages: &Pages) -> io::Result<()> {
        let zeros = vec![0; pages.head.max(pages.tail)];
        let is_mapped = |lpn| self.shared.lock().find(lpn).map(|page| page.is_some());
        if pages.head > 0 && is_mapped(pages.before())? {
            let (lpn, zeros) = (pages.before(), &zeros[..pages.head]);
            self.change(|core| core.write_part(lpn, pages.skipped, zeros, 0, 0))?;
        }
        if pages.tail > 0 && is_mapped(pages.after())? {
            let zeros = &zeros[..pages.tail];
            self.change(|core| core.write_part(pages.after(), 0, zeros, 0, 0))?;
        }
        Ok(())
    }
}

impl Store for Drive {
    fn bytes(&self) -> u64 {
        self.shared.bytes
    }

    fn block_bytes(&self) -> u32 {
        self.shared.page_bytes
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let pages = self.pages(offset, data.len() as u64)?;
        let page_bytes = self.shared.page_bytes as usize;
        let (head, rest) = data.split_at_mut(pages.head);
        let (whole, tail) = rest.split_at_mut(pages.count as usize * page_bytes);
        let read_part = |lpn, start: usize, part: &mut [u8]| {
            let mut page = vec![0; page_bytes];
            self.read_pages(lpn, &mut page)?;
            part.copy_from_slice(&page[start..start + part.len()]);
            io::Result::Ok(())
        };
        if !head.is_empty() {
            read_part(pages.before(), pages.skipped, head)?;
        }
        if !tail.is_empty() {
            read_part(pages.after(), 0, tail)?;
        }
        self.read_pages(pages.first, whole)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write_stream(offset, data, 0)
    }

    fn write_stream(&self, offset: u64, data: &[u8], stream: u16) -> io::Result<()> {
        let pages = self.pages(offset, data.len() as u64)?;
        let (head, rest) = data.split_at(pages.head);
        let (whole, tail) = rest.split_at(pages.count as usize * self.shared.page_bytes as usize);
        if !head.is_empty() {
            self.write_part(pages.before(), pages.skipped, head, stream)?;
        }
        self.write_pages(pages.first, whole, stream, true)?;
        if !tail.is_empty() {
            self.write_part(pages.after(), 0, tail, stream)?;
        }
        Ok(())
    }

    fn renew_handle(&self, handle: u16) -> io::Result<bool> {
        let mut is_known = false;
        self.change(|core| core.renew_handle(handle).map(|known| is_known = known))?;
        Ok(is_known)
    }

    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        let pages = self.pages(offset, bytes)?;
        self.zero_edges(&pages)?;
        self.trim_pages(pages.first, pages.count)
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()> {
        if may_trim {
            return self.trim(offset, bytes);
        }
        let pages = self.pages(offset, bytes)?;
        self.zero_edges(&pages)?;
        let page_bytes = self.shared.page_bytes;
        let zeros = vec![0; PAGES_AT_ONCE * page_bytes as usize];
        for first in (pages.first.0..pages.after().0).step_by(PAGES_AT_ONCE) {
            let count = (PAGES_AT_ONCE as u32).min(pages.after().0 - first);
            let zeros = &zeros[..(count * page_bytes) as usize];
            self.write_pages(Lpn(first), zeros, 0, false)?;
        }
        Ok(())
    }

    fn is_read_only(&self) -> bool {
        self.is_view
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<Extent> {
        self.pages(offset, bytes).and_then(|_| self.extent_at(offset, bytes))
    }

    fn flush(&self) -> io::Result<()> {
        if self.is_view {
            return Ok(());
        }
        self.shared.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_whole_pages_and_its_edges() {
        let pages = |offset, bytes| {
            let pages = Pages::of(offset, bytes, 100);
            (pages.skipped, pages.head, pages.first.0, pages.count, pages.tail)
        };
        assert_eq!(pages(200, 300), (0, 0, 2, 3, 0));
        assert_eq!(pages(250, 20), (50, 20, 3, 0, 0));
        assert_eq!(pages(250, 50), (50, 50, 3, 0, 0));
        assert_eq!(pages(250, 160), (50, 50, 3, 1, 10));
        assert_eq!(pages(200, 10), (0, 0, 2, 0, 10));
        assert_eq!(pages(0, 0), (0, 0, 0, 0, 0));
    }
}
