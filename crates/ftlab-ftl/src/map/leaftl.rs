//! `leaftl`: where pages are is learned, a line for many of them.
//!
//! # Idea
//! Pages that are written in order lie in order, so a line tells the places of many in 8 bytes. Written pages wait in a
//! buffer and are programmed in the order of their addresses, which makes lines of scattered writes, too. If a line may be
//! off by a few flash pages, fewer do. A flash page tells in its spare area which pages its neighbours hold, so a wrong
//! prediction costs one more read.
//!
//! # Rule
//! Written pages wait until there are `buffer` of them. They are programmed in order, and lines are learned through those
//! of a block, with an error of at most `gamma` flash pages (`learned.rs`). What collection moves of a victim is learned
//! in the same way. Segments are compacted after every `compaction` pages that were learned.
//!
//! Segments are in memory by translation page, and leave in the order of the use of these. Pages that wait are in memory
//! beside.
//!
//! # Parameters
//! `gamma` is the greatest error; with 0, no prediction is wrong. Buffer and compaction are those of the paper, as is
//! `greedy=on`: the longest line wins. By default, one that may be off wins only if it takes fewer bytes.
//!
//! # Where the paper is silent
//! A page that is written again while it waits is programmed twice, so that the writes of all maps are the same: earlier
//! versions come first, so that the newest lie side by side. A trim of one that waits programs all. What collection moves
//! is placed as the policy wants, not in order. A slope is a multiple of 1/32768 instead of a float, and counts from the
//! first page that was learned. Before a page is programmed or trimmed, its old place is looked up: a wrong prediction
//! counts there as well. A translation page takes one page of flash, which has entries if segments would take more.
//! A wrong prediction reads a page of the LUN of the right one, wherever it pointed.
//! Segments are compacted when their translation page is written, and when memory is full, too; those that are not in
//! memory then are not.
//!
//! # Reference
//! Sun, Li, Sun, Sun, Vucinic, Huang, "LeaFTL: A Learning-Based Flash Translation Layer for Solid-State Drives", ASPLOS
//! 2023, sections 3.1 to 3.7.

use crate::ensure::ensure;
use crate::map::contract::{Found, Learned, Map, OnFlash, Places, Point, WriteBack};
use crate::map::learned::{GROUP_PAGES, Group};
use crate::map::lru::SegmentedLru;
use crate::state::state;
use ftlab_flash::{Lpn, Ppn};
use ftlab_spec::ByteSize;

ftlab_spec::parameters! {
    /// What a learned map is like.
    #[derive(Copy)]
    pub struct LeaftlParameters {
        /// Memory for segments, at least as much as two pages hold.
        cache: ByteSize = ByteSize(0), "cache", from "our choice";
        /// Flash pages by which a prediction may be wrong.
        gamma: u32 = 0, "gamma" in 0..=64, from "LeaFTL, section 4.1";
        /// Written pages that wait to be programmed in order; 1 is none.
        buffer: u32 = 2048, "buffer" in 1..=1_048_576, from "LeaFTL, section 3.3: 8 MiB";
        /// Whether an approximate segment is learned wherever it has more pages, or where it takes fewer bytes only.
        greedy: bool = false, "greedy", from "our choice; on is as published";
        /// Learned pages after which segments are compacted.
        compaction: u32 = 1_000_000, "compaction" in 1..=4_294_967_295, from "LeaFTL, section 3.7";
    }
}

impl OnFlash for LeaftlParameters {
    const NAME: &'static str = "leaftl";

    /// A segment takes twice as much as an entry: as much memory as the segments of a translation page take at most.
    const PAGES_MIN: u64 = 2;

    fn has_buffer(&self) -> bool {
        self.buffer > 1
    }

    fn cache(&mut self) -> &mut ByteSize {
        &mut self.cache
    }

    fn memory_bytes(&self, entries: u32, map_pages: u32) -> u64 {
        // A page has a segment of its own, and one that is outdated. Lists of them have room for twice as many.
        176 * u64::from(entries) + 64 * u64::from(map_pages) + 64 * u64::from(self.buffer)
    }

