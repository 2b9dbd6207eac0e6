//! `zipf`: fio's zipf distribution, number for number; or Zipf's law, exactly (`exact`).
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
//! With `exact`, the page of rank r is written with a probability of (r + 1)^-theta over the sum of all, for every
//! theta, 1 included (rejection-inversion). A random permutation, which the seed decides as
//! well, gives every rank a page of its own; with `hash=off` rank r is page r.
//!
//! With `drive`, the ranks are those of a drive of so many bytes, and as many neighbouring ranks as it is larger are one
//! page. Every share of the pages then has its share of the writes, whatever the scale; every page has ranks of its own, as
//! with `exact`. `ftlab fit` and `--drive` scale a drive down like this.
//!
//! # Seed
//! The seed is fio's `randseed`. With `randrepeat=0`, `norandommap=1` and a single job, fio 3.33
//! writes exactly this sequence (held by a test against fio's own logs): its sixth-numbered
//! random stream starts from the low 32 bits of randseed x 0x9e370001^10 + 6. Only the low 32 bits
//! of the seed matter.
//!
//! # What to know
//! - fio's formula is exact for the first two ranks only. The third, fourth and fifth come 18, 12 and 9% too often for
//!   theta = 0.9 and 20, 12 and 8% for 1.2, and the tail 1 and 5% too rarely (2^18 pages). `exact` has neither.
//! - The hash is one to one where n is a power of two. Elsewhere ranks collide, because the product
//!   wraps at 2^64 before it is taken modulo n: of 8 GB = 1,953,125 pages only 78% are ever written.
//! - theta = 1 has no alpha: fio refuses it, and so does this. Where a paper says "zipf 1.0", use `exact`.
//! - On a smaller drive zipf is less skewed: with theta = 0.9, the hottest tenth of 2^15 pages has 70% of the writes, and
//!   that of 2^28 has 77%. `drive` keeps the skew of the drive that is meant, but not which of its pages fio's hash leaves out.
//! - zipf never uses fio's random map.
//! - Powers come from the C library of the platform; another one may round a rank differently once
//!   in many millions.
//!
//! # Reference
//! J. Gray et al., Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994, section 3.2.

use super::generator::{End, GeneratorInfo, Make};
use super::sequence::{PageSequence, Pages};
use ftlab_random::Rejection;
use ftlab_random::seeds::{OFFSETS, of_randseed};
use ftlab_random::{NUMBERS_MAX, Permutation};
use ftlab_random::{Ranks, SPREAD, ZETA_TERMS_MAX, Zipf, zeta};
use ftlab_spec::{ByteSize, Parameters, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

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
        /// The exponent: 0 is uniform, larger is more skewed; fio has no formula for 1 itself.
        theta: f64 = 0.9, "theta" in 0.0..=10.0, from "our choice";
        /// How ranks are spread over the drive.
        hash: RankHash = RankHash::New, "hash", from "fio 3.33";
        /// Zipf's law as it is, instead of fio's formula for it: every exponent is possible, and every rank has a page
        /// of its own.
        exact: bool = false, "exact", from "Hörmann and Derflinger, TOMACS 1996";
        /// Bytes of the drive of which it has the skew, if this one is scaled down; 0 for this one.
        drive: ByteSize = ByteSize(0), "drive", from "our choice";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "zipf",
    summary: "fio's zipf, number for number, with fio's randseed as the seed; or exactly Zipf's law",
    source: "fio 3.33, random_distribution=zipf",
    parameters: ZipfParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::Parameters { resolve, build, areas: |_, _| Ok(Vec::new()) },
};

/// What fio's has no part in is left out, so that what is fio's is called as ever.
fn resolve(spec: &Spec) -> Result<Vec<(&'static str, String)>, SpecError> {
    let parameters = ZipfParameters::from_spec(spec)?;
    let ZipfParameters { hash, exact, drive, .. } = parameters;
    let is_scaled = drive.0 > 0;
    let mut values = parameters.values();
    values.retain(|(key, _)| match *key {
        "exact" => exact,
        "drive" => is_scaled,
        "hash" => !(exact || is_scaled) || hash == RankHash::Off,
        _ => true,
    });
    Ok(values)
}

