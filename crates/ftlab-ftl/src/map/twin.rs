//! `1r-greedy` with a map once more, in the obvious way: what the fast one must equal.
//!
//! Translation pages have contents here. Whatever comes into memory from flash is compared with where pages are.

use crate::MapCounts;
use crate::map::slow::{Held, Leaving, Slow};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

/// A block, and a page in it.
type Place = (usize, usize);

/// What a flash page holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Page {
    Host(u32),
    Map(u32),
}

/// How large everything is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) blocks: usize,
    pub(super) pages_per_block: usize,
    pub(super) reserve: usize,
    pub(super) entries_per_page: u32,
    /// Translation pages that memory of the host holds; 0 if there is none.
    pub(super) in_host: usize,
}

#[derive(Debug, Default)]
struct Block {
    /// What was programmed, as long as it is valid.
    pages: Vec<Option<Page>>,
    allocated: usize,
}

#[derive(Debug)]
pub(super) struct Twin {
    shape: Shape,
    blocks: Vec<Block>,
    free: VecDeque<usize>,
    /// Of host pages, and of translation pages.
    open: [Option<usize>; 2],
    sealed: [BTreeSet<usize>; 2],
    allocations: usize,
    pub(super) places: BTreeMap<Page, Place>,
    /// Translation page -> its newest content.
    contents: HashMap<u32, HashMap<u32, Option<Place>>>,
    /// Which entries are in memory; none if all are.
    cache: Option<Box<dyn Slow>>,
    /// Page -> its entry.
    cached: HashMap<u32, Option<Place>>,
    held: Held,
    /// Translation pages in memory of the host, newest first.
    host: Vec<u32>,
    /// By victim, the pages that moved.
    moved: VecDeque<Vec<u32>>,
    pub(super) relocations: u64,
    pub(super) erases: u64,
    pub(super) counts: MapCounts,
}

impl Twin {
    pub(super) fn new(shape: Shape, cache: Option<Box<dyn Slow>>) -> Self {
        Self {
            shape,
            blocks: (0..shape.blocks).map(|_| Block::default()).collect(),
            free: (0..shape.blocks).collect(),
            open: [None; 2],
            sealed: Default::default(),
            allocations: 0,
            places: BTreeMap::new(),
            contents: HashMap::new(),
            cache,
            cached: HashMap::new(),
            held: Held::new(),
            host: Vec::new(),
            moved: VecDeque::new(),
            relocations: 0,
            erases: 0,
            counts: MapCounts::default(),
        }
    }

    /// Writes a page, after which `following` of its request come.
    pub(super) fn write(&mut self, lpn: u32, following: u32) {
        self.look_up_to_write(lpn, following);
        self.put(Page::Host(lpn));
        self.note(lpn);
        self.settle();
        let place = self.truth(lpn).map(|place| self.number(place));
        if let (Some(cache), Some(place)) = (&mut self.cache, place) {
            cache.wrote(lpn, place);
        }
        self.count_learned();
    }

    pub(super) fn trim(&mut self, lpn: u32) {
        self.look_up_to_write(lpn, 0);
        if let Some(place) = self.places.remove(&Page::Host(lpn)) {
            self.invalidate(place);
            self.note(lpn);
        }
        self.count_learned();
    }

    /// Reads a page, after which `following` of its request come.
    pub(super) fn read(&mut self, lpn: u32, following: u32) {
        let loads = self.counts.loads;
        self.counts.read_lookups += 1;
        if let Some(cache) = &mut self.cache
            && !self.held.contains_key(&lpn)
            && cache.tells(lpn)
        {
            cache.look_up(lpn, following, &self.held);
            self.counts.told += 1;
            return;
        }
        let was_there = self.look_up(lpn, following);
        self.counts.read_hits += u64::from(was_there);
        self.counts.double_reads += self.counts.loads - loads;
        self.count_learned();
    }

    /// A flash page by its number.
    fn number(&self, (block, page): Place) -> usize {
        block * self.shape.pages_per_block + page
    }

