//! How often pages are written: the skew of a workload, and its update histogram.

use super::PageTable;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How many pages are written how often.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WriteCounts {
    /// (writes, pages written so often), the most writes first; no zeros.
    groups: Vec<(u32, u64)>,
    pages: u64,
    writes: u64,
    /// Pages that were written before the part, and not in it.
    never: u64,
}

/// Few pages are written more often than that.
const DENSE: usize = 1024;

/// Bins of an update histogram at most, as in the figure of Wolf's paper.
const BINS_MAX: u32 = 300;

/// Share of the pages that the bins must hold.
const BINNED: f64 = 0.99;

impl WriteCounts {
    /// Those of the pages of a table.
    pub fn of(table: &PageTable) -> Self {
        Self::of_pages(table.pages().map(|page| page.writes))
    }

    /// Those of pages that are written so often each; 0 for one that was written before the part only.
    pub fn of_pages(pages: impl Iterator<Item = u32>) -> Self {
        let mut dense = [0_u64; DENSE];
        let mut sparse = FxHashMap::<u32, u64>::default();
        for writes in pages {
            match dense.get_mut(writes as usize) {
                Some(pages) => *pages += 1,
                None => *sparse.entry(writes).or_default() += 1,
            }
        }
        let never = std::mem::take(&mut dense[0]);
        let dense = (0..).zip(dense).filter(|(_, pages)| *pages > 0);
        let mut groups: Vec<_> = dense.chain(sparse).collect();
        groups.sort_unstable_by(|a, b| b.cmp(a));
        let pages = groups.iter().map(|(_, pages)| pages).sum();
        let writes = groups.iter().map(|(writes, pages)| u64::from(*writes) * pages).sum();
        Self { groups, pages, writes, never }
    }

    /// Pages written at least once.
    pub fn pages(&self) -> u64 {
        self.pages
    }

    /// The share of the writes, in 0..=1, that goes to the most-written `share` of the pages, which
    /// is rounded down to whole pages, at least one.
    pub fn share_of_top(&self, share: f64) -> f64 {
        let mut left = ((self.pages as f64 * share) as u64).max(1);
        let mut top = 0;
        for (writes, pages) in &self.groups {
            let taken = left.min(*pages);
            top += u64::from(*writes) * taken;
            left -= taken;
        }
        if self.writes == 0 { 0.0 } else { top as f64 / self.writes as f64 }
    }

    /// The number of writes that `share` of the pages, in 0..=1, do not exceed; 0 without pages.
    pub fn quantile(&self, share: f64) -> u32 {
        let rank = ((self.pages as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        for (writes, pages) in self.groups.iter().rev() {
            seen += pages;
            if seen >= rank {
                return *writes;
            }
        }
        0
    }

    /// The skew curve, at 0.1% to 1% and at every percent of the pages.
    pub fn skew(&self) -> Skew {
        let tenths = (1..10).map(|tenth| f64::from(tenth) / 1000.0);
        let shares = tenths.chain((1..=100).map(|percent| f64::from(percent) / 100.0));
        let point = |pages| SkewPoint { pages, writes: self.share_of_top(pages) };
        Skew {
            top_1_percent: self.share_of_top(0.01),
            top_10_percent: self.share_of_top(0.1),
            top_20_percent: self.share_of_top(0.2),
            top_50_percent: self.share_of_top(0.5),
            curve: if self.pages == 0 { Vec::new() } else { shares.map(point).collect() },
        }
    }

    /// The update histogram.
    pub fn updates(&self) -> Updates {
        let bin_writes = self.quantile(BINNED).div_ceil(BINS_MAX).max(1);
        let mut bins = Vec::new();
        let mut beyond_pages = 0;
        for (writes, pages) in self.groups.iter().rev() {
            let bin = (writes - 1) / bin_writes;
            if bin < BINS_MAX {
                bins.resize(bin as usize + 1, 0);
                bins[bin as usize] += pages;
            } else {
                beyond_pages += pages;
            }
        }
        let once = self.groups.last().filter(|(writes, _)| *writes == 1);
        Updates {
            never_pages: self.never,
            once_pages: once.map_or(0, |(_, pages)| *pages),
            mean: if self.pages == 0 { 0.0 } else { self.writes as f64 / self.pages as f64 },
            median: self.quantile(0.5),
            max: self.groups.first().map_or(0, |(writes, _)| *writes),
            bin_writes,
            bins,
            beyond_pages,
            over_300_pages: self
                .groups
                .iter()
                .filter(|(writes, _)| *writes > 301)
                .map(|(_, pages)| pages)
                .sum(),
        }
    }
}

/// How unequally the page writes are spread over the pages written at all (2R, figure 1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Skew {
    /// Share of the page writes, in 0..=1, that goes to the most-written 1% of the pages, which is
    /// rounded down to whole pages, at least one.
    pub top_1_percent: f64,
    /// Share of the writes that go to the most-written 10% of the pages.
    pub top_10_percent: f64,
    /// Share of the writes that go to the most-written 20% of the pages.
    pub top_20_percent: f64,
    /// Share of the writes that go to the most-written half of the pages.
    pub top_50_percent: f64,
    /// The whole curve, at 0.1% to 1% of the pages and at every percent; empty without page writes.
    pub curve: Vec<SkewPoint>,
}

/// A point of the skew curve.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SkewPoint {
    /// Share of the pages written at all, the most-written ones, in 0..=1.
    pub pages: f64,
    /// Share of the page writes that goes to them.
    pub writes: f64,
}

