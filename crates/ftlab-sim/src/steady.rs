//! Whether write amplification has settled.
//!
//! Two tests over rounds of a quarter of a drive write, and both have to pass:
//!
//! - the window of the SNIA Solid State Storage Performance Test Specification: of the last five rounds, the range
//!   of the values is within 20% of their mean, and the best straight line through them rises or falls by at most
//!   10% of the mean;
//! - no trend over the last half of the rounds (but no fewer than the window): the test of Mann (Econometrica
//!   1945) and Kendall finds none at 1%, or the slope of Theil and Sen changes them by less than 3% of their mean.
//!
//! The window alone calls a curve steady that climbs slowly: 1.5% a round are 6% over five rounds, and double it
//! in twelve drive writes.

use crate::fact::{Measured, Value};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Rounds of the window.
const WINDOW: usize = 5;
/// Range of the values, as a share of their mean.
const RANGE_MAX: f64 = 0.2;
/// What the best straight line rises or falls over the window, as a share of the mean.
const SLOPE_MAX: f64 = 0.1;
/// Standard deviations of Mann and Kendall's sum without a trend that are exceeded in 1% of all cases.
const SIGNIFICANT: f64 = 2.576;
/// A smaller change over the last half is no trend, however regular.
const TREND_MIN: f64 = 0.03;
/// Rounds that a trend is computed of at most: neighbours are averaged.
const TREND_ROUNDS_MAX: usize = 128;

/// Host writes of a round.
pub(crate) fn round_writes(logical_pages: u32) -> u64 {
    u64::from(logical_pages).div_ceil(4)
}

/// What becomes of write amplification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It stays as it is.
    Steady,
    /// It rises: a longer run has more.
    Rising,
    /// It falls: a longer run has less.
    Falling,
    /// It goes up and down by more than the window allows.
    Unsettled,
    /// Fewer than five rounds, or a round of the window erased nothing: it is too early to say.
    TooShort,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Steady => "steady",
            Self::Rising => "rising",
            Self::Falling => "falling",
            Self::Unsettled => "unsettled",
            Self::TooShort => "too short",
        })
    }
}

/// Whether write amplification has settled, and what that was concluded from.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Settling {
    /// The conclusion.
    pub verdict: Verdict,
    /// Host page writes of a round: a quarter of a drive write.
    pub round_writes: u64,
    /// Complete rounds.
    pub rounds: u64,
    /// Mean write amplification of the last five rounds, the window; none if there are fewer.
    pub window_waf: Option<f64>,
    /// Whether the window passes the test of SNIA's PTS.
    pub is_window_steady: bool,
    /// Rounds of the last half that were tested for a trend.
    pub trend_rounds: u64,
    /// Change of write amplification over them, as a share of their mean; 0 if it is not significant.
    pub trend: f64,
}

/// The conclusion, sorted by the trend.
impl Measured for Settling {
    fn measured(&self) -> Option<Value> {
        Some(Value::Text { text: self.verdict.to_string(), rank: self.trend })
    }
}

/// Keeps all rounds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rounds {
    waf: Vec<f64>,
    /// Rounds since the last one that erased nothing.
    collecting: usize,
}

impl Rounds {
    /// Adds a round.
    pub(crate) fn push(&mut self, waf: f64, erases: u64) {
        self.waf.push(waf);
        self.collecting = if erases == 0 { 0 } else { self.collecting + 1 };
    }

