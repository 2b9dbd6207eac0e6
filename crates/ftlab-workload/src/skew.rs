//! `skew`: x percent of the writes to (100 - x) percent of the pages; SKEW70 to SKEW99. `skewinc`: the skew
//! rises from 70/30 to 99/1; `skewdec`: it falls.
//!
//! The hot area is the start of the drive, as in [`hotcold`](super::hotcold), which has the two shares
//! apart from each other.
//!
//! # Rule
//! `over` drive writes are cut into `steps` steps of equal length. In step k of n (from 0) x% of
//! the writes go to the first (100 - x)% of the pages, x = 70 + 29 k / (n - 1) for `skewinc` and
//! 99 - 29 k / (n - 1) for `skewdec`; step k begins at
//! write k `over` pages / n, rounded. With 30 steps x rises by one point at a time. After `over` the
//! last skew stays. The hot area shrinks or grows; it does not move.
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

use super::areas::{Areas, hot_and_cold};
use super::divided::{Division, Plan, check_two_areas};
use super::generator::{End, GeneratorInfo, Make};
use super::hotcold::hot_pages;
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::{Space, TraceError};

ftlab_spec::parameters! {
    /// How skewed the writes are.
    pub struct SkewParameters {
        /// Percentage of the writes that goes to the first (100 - x)% of the pages.
        x: f64 = 90.0, "x" in 50.0..=99.9, from "Lee and Kim, SYSTOR 2013, section 4.1: 70, 90, 95 and 99";
    }
}

ftlab_spec::parameters! {
    /// How long the change takes.
    pub struct SkewChangeParameters {
        /// Drive writes from the first step's beginning to the last step's end.
        over: f64 = 4.0, "over" in 0.001..=1e6, from "our reading: the writes that ftlab run counts";
        /// Steps of equal length; 30 change x by one point each.
        steps: u32 = 30, "steps" in 2..=10_000, from "our reading; the paper gives none";
    }
}

pub(super) const SKEW: GeneratorInfo = GeneratorInfo {
    name: "skew",
    summary: "x% of the writes to the first (100-x)% of the pages",
    source: "Lee and Kim, SYSTOR 2013, SKEW70 to SKEW99",
    parameters: SkewParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Areas { resolve: SkewParameters::resolve, plan },
};

pub(super) const SKEWINC: GeneratorInfo = GeneratorInfo {
    name: "skewinc",
    summary: "skew:x=70 to skew:x=99, in steps",
    source: "Lee and Kim, SYSTOR 2013, SKEWINC",
    parameters: SkewChangeParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Areas {
        resolve: SkewChangeParameters::resolve,
        plan: |spec, space| plan_between(spec, space, 70.0, 99.0),
    },
};

pub(super) const SKEWDEC: GeneratorInfo = GeneratorInfo {
    name: "skewdec",
    summary: "skew:x=99 to skew:x=70, in steps",
    source: "Lee and Kim, SYSTOR 2013, SKEWDEC",
    make: Make::Areas {
        resolve: SkewChangeParameters::resolve,
        plan: |spec, space| plan_between(spec, space, 99.0, 70.0),
    },
    ..SKEWINC
};

fn plan(spec: &Spec, space: &Space) -> Result<Plan, TraceError> {
    let SkewParameters { x } = SkewParameters::from_spec(spec)?;
    check_two_areas(&spec.name, space)?;
    Ok(Plan::hot_and_cold(skewed(x, space)))
}

/// The two areas of a skew of x percent.
fn skewed(percent: f64, space: &Space) -> Areas {
    hot_and_cold(hot_pages((100.0 - percent) / 100.0, space), percent / 100.0, space)
}

/// What writes with a skew that goes from `first` to `last` percent. Told are the largest hot area, and its share of
/// the writes at the beginning.
fn plan_between(spec: &Spec, space: &Space, first: f64, last: f64) -> Result<Plan, TraceError> {
    let SkewChangeParameters { over, steps } = SkewChangeParameters::from_spec(spec)?;
    check_two_areas(&spec.name, space)?;
    let writes = over * space.logical_pages as f64;
    let step = |step: u32| {
        let from = (writes * f64::from(step) / f64::from(steps)).round() as u64;
        let percent = first + (last - first) * (f64::from(step) / f64::from(steps - 1));
        (from, Division::hot_and_cold(&skewed(percent, space)))
    };
    let hot_pages = |percent| skewed(percent, space)[0].pages;
    let (now, largest) = (hot_pages(first), hot_pages(first.min(last)));
    let still_cold = (largest - now) as f64 / (space.logical_pages - now) as f64;
    let told = first / 100.0 + (1.0 - first / 100.0) * still_cold;
    Ok(Plan {
        told: hot_and_cold(largest, told, space),
        divisions: (0..steps).map(step).collect(),
        scattered: false,
    })
}

#[cfg(test)]
mod tests {
    use crate::sequence;
    use ftlab_trace::Space;

    const SPACE: Space = Space { logical_pages: 10_000, page_bytes: 4096, seed: 3 };

    fn draw(spec: &str) -> Vec<u64> {
        let mut drawn = vec![0; 100_000];
        sequence(&spec.parse().unwrap(), &SPACE).unwrap().fill(&mut drawn);
        drawn
    }

    #[test]
    fn a_skew_is_two_shares() {
        for (skew, two) in [
            ("skew:x=70", "hotcold:writes=0.7,pages=0.3"),
            ("skew", "hotcold:writes=0.9,pages=0.1"),
            ("skew:x=95", "hotcold:writes=0.95,pages=0.05"),
            ("skew:x=99", "hotcold:writes=0.99,pages=0.01"),
        ] {
            assert_eq!(draw(skew), draw(two), "{skew}");
        }
    }

    #[test]
    fn the_skew_changes_at_the_exact_write() {
        // 10,000 pages, 2 drive writes, 2 steps: the first skew for 10,000 writes, then the last.
        for (change, first, last) in
            [("skewinc", "skew:x=70", "skew:x=99"), ("skewdec", "skew:x=99", "skew:x=70")]
        {
            let drawn = draw(&format!("{change}:over=2,steps=2"));
            // Both skews take two random numbers for a write, so the streams stay in step.
            assert_eq!(drawn[..10_000], draw(first)[..10_000]);
            assert_eq!(drawn[10_000..], draw(last)[10_000..]);
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
