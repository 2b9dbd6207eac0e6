//! `midas`: a chain of groups whose number and sizes a model of the workload chooses.
//!
//! # Idea
//! Pages that outlive a group of blocks move on to the next one, so that they sort themselves by age. How
//! long each group should hold them follows from how long pages live: sampled intervals and a Markov
//! chain tell what a division of the blocks would cost.
//!
//! # Rule
//! Host writes go to group 1, or to the hot group if the page's 2-bit counter is at its maximum. It
//! counts up when a version in one of these two is overwritten, and falls to 0 when one is relocated out
//! of them or overwritten elsewhere. A group is a queue: while it has more blocks than its size, its
//! oldest is the victim, whose valid pages go to the next group (those of the hot group to group 1). The
//! last group has all other blocks, and collects within itself.
//!
//! After every epoch the groups are chosen again: the intervals between writes of sampled pages, hot ones
//! left out, give the share of pages that outlive each group; groups are added for as long as the
//! relocations of the chain fall by 0.5% at least. Half an epoch later, if blocks left a group with a
//! valid share that is more than `tolerance` off what was expected, that group and those after it are
//! merged into the last.
//!
//! ```text
//! place_host(page):
//!     at the end of an epoch: configure; half an epoch later: verify
//!     count: the counter rises, to 3 at most, if the old version is in the hot group or group 1;
//!         else it is 0
//!     sample, every `stride`-th page: an interval ends; the next begins if the counter is below 3
//!     the hot group if the counter is 3, else group 1
//!
//! place_relocation(page of group g), the hot group being number 0:
//!     g <= 1: the counter is 0
//!     group g + 1, or the last group
//!
//! select_victims:
//!     a block is needed: add next_victim until one has an invalid page, FULL_VICTIMS_MAX at most:
//!         the oldest block of the first queue, from the hot group on, that is longer than its size
//!         else the block with the highest score outside the queues (score)
//!     no invalid page so far: add the block with the fewest valid pages
//!
//! configure:                                                             (model.rs from here on)
//!     the hot group grows by half, or shrinks by a block, as its victims were
//!     S(t) = intervals.survival: the share of the writes to group 1 that live longer than t
//!     best_chain: no queue at first; then, up to GROUPS_MAX groups, and for as long as it pays:
//!         one queue more; refine: each size in turn, from the last queue to the first, is set to
//!             the one of 1, 2, 3, 4, 6, 9, ... blocks with the fewest relocations
//!     chain(sizes), the relocations per host write:
//!         for each queue: time += pages of the queue / inflow
//!             inflow = S(time) x the inflow of group 1; relocations += inflow
//!         for the last group, of valid share u: relocations += inflow x v / (1 - v),
//!             v being the solution of u = (v - 1) / ln v (valid_share_of_victims)
//!     valid_shares, for each queue: S(time when pages leave it) / S(time when they enter it)
//!
//! verify:                                                                (groups.rs)
//!     the first queue after the hot group whose victims' valid share was off by over `tolerance`:
//!         merge_from: it and all groups after it are the last group
//! ```
//!
//! # Parameters
//! `epoch` 4 drive writes; `sample` 0.01 of the pages; `tolerance` 0.1; `last`, how the last group
//! collects: cost-benefit, the highest age x (1 - u) / u, or greedy.
//!
//! # Where the paper is silent
//! The paper was at hand as its abstract and as what its authors say of their artifact. The last group is
//! modelled as FIFO under uniform writes. Sizes are searched one after the other among powers of about
//! 2^(1/2), three rounds; there are 7 groups at most beside the hot one, which grows by half per epoch
//! while its victims are more than 10% valid and shrinks by a block while they are less than 1% valid. Until the first
//! epoch is over, and where group 1 is merged, host writes and relocated pages have a group each, and
//! blocks of both are collected as in the last group. A queue whose oldest blocks are all valid hands
//! on at most 4 of them in a collection, and then the block with the fewest valid pages is taken as
//! well, since a collection has to gain something. All blocks are looked at in every collection.
//!
//! # Reference
//! Oh et al., "MiDAS: Minimizing Write Amplification in Log-Structured Systems through Adaptive Group
//! Number and Size Configuration", FAST 2024.

use crate::algorithms::midas::groups::{FIRST, Groups, HOT, STREAMS};
use crate::algorithms::midas::model::{Demand, Intervals};
use crate::page::entry::{DriveShape, PolicyEntry};
use crate::page::policy::{BlockScore, HostWrite, Policy, Relocation, Victims};
use crate::page::{Drive, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, bits_for, hardware};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::choices! {
    /// How the last group chooses its victims.
    pub enum LastGroup {
        /// The highest age x (1 - u) / u.
        CostBenefit = "cost-benefit",
        /// The fewest valid pages.
        Greedy = "greedy",
    }
}

