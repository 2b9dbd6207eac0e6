//! Hybrid-mapped FTLs once more, without cleverness: lists of what was written to each log block, and
//! linear scans. No data, no physical blocks; what the real ones must count.

mod bast;
mod kast;
mod last;
mod tests;

use crate::hybrid::{
    BastParameters, FasterParameters, IsolationKind, KastParameters, LastParameters,
};
use std::collections::{HashMap, HashSet};

/// Which FTL, and its parameters.
#[derive(Clone)]
enum Rule {
    Fmax,
    Bast(BastParameters),
    Fast { sw: bool },
    Kast(KastParameters),
    Last(LastParameters),
    Faster(FasterParameters),
}

/// What was written to a log block, in order.
struct LogBlock {
    id: u64,
    /// Of second-chance pages.
    second_chance: bool,
    /// What it takes, where there are kinds of blocks with rules of their own.
    kind: Kind,
    /// `kast`: when it got as many logical blocks as share it.
    since: u64,
    pages: Vec<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Random,
    Sequential,
    Hot,
    Cold,
}

#[derive(Debug, Default, PartialEq)]
struct Counts {
    relocations: u64,
    erases: u64,
    trims: u64,
    reclaimed: u64,
    copies: u64,
    full: u64,
    partial: u64,
    switch: u64,
    progressive: u64,
    hurried: u64,
}

struct NaiveHybrid {
    rule: Rule,
    pages_per_block: u32,
    logical_pages: u32,
    log_blocks: usize,
    /// Pages that hold something.
    live: HashSet<u32>,
    /// Pages whose place in their data block is taken.
    taken: HashSet<u32>,
    /// The log block and the place in it of pages whose newest version is in the log.
    in_log: HashMap<u32, (u64, usize)>,
    /// In order of opening.
    log: Vec<LogBlock>,
    /// The log block that takes pages written in sequence, and its logical block.
    sequential: Option<(u32, LogBlock)>,
    /// The isolation area, the oldest first.
    isolated: Vec<LogBlock>,
    opened: u64,
    /// `kast`: the log block that takes the pages of a logical block.
    homes: HashMap<u32, u64>,
    /// `last`: what kind of block took a page last, and how many pages such blocks had taken by then.
    last_taken: HashMap<u32, (Kind, u64)>,
    /// `last`: pages that hot and cold blocks have taken.
    parts: HashMap<Kind, u64>,
    counts: Counts,
}

impl NaiveHybrid {
    fn new(rule: Rule, pages_per_block: u32, logical_pages: u32, log_blocks: usize) -> Self {
        Self {
            rule,
            pages_per_block,
            logical_pages,
            log_blocks,
            live: HashSet::new(),
            taken: HashSet::new(),
            in_log: HashMap::new(),
            log: Vec::new(),
            sequential: None,
            isolated: Vec::new(),
            opened: 0,
            homes: HashMap::new(),
            last_taken: HashMap::new(),
            parts: HashMap::new(),
            counts: Counts::default(),
        }
    }

    fn write(&mut self, lpn: u32) {
        if let Rule::Faster(parameters) = self.rule.clone() {
            let steps = (0..parameters.merge_step).take_while(|_| self.merge_isolated()).count();
            self.counts.progressive += steps as u64;
        }
        if !self.taken.contains(&lpn) && !self.in_log.contains_key(&lpn) {
            self.taken.insert(lpn);
        } else {
            match self.rule.clone() {
                Rule::Fmax => self.write_fmax(lpn),
                Rule::Bast(parameters) => self.write_bast(lpn, &parameters),
                Rule::Kast(parameters) => self.write_kast(lpn, &parameters),
                Rule::Last(parameters) => self.write_last(lpn, &parameters),
                Rule::Fast { sw } => {
                    if !(sw && self.write_sequential(lpn)) {
                        self.write_fast(lpn);
                    }
                }
                Rule::Faster(_) => self.write_faster(lpn),
            }
        }
        self.live.insert(lpn);
    }

