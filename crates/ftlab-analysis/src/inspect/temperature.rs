//! Hot, warm and cold pages, by mean write interval against a log window (FASTer, section III).

use crate::{Intervals, PageTable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hot, warm and cold pages.
///
/// A log of `window_pages` keeps a page for that many page writes. Pages with a shorter mean
/// interval are hot: they are mostly written again before, and no merge is needed for them. A
/// second chance doubles the window; warm pages are those that it saves. All others are cold, those
/// written once among them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Temperature {
    /// Page writes that the log absorbs.
    pub window_pages: u64,
    /// Pages with a mean write interval below the window.
    pub hot: TemperatureClass,
    /// Pages with one below twice the window.
    pub warm: TemperatureClass,
    /// All others.
    pub cold: TemperatureClass,
    /// Share of all page writes, in 0..=1, whose own interval is below the window: the version that
    /// they replace is still in the log.
    pub writes_within_window: f64,
    /// Pages written more than once by mean interval, in powers of two; empty bins at either end
    /// are left out.
    pub bins: Vec<TemperatureBin>,
}

/// Pages of one temperature.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemperatureClass {
    /// How many.
    pub pages: u64,
    /// Page writes that go to them.
    pub writes: u64,
}

/// Pages with a mean write interval of at least `from` and below twice that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TemperatureBin {
    /// A power of two, in page writes.
    pub from: u64,
    /// How many pages.
    pub pages: u64,
    /// Page writes that go to them.
    pub writes: u64,
}

impl Temperature {
    /// That of the pages of a table whose write intervals are these.
    pub fn of(table: &PageTable, intervals: &Intervals, window_pages: u64) -> Self {
        let window = window_pages as f64;
        let mut bins = [TemperatureClass::default(); 64];
        let mut found = Self { window_pages, ..Self::default() };
        for page in table.pages().filter(|page| page.writes > 0) {
            let class = match page.mean_interval() {
                Some(mean) if mean < window => &mut found.hot,
                Some(mean) if mean < 2.0 * window => &mut found.warm,
                _ => &mut found.cold,
            };
            class.add(page.writes);
            if let Some(mean) = page.mean_interval() {
                bins[(mean as u64).max(1).ilog2() as usize].add(page.writes);
            }
        }
        let within = intervals.count_below(window_pages) as f64;
        found.writes_within_window = within / table.counts().page_writes.max(1) as f64;
        let used = |bin: &TemperatureClass| bin.pages > 0;
        if let (Some(first), Some(last)) = (bins.iter().position(used), bins.iter().rposition(used))
        {
            let bin = |(power, bin): (usize, &TemperatureClass)| TemperatureBin {
                from: 1 << power,
                pages: bin.pages,
                writes: bin.writes,
            };
            found.bins = bins.iter().enumerate().take(last + 1).skip(first).map(bin).collect();
        }
        found
    }
}

impl TemperatureClass {
    fn add(&mut self, writes: u32) {
        self.pages += 1;
        self.writes += u64::from(writes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn observe(pages: &[u64]) -> (PageTable, Intervals) {
        let mut intervals = Intervals::default();
        let table = PageTable::observed_by(&mut intervals, pages.iter().copied());
        (table, intervals)
    }

    proptest! {
        #[test]
        fn classes_equal_those_of_lists_of_intervals(
            pages in prop::collection::vec(prop_oneof![0u64..4, 0u64..40, 0u64..1000], 0..400),
            window in 1u64..200,
        ) {
            let (table, intervals) = observe(&pages);
            let found = Temperature::of(&table, &intervals, window);
            let mut places = BTreeMap::<u64, Vec<usize>>::new();
            for (index, page) in pages.iter().enumerate() {
                places.entry(*page).or_default().push(index);
            }
            let mut expected = [TemperatureClass::default(); 3];
            let mut within = 0;
            for places in places.values() {
                let own: Vec<_> = places.windows(2).map(|pair| (pair[1] - pair[0]) as u64).collect();
                within += own.iter().filter(|interval| **interval < window).count();
                // Whole numbers, so that nothing is rounded.
                let (sum, count) = (own.iter().sum::<u64>(), own.len() as u64);
                let class = if count > 0 && sum < window * count {
                    0
                } else if count > 0 && sum < 2 * window * count {
                    1
                } else {
                    2
                };
                expected[class].add(places.len() as u32);
            }
            prop_assert_eq!([found.hot, found.warm, found.cold], expected);
            let share = within as f64 / pages.len().max(1) as f64;
            prop_assert!((found.writes_within_window - share).abs() < 1e-12);
            let binned: u64 = found.bins.iter().map(|bin| bin.pages).sum();
            prop_assert_eq!(binned, places.values().filter(|places| places.len() > 1).count() as u64);
        }
    }

    #[test]
    fn a_loop_over_the_pages_has_one_interval() {
        let pages: Vec<u64> = (0..5000).map(|index| index % 100).collect();
        let (table, intervals) = observe(&pages);
        let at = |window| Temperature::of(&table, &intervals, window);
        assert_eq!(at(101).hot, TemperatureClass { pages: 100, writes: 5000 });
        assert_eq!(at(100).warm.pages, 100);
        assert_eq!(at(50).cold.pages, 100);
        assert_eq!(at(50).bins, [TemperatureBin { from: 64, pages: 100, writes: 5000 }]);
    }
}
