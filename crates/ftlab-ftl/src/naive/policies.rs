//! The policies of the papers by linear scans over all blocks.

use super::hotness::NaiveHotness;
use crate::page::entry::DriveShape;
use crate::page::policy::{HostWrite, Policy, Relocation, Victims};
use crate::page::{DriveState, Phase};
use crate::stream::{Stream, StreamId};
use ftlab_flash::{BlockId, Lpn};
use ftlab_spec::Spec;
use std::collections::HashMap;
use std::fmt::Debug;
use std::str::FromStr;

/// Where pages go and which victims are chosen, without cleverness.
pub(super) struct NaivePolicy {
    placement: Placement,
    /// The region of each stream.
    region: Vec<u8>,
    rule: Rule,
}

enum Placement {
    Single,
    /// Host writes, relocated pages.
    Separate,
    /// Host writes, second chance, cold.
    SecondChance,
    /// Four regions by the block that holds the page, or by a level for every page; a page is promoted
    /// if its block was sealed less than `window` writes ago, or if that is 0.
    Dac {
        levels: Option<HashMap<Lpn, u8>>,
        window: u64,
    },
    /// Cold and hot.
    Hotness(NaiveHotness),
    /// Blocks of the address space from one to the next.
    Address {
        group_blocks: u32,
    },
    /// A stream for each of `handles` handles; moved pages share one, or have one for each handle.
    Handles {
        handles: u8,
        persistent: Vec<u8>,
    },
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
    RegionFifo {
        takes_full: bool,
    },
    /// The highest scores, until the invalid pages make up `wanted_blocks` blocks.
    CostBenefit {
        wanted_blocks: u32,
        lfs: bool,
        age_power: f64,
    },
    /// The highest score that counts erases as a cost.
    CostAgeTimes,
    /// Blocks of the stream with most invalid pages.
    Groups {
        most: usize,
        kept: u32,
    },
}

/// The placement and victim rule that a preset stands for.
fn without_preset(mut spec: Spec) -> Spec {
    let pair = match spec.name.as_str() {
        "1r-greedy" => "single/greedy",
        "fifo" => "single/fifo",
        "lfs-cb" => "single/cost-benefit",
        "dac-cb" => "dac/cost-benefit",
        "dac-greedy" => "dac/greedy",
        "nvme-fdp" => "nvme-fdp/cost-benefit",
        _ => return spec,
    };
    if spec.name == "lfs-cb" {
        spec.arguments.push(("batch".into(), "8".into()));
    }
    Spec { name: pair.into(), ..spec }
}

fn number<T: FromStr<Err: Debug>>(spec: &Spec, key: &str, default: T) -> T {
    spec.get(key).map_or(default, |text| text.parse().unwrap())
}

impl Placement {
    /// The placement of `PLACEMENT/VICTIM` and how many streams it has.
    fn of_pair(spec: &Spec, logical_pages: u32) -> Option<(Self, usize)> {
        let levels = (spec.get("level") == Some("page")).then(HashMap::new);
        Some(match spec.name.split_once('/')?.0 {
            "single" | "baseline" => (Self::Single, 1),
            "sep-gc" => (Self::Separate, 2),
            "dac" => (Self::Dac { levels, window: number(spec, "window", 0) }, 4),
            "nvme-fdp" => {
                let handles = number(spec, "handles", 8);
                let persistent: Vec<u8> = match spec.get("persistent") {
                    None | Some("none") => Vec::new(),
                    Some("all") => (0..handles).collect(),
                    Some(list) => list.split('+').map(|number| number.parse().unwrap()).collect(),
                };
                let mixes = persistent.len() < usize::from(handles);
                let streams = usize::from(handles) + usize::from(mixes) + persistent.len();
                (Self::Handles { handles, persistent }, streams)
            }
            _ => (Self::Hotness(NaiveHotness::new(spec, logical_pages)?), 2),
        })
    }
}

impl Rule {
    /// The victim rule of `victims=` in 2R-FIFO and 2R++.
    fn of_family(name: &str) -> Option<Self> {
        Some(match name {
            "region-fifo" => Self::RegionFifo { takes_full: true },
            "region-fifo-skipping" => Self::RegionFifo { takes_full: false },
            "greedy" => Self::MultiGreedy,
            "cost-benefit" => Self::CostBenefit { wanted_blocks: 0, lfs: false, age_power: 1.0 },
            _ => return None,
        })
    }

