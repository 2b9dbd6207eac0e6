//! The state of a page-mapped drive: what policies may see.

use crate::bits::word_mask;
use crate::page::FreeBlock;
use crate::page::drive::wear::Wear;
use crate::page::gc_schedule::MILLION;
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Archive, State, StateError, hardware};
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
    /// Chosen for a collection that goes on in steps.
    Victim,
    /// Out of use: worn out, or bad from birth.
    Retired,
}

impl State for Phase {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        const PHASES: [Phase; 5] =
            [Phase::Free, Phase::Open, Phase::Sealed, Phase::Victim, Phase::Retired];
        let mut number = *self as u8;
        number.transfer(archive)?;
        *self = *PHASES.get(usize::from(number)).ok_or(StateError::Value(number.into()))?;
        Ok(())
    }
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

state!(Block { phase, allocated, sealed_at });

/// The next page that a stream programs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Frontier {
    pub(crate) next: u32,
    /// One past the last page of the open block; both 0 if the stream has none.
    pub(crate) end: u32,
}

state!(Frontier { next, end });

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
        self.advance(drive, |_| {})
    }

    /// The next valid page, for a walk that goes ahead of another: fetches what tells the owners of the
    /// pages after it.
    #[inline]
    pub(crate) fn next_ahead(&mut self, drive: &Drive) -> Ppn {
        self.advance(drive, |word| drive.prefetch_owners(word + OWNERS_AHEAD))
    }

    #[inline]
    fn advance(&mut self, drive: &Drive, on_word: impl Fn(u32)) -> Ppn {
        while self.bits == 0 {
            self.word += 1;
            on_word(self.word);
            self.bits = drive.valid_word(self.word, self.first, self.end);
        }
        let page = Ppn(self.word * 64 + self.bits.trailing_zeros());
        self.bits &= self.bits - 1;
        page
    }
}

/// How many words of valid bits ahead of a walk the owners of their pages are fetched.
const OWNERS_AHEAD: u32 = 4;

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
    retired_blocks: u32,
    /// Logical pages that hold something.
    pub(crate) mapped_pages: u32,
    pub(crate) wear: Wear,
    /// Which free block is opened next.
    pub(crate) free_block: FreeBlock,
    streams: Vec<Stream>,
    write_clock: u64,
    pub(crate) allocations: u64,
}

