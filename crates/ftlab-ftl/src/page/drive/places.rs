//! The places of pages of the host that are in memory, of a drive whose mapping is on flash: of single pages, and of all
//! pages of some translation pages.

use crate::page::drive::runs::Runs;
use crate::page_table::{Multiply, PageTable};
use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::ops::Range;

/// Places by pages.
#[derive(Debug)]
pub(super) struct Places {
    single: PageTable,
    whole: HashMap<u32, Runs, BuildHasherDefault<Multiply>>,
    /// Numbers of four bytes that translation pages take.
    numbers: usize,
    pages: u32,
    entries_per_page: u32,
}

impl Places {
    /// None of `pages` pages.
    pub(super) fn new(pages: u32, entries_per_page: u32) -> Self {
        let (single, whole) = (PageTable::default(), HashMap::default());
        Self { single, whole, numbers: 0, pages, entries_per_page }
    }

    /// The pages of a translation page.
    fn entries_of(&self, map_page: u32) -> Range<u32> {
        let first = map_page * self.entries_per_page;
        first..first.saturating_add(self.entries_per_page).min(self.pages)
    }

    /// The translation page of a page, and where it is there.
    fn in_page(&self, lpn: u32) -> (u32, usize) {
        (lpn / self.entries_per_page, (lpn % self.entries_per_page) as usize)
    }

    #[inline]
    pub(super) fn get(&self, lpn: u32) -> Option<u32> {
        if !self.whole.is_empty() {
            let (map_page, index) = self.in_page(lpn);
            if let Some(runs) = self.whole.get(&map_page) {
                return Some(runs.get(index));
            }
        }
        self.single.get(lpn)
    }

    /// Sets it in its translation page; false if that is not in memory as a whole.
    #[inline]
    fn set_in_whole(&mut self, lpn: u32, place: u32) -> bool {
        if self.whole.is_empty() {
            return false;
        }
        let ((map_page, index), entries) = (self.in_page(lpn), self.entries_per_page as usize);
        let Some(runs) = self.whole.get_mut(&map_page) else { return false };
        let pages = entries.min((self.pages - map_page * self.entries_per_page) as usize);
        let before = runs.numbers();
        runs.set(index, place, pages);
        self.numbers = self.numbers + runs.numbers() - before;
        true
    }

    #[inline]
    pub(super) fn set(&mut self, lpn: u32, place: u32) {
        if !self.set_in_whole(lpn, place) {
            self.single.set(lpn, place);
        }
    }

    /// Sets it, if there is one.
    pub(super) fn set_present(&mut self, lpn: u32, place: u32) {
        if !self.set_in_whole(lpn, place) {
            self.single.set_present(lpn, place);
        }
    }

    /// Sets it, if there is none.
    pub(super) fn set_absent(&mut self, lpn: u32, place: u32) {
        if !self.whole.contains_key(&(lpn / self.entries_per_page)) {
            self.single.set_absent(lpn, || place);
        }
    }

    /// Makes room for this many more single pages.
    pub(super) fn reserve(&mut self, pages: usize) {
        self.single.reserve(pages);
    }

    /// All pages of a translation page come into memory, of which it tells the places; those in memory are newer.
    pub(super) fn bring_page(&mut self, map_page: u32, told: impl Fn(u32) -> u32) {
        let entries = self.entries_of(map_page);
        let (whole, single) = (&mut self.whole, &mut self.single);
        whole.entry(map_page).or_insert_with(|| {
            let place = |lpn| single.get(lpn).unwrap_or_else(|| told(lpn));
            let runs = Runs::new(entries.clone().map(place));
            entries.for_each(|lpn| single.remove(lpn));
            self.numbers += runs.numbers();
            runs
        });
    }

    /// How much is in memory, as many single pages would be.
    pub(super) fn len(&self) -> usize {
        self.single.len() + self.numbers / 2
    }

    /// Keeps the places of these pages only, all of which some translation pages have.
    pub(super) fn keep(&mut self, keeps: impl Fn(u32) -> bool, keeps_all_of: impl Fn(u32) -> bool) {
        self.single.keep(&keeps);
        let (pages, entries) = (self.pages, self.entries_per_page);
        let gone = self.whole.extract_if(|map_page, _| !keeps_all_of(*map_page));
        for (map_page, runs) in gone {
            self.numbers -= runs.numbers();
            let first = map_page * entries;
            let last = first.saturating_add(entries).min(pages);
            for lpn in (first..last).filter(|lpn| keeps(*lpn)) {
                self.single.set(lpn, runs.get((lpn - first) as usize));
            }
        }
        self.whole.shrink_to(2 * self.whole.len());
    }

    pub(super) fn bytes(&self) -> usize {
        self.single.bytes() + 4 * self.numbers + self.whole.capacity() * size_of::<(u32, Runs)>()
    }
}
