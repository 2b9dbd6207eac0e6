//! A cache of SLC blocks before an FTL.
//!
//! # Rule
//! What the host writes is programmed into the blocks of the cache in turn, a ring. When none of them is erased, the
//! oldest is *folded*: the FTL writes its valid pages into normal blocks, by its own placement, and the block is
//! erased; or the page goes past the cache (`full=bypass`). With a clock, blocks that are full are also folded while
//! the host asks for nothing (`idle=on`). A page that is written or trimmed again while it is in the cache is never
//! folded.
//!
//! To the FTL, a page that goes to the cache is trimmed, and a fold is a write, of the stream that the page was
//! written with. Here, a fold is a relocation, since the host has written the page once: write amplification is 1,
//! and the folds and what the FTL relocates per host write.
//!
//! The blocks of the cache have the numbers after those of the FTL, and their pages are SLC pages to
//! [`Chip`](ftlab_flash::Chip). Their erases are a stream of their own, and not among those that wear is levelled over.

mod options;
#[cfg(test)]
mod tests;

use ftlab_flash::{BlockId, Cause, Flash, Geometry, Hint, Lpn, Page, Ppn, Purpose};
use ftlab_ftl::registry::DynFtl;
use ftlab_ftl::{
    BlockUse, Broken, Counters, DynInner, ErrorOf, Ftl, FtlError, MemoryBytes, Metadata, Observer,
    PageBatch, PageWrite, SlcCounts, StreamCounters, StreamUse,
};
use std::ops::Range;

pub use options::{SlcCache, WhenFull};

const NONE: u32 = u32::MAX;

/// An FTL with an SLC cache before it, which keeps no data.
pub(crate) struct SlcCached<F: Flash, O: Observer> {
    ftl: DynFtl<F, O>,
    options: SlcCache,
    /// The first page and block of the cache.
    first: u32,
    first_block: u32,
    /// Pages from one block to the next, and those that a block holds.
    stride: u32,
    pages_per_block: u32,
    blocks: u32,
    /// The block that became full first, and how many are full. The one after these takes pages, `next` first.
    oldest: u32,
    full: u32,
    next: u32,
    /// The first page of the oldest block that may have to be folded.
    fold_next: u32,
    /// Page of the host -> its place in the cache.
    place_of: Vec<u32>,
    /// Place -> the page that it was programmed with, and its stream.
    pages: Vec<(u32, u16)>,
    /// Pages of the FTL that were trimmed because they went to the cache.
    hidden_trims: u64,
    /// Pages that the host trimmed in the cache.
    trims: u64,
    counts: SlcCounts,
}

impl<F: Flash, O: Observer> SlcCached<F, O> {
    /// A cache before `ftl`, which has this flash; it needs its blocks on top.
    pub(crate) fn new(
        ftl: DynFtl<F, O>,
        options: SlcCache,
        geometry: &Geometry,
        logical_pages: u32,
        blocks: u32,
    ) -> Self {
        let pages_per_block = options.pages_per_block(geometry);
        Self {
            ftl,
            options,
            first: geometry.pages(),
            first_block: geometry.blocks(),
            stride: geometry.pages_per_block(),
            pages_per_block,
            blocks,
            oldest: 0,
            full: 0,
            next: 0,
            fold_next: 0,
            place_of: vec![NONE; logical_pages as usize],
            pages: vec![(NONE, 0); (blocks * pages_per_block) as usize],
            hidden_trims: 0,
            trims: 0,
            counts: SlcCounts::default(),
        }
    }

    fn flash_page_of(&self, place: u32) -> Ppn {
        let (block, offset) = (place / self.pages_per_block, place % self.pages_per_block);
        Ppn(self.first + block * self.stride + offset)
    }