ftlab_spec::parameters! {
    /// Parameters of MiDAS.
    pub struct MidasParameters {
        /// Drive writes after which the groups are chosen again.
        epoch: f64 = 4.0, "epoch" in 0.01..=1000.0, from "MiDAS (FAST 2024), artifact";
        /// The share of the logical pages whose intervals are measured.
        sample: f64 = 0.01, "sample" in 0.000_1..=1.0, from "MiDAS (FAST 2024), artifact";
        /// How far a valid share may be off before groups are merged.
        tolerance: f64 = 0.1, "tolerance" in 0.0..=1.0, from "our reading";
        /// How the last group chooses its victims.
        last: LastGroup = LastGroup::CostBenefit, "last", from "our reading";
    }
}

/// The stream of a group.
const STREAM_NAMES: [&str; STREAMS] =
    ["hot", "group 1", "group 2", "group 3", "group 4", "group 5", "group 6", "group 7"];

/// The counter of a hot page.
const HOT_COUNT: u8 = 3;

/// Full blocks that a collection moves at most.
const FULL_VICTIMS_MAX: usize = 4;

/// No interval is being measured.
const NOT_MEASURED: u32 = u32::MAX;

/// A hot group, and a chain of groups of older and older pages.
pub struct Midas {
    /// Two bits for every logical page.
    counters: Vec<u8>,
    /// Sampled page -> write clock when the host wrote it, modulo 2^32.
    sampled: Vec<u32>,
    stride: u32,
    intervals: Intervals,
    groups: Groups,
    last: LastGroup,
    tolerance: f64,
    epoch: u64,
    /// The write clock at which the groups are chosen again, and at which they are checked.
    next_epoch: u64,
    next_check: u64,
    /// Host writes to group 1 in this epoch.
    first_writes: u64,
    reserve_blocks: u32,
}

state!(Midas { counters, sampled, intervals, groups, next_epoch, next_check, first_writes } constant stride, last, tolerance, epoch, reserve_blocks);

impl PolicyEntry for Midas {
    type Parameters = MidasParameters;
    const NAME: &'static str = "midas";
    const SUMMARY: &'static str =
        "a chain of queues by age, their sizes by a model of sampled update intervals";
    const SOURCE: &'static str = "MiDAS (FAST 2024)";

    fn new(parameters: &MidasParameters, shape: DriveShape) -> Self {
        let pages = f64::from(shape.logical_pages);
        let epoch = (parameters.epoch * pages).ceil() as u64;
        // Odd, so that pages of every place in an aligned request are sampled.
        let stride = (1.0 / parameters.sample).round() as u32 | 1;
        let sampled = shape.logical_pages.div_ceil(stride);
        Self {
            counters: hardware::table(shape.logical_pages.div_ceil(4) as usize, 0),
            sampled: hardware::table(sampled as usize, NOT_MEASURED),
            stride,
            intervals: Intervals::new(epoch, shape.pages_per_block),
            groups: Groups::unknown(),
            last: parameters.last,
            tolerance: parameters.tolerance,
            epoch,
            next_epoch: epoch,
            next_check: u64::MAX,
            first_writes: 0,
            reserve_blocks: shape.reserve_blocks,
        }
    }
}

impl Midas {
    /// Changes the counter of a page, and returns it.
    #[inline]
    fn count(&mut self, lpn: Lpn, change: impl Fn(u8) -> u8) -> u8 {
        let (byte, shift) = (&mut self.counters[lpn.index() / 4], lpn.0 % 4 * 2);
        let counter = change(*byte >> shift & HOT_COUNT);
        *byte = *byte & !(HOT_COUNT << shift) | counter << shift;
        counter
    }

    /// Takes note that the version of a sampled page ends, and whether another begins that counts.
    #[inline]
    fn sample(&mut self, lpn: Lpn, begins: bool, drive: &Drive) {
        if !lpn.0.is_multiple_of(self.stride) {
            return;
        }
        let now = drive.write_clock() as u32;
        let written_at = &mut self.sampled[(lpn.0 / self.stride) as usize];
        let before = std::mem::replace(written_at, if begins { now } else { NOT_MEASURED });
        if before != NOT_MEASURED {
            self.intervals.end(now.wrapping_sub(before));
        }
        if begins {
            self.intervals.begin();
        }
    }

