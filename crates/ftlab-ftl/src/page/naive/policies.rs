//! The victim rules of the papers by linear scans over all blocks.

use crate::page::policy::{HostWrite, Policy, Relocation, Stream, StreamId, Victims};
use crate::page::{Drive, Phase};
use ftlab_flash::BlockId;

/// Which victims, and from which stream a relocated page goes where.
pub(super) struct NaivePolicy {
    pub(super) streams: Vec<Stream>,
    /// The stream that takes pages of victims of each stream.
    pub(super) relocation: Vec<u8>,
    /// The region of each stream.
    pub(super) region: Vec<u8>,
    pub(super) rule: Rule,
}

pub(super) enum Rule {
    Greedy,
    Fifo,
    /// Fewest valid pages first, one region, until the invalid pages make up a block.
    MultiGreedy,
    /// The scan of 2R-FIFO; `next` is how many blocks had been allocated before the one to look at.
    Scan {
        blk_util: f64,
        scan_depth: f64,
        fallback: &'static str,
        next: u64,
    },
    RegionFifo,
    CostBenefit,
}

fn stream(name: &'static str) -> Stream {
    Stream { name, takes_relocations: true, cold: false }
}

impl NaivePolicy {
    pub(super) fn new(name: &str) -> Option<Self> {
        let scan = |fallback| Rule::Scan { blk_util: 0.5, scan_depth: 0.8, fallback, next: 0 };
        let (streams, relocation, region, rule) = match name {
            "1r-greedy" | "single/greedy" => (vec![stream("a")], vec![0], vec![0], Rule::Greedy),
            "fifo" | "single/fifo" => (vec![stream("a")], vec![0], vec![0], Rule::Fifo),
            "sep-gc/greedy" => (vec![stream("h"); 2], vec![1, 1], vec![0, 0], Rule::Greedy),
            "sep-gc/fifo" => (vec![stream("h"); 2], vec![1, 1], vec![0, 0], Rule::Fifo),
            "2r-greedy" => (vec![stream("h"); 2], vec![1, 1], vec![0, 1], Rule::MultiGreedy),
            "2r-fifo" => (vec![stream("h"); 2], vec![1, 1], vec![0, 1], scan("raise")),
            "2r-fifo:fallback=greedy-in-depth" => {
                (vec![stream("h"); 2], vec![1, 1], vec![0, 1], scan("greedy-in-depth"))
            }
            "2r-fifo:fallback=greedy" => {
                (vec![stream("h"); 2], vec![1, 1], vec![0, 1], scan("greedy"))
            }
            "2r-fifo:fallback=fifo" => (vec![stream("h"); 2], vec![1, 1], vec![0, 1], scan("fifo")),
            "2r++" => (vec![stream("h"); 3], vec![1, 2, 2], vec![0, 0, 1], scan("raise")),
            "2r++:regions=3" => (vec![stream("h"); 3], vec![1, 2, 2], vec![0, 1, 2], scan("raise")),
            "2r++:victims=region-fifo" => {
                (vec![stream("h"); 3], vec![1, 2, 2], vec![0, 0, 1], Rule::RegionFifo)
            }
            "2r++:victims=cost-benefit" => {
                (vec![stream("h"); 3], vec![1, 2, 2], vec![0, 0, 1], Rule::CostBenefit)
            }
            _ => return None,
        };
        Some(Self { streams, relocation, region, rule })
    }

    fn region_of(&self, block: BlockId, drive: &Drive) -> u8 {
        self.region[drive.stream_of(block).index()]
    }

    /// The blocks of `candidates`, in order, that share the region of the first, until their invalid
    /// pages make up a block.
    fn one_region(&self, candidates: &[BlockId], drive: &Drive) -> Vec<BlockId> {
        let mut chosen = Vec::new();
        let mut invalid = 0;
        for &block in candidates {
            if self.region_of(block, drive) == self.region_of(candidates[0], drive) {
                chosen.push(block);
                invalid += drive.pages_per_block() - drive.valid_pages(block);
                if invalid >= drive.pages_per_block() {
                    break;
                }
            }
        }
        chosen
    }

