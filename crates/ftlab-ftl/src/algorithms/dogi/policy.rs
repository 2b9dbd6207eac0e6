//! `dogi`: groups by lifetimes that a small neural network predicts, as many as its predictions are good for.
//!
//! # Idea
//! The shortest lives are easy to predict from the last one, the longest from there being none, and those
//! between are worth a network. The finer pages are divided, the more of them are in the wrong group, so how
//! fine is a question of how good the predictions are; what they got wrong is known afterwards.
//!
//! # Rule
//! A hot group, up to four groups of other host writes and relocated pages, and a frozen one. A host write
//! whose last lifetime was below a bound is hot. Any other has its lifetime predicted, as one of ten
//! categories, by a network of 6 features, twice 32 rectified units and 10 outputs, and goes to the group of
//! its category. Relocated pages that were not rewritten for long are frozen. When they are relocated for the
//! first time, others go to the group that covers what is left of their lives, in the mean of those of their
//! category; later to the next group, also to those that take no host writes.
//!
//! The victim is the oldest block of the first group that has blocks older than the longest lifetime it stands
//! for; if there is none, the best block of the last group that takes host writes and those after it. From
//! time to time a new network is trained on sampled writes whose lifetimes became known, and by what it makes
//! of a tenth of them, from which it did not learn, categories are grouped again.
//!
//! ```text
//! place_host(page):
//!     turn, if due:
//!         every 0.3 drive writes: the bound of hot lives rises by a block if write amplification fell by 5%
//!             or more; that is undone if it then rises as much
//!         every 1.2 drive writes: a new bit begins in the history of every page
//!         every `retrain` drive writes: retrain
//!     every 6th host write: one page after another becomes unwritten for the frozen group
//!     last lifetime < bound: the hot group
//!     else: category = network(features)
//!         in the first third of the time between trainings, one of `sample` is remembered
//!         the group of the category, or the first one until there is a network
//!
//! place_relocation(page of group g):
//!     not rewritten since it became unwritten: the frozen group
//!     out of the hot group: the first group
//!     not moved before, and g is not the last group that takes host writes: where `choose_moves` sends its category
//!     else: group g + 1, or the last of the four
//!
//! retrain:
//!     samples that still wait have lived until now
//!     bounds = 1% of a drive write and twice as long each, or those of categories that are equally frequent
//!         among the samples
//!     the network learns nine tenths of them, `epochs` times over
//!     prediction log = predicted category and lifetime of the other tenth
//!     where less than 10% of them are right: all in one group
//!     Groups::best: of all divisions into one to four groups the one with the fewest relocations       (grouping.rs)
//!         a group holds what flows into it for as long as its bound
//!         what outlives a group goes on to the next; the last is a log, first in, first out             (chain.rs)
//!     choose_moves: lifetimes that outlive the group, without the longest 15%; their geometric mean less
//!         the bound of the group; the first group, its own included, with that bound
//! ```
//!
//! # Parameters
//! `retrain` 0.775 drive writes, `sample` one of 10, `epochs` 10, `hot` 3 blocks at first, as published.
//! `last=cost-benefit`, the highest age^(1/2) x (1 - u) / u, is the prototype's choice among the blocks of the
//! last group; the paper's is `greedy`, the fewest valid pages. `categories=doubling` is the paper's,
//! `balanced` the prototype's.
//!
//! # Where the paper is silent
//! It omits the chain of groups; what is here is that of the authors' program, with two changes: the hot pages
//! are measured, of which the program has constants, and so are the valid pages. The paper's host writes
//! (200K, 10M, 26M, ...) are those of drives of 128 GiB in blocks of 256 MiB; here they are the same in blocks
//! or drive writes. The program collects when 9.1% of what is written are invalid, which is what a drive with
//! 10% of over-provisioning has when it is full; here collections wait until blocks are needed. Lifetimes are
//! kept exactly, not in one byte. The features are the page's number, that of the page written before, its last
//! lifetime, its history of eight bits as a number and as their count, and writes to its 512 pages; the lifetime
//! and the writes by their logarithms. Training is by Adam, without dropout, in batches of 32, and done at once.
//! Blocks of a group keep its number when categories are grouped again. An expired block without an invalid page
//! is moved as well, at most 4 of them in a collection, and then the block with the fewest valid pages, since a
//! collection has to gain something.
//!
//! # Reference
//! Kim et al., "DOGI: Data Placement with Oracle-Guided Insights for Log-Structured Systems", FAST 2026,
//! section 4, and its public prototype.

