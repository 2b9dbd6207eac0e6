//! A drive whose mapping is on flash: what its [tables in part](super::paged_tables) tell.

use crate::page::drive::block::Phase;
use crate::page::drive::paged_tables::{
    ENTRY_BYTES, Owners, PagedTables, owner_mark, sum_of_owners,
};
use crate::page::drive::places::Places;
use crate::page::drive::tables::{DriveState, NONE};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Lpn, Ppn};

impl DriveState {
    /// Whether the mapping is on flash, and in memory in part only.
    #[inline]
    pub fn is_paged(&self) -> bool {
        self.paged.is_some()
    }

    /// Keeps the places of those pages of the host only that the map holds, one by one and all of some translation pages,
    /// and those of translation pages.
    pub(crate) fn page_out(&mut self, held: &[Lpn], held_pages: &[u32]) {
        if self.is_paged() {
            return;
        }
        let pages_per_block = self.pages_per_block();
        let mut sums = vec![0_u32; self.geometry.blocks() as usize];
        let mapped =
            (0..self.all_pages).map(Lpn).filter_map(|lpn| Some((lpn, self.flash_page(lpn)?)));
        for (lpn, page) in mapped {
            let sum = &mut sums[(page.0 / pages_per_block) as usize];
            *sum = sum.wrapping_add(owner_mark(page, lpn));
        }
        let entries_per_page = self.geometry.page_bytes() / ENTRY_BYTES;
        let mut places = Places::new(self.logical_pages(), entries_per_page);
        let place = |lpn: u32| self.flash_page_of[lpn as usize];
        for map_page in held_pages {
            places.bring_page(*map_page, place);
        }
        for lpn in held {
            places.set(lpn.0, place(lpn.0));
        }
        let directory = self.flash_page_of[self.logical_pages() as usize..].to_vec();
        let filled = self.frontiers.iter().map(|frontier| {
            let block = (frontier.end > 0).then(|| self.block_of(Ppn(frontier.end - 1)));
            let pages = frontier.end.saturating_sub(pages_per_block)..frontier.end;
            Owners { block, of: pages.map(|page| self.owner(Ppn(page))).collect() }
        });
        let filled = filled.collect();
        (self.flash_page_of, self.owner_of) = (Vec::new(), Vec::new());
        let read = Owners { block: None, of: vec![Lpn(NONE); pages_per_block as usize] };
        let is_replaying = false;
        let tables = PagedTables { places, directory, sums, read, filled, is_replaying };
        self.paged = Some(Box::new(tables));
    }

    /// Restores where `lpn` is, whose entry the map holds, or does not.
    pub(crate) fn restore_place(&mut self, lpn: Lpn, page: Ppn, holds: bool) {
        let (block, host_pages) = (self.block_of(page), self.logical_pages());
        let stream = self.frontier_of(block).index();
        let first = self.geometry.first_page(block).0;
        let is_open = self.phase(block) == Phase::Open;
        let pages = self.pages_per_block() as usize;
        let Some(paged) = &mut self.paged else { return };
        let sum = &mut paged.sums[block.index()];
        *sum = sum.wrapping_add(owner_mark(page, lpn));
        match lpn.0.checked_sub(host_pages) {
            Some(of_map) => paged.directory[of_map as usize] = page.0,
            None if holds => paged.places.set(lpn.0, page.0),
            None => {}
        }
        if is_open {
            let filled = &mut paged.filled[stream];
            filled.block = Some(block);
            filled.of.resize(pages, Lpn(NONE));
            filled.of[(page.0 - first) as usize] = lpn;
        }
    }

    /// The place of `lpn`, a page of the host, or [`u32::MAX`] if it holds nothing; none if that is on flash.
    pub(crate) fn place_in_memory(&self, lpn: Lpn) -> Option<u32> {
        match &self.paged {
            Some(paged) => paged.places.get(lpn.0),
            None => Some(self.flash_page_of[lpn.index()]),
        }
    }