    fn scan(&mut self, list: &[BlockId], drive: &Drive, most: u32) -> Vec<BlockId> {
        let Rule::Scan { blk_util, scan_depth, fallback, next } = self.rule else { unreachable!() };
        let pages = f64::from(drive.pages_per_block());
        let limit = (scan_depth * list.len() as f64) as usize;
        let start = list[..limit].iter().position(|&b| drive.allocated(b) >= next).unwrap_or(0);
        let round: Vec<usize> = (start..limit).chain(0..start).collect();
        let under = |passes: &dyn Fn(f64) -> bool| -> Vec<BlockId> {
            let blocks = round.iter().map(|&place| list[place]);
            blocks
                .filter(|&b| drive.phase(b) == Phase::Sealed && drive.valid_pages(b) <= most)
                .filter(|&b| passes(f64::from(drive.valid_pages(b))))
                .collect()
        };
        let mut found = under(&|valid| valid < blk_util * pages);
        if found.is_empty() && fallback == "raise" {
            for step in 1..=10 {
                let share = blk_util + 0.05 * f64::from(step);
                found = under(&|valid| valid <= share * pages + 1e-6 && valid < pages);
                if !found.is_empty() {
                    break;
                }
            }
        } else if found.is_empty() && fallback == "fifo" {
            found = under(&|_| true);
        }
        let chosen = self.one_region(&found, drive);
        let invalid = |blocks: &[BlockId]| -> u32 {
            blocks.iter().map(|&b| drive.pages_per_block() - drive.valid_pages(b)).sum()
        };
        if invalid(&chosen) >= drive.pages_per_block() {
            let last = list.iter().position(|b| chosen.last() == Some(b)).unwrap();
            let after = if last + 1 < limit { drive.allocated(list[last + 1]) } else { 0 };
            let Rule::Scan { next, .. } = &mut self.rule else { unreachable!() };
            *next = after;
        }
        if invalid(&chosen) > 0 {
            return chosen;
        }
        let depth = if fallback == "greedy-in-depth" { limit } else { list.len() };
        let in_depth = self.emptiest(&list[..depth], drive, most);
        let emptiest =
            if in_depth.is_empty() { self.emptiest(list, drive, most) } else { in_depth };
        let rest = emptiest.into_iter().filter(|block| !chosen.contains(block));
        chosen.iter().copied().chain(rest).collect()
    }

    fn emptiest(&self, list: &[BlockId], drive: &Drive, most: u32) -> Vec<BlockId> {
        let most = most.min(drive.pages_per_block() - 1);
        let mut sealed: Vec<BlockId> = list
            .iter()
            .copied()
            .filter(|&b| drive.phase(b) == Phase::Sealed && drive.valid_pages(b) <= most)
            .collect();
        sealed.sort_by_key(|&b| (drive.valid_pages(b), drive.allocated(b)));
        self.one_region(&sealed, drive)
    }
}

impl Policy for NaivePolicy {
    fn streams(&self) -> Vec<Stream> {
        self.streams.clone()
    }

    fn place_host(&mut self, _write: HostWrite, _drive: &Drive) -> StreamId {
        StreamId(0)
    }

    fn place_relocation(&mut self, page: Relocation, _drive: &Drive) -> StreamId {
        StreamId(self.relocation[page.from.index()])
    }

    fn select_victims(&mut self, drive: &Drive, victims: &mut Victims) {
        let pages = drive.pages_per_block();
        let most = victims.valid_pages_max();
        let mut list: Vec<BlockId> = (0..drive.geometry().blocks()).map(BlockId).collect();
        list.retain(|&block| drive.phase(block) != Phase::Free);
        list.sort_by_key(|&block| drive.allocated(block));
        let sealed: Vec<BlockId> =
            list.iter().copied().filter(|&b| drive.phase(b) == Phase::Sealed).collect();
        let limit = pages.min(most + 1);
        let not_full = sealed.iter().copied().filter(|&b| drive.valid_pages(b) < limit);
        let mut chosen: Vec<BlockId> = match self.rule {
            Rule::Greedy => not_full.min_by_key(|&b| drive.valid_pages(b)).into_iter().collect(),
            Rule::Fifo => not_full.take(1).collect(),
            Rule::MultiGreedy => self.emptiest(&list, drive, most),
            Rule::Scan { .. } => self.scan(&list, drive, most),
            Rule::RegionFifo => {
                let oldest = |region: u8| {
                    sealed.iter().copied().find(|&b| self.region_of(b, drive) == region)
                };
                let emptier = [0, 1, 2].into_iter().filter_map(oldest);
                emptier.min_by_key(|&b| drive.valid_pages(b)).map_or(Vec::new(), |first| {
                    let region = self.region_of(first, drive);
                    let fits = |b: &BlockId| {
                        self.region_of(*b, drive) == region && drive.valid_pages(*b) <= most
                    };
                    let of_region: Vec<_> = sealed.iter().copied().filter(fits).collect();
                    self.one_region(&of_region, drive)
                })
            }
            Rule::CostBenefit => {
                let score = |b: BlockId| {
                    let valid = f64::from(drive.valid_pages(b));
                    let age = (drive.write_clock() - drive.sealed_at(b) + 1) as f64;
                    age * (f64::from(pages) - valid) / valid
                };
                let mut best: Vec<BlockId> = Vec::new();
                for block in not_full {
                    if best.is_empty() || score(block) > score(best[0]) {
                        best = vec![block];
                    }
                }
                best
            }
        };
        if matches!(self.rule, Rule::RegionFifo)
            && chosen.iter().all(|&b| drive.valid_pages(b) == pages)
        {
            chosen.extend(self.emptiest(&list, drive, most));
        }
        for block in chosen.into_iter().filter(|&b| drive.valid_pages(b) <= most) {
            victims.push(block, drive.valid_pages(block));
        }
    }

    fn metadata_bytes(&self) -> usize {
        0
    }
}
