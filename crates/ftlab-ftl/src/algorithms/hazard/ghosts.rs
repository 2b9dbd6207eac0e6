//! Ghosts: small drives without data, which try out what the drive could do.
//!
//! Which past tells how long a page will live depends on the workload, and nothing that a drive sees of itself tells
//! what it would have moved by another [`Rule`]. So each rule has a ghost: a drive with the same over-provisioning, for a
//! sample of the pages, that takes the host's writes and trims of these. At the end of every epoch the drive takes the
//! rule whose ghost has moved the fewest pages lately.
//!
//! A page that takes a good part of all writes, such as the superblock of a journal, is either in the sample, and counts
//! too much, or it is not, and does not count at all. So of pages whose expected lifetime is at the lower end of the scale,
//! a 1,024th of all pages, a ghost takes one write in so many. There is one such page in 1,024 at most, of the drive as of
//! the ghost, so that as many of the ghost's pages stand for all of them.
//!
//! Ghosts take time, and a choice that was learned once mostly stays. So they rest for half to three quarters of it: the
//! sooner, the sooner what they move has settled, since a choice that was made too early would stay as well. Rests are
//! long and few, since what ghosts missed in one looks to them like lives that end too soon.
//!
//! Caches have had ghosts for long, and chosen by sets that duel (Qureshi et al., ISCA 2007). Sets of a drive cannot
//! duel, since its pages share blocks.

use crate::algorithms::hazard::lifetimes::OCTAVES_BELOW;
use crate::algorithms::hazard::parameters::Rule;
use crate::page::entry::{DriveShape, Hinted};
use crate::page::policy::SampleBytes;
use crate::page::{DriveConfig, DriveState, PageMapped, Resume};
use crate::state::state;
use crate::{Archive, Ftl, Metadata, State, StateError, bits_for};
use ftlab_flash::{BlockId, Geometry, Lpn, NoPayload};

/// A ghost has at least as many pages, unless these are more than one in 2^`PART_BITS_MIN`. Half of them are too few.
const PAGES: u32 = 1 << 14;

/// A sample is an eighth of the drive at most.
const PART_BITS_MIN: u32 = 3;

/// Pages of a ghost's block, at least.
const BLOCK_PAGES_MIN: u32 = 16;

/// As many spare blocks are enough for a ghost: its blocks may be larger.
const SPARE_BLOCKS_ENOUGH: u32 = 64;

/// Host writes that the ghosts take at once.
const WAITING: usize = 256;

/// What is left of a count after an epoch.
const DECAY: f32 = 0.985;

/// Epochs in which ghosts take what the host writes, at least: four drive writes, if an epoch is as by default.
const AWAKE: u64 = 256;

/// The most that these may be, if what the best ghost moves has not settled before.
const AWAKE_MAX: u64 = 2 * AWAKE;

/// Whether it has is asked every so many epochs.
const LOOK: u64 = AWAKE / 8;

/// By what share it may change from one look to the next, and still counts as settled.
const SETTLED: f32 = 0.1;

/// Epochs from one time when they do to the next.
const CYCLE: u64 = 4 * AWAKE;

/// Epochs after a rest that do not count: pages whose rewrites they missed have to be written first.
const CATCHING_UP: u64 = AWAKE / 2;

/// By how much another rule has to be better.
const MARGIN: f32 = 0.02;

/// What is moved for a page of the host counts as so much more, so that nothing is not infinitely better than little.
const NEXT_TO_NOTHING: f32 = 0.003;

/// The page size of drives that hold nothing.
const PAGE_BYTES: u32 = 4096;

/// Bytes of memory that all ghosts take for a page of one.
const BYTES_PER_PAGE: usize = 42;

/// The pages that are sampled: one of 2^`bits` neighbours each, so that what is written in sequence stays a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    bits: u32,
    pages: u32,
}

