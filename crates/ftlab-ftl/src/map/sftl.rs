//! `s-ftl`: whole translation pages, smaller in memory the more of their entries follow one another.
//!
//! # Idea
//! What is written in order lies in order on flash, so most entries of its translation page follow from the one before.
//! A page takes little memory then, and more pages are in memory. Where writes are scattered, a few changed entries of
//! a page cost as much to write back as all of them. So they wait apart until there are more.
//!
//! # Rule
//! Translation pages are in memory as a whole, and leave in the order of their use. In memory, a page has a bit for each
//! entry, which says whether it follows from the one before, and those that do not; or all of its entries, if that is
//! less. One that has changed is written without being read.
//!
//! If few entries of a page that leaves have changed, they stay in a buffer, and the page is not written. If the buffer
//! has no room for them, those of the page with the most entries there are written back.
//!
//! # Parameters
//! `buffer` is the share of the memory for the buffer, in which an entry takes `entry-bytes`; `few` is how many changed
//! entries go there at most.
//!
//! # Where the paper is silent
//! A tenth of the memory is the buffer, and four are few. Pages that have grown in memory make others leave when an entry
//! of a page in memory is looked up next. Entries that are nowhere follow one another. An entry in the buffer is found
//! there, and joins its page when that comes. Of pages with equally many entries in the buffer, the first one is written.
//!
//! # Reference
//! Jiang, Zhang, Yuan, Hu, Chen, "S-FTL: An Efficient Address Translation for Flash Memory by Exploiting Spatial
//! Locality", MSST 2011. Of the paper, its abstract was at hand: it names sequential, clustered and sparse writes.

use crate::ensure::ensure;
use crate::map::contract::{Found, Map, OnFlash, Places, WriteBack};
use crate::map::lru::SegmentedLru;
use crate::state::state;
use ftlab_flash::{Lpn, Ppn};
use ftlab_spec::ByteSize;
use std::ops::Range;

/// Bytes of an entry in a translation page, and of one that does not follow from the one before.
const FLASH_ENTRY_BYTES: u64 = 4;

/// Bytes by which a page grows at most when one of its entries changes: it follows no more, and neither does the next.
const GROWTH_BYTES: u64 = 2 * FLASH_ENTRY_BYTES;

ftlab_spec::parameters! {
    /// What a cache of translation pages is like.
    #[derive(Copy)]
    pub struct SftlParameters {
        /// Memory for pages and buffer, at least two pages.
        cache: ByteSize = ByteSize(0), "cache", from "our choice";
        /// Share of the memory for the buffer.
        buffer: f64 = 0.1, "buffer" in 0.0..=0.5, from "our choice";
        /// Changed entries of a page that go to the buffer at most.
        few: u32 = 4, "few" in 0..=1024, from "our choice";
        /// Bytes that an entry takes in the buffer.
        entry_bytes: u32 = 8, "entry-bytes" in 1..=64, from "a logical and a flash page";
    }
}

impl SftlParameters {
    /// Bytes for pages, and entries of the buffer.
    pub(super) fn room(&self) -> [u64; 2] {
        let buffer = (self.buffer * self.cache.0 as f64) as u64;
        [self.cache.0 - buffer, buffer / u64::from(self.entry_bytes)]
    }
}

impl OnFlash for SftlParameters {
    const NAME: &'static str = "s-ftl";

    const PAGES_MIN: u64 = 2;

    const WEIGHS_PAGES: bool = true;

    fn cache(&mut self) -> &mut ByteSize {
        &mut self.cache
    }

    fn memory_bytes(&self, entries: u32, map_pages: u32) -> u64 {
        // Changes that were not looked at yet would grow the pages beyond the memory.
        let news = (self.cache.0 / GROWTH_BYTES).min(u64::from(entries));
        u64::from(entries) / 4 + 64 * u64::from(map_pages) + 16 * news
    }

    /// Two bits an entry, and pages as they are counted: their places are kept in the same way.
    fn live_bytes(&self, entries: u32, map_pages: u32) -> u64 {
        self.memory_bytes(entries, map_pages) + 2 * self.cache.0
    }

    fn make(&self, entries: u32, entries_per_page: u32, _is_small: bool) -> Box<dyn Map> {
        Box::new(Sftl::new(*self, entries, entries_per_page))
    }
}