    /// The place of `lpn`, a page of the host, was read from its translation page.
    pub(crate) fn bring(&mut self, lpn: Lpn, place: u32) {
        if let Some(paged) = &mut self.paged {
            paged.places.set_absent(lpn.0, place);
        }
    }

    /// All places of a translation page that are not in memory were read from it.
    pub(crate) fn bring_page(&mut self, map_page: u32, told: impl Fn(u32) -> u32) {
        if let Some(paged) = &mut self.paged {
            paged.places.bring_page(map_page, told);
        }
    }

    /// Only places that are in memory by now, of pages of which `asked` are to come, change there when pages move; or all
    /// do again.
    pub(crate) fn set_replaying(&mut self, is_replaying: bool, asked: usize) {
        if let Some(paged) = &mut self.paged {
            paged.is_replaying = is_replaying;
            paged.places.reserve(asked);
        }
    }

    /// How many places of pages of the host are in memory, or would take as much.
    pub(crate) fn places_in_memory(&self) -> usize {
        self.paged.as_ref().map_or(0, |paged| paged.places.len())
    }

    /// Keeps the places of these pages of the host only, all of which some translation pages have.
    pub(crate) fn keep_places(
        &mut self,
        keeps: impl Fn(Lpn) -> bool,
        keeps_all_of: impl Fn(u32) -> bool,
    ) {
        if let Some(paged) = &mut self.paged {
            paged.places.keep(|lpn| keeps(Lpn(lpn)), keeps_all_of);
        }
    }

    #[cold]
    pub(super) fn place_in_part(&self, lpn: Lpn) -> u32 {
        let Some(paged) = &self.paged else { return NONE };
        let place = match lpn.0.checked_sub(self.logical_pages()) {
            Some(page) => Some(paged.directory[page as usize]),
            None => paged.places.get(lpn.0),
        };
        debug_assert!(place.is_some(), "the place of page {lpn} is asked for, and is on flash");
        place.unwrap_or(NONE)
    }

    /// Where `lpn` is, which is not valid any more.
    #[cold]
    pub(super) fn invalidate_in_part(&mut self, lpn: Lpn) -> u32 {
        let page = self.place_in_part(lpn);
        if page != NONE {
            let block = self.block_of(Ppn(page));
            if let Some(paged) = &mut self.paged {
                paged.forget_owner(block, Ppn(page), lpn);
            }
        }
        page
    }

    #[cold]
    pub(super) fn move_in_part(&mut self, stream: StreamId, lpn: Lpn, page: u32) {
        let (block, host_pages) = (self.block_of(Ppn(page)), self.logical_pages());
        let (first, pages) = (self.geometry.first_page(block).0, self.pages_per_block());
        let Some(paged) = &mut self.paged else { return };
        let filled = &mut paged.filled[stream.index()];
        filled.block = Some(block);
        filled.of.resize(pages as usize, Lpn(NONE));
        filled.of[(page - first) as usize] = lpn;
        let sum = &mut paged.sums[block.index()];
        *sum = sum.wrapping_add(owner_mark(Ppn(page), lpn));
        match lpn.0.checked_sub(host_pages) {
            Some(of_map) => paged.directory[of_map as usize] = page,
            None if paged.is_replaying => paged.places.set_present(lpn.0, page),
            None => paged.places.set(lpn.0, page),
        }
    }

    #[cold]
    pub(super) fn unmap_in_part(&mut self, lpn: Lpn) {
        if let Some(paged) = &mut self.paged {
            paged.places.set(lpn.0, NONE);
        }
    }

    #[cold]
    pub(super) fn owner_in_part(&self, page: Ppn) -> Lpn {
        let owner = self.known_owner(page);
        debug_assert!(owner.is_some(), "what page {page} holds is asked for, and is on flash");
        owner.unwrap_or(Lpn(NONE))
    }

    /// What `page` holds, if that is in memory.
    fn known_owner(&self, page: Ppn) -> Option<Lpn> {
        let paged = self.paged.as_ref()?;
        let block = self.block_of(page);
        let filled = &paged.filled[self.stream_of[block.index()].index()];
        let known = [&paged.read, filled].into_iter().find(|owners| owners.block == Some(block))?;
        known.of.get((page.0 - self.geometry.first_page(block).0) as usize).copied()
    }