/// A small drive, and how it does.
struct Ghost<P> {
    rule: Rule,
    blocks: u32,
    ftl: Box<PageMapped<P, NoPayload, ()>>,
    /// Pages that it moved, and that the host wrote, at the end of the last epoch.
    counted: (u64, u64),
    /// How many lately, the older ones counting less.
    moved: f32,
    written: f32,
}

/// One ghost for each rule.
pub(super) struct Ghosts<P> {
    sample: Sample,
    by_rule: [Ghost<P>; Rule::ALL.len()],
    /// Pages that the host wrote, and the ghosts did not take yet.
    waiting: Vec<Lpn>,
    /// Epochs of the drive that are over, and those after which the ghosts rest.
    epochs: u64,
    awake_until: u64,
    /// What the best of them moved at the last look.
    looked_at: f32,
}

state!([P: Hinted] Ghosts<P> { by_rule, waiting, epochs, awake_until, looked_at } constant sample);

impl Sample {
    /// None of a drive that is too small for one.
    fn new(logical_pages: u32) -> Option<Self> {
        let bits = (logical_pages / PAGES).checked_ilog2().unwrap_or(0).max(PART_BITS_MIN);
        let pages = logical_pages >> bits;
        (pages >= PAGES / 2).then_some(Self { bits, pages })
    }

    /// The ghosts' page for `lpn`, if it is sampled.
    #[inline]
    fn page_of(self, lpn: Lpn) -> Option<Lpn> {
        let neighbours = lpn.0 >> self.bits;
        let is_chosen = self.chosen_of(neighbours) == lpn;
        (is_chosen && neighbours < self.pages).then_some(Lpn(neighbours))
    }

    /// The ghosts' page for a write of one of the hottest pages, if this write is sampled: one of 2^`bits` is. Sampled pages
    /// may have the same. Of trims, those of sampled pages alone count.
    #[inline(never)]
    fn page_of_write(self, lpn: Lpn, write_clock: u64) -> Option<Lpn> {
        let hottest = u64::from(self.pages >> OCTAVES_BELOW);
        let page = (u64::from(lpn.0.wrapping_mul(0x9E37_79B1)) * hottest) >> u32::BITS;
        (self.drawn(write_clock as u32) == 0).then_some(Lpn(page as u32))
    }

    /// The page that is sampled of these neighbours.
    #[inline]
    fn chosen_of(self, neighbours: u32) -> Lpn {
        Lpn(neighbours << self.bits | self.drawn(neighbours))
    }

    /// A number below 2^`bits`, drawn by multiplicative hashing. Which pages are counted is drawn by another factor.
    #[inline]
    fn drawn(self, seed: u32) -> u32 {
        seed.wrapping_mul(0x85EB_CA6B) >> (u32::BITS - self.bits)
    }

    /// A drive for the sample with as much over-provisioning. It has as many blocks, unless these are too small, or more
    /// than are needed: the fewer they are, the sooner it is done with them.
    fn shape(self, drive: DriveShape) -> DriveShape {
        let flash_pages = u64::from(drive.blocks) * u64::from(drive.pages_per_block);
        let flash_pages = (flash_pages >> self.bits) as u32;
        let spare_pages = flash_pages.saturating_sub(self.pages);
        let mut pages_per_block = (drive.pages_per_block >> self.bits).max(BLOCK_PAGES_MIN);
        while spare_pages / (2 * pages_per_block) >= SPARE_BLOCKS_ENOUGH {
            pages_per_block *= 2;
        }
        let pages_per_block = pages_per_block.min(drive.pages_per_block);
        let blocks = flash_pages.div_ceil(pages_per_block);
        DriveShape { blocks, pages_per_block, logical_pages: self.pages, ..drive }
    }
}

impl<P: Hinted> Ghost<P> {
    fn new(rule: Rule, policy: P, shape: DriveShape) -> Option<Self> {
        let geometry = Geometry::new(shape.blocks, shape.pages_per_block, PAGE_BYTES).ok()?;
        let config = DriveConfig::new(geometry, shape.logical_pages, shape.reserve_blocks);
        let ftl = PageMapped::new(policy, config, NoPayload, ()).ok()?;
        Some(Self {
            rule,
            blocks: shape.blocks,
            ftl: Box::new(ftl),
            counted: (0, 0),
            moved: 0.0,
            written: 0.0,
        })
    }

