//! `midas`: a chain of groups whose number and sizes a model of the workload chooses.
//!
//! # Idea
//! Pages that outlive a group of blocks move on to the next one, so that they sort themselves by age. How
//! long each group should hold them follows from how long pages live: sampled intervals and a Markov
//! chain tell what a division of the blocks would cost.
//!
//! # Rule
//! Host writes go to group 1, or to the hot group if the page's 2-bit counter is at its maximum. The
//! counter rises when a version in the hot group is overwritten, or one in group 1 whose block is no
//! older than hot blocks become; it falls when it is older, and when the page is moved out of either. A
//! group is a queue: while it has more blocks than its size, its oldest is the victim, whose valid pages
//! go to the next group. The last group has all other blocks, and collects within itself.
//!
//! After every epoch the groups are chosen again: the intervals between the writes of sampled pages give
//! the share of pages that outlive each group, and the chain with the fewest relocations is taken if
//! these are fewer than those of the latest drive write. Blocks that have no group any more go to the
//! last one where they are. Where the valid share of the victims of a group turns out more than `tolerance`
//! above what was expected, that group and those after it become a pool of four generations: one victim
//! is chosen among all of them, and its pages go to the next generation. The same is done before the
//! first model.
//!
//! ```text
//! place_host(page):
//!     turn: at the end of an epoch: configure; every 0.3 epochs: the groups that are off
//!     hot.overwrite, unless it is one of the first drive writes: the counter rises, to 3 at most, if
//!         the old version is in the hot group, or in group 1 in a block sealed within the window;
//!         in group 1 and older: it falls by 1
//!     hot.next_window, when as many pages were overwritten as the window is long, and a hot block was
//!         collected: the window is the mean of itself and the ages of hot blocks at their collection
//!     intervals.end, every `stride`-th page: an interval ends, another begins
//!     the hot group if the counter is 3, else group 1
//!
//! place_relocation(page of group g), the hot group being number 0:
//!     g = 0: the counter falls by 2; g = 1: by 1
//!     group g + 1, or the last group or generation
//!
//! select_victims:
//!     a block is needed: add next_victim until one has an invalid page, FULL_VICTIMS_MAX at most:
//!         the oldest block of the first queue, from the hot group on, that has its size, the open
//!             block included
//!         else the block with the highest score outside the queues (score)
//!     no invalid page so far: add the block with the fewest valid pages
//!     25 blocks collected since the last host write: the last queue joins the pool, or all
//!         from the group on that they came from
//!
//! configure:                                           (intervals.rs, model.rs and groups.rs from here on)
//!     the hot group as measured, if its victims are more than 10% valid or it takes less than 15% of
//!         the writes; else it has the pages of the shortest intervals and its size is free
//!     best_chain: the hot group and the last; then groups one by one, each of the size with the
//!         fewest relocations; of all lengths the best; four times every size in turn once more
//!     chain(sizes), the relocations per host write:
//!         for each queue: time += pages of the queue, less half a block, / inflow
//!             inflow x= the share of those alive that outlive time; relocations += inflow
//!         for the last group: relocations += inflow x v / (1 - v), v by the write amplification of FIFO
//!             under writes of two kinds, of less and of more than 0.7 of the mean interval
//!     groups.choose: sizes; from when each group has been collected once, valid shares count
//! ```
//!
//! # Parameters
//! `epoch` 4 drive writes; `sample` 0.01 of the pages; `tolerance` 0.1; `last`, how the last group
//! collects: cost-benefit, the highest age^(1/2) x (1 - u) / u, or greedy.
//!
//! # Where the paper is silent
//! The rules and their constants are those of the authors' simulator, which is public. Different from it:
//! the model is applied at once, not when a thread is done with it; the epoch is never doubled; a size is
//! searched one by one up to 64 blocks and in steps of 1.6% beyond; the last group keeps 50 blocks, or a
//! tenth of all if that is less; pages in blocks of the pool that lose none are left out of both its pages
//! and its room, there only out of its pages; valid shares are checked every 0.3 epochs from the choice
//! on. What is still open of streams that have no group any more is filled up by the last group. A queue
//! whose oldest blocks are all valid hands on at most 4 of them in a collection, and then the block with
//! the fewest valid pages is taken as well, since a collection has to gain something. All blocks are
//! looked at in every collection. There are 9 groups at most beside the hot one, and generations beyond
//! the ninth stream share it.
//!
//! # Reference
//! Oh et al., "MiDAS: Minimizing Write Amplification in Log-Structured Systems through Adaptive Group
//! Number and Size Configuration", FAST 2024.

