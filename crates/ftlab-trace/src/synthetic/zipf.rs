//! `zipf`: fio's zipf distribution, number for number.
//!
//! # Idea
//! The page of rank r (from 0) is written with a probability of about (r + 1)^-theta; a
//! multiplicative hash spreads the ranks over the drive, so that neighbours are not equally hot.
//!
//! # Rule
//! With n pages: zeta = the sum of i^-theta over i = 1..=min(n, 10^7); alpha = 1 / (1 - theta);
//! eta = (1 - (2/n)^(1-theta)) / (1 - (1 + 2^-theta) / zeta). Draw u in 0..=1. The rank is 0 if
//! u zeta < 1, 1 if u zeta < 1 + 2^-theta, else floor(n (eta u - eta + 1)^alpha). The page is
//! (rank x multiplier mod 2^64 + offset) mod n, where the offset is the first random number.
//!
//! # Seed
//! The seed is fio's `randseed`. With `randrepeat=0`, `norandommap=1` and a single job, fio 3.33
//! writes exactly this sequence (held by a test against fio's own logs): its sixth-numbered
//! random stream starts from the low 32 bits of randseed x 0x9e370001^10 + 6. Only the low 32 bits
//! of the seed matter.
//!
//! # What to know
//! - The hash is one to one where n is a power of two. Elsewhere ranks collide, because the product
//!   wraps at 2^64 before it is taken modulo n: of 8 GB = 1,953,125 pages only 78% are ever written.
//! - theta = 1 has no alpha: fio refuses it, and so does this. Where a paper says "zipf 1.0", use
//!   0.99 and say so.
//! - zipf never uses fio's random map.
//! - Powers come from the C library of the platform; another one may round a rank differently once
//!   in many millions.
//!
//! # Reference
//! J. Gray et al., Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994, section 3.2.

use super::generator::{End, GeneratorInfo, Make, PageSequence, Pages};
use super::space::Space;
use crate::TraceError;
use crate::fio::seeds::{OFFSETS, of_randseed};
use crate::fio::zipf::{SPREAD, Zipf};
use ftlab_spec::{Parameters, Spec, SpecError};

ftlab_spec::choices! {
    /// How ranks are spread over the drive.
    pub enum RankHash {
        /// fio since May 2016.
        New = "new",
        /// fio before May 2016.
        Old = "old",
        /// Not at all: rank r is page r + offset.
        Off = "off",
    }
}

impl RankHash {
    fn multiplier(self) -> u64 {
        match self {
            Self::New => SPREAD,
            Self::Old => 0x9e37_ffff_fffc_0001,
            Self::Off => 1,
        }
    }
}

ftlab_spec::parameters! {
    /// How unequal the pages are.
    pub struct ZipfParameters {
        /// The exponent: 0 is uniform, larger is more skewed; 1 itself has no formula.
        theta: f64 = 0.9, "theta" in 0.0..=10.0, from "our choice";
        /// How ranks are spread over the drive.
        hash: RankHash = RankHash::New, "hash", from "fio 3.33";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "zipf",
    summary: "fio's zipf, number for number; the seed is fio's randseed",
    source: "fio 3.33, random_distribution=zipf",
    parameters: ZipfParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::OfParameters {
        resolve: ZipfParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = ZipfParameters::from_spec(spec)?;
    let ZipfParameters { theta, hash } = parameters;
    if (theta - 1.0).abs() < f64::EPSILON {
        return Err(SpecError::BadValue {
            of: spec.name.clone(),
            key: "theta".into(),
            value: "1".into(),
            expects: "possible: 1/(1 - theta) has no value there; use 0.99, and say so".into(),
        }
        .into());
    }
    Ok(Box::new(zipf(space.logical_pages, theta, hash, space.seed)))
}

/// The sequence of fio's first job.
fn zipf(pages: u64, theta: f64, hash: RankHash, randseed: u64) -> Zipf {
    let seed = of_randseed(randseed, 1)[OFFSETS] as u32;
    Zipf::new(pages, theta, None, hash.multiplier(), seed)
}

impl Pages for Zipf {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            *page = self.draw();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first requests of a log that fio 3.33 wrote: 1 GiB, 4 KiB, theta 0.9, randrepeat=0,
    /// norandommap=1, randseed=20240517. The integration tests compare a million.
    const FIO_LOG: [u64; 5] = [192_493, 36_677, 76_476, 55_205, 44_744];

    fn draw(theta: f64, hash: RankHash, pages: u64, count: usize) -> Vec<u64> {
        let mut drawn = vec![0; count];
        zipf(pages, theta, hash, 20_240_517).fill(&mut drawn);
        drawn
    }

    #[test]
    fn the_sequence_is_fios() {
        assert_eq!(draw(0.9, RankHash::New, 1 << 18, 5), FIO_LOG);
    }

    #[test]
    fn the_hottest_page_is_the_offset() {
        // Known from the logs: page 140,006 whatever theta is.
        for theta in [0.5, 0.9, 1.1] {
            let zipf = zipf(1 << 18, theta, RankHash::New, 20_240_517);
            assert_eq!(zipf.offset % (1 << 18), 140_006, "{theta}");
        }
    }

    #[test]
    fn frequencies_follow_the_power_law() {
        // Without the hash, ranks are pages. Ranks 0 and 1 have exact probabilities.
        let (pages, theta, count) = (1000, 0.8, 1_000_000);
        let zipf = zipf(pages, theta, RankHash::Off, 20_240_517);
        let mut by_rank = vec![0u32; pages as usize];
        for page in draw(theta, RankHash::Off, pages, count) {
            by_rank[((page + pages - zipf.offset % pages) % pages) as usize] += 1;
        }
        for (rank, count_of_rank) in by_rank.iter().take(2).enumerate() {
            let expected = count as f64 * ((rank + 1) as f64).powf(-theta) / zipf.ranks.zeta;
            let deviation = (f64::from(*count_of_rank) - expected) / expected.sqrt();
            assert!(deviation.abs() < 5.0, "rank {rank}: {count_of_rank} against {expected}");
        }
        assert!(by_rank[9] > 3 * by_rank[99] && by_rank[99] > 3 * by_rank[999]);
    }

    #[test]
    fn some_drives_are_never_written_in_full() {
        let pages = 1_953_125u64;
        let mut reached = vec![false; pages as usize];
        for rank in 0..pages {
            let page = rank.wrapping_mul(RankHash::New.multiplier()) % pages;
            reached[page as usize] = true;
        }
        let share = reached.iter().filter(|r| **r).count() as f64 / pages as f64;
        assert!((share - 0.778).abs() < 0.001, "{share}");
    }

    #[test]
    fn theta_1_is_refused_with_advice() {
        let space = Space { logical_pages: 100, page_bytes: 4096, seed: 1 };
        let spec = "zipf:theta=1.0".parse().unwrap();
        let error = build(&spec, &space).err().unwrap().to_string();
        assert!(error.contains("use 0.99, and say so"), "{error}");
    }

    #[test]
    fn the_smallest_drives_work() {
        for pages in [1, 2, 3] {
            assert!(draw(0.9, RankHash::New, pages, 1000).iter().all(|page| *page < pages));
        }
    }
}
