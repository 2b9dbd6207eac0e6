//! The life of an erase block: free, open, sealed, a victim perhaps, and free again or retired.

use crate::bits::word_mask;
use crate::page::drive::block::{Frontier, Phase};
use crate::page::drive::tables::DriveState;
use crate::page::drive::wear::{FreeBlock, Wear};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Ppn};

impl DriveState {
    /// Opens a free block for `stream`, which has no open block: the one that is `wanted`, if it is free.
    /// All its pages count as valid. None if no block is free.
    pub(crate) fn open(&mut self, stream: StreamId, wanted: Option<BlockId>) -> Option<BlockId> {
        debug_assert_eq!(self.frontiers[stream.index()].end, 0, "{stream:?} has an open block");
        let id = self.take_free(wanted)?;
        debug_assert_eq!(self.phase(id), Phase::Free, "block {id} is on the free list");
        debug_assert_eq!(self.valid_pages(id), 0, "free block {id} holds pages");
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
        debug_assert_eq!(self.open_block(stream), Some(id));
        Some(id)
    }

    fn take_free(&mut self, wanted: Option<BlockId>) -> Option<BlockId> {
        let free = self.free.iter().copied();
        if let Some(wanted) = wanted
            && let Some(place) = free.clone().position(|block| block == wanted)
        {
            return self.free.remove(place);
        }
        let place = match self.free_block {
            FreeBlock::Fifo => 0,
            FreeBlock::LeastWorn => self.wear.least_worn(free)?,
        };
        debug_assert!(place == 0 || place < self.free.len());
        self.free.remove(place)
    }

    /// Closes the open block of `stream`, which is full.
    pub(crate) fn seal(&mut self, stream: StreamId) -> BlockId {
        debug_assert!(!self.has_room(stream), "the open block of {stream:?} is not full");
        let full = std::mem::replace(&mut self.frontiers[stream.index()], Frontier::NONE);
        debug_assert!(full.end > 0, "{stream:?} has no open block");
        let id = self.block_of(Ppn(full.end - 1));
        debug_assert_eq!((self.phase(id), self.frontier_of(id)), (Phase::Open, stream));
        let block = &mut self.blocks[id.index()];
        block.phase = Phase::Sealed;
        block.sealed_at = self.write_clock;
        id
    }

    /// Takes note that the sealed `block` has been chosen for a collection in steps.
    pub(crate) fn mark_victim(&mut self, block: BlockId) {
        debug_assert_eq!(self.phase(block), Phase::Sealed);
        debug_assert!(self.valid_pages(block) <= self.pages_per_block());
        self.blocks[block.index()].phase = Phase::Victim;
    }

    /// Takes note that all valid pages of `victim` have moved. Their bits are set again when it is
    /// opened, so they stay as they are.
    #[inline]
    pub(crate) fn vacate(&mut self, victim: BlockId) {
        debug_assert!(self.is_collected(victim), "block {victim} is {:?}", self.phase(victim));
        debug_assert!(self.valid_pages(victim) <= self.pages_per_block());
        self.valid_pages[victim.index()] = 0;
        if let Some(paged) = &mut self.paged {
            paged.vacate(victim);
        }
    }

    /// Puts an erased block, which held no valid pages any more, on the free list.
    pub(crate) fn release(&mut self, id: BlockId) {
        debug_assert!(self.is_collected(id), "block {id} is {:?}", self.phase(id));
        debug_assert_eq!(self.valid_pages(id), 0, "block {id} is erased and holds pages");
        self.blocks[id.index()].phase = Phase::Free;
        if let Some(paged) = &mut self.paged {
            paged.forget_block(id);
        }
        self.stream_blocks[self.stream_of[id.index()].index()] -= 1;
        self.free.push_back(id);
        let blocks = &self.blocks;
        self.wear.count(id, |index| blocks[index].phase != Phase::Retired);
        debug_assert!(self.free_blocks() + self.retired_blocks <= self.geometry.blocks());
    }