    /// How much models have learned.
    fn count_learned(&mut self) {
        let learned = self.cache.as_ref().map_or([0; 3], |cache| cache.learned());
        [self.counts.segments, self.counts.segment_bytes, self.counts.learned] = learned;
    }

    /// A translation page is about to be written.
    fn train(&mut self, page: u32) {
        let Some(mut cache) = self.cache.take() else { return };
        cache.train(page, &|lpn| self.truth(lpn).map(|place| self.number(place)));
        self.cache = Some(cache);
    }

    fn look_up_to_write(&mut self, lpn: u32, following: u32) {
        let was_there = self.look_up(lpn, following);
        self.counts.write_lookups += 1;
        self.counts.write_hits += u64::from(was_there);
    }

    fn truth(&self, lpn: u32) -> Option<Place> {
        self.places.get(&Page::Host(lpn)).copied()
    }

    /// What is in memory of a page tells where it is, and that this is news.
    fn note(&mut self, lpn: u32) {
        if self.cache.is_some() {
            let truth = self.truth(lpn);
            *self.cached.get_mut(&lpn).unwrap() = truth;
            self.held.insert(lpn, true);
            self.cache.iter_mut().for_each(|cache| cache.forget(lpn));
        }
    }

    fn look_up(&mut self, lpn: u32, following: u32) -> bool {
        let Some(mut cache) = self.cache.take() else { return true };
        cache.look_up(lpn, following, &self.held);
        let was_there = self.held.contains_key(&lpn);
        if was_there && !cache.is_in_page(lpn) {
            self.cache = Some(cache);
            return true;
        }
        while let Some(Leaving { entries, writes, together, is_whole }) =
            self.next_to_leave(&mut *cache, lpn)
        {
            let mut written = Vec::new();
            for leaving in entries {
                let entry = self.cached.remove(&leaving).unwrap();
                if self.held.remove(&leaving).unwrap() || is_whole {
                    written.push((leaving, entry));
                }
            }
            self.cache = Some(cache);
            if let Some(page) = writes {
                self.counts.write_backs += 1;
                self.update(page, written, together, is_whole);
                self.settle();
            }
            cache = self.cache.take().unwrap();
        }
        let page = lpn / self.shape.entries_per_page;
        self.counts.loads += u64::from(!was_there && self.is_read_from_flash(page));
        let content = self.contents.get(&page);
        let come = cache.comes(lpn, &self.held);
        for page in come {
            let entry = content.and_then(|content| content.get(&page).copied()).flatten();
            assert_eq!(entry, self.truth(page), "page {page}, as its translation page has it");
            self.cached.insert(page, entry);
            self.held.insert(page, false);
        }
        self.cache = Some(cache);
        was_there
    }

    fn next_to_leave(&self, cache: &mut dyn Slow, lpn: u32) -> Option<Leaving> {
        cache.leaves(lpn, &self.held, &|lpn| self.truth(lpn).map(|place| self.number(place)))
    }

    /// Reads, changes and writes a translation page.
    fn update(
        &mut self,
        page: u32,
        mut entries: Vec<(u32, Option<Place>)>,
        together: bool,
        is_whole: bool,
    ) {
        self.counts.update_reads += u64::from(!is_whole && self.is_read_from_flash(page));
        if together {
            let first = page * self.shape.entries_per_page;
            for (lpn, is_changed) in self.held.range_mut(first..first + self.shape.entries_per_page)
            {
                if std::mem::take(is_changed) {
                    entries.push((*lpn, self.cached[lpn]));
                }
            }
        }
        self.put(Page::Map(page));
        self.contents.entry(page).or_default().extend(entries);
        self.keep_in_host(page);
    }

