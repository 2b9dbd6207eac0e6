//! The number of a cell of a sweep, and how far it is to be trusted.

use super::compare::{Results, measured, numbers_at};
use super::plan::{Plan, Point};

/// Intervals without which windows of a run say nothing about its spread.
const INTERVALS_MIN: usize = 8;

/// A number of the runs at one place of an experiment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// The mean over the seeds.
    pub mean: f64,
    /// Its standard deviation, where that is known.
    pub deviation: Option<f64>,
    /// What the deviation is taken over.
    pub over: Over,
}

/// What a standard deviation is taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Over {
    /// Nothing: there is one run, and no series of the number.
    One,
    /// Windows of one run, drawn with replacement: the deviation of its mean.
    Windows,
    /// This many seeds: the deviation of one run.
    Seeds(usize),
}

impl Over {
    /// A word for it in tables.
    pub fn name(self) -> String {
        match self {
            Self::One => "one seed".into(),
            Self::Windows => "windows".into(),
            Self::Seeds(seeds) => format!("{seeds} seeds"),
        }
    }
}

/// A number of the runs at `place`: over their seeds, or over windows where there is one; none without a result.
pub fn spread(plan: &Plan, results: &Results, metric: &str, place: &Point) -> Option<Spread> {
    let mean = measured(plan, results, metric, place)?;
    let numbers: Vec<f64> = numbers_at(plan, results, metric, place).collect();
    if numbers.len() > 1 {
        let deviation = Some(deviation(&numbers, mean));
        return Some(Spread { mean, deviation, over: Over::Seeds(numbers.len()) });
    }
    let windows = (metric == "waf").then(|| results.get(&place.run)).flatten();
    let deviation = windows.and_then(|stored| of_windows(&stored.result.runs.first()?.running_waf));
    let over = if deviation.is_some() { Over::Windows } else { Over::One };
    Some(Spread { mean, deviation, over })
}

/// The standard deviation of a sample.
fn deviation(numbers: &[f64], mean: f64) -> f64 {
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (squares / (numbers.len() - 1) as f64).sqrt()
}

/// The standard deviation of the mean of a series whose neighbours depend on each other: that of the circular block
/// bootstrap, with windows of the cube root of its length. No number is drawn, since the variance of a draw is known.
///
/// Politis and Romano, "A circular block-resampling procedure for stationary data", 1992.
fn of_windows(series: &[f64]) -> Option<f64> {
    let count = series.len();
    if count < INTERVALS_MIN {
        return None;
    }
    let length = (count as f64).cbrt().round() as usize;
    let mean = series.iter().sum::<f64>() / count as f64;
    let window = |start: usize| {
        let sum: f64 = (start..start + length).map(|at| series[at % count]).sum();
        sum / length as f64
    };
    let variance =
        (0..count).map(|start| (window(start) - mean).powi(2)).sum::<f64>() / count as f64;
    let windows = count as f64 / length as f64;
    Some((variance / windows).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_of_independent_numbers_give_the_error_of_their_mean() {
        // Of 0 and 1 in turns, windows of two are all alike.
        let turns: Vec<f64> = (0..8).map(|at| f64::from(at % 2)).collect();
        assert!(of_windows(&turns).unwrap() < 1e-12);
        assert_eq!(of_windows(&turns[..7]), None);
        // One step: eight intervals, windows of two, of which two lie across a step.
        let step = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
        let variance: f64 = 6.0 * 0.25 / 8.0;
        assert!((of_windows(&step).unwrap() - (variance / 4.0).sqrt()).abs() < 1e-12);
        // White noise of variance s^2: about s / sqrt(n).
        let mut state = 1_u64;
        let noise: Vec<f64> = (0..4096)
            .map(|_| {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1_u64 << 53) as f64
            })
            .collect();
        let expected = (1.0_f64 / 12.0 / 4096.0).sqrt();
        let found = of_windows(&noise).unwrap();
        assert!((found / expected - 1.0).abs() < 0.15, "{found} and {expected}");
    }

    #[test]
    fn seeds_have_the_deviation_of_a_sample() {
        assert!((deviation(&[1.0, 2.0, 3.0], 2.0) - 1.0).abs() < 1e-12);
    }
}
