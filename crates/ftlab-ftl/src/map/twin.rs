//! `1r-greedy` with a cache of single entries once more, in the obvious way: what the fast one must equal.
//!
//! Translation pages have contents here. Whatever comes into memory from flash is compared with where pages are.

use crate::MapCounts;
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
    /// Whether the whole map is in memory; if not, how many entries are, and how many may be protected.
    pub(super) is_in_memory: bool,
    pub(super) entries: usize,
    pub(super) protected: usize,
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
    /// Newest first.
    probation: VecDeque<u32>,
    protected: VecDeque<u32>,
    /// Page -> its entry, and whether that has changed.
    cached: HashMap<u32, (Option<Place>, bool)>,
    /// By victim, the pages that moved.
    moved: VecDeque<Vec<u32>>,
    pub(super) relocations: u64,
    pub(super) erases: u64,
    pub(super) counts: MapCounts,
}

impl Twin {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            shape,
            blocks: (0..shape.blocks).map(|_| Block::default()).collect(),
            free: (0..shape.blocks).collect(),
            open: [None; 2],
            sealed: Default::default(),
            allocations: 0,
            places: BTreeMap::new(),
            contents: HashMap::new(),
            probation: VecDeque::new(),
            protected: VecDeque::new(),
            cached: HashMap::new(),
            moved: VecDeque::new(),
            relocations: 0,
            erases: 0,
            counts: MapCounts::default(),
        }
    }

    pub(super) fn write(&mut self, lpn: u32) {
        self.look_up_to_write(lpn);
        self.put(Page::Host(lpn));
        self.note(lpn);
        self.settle();
    }

    pub(super) fn trim(&mut self, lpn: u32) {
        self.look_up_to_write(lpn);
        if let Some(place) = self.places.remove(&Page::Host(lpn)) {
            self.invalidate(place);
            self.note(lpn);
        }
    }

    pub(super) fn read(&mut self, lpn: u32) {
        let was_there = self.look_up(lpn);
        self.counts.read_lookups += 1;
        self.counts.read_hits += u64::from(was_there);
    }

    fn look_up_to_write(&mut self, lpn: u32) {
        let was_there = self.look_up(lpn);
        self.counts.write_lookups += 1;
        self.counts.write_hits += u64::from(was_there);
    }

    fn truth(&self, lpn: u32) -> Option<Place> {
        self.places.get(&Page::Host(lpn)).copied()
    }

    /// What is in memory of a page tells where it is, and that this is news.
    fn note(&mut self, lpn: u32) {
        let truth = self.truth(lpn);
        if !self.shape.is_in_memory {
            *self.cached.get_mut(&lpn).unwrap() = (truth, true);
        }
    }

    fn look_up(&mut self, lpn: u32) -> bool {
        if self.shape.is_in_memory {
            return true;
        }
        if self.cached.contains_key(&lpn) {
            self.use_entry(lpn);
            return true;
        }
        if self.cached.len() == self.shape.entries {
            let oldest = self.probation.pop_back().or_else(|| self.protected.pop_back()).unwrap();
            if let (entry, true) = self.cached.remove(&oldest).unwrap() {
                self.counts.write_backs += 1;
                self.update(oldest / self.shape.entries_per_page, &[(oldest, entry)]);
                self.settle();
            }
        }
        let content = self.contents.get(&(lpn / self.shape.entries_per_page));
        self.counts.loads += u64::from(content.is_some());
        let entry = content.and_then(|content| content.get(&lpn).copied()).flatten();
        assert_eq!(entry, self.truth(lpn), "page {lpn}, as its translation page has it");
        self.cached.insert(lpn, (entry, false));
        self.probation.push_front(lpn);
        false
    }

    fn use_entry(&mut self, lpn: u32) {
        self.probation.retain(|other| *other != lpn);
        self.protected.retain(|other| *other != lpn);
        if self.shape.protected == 0 {
            self.probation.push_front(lpn);
            return;
        }
        self.protected.push_front(lpn);
        if self.protected.len() > self.shape.protected {
            let oldest = self.protected.pop_back().unwrap();
            self.probation.push_front(oldest);
        }
    }

    /// Reads, changes and writes a translation page.
    fn update(&mut self, page: u32, entries: &[(u32, Option<Place>)]) {
        self.counts.update_reads += u64::from(self.contents.contains_key(&page));
        self.put(Page::Map(page));
        self.contents.entry(page).or_default().extend(entries.iter().copied());
    }

    fn settle(&mut self) {
        while let Some(victim) = self.moved.pop_front() {
            if self.shape.is_in_memory {
                continue;
            }
            let mut pages: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for lpn in victim {
                if self.cached.contains_key(&lpn) {
                    self.counts.lazy_updates += 1;
                    self.note(lpn);
                } else {
                    pages.entry(lpn / self.shape.entries_per_page).or_default().push(lpn);
                }
            }
            for (page, lpns) in pages {
                self.counts.move_updates += 1;
                let entries: Vec<_> = lpns.iter().map(|lpn| (*lpn, self.truth(*lpn))).collect();
                self.update(page, &entries);
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
