//! How the footprint grows.

use crate::{Analysis, Counts, PageWrite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Points of the series at most, besides its end.
const POINTS_MAX: usize = 256;

/// Pages that are used, over time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FootprintPoint {
    /// Page writes so far.
    pub page_writes: u64,
    /// Different pages among them.
    pub written_pages: u64,
    /// Pages that hold data: written, in the part that is looked at or before it, and not trimmed
    /// since.
    pub holding_pages: u64,
}

impl From<Counts> for FootprintPoint {
    fn from(counts: Counts) -> Self {
        Self {
            page_writes: counts.page_writes,
            written_pages: counts.distinct_pages,
            holding_pages: counts.holding_pages,
        }
    }
}

/// Samples the footprint at even distances, which double whenever there are too many points.
#[derive(Debug, Clone)]
pub struct Footprint {
    points: Vec<FootprintPoint>,
    step: u64,
    /// Page writes at the next point.
    next: u64,
}

impl Default for Footprint {
    fn default() -> Self {
        Self { points: Vec::with_capacity(POINTS_MAX), step: 1, next: 1 }
    }
}

impl Analysis for Footprint {
    type Report = Self;

    fn page_writes(&mut self, writes: &[PageWrite]) {
        let Some(first) = writes.first() else { return };
        // The place of the next point in this block; most often it is far beyond it.
        while let Some(write) = writes.get((self.next - first.index) as usize - 1) {
            self.sample(write);
        }
    }

    fn finish(self) -> Self {
        self
    }
}

impl Footprint {
    fn sample(&mut self, write: &PageWrite) {
        let page_writes = write.index + 1;
        self.points.push(FootprintPoint {
            page_writes,
            written_pages: write.distinct_pages,
            holding_pages: write.holding_pages,
        });
        if self.points.len() == POINTS_MAX {
            self.step *= 2;
            let step = self.step;
            self.points.retain(|point| point.page_writes.is_multiple_of(step));
        }
        self.next = page_writes + self.step;
    }

    /// The series, which ends with the final counts; empty without page writes.
    pub fn series(mut self, end: Counts) -> Vec<FootprintPoint> {
        // Trims may have come after the last write.
        self.points.retain(|point| point.page_writes < end.page_writes);
        if end.page_writes > 0 {
            self.points.push(end.into());
        }
        self.points
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageTable;
    use std::collections::BTreeSet;

    fn series(pages: impl Iterator<Item = u64>) -> Vec<FootprintPoint> {
        let mut footprint = Footprint::default();
        let mut table = PageTable::observed_by(&mut footprint, pages);
        table.trim(0, 2);
        footprint.series(table.counts())
    }

    #[test]
    fn points_are_even_and_exact_for_any_length() {
        for length in [1_u64, 2, 255, 256, 257, 1000, 70_001] {
            let pages = |count: u64| (0..count).map(|index| index * index % 997);
            let points = series(pages(length));
            assert!(points.len() <= POINTS_MAX + 1, "{}", points.len());
            assert!(length < 256 || points.len() >= POINTS_MAX / 2, "{}", points.len());
            let (end, others) = points.split_last().unwrap();
            assert_eq!(end.page_writes, length);
            let step = points[0].page_writes;
            for (number, point) in (1..).zip(others) {
                assert_eq!(point.page_writes, number * step);
                let written: BTreeSet<_> = pages(point.page_writes).collect();
                assert_eq!(point.written_pages, written.len() as u64);
                assert_eq!(point.holding_pages, point.written_pages);
            }
            assert_eq!(end.holding_pages, end.written_pages - u64::from(length > 1) - 1);
        }
        assert_eq!(series(std::iter::empty()), []);
    }
}
