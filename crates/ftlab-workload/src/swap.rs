//! `swap`: groups of pages with shares of the writes, two of which are swapped on the way.
//!
//! # Rule
//! Group g (from 0) is a range of pages; the groups are adjacent, in the order of `sizes`,
//! bounds rounded, each at least one page. A write goes to group g with the probability rate g,
//! and to each page of it equally likely. At write (moment i) x pages, rounded, the rates of pair i
//! change places; the pages of the groups stay.
//!
//! [`Groups`] tells the group of a page and the rates at a write, for oracles of temperature.
//!
//! # What to know
//! Writes are counted from the first that the generator yields, with a warm-up that is taken from
//! it. Sums of shares from 0.999 to 1.001 are scaled to 1. Inside `mix` the groups are the same,
//! and the moments count the writes of this part only.
//!
//! # Reference
//! Dayan, Bouganim and Bonnet, 2015, section 6.1: two halves of 10% and 90% (figures 6 and 7); five
//! groups of 3.2, 6.4, 12.8, 25.6 and 51.2% (figure 8; these add up to 99.2%, so type
//! 0.032;0.065;0.129;0.258;0.516, which are multiples of 1/31).

use super::areas::Area;
use super::generator::{End, GeneratorInfo, Make, PageSequence, Pages};
use super::parts::{pick, shares_of_one, thresholds};
use ftlab_random::draw_below;
use ftlab_spec::{Parameters, Spec, SpecError, Value};
use ftlab_trace::Space;
use ftlab_trace::TraceError;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::fmt;
use std::ops::Range;

/// Numbers separated by ';'.
#[derive(Debug, Clone, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl Value for Numbers {
    fn expects() -> String {
        "a list of numbers separated by ';', such as 0.1;0.9".into()
    }

    fn parse(text: &str) -> Option<Self> {
        text.split(';').map(<f64 as Value>::parse).collect::<Option<_>>().map(Self)
    }
}

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.write_str(&texts.join(";"))
    }
}

/// Pairs of groups, separated by ';'.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs(pub Vec<(usize, usize)>);

impl Value for Pairs {
    fn expects() -> String {
        "a pair of groups counted from 0, such as 0-1, or a list 0-1;0-2 with one for each of at"
            .into()
    }

    fn parse(text: &str) -> Option<Self> {
        let pair = |text: &str| {
            let (a, b) = text.split_once('-')?;
            Some((a.parse().ok()?, b.parse().ok()?))
        };
        text.split(';').map(pair).collect::<Option<_>>().map(Self)
    }
}

impl fmt::Display for Pairs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let texts: Vec<String> = self.0.iter().map(|(a, b)| format!("{a}-{b}")).collect();
        f.write_str(&texts.join(";"))
    }
}