/// Translation pages in the order of their use, and changed entries of others.
pub(super) struct Sftl {
    parameters: SftlParameters,
    host_pages: u32,
    entries_per_page: u32,
    order: SegmentedLru,
    /// Entries of pages in memory that do not follow from the one before, and how many each page has.
    breaks: Vec<u64>,
    breaks_of: Vec<u32>,
    /// Entries that have changed since pages were looked at, and what these took then.
    news: Vec<u32>,
    bytes: u64,
    /// Entries that have changed: of a page in memory, or in the buffer.
    changed: Vec<u64>,
    changed_of: Vec<u32>,
    /// Pages with entries in the buffer, and these.
    buffered: Vec<u32>,
    buffered_entries: u64,
}

state!(Sftl {
    order, breaks, breaks_of, news, bytes, changed, changed_of, buffered, buffered_entries
} constant parameters, host_pages, entries_per_page);

impl Sftl {
    fn new(parameters: SftlParameters, host_pages: u32, entries_per_page: u32) -> Self {
        let map_pages = host_pages.div_ceil(entries_per_page);
        let of_pages = map_pages as usize;
        Self {
            parameters,
            host_pages,
            entries_per_page,
            order: SegmentedLru::new(map_pages, map_pages, 0, false),
            breaks: vec![0; (host_pages as usize).div_ceil(64)],
            breaks_of: vec![0; of_pages],
            news: Vec::new(),
            bytes: 0,
            changed: vec![0; (host_pages as usize).div_ceil(64)],
            changed_of: vec![0; of_pages],
            buffered: Vec::new(),
            buffered_entries: 0,
        }
    }

    fn page_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries_per_page
    }

    fn entries_of(&self, page: u32) -> Range<u32> {
        let first = page * self.entries_per_page;
        first..first.saturating_add(self.entries_per_page).min(self.host_pages)
    }

    fn has_changed(&self, lpn: u32) -> bool {
        self.changed[lpn as usize / 64] >> (lpn % 64) & 1 == 1
    }

    /// Bytes that a page takes in memory.
    fn size(&self, page: u32) -> u64 {
        let entries = self.entries_of(page).len() as u64;
        let breaks = u64::from(self.breaks_of[page as usize]);
        (FLASH_ENTRY_BYTES * entries).min(entries.div_ceil(8) + FLASH_ENTRY_BYTES * breaks)
    }

    /// Looks at one entry: whether it follows from the one before.
    fn look_at(&mut self, lpn: u32, places: &Places<'_>) {
        let page = self.page_of(Lpn(lpn));
        let is_first = lpn.is_multiple_of(self.entries_per_page);
        let before = (!is_first).then(|| places(Lpn(lpn - 1)));
        let follows =
            before.is_some_and(|before| places(Lpn(lpn)) == before.map(|Ppn(at)| Ppn(at + 1)));
        let (word, bit) = (lpn as usize / 64, 1 << (lpn % 64));
        let was_break = self.breaks[word] & bit != 0;
        if was_break == follows {
            self.breaks[word] ^= bit;
            let breaks = &mut self.breaks_of[page as usize];
            *breaks = if follows { *breaks - 1 } else { *breaks + 1 };
        }
    }

    /// Looks at what has changed of pages in memory.
    fn look_again(&mut self, places: &Places<'_>) {
        let mut news = std::mem::take(&mut self.news);
        for lpn in news.drain(..) {
            let page = self.page_of(Lpn(lpn));
            if self.order.holds(Lpn(page)) {
                self.bytes -= self.size(page);
                let end = self.entries_of(page).end;
                (lpn..end.min(lpn + 2)).for_each(|lpn| self.look_at(lpn, places));
                self.bytes += self.size(page);
            }
        }
        self.news = news;
    }

    /// The entries of a page are as it has them on flash.
    fn clean(&mut self, page: u32) {
        for lpn in self.entries_of(page) {
            self.changed[lpn as usize / 64] &= !(1 << (lpn % 64));
        }
        self.changed_of[page as usize] = 0;
    }

    /// Takes the entries of the page with the most of them from the buffer.
    fn empty_buffer(&mut self) -> Option<WriteBack> {
        let most = |page: &&u32| (self.changed_of[**page as usize], std::cmp::Reverse(**page));
        let page = *self.buffered.iter().max_by_key(most)?;
        self.buffered.retain(|other| *other != page);
        self.buffered_entries -= u64::from(self.changed_of[page as usize]);
        self.clean(page);
        Some(WriteBack::in_part(page))
    }
}

