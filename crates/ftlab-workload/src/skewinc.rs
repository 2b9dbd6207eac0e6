//! `skewinc`: the skew rises from 70/30 to 99/1.
//!
//! # Rule
//! `over` drive writes are cut into `steps` steps of equal length. In step k of n (from 0) x% of
//! the writes go to the first (100 - x)% of the pages, x = 70 + 29 k / (n - 1); step k begins at
//! write k `over` pages / n, rounded. With 30 steps x rises by one point at a time. After `over` the
//! last skew stays. The hot area is always the start of the drive, as in `skew`: it shrinks, it does
//! not move.
//!
//! # What to know
//! Writes are counted from the first that the generator yields; a warm-up that is taken from it
//! counts too.
//!
//! # Where the paper is silent
//! It gives neither the length nor the steps. `over` is by default 4, because `ftlab run` takes 4
//! drive writes of a generator where it is not told otherwise.
//!
//! # Reference
//! Lee and Kim, SYSTOR 2013, section 4.1, SKEWINC and SKEWDEC.

use super::areas::{Area, hot_and_cold};
use super::generator::{End, GeneratorInfo, Make, PageSequence, Pages};
use super::hotcold::HotCold;
use super::skew::shares;
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::Space;
use ftlab_trace::TraceError;

ftlab_spec::parameters! {
    /// How long the change takes.
    pub struct SkewChangeParameters {
        /// Drive writes from the first step's beginning to the last step's end.
        over: f64 = 4.0, "over" in 0.001..=1e6, from "our reading: the writes that ftlab run counts";
        /// Steps of equal length; 30 change x by one point each.
        steps: u32 = 30, "steps" in 2..=10_000, from "our reading; the paper gives none";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "skewinc",
    summary: "skew:x=70 to skew:x=99, in steps",
    source: "Lee and Kim, SYSTOR 2013, SKEWINC",
    parameters: SkewChangeParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::OfParameters {
        resolve: SkewChangeParameters::resolve,
        build: |spec, space| build_between(spec, space, 70.0, 99.0),
        areas: |spec, space| areas_between(spec, space, 70.0, 99.0),
    },
};

/// The sequence whose skew goes from `first` to `last` percent.
pub(super) fn build_between(
    spec: &Spec,
    space: &Space,
    first: f64,
    last: f64,
) -> Result<Box<dyn PageSequence>, TraceError> {
    let SkewChangeParameters { over, steps } = SkewChangeParameters::from_spec(spec)?;
    let hot_cold = HotCold::new(&spec.name, shares(first), space)?;
    let writes = over * space.logical_pages as f64;
    Ok(Box::new(SkewChange { hot_cold, first, last, steps, writes, step: 0, written: 0 }))
}

/// The largest hot area, and its share of the writes at the beginning.
pub(super) fn areas_between(
    spec: &Spec,
    space: &Space,
    first: f64,
    last: f64,
) -> Result<Vec<Area>, TraceError> {
    let hot_pages =
        |percent| HotCold::new(&spec.name, shares(percent), space).map(|areas| areas.hot_pages());
    let (now, largest) = (hot_pages(first)?, hot_pages(first.min(last))?);
    let still_cold = (largest - now) as f64 / (space.logical_pages - now) as f64;
    let writes = first / 100.0 + (1.0 - first / 100.0) * still_cold;
    Ok(hot_and_cold(largest, writes, space))
}

struct SkewChange {
    hot_cold: HotCold,
    first: f64,
    last: f64,
    steps: u32,
    /// Length of all steps.
    writes: f64,
    step: u32,
    written: u64,
}

impl SkewChange {
    /// The write at which the present step ends; the last one does not.
    fn step_end(&self) -> u64 {
        if self.step + 1 >= self.steps {
            return u64::MAX;
        }
        (self.writes * f64::from(self.step + 1) / f64::from(self.steps)).round() as u64
    }
}

impl Pages for SkewChange {
    fn fill(&mut self, mut pages: &mut [u64]) {
        while !pages.is_empty() {
            while self.written >= self.step_end() {
                self.step += 1;
                let share = f64::from(self.step) / f64::from(self.steps - 1);
                let percent = self.first + (self.last - self.first) * share;
                self.hot_cold.set(shares(percent));
            }
            let count = (self.step_end() - self.written).min(pages.len() as u64) as usize;
            let (now, later) = pages.split_at_mut(count);
            self.hot_cold.fill(now);
            self.written += count as u64;
            pages = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence;

    #[test]
    fn the_skew_changes_at_the_exact_write() {
        // 10,000 pages, 2 drive writes, 2 steps: 70/30 for 10,000 writes, then 99/1.
        let space = Space { logical_pages: 10_000, page_bytes: 4096, seed: 3 };
        let draw = |first, last| {
            let spec = "skewinc:over=2,steps=2".parse().unwrap();
            let mut drawn = vec![0; 100_000];
            build_between(&spec, &space, first, last).unwrap().fill(&mut drawn);
            drawn
        };
        let fixed = |percent, count| {
            let mut drawn = vec![0; count];
            HotCold::new("skew", shares(percent), &space).unwrap().fill(&mut drawn);
            drawn
        };
        for (first, last) in [(70.0, 99.0), (99.0, 70.0)] {
            let drawn = draw(first, last);
            // Both skews take two random numbers for a write, so the streams stay in step.
            assert_eq!(drawn[..10_000], fixed(first, 10_000));
            assert_eq!(drawn[10_000..], fixed(last, 100_000)[10_000..]);
        }
    }

    #[test]
    fn thirty_steps_change_by_one_point() {
        let space = Space { logical_pages: 30_000, page_bytes: 4096, seed: 3 };
        let mut source = sequence(&"skewinc:over=30".parse().unwrap(), &space).unwrap();
        for step in 0..30u64 {
            let mut drawn = vec![0; 30_000];
            source.fill(&mut drawn);
            let hot_pages = (30 - step) * 300;
            let hot = drawn.iter().filter(|page| **page < hot_pages).count() as f64 / 30_000.0;
            let expected = (70 + step) as f64 / 100.0;
            // Five standard deviations are at most 0.0133.
            assert!((hot - expected).abs() < 0.0133, "step {step}: {hot}");
        }
    }
}
