//! The page-mapped engine: the write path and garbage collection, for every policy.

use crate::page::engine::progress::Progress;
use crate::page::policy::{Hint, HostWrite, Policy, Relocation, Victims};
use crate::page::{Drive, DriveConfig};
use crate::stream::StreamId;
use crate::{Counters, FtlError, Observer};
use ftlab_flash::{BlockId, Flash, Lpn, Ppn};

/// How many valid pages of a victim ahead of the one being moved are fetched.
const FETCH_AHEAD: u32 = 24;

/// A page-mapped FTL: `policy` decides, and this carries it out over `flash`.
///
/// ```text
/// write(page):
///     stream = policy.place_host(page)
///     while stream has no room:
///         if more than `reserve` blocks are free: open one for it
///         else collect: policy.select_victims; move their valid pages, erase them
///     program the page; the old version becomes invalid
///     if something is due behind the write: background.rs
/// ```
///
/// Nothing is allocated after construction.
pub struct PageMapped<P, F, O> {
    pub(crate) policy: P,
    pub(crate) flash: F,
    pub(crate) observer: O,
    pub(crate) drive: Drive,
    pub(crate) counters: Counters,
    pub(crate) config: DriveConfig,
    pub(crate) victims: Victims,
    /// The stream of the last host write that found no room.
    pub(crate) requester: StreamId,
    /// Of a collection in steps.
    pub(crate) progress: Progress,
    /// While fewer blocks are free, something is due behind a host write: see `background.rs`.
    pub(crate) background_below: u32,
    pub(crate) reserve_min: u32,
    /// Blocks that failed and are to be taken out of use.
    pub(crate) failing: Vec<BlockId>,
    /// Too many blocks are out of use.
    pub(crate) is_read_only: bool,
    /// Static wear levelling is due.
    pub(crate) is_worn_unevenly: bool,
}

