//! The victim rules of the papers by linear scans over all blocks.

use crate::page::policy::{HostWrite, Policy, Relocation, Stream, StreamId, Victims};
use crate::page::{Drive, Phase};
use ftlab_flash::BlockId;

/// Where pages go and which victims are chosen, without cleverness.
pub(super) struct NaivePolicy {
    placement: Placement,
    /// The region of each stream.
    region: Vec<u8>,
    rule: Rule,
}

#[derive(Clone, Copy, PartialEq)]
enum Placement {
    Single,
    /// Host writes, relocated pages.
    Separate,
    /// Host writes, second chance, cold.
    SecondChance,
    /// Four regions by the block that holds the page.
    Dac,
}

enum Rule {
    Greedy,
    Fifo,
    /// The emptiest of the oldest half.
    Windowed,
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
    /// Until the invalid pages make up so many pages.
    CostBenefit {
        wanted_blocks: u32,
    },
}

impl NaivePolicy {
    /// The twin of a registered FTL; `None` if its choices are random or it keeps a state of its own.
    pub(super) fn new(name: &str) -> Option<Self> {
        let scan = |fallback| Rule::Scan { blk_util: 0.5, scan_depth: 0.8, fallback, next: 0 };
        let (placement, region, rule) = match name {
            "1r-greedy" => (Placement::Single, vec![0], Rule::Greedy),
            "fifo" => (Placement::Single, vec![0], Rule::Fifo),
            "lfs-cb" => (Placement::Single, vec![0], Rule::CostBenefit { wanted_blocks: 8 }),
            "dac-cb" => (Placement::Dac, vec![0; 4], Rule::CostBenefit { wanted_blocks: 0 }),
            "dac-greedy" => (Placement::Dac, vec![0; 4], Rule::Greedy),
            "2r-greedy" => (Placement::Separate, vec![0, 1], Rule::MultiGreedy),
            "2r-fifo" => (Placement::Separate, vec![0, 1], scan("raise")),
            "2r-fifo:fallback=greedy-in-depth" => {
                (Placement::Separate, vec![0, 1], scan("greedy-in-depth"))
            }
            "2r-fifo:fallback=greedy" => (Placement::Separate, vec![0, 1], scan("greedy")),
            "2r-fifo:fallback=fifo" => (Placement::Separate, vec![0, 1], scan("fifo")),
            "2r++" => (Placement::SecondChance, vec![0, 0, 1], scan("raise")),
            "2r++:regions=3" => (Placement::SecondChance, vec![0, 1, 2], scan("raise")),
            "2r++:victims=region-fifo" => {
                (Placement::SecondChance, vec![0, 0, 1], Rule::RegionFifo)
            }
            "2r++:victims=cost-benefit" => {
                (Placement::SecondChance, vec![0, 0, 1], Rule::CostBenefit { wanted_blocks: 0 })
            }
            pair => {
                let (placement, rule) = pair.split_once('/')?;
                let (placement, streams) = match placement {
                    "single" => (Placement::Single, 1),
                    "sep-gc" => (Placement::Separate, 2),
                    "dac" => (Placement::Dac, 4),
                    _ => return None,
                };
                let rule = match rule {
                    "greedy" => Rule::Greedy,
                    "fifo" => Rule::Fifo,
                    "windowed-greedy" => Rule::Windowed,
                    "cost-benefit" => Rule::CostBenefit { wanted_blocks: 0 },
                    _ => return None,
                };
                (placement, vec![0; streams], rule)
            }
        };
        Some(Self { placement, region, rule })
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
        let shares = matches!(self.placement, Placement::Single | Placement::Dac);
        let stream =
            |index| Stream { name: "s", takes_relocations: index > 0 || shares, cold: false };
        (0..self.region.len()).map(stream).collect()
    }

    fn place_host(&mut self, write: HostWrite, drive: &Drive) -> StreamId {
        match drive.flash_page(write.lpn) {
            Some(page) if self.placement == Placement::Dac => {
                StreamId((drive.stream_of(drive.block_of(page)).0 + 1).min(3))
            }
            _ => StreamId(0),
        }
    }

    fn place_relocation(&mut self, page: Relocation, _drive: &Drive) -> StreamId {
        StreamId(match self.placement {
            Placement::Single => 0,
            Placement::Separate => 1,
            Placement::SecondChance => (page.from.0 + 1).min(2),
            Placement::Dac => page.from.0.saturating_sub(1),
        })
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
            Rule::Windowed => {
                let oldest = &list[..list.len().div_ceil(2)];
                let emptiest =
                    |blocks: &[BlockId]| self.emptiest(blocks, drive, most).into_iter().next();
                emptiest(oldest).or_else(|| emptiest(&list)).into_iter().collect()
            }
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
            Rule::CostBenefit { wanted_blocks } => {
                let score = |b: BlockId| {
                    let valid = f64::from(drive.valid_pages(b));
                    let age = (drive.write_clock() - drive.sealed_at(b) + 1) as f64;
                    age * (f64::from(pages) - valid) / valid
                };
                let mut ranked: Vec<BlockId> = not_full.collect();
                // Stable, so equal scores stay in order of allocation.
                ranked.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
                let mut invalid = 0;
                let enough = |&b: &BlockId| {
                    let more = invalid == 0 || invalid < wanted_blocks * pages;
                    invalid += pages - drive.valid_pages(b);
                    more
                };
                ranked.into_iter().take_while(enough).collect()
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