impl Map for Sftl {
    fn look_up(&mut self, lpn: Lpn, _following: u32) -> Found {
        if self.order.touch(Lpn(self.page_of(lpn))) {
            let most = self.bytes + GROWTH_BYTES * self.news.len() as u64;
            if most > self.parameters.room()[0] { Found::InPage } else { Found::Here }
        } else if self.has_changed(lpn.0) {
            Found::Here
        } else {
            Found::Nowhere
        }
    }

    fn make_room(&mut self, lpn: Lpn, places: &Places<'_>) -> Option<WriteBack> {
        self.look_again(places);
        let own = self.page_of(lpn);
        let mut coming = 0;
        if !self.order.holds(Lpn(own)) {
            self.entries_of(own).for_each(|lpn| self.look_at(lpn, places));
            coming = self.size(own);
        }
        let [room, most] = self.parameters.room();
        while self.bytes + coming > room {
            let Lpn(page) = self.order.oldest()?;
            let changed = self.changed_of[page as usize];
            let is_few = (1..=self.parameters.few).contains(&changed) && u64::from(changed) <= most;
            if is_few && self.buffered_entries + u64::from(changed) > most {
                return self.empty_buffer();
            }
            self.order.drop_oldest();
            self.bytes -= self.size(page);
            if is_few {
                self.buffered.push(page);
                self.buffered_entries += u64::from(changed);
            } else if changed > 0 {
                self.clean(page);
                return Some(WriteBack { page, is_whole: true });
            }
        }
        None
    }

    fn load(&mut self, lpn: Lpn) {
        let page = self.page_of(lpn);
        if self.order.holds(Lpn(page)) {
            return;
        }
        let changed = self.changed_of[page as usize];
        if changed > 0 {
            self.buffered.retain(|other| *other != page);
            self.buffered_entries -= u64::from(changed);
        }
        self.order.add(Lpn(page));
        self.bytes += self.size(page);
    }

    fn change(&mut self, lpn: Lpn) -> bool {
        let page = self.page_of(lpn);
        if !self.order.holds(Lpn(page)) {
            return self.has_changed(lpn.0);
        }
        self.news.push(lpn.0);
        if !self.has_changed(lpn.0) {
            self.changed[lpn.index() / 64] |= 1 << (lpn.0 % 64);
            self.changed_of[page as usize] += 1;
        }
        true
    }

    fn is_changed(&self, lpn: Lpn) -> bool {
        self.has_changed(lpn.0)
    }

    fn holds(&self, lpn: Lpn) -> bool {
        self.has_changed(lpn.0) || self.holds_page(self.page_of(lpn))
    }

    fn held(&self) -> Vec<Lpn> {
        let buffered = self.buffered.iter().flat_map(|page| self.entries_of(*page));
        buffered.filter(|lpn| self.has_changed(*lpn)).map(Lpn).collect()
    }

    fn held_pages(&self) -> Vec<u32> {
        self.order.pages().map(|page| page.0).collect()
    }

    fn holds_page(&self, page: u32) -> bool {
        self.order.holds(Lpn(page))
    }

    fn weighs_pages(&self) -> bool {
        true
    }

    fn memory_bytes(&self) -> usize {
        self.order.bytes()
            + size_of_val(&self.breaks[..])
            + size_of_val(&self.breaks_of[..])
            + size_of_val(&self.changed[..])
            + size_of_val(&self.changed_of[..])
            + self.news.capacity() * size_of::<u32>()
    }

    fn fetch_ahead(&self, _pages: [Lpn; 3]) {}

    fn check(&self) -> Result<(), String> {
        self.order.check()?;
        let (mut bytes, mut buffered) = (0, 0);
        for page in 0..self.breaks_of.len() as u32 {
            let changed = self.entries_of(page).filter(|lpn| self.has_changed(*lpn)).count();
            ensure!(
                changed == self.changed_of[page as usize] as usize,
                "page {page} has {changed}"
            );
            let (is_held, is_buffered) =
                (self.order.holds(Lpn(page)), self.buffered.contains(&page));
            ensure!(is_buffered == (!is_held && changed > 0), "page {page} is not in the buffer");
            bytes += if is_held { self.size(page) } else { 0 };
            buffered += if is_buffered { changed as u64 } else { 0 };
        }
        ensure!(bytes == self.bytes, "{bytes} bytes are taken");
        ensure!(buffered == self.buffered_entries, "{buffered} entries are in the buffer");
        ensure!(buffered <= self.parameters.room()[1], "they do not fit");
        Ok(())
    }
}
