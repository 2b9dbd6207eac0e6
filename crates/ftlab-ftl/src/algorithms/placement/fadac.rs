//! `fadac`: classes by a fading average of update intervals, whose bounds adapt themselves.
//!
//! # Idea
//! An average in which old intervals fade follows a page that changes its temper. Which averages belong
//! together depends on the workload, so the bounds between classes are learned while the drive runs.
//!
//! # Rule
//! N classes, each with one open block that takes host writes and relocated pages alike. A host write
//! moves the page's average by `fade` of the way to the interval since the host wrote it last. A
//! rewritten page goes to the class of its average; a relocated page to that of its average or, if that
//! is longer, of the time since the host wrote it. The bounds between classes follow the quantiles of
//! the averages of rewritten pages, so that the host writes as many pages to every class.
//!
//! # Parameters
//! `classes` 6; `fade` 0.5; `window` auto: that many rewrites move a bound by up to an octave, a 256th of
//! the logical pages.
//!
//! # Where the paper is silent
//! The paper was at hand only as its abstract: a fading average, parameters tuned online, and what it
//! needs of memory kept in the spare area of flash pages. How the bounds adapt is ours; they are
//! moved a little at every rewrite, in logarithms of the interval, until each leaves as large a share
//! of the pages on its colder side as it should. A page's first write goes to the coldest class, and its
//! first interval is its average. Averages are kept in a table here, not in spare areas. Intervals are
//! taken modulo 2^32 host writes.
//!
//! # Reference
//! Kremer and Brinkmann, "FADaC: a self-adapting data classifier for flash memory", SYSTOR 2019; Wang et
//! al., SepBIT, FAST 2022, section 4.1, for six classes.

use crate::Metadata;
use crate::algorithms::placement::classes::{CLASSES_MAX, classes, log2};
use crate::algorithms::tools::intervals::Intervals;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, FitContext, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use ftlab_flash::{BlockId, Lpn};
use ftlab_spec::{OrAuto, SpecError};
use std::num::NonZeroU32;

/// Logical pages per rewrite of the window.
const PAGES_PER_REWRITE: u32 = 256;

ftlab_spec::parameters! {
    pub struct FadacParameters {
        /// Classes, from cold to hot.
        classes: u32 = 6, "classes" in 1..=CLASSES_MAX, from "SepBIT (FAST 2022), section 4.1";
        /// How much of the way to its latest interval a page's average moves.
        fade: f64 = 0.5, "fade" in 0.01..=1.0, from "our reading";
        /// Rewrites that move a bound by an octave at most; auto: a 256th of the logical pages.
        window: OrAuto<NonZeroU32> = OrAuto::Auto, "window", from "our reading";
    }
}

/// Classes of like fading averages.
pub struct Fadac {
    intervals: Intervals,
    bounds: Bounds,
    fade: f32,
}

state!(Fadac { intervals, bounds } constant fade);

/// Bounds between classes: logarithms of intervals, falling.
struct Bounds {
    logs: Vec<f32>,
    /// Octaves per rewrite.
    step: f32,
}

state!(Bounds { logs } constant step);

impl Bounds {
    /// For `classes` classes; at first a class spans an octave and the coldest begins at `longest`.
    fn new(classes: u32, longest: f32, window: u32) -> Self {
        let logs = (0..classes - 1).map(|bound| log2(longest) - bound as f32);
        Self { logs: logs.collect(), step: 1.0 / window as f32 }
    }

    /// The class of an interval, from cold to hot.
    #[inline]
    fn class_of(&self, interval: f32) -> StreamId {
        let log = log2(interval);
        StreamId(self.logs.iter().map(|&bound| u8::from(log <= bound)).sum())
    }

    /// Takes note of an interval.
    #[inline]
    fn learn(&mut self, interval: f32) {
        let log = log2(interval);
        let share = 1.0 / (self.logs.len() + 1) as f32;
        let mut wanted = 0.0;
        for bound in &mut self.logs {
            wanted += share;
            *bound += self.step * (f32::from(u8::from(log > *bound)) - wanted);
        }
    }
}

impl PlacementEntry for Fadac {
    type Parameters = FadacParameters;
    const NAME: &'static str = "fadac";
    const SUMMARY: &'static str =
        "equally many rewrites in every class, by fading averages of their update intervals";
    const SOURCE: &'static str = "FADaC (SYSTOR 2019)";

    fn fit(parameters: &mut FadacParameters, context: &FitContext) -> Result<(), SpecError> {
        let pages = context.shape.logical_pages / PAGES_PER_REWRITE;
        parameters.window.fit(|| NonZeroU32::new(pages).unwrap_or(NonZeroU32::MIN));
        Ok(())
    }

    fn new(parameters: &FadacParameters, shape: DriveShape) -> Self {
        let window = parameters.window.given().map_or(1, |window| window.get());
        Self {
            intervals: Intervals::new(shape.logical_pages),
            bounds: Bounds::new(parameters.classes, shape.logical_pages as f32, window),
            fade: parameters.fade as f32,
        }
    }
}

impl Placement for Fadac {
    fn streams(&self) -> Vec<Stream> {
        classes(self.bounds.logs.len() + 1)
    }

    /// Where free blocks run out, pages of different temper may share one.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        self.intervals.prefetch(lpn);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        if drive.flash_page(write.lpn).is_none() {
            self.intervals.begin(write.lpn, drive);
            return StreamId(0);
        }
        let faded = |average: f32, interval| average + self.fade * (interval - average);
        let average = self.intervals.rewrite(write.lpn, drive, faded);
        self.bounds.learn(average);
        self.bounds.class_of(average)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        self.bounds.class_of(self.intervals.expected(page.lpn, drive))
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_page(64.0) + Metadata::fixed(4 * self.bounds.logs.len() as u64)
    }

    fn memory_bytes(&self) -> usize {
        self.intervals.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_divide_what_is_placed_evenly() {
        let mut bounds = Bounds::new(4, 65_536.0, 200);
        let mut placed = [0_u32; 4];
        let mut state = 1_u64;
        for step in 0..200_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Octaves 0 to 12 alike.
            let interval = (12.0 * (state >> 40) as f32 / (1 << 24) as f32).exp2();
            bounds.learn(interval);
            let class = bounds.class_of(interval);
            placed[class.index()] += u32::from(step >= 100_000);
        }
        assert!(placed.iter().all(|count| (24_000..26_000).contains(count)), "{placed:?}");
    }
}