use crate::algorithms::dogi::chain::GROUPS_MAX;
use crate::algorithms::dogi::grouping::{
    Bounds, CATEGORIES, Demand, Groups, PredictionLog, balanced, category_of, doubling,
};
use crate::algorithms::dogi::hot::HotBound;
use crate::algorithms::placement::classes::log2;
use crate::algorithms::tools::network::Network;
use crate::algorithms::tools::samples::{Sample, Samples};
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PolicyEntry};
use crate::page::policy::{BlockScore, HostWrite, Policy, Relocation, SampleBytes, Victims};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, STAMP_BITS, bits_for, memory};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::choices! {
    /// How the last group chooses its victims.
    pub enum LastGroup {
        /// The fewest valid pages.
        Greedy = "greedy",
        /// The highest age^(1/2) x (1 - u) / u.
        CostBenefit = "cost-benefit",
    }
}

ftlab_spec::choices! {
    /// How long the lifetimes of a category are.
    pub enum Categories {
        /// 1% of a drive write, and twice as long in each of the next ones.
        Doubling = "doubling",
        /// Such that all are equally frequent.
        Balanced = "balanced",
    }
}

ftlab_spec::parameters! {
    pub struct DogiParameters {
        /// Blocks of host writes that hot pages live for at most, in the beginning.
        hot: u32 = 3, "hot" in 1..=10_000, from "DOGI (FAST 2026), section 4.2.1: 200K of 65,536 pages";
        /// Drive writes after which the network is trained and categories are grouped again.
        retrain: f64 = 0.775, "retrain" in 0.01..=1000.0, from "DOGI (FAST 2026), section 4.2.2: 26M on 128 GiB";
        /// One of this many host writes that are not hot is a sample.
        sample: u32 = 10, "sample" in 1..=10_000, from "DOGI (FAST 2026), section 4.2.2";
        /// How often a training goes over its samples.
        epochs: u32 = 10, "epochs" in 1..=1000, from "DOGI (FAST 2026), section 4.2.2";
        /// How the last group chooses its victims.
        last: LastGroup = LastGroup::CostBenefit, "last", from "DOGI (FAST 2026), prototype; section 4.1 has greedy";
        /// How long the lifetimes of a category are.
        categories: Categories = Categories::Doubling, "categories", from "DOGI (FAST 2026), section 4.2.2; the prototype has balanced";
    }
}

const FEATURES: usize = 6;

/// 1.6K weights.
type Predictor = Network<FEATURES, 32, CATEGORIES>;

pub(super) const HOT: StreamId = StreamId(0);
const FROZEN: StreamId = StreamId(GROUPS_MAX as u8 + 1);

/// Index: the stream. Groups go by their numbers, from 1.
const STREAM_NAMES: [&str; GROUPS_MAX + 2] =
    ["hot", "group 1", "group 2", "group 3", "group 4", "frozen"];

/// Instead of a category: written as hot, or moved since it was written.
const IS_HOT: u8 = 254;
const IS_MOVED: u8 = 255;

/// Drive writes over which the bound of hot lives is judged, and those that a bit of a page's history stands for:
/// 10M and 40M of 128 GiB.
const HOT_WINDOW: f64 = 0.3;
const HISTORY_WINDOW: f64 = 1.2;

/// Drive writes in which every page becomes unwritten once: 200M of 128 GiB.
const FROZEN_ROUND: u64 = 6;

/// Pages of 2 MiB, whose writes are counted together.
const CHUNK_PAGES: u32 = 512;

