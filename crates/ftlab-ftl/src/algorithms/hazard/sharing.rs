//! Which lifetimes share a stream: as many streams as pay for their open blocks, and bounds between them
//! where the lifetimes are.
//!
//! Pages whose lifetimes spread by v square octaves around what is expected of their stream are each moved
//! about v / (v + w) times more than pages apart, w being the spread of lifetimes that are drawn at one and
//! the same rate, or a sixteenth of it where pages die on time: a difference below that hardly shows. An open block is half empty on average. Without
//! it, spare space of S blocks grows by the share 1 / 2S, and about twice that share fewer pages are moved.
//! So at every snapshot the classes are divided such that
//!
//! ```text
//! sum over streams (pages v / (v + w)) + streams `merge` moved / S
//! ```
//!
//! is least, over the pages that went to each class lately. First writes share the stream of a lifetime of
//! all pages if they are too few for their own. Blocks that are open for what is now one stream are filled
//! one by one, the fullest first.

use crate::algorithms::hazard::lifetimes::{CLASSES, OCTAVES_PER_CLASS, class_of};
use crate::algorithms::hazard::parameters::HazardParameters;
use crate::algorithms::hazard::rungs::{RUNGS_MAX, Rungs};
use crate::page::entry::DriveShape;
use crate::state::state;
use crate::stream::StreamId;

/// After an epoch, a count is smaller by one part in so many.
const DECAY: u64 = 10;

/// What a page adds to a count. Counts are whole numbers, because adding to one takes a single cycle. They count small
/// parts of a page, so that a tenth can be taken off a few pages, too.
const PAGE: u64 = 1 << 16;

/// Square octaves by which lifetimes spread that are drawn at one rate: the variance of the logarithm of
/// an exponential distribution, pi^2 / 6, divided by that of 2.
const SPREAD_OF_ONE_RATE: f32 = 3.42;

/// The same of lives that end on time: that of a Weibull distribution of shape 4 is a sixteenth of it.
const SPREAD_IF_REGULAR: f32 = SPREAD_OF_ONE_RATE / 16.0;

/// The share of all pages that is taken to be spread evenly over the classes, so that bounds lie between
/// the lifetimes where there are none. A hundredth took a stream for classes in which there was nothing else.
const EVEN_SHARE: f32 = 0.002;

/// Pages that each class has at least, so that something is divided where there are none.
const PAGES_MIN: f32 = 1e-6;

/// What a stream has open: the mean step of its pages, and how many more it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OpenBlock {
    pub(super) step: u8,
    pub(super) room: u32,
}

/// Which lifetimes share a stream, in every set of open blocks.
pub(super) struct Sharing {
    /// One for each set, of which there is one where the host names no placement handles.
    divisions: Vec<Division>,
    /// Pages that were moved, lately, each counting as `PAGE`.
    moved: u64,
    /// Whether first writes have a stream of their own, be they few.
    keeps_first_writes: bool,
    plan: Plan,
}

state!(Sharing { divisions, moved, keeps_first_writes } constant plan);

/// What lifetimes are divided among.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Streams beside that of first writes, which comes after them.
    rungs: Rungs,
    /// The class of the lifetime that is expected of first writes.
    first_class: usize,
    /// What an open block costs, per page that is moved.
    block_cost: f32,
}

/// How many pages of a set each class takes, each counting as `PAGE`, and which classes share a stream.
struct Division {
    /// Class -> pages of such lifetimes, lately.
    pages: [u64; CLASSES],
    /// Pages written for the first time, lately.
    first_writes: u64,
    /// Class -> the first class of those with which it goes.
    leaders: [u8; CLASSES],
    /// Class -> the stream that takes its pages.
    streams: [StreamId; CLASSES],
    /// The stream that takes first writes.
    first_stream: StreamId,
}

state!(Division { pages, first_writes, leaders, streams, first_stream } blank Self::empty());

impl Sharing {
    /// For `rungs` streams beside that of first writes, of which a lifetime of `first_step` is expected.
    pub(super) fn new(
        rungs: Rungs,
        first_step: u8,
        parameters: &HazardParameters,
        shape: DriveShape,
    ) -> Self {
        let spare_blocks = f64::from(shape.spare_blocks().max(1));
        let plan = Plan {
            rungs,
            first_class: class_of(first_step),
            block_cost: (parameters.merge / spare_blocks) as f32,
        };
        Self { divisions: vec![Division::new(&plan)], moved: 0, keeps_first_writes: false, plan }
    }