    /// Writes a page into the cache, or past it.
    fn put(&mut self, write: PageWrite<'_>) -> Result<(), ErrorOf<Self>> {
        let lpn = write.page.lpn;
        if self.full == self.blocks && self.options.full == WhenFull::Bypass {
            self.counts.bypassed += 1;
            self.drop(lpn);
            let hint = Hint { stream: write.hint.stream, ..Hint::NONE };
            return self.ftl.write_page(PageWrite { hint, ..write });
        }
        self.drop(lpn);
        self.hide(lpn)?;
        while self.full == self.blocks {
            self.fold(self.pages_per_block, write.purpose.because_of(Cause::Fold))?;
        }
        let open = (self.oldest + self.full) % self.blocks;
        let place = open * self.pages_per_block + self.next;
        let to = self.flash_page_of(place);
        let flash = self.ftl.flash_mut();
        flash.program(to, write.page, write.purpose).map_err(FtlError::Flash)?;
        self.counts.writes += 1;
        self.place_of[lpn.index()] = place;
        self.pages[place as usize] = (lpn.0, write.hint.stream);
        self.next += 1;
        if self.next == self.pages_per_block {
            (self.full, self.next) = (self.full + 1, 0);
        }
        Ok(())
    }

    /// What the FTL holds of a page is out of date.
    fn hide(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>> {
        if self.ftl.flash_page(lpn).is_none() {
            return Ok(());
        }
        self.hidden_trims += 1;
        self.ftl.trim(lpn)
    }

    /// What the cache holds of a page is out of date; whether it holds something.
    fn drop(&mut self, lpn: Lpn) -> bool {
        let is_there = std::mem::replace(&mut self.place_of[lpn.index()], NONE) != NONE;
        self.counts.dropped += u64::from(is_there);
        is_there
    }

    /// Folds at most `most` pages of the oldest block, and erases it if none is left; false if no block is full.
    fn fold(&mut self, most: u32, purpose: Purpose) -> Result<bool, ErrorOf<Self>> {
        if self.full == 0 {
            return Ok(false);
        }
        let mut left = most;
        while self.fold_next < self.pages_per_block && left > 0 {
            let place = self.oldest * self.pages_per_block + self.fold_next;
            self.fold_next += 1;
            let (lpn, stream) = self.pages[place as usize];
            if self.place_of[lpn as usize] != place {
                continue;
            }
            self.place_of[lpn as usize] = NONE;
            self.counts.folds += 1;
            let page = Page::copy(Lpn(lpn), self.flash_page_of(place));
            let hint = Hint { stream, ..Hint::NONE };
            self.ftl.write_page(PageWrite { page, hint, purpose })?;
            left -= 1;
        }
        if self.fold_next == self.pages_per_block {
            let block = BlockId(self.first_block + self.oldest);
            self.ftl.flash_mut().erase(block, purpose).map_err(FtlError::Flash)?;
            self.counts.erases += 1;
            (self.oldest, self.full) = ((self.oldest + 1) % self.blocks, self.full - 1);
            self.fold_next = 0;
        }
        Ok(true)
    }

    /// Pages that are in the cache.
    fn held(&self) -> usize {
        self.place_of.iter().filter(|place| **place != NONE).count()
    }
}

impl<F: Flash, O: Observer> Ftl for SlcCached<F, O> {
    type Flash = F;
    type Observer = O;

    fn inner(&self) -> Option<&DynInner<Self>> {
        Some(&*self.ftl)
    }

    fn inner_mut(&mut self) -> Option<&mut DynInner<Self>> {
        Some(&mut *self.ftl)
    }

    fn write_page(&mut self, write: PageWrite<'_>) -> Result<(), ErrorOf<Self>> {
        self.put(write)
    }

    fn trim(&mut self, lpn: Lpn) -> Result<(), ErrorOf<Self>> {
        let was_there = self.drop(lpn);
        self.trims += u64::from(was_there);
        self.ftl.trim(lpn)
    }