/// The spec for drives that are scaled down from `capacity` bytes; `None` if it is of no zipf, or says which drive it means.
pub fn of_capacity(spec: &Spec, capacity: u64) -> Option<Spec> {
    let is_open = spec.name == GENERATOR.name && spec.get("drive").is_none();
    is_open.then(|| {
        let mut spec = spec.clone();
        spec.arguments.push(("drive".into(), ByteSize(capacity).to_string()));
        spec
    })
}

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = ZipfParameters::from_spec(spec)?;
    let ZipfParameters { theta, hash, exact, .. } = parameters;
    if exact {
        return Ok(Box::new(Exact::new(spec, &parameters, space)?));
    }
    if (theta - 1.0).abs() < f64::EPSILON {
        return Err(SpecError::BadValue {
            of: spec.name.clone(),
            key: "theta".into(),
            value: "1".into(),
            expects: "possible in fio: 1/(1 - theta) has no value there; add exact=on, which has every exponent, or use \
                      0.99, and say so"
                .into(),
        }
        .into());
    }
    if let Some(real) = parameters.real_pages(space) {
        return Ok(Box::new(Scaled::new(spec, &parameters, real, space)?));
    }
    Ok(Box::new(zipf(space.logical_pages, theta, hash, space.seed)))
}

impl ZipfParameters {
    /// Pages of the drive that is meant, if that is larger.
    fn real_pages(&self, space: &Space) -> Option<u64> {
        let pages = self.drive.0 / u64::from(space.page_bytes.max(1));
        (pages > space.logical_pages).then_some(pages)
    }
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

/// Where ranks are: in order, or anywhere.
fn places(
    spec: &Spec,
    hash: RankHash,
    space: &Space,
    random: &mut Xoshiro256PlusPlus,
) -> Result<Option<Permutation>, TraceError> {
    let pages = space.logical_pages;
    if pages > NUMBERS_MAX {
        return Err(TraceError::Unsupported {
            what: format!("{spec} on a drive of {pages} pages"),
            remedy: format!(
                "leave exact and drive out, or use a drive of at most {NUMBERS_MAX} pages"
            ),
        });
    }
    Ok((hash != RankHash::Off).then(|| Permutation::new(pages, random)))
}

/// Which page has a rank of a drive of `of` pages, on one of `pages`.
fn scaled(rank: u64, of: u64, pages: u64) -> u64 {
    if of == pages {
        return rank;
    }
    (u128::from(rank) * u128::from(pages) / u128::from(of)) as u64
}

/// Zipf's law over the pages of a drive.
struct Exact {
    random: Xoshiro256PlusPlus,
    ranks: Rejection,
    /// Pages of the drive, and of that which is meant.
    pages: u64,
    of: u64,
    /// Where ranks are; in order if there is none.
    places: Option<Permutation>,
}

impl Exact {
    fn new(spec: &Spec, parameters: &ZipfParameters, space: &Space) -> Result<Self, TraceError> {
        if let Some(hash) = spec.get("hash").filter(|_| parameters.hash != RankHash::Off) {
            return Err(SpecError::BadValue {
                of: spec.name.clone(),
                key: "hash".into(),
                value: hash.into(),
                expects: "possible with exact: fio's hash sends several ranks to a page; leave it out, or give hash=off"
                    .into(),
            }
            .into());
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let places = places(spec, parameters.hash, space, &mut random)?;
        let pages = space.logical_pages;
        let of = parameters.real_pages(space).unwrap_or(pages);
        Ok(Self { random, ranks: Rejection::new(of, parameters.theta), pages, of, places })
    }
}

impl Pages for Exact {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            let rank = scaled(self.ranks.draw(&mut self.random) - 1, self.of, self.pages);
            *page = self.places.as_ref().map_or(rank, |places| places.at(rank));
        }
    }
}