/// Of the time between trainings, the part in which writes are sampled; in the rest they wait for their end.
const SAMPLED: f64 = 1.0 / 3.0;

/// One of this many samples goes into the prediction log, and is not learned from.
const HELD_OUT: usize = 10;

/// Samples that a training needs, and the share of right predictions without which nothing is grouped by them.
const SAMPLES_MIN: usize = 128;
const RIGHT_MIN: f64 = 0.1;

/// What is known of a logical page.
#[derive(Debug, Clone, Copy, Default)]
struct Page {
    /// The write clock when the host wrote it, modulo 2^32.
    written_at: u32,
    /// A bit for each of the latest windows in which it was written, the latest highest.
    history: u8,
    /// The category that was predicted for what it holds, [`IS_HOT`] or [`IS_MOVED`].
    category: u8,
    /// Whether it was rewritten since it last became unwritten.
    is_written: bool,
}

state!(Page { written_at, history, category, is_written });

/// What the hot group took since categories were grouped.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct HotTraffic {
    /// Host writes, and those that were hot.
    writes: u64,
    hot_writes: u64,
    /// Hot blocks that were collected, and their valid pages.
    pub(super) victims: u64,
    pub(super) moved: u64,
}

state!(HotTraffic { writes, hot_writes, victims, moved });

/// Groups by predicted lifetimes.
pub struct Dogi {
    pages: Vec<Page>,
    /// Chunk of pages -> host writes to it.
    chunks: Vec<u32>,
    /// Block -> write clock when it was opened.
    pub(super) opened_at: Vec<u64>,
    /// The page written last.
    previous: Lpn,
    samples: Samples<FEATURES>,
    predictor: Box<Predictor>,
    /// Whether the network predicts.
    is_trained: bool,
    /// Category -> the longest lifetime in it, in host writes.
    bounds: Bounds,
    groups: Groups,
    hot: HotBound,
    pub(super) hot_traffic: HotTraffic,
    /// Write clocks at which something is due: the bound of hot lives, histories, training.
    next: [u64; 3],
    periods: [u64; 3],
    blocks: u32,
    pages_per_block: u32,
    epochs: u32,
    /// The lifetime that counts of what was written for the first time, and the longest of all.
    longest: u64,
    /// Host writes before a training in which nothing is sampled any more.
    waiting: u64,
    categories: Categories,
    pub(super) last: LastGroup,
}

state!(Dogi {
    pages, chunks, opened_at, previous, samples, predictor, is_trained, bounds, groups, hot,
    hot_traffic, next
} constant periods, longest, waiting, blocks, pages_per_block, epochs, categories, last);

impl PolicyEntry for Dogi {
    type Parameters = DogiParameters;
    const NAME: &'static str = "dogi";
    const SUMMARY: &'static str =
        "groups by lifetimes that a neural network predicts, as many as it is good for";
    const SOURCE: &'static str = "DOGI (FAST 2026)";
    const IS_BOXED: bool = true;
    const DECISIONS: u32 = 2;

    fn new(parameters: &DogiParameters, shape: DriveShape) -> Self {
        let pages = shape.logical_pages;
        let drive_writes = |count: f64| (count * f64::from(pages)).ceil() as u64;
        let periods = [HOT_WINDOW, HISTORY_WINDOW, parameters.retrain].map(drive_writes);
        Self {
            pages: memory::table(pages as usize, Page::default()),
            chunks: vec![0; pages.div_ceil(CHUNK_PAGES) as usize],
            opened_at: vec![0; shape.blocks as usize],
            previous: Lpn(0),
            samples: Samples::new(parameters.sample, pages),
            predictor: Box::new(Predictor::new()),
            is_trained: false,
            bounds: doubling(pages),
            groups: Groups::ONE,
            hot: HotBound::new(parameters.hot, shape.pages_per_block),
            hot_traffic: HotTraffic::default(),
            next: periods,
            longest: 2 * doubling(pages)[CATEGORIES - 2],
            waiting: ((1.0 - SAMPLED) * periods[2] as f64) as u64,
            periods,
            blocks: shape.blocks - shape.reserve_blocks,
            pages_per_block: shape.pages_per_block,
            epochs: parameters.epochs,
            categories: parameters.categories,
            last: parameters.last,
        }
    }
}