    fn trim(&mut self, lpn: u32) {
        self.counts.trims += u64::from(self.live.remove(&lpn));
        self.in_log.remove(&lpn);
    }

    fn logical(&self, lpn: u32) -> u32 {
        lpn / self.pages_per_block
    }

    fn pages_in(&self, logical: u32) -> std::ops::Range<u32> {
        let first = logical * self.pages_per_block;
        first..(first + self.pages_per_block).min(self.logical_pages)
    }

    fn is_full(&self, block: &LogBlock) -> bool {
        block.pages.len() == self.pages_per_block as usize
    }

    fn new_block(&mut self, second_chance: bool) -> LogBlock {
        self.opened += 1;
        LogBlock { id: self.opened, second_chance, kind: Kind::Random, since: 0, pages: Vec::new() }
    }

    /// Writes `lpn` to the block at `index` of the log.
    fn append(&mut self, index: usize, lpn: u32) {
        let block = &mut self.log[index];
        self.in_log.insert(lpn, (block.id, block.pages.len()));
        block.pages.push(lpn);
    }

    fn valid(&self, block: &LogBlock) -> Vec<u32> {
        let pages = block.pages.iter().copied().enumerate();
        let newest =
            |&(place, lpn): &(usize, u32)| self.in_log.get(&lpn) == Some(&(block.id, place));
        pages.filter(newest).map(|(_, lpn)| lpn).collect()
    }

    /// Brings all pages of a logical block together.
    fn collect_pages(&mut self, logical: u32, offset: usize) -> u64 {
        let pages = self.pages_in(logical);
        let copies =
            pages.clone().skip(offset).filter(|lpn| self.live.contains(lpn)).count() as u64;
        for lpn in pages {
            self.in_log.remove(&lpn);
            self.taken.remove(&lpn);
            if self.live.contains(&lpn) {
                self.taken.insert(lpn);
            }
        }
        self.counts.copies += copies;
        self.counts.erases += 1;
        copies
    }

    fn full_merge(&mut self, logical: u32) {
        self.collect_pages(logical, 0);
        self.counts.full += 1;
    }

    /// Gives up a log block of one logical block, as the data block if its pages are in place.
    fn end(&mut self, logical: u32, block: &LogBlock) {
        let places = self.pages_in(logical).take(block.pages.len());
        if self.valid(block) == places.collect::<Vec<_>>() && self.is_all_valid(block) {
            let copies = self.collect_pages(logical, block.pages.len());
            *(if copies > 0 { &mut self.counts.partial } else { &mut self.counts.switch }) += 1;
        } else {
            self.full_merge(logical);
            self.counts.erases += 1;
        }
    }

    fn is_all_valid(&self, block: &LogBlock) -> bool {
        self.valid(block).len() == block.pages.len()
    }

    fn write_fmax(&mut self, lpn: u32) {
        let logical = self.logical(lpn);
        let of = |naive: &Self| {
            naive.log.iter().position(|block| naive.logical(block.pages[0]) == logical)
        };
        if let Some(index) = of(self).filter(|&index| self.is_full(&self.log[index])) {
            self.merge_replacement(index);
        }
        let index = of(self).unwrap_or_else(|| {
            if self.log.len() == self.log_blocks {
                self.merge_replacement(0);
            }
            let block = self.new_block(false);
            self.log.push(block);
            self.log.len() - 1
        });
        self.append(index, lpn);
    }

    fn merge_replacement(&mut self, index: usize) {
        let block = self.log.remove(index);
        self.counts.reclaimed += 1;
        self.full_merge(self.logical(block.pages[0]));
        self.counts.erases += 1;
    }

    fn write_fast(&mut self, lpn: u32) {
        if self.log.last().is_none_or(|block| self.is_full(block)) {
            if self.log.len() == self.log_blocks {
                let victim = self.log.remove(0);
                self.counts.reclaimed += 1;
                for page in victim.pages.clone() {
                    if self.valid(&victim).contains(&page) {
                        self.full_merge(self.logical(page));
                        let logical = self.logical(page);
                        if self.sequential.take_if(|(owner, _)| *owner == logical).is_some() {
                            self.counts.erases += 1;
                        }
                    }
                }
                self.counts.erases += 1;
            }
            let block = self.new_block(false);
            self.log.push(block);
        }
        self.append(self.log.len() - 1, lpn);
    }