    /// Reads a translation page, if there is one; false also if memory of the host has it.
    fn is_read_from_flash(&mut self, page: u32) -> bool {
        let is_there = self.contents.contains_key(&page);
        let is_in_host = self.host.contains(&page);
        assert!(is_there || !is_in_host, "page {page} is nowhere else");
        self.counts.host_reads += u64::from(is_in_host);
        if is_there {
            self.keep_in_host(page);
        }
        is_there && !is_in_host
    }

    fn keep_in_host(&mut self, page: u32) {
        self.host.retain(|other| *other != page);
        self.host.insert(0, page);
        self.host.truncate(self.shape.in_host);
    }

    fn settle(&mut self) {
        while let Some(victim) = self.moved.pop_front() {
            if self.cache.is_none() {
                continue;
            }
            let mut pages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for lpn in victim {
                if self.held.contains_key(&lpn) {
                    self.counts.lazy_updates += 1;
                    self.note(lpn);
                } else {
                    self.cache.iter_mut().for_each(|cache| cache.forget(lpn));
                    pages.entry(lpn / self.shape.entries_per_page).or_default().push(lpn);
                }
            }
            for (page, lpns) in pages {
                self.counts.move_updates += 1;
                self.train(page);
                let entries = lpns.iter().map(|lpn| (*lpn, self.truth(*lpn))).collect();
                let together = self.cache.as_ref().is_some_and(|cache| cache.writes_together());
                self.update(page, entries, together, false);
            }
        }
    }

    fn invalidate(&mut self, (block, page): Place) {
        self.blocks[block].pages[page] = None;
    }

    fn put(&mut self, page: Page) {
        let kind = kind(page);
        while self.open[kind].is_none() && self.free.len() <= self.shape.reserve {
            self.collect();
        }
        if let Some(old) = self.places.get(&page).copied() {
            // A block to append to is opened before.
            self.open_block(kind);
            self.invalidate(old);
        }
        self.append(page);
    }

    fn open_block(&mut self, kind: usize) -> usize {
        if self.open[kind].is_none() {
            let block = self.free.pop_front().expect("a free block");
            self.blocks[block] = Block { pages: Vec::new(), allocated: self.allocations };
            self.allocations += 1;
            self.open[kind] = Some(block);
        }
        self.open[kind].unwrap()
    }

    fn append(&mut self, page: Page) {
        let kind = kind(page);
        let block = self.open_block(kind);
        self.blocks[block].pages.push(Some(page));
        let place = (block, self.blocks[block].pages.len() - 1);
        self.places.insert(page, place);
        if self.blocks[block].pages.len() == self.shape.pages_per_block {
            self.open[kind] = None;
            self.sealed[kind].insert(block);
        }
    }

    fn valid(&self, block: usize) -> usize {
        self.blocks[block].pages.iter().flatten().count()
    }

    /// The emptiest full block of a kind; of equal ones the one that was allocated first.
    fn emptiest(&self, kind: usize) -> Option<usize> {
        let sealed = self.sealed[kind].iter().copied();
        sealed.min_by_key(|&block| (self.valid(block), self.blocks[block].allocated))
    }

    fn collect(&mut self) {
        let [host, map] = [0, 1].map(|kind| self.emptiest(kind));
        let is_of_map = map.is_some_and(|map| {
            self.valid(map) < self.shape.pages_per_block
                && host.is_none_or(|host| self.valid(map) <= self.valid(host))
        });
        let victim = if is_of_map { map } else { host }.expect("a victim");
        assert!(self.valid(victim) < self.shape.pages_per_block, "a victim gains something");
        self.sealed[usize::from(is_of_map)].remove(&victim);
        let mut moved = Vec::new();
        for page in std::mem::take(&mut self.blocks[victim].pages).into_iter().flatten() {
            self.append(page);
            self.relocations += 1;
            match page {
                Page::Host(lpn) => moved.push(lpn),
                Page::Map(_) => self.counts.relocations += 1,
            }
        }
        self.moved.push_back(moved);
        self.free.push_back(victim);
        self.erases += 1;
    }
}

fn kind(page: Page) -> usize {
    usize::from(matches!(page, Page::Map(_)))
}