impl Dogi {
    /// Does what is due at the present write clock.
    #[cold]
    fn turn(&mut self, drive: &DriveState) {
        let now = drive.write_clock();
        let is_due = self.next.map(|next| now >= next);
        for (next, period) in self.next.iter_mut().zip(self.periods) {
            if now >= *next {
                *next = now + period;
            }
        }
        let [hot_bound, history, training] = is_due;
        if hot_bound {
            self.hot.judge();
        }
        if history {
            self.pages.iter_mut().for_each(|page| page.history >>= 1);
        }
        if training {
            self.retrain(drive);
        }
    }

    /// Trains a network on what became known, and groups categories by how well it predicts what it did not learn.
    fn retrain(&mut self, drive: &DriveState) {
        self.samples.settle_old(0, drive.write_clock());
        if self.samples.known.len() < SAMPLES_MIN {
            return;
        }
        let known = std::mem::take(&mut self.samples.known);
        if self.categories == Categories::Balanced {
            self.bounds = balanced(known.iter().map(|sample| sample.lifetime));
        }
        let (mut learned, mut held_out) = (Vec::new(), Vec::new());
        for (index, sample) in known.iter().enumerate() {
            if index % HELD_OUT == 0 {
                held_out.push(sample);
            } else {
                learned.push((sample.features, category_of(sample.lifetime, &self.bounds)));
            }
        }
        *self.predictor = Predictor::new();
        self.predictor.train(&learned, self.epochs);
        self.is_trained = true;
        let predict = |sample: &&Sample<FEATURES>| {
            (self.predictor.classify(&sample.features), sample.lifetime)
        };
        let predictions: Vec<_> = held_out.iter().map(predict).collect();
        let is_right = |&&(category, lifetime): &&(usize, u64)| {
            category == category_of(lifetime, &self.bounds)
        };
        let right = predictions.iter().filter(is_right).count() as f64;
        let is_good = right >= RIGHT_MIN * predictions.len() as f64;
        let log = PredictionLog::new(predictions.into_iter(), &self.bounds, self.pages_per_block);
        let groups = if is_good { Groups::best(&log, &self.demand(drive)) } else { None };
        self.groups = groups.unwrap_or(Groups::ONE);
        self.hot_traffic = HotTraffic::default();
    }

    fn demand(&self, drive: &DriveState) -> Demand {
        let HotTraffic { writes, hot_writes, victims, moved } = self.hot_traffic;
        let pages_per_block = f64::from(self.pages_per_block);
        Demand {
            blocks: f64::from(self.blocks),
            valid: f64::from(drive.mapped_pages()) / pages_per_block,
            hot_writes: hot_writes as f64 / writes.max(1) as f64,
            hot_ends: 1.0 - moved as f64 / (victims.max(1) as f64 * pages_per_block),
            hot_bound: self.hot.bound as f64 / pages_per_block,
        }
    }

    /// How long pages of this stream are to live at most; none if it has no bound.
    pub(super) fn bound(&self, stream: StreamId) -> Option<u64> {
        match stream {
            HOT => Some(self.hot.bound),
            FROZEN => None,
            StreamId(group) => self.groups.top(group).map(|top| self.bounds[top]),
        }
    }
}

impl Policy for Dogi {
    fn streams(&self) -> Vec<Stream> {
        let stream = |(index, &name)| {
            let id = StreamId(index as u8);
            Stream { name, takes_relocations: id != HOT, cold: id == FROZEN }
        };
        STREAM_NAMES.iter().enumerate().map(stream).collect()
    }

