//! `jesd219`: the enterprise workload by which the endurance of drives is tested (JEDEC JESD219A).
//!
//! Half of the requests go to the first 5% of the drive, 30% to the next 15%, and 20% to the rest; within each
//! of these areas every place is equally likely. Sizes are a mix from 512 bytes to 64 KiB, of which two thirds
//! are 4 KiB. Requests of less than a page write the page that they lie in, since an FTL has to; larger ones
//! begin at a multiple of their size, as the standard has it from 4 KiB on. Its reads, 40% of the requests, write
//! nothing and are left out.

use super::areas::Area;
use super::generator::{End, GeneratorInfo, Make};
use super::sequence::{PageSequence, Pages};
use ftlab_random::draw_below;
use ftlab_spec::{Parameters, Spec};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

ftlab_spec::parameters! {
    /// The shares of the standard.
    pub struct Jesd219Parameters {
        /// Share of the drive that takes half of the requests.
        hot: f64 = 0.05, "hot" in 0.0..=1.0, from "JESD219A, section 4";
        /// Share of the drive behind it that takes 30% of the requests.
        warm: f64 = 0.15, "warm" in 0.0..=1.0, from "JESD219A, section 4";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "jesd219",
    summary: "the endurance test of drives: 50%, 30% and 20% of the requests to 5%, 15% and 80% of the drive, of mixed sizes",
    source: "JEDEC JESD219A, enterprise workload",
    parameters: Jesd219Parameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parameters { resolve: Jesd219Parameters::resolve, build, areas },
};

/// Bytes of a request, and how many of a hundred have that size.
const SIZES: [(u64, u64); 12] = [
    (512, 4),
    (1024, 1),
    (1536, 1),
    (2048, 1),
    (2560, 1),
    (3072, 1),
    (3584, 1),
    (4096, 67),
    (8192, 10),
    (16_384, 7),
    (32_768, 3),
    (65_536, 3),
];

/// Shares of the requests that go to the areas.
const REQUESTS: [f64; 3] = [0.5, 0.3, 0.2];

/// First page and number of pages of each area.
fn bounds(spec: &Spec, space: &Space) -> Result<[(u64, u64); 3], TraceError> {
    let Jesd219Parameters { hot, warm } = Jesd219Parameters::from_spec(spec)?;
    let pages = space.logical_pages;
    let share = |share: f64| (share * pages as f64).round() as u64;
    let (hot, warm) = (share(hot).max(1), share(warm).max(1));
    if hot + warm >= pages {
        return Err(TraceError::Unsupported {
            what: format!("jesd219 with {hot} hot and {warm} warm pages on a drive of {pages}"),
            remedy: "give shares that leave something, or a drive of at least 3 pages".into(),
        });
    }
    Ok([(0, hot), (hot, warm), (hot + warm, pages - hot - warm)])
}

fn areas(spec: &Spec, space: &Space) -> Result<Vec<Area>, TraceError> {
    let bounds = bounds(spec, space)?.into_iter().zip(REQUESTS);
    Ok(bounds.map(|((_, pages), writes)| Area { pages, writes }).collect())
}

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    Ok(Box::new(Jesd219 {
        random: Xoshiro256PlusPlus::seed_from_u64(space.seed),
        areas: bounds(spec, space)?,
        page_bytes: space.page_bytes.into(),
        next: 0,
        left: 0,
    }))
}

struct Jesd219 {
    random: Xoshiro256PlusPlus,
    areas: [(u64, u64); 3],
    page_bytes: u64,
    /// The next page of the request, and pages that are left of it.
    next: u64,
    left: u64,
}

impl Jesd219 {
    fn begin_request(&mut self) {
        let area = match draw_below(&mut self.random, 100) {
            0..50 => 0,
            50..80 => 1,
            _ => 2,
        };
        let mut draw = draw_below(&mut self.random, 100);
        let mut bytes = 0;
        for (size, share) in SIZES {
            bytes = size;
            if draw < share {
                break;
            }
            draw -= share;
        }
        let (first, pages) = self.areas[area];
        let wanted = bytes.div_ceil(self.page_bytes).min(pages);
        let places = (pages / wanted).max(1);
        self.next = first + draw_below(&mut self.random, places) * wanted;
        self.left = wanted;
    }
}

impl Pages for Jesd219 {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            if self.left == 0 {
                self.begin_request();
            }
            *page = self.next;
            self.next += 1;
            self.left -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space { logical_pages: 100_000, page_bytes: 4096, seed: 7 };

    fn drawn(count: usize) -> Vec<u64> {
        let mut pages = vec![0; count];
        build(&Spec::bare("jesd219"), &SPACE).unwrap().fill(&mut pages);
        pages
    }

    #[test]
    fn areas_take_their_shares() {
        let pages = drawn(1_000_000);
        let share = |from: u64, to: u64| {
            pages.iter().filter(|page| (from..to).contains(page)).count() as f64 / 1e6
        };
        for ((from, to), expected) in
            [(0, 5000), (5000, 20_000), (20_000, 100_000)].into_iter().zip(REQUESTS)
        {
            assert!((share(from, to) - expected).abs() < 0.01, "{from}");
        }
    }

    #[test]
    fn requests_are_as_long_as_their_sizes() {
        // 77 of 100 take a page, and the mean is 0.77 + 0.2 + 0.28 + 0.24 + 0.48 pages.
        let pages = drawn(1_970_000);
        let follows = pages.windows(2).filter(|pair| pair[0] + 1 == pair[1]).count() as f64;
        let requests = pages.len() as f64 - follows;
        assert!((pages.len() as f64 / requests - 1.97).abs() < 0.01, "{requests}");
        assert_eq!(SIZES.iter().map(|(_, share)| share).sum::<u64>(), 100);
    }

    #[test]
    fn a_drive_that_is_too_small_is_refused() {
        let space = Space { logical_pages: 2, ..SPACE };
        let error = build(&Spec::bare("jesd219"), &space).err().unwrap().to_string();
        assert!(error.contains("a drive of at least 3 pages"), "{error}");
    }
}