    /// Pages moved lately for each that the host wrote.
    fn cost(&self) -> f32 {
        self.moved / self.written.max(1.0) + NEXT_TO_NOTHING
    }

    fn end_epoch(&mut self) {
        let counters = self.ftl.counters();
        let (moved, written) = (counters.relocations(), counters.host_writes);
        self.moved = DECAY * self.moved + (moved - self.counted.0) as f32;
        self.written = DECAY * self.written + (written - self.counted.1) as f32;
        self.counted = (moved, written);
    }

    /// What it has moved does not count.
    fn forget(&mut self) {
        let counters = self.ftl.counters();
        self.counted = (counters.relocations(), counters.host_writes);
        (self.moved, self.written) = (0.0, 0.0);
    }
}

impl<P: Hinted> State for Ghost<P> {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self { rule: _, blocks: _, ftl, counted, moved, written } = self;
        ftl.transfer(archive)?;
        let mut mapping = ftl.drive().mapping().to_vec();
        mapping.transfer(archive)?;
        ftl.set_mapping(Lpn(0), &mapping)?;
        counted.transfer(archive)?;
        moved.transfer(archive)?;
        written.transfer(archive)
    }
}

impl<P: Hinted> Ghosts<P> {
    /// Those of a drive, unless it is too small for a sample; `make` makes the policy of one.
    pub(super) fn new(shape: DriveShape, make: impl Fn(Rule, DriveShape) -> P) -> Option<Self> {
        let sample = Sample::new(shape.logical_pages)?;
        let small = sample.shape(shape);
        let [a, b, c] = Rule::ALL.map(|rule| Ghost::new(rule, make(rule, small), small));
        let (by_rule, waiting) = ([a?, b?, c?], Vec::with_capacity(WAITING));
        Some(Self { sample, by_rule, waiting, epochs: 0, awake_until: AWAKE, looked_at: 0.0 })
    }

    /// The host writes a page to `drive`. Whether it `is_hottest` is asked only while they take what the host does.
    #[inline]
    pub(super) fn on_write(
        &mut self,
        lpn: Lpn,
        is_hottest: impl FnOnce() -> bool,
        drive: &DriveState,
    ) {
        if !self.are_awake() {
            return;
        }
        let sample = self.sample;
        let page = if is_hottest() {
            sample.page_of_write(lpn, drive.write_clock())
        } else {
            sample.page_of(lpn)
        };
        if let Some(page) = page {
            self.add(page);
        }
    }

    /// Whether they take what the host does in this epoch.
    #[inline]
    fn are_awake(&self) -> bool {
        self.epochs < self.awake_until
    }

    /// Whether what they do in this epoch counts.
    fn are_heard(&self) -> bool {
        self.are_awake() && (self.epochs < AWAKE || self.epochs % CYCLE >= CATCHING_UP)
    }

    #[inline(never)]
    fn add(&mut self, page: Lpn) {
        self.waiting.push(page);
        if self.waiting.len() == WAITING {
            self.catch_up();
        }
    }

    /// The host trims a page.
    pub(super) fn on_trim(&mut self, lpn: Lpn) {
        let Some(page) = self.sample.page_of(lpn).filter(|_| self.are_awake()) else { return };
        self.catch_up();
        self.by_rule.iter_mut().for_each(|ghost| ghost.ftl.trim_page(page));
    }

    /// The ghosts take what waits.
    fn catch_up(&mut self) {
        for ghost in &mut self.by_rule {
            let written = ghost.ftl.write_pages(&self.waiting);
            debug_assert!(written.is_ok(), "what holds nothing does not fail: {written:?}");
        }
        self.waiting.clear();
    }

