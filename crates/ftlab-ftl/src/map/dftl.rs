//! `dftl`: entries of pages one by one, the least useful of which leaves.
//!
//! # Rule
//! A cache of entries, which a segmented LRU orders. An entry that has to leave and has changed is written back: its
//! translation page is read, changed and written. The directory of translation pages is in memory.
//!
//! When collection has moved pages, the entries that are cached change there, and nothing is written (lazy copying).
//! Of the others of a victim, those of one translation page are written together (batch update).
//!
//! # Where the paper is silent
//! Half of the entries may be protected. An entry takes 8 bytes: a logical and a flash page. Of a translation page,
//! the entry that leaves is written back alone, and other changed ones stay. A trim looks its page up like a write.
//!
//! # Reference
//! Gupta, Kim, Urgaonkar, "DFTL: A Flash Translation Layer Employing Demand-based Selective Caching of Page-level
//! Address Mappings", ASPLOS 2009, section 3.

use crate::map::contract::{Found, Map, OnFlash, Places, WriteBack};
use crate::map::lru::SegmentedLru;
use crate::state::state;
use ftlab_flash::Lpn;
use ftlab_spec::ByteSize;

ftlab_spec::parameters! {
    /// What a cache of single entries is like.
    #[derive(Copy)]
    pub struct DftlParameters {
        /// Memory for entries, at least as much as a page holds.
        cache: ByteSize = ByteSize(0), "cache", from "our choice";
        /// Bytes that an entry takes there.
        entry_bytes: u32 = 8, "entry-bytes" in 1..=64, from "a logical and a flash page";
        /// Share of the entries that may be protected, since they were used again; 0 is plain LRU.
        protected: f64 = 0.5, "protected" in 0.0..=1.0, from "our choice";
    }
}

impl DftlParameters {
    /// Entries that the cache holds at most.
    fn entries(&self) -> u32 {
        u32::try_from(self.cache.0 / u64::from(self.entry_bytes)).unwrap_or(u32::MAX)
    }
}

impl OnFlash for DftlParameters {
    const NAME: &'static str = "dftl";

    fn cache(&mut self) -> &mut ByteSize {
        &mut self.cache
    }

    fn single_entries(&self, _entries_per_page: u32) -> u32 {
        self.entries()
    }

    fn memory_bytes(&self, entries: u32, _map_pages: u32) -> u64 {
        4 * u64::from(entries) + 32 * u64::from(self.entries().min(entries))
    }

    fn make(&self, entries: u32, entries_per_page: u32, is_small: bool) -> Box<dyn Map> {
        Box::new(Dftl::new(self, entries, entries_per_page, is_small))
    }
}

/// Entries in the order of their use.
pub(super) struct Dftl {
    cache: SegmentedLru,
    entries_per_page: u32,
}

state!(Dftl { cache } constant entries_per_page);

impl Dftl {
    pub(super) fn new(
        parameters: &DftlParameters,
        host_pages: u32,
        entries_per_page: u32,
        is_small: bool,
    ) -> Self {
        let entries = parameters.entries().min(host_pages);
        let protected = (parameters.protected * f64::from(entries)) as u32;
        let cache = SegmentedLru::new(host_pages, entries, protected, is_small);
        Self { cache, entries_per_page }
    }
}

impl Map for Dftl {
    fn look_up(&mut self, lpn: Lpn, _following: u32) -> Found {
        if self.cache.touch(lpn) { Found::Here } else { Found::Nowhere }
    }

    fn make_room(&mut self, _lpn: Lpn, _places: &Places<'_>) -> Option<WriteBack> {
        if !self.cache.is_full() {
            return None;
        }
        let (dropped, is_changed) = self.cache.drop_oldest()?;
        is_changed.then(|| WriteBack::in_part(dropped.0 / self.entries_per_page))
    }

    fn load(&mut self, lpn: Lpn) {
        self.cache.add(lpn);
    }

    #[inline]
    fn change(&mut self, lpn: Lpn) -> bool {
        self.cache.change(lpn)
    }

    fn change_moved(&mut self, moved: &[u32], others: &mut Vec<u32>) {
        self.cache.change_all(moved, others);
    }

    fn is_changed(&self, lpn: Lpn) -> bool {
        self.cache.is_changed(lpn)
    }

    fn holds(&self, lpn: Lpn) -> bool {
        self.cache.holds(lpn)
    }

    fn loads_one(&self) -> bool {
        true
    }

    fn held(&self) -> Vec<Lpn> {
        self.cache.pages().collect()
    }

    fn memory_bytes(&self) -> usize {
        self.cache.bytes()
    }

    #[inline]
    fn fetch_ahead(&self, [_, _, far]: [Lpn; 3]) {
        self.cache.fetch(far);
    }

    fn check(&self) -> Result<(), String> {
        self.cache.check()
    }
}
