//! The picture of a workload, for the scripts of a page.

use crate::text::short;
use ftlab_analysis::{HeatMap, Skew};
use ftlab_sim::result::Bytes;
use serde::Serialize;

/// Where a workload writes, and how unequally.
#[derive(Debug, Serialize)]
pub(crate) struct Picture<'a> {
    /// Its name, under the key that runs have theirs.
    ftl: &'a str,
    map: Map,
    /// Share of the pages written, the most-written first, and that of the writes to them.
    skew: Vec<(f64, f64)>,
}

#[derive(Debug, Serialize)]
struct Map {
    rows: u32,
    row_bytes: u64,
    column_writes: u64,
    /// The page writes of each cell, column by column, in 7 bits a byte.
    cells: Bytes,
}

impl<'a> Picture<'a> {
    pub(crate) fn new(name: &'a str, map: &HeatMap, skew: &Skew, page_bytes: u32) -> Self {
        let points = skew.curve.iter().map(|point| (point.pages, short(point.writes)));
        let start = (!skew.curve.is_empty()).then_some((0.0, 0.0));
        Self {
            ftl: name,
            map: Map {
                rows: map.rows,
                row_bytes: map.row_pages.saturating_mul(page_bytes.into()),
                column_writes: map.column_writes,
                cells: Bytes(sevens(map.columns.iter().flatten().copied())),
            },
            skew: start.into_iter().chain(points).collect(),
        }
    }
}

/// Numbers with 7 bits in a byte, the lowest first; the upper bit says that more follow (LEB128).
fn sevens(numbers: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for mut number in numbers {
        while number >= 128 {
            bytes.push(number as u8 | 128);
            number >>= 7;
        }
        bytes.push(number as u8);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_take_a_byte_for_seven_bits() {
        let bytes = sevens([0, 127, 128, 16_384].into_iter());
        assert_eq!(bytes, [0, 127, 128, 1, 128, 128, 1]);
        assert_eq!(sevens(std::iter::once(u64::MAX)).len(), 10);
    }
}