    /// What can be concluded by now.
    pub(crate) fn settling(&self, round_writes: u64) -> Settling {
        let rounds = self.waf.len();
        let window = (rounds >= WINDOW).then(|| &self.waf[rounds - WINDOW..]);
        let is_window_steady =
            window.is_some_and(|window| self.collecting >= WINDOW && agree(window));
        // A drive that was still filling up has another amplification.
        let half =
            &self.waf[rounds - self.collecting.min(rounds.div_ceil(2).max(WINDOW)).min(rounds)..];
        let trend = trend(&averaged(half));
        let verdict = if self.collecting < WINDOW {
            Verdict::TooShort
        } else if trend >= TREND_MIN {
            Verdict::Rising
        } else if trend <= -TREND_MIN {
            Verdict::Falling
        } else if is_window_steady {
            Verdict::Steady
        } else {
            Verdict::Unsettled
        };
        Settling {
            verdict,
            round_writes,
            rounds: rounds as u64,
            window_waf: window.map(mean),
            is_window_steady,
            trend_rounds: half.len() as u64,
            trend,
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Whether a window passes SNIA's test.
fn agree(values: &[f64]) -> bool {
    let (count, mean) = (values.len() as f64, mean(values));
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

/// Means of neighbours, so that there are not too many values.
fn averaged(values: &[f64]) -> Vec<f64> {
    let together = values.len().div_ceil(TREND_ROUNDS_MAX).max(1);
    values.chunks(together).map(mean).collect()
}

/// By how much values change from the first to the last, as a share of their mean; 0 if that may be chance.
fn trend(values: &[f64]) -> f64 {
    let count = values.len();
    if count < WINDOW {
        return 0.0;
    }
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    let mut sum = 0_i64;
    let mut slopes: Vec<f64> = pairs
        .map(|(a, b)| {
            let difference = values[b] - values[a];
            sum += i64::from(difference > 0.0) - i64::from(difference < 0.0);
            difference / (b - a) as f64
        })
        .collect();
    let n = count as f64;
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    // Of five values even a strict order does not reach 1%: the best that there is counts.
    let largest = (n * (n - 1.0) / 2.0 - 1.0) / deviation;
    let found = (sum.unsigned_abs() as f64 - 1.0).max(0.0) / deviation;
    if found < SIGNIFICANT.min(largest) {
        return 0.0;
    }
    let middle = slopes.len() / 2;
    let (_, slope, _) = slopes.select_nth_unstable_by(middle, f64::total_cmp);
    *slope * (n - 1.0) / mean(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settling(values: &[f64]) -> Settling {
        let mut rounds = Rounds::default();
        for waf in values {
            rounds.push(*waf, 1);
        }
        rounds.settling(100)
    }

    fn verdict(values: &[f64]) -> Verdict {
        settling(values).verdict
    }

    #[test]
    fn the_window_is_the_last_five_rounds() {
        assert_eq!(verdict(&[9.0, 3.0, 3.1, 2.9, 3.0, 3.05]), Verdict::Steady);
        assert_eq!(verdict(&[3.0, 3.0, 3.0, 3.0]), Verdict::TooShort, "four are too few");
        let settling = settling(&[9.0, 3.0, 3.1, 2.9, 3.0, 3.05]);
        assert!((settling.window_waf.unwrap() - 3.01).abs() < 1e-9);
        assert_eq!((settling.rounds, settling.trend_rounds), (6, 5));
    }

    #[test]
    fn a_wide_range_is_not_steady() {
        assert_eq!(verdict(&[3.0, 3.25, 2.7, 3.25, 3.0]), Verdict::Steady);
        assert_eq!(verdict(&[3.0, 3.4, 2.7, 3.4, 3.0]), Verdict::Unsettled);
    }

    #[test]
    fn a_slow_rise_that_fits_into_the_window_is_rising() {
        let rising: Vec<f64> = (0..40).map(|round| 2.0 + 0.03 * f64::from(round)).collect();
        let found = settling(&rising);
        assert!(found.is_window_steady, "SNIA's test passes");
        assert_eq!(found.verdict, Verdict::Rising);
        // 19 steps of 0.03 around a mean of 2.885.
        assert!((found.trend - 19.0 * 0.03 / 2.885).abs() < 1e-9, "{}", found.trend);
        let falling: Vec<f64> = rising.into_iter().rev().collect();
        assert_eq!(verdict(&falling), Verdict::Falling);
        let slow: Vec<f64> = (0..40).map(|round| 2.0 + 0.002 * f64::from(round)).collect();
        assert_eq!(verdict(&slow), Verdict::Steady, "2% are no trend");
    }

    #[test]
    fn noise_is_no_trend() {
        let noise = |round: u32| f64::from(round.wrapping_mul(0x9e37_79b9) >> 24) / 255.0 - 0.5;
        let rounds: Vec<f64> = (0..400).map(|round| 3.0 + 0.3 * noise(round)).collect();
        assert!(settling(&rounds).trend.abs() < 1e-12);
        assert_eq!(verdict(&rounds), Verdict::Steady);
        let rising: Vec<f64> =
            (0_u32..).zip(&rounds).map(|(round, waf)| waf + 0.0015 * f64::from(round)).collect();
        assert_eq!(verdict(&rising), Verdict::Rising);
    }

    #[test]
    fn what_was_before_the_last_half_does_not_count() {
        let climbed = (0..30).map(|round| 1.0 + 0.1 * f64::from(round));
        let rounds: Vec<f64> = climbed.chain([4.0; 30]).collect();
        assert_eq!(verdict(&rounds), Verdict::Steady);
    }

    #[test]
    fn a_drive_that_is_still_filling_up_is_not_steady() {
        let mut rounds = Rounds::default();
        (0..9).for_each(|_| rounds.push(1.0, 0));
        assert_eq!(rounds.settling(100).verdict, Verdict::TooShort);
        (0..4).for_each(|_| rounds.push(3.0, 1));
        assert_eq!(rounds.settling(100).verdict, Verdict::TooShort);
        rounds.push(3.0, 1);
        assert_eq!(rounds.settling(100).verdict, Verdict::Steady, "and 1.0 is not in the trend");
    }
}