/// How often pages are written (Wolf, figure 9).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Updates {
    /// Pages that were written before the part that is looked at, and not in it.
    pub never_pages: u64,
    /// Pages written once.
    pub once_pages: u64,
    /// Writes of a page written at all, on average.
    pub mean: f64,
    /// Half of the pages written at all are written at most so often.
    pub median: u32,
    /// Writes of the most-written page.
    pub max: u32,
    /// Width of a bin.
    pub bin_writes: u32,
    /// Pages by writes: the first bin has those with 1 to `bin_writes` writes, the next with up to
    /// twice that. At most 300 bins, which hold 99% of the pages or more.
    pub bins: Vec<u64>,
    /// Pages with more writes than the bins have a place for.
    pub beyond_pages: u64,
    /// Pages written more than 301 times, that is updated more than 300 times: those that the figure
    /// leaves out.
    pub over_300_pages: u64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Footprint;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn table(writes: &[(u64, u64)]) -> PageTable {
        let pages = writes.iter().flat_map(|(first, pages)| *first..first + pages);
        PageTable::observed_by(&mut Footprint::default(), pages)
    }

    proptest! {
        #[test]
        fn skew_and_updates_equal_a_sorted_list(
            runs in prop::collection::vec((0u64..500, 1u64..300), 0..60),
            hot in 0u64..3000,
        ) {
            let mut runs = runs;
            runs.extend((0..hot).map(|_| (7, 1)));
            let counts = WriteCounts::of(&table(&runs));
            let mut map = BTreeMap::<u64, u32>::new();
            for (first, pages) in &runs {
                for page in *first..first + pages {
                    *map.entry(page).or_default() += 1;
                }
            }
            let mut list: Vec<u32> = map.values().copied().collect();
            list.sort_unstable_by(|a, b| b.cmp(a));
            let total: u64 = list.iter().map(|writes| u64::from(*writes)).sum();
            prop_assert_eq!(counts.pages(), list.len() as u64);
            for share in [0.001, 0.01, 0.25, 0.5, 1.0] {
                let pages = ((list.len() as f64 * share) as usize).max(1);
                let top: u64 = list.iter().take(pages).map(|writes| u64::from(*writes)).sum();
                let expected = if total == 0 { 0.0 } else { top as f64 / total as f64 };
                prop_assert!((counts.share_of_top(share) - expected).abs() < 1e-12);
                let rank = (list.len() as f64 * share).ceil() as usize;
                let expected = list.len().checked_sub(rank).and_then(|at| list.get(at));
                prop_assert_eq!(counts.quantile(share), expected.copied().unwrap_or(0));
            }
            let updates = counts.updates();
            prop_assert_eq!(updates.once_pages, list.iter().filter(|w| **w == 1).count() as u64);
            let often = list.iter().filter(|w| **w > 301).count() as u64;
            prop_assert_eq!(updates.over_300_pages, often);
            prop_assert_eq!(updates.max, list.first().copied().unwrap_or(0));
            for (bin, pages) in updates.bins.iter().enumerate() {
                let from = bin as u32 * updates.bin_writes;
                let range = from + 1..=from + updates.bin_writes;
                let expected = list.iter().filter(|writes| range.contains(writes)).count();
                prop_assert_eq!(*pages, expected as u64);
            }
            let binned: u64 = updates.bins.iter().sum();
            prop_assert_eq!(binned + updates.beyond_pages, list.len() as u64);
            prop_assert!(updates.beyond_pages * 100 <= list.len() as u64);
        }
    }

    #[test]
    fn skew_is_the_share_of_the_most_written() {
        let mut runs = vec![(0, 100)];
        runs.extend((0..100).map(|_| (7, 1)));
        let skew = WriteCounts::of(&table(&runs)).skew();
        assert!((skew.top_1_percent - 101.0 / 200.0).abs() < 1e-12);
        assert!((skew.top_10_percent - 110.0 / 200.0).abs() < 1e-12);
        assert_eq!(skew.curve.len(), 109);
        assert_eq!(skew.curve[108], SkewPoint { pages: 1.0, writes: 1.0 });
        assert_eq!(WriteCounts::default().skew(), Skew::default());
    }

    #[test]
    fn bins_widen_until_they_hold_almost_everything() {
        let runs: Vec<_> = (0..3000).map(|_| (0, 10)).chain([(0, 100)]).collect();
        let updates = WriteCounts::of(&table(&runs)).updates();
        assert_eq!((updates.bin_writes, updates.bins.len()), (11, 273));
        assert_eq!((updates.bins[0], updates.bins[272], updates.beyond_pages), (90, 10, 0));
        assert_eq!((updates.median, updates.max, updates.once_pages), (1, 3001, 90));
    }
}