    fn write_sequential(&mut self, lpn: u32) -> bool {
        let (logical, offset) = (self.logical(lpn), lpn % self.pages_per_block);
        if offset == 0 {
            if let Some((owner, block)) = self.sequential.take() {
                self.end(owner, &block);
            }
            self.sequential = Some((logical, self.new_block(false)));
        }
        match &mut self.sequential {
            Some((owner, block)) if *owner == logical && block.pages.len() == offset as usize => {
                self.in_log.insert(lpn, (block.id, block.pages.len()));
                block.pages.push(lpn);
                true
            }
            _ => false,
        }
    }

    fn write_faster(&mut self, lpn: u32) {
        let open = |naive: &Self, second: bool| {
            let index = naive.log.iter().rposition(|block| block.second_chance == second);
            index.filter(|&index| !naive.is_full(&naive.log[index]))
        };
        if open(self, false).is_none() {
            while self.log_blocks - self.log.len() - self.isolated.len() <= 1 {
                self.counts.reclaimed += 1;
                if self.log[0].second_chance {
                    let victim = self.log.remove(0);
                    self.isolate(victim);
                    continue;
                }
                for page in self.valid(&self.log[0]) {
                    let index = open(self, true).unwrap_or_else(|| {
                        let block = self.new_block(true);
                        self.log.push(block);
                        self.log.len() - 1
                    });
                    self.append(index, page);
                    self.counts.relocations += 1;
                }
                self.log.remove(0);
                self.counts.erases += 1;
            }
            let block = self.new_block(false);
            self.log.push(block);
        }
        let index = open(self, false).expect("an open block");
        self.append(index, lpn);
    }

    /// Isolates what is valid of a second-chance block.
    fn isolate(&mut self, victim: LogBlock) {
        let Rule::Faster(FasterParameters { isolation, isolation_blocks, .. }) = self.rule else {
            unreachable!()
        };
        if isolation == IsolationKind::InPlace && !self.valid(&victim).is_empty() {
            self.make_isolation_room(isolation_blocks);
            self.isolated.push(victim);
            return;
        }
        for (place, page) in victim.pages.iter().copied().enumerate() {
            let is_valid = |naive: &Self| naive.in_log.get(&page) == Some(&(victim.id, place));
            if !is_valid(self) {
                continue;
            }
            if isolation == IsolationKind::Off {
                self.full_merge(self.logical(page));
                continue;
            }
            let is_full = self.isolated.last().is_none_or(|block| self.is_full(block));
            if is_full {
                self.make_isolation_room(isolation_blocks);
            }
            if is_valid(self) {
                if self.isolated.last().is_none_or(|block| self.is_full(block)) {
                    let block = self.new_block(true);
                    self.isolated.push(block);
                }
                let open = self.isolated.last_mut().expect("an isolation block");
                self.in_log.insert(page, (open.id, open.pages.len()));
                open.pages.push(page);
                self.counts.relocations += 1;
            }
        }
        self.counts.erases += 1;
    }

    fn make_isolation_room(&mut self, blocks_max: u32) {
        while self.isolated.len() == blocks_max as usize {
            self.counts.hurried += u64::from(self.merge_isolated());
        }
    }

    /// Merges the oldest valid isolated page.
    fn merge_isolated(&mut self) -> bool {
        while let Some(oldest) = self.isolated.first() {
            if let Some(&page) = self.valid(oldest).first() {
                self.full_merge(self.logical(page));
                return true;
            }
            let copies =
                matches!(&self.rule, Rule::Faster(p) if p.isolation == IsolationKind::Copy);
            if copies && self.isolated.len() == 1 && !self.is_full(oldest) {
                return false;
            }
            self.isolated.remove(0);
            self.counts.erases += 1;
        }
        false
    }
}