use crate::algorithms::midas::groups::{FIRST, Groups, HOT, STREAMS};
use crate::algorithms::midas::hot::{HotFilter, HotGroup};
use crate::algorithms::midas::intervals::Intervals;
use crate::algorithms::midas::model::{Chain, Demand};
use crate::page::entry::{DriveShape, PolicyEntry};
use crate::page::policy::{BlockScore, HostWrite, Policy, Relocation, Victims};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, bits_for};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::choices! {
    /// How the last group chooses its victims.
    pub enum LastGroup {
        /// The highest age^(1/2) x (1 - u) / u.
        CostBenefit = "cost-benefit",
        /// The fewest valid pages.
        Greedy = "greedy",
    }
}

ftlab_spec::parameters! {
    pub struct MidasParameters {
        /// Drive writes after which the groups are chosen again.
        epoch: f64 = 4.0, "epoch" in 0.01..=1000.0, from "MiDAS (FAST 2024), artifact";
        /// The share of the logical pages whose intervals are measured.
        sample: f64 = 0.01, "sample" in 0.000_1..=1.0, from "MiDAS (FAST 2024), artifact";
        /// How many more valid pages victims may have than expected before groups are merged.
        tolerance: f64 = 0.1, "tolerance" in 0.0..=1.0, from "MiDAS (FAST 2024), artifact";
        /// How the last group chooses its victims.
        last: LastGroup = LastGroup::CostBenefit, "last", from "MiDAS (FAST 2024), artifact";
    }
}

/// The stream of a group.
const STREAM_NAMES: [&str; STREAMS] = [
    "hot", "group 1", "group 2", "group 3", "group 4", "group 5", "group 6", "group 7", "group 8",
    "group 9",
];

/// Drive writes before the first epoch.
const SETTLING: u64 = 2;

/// Epochs between two checks.
const CHECK: f64 = 0.3;

/// A hot group with more valid pages is no base for a model; one of one block may have more.
const HOT_VALID_MAX: (f64, f64) = (0.18, 0.3);

/// The hot group where none was seen.
const HOT_UNSEEN: HotGroup = HotGroup { blocks: 1.0, traffic: 0.01, valid: 0.05 };

/// Frozen pages count from this share of the flash on, and after this share of the pool is left out.
const FROZEN_MIN: f64 = 0.2;
const FROZEN_LESS: f64 = 0.05;

/// Blocks collected between two host writes before groups are merged.
const STUCK: u32 = 25;

/// Full blocks that a collection moves at most.
const FULL_VICTIMS_MAX: usize = 4;

/// A hot group, and a chain of groups of older and older pages.
pub struct Midas {
    hot: HotFilter,
    intervals: Intervals,
    groups: Groups,
    last: LastGroup,
    tolerance: f64,
    epoch: u64,
    /// The write clock at which the groups are chosen again, and at which they are checked.
    next_epoch: u64,
    next_check: u64,
    /// Relocations since the last drive write began, at this write clock, and per host write in the one before it.
    moved: u64,
    next_round: u64,
    moved_before: f64,
    /// Blocks collected since the write clock was this.
    stuck: (u64, u32),
    reserve_blocks: u32,
}

state!(Midas { hot, intervals, groups, next_epoch, next_check, moved, next_round, moved_before, stuck } constant last, tolerance, epoch, reserve_blocks);

impl PolicyEntry for Midas {
    type Parameters = MidasParameters;
    const NAME: &'static str = "midas";
    const SUMMARY: &'static str =
        "a chain of queues by age, their sizes by a model of sampled update intervals";
    const SOURCE: &'static str = "MiDAS (FAST 2024)";

