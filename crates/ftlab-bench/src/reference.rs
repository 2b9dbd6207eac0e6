//! A plain greedy FTL in one loop: the cost of a page-mapped FTL with nothing around it.

use ftlab_flash::{BlockId, Cause, Flash, Lpn, NoPayload, Page, Ppn};
use ftlab_ftl::memory::{prefetch, table};

const NONE: u32 = u32::MAX;
const RESERVE_BLOCKS: usize = 4;
const FETCH_AHEAD: usize = 24;

/// Two mapping tables, a valid count per block, a free list; nothing else, unless the flash has something to do.
pub(crate) struct Reference<F = NoPayload> {
    pub(crate) flash: F,
    flash_page_of: Vec<u32>,
    owner_of: Vec<u32>,
    valid_pages: Vec<u32>,
    free: Vec<u32>,
    pages_per_block: u32,
    next: u32,
    end: u32,
    pub(crate) host_writes: u64,
    pub(crate) relocations: u64,
}

impl<F: Flash> Reference<F> {
    pub(crate) fn new(logical_pages: u32, blocks: u32, pages_per_block: u32, flash: F) -> Self {
        Self {
            flash,
            flash_page_of: table(logical_pages as usize, NONE),
            owner_of: table((blocks * pages_per_block) as usize, NONE),
            valid_pages: vec![0; blocks as usize],
            free: (0..blocks).rev().collect(),
            pages_per_block,
            next: 0,
            end: 0,
            host_writes: 0,
            relocations: 0,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        4 * (self.flash_page_of.len() + self.owner_of.len() + 2 * self.valid_pages.len())
    }

    /// Where a page is that was written.
    pub(crate) fn flash_page(&self, lpn: Lpn) -> Ppn {
        Ppn(self.flash_page_of[lpn.index()])
    }

    /// Fetches what will be asked about two pages that are read or written soon.
    pub(crate) fn fetch_ahead(&self, near: Lpn, far: Lpn) {
        prefetch(&self.flash_page_of, far.index());
        prefetch(&self.owner_of, self.flash_page(near).0 as usize);
    }

    pub(crate) fn write_pages(&mut self, pages: &[Lpn]) {
        for (index, lpn) in pages.iter().enumerate() {
            if let Some(soon) = pages.get(index + FETCH_AHEAD) {
                prefetch(&self.flash_page_of, soon.index());
            }
            if let Some(soon) = pages.get(index + FETCH_AHEAD / 2)
                && let Some(&page) = self.flash_page_of.get(soon.index())
            {
                prefetch(&self.owner_of, page as usize);
            }
            self.write(lpn.0);
        }
    }

    pub(crate) fn write(&mut self, lpn: u32) {
        self.host_writes += 1;
        if self.next == self.end {
            while self.next == self.end && self.free.len() <= RESERVE_BLOCKS {
                self.collect();
            }
            if self.next == self.end {
                self.open();
            }
        }
        let old = self.flash_page_of[lpn as usize];
        if old != NONE {
            self.owner_of[old as usize] = NONE;
            self.valid_pages[(old / self.pages_per_block) as usize] -= 1;
        }
        let page = Page::new(Lpn(lpn), &[]);
        self.flash.program(Ppn(self.next), page, Cause::Host.awaited()).expect("no failures");
        self.program(lpn);
    }

    fn program(&mut self, lpn: u32) {
        self.owner_of[self.next as usize] = lpn;
        self.flash_page_of[lpn as usize] = self.next;
        self.next += 1;
    }

    fn open(&mut self) {
        let block = self.free.pop().expect("a free block");
        self.valid_pages[block as usize] = self.pages_per_block;
        self.next = block * self.pages_per_block;
        self.end = self.next + self.pages_per_block;
    }

    fn collect(&mut self) {
        // Free blocks have no valid page and must not be chosen; the full open block may be.
        let fewest = self.valid_pages.iter().map(|&valid| valid.wrapping_sub(1)).min();
        let fewest = fewest.expect("a block").wrapping_add(1);
        let victim = self.valid_pages.iter().position(|&valid| valid == fewest).expect("a victim");
        let first = victim as u32 * self.pages_per_block;
        for page in first..first + self.pages_per_block {
            if let Some(&soon) = self.owner_of.get(page as usize + FETCH_AHEAD) {
                prefetch(&self.flash_page_of, soon as usize);
            }
            let lpn = self.owner_of[page as usize];
            if lpn != NONE {
                if self.next == self.end {
                    self.open();
                }
                let (to, page) = (Ppn(self.next), Page::copy(Lpn(lpn), Ppn(page)));
                self.flash.program(to, page, Cause::Move.awaited()).expect("no failures");
                self.program(lpn);
                self.relocations += 1;
            }
        }
        self.owner_of[first as usize..(first + self.pages_per_block) as usize].fill(NONE);
        self.valid_pages[victim] = 0;
        let victim_id = BlockId(victim as u32);
        self.flash.erase(victim_id, Cause::Move.awaited()).expect("no failures");
        self.free.insert(0, victim as u32);
    }
}