    fn read(&mut self, lpn: Lpn, data: &mut [u8]) -> Result<bool, ErrorOf<Self>> {
        let place = self.place_of[lpn.index()];
        if place == NONE {
            return self.ftl.read(lpn, data);
        }
        let from = self.flash_page_of(place);
        let read = self.ftl.flash_mut().read(from, data, Cause::Host.unawaited());
        read.map(|()| true).map_err(FtlError::Flash)
    }

    fn write_pages(&mut self, pages: &[Lpn]) -> Result<(), ErrorOf<Self>> {
        pages.iter().try_for_each(|lpn| self.put(PageWrite::by_host(*lpn, &[])))
    }

    fn write_some(&mut self, batch: &PageBatch, which: Range<usize>) -> Result<(), ErrorOf<Self>> {
        for index in which {
            self.put(batch.page_write(index))?;
        }
        Ok(())
    }

    /// Folds are relocations of a stream of their own, and no host writes.
    fn counters(&self) -> Counters {
        let mut counters = self.ftl.counters();
        counters.host_writes += self.counts.writes;
        counters.host_writes -= self.counts.folds;
        counters.trims += self.trims;
        counters.trims -= self.hidden_trims;
        let (relocations, erases) = (self.counts.folds, self.counts.erases);
        counters.streams.push(StreamCounters { relocations, erases });
        counters
    }

    fn streams(&self) -> Vec<StreamUse> {
        let blocks = self.full + u32::from(self.next > 0);
        let mut streams = self.ftl.streams();
        streams.push(StreamUse { name: "slc", cold: false, blocks });
        streams
    }

    fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        match self.place_of[lpn.index()] {
            NONE => self.ftl.flash_page(lpn),
            place => Some(self.flash_page_of(place)),
        }
    }

    fn block_uses(&self) -> Vec<BlockUse> {
        self.ftl.block_uses()
    }

    /// Pages of the cache are not there for long enough to be disturbed.
    fn count_read(&mut self, page: Ppn) -> Result<(), ErrorOf<Self>> {
        if page.0 >= self.first {
            self.counts.read_hits += 1;
            return Ok(());
        }
        self.ftl.count_read(page)
    }

    fn work_while_idle(&mut self, pages: u32) -> Result<bool, ErrorOf<Self>> {
        let purpose = Cause::Fold.unawaited();
        if self.options.idle { self.fold(pages, purpose) } else { Ok(false) }
    }

    fn slc_counts(&self) -> Option<SlcCounts> {
        Some(self.counts)
    }

    fn memory_bytes(&self) -> MemoryBytes {
        let MemoryBytes { drive, policy } = self.ftl.memory_bytes();
        let tables = size_of_val(&*self.place_of) + size_of_val(&*self.pages);
        MemoryBytes { drive: drive + tables, policy }
    }

    fn metadata(&self) -> Metadata {
        self.ftl.metadata()
    }

    fn check(&self) -> Result<(), Broken> {
        for (lpn, &place) in self.place_of.iter().enumerate().filter(|(_, place)| **place != NONE) {
            if self.pages[place as usize].0 != lpn as u32 {
                return Err(Broken(format!("page {lpn} is not at its place in the SLC cache")));
            }
            if self.ftl.flash_page(Lpn(lpn as u32)).is_some() {
                return Err(Broken(format!(
                    "page {lpn} is in the SLC cache and in a normal block"
                )));
            }
        }
        let SlcCounts { writes, folds, dropped, .. } = self.counts;
        if writes - folds - dropped != self.held() as u64 {
            return Err(Broken("pages of the SLC cache are lost".into()));
        }
        self.ftl.check()
    }

    fn flash(&self) -> &F {
        self.ftl.flash()
    }

    fn flash_mut(&mut self) -> &mut F {
        self.ftl.flash_mut()
    }

    fn observer(&self) -> &O {
        self.ftl.observer()
    }

    fn observer_mut(&mut self) -> &mut O {
        self.ftl.observer_mut()
    }
}
