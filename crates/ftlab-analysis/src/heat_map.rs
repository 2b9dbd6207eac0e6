//! Where writes go over time: addresses by time (FASTer, figure 2a).

use super::{Analysis, PageWrite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rows of addresses at most; between half of that and that are used.
const ROWS_LOG2: u32 = 7;
const ROWS: usize = 1 << ROWS_LOG2;
/// Columns of time at most; between half of that and that are used.
const COLUMNS: usize = 128;

/// Page writes by address and time.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeatMap {
    /// Pages of a row, a power of two.
    pub row_pages: u64,
    /// Rows; the first begins with page 0.
    pub rows: u32,
    /// Page writes of a column, a power of two; the last column may have fewer.
    pub column_writes: u64,
    /// For each column the page writes to each row.
    pub columns: Vec<Vec<u64>>,
}

/// Counts page writes by address and time; cells grow as addresses and time do.
#[derive(Debug, Clone)]
pub struct HeatMapCounter {
    /// A page is in row `page >> row_shift`.
    row_shift: u32,
    column_writes: u64,
    columns: Vec<[u64; ROWS]>,
    /// Page writes at which the last column is full.
    end: u64,
}

impl Default for HeatMapCounter {
    fn default() -> Self {
        Self { row_shift: 0, column_writes: 1, columns: vec![[0; ROWS]], end: 1 }
    }
}

impl Analysis for HeatMapCounter {
    type Report = HeatMap;

    fn page_writes(&mut self, writes: &[PageWrite]) {
        for write in writes {
            self.add(write.page, write.index);
        }
    }

    fn finish(self) -> HeatMap {
        self.map()
    }
}

impl HeatMapCounter {
    /// Counts a write of `page`, after `index` others.
    #[inline]
    pub fn add(&mut self, page: u64, index: u64) {
        if index >= self.end {
            self.add_column();
        }
        let row = page >> self.row_shift;
        let row = if row < ROWS as u64 { row } else { self.add_rows(page) };
        if let Some(column) = self.columns.last_mut() {
            column[row as usize] += 1;
        }
    }

    /// The map of all writes counted.
    pub fn map(&self) -> HeatMap {
        let used = |column: &[u64; ROWS]| column.iter().rposition(|writes| *writes > 0);
        let Some(last) = self.columns.iter().filter_map(used).max() else {
            return HeatMap::default();
        };
        HeatMap {
            row_pages: 1 << self.row_shift,
            rows: last as u32 + 1,
            column_writes: self.column_writes,
            columns: self.columns.iter().map(|column| column[..=last].to_vec()).collect(),
        }
    }

    /// Begins a column, in place of two old ones if there are too many.
    #[cold]
    fn add_column(&mut self) {
        if self.columns.len() == COLUMNS {
            let merged = self.columns.as_chunks::<2>().0.iter();
            self.columns =
                merged.map(|[a, b]| std::array::from_fn(|row| a[row] + b[row])).collect();
            self.column_writes *= 2;
        }
        self.columns.push([0; ROWS]);
        self.end = self.columns.len() as u64 * self.column_writes;
    }

    /// Makes rows so large that `page` has one, which is returned.
    #[cold]
    fn add_rows(&mut self, page: u64) -> u64 {
        let row_shift = u64::BITS - page.leading_zeros() - ROWS_LOG2;
        let merged = row_shift - self.row_shift;
        self.row_shift = row_shift;
        for column in &mut self.columns {
            let narrow = std::mem::replace(column, [0; ROWS]);
            for (row, writes) in narrow.into_iter().enumerate() {
                column[row >> merged] += writes;
            }
        }
        page >> row_shift
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageTable;
    use proptest::prelude::*;

    fn map(pages: &[u64]) -> HeatMap {
        let mut counter = HeatMapCounter::default();
        PageTable::observed_by(&mut counter, pages.iter().copied());
        counter.finish()
    }

    proptest! {
        #[test]
        fn cells_equal_those_counted_with_their_final_size(
            pages in prop::collection::vec(
                prop_oneof![0u64..100, 0u64..100_000, Just(u64::MAX)], 1..1000),
        ) {
            let found = map(&pages);
            let row_shift = found.row_pages.ilog2();
            let mut expected = vec![vec![0; found.rows as usize]; found.columns.len()];
            for (index, page) in pages.iter().enumerate() {
                expected[index / found.column_writes as usize][(page >> row_shift) as usize] += 1;
            }
            prop_assert_eq!(&found.columns, &expected);
            prop_assert!(found.columns.len() <= COLUMNS && found.rows as usize <= ROWS);
            prop_assert!(pages.len() < COLUMNS || found.columns.len() >= COLUMNS / 2);
            let highest = pages.iter().copied().max().unwrap();
            prop_assert!(highest < ROWS as u64 || found.rows as usize > ROWS / 2);
        }
    }

    #[test]
    fn nothing_has_no_cells() {
        assert_eq!(HeatMapCounter::default().finish(), HeatMap::default());
    }
}
