//! `swap`: groups of pages with shares of the writes, two of which are swapped on the way.
//!
//! # Rule
//! Group g (from 0) is a range of pages; the groups are adjacent, in the order of `sizes`,
//! bounds rounded, each at least one page. A write goes to group g with the probability rate g,
//! and to each page of it equally likely. At write (moment i) x pages, rounded, the rates of pair i
//! change places; the pages of the groups stay.
//!
//! # What to know
//! Writes count from the first that the generator yields, warm-up included. Sums of shares from 0.999 to 1.001 are scaled to 1. Inside `mix` the groups are the same, and the moments count
//! the writes of this part only.
//!
//! # Reference
//! Dayan, Bouganim and Bonnet, 2015, section 6.1: two halves of 10% and 90% (figures 6 and 7); five
//! groups of 3.2, 6.4, 12.8, 25.6 and 51.2% (figure 8; these add up to 99.2%, so type
//! 0.032;0.065;0.129;0.258;0.516, which are multiples of 1/31).

use super::areas::{Area, Areas};
use super::divided::{Division, Plan};
use super::generator::{End, GeneratorInfo, Make};
use super::parts::shares_of_one;
use ftlab_spec::{Parameters, Spec, SpecError, Value};
use ftlab_trace::{Space, TraceError};
use std::fmt;

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
    make: Make::Areas { resolve: SwapParameters::resolve, plan },
};

fn plan(spec: &Spec, space: &Space) -> Result<Plan, TraceError> {
    let parameters = SwapParameters::from_spec(spec)?;
    let mut groups = groups(&parameters, spec, space)?;
    let mut divisions = vec![(0, groups.clone())];
    let pairs = parameters.pair.0.iter().cycle();
    for (at, (a, b)) in parameters.at.0.iter().zip(pairs) {
        let writes = groups[*a].writes;
        groups[*a].writes = std::mem::replace(&mut groups[*b].writes, writes);
        divisions.push(((at * space.logical_pages as f64).round() as u64, groups.clone()));
    }
    let told = divisions.iter().rfind(|(from, _)| *from == 0).map(|(_, groups)| groups.clone());
    Ok(Plan {
        told: told.unwrap_or_default(),
        divisions: divisions.iter().map(|(from, groups)| (*from, Division::new(groups))).collect(),
        scattered: false,
    })
}

/// The groups before the first swap, once all parameters are right.
fn groups(parameters: &SwapParameters, spec: &Spec, space: &Space) -> Result<Areas, TraceError> {
    let SwapParameters { sizes, rates, at, pair } = parameters;
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
    if space.logical_pages < count as u64 {
        return Err(TraceError::Unsupported {
            what: format!("{count} groups on a drive of {} pages", space.logical_pages),
            remedy: format!("give the drive at least {count} pages"),
        });
    }
    let mut first = 0;
    let of_group = |(end, writes)| {
        let pages = end - first;
        first = end;
        Area { pages, writes }
    };
    Ok(ends(&shares, space.logical_pages).into_iter().zip(rates).map(of_group).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sequence;

    const SPACE: Space = Space { logical_pages: 1000, page_bytes: 4096, seed: 7 };

    fn draw(spec: &str, count: usize) -> Vec<u64> {
        let mut drawn = vec![0; count];
        sequence(&spec.parse().unwrap(), &SPACE).unwrap().fill(&mut drawn);
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
        let plan = plan(&text.parse().unwrap(), &SPACE).unwrap();
        assert!(plan.told.iter().all(|group| group.pages == 200));
        let mut rates = [0.032, 0.065, 0.129, 0.258, 0.516];
        for (drawn, (a, b)) in draw(text, 1_500_000).chunks(500_000).zip([(0, 0), (0, 4), (1, 2)]) {
            rates.swap(a, b);
            for (group, rate) in (0_u64..).zip(rates) {
                let hits = drawn.iter().filter(|page| **page / 200 == group).count();
                let deviation = (hits as f64 / 5e5 - rate) / (rate * (1.0 - rate) / 5e5).sqrt();
                assert!(deviation.abs() < 5.0, "{rates:?}, group {group}: {hits}");
            }
        }
    }

    #[test]
    fn what_is_swapped_at_once_is_told() {
        let plan = plan(&"swap:at=0".parse().unwrap(), &SPACE).unwrap();
        assert_eq!(plan.told.iter().map(|group| group.writes).collect::<Vec<_>>(), [0.9, 0.1]);
        assert!(draw("swap:at=0,rates=0;1", 1000).iter().all(|page| *page < 500));
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
            let error = sequence(&spec.parse().unwrap(), &SPACE).err().unwrap().to_string();
            assert!(error.contains(part), "{spec}: {error}");
        }
    }
}
