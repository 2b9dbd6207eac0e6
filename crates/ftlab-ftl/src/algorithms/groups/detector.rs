//! Which group a page belongs to.

use crate::algorithms::groups::group::{GROUPS_MAX, Groups};
use crate::algorithms::tools::hash::{below, hash};
use crate::memory::prefetch;
use crate::page::DriveState;
use crate::page::entry::FitContext;
use crate::state::state;
use crate::{Archive, Metadata, State, StateError};
use ftlab_flash::Lpn;
use ftlab_spec::{OrAuto, SpecError, Value};
use std::fmt;
use std::hint::select_unpredictable;

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
    fn ask(context: &FitContext) -> Result<Self, SpecError> {
        let groups = context.ask_oracle("oracle", "0.1+0.9")?;
        if groups.len() > GROUPS_MAX {
            let expects = format!(
                "possible: the workload has {} groups of pages, and there can be {GROUPS_MAX}; join \
                 some, and give their shares of the address space, as in oracle=0.1+0.9",
                groups.len()
            );
            return Err(context.refuse("oracle", &"auto", expects));
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
        context: &FitContext,
    ) -> Result<(), SpecError> {
        if self == Self::Oracle && *oracle == OrAuto::Auto {
            *oracle = OrAuto::Given(AddressShares::ask(context)?);
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

/// Two of an oracle's shares, counted from 0; a number beyond the last means the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharePair(pub(crate) usize, pub(crate) usize);

impl fmt::Display for SharePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.0, self.1)
    }
}

impl Value for SharePair {
    fn expects() -> String {
        format!(
            "two of the oracle's shares, counted from 0, such as 0-1; at most {}",
            GROUPS_MAX - 1
        )
    }

    fn parse(text: &str) -> Option<Self> {
        let (first, second) = text.split_once('-')?;
        let pair = Self(first.parse().ok()?, second.parse().ok()?);
        (pair.0 != pair.1 && pair.0.max(pair.1) < GROUPS_MAX).then_some(pair)
    }
}

/// Tells to which group a page goes.
pub enum Detector {
    /// One pair of filters per group.
    Bloom(Vec<FilterPair>),
    /// What is known.
    Oracle(Oracle),
}

impl State for Detector {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        match self {
            Self::Bloom(pairs) => pairs.transfer(archive),
            Self::Oracle(oracle) => oracle.transfer(archive),
        }
    }
}

impl Detector {
    /// For at most `groups` groups; those of an oracle are `known`.
    pub(crate) fn new(known: Option<&AddressShares>, groups: usize, logical_pages: u32) -> Self {
        match known {
            None => Self::Bloom((0..groups).map(|_| FilterPair::new(logical_pages)).collect()),
            Some(shares) => Self::Oracle(Oracle::new(shares, logical_pages)),
        }
    }

    /// Fetches what tells whether a page of group `present` stays there.
    #[inline]
    pub(crate) fn fetch_ahead(&self, lpn: Lpn, present: u8) {
        if let Self::Bloom(filters) = self {
            let key = Key::of(lpn);
            filters[usize::from(present)].active.fetch_ahead(key);
            filters[usize::from(present)].passive.fetch_ahead(key);
        }
    }

