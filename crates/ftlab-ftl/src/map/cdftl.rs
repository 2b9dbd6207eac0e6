//! `cdftl`: single entries, and whole translation pages beside them.
//!
//! # Idea
//! Entries that are used again are worth keeping one by one, and neighbours are asked for soon. So there are two levels:
//! entries for the first, translation pages for the second. An entry that leaves costs nothing if its translation page
//! is in memory.
//!
//! # Rule
//! An entry is looked up among the entries, and then in the translation pages that are in memory, from which it joins
//! the entries. If it is in neither, its translation page is read, and joins the pages. Both levels are plain LRU.
//!
//! An entry that leaves and has changed is noted in its translation page, if that is in memory; if not, the page is read
//! and written. A translation page that leaves and has changed is written without being read.
//!
//! # Parameters
//! `pages` is the share of the memory that translation pages take, one at least. An entry takes `entry-bytes`.
//!
//! # Where the paper is silent
//! Both levels take half. The entry that was used longest ago leaves, whether its translation page is in memory or not.
//! What collection moves changes among the entries if it is there, or else in the translation page. Changed entries of
//! a translation page that leaves are written with it.
//!
//! # Reference
//! Qin, Wang, Liu, Shao, "A Two-Level Caching Mechanism for Demand-Based Page-Level Address Mapping in NAND Flash Memory
//! Storage Systems", RTAS 2011, pages 157 to 166. Of the paper, its abstract was at hand.

use crate::map::contract::{Found, Map, OnFlash, Places, WriteBack};
use crate::map::lru::SegmentedLru;
use crate::state::state;
use ftlab_flash::Lpn;
use ftlab_spec::ByteSize;

/// Bytes of an entry in a translation page.
const FLASH_ENTRY_BYTES: u64 = 4;

ftlab_spec::parameters! {
    /// What a cache of entries and of translation pages is like.
    #[derive(Copy)]
    pub struct CdftlParameters {
        /// Memory for both, at least two pages.
        cache: ByteSize = ByteSize(0), "cache", from "our choice";
        /// Bytes that an entry takes among the entries.
        entry_bytes: u32 = 8, "entry-bytes" in 1..=64, from "a logical and a flash page";
        /// Share of the memory for translation pages.
        pages: f64 = 0.5, "pages" in 0.0..=1.0, from "our choice";
    }
}

impl CdftlParameters {
    /// Translation pages and entries that there is memory for, one of each at least.
    pub(super) fn room(&self, entries_per_page: u32) -> [u32; 2] {
        let page_bytes = FLASH_ENTRY_BYTES * u64::from(entries_per_page);
        let most = (self.cache.0 / page_bytes).saturating_sub(1).max(1);
        let pages = ((self.pages * self.cache.0 as f64) as u64 / page_bytes).clamp(1, most);
        let left = self.cache.0.saturating_sub(pages * page_bytes);
        let entries = (left / u64::from(self.entry_bytes)).max(1);
        [pages, entries].map(|number| u32::try_from(number).unwrap_or(u32::MAX))
    }
}

impl OnFlash for CdftlParameters {
    const NAME: &'static str = "cdftl";

    const PAGES_MIN: u64 = 2;

    fn cache(&mut self) -> &mut ByteSize {
        &mut self.cache
    }

    fn single_entries(&self, entries_per_page: u32) -> u32 {
        self.room(entries_per_page)[1]
    }

    fn memory_bytes(&self, entries: u32, map_pages: u32) -> u64 {
        let held = (self.cache.0 / u64::from(self.entry_bytes)).min(u64::from(entries));
        4 * u64::from(entries) + 32 * held + 48 * u64::from(map_pages)
    }

    fn make(&self, entries: u32, entries_per_page: u32, is_small: bool) -> Box<dyn Map> {
        Box::new(Cdftl::new(self, entries, entries_per_page, is_small))
    }
}

/// Entries and translation pages, each in the order of their use.
pub(super) struct Cdftl {
    entries: SegmentedLru,
    pages: SegmentedLru,
    entries_per_page: u32,
    host_pages: u32,
}

state!(Cdftl { entries, pages } constant entries_per_page, host_pages);

impl Cdftl {
    fn new(
        parameters: &CdftlParameters,
        host_pages: u32,
        entries_per_page: u32,
        is_small: bool,
    ) -> Self {
        let [pages, entries] = parameters.room(entries_per_page);
        let map_pages = host_pages.div_ceil(entries_per_page);
        Self {
            entries: SegmentedLru::new(host_pages, entries, 0, is_small),
            pages: SegmentedLru::new(map_pages, pages, 0, false),
            entries_per_page,
            host_pages,
        }
    }

    fn page_of(&self, lpn: Lpn) -> Lpn {
        Lpn(lpn.0 / self.entries_per_page)
    }

    /// Entries of a translation page are written with it.
    fn clean(&mut self, page: Lpn) {
        let first = page.0 * self.entries_per_page;
        for lpn in first..first.saturating_add(self.entries_per_page) {
            self.entries.clean(Lpn(lpn));
        }
    }
}

impl Map for Cdftl {
    fn look_up(&mut self, lpn: Lpn, _following: u32) -> Found {
        if self.entries.touch(lpn) {
            Found::Here
        } else if self.pages.touch(self.page_of(lpn)) {
            Found::InPage
        } else {
            Found::Nowhere
        }
    }

    fn make_room(&mut self, lpn: Lpn, _places: &Places<'_>) -> Option<WriteBack> {
        let own = self.page_of(lpn);
        if !self.pages.holds(own) && self.pages.is_full() {
            let (page, is_changed) = self.pages.drop_oldest()?;
            if is_changed {
                self.clean(page);
                return Some(WriteBack { page: page.0, is_whole: true });
            }
        }
        while self.entries.is_full() {
            let (entry, is_changed) = self.entries.drop_oldest()?;
            let page = self.page_of(entry);
            if is_changed && !self.pages.change(page) {
                return Some(WriteBack { page: page.0, is_whole: false });
            }
        }
        None
    }

    fn load(&mut self, lpn: Lpn) {
        let page = self.page_of(lpn);
        if !self.pages.holds(page) {
            self.pages.add(page);
        }
        self.entries.add(lpn);
    }

    fn change(&mut self, lpn: Lpn) -> bool {
        self.entries.change(lpn) || self.pages.change(self.page_of(lpn))
    }

    fn is_changed(&self, lpn: Lpn) -> bool {
        self.entries.is_changed(lpn) || self.pages.is_changed(self.page_of(lpn))
    }

    fn holds(&self, lpn: Lpn) -> bool {
        self.entries.holds(lpn) || self.pages.holds(self.page_of(lpn))
    }

    fn held(&self) -> Vec<Lpn> {
        let pages = self.pages.pages().flat_map(|page| {
            let first = page.0 * self.entries_per_page;
            first..first.saturating_add(self.entries_per_page).min(self.host_pages)
        });
        self.entries.pages().chain(pages.map(Lpn)).collect()
    }

    fn memory_bytes(&self) -> usize {
        self.entries.bytes() + self.pages.bytes()
    }

    fn fetch_ahead(&self, [_, _, far]: [Lpn; 3]) {
        self.entries.fetch(far);
    }

    fn check(&self) -> Result<(), String> {
        self.entries.check()?;
        self.pages.check()
    }
}