// The mapping is saved apart, a part at a time, and tells the owners of valid pages.
state!(Drive {
    valid_bits, valid_pages, stream_of, blocks, free, frontiers, stream_blocks, retired_blocks,
    mapped_pages, wear, write_clock, allocations
} constant geometry, block_of, flash_page_of, owner_of, free_block, streams);

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
            retired_blocks: 0,
            mapped_pages: 0,
            wear: Wear::new(geometry.blocks()),
            free_block: FreeBlock::Fifo,
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

    /// How often a block was erased.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.wear.erases(block)
    }

    /// Blocks out of use.
    pub fn retired_blocks(&self) -> u32 {
        self.retired_blocks
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

    /// Blocks that have been allocated so far.
    pub fn allocations(&self) -> u64 {
        self.allocations
    }

    /// The open block of `stream`, if it has one.
    #[inline]
    pub fn open_block(&self, stream: StreamId) -> Option<BlockId> {
        let frontier = self.frontiers[stream.index()];
        (frontier.next != frontier.end).then(|| self.block_of(Ppn(frontier.next)))
    }

    /// Pages of a block that have been programmed since it was erased.
    pub fn programmed_pages(&self, block: BlockId) -> u32 {
        match self.phase(block) {
            Phase::Free => 0,
            Phase::Open => {
                let next = self.frontiers[self.stream_of(block).index()].next;
                next - self.geometry.first_page(block).0
            }
            Phase::Sealed | Phase::Victim | Phase::Retired => self.pages_per_block(),
        }
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

    /// Pages that the open block of `stream` still takes.
    pub(crate) fn room(&self, stream: StreamId) -> u32 {
        let frontier = self.frontiers[stream.index()];
        frontier.end - frontier.next
    }

    /// The page that `stream` programs next; it must have room.
    #[inline]
    pub(crate) fn next_page(&self, stream: StreamId) -> Ppn {
        Ppn(self.frontiers[stream.index()].next)
    }

    /// Opens a free block for `stream`, which has no room.
    pub(crate) fn open(&mut self, stream: StreamId) -> Option<BlockId> {
        debug_assert!(!self.has_room(stream));
        let id = self.take_free()?;
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

    fn take_free(&mut self) -> Option<BlockId> {
        let free = self.free.iter().copied();
        let place = match self.free_block {
            FreeBlock::Fifo => 0,
            FreeBlock::LeastWorn => self.wear.least_worn(free)?,
        };
        self.free.remove(place)
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

    /// Takes note that `block` has been chosen for a collection that goes on in steps.
    pub(crate) fn mark_victim(&mut self, block: BlockId) {
        debug_assert_eq!(self.phase(block), Phase::Sealed);
        self.blocks[block.index()].phase = Phase::Victim;
    }

    /// Makes the pages `word * 64 ..` of `victim` whose bits are set invalid: they have moved.
    pub(crate) fn clear_valid(&mut self, victim: BlockId, word: u32, bits: u64) {
        self.valid_bits[word as usize] &= !bits;
        self.valid_pages[victim.index()] -= bits.count_ones();
    }

    /// Puts an erased block, which held no valid pages any more, on the free list.
    pub(crate) fn release(&mut self, id: BlockId) {
        debug_assert_eq!(self.valid_pages[id.index()], 0);
        self.blocks[id.index()].phase = Phase::Free;
        self.stream_blocks[self.stream_of[id.index()].index()] -= 1;
        self.free.push_back(id);
        let blocks = &self.blocks;
        self.wear.count(id, |index| blocks[index].phase != Phase::Retired);
    }

    /// Takes a collected block, which held no valid pages any more, out of use.
    pub(crate) fn retire(&mut self, id: BlockId) {
        self.stream_blocks[self.stream_of[id.index()].index()] -= 1;
        self.retire_block(id);
    }

    fn retire_block(&mut self, id: BlockId) {
        self.blocks[id.index()].phase = Phase::Retired;
        self.retired_blocks += 1;
        let blocks = &self.blocks;
        self.wear.retire(id, |index| blocks[index].phase != Phase::Retired);
    }

    /// Takes blocks out of use that are bad from birth; none has been used.
    pub(crate) fn retire_bad(&mut self, is_bad: impl Fn(BlockId) -> bool) {
        self.free.retain(|&block| !is_bad(block));
        let blocks = (0..self.geometry.blocks()).map(BlockId);
        blocks.filter(|&block| is_bad(block)).for_each(|block| self.retire_block(block));
    }

    /// Gives up the pages of `stream`'s open block that are not programmed yet: they become invalid.
    /// Returns the block and how many they were.
    pub(crate) fn give_up(&mut self, stream: StreamId) -> (BlockId, u32) {
        let frontier = &mut self.frontiers[stream.index()];
        let (next, end) = (frontier.next, frontier.end);
        frontier.next = end;
        let block = self.block_of(Ppn(end - 1));
        for word in next / 64..=(end - 1) / 64 {
            self.valid_bits[word as usize] &= !word_mask(word, next, end);
        }
        self.valid_pages[block.index()] -= end - next;
        (block, end - next)
    }

    /// Finds the valid pages of `block` anew, some of which have moved.
    pub(crate) fn recount(&mut self, block: BlockId) {
        let first = self.geometry.first_page(block).0;
        let mut valid_pages = 0;
        for page in first..first + self.pages_per_block() {
            let owner = self.owner_of[page as usize] as usize;
            let is_valid = self.is_valid(Ppn(page)) && self.flash_page_of.get(owner) == Some(&page);
            valid_pages += u32::from(is_valid);
            if !is_valid {
                self.valid_bits[page as usize / 64] &= !(1 << (page % 64));
            }
        }
        self.valid_pages[block.index()] = valid_pages;
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
        self.mapped_pages -= 1;
    }

    /// Whether at least `per_million` of a million pages that are programmed are invalid; blocks out of
    /// use do not count.
    pub(crate) fn has_garbage(&self, per_million: u32) -> bool {
        let used = self.geometry.blocks() - self.retired_blocks - self.free_blocks();
        let room = self.frontiers.iter().map(|frontier| u64::from(frontier.end - frontier.next));
        let pages = u64::from(used) * u64::from(self.pages_per_block());
        let programmed = pages - room.sum::<u64>();
        let invalid = programmed - u64::from(self.mapped_pages);
        invalid * MILLION as u64 >= u64::from(per_million) * programmed
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

    /// What the valid pages of a full block hold, in page order.
    pub(crate) fn valid_owners(&self, block: BlockId) -> impl Iterator<Item = Lpn> + '_ {
        let first = self.geometry.first_page(block).0;
        let pages = (first..first + self.pages_per_block()).map(Ppn);
        pages.filter(|&page| self.is_valid(page)).map(|page| self.owner(page))
    }

    /// The valid bits `word * 64 ..` of the flash, those outside `block` cleared.
    pub(crate) fn valid_word_of(&self, block: BlockId, word: u32) -> u64 {
        let first = self.geometry.first_page(block).0;
        self.valid_word(word, first, first + self.geometry.pages_per_block())
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

    /// Fetches the first owners of the pages of `block` that a walk comes to.
    pub(crate) fn prefetch_first_owners(&self, block: BlockId) {
        let word = self.geometry.first_page(block).0 / 64;
        (word..=word + OWNERS_AHEAD).for_each(|word| self.prefetch_owners(word));
    }

    /// Fetches the owners of the pages `word * 64 ..`.
    #[inline]
    fn prefetch_owners(&self, word: u32) {
        const OWNERS_PER_LINE: usize = 16;
        let first = word as usize * 64;
        for owner in (first..first + 64).step_by(OWNERS_PER_LINE) {
            hardware::prefetch(&self.owner_of, owner);
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
