//! Write intervals: how soon pages are written again (FASTer, figure 2c).

use crate::{Analysis, PageWrite};
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::hint::black_box;

/// Intervals up to 2^18 are counted apart, longer ones to five digits.
const DIGITS: u8 = 5;

/// Multiples of the drive that a summary tells the share of shorter intervals for.
const DRIVES: [f64; 5] = [0.01, 0.1, 0.5, 1.0, 2.0];

/// The distribution of write intervals.
///
/// The interval of a page write is the number of page writes to the drive since the last write of
/// the same page, itself included: 1 if nothing was written in between (FASTer counts the others
/// only, one less). The first write of a page has none. Memory depends on the longest interval
/// only: 2 MiB up to 2^18 page writes, and 1 MiB for each doubling.
#[derive(Debug, Clone)]
pub struct Intervals {
    histogram: Histogram<u64>,
    max: u64,
}

impl Default for Intervals {
    fn default() -> Self {
        let histogram = Histogram::new(DIGITS).expect("five digits are allowed");
        Self { histogram, max: 0 }
    }
}

impl Analysis for Intervals {
    type Report = Self;

    fn page_writes(&mut self, writes: &[PageWrite]) {
        let intervals = || writes.iter().filter_map(PageWrite::interval);
        // Reading the counts first lets the processor wait for many of them at once.
        let read = intervals().fold(0, |read, interval| read ^ self.histogram.count_at(interval));
        black_box(read);
        for interval in intervals() {
            self.add(interval);
        }
    }

    fn finish(self) -> Self {
        self
    }
}

impl Intervals {
    #[inline]
    fn add(&mut self, interval: u64) {
        self.max = self.max.max(interval);
        self.histogram.record(interval).expect("it grows with its values");
    }

    /// How many there are: page writes that are not the first of their page.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// The interval that `share` of the intervals, in 0..=1, do not exceed; exact up to 2^18, above
    /// that up to a hundred-thousandth too large. 0 without intervals.
    pub fn quantile(&self, share: f64) -> u64 {
        self.histogram.value_at_quantile(share).min(self.max)
    }

    /// Share of the intervals shorter than `page_writes`, as exact as [`quantile`](Self::quantile).
    pub fn share_below(&self, page_writes: u64) -> f64 {
        self.count_below(page_writes) as f64 / self.count().max(1) as f64
    }

    /// The number of intervals shorter than `page_writes`.
    pub fn count_below(&self, page_writes: u64) -> u64 {
        match page_writes {
            0 => 0,
            _ if page_writes > self.max => self.count(),
            _ => self.histogram.count_between(0, page_writes - 1),
        }
    }

    /// The distribution for a drive of this many pages.
    pub fn summary(&self, drive_pages: u64) -> IntervalSummary {
        let quantile = |percent: u32| {
            let share = f64::from(percent) / 100.0;
            IntervalQuantile { share, page_writes: self.quantile(share) }
        };
        let below = |drives: f64| {
            let page_writes = (drives * drive_pages as f64).ceil() as u64;
            IntervalShare { drives, share: self.share_below(page_writes) }
        };
        IntervalSummary {
            count: self.count(),
            mean: self.histogram.mean(),
            quantiles: match self.count() {
                0 => Vec::new(),
                _ => (1..=100).map(quantile).collect(),
            },
            below: DRIVES.map(below).to_vec(),
        }
    }
}

/// Write intervals: page writes to the drive from one write of a page to the next.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalSummary {
    /// How many there are: page writes that are not the first of their page.
    pub count: u64,
    /// Their mean; 0 if there are none.
    pub mean: f64,
    /// At every percent; empty if there are none. Exact up to 2^18, above that to five digits.
    pub quantiles: Vec<IntervalQuantile>,
    /// Shares of shorter intervals, for multiples of the drive.
    pub below: Vec<IntervalShare>,
}

/// A quantile of the write intervals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalQuantile {
    /// Share of the intervals, in 0..=1.
    pub share: f64,
    /// They are at most so long.
    pub page_writes: u64,
}

/// How many write intervals are shorter than a multiple of the drive.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalShare {
    /// Page writes in sizes of the drive.
    pub drives: f64,
    /// Share of the intervals that are shorter, in 0..=1.
    pub share: f64,
}

impl IntervalSummary {
    /// The interval that `percent` of the intervals do not exceed, for 1 to 100; `None` without
    /// intervals.
    pub fn percentile(&self, percent: usize) -> Option<u64> {
        let place = percent.checked_sub(1)?;
        self.quantiles.get(place).map(|quantile| quantile.page_writes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        // Long intervals take megabytes.
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn quantiles_and_shares_equal_a_sorted_list(
            list in prop::collection::vec(
                prop_oneof![1u64..10, 1u64..300_000, 1u64..(1 << 34)], 1..200),
        ) {
            let mut list = list;
            let mut intervals = Intervals::default();
            for interval in &list {
                intervals.add(*interval);
            }
            list.sort_unstable();
            let summary = intervals.summary(1000);
            for percent in [1, 5, 50, 99, 100] {
                let rank = (list.len() * percent).div_ceil(100);
                let exact = list[rank - 1];
                let found = summary.percentile(percent).unwrap();
                prop_assert!(found >= exact && found - exact <= exact / 100_000, "{found} {exact}");
                prop_assert!(found == exact || exact >= 1 << 18);
            }
            for limit in [1, 5, 1000, 200_000] {
                let expected = list.iter().filter(|interval| **interval < limit).count();
                prop_assert_eq!(intervals.count_below(limit), expected as u64);
            }
            let mean = list.iter().sum::<u64>() as f64 / list.len() as f64;
            prop_assert!((summary.mean - mean).abs() <= 1e-5 * mean);
        }
    }

    #[test]
    fn nothing_has_no_quantiles() {
        let summary = Intervals::default().summary(100);
        assert_eq!((summary.count, summary.percentile(50)), (0, None));
        assert!(summary.below.iter().all(|below| below.share == 0.0));
    }
}
