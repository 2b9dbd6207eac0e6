//! Which group a page belongs to.

use super::groups::{GROUPS_MAX, Groups};
use crate::page::Drive;
use crate::page::hash::{below, hash};
use crate::registry::Setting;
use ftlab_flash::Lpn;
use ftlab_spec::{OrAuto, SpecError, Value};
use std::fmt;

/// Bits per page of a Bloom filter with 2 hashes and about 0.3 false positives.
const BITS_PER_PAGE: f64 = 2.51;

/// Fewest pages that a filter is made for.
const FILTER_PAGES_MIN: u32 = 64;

ftlab_spec::choices! {
    /// How the temperature of a page is found out.
    pub enum DetectorChoice {
        /// Two Bloom filters per group.
        Bloom = "bloom",
        /// Groups are known, as shares of the address space.
        Oracle = "oracle",
    }
}

/// Shares of the address space, in order of addresses; they sum up to 1.
#[derive(Debug, Clone, PartialEq)]
pub struct AddressShares(Vec<f64>);

impl AddressShares {
    /// The groups that the workload's oracle knows; an error if there are none, or too many.
    fn ask(setting: &Setting) -> Result<Self, SpecError> {
        let groups = setting.ask_oracle("oracle", "0.1+0.9")?;
        if groups.len() > GROUPS_MAX {
            let expects = format!(
                "possible: the workload has {} groups of pages, and there can be {GROUPS_MAX}; join \
                 some, and give their shares of the address space, as in oracle=0.1+0.9",
                groups.len()
            );
            return Err(setting.refuse("oracle", "auto", expects));
        }
        Ok(Self(groups.iter().map(|group| group.pages).collect()))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// For each share the first page after it.
    pub(crate) fn ends(&self, logical_pages: u32) -> Vec<u32> {
        let mut end = 0.0;
        let ends = self.0.iter().map(|share| {
            end += share * f64::from(logical_pages);
            end.round() as u32
        });
        ends.collect()
    }
}

impl DetectorChoice {
    /// Asks the workload for the groups, if this is an oracle that is not told of them.
    pub(crate) fn fit(
        self,
        oracle: &mut OrAuto<AddressShares>,
        setting: &Setting,
    ) -> Result<(), SpecError> {
        if self == Self::Oracle && *oracle == OrAuto::Auto {
            *oracle = OrAuto::Given(AddressShares::ask(setting)?);
        }
        Ok(())
    }

    /// The groups that are known beforehand, if this is an oracle.
    pub(crate) fn groups(self, oracle: &OrAuto<AddressShares>) -> Option<&AddressShares> {
        oracle.given().filter(|_| self == Self::Oracle)
    }
}

impl fmt::Display for AddressShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, share) in self.0.iter().enumerate() {
            write!(f, "{}{share}", if index > 0 { "+" } else { "" })?;
        }
        Ok(())
    }
}

impl Value for AddressShares {
    fn expects() -> String {
        format!("2 to {GROUPS_MAX} shares of the address space that sum up to 1, such as 0.1+0.9")
    }

    fn parse(text: &str) -> Option<Self> {
        let shares: Vec<f64> =
            text.split('+').map(|share| share.parse().ok()).collect::<Option<_>>()?;
        let sum: f64 = shares.iter().sum();
        let fits = (2..=GROUPS_MAX).contains(&shares.len())
            && shares.iter().all(|&share| share > 0.0)
            && (sum - 1.0).abs() < 1e-6;
        fits.then_some(Self(shares))
    }
}

/// Tells to which group a page goes.
pub(crate) enum Detector {
    /// One pair of filters per group.
    Bloom(Vec<FilterPair>),
    /// The first page after each group.
    Oracle(Vec<u32>),
}

impl Detector {
    /// For at most `groups` groups; those of an oracle are `known`.
    pub(crate) fn new(known: Option<&AddressShares>, groups: usize, logical_pages: u32) -> Self {
        match known {
            None => Self::Bloom((0..groups).map(|_| FilterPair::new(logical_pages)).collect()),
            Some(shares) => Self::Oracle(shares.ends(logical_pages)),
        }
    }

    /// The group that takes a page which the host writes.
    #[inline]
    pub(crate) fn host(&mut self, lpn: Lpn, groups: &Groups, drive: &Drive) -> u8 {
        match self {
            Self::Oracle(ends) => share_of(ends, lpn),
            Self::Bloom(filters) => {
                let group = drive.flash_page(lpn).map_or(groups.order()[0], |page| {
                    let present = groups.group_of(drive.block_of(page));
                    let seen = &filters[usize::from(present)];
                    let hot = seen.in_active(lpn) && seen.in_passive(lpn);
                    groups.neighbour(present, isize::from(hot))
                });
                filters[usize::from(group)].insert(lpn, groups.get(group).size());
                group
            }
        }
    }