    /// Valid pages that have not been written for an epoch.
    fn cold_pages(&self, drive: &Drive) -> f64 {
        let now = drive.write_clock() as u32;
        let is_cold = |&&written_at: &&u32| {
            written_at != NOT_MEASURED && u64::from(now.wrapping_sub(written_at)) >= self.epoch
        };
        let cold = self.sampled.iter().filter(is_cold).count() as f64;
        cold * f64::from(drive.logical_pages()) / self.sampled.len() as f64
    }

    /// Chooses the groups again.
    #[cold]
    fn configure(&mut self, drive: &Drive) {
        let pages_per_block = drive.pages_per_block();
        match self.groups.valid_share(HOT, pages_per_block) {
            Some(share) if share > 0.1 => {
                self.groups.sizes[HOT] += self.groups.sizes[HOT].div_ceil(2);
            }
            Some(share) if share < 0.01 => {
                self.groups.sizes[HOT] = self.groups.sizes[HOT].saturating_sub(1).max(1);
            }
            _ => {}
        }
        let hot_blocks = self.groups.sizes[HOT];
        // What streams have open is half empty on average.
        let blocks = drive.geometry().blocks() - drive.retired_blocks();
        let taken = self.reserve_blocks + hot_blocks + self.groups.last as u32 / 2;
        if let Some(survival) = self.intervals.survival() {
            let demand = Demand {
                survival: &survival,
                inflow: self.first_writes as f64 / self.epoch as f64,
                blocks: blocks.saturating_sub(taken),
                pages_per_block,
                valid_pages: f64::from(drive.mapped_pages()),
                cold_pages: self.cold_pages(drive),
            };
            let chain = demand.best_chain();
            let expected = demand.valid_shares(&chain.sizes);
            let groups = &mut self.groups;
            groups.queues = chain.sizes.len();
            groups.last = (chain.sizes.len() + 1).max(2);
            groups.sizes[FIRST..=chain.sizes.len()].copy_from_slice(&chain.sizes);
            groups.expected[FIRST..=chain.sizes.len()].copy_from_slice(&expected);
        }
        self.groups.left = [(0, 0); STREAMS];
        self.intervals.clear();
        self.first_writes = 0;
        self.next_check = self.next_epoch + self.epoch / 2;
        self.next_epoch += self.epoch;
    }

    /// Merges the groups from the first on whose blocks are not as they should be.
    #[cold]
    fn verify(&mut self, drive: &Drive) {
        self.next_check = u64::MAX;
        let groups = &self.groups;
        let is_off = |&group: &usize| {
            let share = groups.valid_share(group, drive.pages_per_block());
            share.is_some_and(|share| (share - groups.expected[group]).abs() > self.tolerance)
        };
        if let Some(group) = (FIRST..=groups.queues).find(is_off) {
            self.groups.merge_from(group);
        }
    }

    /// A score of a block that is not in a queue: the higher, the sooner it is collected.
    fn score(&self, block: BlockId, drive: &Drive) -> f64 {
        let valid = f64::from(drive.valid_pages(block));
        let invalid = f64::from(drive.pages_per_block()) - valid;
        match self.last {
            LastGroup::Greedy => invalid,
            LastGroup::CostBenefit => {
                let age = (drive.write_clock() - drive.sealed_at(block) + 1) as f64;
                age * invalid / valid
            }
        }
    }

    /// The sealed blocks that may be victims and are not yet.
    fn eligible<'a>(drive: &'a Drive, victims: &'a Victims) -> impl Iterator<Item = BlockId> + 'a {
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        blocks.filter(|&block| {
            drive.phase(block) == Phase::Sealed
                && drive.valid_pages(block) <= victims.valid_pages_max()
                && !victims.blocks().contains(&block)
        })
    }

    /// The oldest block of the first queue that is too long, or the best block of the last group.
    fn next_victim(&self, drive: &Drive, victims: &Victims) -> Option<BlockId> {
        let mut oldest: [Option<BlockId>; STREAMS] = [None; STREAMS];
        let mut best: Option<(f64, BlockId)> = None;
        let is_older = |a: BlockId, b: BlockId| drive.allocated(a) < drive.allocated(b);
        for block in Self::eligible(drive, victims) {
            let group = self.groups.of(drive.stream_of(block));
            if self.groups.is_queue(group) {
                let oldest = &mut oldest[group];
                if oldest.is_none_or(|other| is_older(block, other)) {
                    *oldest = Some(block);
                }
            } else {
                let score = self.score(block, drive);
                let beats = |&mut (other, of): &mut (f64, BlockId)| {
                    score > other || score.to_bits() == other.to_bits() && is_older(block, of)
                };
                if score > 0.0 && best.as_mut().is_none_or(beats) {
                    best = Some((score, block));
                }
            }
        }
        let chosen = |group: usize| {
            let of = |&&block: &&BlockId| self.groups.of(drive.stream_of(block)) == group;
            victims.blocks().iter().filter(of).count() as u32
        };
        let is_too_long = |&group: &usize| {
            let blocks = drive.stream_blocks(StreamId(group as u8));
            blocks.saturating_sub(chosen(group)) > self.groups.sizes[group]
        };
        let queue = (HOT..=self.groups.queues).find(is_too_long);
        queue.and_then(|group| oldest[group]).or(best.map(|(_, block)| block))
    }