    /// Where free blocks run out, groups share one.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.pages, lpn.index());
        self.samples.prefetch(lpn);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let now = drive.write_clock();
        if self.next.iter().any(|&next| now >= next) {
            self.turn(drive);
        }
        if now.is_multiple_of(FROZEN_ROUND) {
            let hand = now / FROZEN_ROUND % self.pages.len() as u64;
            self.pages[hand as usize].is_written = false;
        }
        let lpn = write.lpn;
        let is_rewrite = drive.flash_page(lpn).is_some();
        let longest = self.longest;
        let page = self.pages[lpn.index()];
        let lifetime = if is_rewrite {
            self.samples.end(lpn, now);
            u64::from((now as u32).wrapping_sub(page.written_at)).min(longest)
        } else {
            longest
        };
        let chunk = &mut self.chunks[(lpn.0 / CHUNK_PAGES) as usize];
        let features = [
            lpn.0 as f32,
            self.previous.0 as f32,
            log2(lifetime as f32),
            f32::from(page.history),
            page.history.count_ones() as f32,
            log2(*chunk as f32),
        ];
        *chunk = chunk.saturating_add(1);
        self.previous = lpn;
        let is_hot = is_rewrite && lifetime < self.hot.bound;
        let category = if is_hot {
            IS_HOT
        } else {
            if self.next[2] - now >= self.waiting {
                self.samples.begin(lpn, features, now);
            }
            if self.is_trained { self.predictor.classify(&features) as u8 } else { 0 }
        };
        self.pages[lpn.index()] = Page {
            written_at: now as u32,
            history: page.history | 0x80,
            category,
            is_written: is_rewrite,
        };
        self.hot.count_write();
        self.hot_traffic.writes += 1;
        self.hot_traffic.hot_writes += u64::from(is_hot);
        if is_hot { HOT } else { StreamId(self.groups.of(category.into())) }
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        self.hot.count_moved();
        let known = &mut self.pages[page.lpn.index()];
        let category = std::mem::replace(&mut known.category, IS_MOVED);
        if !known.is_written {
            return FROZEN;
        }
        if page.from == HOT || category == IS_HOT {
            return StreamId(1);
        }
        let StreamId(group) = page.from;
        if category == IS_MOVED || group >= self.groups.count {
            return StreamId((group + 1).min(GROUPS_MAX as u8));
        }
        StreamId(self.groups.moved_to(category.into()))
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        self.choose_victims(drive, victims);
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        let formula = match self.last {
            LastGroup::Greedy => "invalid pages, in the last group and those after it",
            LastGroup::CostBenefit => {
                "age^(1/2) x (1 - u) / u, in the last group and those after it"
            }
        };
        let is_last = self.bound(drive.stream_of(block)).is_none();
        is_last.then(|| BlockScore { formula, value: self.score(block, drive) })
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.opened_at[block.index()] = drive.write_clock();
    }

    fn on_trim(&mut self, lpn: Lpn, drive: &DriveState) {
        self.samples.end(lpn, drive.write_clock());
    }

    /// Stamp, history, category and a bit for every page, a counter for each 512 of them; the time of opening and
    /// the group of every block; the network and the sampled writes.
    fn metadata(&self) -> Metadata {
        let categories = CATEGORIES as u32 + 2;
        let per_page = 32 + 8 + bits_for(categories) + 1;
        Metadata::per_page(f64::from(per_page) + 32.0 / f64::from(CHUNK_PAGES))
            + Metadata::per_block(STAMP_BITS + bits_for(STREAM_NAMES.len() as u32))
            + Metadata::fixed(Predictor::weight_bytes() + self.samples.metadata_bytes())
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.pages[..])
            + size_of_val(&self.chunks[..])
            + size_of_val(&self.opened_at[..])
            + size_of::<Predictor>()
            + self.samples.bytes()
    }

    fn sample_bytes(&self, logical_pages: u32) -> SampleBytes {
        self.samples.sample_bytes(logical_pages)
    }

    fn check(&self, _drive: &DriveState) -> Result<(), String> {
        if self.hot.bound < u64::from(self.pages_per_block) {
            return Err(format!("hot pages live for {} host writes", self.hot.bound));
        }
        Ok(())
    }
}