impl<P: Policy, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// An erased drive, or the arithmetic why `config` is too small for the policy.
    pub fn new(
        policy: P,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<Self, crate::ConfigError> {
        let streams = policy.streams();
        let reserve_min = policy.reserve_blocks_min();
        let geometry = config.geometry;
        let mut drive = Drive::new(geometry, config.logical_pages, streams.clone());
        if F::WEARS_OUT {
            drive.retire_bad(|block| flash.is_bad(block));
        }
        drive.free_block = config.wear.free_block;
        let bad_blocks = drive.retired_blocks();
        config.verify(&streams, reserve_min, bad_blocks)?;
        let mut ftl = Self {
            progress: Progress::default(),
            background_below: 0,
            failing: Vec::new(),
            is_read_only: false,
            is_worn_unevenly: false,
            reserve_min,
            counters: Counters::new(streams.len()),
            drive,
            requester: StreamId(0),
            victims: Victims::new(geometry.blocks(), geometry.pages_per_block()),
            policy,
            flash,
            observer,
            config,
        };
        ftl.schedule_background();
        Ok(ftl)
    }

    /// Writes one page; the write path.
    #[inline]
    pub(crate) fn write_page(
        &mut self,
        lpn: Lpn,
        hint: Hint,
        data: &[u8],
    ) -> Result<(), FtlError<F::Error>> {
        if F::WEARS_OUT && self.is_read_only {
            return Err(self.read_only());
        }
        self.flash.begin_host_write();
        self.drive.tick();
        let stream = self.policy.place_host(HostWrite::new(lpn, hint), &self.drive);
        if !self.drive.has_room(stream) {
            self.make_room(stream)?;
        }
        let mut to = self.drive.next_page(stream);
        while let Err(error) = self.flash.program(to, lpn, data) {
            self.give_up(stream, error)?;
            self.make_room(stream)?;
            to = self.drive.next_page(stream);
        }
        if let Some(block) = self.drive.invalidate(lpn) {
            self.policy.on_invalidate(block, &self.drive);
        } else {
            self.drive.mapped_pages += 1;
        }
        self.drive.append(stream, lpn);
        self.observer.host_write(lpn, to, stream);
        if !self.drive.has_room(stream) {
            self.seal(stream);
        }
        if self.drive.free_blocks() < self.background_below {
            self.run_background(stream)?;
        }
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
        }
    }

    /// Reads one page into `data`; false, and `data` untouched, if it holds nothing.
    pub(crate) fn read_page(
        &mut self,
        lpn: Lpn,
        data: &mut [u8],
    ) -> Result<bool, FtlError<F::Error>> {
        match self.drive.flash_page(lpn) {
            Some(page) => self.flash.read(page, data).map(|()| true).map_err(FtlError::Flash),
            None => Ok(false),
        }
    }

    /// Opens a block for a host write to `stream`, after as many collections as that takes.
    #[cold]
    fn make_room(&mut self, stream: StreamId) -> Result<(), FtlError<F::Error>> {
        self.requester = stream;
        while self.drive.free_blocks() <= self.config.reserve_blocks && !self.may_borrow(stream)? {
            self.collect()?;
            if self.drive.has_room(stream) {
                return Ok(());
            }
        }
        self.open(stream)
    }

    /// One collection that has to succeed, or the rest of the one that is under way. Each frees at
    /// least one invalid page, of which there is a finite number, and [`DriveConfig::verify`] saw to it
    /// that they suffice: so this comes to an end.
    pub(crate) fn collect(&mut self) -> Result<(), FtlError<F::Error>> {
        self.observer.collection_begins();
        if self.progress.is_under_way() {
            self.complete()?;
        } else {
            self.select(self.drive.pages_per_block(), true)?;
            self.reclaim_victims()?;
        }
        self.observer.collection_ends();
        Ok(())
    }

    /// Lets the policy choose among blocks with at most `valid_pages_max` valid pages; if the
    /// collection is `needed`, with an invalid page among them.
    pub(crate) fn select(
        &mut self,
        valid_pages_max: u32,
        needed: bool,
    ) -> Result<(), FtlError<F::Error>> {
        self.victims.begin(self.requester, valid_pages_max);
        self.policy.select_victims(&self.drive, &mut self.victims);
        if needed && self.victims.invalid_pages() == 0 {
            return Err(FtlError::NothingToCollect { free_blocks: self.drive.free_blocks() });
        }
        Ok(())
    }

    /// Collects the blocks that were selected.
    pub(crate) fn reclaim_victims(&mut self) -> Result<(), FtlError<F::Error>> {
        self.counters.collections += u64::from(!self.victims.is_empty());
        for index in 0..self.victims.blocks().len() {
            self.reclaim(self.victims.blocks()[index])?;
        }
        Ok(())
    }

    /// Moves the valid pages of `victim`, in page order, and erases it.
    pub(crate) fn reclaim(&mut self, victim: BlockId) -> Result<(), FtlError<F::Error>> {
        let from = self.drive.stream_of(victim);
        let moved = self.drive.valid_pages(victim);
        self.observer.collection(victim, from, moved);
        self.drive.prefetch_first_owners(victim);
        let mut next = self.drive.valid_pages_of(victim);
        let mut ahead = self.drive.valid_pages_of(victim);
        for _ in 0..moved.min(FETCH_AHEAD) {
            self.fetch(ahead.next_ahead(&self.drive), victim);
        }
        for left in (0..moved).rev() {
            if left >= FETCH_AHEAD {
                self.fetch(ahead.next_ahead(&self.drive), victim);
            }
            self.relocate(next.next(&self.drive), victim, from)
                .inspect_err(|_| self.drive.recount(victim))?;
        }
        self.drive.valid_pages[victim.index()] = 0;
        self.counters.streams[from.index()].relocations += u64::from(moved);
        self.erase(victim)
    }

    /// Erases `victim`, whose valid pages have moved.
    pub(crate) fn erase(&mut self, victim: BlockId) -> Result<(), FtlError<F::Error>> {
        if F::WEARS_OUT && self.failing.contains(&victim) {
            return self.retire(victim);
        }
        match self.flash.erase(victim) {
            Ok(()) => {}
            Err(error) if F::is_wear_out(&error) => return self.retire(victim),
            Err(error) => return Err(FtlError::Flash(error)),
        }
        self.observer.erase(victim);
        self.drive.release(victim);
        self.watch_wear(victim);
        self.policy.on_block_erased(victim, &self.drive);
        self.counters.streams[self.drive.stream_of(victim).index()].erases += 1;
        Ok(())
    }

    /// Fetches what is to be asked about a valid page of a victim.
    #[inline]
    pub(crate) fn fetch(&self, page: Ppn, victim: BlockId) {
        let lpn = self.drive.owner(page);
        self.drive.prefetch_mapping(lpn);
        self.policy.fetch_ahead(lpn, victim);
    }

    /// Moves one valid page of `victim`, whose pages are of stream `from`.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(crate) fn relocate(
        &mut self,
        source: Ppn,
        victim: BlockId,
        from: StreamId,
    ) -> Result<(), FtlError<F::Error>> {
        let lpn = self.drive.owner(source);
        let page = Relocation::new(lpn, victim, from);
        let mut stream = self.policy.place_relocation(page, &self.drive);
        if !self.drive.has_room(stream) {
            stream = self.room_for_relocation(stream)?;
        }
        let mut to = self.drive.next_page(stream);
        while let Err(error) = self.flash.copyback(source, to, lpn) {
            self.give_up(stream, error)?;
            self.open(stream)?;
            to = self.drive.next_page(stream);
        }
        self.drive.append(stream, lpn);
        self.observer.relocation(lpn, source, to, stream);
        if !self.drive.has_room(stream) {
            self.seal(stream);
        }
        Ok(())
    }

    /// Opens a block for `stream`; if none is free, the page goes to another stream that has room.
    ///
    /// Host writes may have filled the blocks that earlier collections opened for several streams, so
    /// that fewer blocks are free than streams need one. One is always free when a collection begins,
    /// which is room for what is valid in a victim.
    #[cold]
    fn room_for_relocation(&mut self, stream: StreamId) -> Result<StreamId, FtlError<F::Error>> {
        if self.drive.free_blocks() > 0 {
            return self.open(stream).map(|()| stream);
        }
        let streams = 0..self.drive.streams().len() as u8;
        let roomy = streams.map(StreamId).find(|&other| self.drive.has_room(other));
        roomy.ok_or_else(|| self.no_free_block())
    }

    /// Gives `stream`, which has no room, a new open block.
    #[cold]
    fn open(&mut self, stream: StreamId) -> Result<(), FtlError<F::Error>> {
        let Some(block) = self.drive.open(stream) else { return Err(self.no_free_block()) };
        self.policy.on_block_opened(block, &self.drive);
        Ok(())
    }

    /// Seals the open block of `stream`, which is full.
    #[cold]
    pub(crate) fn seal(&mut self, stream: StreamId) {
        let block = self.drive.seal(stream);
        self.policy.on_block_sealed(block, &self.drive);
    }
}
