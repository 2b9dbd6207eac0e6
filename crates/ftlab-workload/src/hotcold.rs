//! `hotcold`: a share of the writes goes to a share of the pages.
//!
//! The hot area is the start of the drive: pages 0..h, where h = `pages` x the drive, rounded, at
//! least one page and at least one page less than the drive. Within the hot area and within the
//! rest every page is equally likely. `writes=0.9,pages=0.1` is what papers call 90/10.

use super::areas::hot_and_cold;
use super::divided::{Plan, check_two_areas};
use super::generator::{End, GeneratorInfo, Make};
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::{Space, TraceError};

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
    make: Make::Areas { resolve: HotColdParameters::resolve, plan },
};

fn plan(spec: &Spec, space: &Space) -> Result<Plan, TraceError> {
    let HotColdParameters { writes, pages } = HotColdParameters::from_spec(spec)?;
    check_two_areas(&spec.name, space)?;
    Ok(Plan::hot_and_cold(hot_and_cold(hot_pages(pages, space), writes, space)))
}

/// Pages of a hot area that has this share of them.
pub(super) fn hot_pages(share: f64, space: &Space) -> u64 {
    let pages = (share * space.logical_pages as f64).round() as u64;
    pages.clamp(1, space.logical_pages - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence;

    fn counts(spec: &str, count: usize) -> Vec<u32> {
        let space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };
        let mut drawn = vec![0; count];
        sequence(&spec.parse().unwrap(), &space).unwrap().fill(&mut drawn);
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
        let error = sequence(&Spec::bare("hotcold"), &space).err().unwrap().to_string();
        assert_eq!(error, "hotcold on a drive of one page; give the drive at least 2 pages");
    }
}