    /// That of a set of open blocks.
    #[inline]
    fn division(&mut self, set: usize) -> &mut Division {
        if set >= self.divisions.len() {
            self.add_divisions(set);
        }
        &mut self.divisions[set]
    }

    #[cold]
    fn add_divisions(&mut self, last: usize) {
        let Self { divisions, plan, .. } = self;
        divisions.resize_with(last + 1, || Division::new(plan));
    }

    /// The host writes a page of a lifetime of `step` to a set: the stream that takes it.
    #[inline]
    pub(super) fn on_host_page(&mut self, set: usize, step: u8) -> StreamId {
        let division = self.division(set);
        division.pages[class_of(step)] += PAGE;
        division.streams[class_of(step)]
    }

    /// The host writes a page for the first time: the stream that takes it.
    #[inline]
    pub(super) fn on_first_write(&mut self, set: usize) -> StreamId {
        let division = self.division(set);
        division.first_writes += PAGE;
        division.first_stream
    }

    /// `pages` pages are moved to a set, all of a lifetime of `step`.
    pub(super) fn on_moved_pages(&mut self, set: usize, step: u8, pages: u32) {
        self.division(set).pages[class_of(step)] += PAGE * u64::from(pages);
        self.moved += PAGE * u64::from(pages);
    }

    /// A page is moved to a set: the stream that takes it.
    #[inline]
    pub(super) fn on_moved_page(&mut self, set: usize, step: u8) -> StreamId {
        self.moved += PAGE;
        self.on_host_page(set, step)
    }

    /// The stream of a set that takes pages of a lifetime of `step`.
    #[inline]
    pub(super) fn stream_of(&mut self, set: usize, step: u8) -> StreamId {
        self.division(set).streams[class_of(step)]
    }

    /// Whether first writes have a stream of their own from now on, be they few.
    pub(super) fn keep_first_writes(&mut self, keeps: bool) {
        self.keeps_first_writes = keeps;
    }

    /// What the stream of first writes has to be worth, and what each of the others.
    fn stream_costs(&self) -> [f32; 2] {
        let cost = self.plan.block_cost * pages_of(self.moved);
        [if self.keeps_first_writes { 0.0 } else { cost }, cost]
    }

    /// An epoch has passed: decides again which classes share a stream. Lives `are_regular`, or end at random; `open`
    /// tells what a stream of a set has open.
    pub(super) fn on_epoch(
        &mut self,
        are_regular: bool,
        open: impl Fn(usize, StreamId) -> Option<OpenBlock>,
    ) {
        let spread = if are_regular { SPREAD_IF_REGULAR } else { SPREAD_OF_ONE_RATE };
        let [first_cost, stream_cost] = self.stream_costs();
        for (set, division) in self.divisions.iter_mut().enumerate() {
            division.divide(&self.plan, stream_cost, spread);
            division.direct(&self.plan, first_cost, |stream| open(set, stream));
            for count in division.pages.iter_mut().chain([&mut division.first_writes]) {
                *count -= *count / DECAY;
            }
        }
        self.moved -= self.moved / DECAY;
    }

    /// A block of a set is full.
    pub(super) fn on_sealed(&mut self, set: usize, open: impl Fn(StreamId) -> Option<OpenBlock>) {
        let (plan, [first_cost, _]) = (self.plan, self.stream_costs());
        self.division(set).direct(&plan, first_cost, open);
    }
}

impl Division {
    /// Classes are divided evenly, as nothing is known yet.
    fn new(plan: &Plan) -> Self {
        let mut division = Self::empty();
        division.divide(plan, 0.0, SPREAD_OF_ONE_RATE);
        division.direct(plan, 0.0, |_| None);
        division
    }

    /// To be overwritten.
    fn empty() -> Self {
        Self {
            pages: [0; CLASSES],
            first_writes: 0,
            leaders: [0; CLASSES],
            streams: [StreamId(0); CLASSES],
            first_stream: StreamId(0),
        }
    }

