//! Both maps of a hybrid-mapped drive, its erase blocks, and merges.

use crate::bits::Bits;
use crate::page::DriveConfig;
use crate::stream::{Stream, StreamId};
use crate::{Counters, FtlError, Observer, PageWrite, memory};
use ftlab_flash::{BlockId, BlockOf, Cause, Flash, Geometry, Lpn, Merge, Page, Ppn, Purpose};
use std::collections::VecDeque;
use std::ops::Range;

/// "Not in the log".
const NONE: u32 = Merge::NOT_IN_LOG;

/// Entries of the map of the log that memory hands out at once.
const ENTRIES_PER_LINE: usize = 64 / size_of::<u32>();

/// The data blocks, which are the first stream of every hybrid-mapped FTL.
pub(crate) const DATA: StreamId = StreamId(0);

/// As many logical pages as an erase block holds, which share a data block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LogicalBlock(pub u32);

/// What an operation over `F` returns.
pub type Outcome<T, F> = Result<T, FtlError<<F as Flash>::Error>>;

/// The map of data blocks, the map of the log, erased blocks, counters, and the flash below.
///
/// A page in the log is valid while the map of the log names it, so that rewriting, trimming and
/// merging a page make its old version invalid without looking for it. A controller would keep the
/// map of the log as a table of the log's pages; ours has an entry for each logical page, for speed.
pub struct HybridDrive<F, O> {
    pub(crate) flash: F,
    pub(crate) observer: O,
    pub(crate) counters: Counters,
    /// Whether a page write of the host waits for the present one.
    pub(crate) is_awaited: bool,
    geometry: Geometry,
    block_of: BlockOf,
    /// Logical block -> data block.
    pub(crate) data_blocks: Vec<BlockId>,
    /// Logical page -> flash page of its newest version, if that is in the log.
    pub(crate) log_page_of: Vec<u32>,
    /// Logical pages that hold something.
    pub(crate) live: Bits,
    /// Logical pages whose place in their data block has been programmed since its erase.
    pub(crate) programmed: Bits,
    /// Flash page of the log -> logical page that was last programmed there.
    pub(crate) owner_of: Vec<u32>,
    /// Pages of each log block that are programmed.
    pub(crate) log_pages: Vec<u32>,
    pub(crate) stream_of: Vec<StreamId>,
    pub(crate) free: VecDeque<BlockId>,
    pub(crate) streams: Vec<Stream>,
    pub(crate) stream_blocks: Vec<u32>,
}

impl<F: Flash, O: Observer> HybridDrive<F, O> {
    /// An erased drive, each logical block with a data block of its own.
    pub(crate) fn new(config: &DriveConfig, streams: Vec<Stream>, flash: F, observer: O) -> Self {
        let DriveConfig { geometry, logical_pages, .. } = *config;
        let data_blocks = logical_pages.div_ceil(geometry.pages_per_block());
        let mut free = VecDeque::with_capacity(geometry.blocks() as usize);
        free.extend((data_blocks..geometry.blocks()).map(BlockId));
        let mut stream_blocks = vec![0; streams.len()];
        stream_blocks[DATA.index()] = data_blocks;
        Self {
            flash,
            observer,
            counters: Counters::new(streams.len()),
            is_awaited: false,
            geometry,
            block_of: geometry.block_of(),
            data_blocks: (0..data_blocks).map(BlockId).collect(),
            log_page_of: memory::table(logical_pages as usize, NONE),
            live: Bits::new(logical_pages),
            programmed: Bits::new(logical_pages),
            owner_of: memory::table(geometry.pages() as usize, 0),
            log_pages: vec![0; geometry.blocks() as usize],
            stream_of: vec![DATA; geometry.blocks() as usize],
            free,
            streams,
            stream_blocks,
        }
    }

    /// The size of the flash.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Pages that the host can address.
    pub fn logical_pages(&self) -> u32 {
        self.log_page_of.len() as u32
    }

    /// The logical block that `lpn` belongs to.
    #[inline]
    pub fn logical_block(&self, lpn: Lpn) -> LogicalBlock {
        LogicalBlock(self.block_of.page(Ppn(lpn.0)).0)
    }

    /// The place of `lpn` in its logical block.
    #[inline]
    pub fn offset(&self, lpn: Lpn) -> u32 {
        lpn.0 - self.logical_block(lpn).0 * self.geometry.pages_per_block()
    }

