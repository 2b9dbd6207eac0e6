//! Whether write amplification has settled.
//!
//! After the SNIA Solid State Storage Performance Test Specification: of the last five rounds, the
//! range of the values is within 20% of their mean, and the best straight line through them rises or
//! falls by at most 10% of the mean. A round is here a quarter of a drive write.

use std::collections::VecDeque;

/// Rounds that are looked at.
const ROUNDS: usize = 5;
/// Range of the values, as a share of their mean.
const RANGE_MAX: f64 = 0.2;
/// What the best straight line rises or falls over the rounds, as a share of the mean.
const SLOPE_MAX: f64 = 0.1;

/// Host writes of a round.
pub(crate) fn round_writes(logical_pages: u32) -> u64 {
    u64::from(logical_pages).div_ceil(4)
}

/// Keeps the last rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds {
    /// Write amplification and erases of each.
    rounds: VecDeque<(f64, u64)>,
}

impl Rounds {
    /// Adds a round.
    pub(crate) fn push(&mut self, waf: f64, erases: u64) {
        if self.rounds.len() == ROUNDS {
            self.rounds.pop_front();
        }
        self.rounds.push_back((waf, erases));
    }

    /// Whether the last five rounds agree. Never where a round erased nothing: the drive was then
    /// still filling up.
    pub(crate) fn is_steady(&self) -> bool {
        self.rounds.len() == ROUNDS
            && self.rounds.iter().all(|(_, erases)| *erases > 0)
            && agree(&self.rounds.iter().map(|(waf, _)| *waf).collect::<Vec<_>>())
    }
}

fn agree(values: &[f64]) -> bool {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let max = values.iter().copied().fold(f64::MIN, f64::max);
    let min = values.iter().copied().fold(f64::MAX, f64::min);
    let middle = (count - 1.0) / 2.0;
    let positions = (0..values.len()).map(|index| index as f64 - middle);
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (position, value) in positions.zip(values) {
        covariance += position * (value - mean);
        variance += position * position;
    }
    let rise = covariance / variance * (count - 1.0);
    max - min <= RANGE_MAX * mean && rise.abs() <= SLOPE_MAX * mean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_steady(values: &[f64]) -> bool {
        let mut rounds = Rounds::default();
        for waf in values {
            rounds.push(*waf, 1);
        }
        rounds.is_steady()
    }

    #[test]
    fn only_the_last_five_rounds_count() {
        assert!(is_steady(&[9.0, 3.0, 3.1, 2.9, 3.0, 3.05]));
        assert!(!is_steady(&[3.0, 3.0, 3.0, 3.0]), "four are too few");
    }

    #[test]
    fn a_wide_range_is_not_steady() {
        assert!(is_steady(&[3.0, 3.25, 2.7, 3.25, 3.0]));
        assert!(!is_steady(&[3.0, 3.4, 2.7, 3.4, 3.0]));
    }

    #[test]
    fn a_slope_is_not_steady() {
        assert!(is_steady(&[2.87, 2.93, 3.0, 3.07, 3.13]), "8.8%");
        assert!(!is_steady(&[2.83, 2.91, 3.0, 3.09, 3.17]), "11.5%, and a range of 11.3%");
    }

    #[test]
    fn a_drive_that_is_still_filling_up_is_not_steady() {
        let mut rounds = Rounds::default();
        (0..9).for_each(|_| rounds.push(1.0, 0));
        assert!(!rounds.is_steady());
    }
}
