//! How erases are spread over blocks.

use crate::fact::facts;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

facts! {
    Run:
    /// Erases of each block.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct EraseCounts {
        /// Of the block with fewest.
        min: u32 = Count, "erases", from "the FTL" [
            table(Wear, 10, "fewest\nerases", Always),
            report(Wear, 10, "fewest erases", "Of the block with the fewest", Known),
            frame(20, "erases_min"),
        ];
        /// The mean over all blocks.
        mean: f64 = Ratio(4), "erases", from "the FTL" [
            table(Wear, 20, "mean", Always),
            report(Wear, 20, "mean", "Mean over all blocks", Known),
            frame(30, "erases_mean"),
        ];
        /// Of the block with most.
        max: u32 = Count, "erases", from "the FTL" [
            table(Wear, 30, "most", Always),
            report(Wear, 30, "most", "Of the block with the most", Known),
            frame(40, "erases_max"),
        ];
        /// The Gini coefficient over all blocks: 0 if all have as many, towards 1 if few have all.
        gini: f64 = Ratio(3), "", from "the FTL" [
            table(Wear, 40, "Gini", Always),
            report(Wear, 40, "Gini", "0 if all blocks have equally many erases, towards 1 if a few have all", Known),
            sweep(530, "erase-gini", "Gini coefficient of the erases of blocks"),
            frame(45, "erases_gini"),
        ];
    }
}

impl EraseCounts {
    /// Those of blocks with these erases each.
    pub(crate) fn of(erases: &[u32]) -> Self {
        let total: u64 = erases.iter().map(|count| u64::from(*count)).sum();
        Self {
            min: erases.iter().copied().min().unwrap_or(0),
            mean: total as f64 / erases.len().max(1) as f64,
            max: erases.iter().copied().max().unwrap_or(0),
            gini: gini(erases),
        }
    }
}

/// The erases at each percentile from 0 to 100 of the blocks, in ascending order; empty without blocks.
pub(crate) fn percentiles(erases: &[u32]) -> Vec<u32> {
    let mut sorted = erases.to_vec();
    sorted.sort_unstable();
    let Some(last) = sorted.len().checked_sub(1) else { return Vec::new() };
    (0..=100).map(|percent| sorted[(percent * last + 50) / 100]).collect()
}

/// The Gini coefficient: with x sorted ascending and i from 1, sum (2 i - n - 1) x / (n sum x).
fn gini(counts: &[u32]) -> f64 {
    let mut sorted = counts.to_vec();
    sorted.sort_unstable();
    let n = sorted.len() as i128;
    let total: i128 = sorted.iter().map(|&count| i128::from(count)).sum();
    let weights = (1..=n).map(|rank| 2 * rank - n - 1);
    let weighted: i128 = weights.zip(&sorted).map(|(weight, &x)| weight * i128::from(x)).sum();
    if total == 0 { 0.0 } else { weighted as f64 / (n * total) as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gini_coefficient_is_that_of_its_definition() {
        // Half the mean difference of all pairs, over the mean.
        let naive = |counts: &[u32]| {
            let pairs = counts.iter().flat_map(|a| counts.iter().map(move |b| a.abs_diff(*b)));
            let sum: u32 = counts.iter().sum();
            f64::from(pairs.sum::<u32>()) / (2.0 * counts.len() as f64 * f64::from(sum))
        };
        for counts in [&[3, 3, 3][..], &[0, 0, 9], &[5, 1, 7, 2], &[1]] {
            assert!((gini(counts) - naive(counts)).abs() < 1e-12, "{counts:?}");
        }
        assert_eq!((gini(&[0, 0]), gini(&[])), (0.0, 0.0));
    }

    #[test]
    fn percentiles_are_in_order_and_have_both_ends() {
        let found = percentiles(&[9, 0, 4]);
        assert_eq!((found.len(), found[0], found[50], found[100]), (101, 0, 4, 9));
        assert!(found.is_sorted() && percentiles(&[]).is_empty());
    }

    #[test]
    fn counts_are_those_of_all_blocks() {
        let expected = EraseCounts { min: 0, mean: 1.0, max: 3, gini: 0.625 };
        assert_eq!(EraseCounts::of(&[0, 3, 1, 0]), expected);
    }
}
