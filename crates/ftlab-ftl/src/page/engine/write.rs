//! The write path, and what else the host may ask for.

use crate::page::Phase;
use crate::page::engine::page_mapped::{Forgotten, PageMapped};
use crate::page::policy::{HostWrite, Policy};
use crate::stream::StreamId;
use crate::{FtlError, Observer, PageWrite};
use ftlab_flash::{Cause, Flash, Lpn, Purpose};

impl<P: Forgotten + ?Sized, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// Writes one page; the write path.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(crate) fn write_one(&mut self, write: PageWrite<'_>) -> Result<(), FtlError<F::Error>> {
        self.refuse_if_read_only()?;
        let lpn = write.page.lpn;
        debug_assert!(lpn.0 < self.drive.logical_pages(), "page {lpn} is beyond the drive");
        self.drive.tick();
        self.put(write)
    }

    /// The error of a write to flash that is worn out.
    #[inline]
    pub(crate) fn refuse_if_read_only(&mut self) -> Result<(), FtlError<F::Error>> {
        if F::WEARS_OUT && self.is_read_only { Err(self.any().read_only()) } else { Ok(()) }
    }

    /// Writes one page, whoever asks for it.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(super) fn put(&mut self, write: PageWrite<'_>) -> Result<(), FtlError<F::Error>> {
        let lpn = write.page.lpn;
        self.observer.host_write_begins(lpn);
        let stream = self.policy.place_host(HostWrite::new(lpn, write.hint), &self.drive);
        if !self.drive.has_room(stream) {
            self.make_room(stream, write.before())?;
        }
        let mut to = self.drive.next_page(stream);
        while let Err(error) = self.flash.program(to, write.page, write.purpose) {
            self.any().give_up(stream, error)?;
            self.make_room(stream, write.before())?;
            to = self.drive.next_page(stream);
        }
        if let Some(block) = self.drive.invalidate(lpn) {
            self.policy.on_invalidate(block, &self.drive);
        } else {
            self.drive.count_mapped(lpn);
        }
        self.drive.append(stream, lpn);
        self.policy.on_written(to, stream);
        debug_assert_eq!(self.drive.flash_page(lpn), Some(to));
        self.observer.host_write(lpn, to, stream);
        if !self.drive.has_room(stream) {
            self.any().seal(stream);
        }
        if self.drive.free_blocks() < self.background_below || self.policy.wants_collection() {
            self.any().run_background(stream, write.after())?;
        }
        debug_assert!(self.drive.mapped_pages() <= self.drive.all_pages());
        Ok(())
    }

    /// Gives up the content of one page.
    pub(crate) fn trim_page(&mut self, lpn: Lpn) {
        if let Some(block) = self.drive.invalidate(lpn) {
            self.drive.unmap(lpn);
            self.counters.trims += 1;
            self.observer.trim(lpn);
            self.policy.on_invalidate(block, &self.drive);
            self.policy.on_trim(lpn, &self.drive);
            debug_assert!(self.drive.valid_pages(block) < self.drive.pages_per_block());
        }
        debug_assert_eq!(self.drive.flash_page(lpn), None);
    }

    /// Reads one page into `data`; false, and `data` untouched, if it holds nothing.
    pub(crate) fn read_page(
        &mut self,
        lpn: Lpn,
        data: &mut [u8],
    ) -> Result<bool, FtlError<F::Error>> {
        match self.drive.flash_page(lpn) {
            Some(page) => {
                let read = self.flash.read(page, data, Cause::Host.unawaited());
                read.map(|()| true).map_err(FtlError::Flash)
            }
            None => Ok(false),
        }
    }

    /// Opens a block for a host write to `stream`, after as many collections as that takes.
    #[cold]
    fn make_room(&mut self, stream: StreamId, purpose: Purpose) -> Result<(), FtlError<F::Error>> {
        debug_assert!(!self.drive.has_room(stream));
        self.requester = stream;
        while self.any().has_to_collect(stream, purpose)? {
            self.collect(purpose)?;
        }
        if self.drive.has_room(stream) { Ok(()) } else { self.any().open(stream) }
    }
}

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Whether a host write to `stream` has to wait for a collection.
    fn has_to_collect(
        &mut self,
        stream: StreamId,
        purpose: Purpose,
    ) -> Result<bool, FtlError<F::Error>> {
        let is_short = !self.drive.has_room(stream)
            && self.drive.free_blocks() <= self.blocks_out_of_reach(stream);
        Ok(is_short && !self.may_proceed(stream, purpose)?)
    }

    /// Free blocks that a host write to `stream` may not open: the reserve, and those kept for others. Reclaim
    /// groups have a reserve each, and say so themselves.
    pub(super) fn blocks_out_of_reach(&self, stream: StreamId) -> u32 {
        let kept = self.policy.kept_from(stream, &self.drive);
        if self.has_groups { kept } else { self.config.reserve_blocks + kept }
    }

    /// Gives `stream`, which has no room, a new open block.
    #[cold]
    pub(super) fn open(&mut self, stream: StreamId) -> Result<(), FtlError<F::Error>> {
        let wanted = self.policy.free_block(stream, &self.drive);
        let Some(block) = self.drive.open(stream, wanted) else { return Err(self.no_free_block()) };
        debug_assert!(self.drive.has_room(stream));
        debug_assert_eq!(self.drive.frontier_of(block), stream);
        self.policy.on_block_opened(block, &self.drive);
        Ok(())
    }

    /// Seals the open block of `stream`, which is full.
    #[cold]
    pub(super) fn seal(&mut self, stream: StreamId) {
        let block = self.drive.seal(stream);
        debug_assert_eq!(self.drive.phase(block), Phase::Sealed);
        debug_assert!(self.drive.open_block(stream).is_none());
        self.policy.on_block_sealed(block, &self.drive);
        self.note_sealed(block);
    }
}