    /// After a rest, they hold what the drive holds, as far as its places are in memory.
    fn wake_up(&mut self, drive: &DriveState) {
        for page in (0..self.sample.pages).map(Lpn) {
            let Some(place) = drive.place_in_memory(self.sample.chosen_of(page.0)) else {
                continue;
            };
            // All of them hold the same.
            let is_held = self.by_rule[0].ftl.flash_page(page).is_some();
            if place == u32::MAX {
                self.by_rule.iter_mut().for_each(|ghost| ghost.ftl.trim_page(page));
            } else if !is_held {
                self.add(page);
            }
        }
    }

    /// An epoch of `drive` has passed: the best rule lately; that of the drive, unless another one is clearly better.
    pub(super) fn best(&mut self, present: Rule, drive: &DriveState) -> Rule {
        self.catch_up();
        let are_heard = self.are_heard();
        self.epochs += 1;
        if self.epochs.is_multiple_of(CYCLE) {
            self.awake_until = self.epochs + AWAKE;
            self.wake_up(drive);
        }
        if !are_heard {
            self.by_rule.iter_mut().for_each(Ghost::forget);
            return present;
        }
        self.by_rule.iter_mut().for_each(Ghost::end_epoch);
        self.look();
        let limit = (1.0 - MARGIN) * self.by_rule[present as usize].cost();
        let best = self.best_ghost();
        if best.cost() < limit { best.rule } else { present }
    }

    /// The one that moved the fewest pages lately; of equals the first.
    fn best_ghost(&self) -> &Ghost<P> {
        let [first, others @ ..] = &self.by_rule;
        others
            .iter()
            .fold(first, |best, other| if other.cost() < best.cost() { other } else { best })
    }

    /// They stay awake for longer if what the best of them moves has not settled.
    fn look(&mut self) {
        if !self.epochs.is_multiple_of(LOOK) {
            return;
        }
        let now = self.best_ghost().cost();
        let has_settled = (now - self.looked_at).abs() <= SETTLED * self.looked_at;
        self.looked_at = now;
        let may_stay = self.epochs % CYCLE < AWAKE_MAX;
        if self.epochs == self.awake_until && may_stay && !has_settled {
            self.awake_until += LOOK;
        }
    }

    /// Their tables: the place of each page, which flash pages are valid, and what their policies remember.
    pub(super) fn metadata(&self) -> Metadata {
        let of = |ghost: &Ghost<P>| {
            let drive = ghost.ftl.drive();
            let (pages, flash_pages) = (drive.logical_pages(), drive.geometry().pages());
            let map_bits = u64::from(pages) * u64::from(bits_for(flash_pages));
            let bits = map_bits + u64::from(flash_pages);
            bits.div_ceil(8) + ghost.ftl.metadata().total_bytes(pages, ghost.blocks)
        };
        Metadata::fixed(self.by_rule.iter().map(of).sum())
    }

    pub(super) fn bytes(&self) -> usize {
        let of = |ghost: &Ghost<P>| {
            let bytes = ghost.ftl.memory_bytes();
            bytes.drive + bytes.policy + size_of::<BlockId>() * ghost.blocks as usize
        };
        self.by_rule.iter().map(of).sum::<usize>() + size_of::<Lpn>() * WAITING
    }

    /// Bytes that they take here, if there are any, and on a drive of `logical_pages`.
    pub(super) fn sample_bytes(here: Option<&Self>, logical_pages: u32) -> SampleBytes {
        let most =
            Sample::new(logical_pages).map_or(0, |sample| BYTES_PER_PAGE * sample.pages as usize);
        SampleBytes { here: here.map_or(0, Self::bytes), most }
    }

