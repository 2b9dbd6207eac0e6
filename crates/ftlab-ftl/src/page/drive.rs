//! The state of a page-mapped drive: what policies may see.

use crate::bits::word_mask;
use crate::hardware;
use crate::page::policy::{Stream, StreamId};
use ftlab_flash::{BlockId, BlockOf, Geometry, Lpn, Ppn};
use std::collections::VecDeque;

/// "No page" in both mapping tables.
const NONE: u32 = u32::MAX;

/// What an erase block is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Erased, on the free list.
    Free,
    /// The block of a stream, which takes its pages.
    Open,
    /// Full: it may become a victim.
    Sealed,
}

/// What is kept of an erase block besides its count of valid pages.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block {
    pub(crate) phase: Phase,
    /// How many blocks had been allocated before it.
    pub(crate) allocated: u64,
    /// Write clock when it was sealed.
    pub(crate) sealed_at: u64,
}

/// The next page that a stream programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frontier {
    pub(crate) next: u32,
    /// One past the last page of the open block; both 0 if the stream has none.
    pub(crate) end: u32,
}

/// A walk over the valid pages of a block, between whose steps the drive may change otherwise.
#[derive(Debug)]
pub(crate) struct ValidPages {
    first: u32,
    end: u32,
    word: u32,
    /// Those of the word that are still to come.
    bits: u64,
}

impl ValidPages {
    /// The next valid page; there must be one.
    #[inline]
    pub(crate) fn next(&mut self, drive: &Drive) -> Ppn {
        while self.bits == 0 {
            self.word += 1;
            self.bits = drive.valid_word(self.word, self.first, self.end);
        }
        let page = Ppn(self.word * 64 + self.bits.trailing_zeros());
        self.bits &= self.bits - 1;
        page
    }
}

/// Mapping tables, erase blocks, free list and open blocks of one drive.
///
/// All pages of an open block count as valid until they are invalidated, whether they are programmed
/// yet or not: the write path then only ever has to subtract.
#[derive(Debug)]
pub struct Drive {
    geometry: Geometry,
    block_of: BlockOf,
    /// Logical page -> flash page.
    pub(crate) flash_page_of: Vec<u32>,
    /// Flash page -> logical page that was last programmed there.
    pub(crate) owner_of: Vec<u32>,
    /// One bit per flash page.
    pub(crate) valid_bits: Vec<u64>,
    pub(crate) valid_pages: Vec<u32>,
    /// Whose pages each block holds; meaningless while it is free.
    pub(crate) stream_of: Vec<StreamId>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) free: VecDeque<BlockId>,
    pub(crate) frontiers: Vec<Frontier>,
    /// Blocks that hold pages of each stream.
    pub(crate) stream_blocks: Vec<u32>,
    streams: Vec<Stream>,
    write_clock: u64,
    allocations: u64,
}

impl Drive {
    /// An erased drive.
    pub(crate) fn new(geometry: Geometry, logical_pages: u32, streams: Vec<Stream>) -> Self {
        let erased = Block { phase: Phase::Free, allocated: 0, sealed_at: 0 };
        Self {
            geometry,
            block_of: geometry.block_of(),
            flash_page_of: hardware::table(logical_pages as usize, NONE),
            owner_of: hardware::table(geometry.pages() as usize, NONE),
            valid_bits: hardware::table((geometry.pages() as usize).div_ceil(64), 0),
            valid_pages: vec![0; geometry.blocks() as usize],
            stream_of: vec![StreamId(0); geometry.blocks() as usize],
            blocks: vec![erased; geometry.blocks() as usize],
            free: (0..geometry.blocks()).map(BlockId).collect(),
            frontiers: vec![Frontier { next: 0, end: 0 }; streams.len()],
            stream_blocks: vec![0; streams.len()],
            streams,
            write_clock: 0,
            allocations: 0,
        }
    }