    /// The group that takes a valid page of a victim of group `present`.
    #[inline]
    pub(crate) fn relocation(&self, lpn: Lpn, present: u8, groups: &Groups) -> u8 {
        match self {
            Self::Oracle(ends) => share_of(ends, lpn),
            Self::Bloom(filters) => {
                let seen = &filters[usize::from(present)];
                let cold = !seen.in_active(lpn) && !seen.in_passive(lpn);
                groups.neighbour(present, -isize::from(cold))
            }
        }
    }

    /// Forgets what is known of a group.
    pub(super) fn reset(&mut self, group: u8) {
        if let Self::Bloom(filters) = self {
            filters[usize::from(group)].reset();
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Bloom(filters) => filters.iter().map(FilterPair::bytes).sum(),
            Self::Oracle(ends) => size_of_val(&ends[..]),
        }
    }
}

#[inline]
fn share_of(ends: &[u32], lpn: Lpn) -> u8 {
    ends.partition_point(|&end| end <= lpn.0).min(ends.len() - 1) as u8
}

/// A Bloom filter that is being filled, and the one before it.
pub(crate) struct FilterPair {
    active: Filter,
    passive: Filter,
    /// Pages until the active filter becomes passive.
    left: u32,
}

impl FilterPair {
    fn new(pages_max: u32) -> Self {
        Self { active: Filter::new(pages_max), passive: Filter::new(pages_max), left: 0 }
    }

    #[inline]
    fn in_active(&self, lpn: Lpn) -> bool {
        self.active.contains(lpn)
    }

    #[inline]
    fn in_passive(&self, lpn: Lpn) -> bool {
        self.passive.contains(lpn)
    }

    /// Takes note of a host write to a group of `pages` pages.
    #[inline]
    fn insert(&mut self, lpn: Lpn, pages: u32) {
        if self.left == 0 {
            let pages = pages.max(FILTER_PAGES_MIN);
            std::mem::swap(&mut self.active, &mut self.passive);
            self.active.clear(pages);
            self.left = pages;
        }
        self.left -= 1;
        self.active.insert(lpn);
    }

    fn reset(&mut self) {
        self.active.clear(FILTER_PAGES_MIN);
        self.passive.clear(FILTER_PAGES_MIN);
        self.left = 0;
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.active.words[..]) + size_of_val(&self.passive.words[..])
    }
}

/// A Bloom filter with two hashes, in as many words as the number of pages calls for.
struct Filter {
    words: Vec<u64>,
    used: u32,
}

impl Filter {
    fn new(pages_max: u32) -> Self {
        Self { words: vec![0; words_for(pages_max.max(FILTER_PAGES_MIN)) as usize], used: 1 }
    }

    fn clear(&mut self, pages: u32) {
        self.used = words_for(pages).min(self.words.len() as u32);
        self.words[..self.used as usize].fill(0);
    }

    #[inline]
    fn insert(&mut self, lpn: Lpn) {
        for (word, bit) in self.places(lpn) {
            self.words[word] |= bit;
        }
    }

    #[inline]
    fn contains(&self, lpn: Lpn) -> bool {
        self.places(lpn).into_iter().all(|(word, bit)| self.words[word] & bit != 0)
    }

    #[inline]
    fn places(&self, lpn: Lpn) -> [(usize, u64); 2] {
        let hash = hash(lpn);
        let place = |half: u32| {
            let bit = below(u64::from(self.used) * 64, half);
            ((bit / 64) as usize, 1_u64 << (bit % 64))
        };
        [place((hash >> 32) as u32), place(hash as u32)]
    }
}

fn words_for(pages: u32) -> u32 {
    (f64::from(pages) * BITS_PER_PAGE / 64.0).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_forgets_nothing_and_is_wrong_three_times_in_ten() {
        let mut filter = Filter::new(20_000);
        filter.clear(10_000);
        (0..10_000).for_each(|page| filter.insert(Lpn(page * 3)));
        assert!((0..10_000).all(|page| filter.contains(Lpn(page * 3))));
        let wrong = (0..10_000).filter(|page| filter.contains(Lpn(page * 3 + 1))).count();
        assert!((2_500..3_500).contains(&wrong), "{wrong}");
    }

    #[test]
    fn a_pair_knows_the_present_and_the_last_interval() {
        let mut pair = FilterPair::new(1000);
        (0..100).for_each(|_| pair.insert(Lpn(7), 100));
        assert!(pair.in_active(Lpn(7)) && !pair.in_passive(Lpn(7)));
        pair.insert(Lpn(8), 100);
        assert!(!pair.in_active(Lpn(7)) && pair.in_passive(Lpn(7)));
    }

    #[test]
    fn shares_parse_and_print() {
        let shares = AddressShares::parse("0.1+0.9").unwrap();
        assert_eq!(shares.to_string(), "0.1+0.9");
        assert_eq!(shares.ends(65_536), [6554, 65_536]);
        let ends = shares.ends(65_536);
        assert_eq!((share_of(&ends, Lpn(6553)), share_of(&ends, Lpn(6554))), (0, 1));
        for wrong in ["1", "0.5+0.6", "0+1", "-0.5+1.5", "a+b", ""] {
            assert_eq!(AddressShares::parse(wrong), None, "{wrong}");
        }
    }
}