ftlab_spec::parameters! {
    /// The groups, and what is swapped when.
    pub struct SwapParameters {
        /// Shares of the pages, one for each group, separated by ';'.
        sizes: Numbers = Numbers(vec![0.5, 0.5]), "sizes", from "Dayan et al. 2015, section 6.1";
        /// Shares of the writes before the first swap, one for each group.
        rates: Numbers = Numbers(vec![0.1, 0.9]), "rates", from "Dayan et al. 2015, section 6.1";
        /// Drive writes before each swap, in rising order.
        at: Numbers = Numbers(vec![2.0]), "at", from "our reading: half of what ftlab run counts";
        /// Whose rates are swapped: one pair for all moments, or one for each.
        pair: Pairs = Pairs(vec![(0, 1)]), "pair", from "Dayan et al. 2015, section 6.1";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "swap",
    summary: "groups of pages with shares of the writes; two are swapped on the way",
    source: "Dayan, Bouganim and Bonnet 2015, section 6.1",
    parameters: SwapParameters::describe,
    version: 1,
    end: End::Never,
    make: Make::OfParameters { resolve: SwapParameters::resolve, build, areas },
};

/// Which pages form which group, and how often each is written when.
#[derive(Debug, Clone, PartialEq)]
pub struct Groups {
    /// The page after each group, rising.
    ends: Vec<u64>,
    /// Shares of the writes before the first swap.
    rates: Vec<f64>,
    /// The write before which rates change places, rising, and whose.
    swaps: Vec<(u64, (usize, usize))>,
}

impl Groups {
    /// The groups of a spec `swap:...` on a drive of `logical_pages`.
    pub fn new(spec: &Spec, logical_pages: u64) -> Result<Self, TraceError> {
        let parameters = SwapParameters::from_spec(spec)?;
        let SwapParameters { sizes, rates, at, pair } = &parameters;
        let bad = |key: &str, value: &dyn fmt::Display, expects: String| SpecError::BadValue {
            of: spec.name.clone(),
            key: key.into(),
            value: value.to_string(),
            expects,
        };
        let shares = shares_of_one(&spec.name, "sizes", &sizes.to_string(), &sizes.0)?;
        let count = shares.len();
        if rates.0.len() != count {
            let expects = format!("possible: give {count} rates, as many as there are sizes");
            return Err(bad("rates", rates, expects).into());
        }
        let rates = shares_of_one(&spec.name, "rates", &rates.to_string(), &rates.0)?;
        if at.0.iter().any(|at| !(0.0..=1e6).contains(at)) || !at.0.is_sorted() {
            return Err(bad("at", at, "a rising list of numbers in 0..=1e6".into()).into());
        }
        let is_pair = |(a, b): &(usize, usize)| a != b && *a.max(b) < count;
        let fits = pair.0.len() == 1 || pair.0.len() == at.0.len();
        if !fits || !pair.0.iter().all(is_pair) {
            let expects = format!(
                "possible: give one pair, or one for each of at={at}, of two different groups in 0..={}",
                count - 1
            );
            return Err(bad("pair", pair, expects).into());
        }
        if logical_pages < count as u64 {
            return Err(TraceError::Unsupported {
                what: format!("{count} groups on a drive of {logical_pages} pages"),
                remedy: format!("give the drive at least {count} pages"),
            });
        }
        let writes = at.0.iter().map(|at| (at * logical_pages as f64).round() as u64);
        let swaps = writes.zip(pair.0.iter().copied().cycle()).collect();
        Ok(Self { ends: ends(&shares, logical_pages), rates, swaps })
    }

    /// How many groups there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// The group of `page`, from 0; the last one for pages beyond the drive.
    pub fn of_page(&self, page: u64) -> usize {
        self.ends.partition_point(|end| *end <= page).min(self.count() - 1)
    }

    /// The pages of `group`.
    ///
    /// # Panics
    /// Where there is no such group.
    pub fn pages(&self, group: usize) -> Range<u64> {
        let first = group.checked_sub(1).map_or(0, |before| self.ends[before]);
        first..self.ends[group]
    }

    /// The share of the writes of each group at `write`, counted from 0.
    pub fn rates_at(&self, write: u64) -> Vec<f64> {
        let mut rates = self.rates.clone();
        for (_, (a, b)) in self.swaps.iter().take_while(|(at, _)| *at <= write) {
            rates.swap(*a, *b);
        }
        rates
    }
}

/// The page after each group: rounded, and at least one page for each.
fn ends(shares: &[f64], pages: u64) -> Vec<u64> {
    let (mut sum, mut end) = (0.0, 0);
    let after = (0..shares.len() as u64).rev();
    let mut ends: Vec<u64> = shares
        .iter()
        .zip(after)
        .map(|(share, after)| {
            sum += share;
            end = ((sum * pages as f64).round() as u64).clamp(end + 1, pages - after);
            end
        })
        .collect();
    if let Some(last) = ends.last_mut() {
        *last = pages;
    }
    ends
}

fn areas(spec: &Spec, space: &Space) -> Result<Vec<Area>, TraceError> {
    let groups = Groups::new(spec, space.logical_pages)?;
    let pages = (0..groups.count()).map(|group| groups.pages(group));
    let areas = pages.zip(groups.rates_at(0));
    Ok(areas.map(|(pages, writes)| Area { pages: pages.end - pages.start, writes }).collect())
}

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let groups = Groups::new(spec, space.logical_pages)?;
    let areas = (0..groups.count())
        .map(|group| groups.pages(group))
        .map(|pages| (pages.start, pages.end - pages.start))
        .collect();
    let random = Xoshiro256PlusPlus::seed_from_u64(space.seed);
    let thresholds = thresholds(&groups.rates_at(0));
    Ok(Box::new(Swap { random, areas, thresholds, groups, written: 0 }))
}