    fn new(parameters: &MidasParameters, shape: DriveShape) -> Self {
        let pages = shape.logical_pages;
        let epoch = (parameters.epoch * f64::from(pages)).ceil() as u64;
        // Odd, so that pages of every place in an aligned request are sampled.
        let stride = (1.0 / parameters.sample).round() as u32 | 1;
        Self {
            hot: HotFilter::new(pages),
            intervals: Intervals::new(pages, stride, epoch, shape.pages_per_block),
            groups: Groups::unknown(shape.blocks),
            last: parameters.last,
            tolerance: parameters.tolerance,
            epoch,
            next_epoch: SETTLING * u64::from(pages) + epoch,
            next_check: u64::MAX,
            moved: 0,
            next_round: u64::from(pages),
            moved_before: 0.0,
            stuck: (0, 0),
            reserve_blocks: shape.reserve_blocks,
        }
    }
}

impl Midas {
    /// Does what is due at the present write clock.
    #[cold]
    fn turn(&mut self, drive: &DriveState) {
        let now = drive.write_clock();
        if now >= self.next_round {
            self.moved_before = self.moved as f64 / f64::from(drive.logical_pages());
            self.moved = 0;
            self.next_round = now + u64::from(drive.logical_pages());
            if now + self.epoch <= self.next_epoch {
                // The first epoch has not begun yet.
                self.intervals.restart(drive);
            }
        }
        if now >= self.next_epoch {
            self.configure(drive);
        } else if now >= self.next_check {
            self.next_check = now + self.until_check();
            if let Some(group) = self.groups.off(self.tolerance, drive.pages_per_block()) {
                self.groups.merge_from(group);
            }
        }
    }

    fn until_check(&self) -> u64 {
        (CHECK * self.epoch as f64).ceil() as u64
    }

    /// Chooses the groups again, if the model expects fewer relocations than there were.
    fn configure(&mut self, drive: &DriveState) {
        let chain = self.chain(drive);
        if let Some(chain) = chain.filter(|chain| chain.relocations <= self.moved_before) {
            self.groups.choose(&chain.sizes, &chain.expected, drive);
        }
        self.intervals.restart(drive);
        self.next_epoch = drive.write_clock() + self.epoch;
        self.next_check = drive.write_clock() + self.until_check();
    }

    /// The best chain for what was seen in this epoch.
    fn chain(&mut self, drive: &DriveState) -> Option<Chain> {
        let hot = self.hot.measured().unwrap_or(HOT_UNSEEN);
        let (of_more, of_one) = HOT_VALID_MAX;
        if hot.valid > if hot.blocks > 1.0 { of_more } else { of_one } {
            return None;
        }
        let blocks = drive.geometry().blocks() - drive.retired_blocks();
        let demand = Demand {
            writes: &self.intervals.distribution()?,
            hot: Some(hot),
            blocks: blocks.saturating_sub(self.reserve_blocks),
            pages_per_block: drive.pages_per_block(),
            valid_pages: f64::from(drive.mapped_pages()),
            frozen_pages: self.frozen_pages(drive),
        };
        demand.best_chain()
    }

    /// Pages in blocks of the pool that have lost none.
    fn frozen_pages(&self, drive: &DriveState) -> f64 {
        let pages = drive.pages_per_block();
        let blocks = drive.host_blocks();
        let pool = blocks.filter(|block| {
            drive.phase(*block) == Phase::Sealed && !self.groups.is_queue(self.groups.of(*block))
        });
        let (mut frozen, mut all) = (0.0, 0.0);
        for block in pool {
            all += 1.0;
            frozen += f64::from(u8::from(drive.valid_pages(block) == pages));
        }
        let frozen = frozen - FROZEN_LESS * all;
        let is_much = frozen >= FROZEN_MIN * f64::from(drive.geometry().blocks());
        if is_much { frozen * f64::from(pages) } else { 0.0 }
    }

    /// A score of a block that is not in a queue: the higher, the sooner it is collected.
    fn score(&self, block: BlockId, drive: &DriveState) -> f64 {
        let valid = f64::from(drive.valid_pages(block));
        let invalid = f64::from(drive.pages_per_block()) - valid;
        match self.last {
            LastGroup::Greedy => invalid,
            LastGroup::CostBenefit => {
                let age = (drive.write_clock() - drive.sealed_at(block) + 1) as f64;
                age.sqrt() * invalid / valid
            }
        }
    }