    fn make(&self, entries: u32, entries_per_page: u32, _is_small: bool) -> Box<dyn Map> {
        Box::new(Leaftl::new(*self, entries, entries_per_page))
    }
}

/// Groups by translation page, and which of these are in memory.
pub(super) struct Leaftl {
    parameters: LeaftlParameters,
    entries_per_page: u32,
    groups_per_page: u32,
    groups: Vec<Group>,
    /// Translation pages in memory.
    order: SegmentedLru,
    /// Bytes of the segments of each translation page, and of those in memory.
    bytes_of: Vec<u32>,
    bytes: u64,
    /// Pages that were learned once, and how many these are.
    is_learned: Vec<u64>,
    learned: Learned,
    /// Learned pages until the next compaction.
    to_compaction: u32,
}

state!(Leaftl { groups, order, bytes_of, bytes, is_learned, learned, to_compaction }
    constant parameters, entries_per_page, groups_per_page);

impl Leaftl {
    fn new(parameters: LeaftlParameters, host_pages: u32, entries_per_page: u32) -> Self {
        let pages = host_pages.div_ceil(entries_per_page);
        let groups_per_page = entries_per_page.div_ceil(GROUP_PAGES);
        Self {
            parameters,
            entries_per_page,
            groups_per_page,
            groups: vec![Group::default(); (pages * groups_per_page) as usize],
            order: SegmentedLru::new(pages, pages, 0, false),
            bytes_of: vec![0; pages as usize],
            bytes: 0,
            is_learned: vec![0; host_pages.div_ceil(64) as usize],
            learned: Learned::default(),
            to_compaction: parameters.compaction,
        }
    }

    fn page_of(&self, lpn: Lpn) -> u32 {
        lpn.0 / self.entries_per_page
    }

    /// The group of a page, and which page it is there.
    fn group_of(&self, lpn: Lpn) -> (usize, u8) {
        let in_page = lpn.0 % self.entries_per_page;
        let group = self.page_of(lpn) * self.groups_per_page + in_page / GROUP_PAGES;
        (group as usize, (in_page % GROUP_PAGES) as u8)
    }

    /// Changes a group, which takes more memory or less then.
    fn change_group(&mut self, group: usize, change: impl FnOnce(&mut Group)) {
        let before = self.groups[group].size();
        change(&mut self.groups[group]);
        let after = self.groups[group].size();
        let page = group as u32 / self.groups_per_page;
        let of_page = &mut self.bytes_of[page as usize];
        *of_page = *of_page + after[1] - before[1];
        let changed =
            |was: u64, index: usize| was + u64::from(after[index]) - u64::from(before[index]);
        self.learned.segments = changed(self.learned.segments, 0);
        self.learned.bytes = changed(self.learned.bytes, 1);
        if self.order.holds(Lpn(page)) {
            self.bytes = changed(self.bytes, 1);
        }
    }

    fn compact(&mut self) {
        for page in 0..self.bytes_of.len() as u32 {
            if self.order.holds(Lpn(page)) {
                self.compact_page(page);
            }
        }
    }

    fn compact_page(&mut self, page: u32) {
        let first = page * self.groups_per_page;
        for group in first..first + self.groups_per_page {
            self.change_group(group as usize, Group::compact);
        }
    }
}

impl Map for Leaftl {
    fn look_up(&mut self, lpn: Lpn, _following: u32) -> Found {
        if !self.order.touch(Lpn(self.page_of(lpn))) {
            Found::Nowhere
        } else if self.bytes > self.parameters.cache.0 {
            Found::InPage
        } else {
            Found::Here
        }
    }

    fn make_room(&mut self, lpn: Lpn, _places: &Places<'_>) -> Option<WriteBack> {
        let own = self.page_of(lpn);
        let is_held = self.order.holds(Lpn(own));
        let coming = if is_held { 0 } else { u64::from(self.bytes_of[own as usize]) };
        if is_held && self.bytes > self.parameters.cache.0 {
            self.compact_page(own);
        }
        while self.bytes + coming > self.parameters.cache.0 {
            // The page itself stays, which would fit.
            if self.order.oldest()? == Lpn(own) {
                return None;
            }
            let (Lpn(page), is_changed) = self.order.drop_oldest()?;
            self.bytes -= u64::from(self.bytes_of[page as usize]);
            if is_changed {
                return Some(WriteBack { page, is_whole: true });
            }
        }
        None
    }

