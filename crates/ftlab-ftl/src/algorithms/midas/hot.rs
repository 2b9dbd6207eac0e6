//! Which pages are hot, and how the hot group does.

use crate::algorithms::midas::groups::{FIRST, HOT};
use crate::memory;
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Lpn};

/// The counter of a hot page.
const HOT_COUNT: u8 = 3;

/// A window grows by this factor at most.
const GROWTH_MAX: f64 = 1.5;

/// Samples of the hot group that count.
const SAMPLES_MAX: usize = 10;

/// What was measured of the hot group, or of it in one window.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct HotGroup {
    /// Blocks, with the open one.
    pub(super) blocks: f64,
    /// The share of the host writes that it takes.
    pub(super) traffic: f64,
    /// The valid share of its victims.
    pub(super) valid: f64,
}

state!(HotGroup { blocks, traffic, valid });

/// Two bits for every logical page, and how old hot blocks become.
pub(super) struct HotFilter {
    counters: Vec<u8>,
    /// Overwrites and moves that do not count yet.
    cold: u64,
    /// The age of hot blocks at their collection: younger pages of group 1 become hotter.
    window: f64,
    /// Overwrites until the next window.
    left: f64,
    /// Of this window: victims of the hot group, their ages and valid shares.
    victims: u64,
    ages: f64,
    valid: f64,
    /// Of this window: host writes, and hot ones among them.
    writes: u64,
    hot_writes: u64,
    /// The latest windows since the last model.
    samples: [HotGroup; SAMPLES_MAX],
    sampled: usize,
}

state!(HotFilter {
    counters,
    cold,
    window,
    left,
    victims,
    ages,
    valid,
    writes,
    hot_writes,
    samples,
    sampled
});

impl HotFilter {
    pub(super) fn new(logical_pages: u32) -> Self {
        let pages = f64::from(logical_pages);
        Self {
            counters: memory::table(logical_pages.div_ceil(4) as usize, 0),
            cold: u64::from(logical_pages),
            window: pages,
            left: pages,
            victims: 0,
            ages: 0.0,
            valid: 0.0,
            writes: 0,
            hot_writes: 0,
            samples: [HotGroup::default(); SAMPLES_MAX],
            sampled: 0,
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        memory::prefetch(&self.counters, lpn.index() / 4);
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, change: impl Fn(u8) -> u8) {
        let (byte, shift) = (&mut self.counters[lpn.index() / 4], lpn.0 % 4 * 2);
        let counter = change(*byte >> shift & HOT_COUNT);
        *byte = *byte & !(HOT_COUNT << shift) | counter << shift;
    }

    fn is_cold(&mut self) -> bool {
        let is_cold = self.cold > 0;
        self.cold -= u64::from(is_cold);
        is_cold
    }

    /// The host overwrites a page in `block` of `group`.
    #[inline]
    pub(super) fn overwrite(&mut self, lpn: Lpn, block: BlockId, group: usize, drive: &DriveState) {
        if self.is_cold() {
            return;
        }
        if self.left <= 0.0 && self.victims > 0 {
            self.next_window(drive.stream_blocks(StreamId(HOT as u8)));
        }
        self.left -= 1.0;
        if group == HOT {
            self.change(lpn, |counter| (counter + 1).min(HOT_COUNT));
        } else if group == FIRST {
            let is_young = drive.phase(block) == Phase::Open
                || (drive.write_clock() - drive.sealed_at(block)) as f64 <= self.window;
            self.change(lpn, |counter| {
                if is_young { (counter + 1).min(HOT_COUNT) } else { counter.saturating_sub(1) }
            });
        }
    }

    /// Whether the page that the host writes is hot.
    #[inline]
    pub(super) fn is_hot(&mut self, lpn: Lpn) -> bool {
        let is_hot = self.counters[lpn.index() / 4] >> (lpn.0 % 4 * 2) & HOT_COUNT == HOT_COUNT;
        self.writes += 1;
        self.hot_writes += u64::from(is_hot);
        is_hot
    }

    /// A page is moved out of the hot group or group 1.
    #[inline]
    pub(super) fn relocate(&mut self, lpn: Lpn, group: usize) {
        if !self.is_cold() {
            let penalty = if group == HOT { 2 } else { 1 };
            self.change(lpn, |counter| counter.saturating_sub(penalty));
        }
    }

    pub(super) fn forget(&mut self, lpn: Lpn) {
        self.change(lpn, |_| 0);
    }

    /// A block of the hot group is collected.
    pub(super) fn take_note(&mut self, block: BlockId, drive: &DriveState) {
        self.victims += 1;
        self.ages += (drive.write_clock() - drive.sealed_at(block)) as f64;
        self.valid += f64::from(drive.valid_pages(block)) / f64::from(drive.pages_per_block());
    }

    fn next_window(&mut self, blocks: u32) {
        let victims = self.victims as f64;
        if self.hot_writes > 0 {
            self.samples[self.sampled % SAMPLES_MAX] = HotGroup {
                blocks: f64::from(blocks),
                traffic: self.hot_writes as f64 / self.writes as f64,
                valid: self.valid / victims,
            };
            self.sampled += 1;
        }
        let age = self.ages / victims;
        self.window = f64::midpoint(age, self.window).min(GROWTH_MAX * self.window);
        self.left = self.window;
        (self.victims, self.ages, self.valid) = (0, 0.0, 0.0);
        (self.writes, self.hot_writes) = (0, 0);
    }

    /// The mean of the latest windows, which are forgotten; none if the hot group was not collected.
    pub(super) fn measured(&mut self) -> Option<HotGroup> {
        let samples = std::mem::take(&mut self.sampled).min(SAMPLES_MAX);
        let count = samples as f64;
        let sum = self.samples[..samples].iter().copied().reduce(|a, b| HotGroup {
            blocks: a.blocks + b.blocks,
            traffic: a.traffic + b.traffic,
            valid: a.valid + b.valid,
        })?;
        Some(HotGroup {
            blocks: (sum.blocks / count).round(),
            traffic: sum.traffic / count,
            valid: sum.valid / count,
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.counters.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_of_two_bits_stay_apart() {
        let mut hot = HotFilter::new(8);
        hot.cold = 1;
        hot.relocate(Lpn(2), HOT);
        for lpn in [1, 2, 3] {
            hot.change(Lpn(lpn), |_| HOT_COUNT);
        }
        hot.relocate(Lpn(2), HOT);
        hot.relocate(Lpn(3), FIRST);
        hot.forget(Lpn(1));
        assert_eq!(hot.counters, [0b10_01_00_00, 0]);
        assert!(!hot.is_hot(Lpn(3)));
        hot.change(Lpn(3), |counter| counter + 1);
        assert!(hot.is_hot(Lpn(3)));
        assert_eq!((hot.writes, hot.hot_writes), (2, 1));
    }

    #[test]
    fn windows_follow_the_age_of_hot_blocks_and_are_measured_once() {
        let mut hot = HotFilter::new(100);
        for age in [50.0, 1000.0] {
            (hot.victims, hot.ages, hot.valid, hot.writes, hot.hot_writes) = (1, age, 0.2, 10, 4);
            hot.next_window(3);
        }
        // The mean of 100 and 50, and then not more than half as much again.
        assert!((hot.window - 112.5).abs() < 1e-9, "{}", hot.window);
        let measured = hot.measured().unwrap();
        assert!((measured.traffic - 0.4).abs() < 1e-9 && (measured.valid - 0.2).abs() < 1e-9);
        assert_eq!((measured.blocks, hot.measured()), (3.0, None));
    }
}