    /// The sealed blocks that may be victims and are not yet.
    fn eligible<'a>(
        drive: &'a DriveState,
        victims: &'a Victims,
    ) -> impl Iterator<Item = BlockId> + 'a {
        let blocks = drive.host_blocks();
        blocks.filter(|&block| {
            drive.phase(block) == Phase::Sealed
                && drive.valid_pages(block) <= victims.valid_pages_max()
                && !victims.blocks().contains(&block)
        })
    }

    /// The oldest block of the first queue that is too long, or the best block of the last group.
    fn next_victim(&self, drive: &DriveState, victims: &Victims) -> Option<BlockId> {
        let mut oldest: [Option<BlockId>; STREAMS] = [None; STREAMS];
        let mut best: Option<(f64, BlockId)> = None;
        let mut sealed = [0; STREAMS];
        let is_older = |a: BlockId, b: BlockId| drive.allocated(a) < drive.allocated(b);
        for block in Self::eligible(drive, victims) {
            let group = self.groups.of(block);
            sealed[group] += 1;
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
        let is_full = |group: &usize| {
            self.groups.is_queue(*group) && self.groups.is_full(*group, sealed[*group])
        };
        let queue = (HOT..=self.groups.queues).find(is_full);
        queue.and_then(|group| oldest[group]).or(best.map(|(_, block)| block))
    }

    fn choose(&mut self, block: BlockId, drive: &DriveState, victims: &mut Victims) {
        let valid_pages = drive.valid_pages(block);
        let group = self.groups.of(block);
        if group == HOT {
            self.hot.take_note(block, drive);
        }
        self.groups.take_note(group, valid_pages);
        victims.push(block, valid_pages);
        self.moved += u64::from(valid_pages);
        let (since, blocks) = self.stuck;
        let now = drive.write_clock();
        self.stuck = if since == now { (now, blocks + 1) } else { (now, 1) };
        if self.stuck.1 == STUCK {
            self.stuck.1 = 0;
            if self.groups.queues > 0 {
                self.groups.merge_from(group.min(self.groups.queues));
            }
        }
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
        self.hot.prefetch(lpn);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let due = self.next_round.min(self.next_epoch).min(self.next_check);
        if drive.write_clock() >= due {
            self.turn(drive);
        }
        if let Some(page) = drive.flash_page(write.lpn) {
            let block = drive.block_of(page);
            self.hot.overwrite(write.lpn, block, self.groups.of(block), drive);
        }
        self.intervals.end(write.lpn, true, drive);
        StreamId(if self.hot.is_hot(write.lpn) { HOT } else { FIRST } as u8)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let from = self.groups.of(page.victim);
        if from <= FIRST {
            self.hot.relocate(page.lpn, from);
        }
        self.groups.stream(self.groups.after(from), drive)
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
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

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        let formula = match self.last {
            LastGroup::Greedy => "invalid pages, outside the queues",
            LastGroup::CostBenefit => "age^(1/2) x (1 - u) / u, outside the queues",
        };
        let is_queued = self.groups.is_queue(self.groups.of(block));
        (!is_queued).then(|| BlockScore { formula, value: self.score(block, drive) })
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.groups.open(block, drive.stream_of(block));
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.hot.forget(lpn);
        self.intervals.end(lpn, false, drive);
    }

    /// The counters, the sampled stamps, and the histogram; the group and the age of every block.
    fn metadata(&self) -> Metadata {
        Metadata::per_page(2.0)
            + Metadata::per_block(bits_for(STREAMS as u32) + crate::STAMP_BITS)
            + Metadata::fixed(self.intervals.bytes() as u64)
    }

    fn memory_bytes(&self) -> usize {
        self.hot.bytes() + self.intervals.bytes() + self.groups.bytes()
    }

    fn check(&self, _drive: &DriveState) -> Result<(), String> {
        let Groups { queues, last, .. } = self.groups;
        if last >= STREAMS || queues >= last {
            return Err(format!("{queues} queues before group {last} of {STREAMS}"));
        }
        Ok(())
    }
}