    /// Divides the classes among streams, of which each costs `stream_cost`: the best ways to divide the lowest classes
    /// among one stream, two, and so on, each from those among one stream fewer. Lives of one rate spread by `spread`.
    fn divide(&mut self, plan: &Plan, stream_cost: f32, spread: f32) {
        let Rungs { most, fewest } = plan.rungs;
        let costs = self.costs(spread);
        let mut least = [[f32::INFINITY; CLASSES + 1]; RUNGS_MAX];
        let mut begins = [[0_u32; CLASSES + 1]; RUNGS_MAX];
        least[0] = costs[0];
        for rung in 1..most {
            for begin in rung..CLASSES {
                let before = least[rung - 1][begin];
                let ends = least[rung][begin..].iter_mut().zip(&mut begins[rung][begin..]);
                for ((least, best), cost) in ends.zip(&costs[begin][begin..]) {
                    let cost = before + cost;
                    let is_less = cost < *least;
                    *least = if is_less { cost } else { *least };
                    *best = if is_less { begin as u32 } else { *best };
                }
            }
        }
        let price = |rung: &usize| least[*rung][CLASSES] + stream_cost * *rung as f32;
        let last = (fewest - 1..most).min_by(|a, b| price(a).total_cmp(&price(b))).unwrap_or(0);
        let mut end = CLASSES;
        for rung in (0..=last).rev() {
            let begin = begins[rung][end];
            self.leaders[begin as usize..end].fill(begin as u8);
            end = begin as usize;
        }
    }

    /// First class and end -> how many more pages are moved if these classes share a stream; infinitely many if there
    /// are none.
    fn costs(&self, spread: f32) -> [[f32; CLASSES + 1]; CLASSES] {
        let even = EVEN_SHARE * pages_of(self.pages.iter().sum()) / CLASSES as f32 + PAGES_MIN;
        // Of the classes below each one: pages, and the sums of their classes and of the squares of these. Exact enough
        // that their differences tell the few pages of some classes.
        let mut sums = [[0.0_f64; CLASSES + 1]; 3];
        for (class, pages) in self.pages.iter().enumerate() {
            let pages = f64::from(pages_of(*pages) + even);
            let from_middle = class as f64 - CLASSES as f64 / 2.0;
            for (power, sums) in (0..).zip(&mut sums) {
                sums[class + 1] = sums[class] + pages * from_middle.powi(power);
            }
        }
        let of_one_rate = spread / (OCTAVES_PER_CLASS * OCTAVES_PER_CLASS);
        let mut costs = [[f32::INFINITY; CLASSES + 1]; CLASSES];
        for (begin, costs) in costs.iter_mut().enumerate() {
            for (end, cost) in costs.iter_mut().enumerate() {
                let [pages, classes, squares] = sums.each_ref().map(|sums| sums[end] - sums[begin]);
                // The spread of their classes, times the square of the pages.
                let spread = (squares * pages - classes * classes).max(0.0) as f32;
                let pages = pages as f32;
                let moved = pages * spread / (spread + of_one_rate * pages * pages);
                *cost = if end > begin { moved } else { f32::INFINITY };
            }
        }
        costs
    }

    /// Sends the pages of classes that go together to a block that is open for one of them, or else to a
    /// stream without one.
    fn direct(
        &mut self,
        plan: &Plan,
        first_cost: f32,
        open: impl Fn(StreamId) -> Option<OpenBlock>,
    ) {
        let rungs = plan.rungs.most;
        let first_writes = StreamId(rungs as u8);
        let shares_first = pages_of(self.first_writes) < first_cost;
        let mut is_free = [false; RUNGS_MAX];
        // Leader -> the stream whose open block is the fullest, and its room.
        let mut fullest: [Option<(StreamId, u32)>; CLASSES] = [None; CLASSES];
        for stream in (0..rungs + usize::from(shares_first)).map(|s| StreamId(s as u8)) {
            if let Some(OpenBlock { step, room }) = open(stream) {
                let best = &mut fullest[usize::from(self.leaders[class_of(step)])];
                if best.is_none_or(|(_, least)| room < least) {
                    *best = Some((stream, room));
                }
            } else if stream != first_writes {
                is_free[stream.index()] = true;
            }
        }
        let mut last = None;
        for class in 0..CLASSES {
            let leader = usize::from(self.leaders[class]);
            if leader == class {
                let taken = fullest[leader].map(|(stream, _)| stream);
                // Where all have blocks open, the neighbour's is the nearest.
                last = taken.or_else(|| take_free(class, &mut is_free[..rungs])).or(last);
            }
            self.streams[class] = last.unwrap_or(StreamId(0));
        }
        let share = shares_first && open(first_writes).is_none();
        self.first_stream = if share { self.streams[plan.first_class] } else { first_writes };
    }
}

fn pages_of(count: u64) -> f32 {
    count as f32 / PAGE as f32
}

