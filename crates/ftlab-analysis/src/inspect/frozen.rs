//! Frozen pages over time (2R, figure 2).

use crate::PageTable;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Points of the series.
const POINTS: u64 = 100;

/// How many of the pages are frozen at a point of the part that is looked at: written before, and
/// not again until its end.
///
/// Towards the end every page looks frozen, because what comes later is not known: a workload that
/// writes all pages for ever, such as fio's zipf, shows how much of it that is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FrozenPoint {
    /// Share of the page writes that came before, in 0..=1.
    pub time: f64,
    /// Pages written before, trimmed or not.
    pub written_pages: u64,
    /// Pages of them that are not written again.
    pub frozen_pages: u64,
    /// The frozen ones as a share of the written ones, in 0..=1; 0 if there are none.
    pub share: f64,
}

/// The series at every percent of the page writes; empty if there are none.
pub fn frozen(table: &PageTable) -> Vec<FrozenPoint> {
    let page_writes = table.counts().page_writes;
    if page_writes == 0 {
        return Vec::new();
    }
    let time = Time { page_writes };
    let mut first_writes = [0; POINTS as usize + 1];
    let mut last_writes = [0; POINTS as usize + 1];
    for page in table.pages().filter(|page| page.writes > 0) {
        first_writes[time.point_after(page.first)] += 1;
        last_writes[time.point_after(page.last)] += 1;
    }
    let (mut written_pages, mut frozen_pages) = (0, 0);
    let mut points = Vec::with_capacity(POINTS as usize);
    for point in 1..=POINTS as usize {
        written_pages += first_writes[point];
        frozen_pages += last_writes[point];
        points.push(FrozenPoint {
            time: point as f64 / POINTS as f64,
            written_pages,
            frozen_pages,
            share: if written_pages == 0 {
                0.0
            } else {
                frozen_pages as f64 / written_pages as f64
            },
        });
    }
    points
}

struct Time {
    page_writes: u64,
}

impl Time {
    /// Page writes before a point.
    fn before(&self, point: u64) -> u64 {
        (u128::from(point) * u128::from(self.page_writes) / u128::from(POINTS)) as u64
    }

    /// The first point after the write with this index.
    fn point_after(&self, index: u64) -> usize {
        let share = index as f64 / self.page_writes as f64;
        let mut point = (share * POINTS as f64) as u64;
        // One step or two, because points lie at whole numbers of writes.
        while self.before(point) <= index {
            point += 1;
        }
        point as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Footprint;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn table(pages: impl IntoIterator<Item = u64>) -> PageTable {
        PageTable::observed_by(&mut Footprint::default(), pages)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        #[test]
        fn frozen_pages_equal_those_of_the_definition(
            pages in prop::collection::vec(prop_oneof![0u64..5, 0u64..500], 1..700),
        ) {
            let table = table(pages.iter().copied());
            let found = frozen(&table);
            prop_assert_eq!(found.len(), 100);
            for (percent, point) in (1..=100).zip(found) {
                let (before, after) = pages.split_at(percent * pages.len() / 100);
                let written: BTreeSet<_> = before.iter().collect();
                let later: BTreeSet<_> = after.iter().collect();
                prop_assert_eq!(point.written_pages, written.len() as u64);
                prop_assert_eq!(point.frozen_pages, written.difference(&later).count() as u64);
            }
        }
    }

    #[test]
    fn pages_written_in_order_freeze_at_once() {
        assert!(frozen(&table([])).is_empty());
        let table = table(0..1000);
        assert!(frozen(&table).iter().all(|point| point.frozen_pages == point.written_pages));
    }
}
