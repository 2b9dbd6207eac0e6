//! `hotcold`: a share of the writes goes to a share of the pages.
//!
//! The hot area is the start of the drive: pages 0..h, where h = `pages` x the drive, rounded, at
//! least one page and at least one page less than the drive. Within the hot area and within the
//! rest every page is equally likely. `writes=0.9,pages=0.1` is what papers call 90/10.

use super::areas::{Area, hot_and_cold};
use super::generator::{End, GeneratorInfo, Make, PageSequence, Pages};
use ftlab_random::draw_below;
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

ftlab_spec::parameters! {
    /// How hot, and how small the hot area is.
    pub struct HotColdParameters {
        /// Share of the writes that goes to the hot area.
        writes: f64 = 0.9, "writes" in 0.0..=1.0, from "Rosenblum and Ousterhout, SOSP 1991, section 3.5";
        /// Share of the pages that is hot.
        pages: f64 = 0.1, "pages" in 0.0..=1.0, from "Rosenblum and Ousterhout, SOSP 1991, section 3.5";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "hotcold",
    summary: "a share of the writes to the first pages of the drive, the rest to the pages after them",
    source: "Rosenblum and Ousterhout, SOSP 1991",
    parameters: HotColdParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::OfParameters { resolve: HotColdParameters::resolve, build, areas },
};

fn hot_cold(spec: &Spec, space: &Space) -> Result<HotCold, TraceError> {
    let HotColdParameters { writes, pages } = HotColdParameters::from_spec(spec)?;
    HotCold::new(&spec.name, Shares { writes, pages }, space)
}

fn areas(spec: &Spec, space: &Space) -> Result<Vec<Area>, TraceError> {
    let writes = HotColdParameters::from_spec(spec)?.writes;
    Ok(hot_and_cold(hot_cold(spec, space)?.hot_pages(), writes, space))
}

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    Ok(Box::new(hot_cold(spec, space)?))
}

/// What share of the writes goes to what share of the pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    pub(super) writes: f64,
    pub(super) pages: f64,
}

/// Writes to two areas, the shares of which may change on the way.
pub(super) struct HotCold {
    random: Xoshiro256PlusPlus,
    logical_pages: u64,
    /// A write is hot if 53 random bits are below this.
    hot_below: u64,
    hot_pages: u64,
}

impl HotCold {
    /// Two areas of the drive; `name` is for the message.
    pub(super) fn new(name: &str, shares: Shares, space: &Space) -> Result<Self, TraceError> {
        if space.logical_pages < 2 {
            return Err(TraceError::Unsupported {
                what: format!("{name} on a drive of one page"),
                remedy: "give the drive at least 2 pages".into(),
            });
        }
        let random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let logical_pages = space.logical_pages;
        let mut hot_cold = Self { random, logical_pages, hot_below: 0, hot_pages: 1 };
        hot_cold.set(shares);
        Ok(hot_cold)
    }

    /// Pages of the hot area at present.
    pub(super) fn hot_pages(&self) -> u64 {
        self.hot_pages
    }

    /// Other shares from the next write on.
    pub(super) fn set(&mut self, shares: Shares) {
        self.hot_below = (shares.writes * (1u64 << 53) as f64) as u64;
        let hot_pages = (shares.pages * self.logical_pages as f64).round() as u64;
        self.hot_pages = hot_pages.clamp(1, self.logical_pages - 1);
    }
}

impl Pages for HotCold {
    fn fill(&mut self, pages: &mut [u64]) {
        let hot = (0, self.hot_pages);
        let cold = (self.hot_pages, self.logical_pages - self.hot_pages);
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

    fn counts(spec: &str, count: usize) -> Vec<u32> {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
        let mut drawn = vec![0; count];
        build(&spec.parse().unwrap(), &space).unwrap().fill(&mut drawn);
        let mut counts = vec![0u32; 1000];
        for page in drawn {
            counts[page as usize] += 1;
        }
        counts
    }

    #[test]
    fn shares_are_as_asked_and_uniform_inside() {
        let counts = counts("hotcold:writes=0.9,pages=0.1", 1_000_000);
        let expected = |page: usize| if page < 100 { 9000.0 } else { 1e5 / 900.0 };
        let chi_square: f64 = counts
            .iter()
            .enumerate()
            .map(|(page, count)| (f64::from(*count) - expected(page)).powi(2) / expected(page))
            .sum();
        // 999 degrees of freedom: mean 999, standard deviation 45.
        assert!((775.0..1225.0).contains(&chi_square), "{chi_square}");
    }

    #[test]
    fn the_ends_of_the_ranges_work() {
        assert_eq!(counts("hotcold:writes=1,pages=0", 1000)[0], 1000);
        assert_eq!(counts("hotcold:writes=0,pages=1", 1000)[999], 1000);
    }
    #[test]
    fn a_drive_of_one_page_is_refused() {
        let space = Space { logical_pages: 1, page_bytes: 4096, seed: 7 };
        let error = build(&Spec::bare("hotcold"), &space).err().unwrap().to_string();
        assert_eq!(error, "hotcold on a drive of one page; give the drive at least 2 pages");
    }
}