/// fio's ranks of a larger drive.
struct Scaled {
    random: Xoshiro256PlusPlus,
    ranks: Ranks,
    pages: u64,
    places: Option<Permutation>,
}

impl Scaled {
    fn new(
        spec: &Spec,
        parameters: &ZipfParameters,
        of: u64,
        space: &Space,
    ) -> Result<Self, TraceError> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
        let places = places(spec, parameters.hash, space, &mut random)?;
        let theta = parameters.theta;
        let ranks = Ranks::with_zeta(of, theta, zeta(of.min(ZETA_TERMS_MAX), theta));
        Ok(Self { random, ranks, pages: space.logical_pages, places })
    }
}

impl Pages for Scaled {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            let rank = self.ranks.draw(&mut self.random);
            let rank = scaled(rank, self.ranks.numbers(), self.pages);
            *page = self.places.as_ref().map_or(rank, |places| places.at(rank));
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
            assert_eq!(zipf.offset() % (1 << 18), 140_006, "{theta}");
        }
    }

    #[test]
    fn frequencies_follow_the_power_law() {
        // Without the hash, ranks are pages. Ranks 0 and 1 have exact probabilities.
        let (pages, theta, count) = (1000, 0.8, 1_000_000);
        let zipf = zipf(pages, theta, RankHash::Off, 20_240_517);
        let mut by_rank = vec![0u32; pages as usize];
        for page in draw(theta, RankHash::Off, pages, count) {
            by_rank[((page + pages - zipf.offset() % pages) % pages) as usize] += 1;
        }
        for (rank, count_of_rank) in by_rank.iter().take(2).enumerate() {
            let expected =
                count as f64 * ((rank + 1) as f64).powf(-theta) / ftlab_random::zeta(pages, theta);
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
        assert!(error.contains("use 0.99, and say so") && error.contains("exact=on"), "{error}");
    }

    fn exact(spec: &str, logical_pages: u64) -> Result<Box<dyn PageSequence>, TraceError> {
        build(&spec.parse().unwrap(), &Space { logical_pages, page_bytes: 4096, seed: 3 })
    }

    /// How often each page is drawn, by rank.
    fn counts(spec: &str, pages: u64, draws: usize) -> Vec<u32> {
        let mut drawn = vec![0; draws];
        exact(spec, pages).unwrap().fill(&mut drawn);
        let mut counts = vec![0_u32; pages as usize];
        for page in drawn {
            counts[page as usize] += 1;
        }
        counts
    }

    /// Chi-square of the first ranks, and of all others together, and the degrees of freedom.
    fn chi_square(counts: &[u32], theta: f64) -> (f64, f64) {
        const FIRST: usize = 30;
        let draws: f64 = counts.iter().copied().map(f64::from).sum();
        let weights: Vec<f64> = (1..=counts.len()).map(|k| (k as f64).powf(-theta)).collect();
        let sum: f64 = weights.iter().sum();
        let of = |count: f64, weight: f64| {
            (count - draws * weight / sum).powi(2) / (draws * weight / sum)
        };
        let first = counts.iter().zip(&weights).take(FIRST);
        let rest = counts[FIRST..].iter().copied().map(f64::from).sum();
        let of_rest = of(rest, weights[FIRST..].iter().sum());
        (
            first.map(|(count, weight)| of(f64::from(*count), *weight)).sum::<f64>() + of_rest,
            FIRST as f64,
        )
    }

    #[test]
    fn exact_follows_the_law_where_fio_does_not() {
        let pages = 10_000;
        for theta in [0.5, 1.0, 1.2] {
            let counts = counts(&format!("zipf:exact,theta={theta},hash=off"), pages, 300_000);
            let (chi_square, freedom) = chi_square(&counts, theta);
            assert!(
                chi_square < freedom + 5.0 * (2.0 * freedom).sqrt(),
                "theta {theta}: {chi_square}"
            );
        }
        let fio = zipf(pages, 1.2, RankHash::Off, 1);
        let offset = fio.offset() % pages;
        let mut drawn = vec![0; 300_000];
        zipf(pages, 1.2, RankHash::Off, 1).fill(&mut drawn);
        let mut counts = vec![0_u32; pages as usize];
        for page in drawn {
            counts[((page + pages - offset) % pages) as usize] += 1;
        }
        let (chi_square, freedom) = chi_square(&counts, 1.2);
        assert!(chi_square > 20.0 * freedom, "fio: {chi_square}");
    }

    #[test]
    fn exact_gives_every_rank_a_page_of_its_own() {
        // 1,000 pages are no power of two, with which fio's hash would leave pages out.
        let mut spread = counts("zipf:exact,theta=0.3", 1000, 200_000);
        let mut in_order = counts("zipf:exact,theta=0.3,hash=off", 1000, 200_000);
        assert!(in_order[0] > in_order[500], "the first is the hottest");
        assert!(spread.iter().all(|count| *count > 0));
        spread.sort_unstable();
        in_order.sort_unstable();
        let off = spread.iter().zip(&in_order).map(|(a, b)| a.abs_diff(*b)).max().unwrap();
        assert!(off < 300, "they are as skewed as each other: {off}");
        assert!(counts("zipf:exact", 1, 10) == [10] && counts("zipf:exact", 2, 10).len() == 2);
    }

    #[test]
    fn a_drive_that_is_scaled_down_has_the_skew_of_the_real_one() {
        /// The share of the writes that the hottest tenth of the pages has.
        fn hot(spec: &str, pages: u64) -> f64 {
            let mut counts = counts(spec, pages, 4_000_000);
            counts.sort_unstable_by(|a, b| b.cmp(a));
            let hot: u32 = counts[..pages as usize / 10].iter().sum();
            f64::from(hot) / 4e6
        }
        for exact in ["", "exact,"] {
            let real = hot(&format!("zipf:{exact}theta=0.9"), 1 << 15);
            let plain = hot(&format!("zipf:{exact}theta=0.9"), 256);
            let bytes = 4096_u64 << 15;
            let own = hot(&format!("zipf:{exact}theta=0.9,drive={bytes}"), 250);
            assert!(plain < real - 0.05, "{plain} of a small drive, {real}");
            assert!((own - real).abs() < 0.02, "{own} of a scaled one, {real}");
        }
        // One that is no larger changes nothing.
        let drawn = |spec: &str| counts(spec, 1024, 10_000);
        assert_eq!(drawn("zipf:drive=4MiB"), drawn("zipf"));
        let values = resolve(&"zipf:drive=4MiB".parse().unwrap()).unwrap();
        assert!(values.contains(&("drive", "4MiB".to_owned())), "{values:?}");
        assert!(of_capacity(&"zipf:drive=4MiB".parse().unwrap(), 7).is_none());
        assert!(of_capacity(&"uniform".parse().unwrap(), 7).is_none());
    }

    #[test]
    fn what_exact_cannot_do_is_refused_and_fios_is_called_as_ever() {
        let refused = |spec: &str, pages| exact(spec, pages).err().unwrap().to_string();
        assert!(refused("zipf:exact,hash=new", 100).contains("leave it out"));
        assert!(refused("zipf:exact", NUMBERS_MAX + 1).contains("at most"));
        let values = |spec: &str| resolve(&spec.parse().unwrap()).unwrap();
        let pair = |key, value: &str| (key, value.to_owned());
        for spec in ["zipf", "zipf:exact=off"] {
            assert_eq!(values(spec), [pair("theta", "0.9"), pair("hash", "new")]);
        }
        assert_eq!(values("zipf:exact"), [pair("theta", "0.9"), pair("exact", "on")]);
        let off = [pair("theta", "0.9"), pair("hash", "off"), pair("exact", "on")];
        assert_eq!(values("zipf:hash=off,exact"), off);
    }

    #[test]
    fn the_smallest_drives_work() {
        for pages in [1, 2, 3] {
            assert!(draw(0.9, RankHash::New, pages, 1000).iter().all(|page| *page < pages));
        }
    }
}