    pub(super) fn check(&self) -> Result<(), String> {
        self.by_rule
            .iter()
            .try_for_each(|ghost| ghost.ftl.check().map_err(|broken| broken.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::hazard::parameters::{HazardParameters, KnownPages, RuleChoice};
    use crate::algorithms::hazard::policy::Hazard;
    use crate::page::entry::PolicyEntry;
    use crate::page::policy::Policy;
    use crate::{Restored, Saved};

    const SHAPE: DriveShape = DriveShape {
        blocks: 1100,
        pages_per_block: 256,
        logical_pages: 1 << 18,
        reserve_blocks: 4,
    };

    /// An erased drive of `SHAPE`.
    fn drive() -> PageMapped<Hazard, NoPayload, ()> {
        let geometry = Geometry::new(SHAPE.blocks, SHAPE.pages_per_block, 4096).unwrap();
        let config = DriveConfig::new(geometry, SHAPE.logical_pages, SHAPE.reserve_blocks);
        let policy = Hazard::new(&HazardParameters::default(), SHAPE);
        PageMapped::new(policy, config, NoPayload, ()).unwrap()
    }

    #[test]
    fn a_sample_has_one_of_neighbouring_pages_in_their_order() {
        assert_eq!(Sample::new(65_535), None);
        for (logical_pages, bits) in [(65_536, 3), (131_072, 3), (262_144, 4), (1 << 31, 17)] {
            let sample = Sample::new(logical_pages).unwrap();
            assert_eq!(sample, Sample { bits, pages: logical_pages >> bits });
            assert!((8192..32_768).contains(&sample.pages));
        }
        let sample = Sample::new(300_001).unwrap();
        let taken: Vec<_> = (0..300_001).filter_map(|page| sample.page_of(Lpn(page))).collect();
        assert_eq!(taken, (0..sample.pages).map(Lpn).collect::<Vec<_>>());
        let places: Vec<_> = (0..160).filter(|&page| sample.page_of(Lpn(page)).is_some()).collect();
        let within: std::collections::BTreeSet<_> = places.iter().map(|page| page % 16).collect();
        assert!(within.len() > 5, "not the same of all: {within:?}");
    }

    #[test]
    fn of_the_hottest_pages_a_sample_has_as_many_writes_as_of_all() {
        for (logical_pages, hottest) in [(65_536, 8), (262_144, 16), (1 << 28, 16)] {
            let sample = Sample::new(logical_pages).unwrap();
            let pages = (0..1000).filter_map(|lpn| sample.page_of_write(Lpn(lpn), 0));
            let pages: std::collections::BTreeSet<_> = pages.collect();
            assert_eq!(pages, (0..hottest).map(Lpn).collect());
            let taken = (0..1000 << sample.bits)
                .filter_map(|clock| sample.page_of_write(Lpn(7), clock))
                .collect::<Vec<_>>();
            assert!(taken.len().abs_diff(1000) < 50, "{} of {logical_pages}", taken.len());
            assert!(taken.iter().all(|page| *page == taken[0]), "one page has one");
        }
    }

    #[test]
    fn ghosts_take_a_part_of_the_writes_of_a_page_that_is_hot() {
        let drive = drive();
        let sample = Sample::new(SHAPE.logical_pages).unwrap();
        let not_sampled = Lpn(sample.chosen_of(5).0 ^ 1);
        let taken = |is_hottest: bool| {
            let mut ghosts = Hazard::ghosts(&HazardParameters::default(), SHAPE).unwrap();
            ghosts.on_write(not_sampled, || is_hottest, drive.drive());
            ghosts.waiting.len()
        };
        // The first host write is one of those that are taken.
        assert_eq!((drive.drive().write_clock(), sample.drawn(0)), (0, 0));
        assert_eq!([false, true].map(taken), [0, 1]);
    }

    #[test]
    fn a_ghost_has_the_shape_of_the_drive() {
        let sample = Sample::new(SHAPE.logical_pages).unwrap();
        let small = sample.shape(SHAPE);
        assert_eq!((small.blocks, small.pages_per_block, small.logical_pages), (1100, 16, 1 << 14));
        assert_eq!(small.spare_blocks(), SHAPE.spare_blocks());
        let few = DriveShape { blocks: 4400, pages_per_block: 64, ..SHAPE };
        let small = sample.shape(few);
        assert_eq!((small.blocks, small.pages_per_block), (1100, 16));
    }

    #[test]
    fn the_drive_takes_the_rule_that_moves_least_and_what_was_once_good_is_forgotten() {
        let mut ghosts = Hazard::ghosts(&HazardParameters::default(), SHAPE).unwrap();
        let drive = drive();
        let mut count = |moved: [f32; 3], present| {
            for (ghost, moved) in ghosts.by_rule.iter_mut().zip(moved) {
                (ghost.moved, ghost.written) = (moved, 1000.0);
            }
            ghosts.best(present, drive.drive())
        };
        assert_eq!(count([500.0, 400.0, 450.0], Rule::Pages), Rule::Blocks);
        assert_eq!(count([500.0, 450.0, 400.0], Rule::Pages), Rule::Moves);
        assert_eq!(count([500.0, 495.0, 600.0], Rule::Pages), Rule::Pages, "not clearly better");
        assert_eq!(count([500.0, 495.0, 600.0], Rule::Blocks), Rule::Blocks);
        assert_eq!(count([0.0, 0.0, 0.0], Rule::Moves), Rule::Moves);
    }

    #[test]
    fn settled_ghosts_rest_for_three_quarters_of_the_time_and_are_heard_when_they_caught_up() {
        let mut ghosts = Hazard::ghosts(&HazardParameters::default(), SHAPE).unwrap();
        let (mut taken, mut chosen) = (Vec::new(), Vec::new());
        let drive = drive();
        for epoch in 0..2 * CYCLE {
            let written = ghosts.by_rule[0].ftl.counters().host_writes;
            (0..16).for_each(|page| ghosts.on_write(Lpn(page), || false, drive.drive()));
            for (ghost, moved) in ghosts.by_rule.iter_mut().zip([500.0, 400.0, 450.0]) {
                (ghost.moved, ghost.written) = (moved, 1000.0);
            }
            if ghosts.best(Rule::Pages, drive.drive()) == Rule::Blocks {
                chosen.push(epoch);
            }
            if ghosts.by_rule[0].ftl.counters().host_writes > written {
                taken.push(epoch);
            }
        }
        let of_second = CYCLE..CYCLE + AWAKE;
        assert_eq!(taken, (0..AWAKE).chain(of_second.clone()).collect::<Vec<_>>());
        let heard = (0..AWAKE).chain(CYCLE + CATCHING_UP..of_second.end);
        assert_eq!(chosen, heard.collect::<Vec<_>>());
    }

    #[test]
    fn ghosts_rest_later_if_what_they_move_has_not_settled() {
        for (growth, settles, expected) in
            [(0.05, u64::MAX, AWAKE), (0.3, 350, 384), (0.3, u64::MAX, AWAKE_MAX)]
        {
            assert_eq!(epochs_awake(0, growth, settles), expected, "{growth} until {settles}");
            let later = epochs_awake(CYCLE, growth, settles.saturating_add(CYCLE));
            assert_eq!(later, expected, "after a rest: {growth} until {settles}");
        }
    }

    /// Epochs until ghosts rest that woke up after `begin` epochs, if what they move grows by a share in half a drive write,
    /// until epoch `settles`.
    fn epochs_awake(begin: u64, growth: f32, settles: u64) -> u64 {
        let (drive, mut ghosts) =
            (drive(), Hazard::ghosts(&HazardParameters::default(), SHAPE).unwrap());
        if begin > 0 {
            ghosts.epochs = begin - 1;
            ghosts.best(Rule::Pages, drive.drive());
        }
        while ghosts.are_awake() {
            let looks = (ghosts.epochs.min(settles) - begin) as f32 / LOOK as f32;
            for ghost in &mut ghosts.by_rule {
                (ghost.moved, ghost.written) = (100.0 * (1.0 + growth).powf(looks), 1000.0);
            }
            ghosts.best(Rule::Pages, drive.drive());
        }
        ghosts.epochs - begin
    }

    #[test]
    fn after_a_rest_ghosts_hold_what_the_drive_holds() {
        let mut ghosts = Hazard::ghosts(&HazardParameters::default(), SHAPE).unwrap();
        let (mut drive, sample) = (drive(), ghosts.sample);
        let first = |page: u32| sample.chosen_of(page);
        (0..40).for_each(|page| ghosts.on_write(first(page), || false, drive.drive()));
        ghosts.epochs = CYCLE - 1;
        // 20 to 39 were trimmed in the rest, 40 to 59 written for the first time.
        for page in (0..20).chain(40..60) {
            drive.write(first(page), &[]).unwrap();
        }
        ghosts.best(Rule::Pages, drive.drive());
        ghosts.catch_up();
        for ghost in &ghosts.by_rule {
            let held = (0..sample.pages).filter(|page| ghost.ftl.flash_page(Lpn(*page)).is_some());
            assert_eq!(held.collect::<Vec<_>>(), (0..20).chain(40..60).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_drive_with_ghosts_continues_as_if_it_had_not_been_saved() {
        let shape = DriveShape {
            blocks: 1140,
            pages_per_block: 64,
            logical_pages: 1 << 16,
            reserve_blocks: 4,
        };
        let build = || {
            let geometry = Geometry::new(shape.blocks, shape.pages_per_block, 4096).unwrap();
            let config = DriveConfig::new(geometry, shape.logical_pages, shape.reserve_blocks);
            let policy = Hazard::new(&HazardParameters::default(), shape);
            PageMapped::new(policy, config, NoPayload, ()).unwrap()
        };
        // Addresses that are drawn without regard to when they were written: nothing is known of rewritten pages.
        let mut drawn = 1_u32;
        let mut write = |ftls: &mut [PageMapped<Hazard, NoPayload, ()>], pages| {
            for _ in 0..pages {
                drawn = drawn.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let page = Lpn(drawn >> 16);
                for ftl in &mut *ftls {
                    if drawn & 0xF000 == 0 {
                        ftl.trim_page(page);
                    } else {
                        ftl.write_pages(&[page]).unwrap();
                    }
                }
            }
        };
        let saved = |ftl: &mut PageMapped<Hazard, NoPayload, ()>| {
            let mut bytes = Saved::default();
            ftl.transfer(&mut bytes).unwrap();
            bytes
        };
        let mut first = [build()];
        write(&mut first, 4 << 16);
        let [mut first] = first;
        let bytes = saved(&mut first);
        let mut again = build();
        again.transfer(&mut Restored::new(&bytes.0)).unwrap();
        again.set_mapping(Lpn(0), first.drive().mapping()).unwrap();
        assert_eq!(saved(&mut again), bytes);
        let mut both = [first, again];
        write(&mut both, 1 << 16);
        let [first, again] = &mut both;
        assert_eq!(saved(first), saved(again));
        first.check().unwrap();
    }

    #[test]
    fn there_are_none_on_small_drives_nor_where_a_rule_is_given() {
        let small = DriveShape { blocks: 300, logical_pages: 65_535, ..SHAPE };
        assert!(Hazard::ghosts(&HazardParameters::default(), small).is_none());
        let given = HazardParameters { rule: RuleChoice::Moves, ..HazardParameters::default() };
        assert_eq!(Hazard::new(&given, SHAPE).sample_bytes(SHAPE.logical_pages).here, 0);
        let off = HazardParameters { pages: KnownPages::Off, ..HazardParameters::default() };
        assert_eq!(Hazard::new(&off, SHAPE).sample_bytes(SHAPE.logical_pages).here, 0);
        let all =
            Hazard::new(&HazardParameters::default(), SHAPE).sample_bytes(SHAPE.logical_pages);
        assert!(all.here.abs_diff(all.most) < all.most / 10, "{all:?}");
    }
}