    /// The victim rule of `PLACEMENT/VICTIM`.
    fn of_pair(spec: &Spec) -> Option<Self> {
        Some(match spec.name.split_once('/')?.1 {
            "greedy" => Self::Greedy,
            "fifo" => Self::Fifo,
            "windowed-greedy" => Self::Windowed,
            "cat" => Self::CostAgeTimes,
            "cost-benefit" => Self::CostBenefit {
                // A batch of 1 takes one block, however little that frees.
                wanted_blocks: match number(spec, "batch", 1) {
                    1 => 0,
                    batch => batch,
                },
                lfs: spec.get("score") == Some("lfs"),
                age_power: number(spec, "age-power", 1.0),
            },
            _ => return None,
        })
    }
}

impl NaivePolicy {
    /// The twin of a registered FTL on a drive of this shape; `None` if its choices are
    /// random or it keeps a state of its own.
    pub(super) fn new(name: &str, shape: DriveShape) -> Option<Self> {
        if name.contains("inner=") {
            return None;
        }
        if name.starts_with("address-groups") {
            return Some(Self::of_groups(&name.parse().unwrap(), shape));
        }
        let scan = |fallback| Rule::Scan { blk_util: 0.5, scan_depth: 0.8, fallback, next: 0 };
        let (placement, region, rule) = match name {
            "2r-greedy" => (Placement::Separate, vec![0, 1], Rule::MultiGreedy),
            "2r-fifo" => (Placement::Separate, vec![0, 1], scan("raise")),
            "2r-fifo:fallback=greedy-in-depth" => {
                (Placement::Separate, vec![0, 1], scan("greedy-in-depth"))
            }
            "2r-fifo:fallback=greedy" => (Placement::Separate, vec![0, 1], scan("greedy")),
            "2r-fifo:fallback=fifo" => (Placement::Separate, vec![0, 1], scan("fifo")),
            "2r++" => (Placement::SecondChance, vec![0, 0, 1], scan("raise")),
            "2r++:regions=3" => (Placement::SecondChance, vec![0, 1, 2], scan("raise")),
            name if let Some(rule) = name.strip_prefix("2r-fifo:victims=") => {
                (Placement::Separate, vec![0, 1], Rule::of_family(rule)?)
            }
            name if let Some(rule) = name.strip_prefix("2r++:victims=") => {
                (Placement::SecondChance, vec![0, 0, 1], Rule::of_family(rule)?)
            }
            pair => {
                let spec = without_preset(pair.parse().unwrap());
                let (placement, streams) = Placement::of_pair(&spec, shape.logical_pages)?;
                (placement, vec![0; streams], Rule::of_pair(&spec)?)
            }
        };
        Some(Self { placement, region, rule })
    }

    /// The largest number of groups of as many whole blocks that is not above the one that is asked for.
    fn of_groups(spec: &Spec, shape: DriveShape) -> Self {
        let data_blocks = shape.logical_pages.div_ceil(shape.pages_per_block);
        let wanted = match number(spec, "groups", 0) {
            0 => {
                let roots = 1..=2 * data_blocks;
                let root = roots.take_while(|root| root * root <= 2 * data_blocks).last();
                root.unwrap().min(shape.spare_blocks() / 2).max(1)
            }
            groups => groups,
        };
        let groups = |group_blocks: u32| data_blocks.div_ceil(group_blocks);
        let mut sizes = 1..=data_blocks;
        let group_blocks = sizes.find(|&blocks| groups(blocks) <= wanted).unwrap();
        let most = match number(spec, "blocks", 0) {
            0 => usize::MAX,
            blocks => blocks,
        };
        let together = group_blocks.min(u32::try_from(most).unwrap_or(u32::MAX));
        let left = shape.spare_blocks().saturating_sub(groups(group_blocks));
        let kept = together.saturating_sub(shape.reserve_blocks).min(left / 2);
        Self {
            placement: Placement::Address { group_blocks },
            region: vec![0; groups(group_blocks) as usize],
            rule: Rule::Groups { most, kept },
        }
    }

    /// Blocks of the stream whose full blocks have most invalid pages, until the free blocks have no room for more.
    fn of_a_group(&self, sealed: &[BlockId], drive: &DriveState, most: usize) -> Vec<BlockId> {
        let invalid = |block: BlockId| drive.pages_per_block() - drive.valid_pages(block);
        let gain = |stream: u8| -> u32 {
            let own = sealed.iter().filter(|&&block| drive.stream_of(block).0 == stream);
            own.map(|&block| invalid(block)).sum()
        };
        let (mut best, mut group) = (0, None);
        for stream in 0..self.region.len() as u8 {
            if gain(stream) > best {
                (best, group) = (gain(stream), Some(stream));
            }
        }
        let mut own: Vec<BlockId> = sealed.to_vec();
        own.retain(|&block| Some(drive.stream_of(block).0) == group);
        // Those of `sealed` are in order of allocation.
        own.sort_by_key(|&block| drive.valid_pages(block));
        let fits = |blocks: &[BlockId]| {
            let valid: u32 = blocks.iter().map(|&block| drive.valid_pages(block)).sum();
            valid <= drive.free_blocks() * drive.pages_per_block()
        };
        let count = (2..=own.len().min(most)).take_while(|&count| fits(&own[..count])).last();
        own.truncate(count.unwrap_or(1));
        own
    }

