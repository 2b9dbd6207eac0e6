//! `skew`: x percent of the writes to (100 - x) percent of the pages; SKEW70 to SKEW99.
//!
//! The hot area is the start of the drive, as in [`hotcold`](super::hotcold), which has the two shares
//! apart from each other.

use super::areas::{Area, hot_and_cold};
use super::generator::{End, GeneratorInfo, Make, PageSequence};
use super::hotcold::{HotCold, Shares};
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::Space;
use ftlab_trace::TraceError;

ftlab_spec::parameters! {
    /// How skewed the writes are.
    pub struct SkewParameters {
        /// Percentage of the writes that goes to the first (100 - x)% of the pages.
        x: f64 = 90.0, "x" in 50.0..=99.9, from "Lee and Kim, SYSTOR 2013, section 4.1: 70, 90, 95 and 99";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "skew",
    summary: "x% of the writes to the first (100-x)% of the pages",
    source: "Lee and Kim, SYSTOR 2013, SKEW70 to SKEW99",
    parameters: SkewParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::OfParameters { resolve: SkewParameters::resolve, build, areas },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let SkewParameters { x } = SkewParameters::from_spec(spec)?;
    Ok(Box::new(HotCold::new(&spec.name, shares(x), space)?))
}

fn areas(spec: &Spec, space: &Space) -> Result<Vec<Area>, TraceError> {
    let Shares { writes, pages } = shares(SkewParameters::from_spec(spec)?.x);
    let hot_pages = HotCold::new(&spec.name, Shares { writes, pages }, space)?.hot_pages();
    Ok(hot_and_cold(hot_pages, writes, space))
}

/// What a skew of x percent means.
pub(super) fn shares(percent: f64) -> Shares {
    Shares { writes: percent / 100.0, pages: (100.0 - percent) / 100.0 }
}

#[cfg(test)]
mod tests {
    use super::super::sequence;
    use super::*;

    #[test]
    fn a_skew_is_two_shares() {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
        let draw = |spec: &str| {
            let mut drawn = vec![0; 10_000];
            sequence(&spec.parse().unwrap(), &space).unwrap().fill(&mut drawn);
            drawn
        };
        for (skew, two) in [
            ("skew:x=70", "hotcold:writes=0.7,pages=0.3"),
            ("skew", "hotcold:writes=0.9,pages=0.1"),
            ("skew:x=95", "hotcold:writes=0.95,pages=0.05"),
            ("skew:x=99", "hotcold:writes=0.99,pages=0.01"),
        ] {
            assert_eq!(draw(skew), draw(two), "{skew}");
        }
    }
}
