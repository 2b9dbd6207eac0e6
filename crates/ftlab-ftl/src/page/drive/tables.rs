//! The state of a page-mapped drive, and what policies may see of it.

use crate::memory;
use crate::page::config::DriveConfig;
use crate::page::drive::block::{Block, Frontier, Phase};
use crate::page::drive::paged_tables::PagedTables;
use crate::page::drive::wear::{FreeBlock, Wear};
use crate::state::state;
use crate::stream::{OpenSet, Stream, StreamId};
use ftlab_flash::{BlockId, BlockOf, Geometry, Lpn, Ppn};
use std::collections::VecDeque;

/// "No page" in both mapping tables.
pub(super) const NONE: u32 = u32::MAX;

/// What a policy takes the streams of a drive for, which may be more than its own.
#[derive(Debug, Clone)]
pub struct SeenAs {
    /// Streams of the policy.
    pub(crate) own: usize,
    /// Stream -> the stream of the policy.
    pub(crate) streams: Vec<StreamId>,
    /// Set of open blocks x stream of the policy -> stream, or [`StreamId::NONE`].
    pub(crate) sets: Vec<StreamId>,
}

impl SeenAs {
    /// Streams are what they are.
    fn themselves(streams: &[Stream]) -> Self {
        let ids: Vec<_> = (0..streams.len()).map(|stream| StreamId(stream as u8)).collect();
        Self { own: ids.len(), streams: ids.clone(), sets: ids }
    }
}

/// Mapping tables, erase blocks, free list and open blocks of one drive.
///
/// All pages of an open block count as valid until they are invalidated, whether they are programmed
/// yet or not: the write path then only ever has to subtract.
#[derive(Debug)]
pub struct DriveState {
    pub(super) geometry: Geometry,
    pub(super) block_of: BlockOf,
    /// Logical page -> flash page; empty if that is on flash.
    pub(super) flash_page_of: Vec<u32>,
    /// Flash page -> logical page that was last programmed there; empty if that is on flash.
    pub(super) owner_of: Vec<u32>,
    /// What is kept instead of both if they are on flash.
    pub(super) paged: Option<Box<PagedTables>>,
    /// Pages that are mapped: those of the host, and those of the map itself.
    pub(super) all_pages: u32,
    /// One bit per flash page.
    pub(super) valid_bits: Vec<u64>,
    pub(super) valid_pages: Vec<u32>,
    /// Whose pages each block holds; meaningless while it is free.
    pub(super) stream_of: Vec<StreamId>,
    pub(super) blocks: Vec<Block>,
    pub(super) free: VecDeque<BlockId>,
    pub(super) frontiers: Vec<Frontier>,
    /// Blocks that hold pages of each stream.
    pub(super) stream_blocks: Vec<u32>,
    pub(super) retired_blocks: u32,
    /// Logical pages that hold something.
    pub(super) mapped_pages: u32,
    pub(super) wear: Wear,
    /// Which free block is opened next.
    pub(super) free_block: FreeBlock,
    pub(super) streams: Vec<Stream>,
    pub(super) seen_as: Box<SeenAs>,
    pub(super) write_clock: u64,
    pub(super) allocations: u64,
    /// Pages of the map itself, whose numbers follow those of the host.
    pub(super) map_pages: u32,
}

// The mapping is saved apart, a part at a time, and tells the owners of valid pages.
state!(DriveState {
    valid_bits, valid_pages, stream_of, blocks, free, frontiers, stream_blocks, retired_blocks,
    mapped_pages, wear, write_clock, allocations
} constant geometry, block_of, flash_page_of, owner_of, paged, all_pages, free_block, streams, seen_as, map_pages);

impl DriveState {
    /// An erased drive.
    pub(crate) fn new(config: &DriveConfig, streams: Vec<Stream>) -> Self {
        let mut drive = Self::paged(config, streams);
        drive.page_in();
        drive
    }