    /// The group that takes a page which the host writes.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(crate) fn host(&mut self, lpn: Lpn, groups: &Groups, drive: &DriveState) -> u8 {
        match self {
            Self::Oracle(oracle) => oracle.group(lpn),
            Self::Bloom(filters) => {
                let key = Key::of(lpn);
                let group = if let Some(page) = drive.flash_page(lpn) {
                    let present = groups.group_of(drive.block_of(page));
                    let seen = &filters[usize::from(present)];
                    // No branches here and below: what filters say, the processor cannot guess.
                    let hot = seen.active.contains(key) & seen.passive.contains(key);
                    select_unpredictable(hot, groups.hotter(present), present)
                } else {
                    groups.order()[0]
                };
                filters[usize::from(group)].insert(key, groups.get(group).size());
                group
            }
        }
    }

    /// The group that takes a valid page of a victim of group `present`.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(crate) fn relocation(&self, lpn: Lpn, present: u8, groups: &Groups) -> u8 {
        match self {
            Self::Oracle(oracle) => oracle.group(lpn),
            Self::Bloom(filters) => {
                let key = Key::of(lpn);
                let seen = &filters[usize::from(present)];
                let cold = !seen.active.contains(key) & !seen.passive.contains(key);
                select_unpredictable(cold, groups.colder(present), present)
            }
        }
    }

    /// Forgets what is known of a group.
    pub(super) fn reset(&mut self, group: u8) {
        if let Self::Bloom(filters) = self {
            filters[usize::from(group)].reset();
        }
    }

    /// Two filters that are as large as their group, wherever its pages are.
    pub(crate) fn metadata(&self) -> Metadata {
        match self {
            Self::Bloom(_) => Metadata::per_page(2.0 * BITS_PER_PAGE),
            Self::Oracle(oracle) => Metadata::fixed(4 * oracle.ends.len() as u64),
        }
    }

    /// Lets an oracle's first share be the last group, its last one the first.
    pub(crate) fn reverse(&mut self) {
        if let Self::Oracle(oracle) = self {
            oracle.groups.reverse();
        }
    }

    /// Lets an oracle's pages of two shares change groups.
    pub(crate) fn swap(&mut self, shares: SharePair) {
        if let Self::Oracle(oracle) = self {
            let last = oracle.groups.len() - 1;
            oracle.groups.swap(shares.0.min(last), shares.1.min(last));
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Bloom(filters) => filters.iter().map(FilterPair::bytes).sum(),
            Self::Oracle(oracle) => size_of_val(&oracle.ends[..]),
        }
    }
}

/// Shares of the address space, each a group.
pub struct Oracle {
    /// The first page after each share.
    ends: Vec<u32>,
    /// The group of each share.
    groups: Vec<u8>,
}

state!(Oracle { groups } constant ends);

impl Oracle {
    fn new(shares: &AddressShares, logical_pages: u32) -> Self {
        Self { ends: shares.ends(logical_pages), groups: (0..shares.count() as u8).collect() }
    }

    #[inline]
    fn group(&self, lpn: Lpn) -> u8 {
        let last = self.ends.len() - 1;
        let share = self.ends[..last].iter().filter(|&&end| end <= lpn.0).count();
        self.groups[share]
    }
}

/// Where to look for a page in any filter: a part of its words, and the bits of a word.
#[derive(Clone, Copy)]
struct Key {
    place: u32,
    bits: u64,
}

impl Key {
    #[inline]
    fn of(lpn: Lpn) -> Self {
        let hash = hash(lpn);
        Self { place: (hash >> 32) as u32, bits: 1 << (hash & 63) | 1 << (hash >> 6 & 63) }
    }
}

/// A Bloom filter that is being filled, and the one before it.
pub struct FilterPair {
    active: Filter,
    passive: Filter,
    /// Pages until the active filter becomes passive.
    left: u32,
}

state!(FilterPair { active, passive, left });

impl FilterPair {
    fn new(pages_max: u32) -> Self {
        Self { active: Filter::new(pages_max), passive: Filter::new(pages_max), left: 0 }
    }

    /// Takes note of a host write to a group of `pages` pages.
    #[inline]
    fn insert(&mut self, key: Key, pages: u32) {
        if self.left == 0 {
            self.next(pages);
        }
        self.left -= 1;
        self.active.insert(key);
    }

    #[cold]
    fn next(&mut self, pages: u32) {
        let pages = pages.max(FILTER_PAGES_MIN);
        std::mem::swap(&mut self.active, &mut self.passive);
        self.active.clear(pages);
        self.left = pages;
    }

    fn reset(&mut self) {
        self.active.clear(FILTER_PAGES_MIN);
        self.passive.clear(FILTER_PAGES_MIN);
        self.left = 0;
    }