    fn load(&mut self, lpn: Lpn) {
        let page = self.page_of(lpn);
        if !self.order.holds(Lpn(page)) {
            self.order.add(Lpn(page));
            self.bytes += u64::from(self.bytes_of[page as usize]);
        }
    }

    fn change(&mut self, lpn: Lpn) -> bool {
        self.order.change(Lpn(self.page_of(lpn)))
    }

    fn is_changed(&self, lpn: Lpn) -> bool {
        self.order.is_changed(Lpn(self.page_of(lpn)))
    }

    fn written(&mut self, page: u32) {
        self.compact_page(page);
        self.order.clean(Lpn(page));
    }

    fn learns(&self) -> Option<u32> {
        Some(self.parameters.buffer)
    }

    fn learn(&mut self, points: &[Point]) {
        let mut rest = points;
        let mut of_group = Vec::new();
        while let Some(first) = rest.first() {
            let (group, _) = self.group_of(first.lpn);
            of_group.clear();
            for point in rest {
                let (other, page) = self.group_of(point.lpn);
                let is_next = of_group.last().is_none_or(|(before, _)| *before < page);
                if other != group || !is_next {
                    break;
                }
                of_group.push((page, point.place.0));
                let bit = 1 << (point.lpn.0 % 64);
                let word = &mut self.is_learned[point.lpn.index() / 64];
                self.learned.mappings += u64::from(*word & bit == 0);
                *word |= bit;
            }
            let LeaftlParameters { gamma, greedy, .. } = self.parameters;
            self.change_group(group, |group| group.learn(&of_group, gamma, greedy));
            rest = &rest[of_group.len()..];
        }
        let learned = points.len() as u32;
        if self.to_compaction > learned {
            self.to_compaction -= learned;
        } else {
            self.to_compaction = self.parameters.compaction;
            self.compact();
        }
    }

    fn predicts(&self, lpn: Lpn, place: Ppn) -> bool {
        let (group, page) = self.group_of(lpn);
        self.groups[group].look_up(page) == Some(place.0)
    }

    fn learned(&self) -> Learned {
        self.learned
    }

    fn memory_bytes(&self) -> usize {
        self.order.bytes()
            + self.groups.iter().map(Group::memory_bytes).sum::<usize>()
            + size_of_val(&self.groups[..])
            + size_of_val(&self.bytes_of[..])
            + size_of_val(&self.is_learned[..])
    }

    fn fetch_ahead(&self, _pages: [Lpn; 3]) {}

    fn check(&self) -> Result<(), String> {
        self.order.check()?;
        let (mut held, mut all) = (0, Learned::default());
        for (page, groups) in (0..).zip(self.groups.chunks(self.groups_per_page as usize)) {
            let mut bytes = 0;
            for group in groups {
                group.check()?;
                let [segments, of_group] = group.size();
                bytes += of_group;
                all.segments += u64::from(segments);
            }
            ensure!(bytes == self.bytes_of[page as usize], "page {page} has {bytes} bytes");
            all.bytes += u64::from(bytes);
            held += if self.order.holds(Lpn(page)) { u64::from(bytes) } else { 0 };
        }
        all.mappings = self.is_learned.iter().map(|word| u64::from(word.count_ones())).sum();
        ensure!(held == self.bytes, "{held} bytes are in memory");
        ensure!(all == self.learned, "{all:?} is learned");
        Ok(())
    }

    fn check_place(&self, lpn: Lpn, place: Ppn) -> Result<(), String> {
        let (group, page) = self.group_of(lpn);
        let told = self.groups[group].look_up(page);
        let is_near = told.is_some_and(|told| told.abs_diff(place.0) <= self.parameters.gamma);
        ensure!(is_near, "page {lpn} is at {place}, and said to be at {told:?}");
        Ok(())
    }
}