struct Swap {
    random: Xoshiro256PlusPlus,
    /// First page and number of pages of each group.
    areas: Vec<(u64, u64)>,
    thresholds: Vec<u64>,
    groups: Groups,
    written: u64,
}

impl Pages for Swap {
    fn fill(&mut self, mut pages: &mut [u64]) {
        while !pages.is_empty() {
            self.thresholds = thresholds(&self.groups.rates_at(self.written));
            let next = self.groups.swaps.iter().map(|(at, _)| *at).find(|at| *at > self.written);
            let left = next.map_or(u64::MAX, |next| next - self.written);
            let count = left.min(pages.len() as u64) as usize;
            let (now, later) = pages.split_at_mut(count);
            for page in now {
                let group = pick(&self.thresholds, self.random.next_u64() >> 11);
                let (first, pages) = self.areas[group];
                *page = first + draw_below(&mut self.random, pages);
            }
            self.written += count as u64;
            pages = later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPACE: Space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };

    fn draw(spec: &str, count: usize) -> Vec<u64> {
        let mut drawn = vec![0; count];
        build(&spec.parse().unwrap(), &SPACE).unwrap().fill(&mut drawn);
        drawn
    }

    #[test]
    fn rates_change_places_at_the_exact_write() {
        let drawn = draw("swap:sizes=0.3;0.7,rates=0;1,at=1.5;2.25", 5000);
        assert!(drawn[..1500].iter().all(|page| *page >= 300));
        assert!(drawn[1500..2250].iter().all(|page| *page < 300));
        assert!(drawn[2250..].iter().all(|page| *page >= 300));
    }

    #[test]
    fn five_groups_have_their_sizes_and_rates() {
        let text = "swap:sizes=0.2;0.2;0.2;0.2;0.2,rates=0.032;0.065;0.129;0.258;0.516,\
                    at=500;1000,pair=0-4;1-2";
        let groups = Groups::new(&text.parse().unwrap(), 1000).unwrap();
        assert_eq!(groups.pages(1), 200..400);
        assert_eq!((groups.of_page(199), groups.of_page(200), groups.of_page(999)), (0, 1, 4));
        let drawn = draw(text, 1_500_000);
        for (phase, drawn) in drawn.chunks(500_000).enumerate() {
            let rates = groups.rates_at(phase as u64 * 500_000);
            for (group, rate) in rates.iter().enumerate() {
                let hits = drawn.iter().filter(|page| groups.of_page(**page) == group).count();
                let deviation = (hits as f64 / 5e5 - rate) / (rate * (1.0 - rate) / 5e5).sqrt();
                assert!(deviation.abs() < 5.0, "phase {phase}, group {group}: {hits}");
            }
        }
        let last = groups.rates_at(1_000_000);
        assert!(last[0] > 0.5 && last[4] < 0.04 && last[1] > last[2], "{last:?}");
    }

    #[test]
    fn errors_say_what_is_right() {
        for (spec, part) in [
            ("swap:sizes=0.5;0.4", "must add up to 1, not 0.9"),
            ("swap:rates=0.1;0.2;0.7", "give 2 rates"),
            ("swap:rates=0.1;x", "separated by ';'"),
            ("swap:at=2;1", "a rising list"),
            ("swap:pair=0-2", "two different groups in 0..=1"),
            ("swap:pair=0;1", "such as 0-1"),
        ] {
            let error = build(&spec.parse().unwrap(), &SPACE).err().unwrap().to_string();
            assert!(error.contains(part), "{spec}: {error}");
        }
    }
}