    /// The open block goes along if all that is valid in the group has room in free blocks.
    fn close_group(group: StreamId, sealed: &[BlockId], drive: &DriveState, victims: &mut Victims) {
        let Some(open) = drive.open_block(group) else { return };
        let most = victims.valid_pages_max();
        let pages = (0..drive.logical_pages()).filter_map(|lpn| drive.flash_page(Lpn(lpn)));
        let valid = |block: BlockId| {
            pages.clone().filter(|&page| drive.block_of(page) == block).count() as u32
        };
        let own = sealed.iter().filter(|&&block| drive.stream_of(block) == group);
        let all: u32 = own.map(|&block| valid(block)).filter(|valid| *valid <= most).sum();
        let room = drive.free_blocks() * drive.pages_per_block();
        let is_empty = drive.room(group) == drive.pages_per_block();
        if !is_empty && all + valid(open) <= room && valid(open) <= most {
            victims.close(group);
        }
    }

    fn region_of(&self, block: BlockId, drive: &DriveState) -> u8 {
        self.region[drive.stream_of(block).index()]
    }

    /// The blocks of `candidates`, in order, that share the region of the first, until their invalid
    /// pages make up a block.
    fn one_region(&self, candidates: &[BlockId], drive: &DriveState) -> Vec<BlockId> {
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

    fn scan(&mut self, list: &[BlockId], drive: &DriveState, most: u32) -> Vec<BlockId> {
        let Rule::Scan { blk_util, scan_depth, fallback, next } = self.rule else { unreachable!() };
        let pages = f64::from(drive.pages_per_block());
        let limit = (scan_depth * list.len() as f64) as usize;
        let start = list[..limit].iter().position(|&b| drive.allocated(b) >= next);
        let start = start.unwrap_or_else(|| {
            let Rule::Scan { next, .. } = &mut self.rule else { unreachable!() };
            *next = 0;
            0
        });
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

    /// The oldest blocks of the region whose oldest one is emptier than those of the others.
    fn region_fifo(
        &self,
        sealed: &[BlockId],
        drive: &DriveState,
        most: u32,
        takes_full: bool,
    ) -> Vec<BlockId> {
        let counts = |b: BlockId| takes_full || drive.valid_pages(b) < drive.pages_per_block();
        let oldest = |region: u8| {
            let mut sealed = sealed.iter().copied();
            sealed.find(|&b| self.region_of(b, drive) == region && counts(b))
        };
        let emptier = [0, 1, 2].into_iter().filter_map(oldest);
        let Some(first) = emptier.min_by_key(|&b| drive.valid_pages(b)) else { return Vec::new() };
        let region = self.region_of(first, drive);
        let fits = |b: &BlockId| {
            self.region_of(*b, drive) == region && drive.valid_pages(*b) <= most && counts(*b)
        };
        let of_region: Vec<_> = sealed.iter().copied().filter(fits).collect();
        self.one_region(&of_region, drive)
    }

    fn emptiest(&self, list: &[BlockId], drive: &DriveState, most: u32) -> Vec<BlockId> {
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

/// The naive twin is not saved.
impl crate::State for NaivePolicy {
    fn transfer(&mut self, _archive: &mut dyn crate::Archive) -> Result<(), crate::StateError> {
        Ok(())
    }
}

impl Policy for NaivePolicy {
    fn streams(&self) -> Vec<Stream> {
        let shares = matches!(
            self.placement,
            Placement::Single
                | Placement::Dac { .. }
                | Placement::Hotness(_)
                | Placement::Address { .. }
        );
        let hosts = match self.placement {
            Placement::Handles { handles, .. } => usize::from(handles),
            _ => 1,
        };
        let stream =
            |index| Stream { name: "s", takes_relocations: index >= hosts || shares, cold: false };
        (0..self.region.len()).map(stream).collect()
    }

    fn reserve_blocks_min(&self) -> u32 {
        match self.placement {
            Placement::Address { .. } => 1,
            _ => self.streams().iter().filter(|stream| stream.takes_relocations).count() as u32,
        }
    }

    fn kept_from(&self, _stream: StreamId, drive: &DriveState) -> u32 {
        let Rule::Groups { kept, .. } = self.rule else { return 0 };
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        let mut sealed = blocks.filter(|&block| drive.phase(block) == Phase::Sealed);
        kept * u32::from(sealed.any(|block| drive.valid_pages(block) < drive.pages_per_block()))
    }

    fn sorts_moves(&self) -> bool {
        matches!(self.rule, Rule::Groups { .. })
    }

    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let block = drive.flash_page(write.lpn).map(|page| drive.block_of(page));
        StreamId(match &mut self.placement {
            Placement::Dac { levels, window } => {
                let young = |block| {
                    *window == 0
                        || drive.phase(block) == Phase::Open
                        || drive.write_clock() - drive.sealed_at(block) < *window
                };
                let step = u8::from(block.is_some_and(young));
                match levels {
                    None => block.map_or(0, |block| drive.stream_of(block).0 + step).min(3),
                    Some(levels) => {
                        let level = levels.entry(write.lpn).or_insert(0);
                        *level = (*level + step).min(3);
                        *level
                    }
                }
            }
            Placement::Hotness(hotness) => {
                hotness.write(write.lpn);
                u8::from(hotness.is_hot(write.lpn))
            }
            Placement::Address { group_blocks } => {
                (write.lpn.0 / drive.pages_per_block() / *group_blocks) as u8
            }
            Placement::Handles { handles, .. } if write.hint.stream < u16::from(*handles) => {
                write.hint.stream as u8
            }
            _ => 0,
        })
    }

    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        StreamId(match &mut self.placement {
            Placement::Address { group_blocks } => {
                (page.lpn.0 / drive.pages_per_block() / *group_blocks) as u8
            }
            Placement::Single => 0,
            Placement::Separate => 1,
            Placement::SecondChance => (page.from.0 + 1).min(2),
            Placement::Dac { levels: None, .. } => page.from.0.saturating_sub(1),
            Placement::Dac { levels: Some(levels), .. } => {
                let level = levels.get_mut(&page.lpn).unwrap();
                *level = level.saturating_sub(1);
                *level
            }
            Placement::Hotness(hotness) => u8::from(hotness.is_hot(page.lpn)),
            Placement::Handles { handles, persistent } => {
                let mixes = u8::from(persistent.len() < usize::from(*handles));
                if page.from.0 >= *handles {
                    page.from.0
                } else if let Some(place) = persistent.iter().position(|h| *h == page.from.0) {
                    *handles + mixes + place as u8
                } else {
                    *handles
                }
            }
        })
    }

    fn on_trim(&mut self, lpn: Lpn, _drive: &DriveState) {
        if let Placement::Hotness(hotness) = &mut self.placement {
            hotness.trim(lpn);
        }
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
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
            Rule::RegionFifo { takes_full } => self.region_fifo(&sealed, drive, most, takes_full),
            Rule::Groups { most: blocks, .. } => {
                let own: Vec<_> =
                    sealed.iter().copied().filter(|&b| drive.valid_pages(b) <= most).collect();
                self.of_a_group(&own, drive, blocks)
            }
            Rule::CostAgeTimes => {
                let score = |b: BlockId| {
                    let valid = f64::from(drive.valid_pages(b));
                    let age = (drive.write_clock() - drive.sealed_at(b) + 1) as f64;
                    let times = f64::from(drive.erases(b)) + 1.0;
                    age * (f64::from(pages) - valid) / (valid * times)
                };
                let better = |best, b| if score(b) > score(best) { b } else { best };
                not_full.reduce(better).into_iter().collect()
            }
            Rule::CostBenefit { wanted_blocks, lfs, age_power } => {
                let score = |b: BlockId| {
                    let valid = f64::from(drive.valid_pages(b));
                    let age = (drive.write_clock() - drive.sealed_at(b) + 1) as f64;
                    let cost = if lfs { f64::from(pages) + valid } else { valid };
                    age.powf(age_power) * (f64::from(pages) - valid) / cost
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
        if matches!(self.rule, Rule::RegionFifo { .. })
            && chosen.iter().all(|&b| drive.valid_pages(b) == pages)
        {
            chosen.extend(self.emptiest(&list, drive, most));
        }
        for block in chosen.into_iter().filter(|&b| drive.valid_pages(b) <= most) {
            victims.push(block, drive.valid_pages(block));
        }
        if let (Rule::Groups { most: usize::MAX, .. }, Some(&first)) =
            (&self.rule, victims.blocks().first())
        {
            Self::close_group(drive.stream_of(first), &sealed, drive, victims);
        }
    }

    fn metadata(&self) -> crate::Metadata {
        crate::Metadata::NONE
    }

    fn memory_bytes(&self) -> usize {
        0
    }
}
