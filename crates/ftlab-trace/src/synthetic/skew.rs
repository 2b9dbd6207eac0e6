//! `skew`: x percent of the writes to (100 - x) percent of the pages; SKEW70 to SKEW99.
//!
//! The hot area is the start of the drive: pages 0..h, where h = (100 - x)% of the drive, rounded,
//! at least one page and at least one page less than the drive. Within the hot area and within the
//! rest every page is equally likely. `hotcold` has the two shares apart from each other.

use super::areas::{Area, hot_and_cold};
use super::uniform::draw_below;
use super::{GeneratorInfo, PageSequence, Space};
use crate::TraceError;
use ftlab_spec::{Parameters, Spec};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

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
    resolve: SkewParameters::resolve,
    build,
    areas,
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = SkewParameters::from_spec(spec)?;
    Ok(Box::new(Skewed::new(&spec.name, parameters.x, space)?))
}

fn areas(spec: &Spec, space: &Space) -> Result<Vec<Area>, TraceError> {
    let percent = SkewParameters::from_spec(spec)?.x;
    let skewed = Skewed::new(&spec.name, percent, space)?;
    Ok(hot_and_cold(skewed.hot_pages(), percent / 100.0, space))
}

/// Writes of one skew, which may be changed on the way.
pub(super) struct Skewed {
    random: Xoshiro256PlusPlus,
    pages: u64,
    /// A write is hot if 53 random bits are below this.
    hot_below: u64,
    hot_pages: u64,
}

impl Skewed {
    /// `percent` of the writes to the hot area; `name` is for the message.
    pub(super) fn new(name: &str, percent: f64, space: &Space) -> Result<Self, TraceError> {
        if space.logical_pages < 2 {
            return Err(TraceError::Unsupported {
                what: format!("{name} on a drive of one page"),
                remedy: "give the drive at least 2 pages".into(),
            });
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let pages = space.logical_pages;
        let mut skewed = Self { random, pages, hot_below: 0, hot_pages: 1 };
        skewed.set_percent(percent);
        Ok(skewed)
    }

    /// Pages of the hot area at present.
    pub(super) fn hot_pages(&self) -> u64 {
        self.hot_pages
    }

    /// Another skew from the next write on.
    pub(super) fn set_percent(&mut self, percent: f64) {
        self.hot_below = (percent / 100.0 * (1u64 << 53) as f64) as u64;
        let hot_pages = ((100.0 - percent) / 100.0 * self.pages as f64).round() as u64;
        self.hot_pages = hot_pages.clamp(1, self.pages - 1);
    }
}

impl PageSequence for Skewed {
    fn fill(&mut self, pages: &mut [u64]) {
        let hot = (0, self.hot_pages);
        let cold = (self.hot_pages, self.pages - self.hot_pages);
        for page in pages {
            let is_hot = self.random.next_u64() >> 11 < self.hot_below;
            let (first, count) = if is_hot { hot } else { cold };
            *page = first + draw_below(&mut self.random, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_asked_and_uniform_inside() {
        for (percent, hot_pages) in [(70.0, 300), (90.0, 100), (95.0, 50), (99.0, 10)] {
            let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
            let mut skewed = Skewed::new("skew", percent, &space).unwrap();
            assert_eq!(skewed.hot_pages, hot_pages);
            let mut drawn = vec![0; 1_000_000];
            skewed.fill(&mut drawn);
            let mut counts = [0u32; 1000];
            for page in drawn {
                counts[page as usize] += 1;
            }
            let hot = percent * 1e4 / hot_pages as f64;
            let cold = (1e6 - percent * 1e4) / (1000 - hot_pages) as f64;
            let expected = |page: u64| if page < hot_pages { hot } else { cold };
            let chi_square: f64 = (0..1000u64)
                .map(|page| {
                    let count = f64::from(counts[page as usize]);
                    (count - expected(page)).powi(2) / expected(page)
                })
                .sum();
            // 999 degrees of freedom: mean 999, standard deviation 45.
            assert!((775.0..1225.0).contains(&chi_square), "{percent}: {chi_square}");
        }
    }

    #[test]
    fn a_drive_of_one_page_is_refused() {
        let space = Space { logical_pages: 1, page_bytes: 4096, seed: 7 };
        let error = build(&Spec::bare("skew"), &space).err().unwrap().to_string();
        assert_eq!(error, "skew on a drive of one page; give the drive at least 2 pages");
    }
}