    /// Whether `page` holds `lpn`, as far as that is in memory.
    pub(crate) fn may_hold(&self, page: Ppn, lpn: Lpn) -> bool {
        if self.is_paged() {
            self.known_owner(page).is_none_or(|owner| owner == lpn)
        } else {
            self.owner(page) == lpn
        }
    }

    /// Whether `lpn` is at `page`, as far as that is in memory.
    pub(crate) fn may_be_at(&self, lpn: Lpn, page: Ppn) -> bool {
        lpn.0 < self.logical_pages() && self.place_in_memory(lpn).is_none()
            || self.flash_page(lpn) == Some(page)
    }

    /// Room for what the spare areas of a block tell.
    pub(crate) fn take_owners(&mut self) -> Vec<Lpn> {
        let pages = self.pages_per_block() as usize;
        let Some(paged) = &mut self.paged else { return Vec::new() };
        paged.read.block = None;
        let mut owners = std::mem::take(&mut paged.read.of);
        owners.resize(pages, Lpn(NONE));
        owners
    }

    /// The pages of `block` that are programmed and valid.
    pub fn held_pages(&self, block: BlockId) -> impl Iterator<Item = Ppn> + '_ {
        let first = self.geometry.first_page(block).0;
        let programmed = (first..first + self.programmed_pages(block)).map(Ppn);
        programmed.filter(|page| self.is_valid(*page))
    }

    /// What the pages of `block` hold that are programmed and valid, by their places in it, and nothing of the others:
    /// [`u32::MAX`]. The whole mapping is in memory.
    pub fn held_owners(&self, block: BlockId) -> Vec<Lpn> {
        let mut owners = vec![Lpn(NONE); self.pages_per_block() as usize];
        let first = self.geometry.first_page(block).0;
        for page in self.held_pages(block) {
            owners[(page.0 - first) as usize] = self.owner(page);
        }
        owners
    }

    /// Whether the valid pages of `block` hold these, as far as their sum tells.
    pub(crate) fn are_owners(&self, block: BlockId, owners: &[Lpn]) -> bool {
        let first = self.geometry.first_page(block).0;
        let held = self.held_pages(block).map(|page| (page, owners[(page.0 - first) as usize]));
        self.owners_sum(block).is_none_or(|right| sum_of_owners(held) == right)
    }

    /// Takes note of what the spare areas of a full `block` tell; false if they are wrong.
    pub(crate) fn know_owners(&mut self, block: BlockId, owners: Vec<Lpn>) -> bool {
        let is_right = self.are_owners(block, &owners);
        if let Some(paged) = &mut self.paged {
            paged.read = Owners { block: is_right.then_some(block), of: owners };
        }
        is_right
    }

    /// The pages of the flash that are programmed and valid, a bit each.
    pub fn held_bits(&self) -> Vec<u64> {
        let mut bits = vec![0; self.valid_bits.len()];
        let blocks = (0..self.geometry.blocks()).map(BlockId);
        for page in
            blocks.filter(|block| self.valid_pages(*block) > 0).flat_map(|b| self.held_pages(b))
        {
            bits[page.index() / 64] |= 1 << (page.0 % 64);
        }
        bits
    }

    /// The pages whose bits are set, of `victim`, have moved.
    pub(super) fn forget_owners(&mut self, victim: BlockId, word: u32, bits: u64) {
        if !self.is_paged() {
            return;
        }
        for page in (0..64).filter(|bit| bits >> bit & 1 == 1).map(|bit| Ppn(word * 64 + bit)) {
            let lpn = self.owner(page);
            if let Some(paged) = &mut self.paged {
                paged.forget_owner(victim, page, lpn);
            }
        }
    }

    /// The sum that tells what the valid pages of `block` hold.
    pub fn owners_sum(&self, block: BlockId) -> Option<u32> {
        self.paged.as_ref().map(|paged| paged.sums[block.index()])
    }
}