    /// Whether `lpn` can be programmed in its data block: its place there is clean, and no version of
    /// it is in the log.
    #[inline]
    pub fn is_clean(&self, lpn: Lpn) -> bool {
        !self.programmed.get(lpn.0) && self.log_page_of[lpn.index()] == NONE
    }

    /// Where the newest version of `lpn` is, if it holds anything.
    #[inline]
    pub fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        let log_page = self.log_page_of[lpn.index()];
        if log_page != NONE {
            return Some(Ppn(log_page));
        }
        self.live.get(lpn.0).then(|| self.data_page(lpn))
    }

    /// The place of `lpn` in its data block.
    #[inline]
    fn data_page(&self, lpn: Lpn) -> Ppn {
        let logical = self.logical_block(lpn);
        let first = self.geometry.first_page(self.data_blocks[logical.0 as usize]);
        Ppn(first.0 + lpn.0 - logical.0 * self.geometry.pages_per_block())
    }

    /// Where the newest version of `lpn` is, if that is in the log.
    #[inline]
    pub fn log_page(&self, lpn: Lpn) -> Option<Ppn> {
        let page = self.log_page_of[lpn.index()];
        (page != NONE).then_some(Ppn(page))
    }

    /// The block of the flash page `page`, and the place in it.
    #[inline]
    pub fn place_of(&self, page: Ppn) -> (BlockId, u32) {
        let block = self.block_of.page(page);
        (block, page.0 - self.geometry.first_page(block).0)
    }

    /// The stream that `block` belongs to, unless it is free.
    #[inline]
    pub fn stream_of(&self, block: BlockId) -> StreamId {
        self.stream_of[block.index()]
    }

    /// Whether the log block `block` has an erased page.
    #[inline]
    pub fn has_room(&self, block: BlockId) -> bool {
        self.log_pages[block.index()] < self.geometry.pages_per_block()
    }

    /// The programmed pages of the log block `block`, in order.
    #[inline]
    pub fn pages_of(&self, block: BlockId) -> Range<u32> {
        let first = self.geometry.first_page(block).0;
        first..first + self.log_pages[block.index()]
    }

    /// What the programmed page `page` of the log holds, if that is the newest version.
    #[inline]
    pub fn valid(&self, page: Ppn) -> Option<Lpn> {
        let owner = self.owner_of[page.index()];
        (self.log_page_of[owner as usize] == page.0).then_some(Lpn(owner))
    }

    /// Valid pages of the log block `block`.
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.pages_of(block).map(|page| u32::from(self.valid(Ppn(page)).is_some())).sum()
    }

    /// Whether no page of the log block `block` is valid.
    pub fn is_dead(&self, block: BlockId) -> bool {
        self.pages_of(block).all(|page| self.valid(Ppn(page)).is_none())
    }

    /// Takes an erased block for `stream`.
    pub fn open(&mut self, stream: StreamId) -> Outcome<BlockId, F> {
        let block = self.free.pop_front().ok_or(FtlError::NoFreeBlock)?;
        self.stream_of[block.index()] = stream;
        self.stream_blocks[stream.index()] += 1;
        Ok(block)
    }

    /// Hands `block` over to `stream` with all that it holds.
    pub fn hand_over(&mut self, block: BlockId, stream: StreamId) {
        let from = std::mem::replace(&mut self.stream_of[block.index()], stream);
        self.stream_blocks[from.index()] -= 1;
        self.stream_blocks[stream.index()] += 1;
    }

    /// What an operation of the present write is for.
    #[inline]
    fn purpose(&self, cause: Cause) -> Purpose {
        Purpose { cause, is_awaited: self.is_awaited }
    }

    /// Erases `block`, which holds no newest version any more.
    pub fn erase(&mut self, block: BlockId, cause: Cause) -> Outcome<(), F> {
        self.flash.erase(block, self.purpose(cause)).map_err(FtlError::Flash)?;
        self.observer.erase(block, cause);
        let stream = self.stream_of(block).index();
        self.counters.streams[stream].erases += 1;
        self.stream_blocks[stream] -= 1;
        self.log_pages[block.index()] = 0;
        self.free.push_back(block);
        Ok(())
    }

    /// Writes a page that is clean to its data block.
    #[inline]
    pub(crate) fn write_in_place(&mut self, write: PageWrite<'_>) -> Outcome<(), F> {
        let lpn = write.page.lpn;
        let to = self.data_page(lpn);
        self.flash.program(to, write.page, write.purpose).map_err(FtlError::Flash)?;
        self.programmed.set(lpn.0);
        self.live.set(lpn.0);
        self.observer.host_write(lpn, to, DATA);
        Ok(())
    }

    /// Writes a page to the log block `block`, which has room.
    #[inline]
    pub fn write_to(&mut self, block: BlockId, write: PageWrite<'_>) -> Outcome<(), F> {
        let lpn = write.page.lpn;
        let to = self.next_page(block);
        self.flash.program(to, write.page, write.purpose).map_err(FtlError::Flash)?;
        self.append(block, to, lpn);
        self.live.set(lpn.0);
        self.observer.host_write(lpn, to, self.stream_of(block));
        Ok(())
    }

    /// Moves the valid page `from` of the log, which holds `lpn`, to the log block `block`.
    pub fn relocate(&mut self, from: Ppn, lpn: Lpn, block: BlockId) -> Outcome<(), F> {
        let to = self.next_page(block);
        let (page, purpose) = (Page::copy(lpn, from), self.purpose(Cause::Move));
        self.flash.program(to, page, purpose).map_err(FtlError::Flash)?;
        self.append(block, to, lpn);
        let left = self.stream_of(self.block_of.page(from));
        self.counters.streams[left.index()].relocations += 1;
        self.observer.relocation(lpn, from, to, self.stream_of(block));
        Ok(())
    }

    #[inline]
    fn next_page(&self, block: BlockId) -> Ppn {
        Ppn(self.pages_of(block).end)
    }

    #[inline]
    fn append(&mut self, block: BlockId, to: Ppn, lpn: Lpn) {
        self.log_pages[block.index()] += 1;
        self.owner_of[to.index()] = lpn.0;
        self.log_page_of[lpn.index()] = to.0;
    }

    /// Gives up the content of `lpn`.
    pub(crate) fn trim(&mut self, lpn: Lpn) {
        if self.live.get(lpn.0) {
            self.counters.trims += 1;
            self.observer.trim(lpn);
        }
        self.live.clear(lpn.0);
        self.log_page_of[lpn.index()] = NONE;
    }

    /// Counts `victim` as reclaimed.
    pub fn count_reclaim(&mut self, victim: BlockId) {
        let valid_pages = self.valid_pages(victim);
        self.counters.collections += 1;
        let stream = self.stream_of(victim);
        self.observer.collection(victim, stream, valid_pages, Cause::Move);
    }

    /// Copies the newest versions of all pages of `logical`, in order, to a fresh block, which
    /// becomes its data block.
    pub fn full_merge(&mut self, logical: LogicalBlock) -> Outcome<(), F> {
        self.prefetch_maps(logical);
        let to = self.open(DATA)?;
        self.gather(logical, 0, to)?;
        self.counters.merges.full += 1;
        self.replace_data_block(logical, to)
    }

    /// Merges the logical blocks of all valid pages of the log block `block`, in order, and does `then` after each.
    ///
    /// While one is merged, the maps of the next are fetched.
    #[inline]
    pub fn merge_all(
        &mut self,
        block: BlockId,
        mut then: impl FnMut(&mut Self, LogicalBlock) -> Outcome<(), F>,
    ) -> Outcome<(), F> {
        let mut pages = self.pages_of(block).map(Ppn);
        let mut merged = 0;
        let owner = |drive: &Self, page| Some(drive.logical_block(drive.valid(page)?));
        let mut next = pages.find_map(|page| owner(self, page));
        while let Some(logical) = next {
            // By then no page of this one is valid in the log.
            next = pages.find_map(|page| owner(self, page).filter(|&other| other != logical));
            if let Some(next) = next {
                self.prefetch_maps(next);
            }
            self.full_merge(logical)?;
            merged += 1;
            then(self, logical)?;
        }
        self.observer.emptied_by_merges(merged);
        Ok(())
    }

    /// Makes `block`, which holds the first pages of `logical` in order and valid, its data block;
    /// the pages after them are copied. A partial merge, or a switch if there is nothing to copy.
    pub fn adopt(&mut self, logical: LogicalBlock, block: BlockId) -> Outcome<(), F> {
        let copies = self.gather(logical, self.log_pages[block.index()], block)?;
        let merges = &mut self.counters.merges;
        *(if copies > 0 { &mut merges.partial } else { &mut merges.switch }) += 1;
        self.hand_over(block, DATA);
        self.log_pages[block.index()] = 0;
        self.replace_data_block(logical, block)
    }

    /// Whether every programmed page of the log block `block` is the newest version of the page of `logical` whose
    /// place that is.
    pub fn is_in_place(&self, logical: LogicalBlock, block: BlockId) -> bool {
        let first = self.pages_in(logical).start;
        let newest = self.pages_of(block).map(|page| self.valid(Ppn(page)));
        newest.zip(first..).all(|(newest, place)| newest == Some(Lpn(place)))
    }

    /// Gives up the log block `block`, all of whose pages are of `logical`: it becomes the data block if they are in
    /// place, and is erased after a full merge otherwise.
    pub fn end(&mut self, logical: LogicalBlock, block: BlockId) -> Outcome<(), F> {
        if self.is_in_place(logical, block) {
            self.adopt(logical, block)
        } else {
            self.full_merge(logical)?;
            self.erase(block, Cause::Merge)
        }
    }

    /// Copies the newest versions of the pages of `logical` from `offset` on to their places in `to`.
    fn gather(&mut self, logical: LogicalBlock, offset: u32, to: BlockId) -> Outcome<u32, F> {
        let pages = self.pages_in(logical);
        let data = self.geometry.first_page(self.data_blocks[logical.0 as usize]).0;
        let to = self.geometry.first_page(to).0;
        let purpose = self.purpose(Cause::Merge);
        let mut copies = 0;
        for first in (pages.start + offset..pages.end).step_by(Merge::PAGES_MAX as usize) {
            let (place, end) = (first - pages.start, pages.end.min(first + Merge::PAGES_MAX));
            let merge = Merge {
                lpn: Lpn(first),
                data: Ppn(data + place),
                to: Ppn(to + place),
                live: self.live.bits(first, end),
                log_pages: &self.log_page_of[first as usize..end as usize],
            };
            self.flash.merge(merge, purpose).map_err(FtlError::Flash)?;
            self.observer.merge(merge);
            copies += merge.pages();
        }
        self.counters.merges.copies += u64::from(copies);
        Ok(copies)
    }

    /// Maps all pages of `logical` to `block`, which holds their newest versions.
    fn replace_data_block(&mut self, logical: LogicalBlock, block: BlockId) -> Outcome<(), F> {
        let pages = self.pages_in(logical);
        self.log_page_of[pages.start as usize..pages.end as usize].fill(NONE);
        self.programmed.copy(&self.live, pages.start, pages.end);
        let old = std::mem::replace(&mut self.data_blocks[logical.0 as usize], block);
        self.erase(old, Cause::Merge)
    }

    #[inline]
    pub(crate) fn pages_in(&self, logical: LogicalBlock) -> Range<u32> {
        let pages_per_block = self.geometry.pages_per_block();
        let first = logical.0 * pages_per_block;
        first..(first + pages_per_block.min(self.logical_pages() - first))
    }

    /// Bytes of memory that the tables take.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.data_blocks[..])
            + size_of_val(&self.log_page_of[..])
            + self.live.bytes()
            + self.programmed.bytes()
            + size_of_val(&self.owner_of[..])
            + size_of_val(&self.log_pages[..])
            + size_of_val(&self.stream_of[..])
            + self.free.capacity() * size_of::<BlockId>()
    }

    /// Fetches what is known of the pages of `logical`.
    #[inline]
    fn prefetch_maps(&self, logical: LogicalBlock) {
        let pages = self.pages_in(logical);
        memory::prefetch(&self.data_blocks, logical.0 as usize);
        self.live.prefetch(pages.start);
        for lpn in pages.step_by(ENTRIES_PER_LINE) {
            memory::prefetch(&self.log_page_of, lpn as usize);
        }
    }

    /// Fetches what is known of `lpn`.
    #[inline]
    pub(crate) fn prefetch_mapping(&self, lpn: Lpn) {
        memory::prefetch(&self.log_page_of, lpn.index());
        self.live.prefetch(lpn.0);
        self.programmed.prefetch(lpn.0);
    }
}