    fn choose(&mut self, block: BlockId, drive: &Drive, victims: &mut Victims) {
        let valid_pages = drive.valid_pages(block);
        self.groups.take_note(self.groups.of(drive.stream_of(block)), valid_pages);
        victims.push(block, valid_pages);
    }
}

impl Policy for Midas {
    fn streams(&self) -> Vec<Stream> {
        let stream = |(group, &name)| Stream {
            name,
            takes_relocations: group != HOT,
            cold: group == STREAMS - 1,
        };
        STREAM_NAMES.iter().enumerate().map(stream).collect()
    }

    /// All pages of a victim go to one stream, which opens one block at most before the victim is free.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        hardware::prefetch(&self.counters, lpn.index() / 4);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &Drive) -> StreamId {
        if drive.write_clock() >= self.next_epoch {
            self.configure(drive);
        } else if drive.write_clock() >= self.next_check {
            self.verify(drive);
        }
        let old = drive.flash_page(write.lpn).map(|page| drive.stream_of(drive.block_of(page)));
        let was_young = old.is_some_and(|stream| stream.index() <= FIRST);
        let counter = self
            .count(write.lpn, |counter| if was_young { (counter + 1).min(HOT_COUNT) } else { 0 });
        let is_hot = counter == HOT_COUNT;
        self.first_writes += u64::from(!is_hot);
        self.sample(write.lpn, !is_hot, drive);
        StreamId(if is_hot { HOT } else { FIRST } as u8)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &Drive) -> StreamId {
        if page.from.index() <= FIRST {
            self.count(page.lpn, |_| 0);
        }
        StreamId((self.groups.of(page.from) + 1).min(self.groups.last) as u8)
    }

    fn select_victims(&mut self, drive: &Drive, victims: &mut Victims) {
        // Ahead of need only the emptiest blocks are worth collecting.
        let is_due = victims.valid_pages_max() + 1 >= drive.pages_per_block();
        while is_due
            && victims.invalid_pages() == 0
            && victims.blocks().len() < FULL_VICTIMS_MAX
            && let Some(block) = self.next_victim(drive, victims)
        {
            self.choose(block, drive, victims);
        }
        if victims.invalid_pages() == 0 {
            let fitting = Self::eligible(drive, victims);
            let fitting =
                fitting.filter(|&block| drive.valid_pages(block) < drive.pages_per_block());
            let order = |&block: &BlockId| (drive.valid_pages(block), drive.allocated(block));
            if let Some(block) = fitting.min_by_key(order) {
                self.choose(block, drive, victims);
            }
        }
    }

    fn block_score(&self, block: BlockId, drive: &Drive) -> Option<BlockScore> {
        let formula = match self.last {
            LastGroup::Greedy => "invalid pages, outside the queues",
            LastGroup::CostBenefit => "age x (1 - u) / u, outside the queues",
        };
        let is_queued = self.groups.is_queue(self.groups.of(drive.stream_of(block)));
        (!is_queued).then(|| BlockScore { formula, value: self.score(block, drive) })
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &Drive) {
        self.count(lpn, |_| 0);
        self.sample(lpn, false, drive);
    }

    /// The counters, the sampled stamps, and the histogram; the stream and the age of every block.
    fn metadata(&self) -> Metadata {
        let tables = size_of_val(&self.sampled[..]) + self.intervals.bytes();
        Metadata::per_page(2.0)
            + Metadata::per_block(bits_for(STREAMS as u32) + crate::STAMP_BITS)
            + Metadata::fixed(tables as u64)
    }

    fn memory_bytes(&self) -> usize {
        self.counters.len() + size_of_val(&self.sampled[..]) + self.intervals.bytes()
    }

    fn check(&self, _drive: &Drive) -> Result<(), String> {
        let Groups { queues, last, .. } = self.groups;
        if !(2..STREAMS).contains(&last) || queues >= last {
            return Err(format!("{queues} queues before group {last} of {STREAMS}"));
        }
        Ok(())
    }
}