    /// The size of the flash.
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Pages in an erase block.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block()
    }

    /// Pages that the host can address.
    pub fn logical_pages(&self) -> u32 {
        self.flash_page_of.len() as u32
    }

    /// Host page writes so far: the logical time.
    #[inline]
    pub fn write_clock(&self) -> u64 {
        self.write_clock
    }

    /// Blocks on the free list.
    #[inline]
    pub fn free_blocks(&self) -> u32 {
        self.free.len() as u32
    }

    /// The streams of the policy, in order of their ids.
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Where `lpn` is, or `None` if it was never written or was trimmed.
    #[inline]
    pub fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        let page = self.flash_page_of[lpn.index()];
        (page != NONE).then_some(Ppn(page))
    }

    /// The block that holds `page`.
    #[inline]
    pub fn block_of(&self, page: Ppn) -> BlockId {
        self.block_of.page(page)
    }

    /// Valid pages of a sealed block; those of an open one include the pages not yet programmed.
    #[inline]
    pub fn valid_pages(&self, block: BlockId) -> u32 {
        self.valid_pages[block.index()]
    }

    /// What a block is doing.
    pub fn phase(&self, block: BlockId) -> Phase {
        self.blocks[block.index()].phase
    }

    /// The stream whose pages a block holds.
    #[inline]
    pub fn stream_of(&self, block: BlockId) -> StreamId {
        self.stream_of[block.index()]
    }

    /// How many blocks had been allocated before this one: orders blocks by allocation.
    pub fn allocated(&self, block: BlockId) -> u64 {
        self.blocks[block.index()].allocated
    }

    /// The write clock when a block was sealed.
    pub fn sealed_at(&self, block: BlockId) -> u64 {
        self.blocks[block.index()].sealed_at
    }

    /// Blocks that hold pages of `stream`, its open block included.
    pub fn stream_blocks(&self, stream: StreamId) -> u32 {
        self.stream_blocks[stream.index()]
    }

    /// Bytes of memory that the tables take.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.flash_page_of[..])
            + size_of_val(&self.owner_of[..])
            + size_of_val(&self.valid_bits[..])
            + size_of_val(&self.valid_pages[..])
            + size_of_val(&self.stream_of[..])
            + size_of_val(&self.blocks[..])
            + self.free.capacity() * size_of::<BlockId>()
    }

    #[inline]
    pub(crate) fn tick(&mut self) {
        self.write_clock += 1;
    }

    #[inline]
    pub(crate) fn has_room(&self, stream: StreamId) -> bool {
        let frontier = self.frontiers[stream.index()];
        frontier.next != frontier.end
    }

    /// The page that `stream` programs next; it must have room.
    #[inline]
    pub(crate) fn next_page(&self, stream: StreamId) -> Ppn {
        Ppn(self.frontiers[stream.index()].next)
    }

    /// Opens the block that has been free longest for `stream`, which has no room.
    pub(crate) fn open(&mut self, stream: StreamId) -> Option<BlockId> {
        debug_assert!(!self.has_room(stream));
        let id = self.free.pop_front()?;
        let pages = self.geometry.pages_per_block();
        let first = self.geometry.first_page(id).0;
        self.set_valid(first, first + pages);
        self.valid_pages[id.index()] = pages;
        let block = &mut self.blocks[id.index()];
        block.phase = Phase::Open;
        self.stream_of[id.index()] = stream;
        block.allocated = self.allocations;
        self.allocations += 1;
        self.stream_blocks[stream.index()] += 1;
        self.frontiers[stream.index()] = Frontier { next: first, end: first + pages };
        Some(id)
    }

    /// Closes the open block of `stream`, which is full.
    pub(crate) fn seal(&mut self, stream: StreamId) -> BlockId {
        debug_assert!(!self.has_room(stream));
        let none = Frontier { next: 0, end: 0 };
        let full = std::mem::replace(&mut self.frontiers[stream.index()], none);
        let id = self.block_of(Ppn(full.end - 1));
        let block = &mut self.blocks[id.index()];
        block.phase = Phase::Sealed;
        block.sealed_at = self.write_clock;
        id
    }

    /// Puts an erased block, which held no valid pages any more, on the free list.
    pub(crate) fn release(&mut self, id: BlockId) {
        debug_assert_eq!(self.valid_pages[id.index()], 0);
        self.blocks[id.index()].phase = Phase::Free;
        self.stream_blocks[self.stream_of[id.index()].index()] -= 1;
        self.free.push_back(id);
    }

    /// Maps `lpn` to the next page of `stream`.
    #[inline]
    pub(crate) fn append(&mut self, stream: StreamId, lpn: Lpn) {
        let frontier = &mut self.frontiers[stream.index()];
        let page = frontier.next;
        frontier.next += 1;
        self.owner_of[page as usize] = lpn.0;
        self.flash_page_of[lpn.index()] = page;
    }

    /// Makes the present version of `lpn` invalid and returns its block, if there is a version.
    #[inline]
    pub(crate) fn invalidate(&mut self, lpn: Lpn) -> Option<BlockId> {
        let page = self.flash_page_of[lpn.index()];
        if page == NONE {
            return None;
        }
        self.valid_bits[page as usize / 64] &= !(1 << (page % 64));
        let block = self.block_of(Ppn(page));
        self.valid_pages[block.index()] -= 1;
        Some(block)
    }

    /// Forgets where `lpn` is.
    pub(crate) fn unmap(&mut self, lpn: Lpn) {
        self.flash_page_of[lpn.index()] = NONE;
    }

    #[inline]
    pub(crate) fn owner(&self, page: Ppn) -> Lpn {
        Lpn(self.owner_of[page.index()])
    }

    pub(crate) fn is_valid(&self, page: Ppn) -> bool {
        self.valid_bits[page.index() / 64] >> (page.0 % 64) & 1 == 1
    }

    /// The valid pages of `block`, in page order.
    pub(crate) fn valid_pages_of(&self, block: BlockId) -> ValidPages {
        let first = self.geometry.first_page(block).0;
        let end = first + self.geometry.pages_per_block();
        let word = first / 64;
        ValidPages { first, end, word, bits: self.valid_word(word, first, end) }
    }

    /// The valid bits `word * 64 ..` of the flash, those outside `first..end` cleared.
    #[inline]
    fn valid_word(&self, word: u32, first: u32, end: u32) -> u64 {
        self.valid_bits[word as usize] & word_mask(word, first, end)
    }

    fn set_valid(&mut self, first: u32, end: u32) {
        for word in first / 64..=(end - 1) / 64 {
            self.valid_bits[word as usize] |= word_mask(word, first, end);
        }
    }

    /// Fetches the mapping entry of `lpn`.
    #[inline]
    pub(crate) fn prefetch_mapping(&self, lpn: Lpn) {
        hardware::prefetch(&self.flash_page_of, lpn.index());
    }

    /// Fetches the valid bit of the present version of `lpn`, whose mapping entry is at hand, and
    /// returns its block.
    #[inline]
    pub(crate) fn prefetch_valid_bit(&self, lpn: Lpn) -> Option<BlockId> {
        let page = *self.flash_page_of.get(lpn.index()).filter(|&&page| page != NONE)?;
        hardware::prefetch(&self.valid_bits, page as usize / 64);
        Some(self.block_of(Ppn(page)))
    }
}