/// Takes the free stream that lies among the streams as `class` does among the classes.
fn take_free(class: usize, is_free: &mut [bool]) -> Option<StreamId> {
    let wanted = class * is_free.len() / CLASSES;
    let free = (0..is_free.len()).filter(|&stream| is_free[stream]);
    let nearest = free.min_by_key(|stream| stream.abs_diff(wanted))?;
    is_free[nearest] = false;
    Some(StreamId(nearest as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten spare blocks.
    const SHAPE: DriveShape =
        DriveShape { blocks: 114, pages_per_block: 10, logical_pages: 1000, reserve_blocks: 4 };

    /// The first classes of the streams, after `host` pages of each of these classes and `moved` of the last.
    fn leaders(most: usize, classes: &[u8], host: u32, moved: u32) -> Vec<u8> {
        leaders_of_lives(false, most, classes, host, moved)
    }

    fn leaders_of_lives(
        are_regular: bool,
        most: usize,
        classes: &[u8],
        host: u32,
        moved: u32,
    ) -> Vec<u8> {
        let rungs = Rungs { most, fewest: most.min(3) };
        let parameters = HazardParameters { merge: 1.0, ..HazardParameters::default() };
        let mut sharing = Sharing::new(rungs, 0, &parameters, SHAPE);
        for &class in classes {
            (0..host).for_each(|_| _ = sharing.on_host_page(0, 4 * class));
        }
        if let Some(&class) = classes.last() {
            sharing.on_moved_pages(0, 4 * class, moved);
        }
        sharing.on_epoch(are_regular, |_, _| None);
        let mut leaders = sharing.divisions[0].leaders.to_vec();
        leaders.dedup();
        leaders
    }

    #[test]
    fn streams_are_where_the_lifetimes_are() {
        assert_eq!(leaders(4, &[], 0, 0), [0, 8, 16, 24], "evenly, if nothing is known");
        assert_eq!(leaders(2, &[4, 5, 6, 20, 21, 22], 100, 0), [0, 13]);
        let separate = leaders(4, &[2, 10, 20, 30], 100, 100);
        assert_eq!(separate, [0, 6, 15, 26]);
    }

    #[test]
    fn streams_that_do_not_pay_for_their_blocks_are_given_up() {
        let classes = [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16];
        let counts: Vec<_> =
            [0, 1000, 4000, 16_000].map(|moved| leaders(8, &classes, 100, moved).len()).into();
        assert!(counts.is_sorted_by(|a, b| a >= b), "{counts:?}");
        assert_eq!((counts[0], counts[3]), (8, 3));
        let apart = [10, 12, 14, 16, 18, 20];
        let counts = [false, true].map(|r| leaders_of_lives(r, 8, &apart, 1000, 8000).len());
        assert_eq!(counts, [3, 6], "octaves apart, and dying at random or on time");
    }

    #[test]
    fn what_is_open_is_filled_first_and_first_writes_share_if_they_are_few() {
        let rungs = Rungs { most: 4, fewest: 3 };
        let mut sharing = Sharing::new(rungs, 4 * 16, &HazardParameters::default(), SHAPE);
        let streams = |sharing: &mut Sharing| {
            [0, 10, 18, 31].map(|class: u8| sharing.stream_of(0, 4 * class).0)
        };
        assert_eq!(streams(&mut sharing), [0, 1, 2, 3]);
        assert_eq!(sharing.on_first_write(0), StreamId(4));
        // Streams 0 and 2 have blocks open for what is expected of the slowest.
        let two = |stream: StreamId| {
            [Some(9), None, Some(3), None, None][stream.index()]
                .map(|room| OpenBlock { step: 4 * 28, room })
        };
        sharing.on_sealed(0, two);
        assert_eq!(streams(&mut sharing)[3], 2, "the fuller of both");
        sharing.on_moved_pages(0, 4 * 16, 1000);
        sharing.on_epoch(false, |_, stream| {
            (stream == StreamId(4)).then_some(OpenBlock { step: 4 * 16, room: 5 })
        });
        assert_eq!(
            (sharing.on_first_write(0), sharing.stream_of(0, 4 * 16)),
            (StreamId(4), StreamId(4))
        );
        sharing.on_sealed(0, |_| None);
        assert_eq!(sharing.on_first_write(0), sharing.stream_of(0, 4 * 16));
        assert_ne!(sharing.stream_of(0, 4 * 16), StreamId(4));
    }
}