    fn bytes(&self) -> usize {
        let words = self.active.words.capacity() + self.passive.words.capacity();
        words * size_of::<u64>()
    }
}

/// A Bloom filter with two hashes, in as many words as its number of pages calls for.
///
/// Both bits of a page are in one word: one access to memory tells. At this filling that adds less than
/// 0.01 to the false positives.
struct Filter {
    words: Vec<u64>,
}

state!(Filter { words });

impl Filter {
    /// An empty filter that can grow to `pages_max` pages.
    fn new(pages_max: u32) -> Self {
        let mut words = Vec::with_capacity(words_for(pages_max.max(FILTER_PAGES_MIN)));
        words.push(0);
        Self { words }
    }

    /// Empties the filter and makes it one for `pages` pages.
    fn clear(&mut self, pages: u32) {
        self.words.clear();
        self.words.resize(words_for(pages), 0);
    }

    #[inline]
    fn insert(&mut self, key: Key) {
        let word = self.word(key);
        self.words[word] |= key.bits;
    }

    #[inline]
    fn contains(&self, key: Key) -> bool {
        self.words[self.word(key)] & key.bits == key.bits
    }

    #[inline]
    fn fetch_ahead(&self, key: Key) {
        prefetch(&self.words, self.word(key));
    }

    #[inline]
    fn word(&self, key: Key) -> usize {
        below(self.words.len() as u64, key.place) as usize
    }
}

fn words_for(pages: u32) -> usize {
    (f64::from(pages) * BITS_PER_PAGE / 64.0).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_forgets_nothing_and_is_wrong_three_times_in_ten() {
        let mut filter = Filter::new(20_000);
        // Runs of pages, pages far apart, and pages at random.
        for page in [|i: u32| i, |i: u32| 1000 * i, |i: u32| i.wrapping_mul(0x85EB_CA6B) >> 7] {
            let key = |i| Key::of(Lpn(page(i)));
            filter.clear(10_000);
            (0..10_000).for_each(|i| filter.insert(key(i)));
            assert!((0..10_000).all(|i| filter.contains(key(i))));
            let wrong = (10_000..20_000).filter(|&i| filter.contains(key(i))).count();
            println!("{wrong} wrong of 10,000");
            assert!((2_700..3_300).contains(&wrong), "{wrong}");
        }
    }

    #[test]
    fn a_pair_knows_the_present_and_the_last_interval() {
        let mut pair = FilterPair::new(1000);
        let [page, other] = [7, 8].map(|page| Key::of(Lpn(page)));
        (0..100).for_each(|_| pair.insert(page, 100));
        assert!(pair.active.contains(page) && !pair.passive.contains(page));
        pair.insert(other, 100);
        assert!(!pair.active.contains(page) && pair.passive.contains(page));
    }

    #[test]
    fn shares_parse_and_print() {
        let shares = AddressShares::parse("0.1+0.9").unwrap();
        assert_eq!(shares.to_string(), "0.1+0.9");
        assert_eq!(shares.ends(65_536), [6554, 65_536]);
        assert_eq!(SharePair::parse("0-4"), Some(SharePair(0, 4)));
        for wrong in ["0", "1-1", "0-16", "a-b", "-1-2"] {
            assert_eq!(SharePair::parse(wrong), None, "{wrong}");
        }
        for wrong in ["1", "0.5+0.6", "0+1", "-0.5+1.5", "a+b", ""] {
            assert_eq!(AddressShares::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_oracle_knows_the_share_of_a_page() {
        let mut oracle = Oracle::new(&AddressShares(vec![0.1, 0.2, 0.7]), 1000);
        let groups = |oracle: &Oracle| [0, 99, 100, 300, 999].map(|page| oracle.group(Lpn(page)));
        assert_eq!(groups(&oracle), [0, 0, 1, 2, 2]);
        oracle.groups.swap(0, 2);
        assert_eq!(groups(&oracle), [2, 2, 1, 0, 0]);
    }
}
