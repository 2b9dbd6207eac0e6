//! Where pages are and which are valid.

use crate::bits::word_mask;
use crate::memory;
use crate::page::drive::block::Phase;
use crate::page::drive::tables::{DriveState, NONE};
use crate::page::gc_schedule::MILLION;
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Lpn, Ppn};

impl DriveState {
    /// One more host write.
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
    #[inline]
    pub(crate) fn room(&self, stream: StreamId) -> u32 {
        self.frontiers[stream.index()].room()
    }

    /// The page that `stream` programs next; it must have room.
    #[inline]
    pub(crate) fn next_page(&self, stream: StreamId) -> Ppn {
        debug_assert!(self.has_room(stream), "{stream:?} has no room");
        Ppn(self.frontiers[stream.index()].next)
    }

    /// Maps `lpn` to the next page of `stream`, which has room.
    #[inline]
    pub(crate) fn append(&mut self, stream: StreamId, lpn: Lpn) {
        debug_assert!(self.has_room(stream), "{stream:?} has no room");
        let frontier = &mut self.frontiers[stream.index()];
        let page = frontier.next;
        frontier.next += 1;
        match self.flash_page_of.get_mut(lpn.index()).zip(self.owner_of.get_mut(page as usize)) {
            Some((place, owner)) => (*place, *owner) = (page, lpn.0),
            None => self.move_in_part(stream, lpn, page),
        }
        debug_assert!(self.is_valid(Ppn(page)), "pages of an open block count as valid");
    }

    /// Takes note that `lpn`, which holds nothing, is about to be mapped.
    #[inline]
    pub(crate) fn count_mapped(&mut self, lpn: Lpn) {
        debug_assert_eq!(self.flash_page(lpn), None);
        debug_assert!(self.mapped_pages < self.all_pages());
        self.mapped_pages += 1;
    }

    /// Makes the present version of `lpn` invalid and returns its block, if there is a version. The
    /// mapping stays as it is: the page is mapped elsewhere next, or unmapped.
    #[inline]
    pub(crate) fn invalidate(&mut self, lpn: Lpn) -> Option<BlockId> {
        let page = match self.flash_page_of.get(lpn.index()) {
            Some(page) => *page,
            None => self.invalidate_in_part(lpn),
        };
        if page == NONE {
            return None;
        }
        debug_assert!(self.is_valid(Ppn(page)), "page {lpn} is mapped to an invalid page");
        debug_assert!(self.may_hold(Ppn(page), lpn), "mapped to a page of another");
        self.valid_bits[page as usize / 64] &= !(1 << (page % 64));
        let block = self.block_of(Ppn(page));
        debug_assert!(self.valid_pages(block) > 0);
        self.valid_pages[block.index()] -= 1;
        Some(block)
    }

    /// Forgets where `lpn` is, whose present version has been made invalid.
    #[inline]
    pub(crate) fn unmap(&mut self, lpn: Lpn) {
        debug_assert!(self.flash_page(lpn).is_some_and(|page| !self.is_valid(page)));
        debug_assert!(self.mapped_pages > 0);
        match self.flash_page_of.get_mut(lpn.index()) {
            Some(place) => *place = NONE,
            None => self.unmap_in_part(lpn),
        }
        self.mapped_pages -= 1;
    }

    /// Makes the pages `word * 64 ..` of `victim` whose bits are set invalid: they have moved.
    #[inline]
    pub(crate) fn clear_valid(&mut self, victim: BlockId, word: u32, bits: u64) {
        debug_assert_eq!(self.phase(victim), Phase::Victim);
        debug_assert_eq!(bits & !self.valid_word_of(victim, word), 0, "some were invalid");
        self.forget_owners(victim, word, bits);
        self.valid_bits[word as usize] &= !bits;
        self.valid_pages[victim.index()] -= bits.count_ones();
    }

    /// Counts the valid pages of `block` again, some of which have moved.
    pub(crate) fn recount(&mut self, block: BlockId) {
        if self.is_paged() {
            // What has moved is not known; the medium has failed, and the drive goes no further.
            return;
        }
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
        debug_assert!(valid_pages <= self.valid_pages(block), "a page has become valid");
        debug_assert_ne!(self.phase(block), Phase::Open, "pages yet to program would be lost");
        self.valid_pages[block.index()] = valid_pages;
    }

    /// Whether at least `per_million` of a million pages that are programmed are invalid; blocks out of
    /// use do not count.
    pub(crate) fn has_garbage(&self, per_million: u32) -> bool {
        let used = self.geometry.blocks() - self.retired_blocks - self.free_blocks();
        let room = self.frontiers.iter().map(|frontier| u64::from(frontier.room()));
        let pages = u64::from(used) * u64::from(self.pages_per_block());
        let programmed = pages - room.sum::<u64>();
        debug_assert!(programmed >= u64::from(self.mapped_pages));
        let invalid = programmed - u64::from(self.mapped_pages);
        invalid * MILLION as u64 >= u64::from(per_million) * programmed
    }

    /// The logical page that was last programmed to `page`.
    #[inline]
    pub(crate) fn owner(&self, page: Ppn) -> Lpn {
        match self.owner_of.get(page.index()) {
            Some(owner) => Lpn(*owner),
            None => self.owner_in_part(page),
        }
    }

    #[inline]
    pub(crate) fn is_valid(&self, page: Ppn) -> bool {
        self.valid_bits[page.index() / 64] >> (page.0 % 64) & 1 == 1
    }

    /// What the valid pages of a full block hold, in page order.
    pub(crate) fn valid_owners(&self, block: BlockId) -> impl Iterator<Item = Lpn> + '_ {
        debug_assert_ne!(self.phase(block), Phase::Open);
        let first = self.geometry.first_page(block).0;
        let pages = (first..first + self.pages_per_block()).map(Ppn);
        pages.filter(|&page| self.is_valid(page)).map(|page| self.owner(page))
    }

    /// The valid bits `word * 64 ..` of the flash, those outside `block` cleared.
    #[inline]
    pub(crate) fn valid_word_of(&self, block: BlockId, word: u32) -> u64 {
        let first = self.geometry.first_page(block).0;
        self.valid_word(word, first, first + self.geometry.pages_per_block())
    }

    /// The valid bits `word * 64 ..` of the flash, those outside `first..end` cleared.
    #[inline]
    pub(super) fn valid_word(&self, word: u32, first: u32, end: u32) -> u64 {
        debug_assert!(first / 64 <= word && word <= (end - 1) / 64, "a word of another block");
        self.valid_bits[word as usize] & word_mask(word, first, end)
    }

    pub(super) fn set_valid(&mut self, first: u32, end: u32) {
        debug_assert!(first < end && end <= self.geometry.pages());
        for word in first / 64..=(end - 1) / 64 {
            self.valid_bits[word as usize] |= word_mask(word, first, end);
        }
    }

    /// Fetches the mapping entry of `lpn`.
    #[inline]
    pub(crate) fn prefetch_mapping(&self, lpn: Lpn) {
        memory::prefetch(&self.flash_page_of, lpn.index());
    }

    /// Fetches the valid bit of the present version of `lpn`, whose mapping entry is at hand, and
    /// returns its block.
    #[inline]
    pub(crate) fn prefetch_valid_bit(&self, lpn: Lpn) -> Option<BlockId> {
        let page = *self.flash_page_of.get(lpn.index()).filter(|&&page| page != NONE)?;
        memory::prefetch(&self.valid_bits, page as usize / 64);
        Some(self.block_of(Ppn(page)))
    }
}