    /// One whose mapping is on flash, and in memory in part.
    pub(crate) fn paged(config: &DriveConfig, streams: Vec<Stream>) -> Self {
        let geometry = config.geometry;
        let erased = Block { phase: Phase::Free, allocated: 0, sealed_at: 0 };
        Self {
            geometry,
            block_of: geometry.block_of(),
            flash_page_of: Vec::new(),
            owner_of: Vec::new(),
            paged: Some(Box::new(PagedTables::new(config, streams.len()))),
            all_pages: config.logical_pages + config.map_pages,
            valid_bits: memory::table((geometry.pages() as usize).div_ceil(64), 0),
            valid_pages: vec![0; geometry.blocks() as usize],
            stream_of: vec![StreamId(0); geometry.blocks() as usize],
            blocks: vec![erased; geometry.blocks() as usize],
            free: (0..geometry.blocks()).map(BlockId).collect(),
            frontiers: vec![Frontier::NONE; streams.len()],
            seen_as: Box::new(SeenAs::themselves(&streams)),
            stream_blocks: vec![0; streams.len()],
            retired_blocks: 0,
            mapped_pages: 0,
            wear: Wear::new(geometry.blocks()),
            free_block: config.wear.free_block,
            streams,
            write_clock: 0,
            allocations: 0,
            map_pages: config.map_pages,
        }
    }

    /// Keeps all of its mapping in memory, which is restored next.
    pub(crate) fn page_in(&mut self) {
        self.paged = None;
        self.flash_page_of = memory::table(self.all_pages as usize, NONE);
        self.owner_of = memory::table(self.geometry.pages() as usize, NONE);
    }

    /// The size of the flash.
    #[inline]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Pages in an erase block.
    #[inline]
    pub fn pages_per_block(&self) -> u32 {
        self.geometry.pages_per_block()
    }

    /// Pages that the host can address.
    #[inline]
    pub fn logical_pages(&self) -> u32 {
        self.all_pages - self.map_pages
    }