    /// Takes a collected block, which held no valid pages any more, out of use.
    pub(crate) fn retire(&mut self, id: BlockId) {
        debug_assert!(self.is_collected(id), "block {id} is {:?}", self.phase(id));
        debug_assert_eq!(self.valid_pages(id), 0, "block {id} is retired and holds pages");
        self.stream_blocks[self.stream_of[id.index()].index()] -= 1;
        self.retire_block(id);
    }

    fn retire_block(&mut self, id: BlockId) {
        debug_assert_ne!(self.phase(id), Phase::Retired);
        self.blocks[id.index()].phase = Phase::Retired;
        self.retired_blocks += 1;
        let blocks = &self.blocks;
        self.wear.retire(id, |index| blocks[index].phase != Phase::Retired);
        debug_assert!(self.free_blocks() + self.retired_blocks <= self.geometry.blocks());
    }

    /// Takes blocks out of use that are bad from birth; none has been used.
    pub(crate) fn retire_bad(&mut self, is_bad: impl Fn(BlockId) -> bool) {
        debug_assert_eq!((self.allocations, self.retired_blocks), (0, 0));
        self.free.retain(|&block| !is_bad(block));
        let blocks = (0..self.geometry.blocks()).map(BlockId);
        blocks.filter(|&block| is_bad(block)).for_each(|block| self.retire_block(block));
        debug_assert_eq!(self.free_blocks() + self.retired_blocks, self.geometry.blocks());
    }

    /// Gives up the pages of `stream`'s open block that are not programmed yet, one at least: they
    /// become invalid. Returns the block and how many they were.
    pub(crate) fn give_up(&mut self, stream: StreamId) -> (BlockId, u32) {
        debug_assert!(self.has_room(stream), "{stream:?} has no page to give up");
        let frontier = &mut self.frontiers[stream.index()];
        let (next, end) = (frontier.next, frontier.end);
        frontier.next = end;
        let block = self.block_of(Ppn(end - 1));
        for word in next / 64..=(end - 1) / 64 {
            self.valid_bits[word as usize] &= !word_mask(word, next, end);
        }
        self.valid_pages[block.index()] -= end - next;
        debug_assert!(self.valid_pages(block) <= next - self.geometry.first_page(block).0);
        (block, end - next)
    }

    /// Passes over the next page of `stream`'s open block: it holds nothing, and counts as invalid.
    pub(crate) fn leave_out(&mut self, stream: StreamId) {
        debug_assert!(self.has_room(stream), "{stream:?} has no page to leave out");
        let frontier = &mut self.frontiers[stream.index()];
        let page = frontier.next;
        frontier.next += 1;
        self.valid_bits[page as usize / 64] &= !(1 << (page % 64));
        let block = self.block_of(Ppn(page));
        self.valid_pages[block.index()] -= 1;
        debug_assert!(!self.is_valid(Ppn(page)));
    }

    /// Puts `first` at the head of the free blocks, none of which has been used yet: each is found at once when it is
    /// [wanted](Self::open) in this order.
    pub(crate) fn order_free(&mut self, first: &[BlockId]) {
        debug_assert_eq!((self.allocations, self.retired_blocks), (0, 0));
        let mut is_first = vec![false; self.geometry.blocks() as usize];
        for block in first {
            is_first[block.index()] = true;
        }
        let others = self.free.iter().copied().filter(|block| !is_first[block.index()]);
        self.free = first.iter().copied().chain(others).collect();
        debug_assert_eq!(self.free_blocks(), self.geometry.blocks(), "each is named once");
    }

    /// Continues the write clock and the erases of blocks of a drive on which nothing has been written yet.
    pub(crate) fn continue_counts(&mut self, write_clock: u64, erases: &[u32]) {
        debug_assert_eq!((self.allocations, self.retired_blocks), (0, 0));
        self.write_clock = write_clock;
        self.wear = Wear::of(erases.to_vec());
        debug_assert_eq!(erases.len() as u32, self.geometry.blocks());
    }

    /// Whether `block` is full and may be emptied: sealed, or a victim of a collection in steps.
    fn is_collected(&self, block: BlockId) -> bool {
        matches!(self.phase(block), Phase::Sealed | Phase::Victim)
    }
}