    /// Pages that are mapped: those of the host, and those of the map itself.
    #[inline]
    pub(crate) fn all_pages(&self) -> u32 {
        self.all_pages
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

    /// The blocks that are free, in order of release.
    pub(crate) fn free_list(&self) -> &VecDeque<BlockId> {
        &self.free
    }

    /// How often a block was erased.
    #[inline]
    pub fn erases(&self, block: BlockId) -> u32 {
        self.wear.erases(block)
    }

    /// Blocks out of use.
    #[inline]
    pub fn retired_blocks(&self) -> u32 {
        self.retired_blocks
    }

    /// The streams of the policy, in order of their ids.
    #[inline]
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// Where `lpn` is, or `None` if it was never written or was trimmed. Its entry must be in memory.
    #[inline]
    pub fn flash_page(&self, lpn: Lpn) -> Option<Ppn> {
        let page = self.place(lpn);
        (page != NONE).then_some(Ppn(page))
    }

    #[inline]
    pub(super) fn place(&self, lpn: Lpn) -> u32 {
        match self.flash_page_of.get(lpn.index()) {
            Some(page) => *page,
            None => self.place_in_part(lpn),
        }
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

    /// [`valid_pages`](Self::valid_pages) of every block.
    #[inline]
    pub(crate) fn valid_pages_of_blocks(&self) -> &[u32] {
        &self.valid_pages
    }

    /// What a block is doing.
    #[inline]
    pub fn phase(&self, block: BlockId) -> Phase {
        self.blocks[block.index()].phase
    }

    /// Whether a block holds pages of the map itself; one that is free held some last.
    #[inline]
    pub(crate) fn holds_map(&self, block: BlockId) -> bool {
        self.map_pages > 0 && self.frontier_of(block).index() + 1 == self.streams.len()
    }

    /// All blocks but those that hold pages of the map itself: those that a policy has to do with.
    pub fn host_blocks(&self) -> impl Iterator<Item = BlockId> + Clone {
        (0..self.geometry.blocks()).map(BlockId).filter(|&block| !self.holds_map(block))
    }

    /// The stream whose pages a block holds, as the policy names it.
    #[inline]
    pub fn stream_of(&self, block: BlockId) -> StreamId {
        self.seen_as.streams[self.stream_of[block.index()].index()]
    }

    /// The stream whose pages a block holds, which may be one of several that the policy takes for one:
    /// see [`Directed`](crate::page::Directed).
    #[inline]
    pub(crate) fn frontier_of(&self, block: BlockId) -> StreamId {
        self.stream_of[block.index()]
    }

    /// Lets the policy take streams for its own.
    pub(crate) fn show_as(&mut self, seen_as: SeenAs) {
        debug_assert_eq!(seen_as.streams.len(), self.streams.len());
        *self.seen_as = seen_as;
    }

    /// Whether the policy takes several streams for one.
    fn is_shown_otherwise(&self) -> bool {
        self.seen_as.own != self.streams.len()
    }

    /// The stream that `stream`, as the policy names it, is in a set of open blocks; none if it has no block
    /// there.
    pub(crate) fn in_set(&self, set: OpenSet, stream: StreamId) -> Option<StreamId> {
        let in_set = self.seen_as.sets[usize::from(set.0) * self.seen_as.own + stream.index()];
        (in_set != StreamId::NONE).then_some(in_set)
    }

    /// The stream that the first stream of the policy is in a set of open blocks; the others follow in order where
    /// each takes host writes and moved pages.
    #[inline]
    pub(crate) fn first_in(&self, set: OpenSet) -> StreamId {
        if set == OpenSet::ONLY {
            return StreamId(0);
        }
        let first = self.in_set(set, StreamId(0));
        debug_assert!(first.is_some(), "the first stream takes no pages in {set:?}");
        first.unwrap_or(StreamId(0))
    }

    /// Whether the open block of `stream` in a set of open blocks takes pages, `stream` as the policy names it.
    pub(crate) fn has_room_in(&self, set: OpenSet, stream: StreamId) -> bool {
        self.in_set(set, stream).is_some_and(|stream| self.has_room(stream))
    }

    /// Whether any open block of `stream`, as the policy names it, takes pages.
    pub(crate) fn takes_pages(&self, stream: StreamId) -> bool {
        if !self.is_shown_otherwise() {
            return self.has_room(stream);
        }
        let seen = (0..).map(StreamId).zip(&self.seen_as.streams);
        seen.into_iter().any(|(own, seen)| *seen == stream && self.has_room(own))
    }

    /// How many blocks had been allocated before this one: orders blocks by allocation.
    #[inline]
    pub fn allocated(&self, block: BlockId) -> u64 {
        self.blocks[block.index()].allocated
    }

    /// The write clock when a block was sealed.
    #[inline]
    pub fn sealed_at(&self, block: BlockId) -> u64 {
        self.blocks[block.index()].sealed_at
    }

    /// Whether a block, which was sealed at this time of the write clock, has been full since, and is not being
    /// collected.
    pub(crate) fn holds_since(&self, block: BlockId, sealed_at: u64) -> bool {
        self.phase(block) == Phase::Sealed && self.sealed_at(block) == sealed_at
    }

    /// Blocks that have been allocated so far.
    #[inline]
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
    #[inline]
    pub fn programmed_pages(&self, block: BlockId) -> u32 {
        match self.phase(block) {
            Phase::Free => 0,
            Phase::Open => {
                let next = self.frontiers[self.frontier_of(block).index()].next;
                next - self.geometry.first_page(block).0
            }
            Phase::Sealed | Phase::Victim | Phase::Retired => self.pages_per_block(),
        }
    }

    /// Blocks that hold pages of `stream`, as the policy names it, open blocks included.
    #[inline]
    pub fn stream_blocks(&self, stream: StreamId) -> u32 {
        if !self.is_shown_otherwise() {
            return self.stream_blocks[stream.index()];
        }
        let seen = self.stream_blocks.iter().zip(&self.seen_as.streams);
        seen.filter(|(_, seen)| **seen == stream).map(|(blocks, _)| blocks).sum()
    }

    /// Bytes of memory that the tables take.
    pub fn bytes(&self) -> usize {
        self.paged.as_ref().map_or(0, |paged| paged.bytes())
            + size_of_val(&self.flash_page_of[..])
            + size_of_val(&self.owner_of[..])
            + size_of_val(&self.valid_bits[..])
            + size_of_val(&self.valid_pages[..])
            + size_of_val(&self.stream_of[..])
            + size_of_val(&self.blocks[..])
            + self.free.capacity() * size_of::<BlockId>()
    }

    /// Pages that hold something, of the host or of the map itself.
    #[inline]
    pub fn mapped_pages(&self) -> u32 {
        self.mapped_pages
    }

    /// Blocks that hold pages of each stream, in order of their ids.
    #[inline]
    pub(crate) fn blocks_by_stream(&self) -> &[u32] {
        &self.stream_blocks
    }

    /// Erases of the least worn block in use.
    pub fn fewest_erases(&self) -> u32 {
        self.wear.fewest()
    }

    /// How many more erases `block` has than the least worn block in use.
    #[inline]
    pub(crate) fn excess_erases(&self, block: BlockId) -> u32 {
        self.wear.excess(block)
    }

    /// The sealed block with the fewest erases; of equal ones the first allocated.
    pub(crate) fn coldest(&self) -> Option<BlockId> {
        let blocks = (0..self.geometry().blocks()).map(BlockId);
        let sealed = blocks.filter(|&block| self.phase(block) == Phase::Sealed);
        sealed.min_by_key(|&block| (self.erases(block), self.allocated(block)))
    }
}
