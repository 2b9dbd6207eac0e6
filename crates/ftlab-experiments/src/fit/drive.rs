//! A drive that may be the one that was measured, and how it did.

use super::series::Distance;
use super::shared::{Shared, likeliest};
use ftlab_ftl::page::GcSchedule;
use serde::{Deserialize, Serialize};

/// A drive explains what was measured if it is off by no more than this.
pub(super) const EXPLAINED: f64 = 0.1;

/// A drive that may be the one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The FTL as it was named.
    pub ftl: String,
    /// Bytes that the host can address on the real drive.
    pub capacity: u64,
    /// (physical - logical) / logical.
    pub op_ratio: f64,
    /// Pages of a unit, on a drive of as many pages as are asked for.
    pub pages_per_block: u32,
    /// Free units that host writes may not take.
    pub reserve: u32,
    /// When it collects, as `--gc` has it.
    #[serde(default = "foreground")]
    pub gc: String,
}

fn foreground() -> String {
    GcSchedule::Foreground.to_string()
}

/// How a candidate did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The drive.
    pub candidate: Candidate,
    /// Over-provisioning as it came out.
    pub op_ratio: f64,
    /// Bytes of a unit of the real drive.
    pub unit_bytes: f64,
    /// Units of the drive.
    pub units: u32,
    /// How far it is off; of all series that it was held against, each of which counts the same.
    pub distance: Distance,
    /// How far it is off each of them.
    pub series: Vec<OfSeries>,
    /// The same as the search has it.
    #[serde(skip)]
    pub(super) nearness: Nearness,
    /// What each of the series tells of chance, in the order of `series`.
    #[serde(skip)]
    pub(super) parts: Vec<Part>,
}

/// How far a candidate is off, where series count less that are mostly chance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nearness {
    pub(super) rms: f64,
    pub(super) mean: f64,
}

/// How far a candidate is off the intervals of a series, in shares of WAF - 1, and what chance makes of it there.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// How far each interval is off.
    pub(super) residuals: Vec<f64>,
    /// Errors that the intervals share.
    pub(super) shared: Shared,
    /// The mean of the squares that is chance of the drive, as runs with other seeds show; 0 if it ran once.
    pub(super) chance: f64,
    /// That of the mean of the seeds that were simulated.
    pub(super) simulated: f64,
    /// That of counters, as intervals tell in which nothing is moved; 0 if there are none.
    pub(super) quiet: f64,
}

impl Part {
    /// The mean of the squares of how far the intervals are off.
    pub(super) fn mean_square(&self) -> f64 {
        let squares: f64 = self.residuals.iter().map(|off| off * off).sum();
        squares / self.residuals.len().max(1) as f64
    }

    /// The mean square without the chance of the seeds that were simulated.
    pub(super) fn left(&self) -> f64 {
        (self.mean_square() - self.simulated).max(0.1 * self.mean_square())
    }
}

/// How a candidate did under one of the series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct OfSeries {
    /// Its place among those that were asked about.
    pub index: usize,
    /// Media bytes per host byte after what is skipped, as simulated.
    pub waf: f64,
    /// Over the last fifth.
    pub waf_last_fifth: f64,
    /// How far it is off.
    pub distance: Distance,
    /// Host bytes at the middle of each interval of the series, and the media bytes per host byte there.
    #[serde(skip)]
    pub wafs: Vec<(f64, f64)>,
}

/// A candidate held against one of the series.
pub(super) struct Held {
    pub(super) of: OfSeries,
    /// How far each interval is off, in media bytes per host byte.
    pub(super) residuals: Vec<f64>,
    /// Errors that the intervals share.
    pub(super) shared: Shared,
    /// The variance of one drive, and of the mean of those that were simulated.
    pub(super) chance: f64,
    pub(super) simulated: f64,
    /// Intervals in which nothing is moved.
    pub(super) quiet: Vec<f64>,
    /// What distances are shares of: WAF - 1 as measured, or the least that counts.
    pub(super) beside: f64,
}

impl Held {
    /// The mean of the squares of how far its intervals are off, as the search has it: with the likeliest errors that they share.
    pub(super) fn mean_square(&self) -> f64 {
        let count = self.residuals.len().max(1) as f64;
        let square = self.residuals.iter().map(|off| off * off).sum::<f64>() / count;
        let variance = square.max(f64::MIN_POSITIVE);
        likeliest(&self.residuals, &self.shared, variance, count).square / self.beside.powi(2)
    }
}

impl Trial {
    /// The logarithm of what it writes beside the host, as a multiple of what was measured, on average.
    pub(super) fn excess(&self) -> f64 {
        (1.0 + self.nearness.mean).max(0.01).ln()
    }

    /// The mean over the series, each of which counts the same.
    fn mean(&self, of: impl Fn(&Part) -> f64) -> f64 {
        self.parts.iter().map(of).sum::<f64>() / self.parts.len().max(1) as f64
    }

    /// The mean square without the chance of the seeds that were simulated.
    pub(super) fn left(&self) -> f64 {
        self.mean(Part::left)
    }

    /// The mean of the squares of how far the intervals are off.
    pub(super) fn mean_square(&self) -> f64 {
        self.mean(Part::mean_square)
    }

    /// The mean of the squares that is chance of the drive.
    pub(super) fn chance(&self) -> f64 {
        self.mean(|own| own.chance)
    }

    /// That of the mean of the seeds that were simulated.
    pub(super) fn simulated(&self) -> f64 {
        self.mean(|own| own.simulated)
    }

    /// That of counters.
    pub(super) fn quiet(&self) -> f64 {
        self.mean(|own| own.quiet)
    }
}

/// With this many intervals in which nothing is moved, these tell how far counters are off.
const QUIET_MIN: usize = 4;

/// How far a candidate is off all that it was held against, as every series counts the same and as the search has it, and what
/// each tells of chance.
pub(super) fn together(
    held: &[Held],
    weight: impl Fn(usize) -> f64,
) -> (Distance, Nearness, Vec<Part>) {
    let mut last_fifth = 0.0_f64;
    for own in held {
        if own.of.distance.last_fifth.abs() > last_fifth.abs() {
            last_fifth = own.of.distance.last_fifth;
        }
    }
    let mean = |weight: &dyn Fn(usize) -> f64| {
        let weighed = |of: &dyn Fn(&Held) -> f64| -> f64 {
            held.iter().map(|own| weight(own.of.index) * of(own)).sum()
        };
        let excess = |own: &Held| own.residuals.iter().sum::<f64>() / own.residuals.len() as f64;
        weighed(&excess) / weighed(&|own| own.beside)
    };
    // Counters are the same in all series.
    let quiet_of_all = quiet(held.iter().flat_map(|own| &own.quiet));
    let part = |own: &Held| {
        let square = own.beside.powi(2);
        let share = |of: &[f64]| of.iter().map(|off| off * (1.0 / own.beside)).collect();
        Part {
            residuals: share(&own.residuals),
            shared: [share(&own.shared[0]), share(&own.shared[1])],
            chance: own.chance / square,
            simulated: own.simulated / square,
            quiet: quiet(&own.quiet).or(quiet_of_all).unwrap_or(0.0) / square,
        }
    };
    let parts: Vec<Part> = held.iter().map(part).collect();
    let count = parts.len().max(1) as f64;
    let squares: f64 = parts.iter().map(Part::mean_square).sum();
    let near: f64 = held.iter().map(|own| weight(own.of.index) * own.mean_square()).sum();
    let distance = Distance { rms: (squares / count).sqrt(), mean: mean(&|_| 1.0), last_fifth };
    (distance, Nearness { rms: (near / count).sqrt(), mean: mean(&weight) }, parts)
}

/// The variance of counters, as these intervals tell in which nothing is moved; none if they are few. What all of them are
/// off by is no chance, nor is what neighbours have in common: counters have a variance of these at most.
fn quiet<'a>(off: impl IntoIterator<Item = &'a f64>) -> Option<f64> {
    let off: Vec<f64> = off.into_iter().copied().collect();
    if off.len() < QUIET_MIN {
        return None;
    }
    let count = off.len() as f64;
    let mean = off.iter().sum::<f64>() / count;
    let variance = off.iter().map(|off| (off - mean).powi(2)).sum::<f64>() / (count - 1.0);
    // Half of normally distributed numbers are within 0.6745 standard deviations; the first collections may come earlier.
    let usual = |numbers: Vec<f64>| (middle(numbers) / 0.6745).powi(2);
    let apart = usual(off.windows(2).map(|pair| pair[1] - pair[0]).collect()) / 2.0;
    Some(variance.min(apart).min(usual(off)))
}

/// The middle one of these, without signs.
fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(|a, b| a.abs().total_cmp(&b.abs()));
    numbers[numbers.len() / 2].abs()
}

/// A drive that was tried closely: over all of the series with all seeds, unless that is hopeless.
#[derive(Debug, Clone)]
pub(super) struct Closely {
    pub(super) trial: Trial,
    pub(super) is_whole: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_quiet_intervals_are_off_by_is_no_chance() {
        assert!(quiet(&[0.3; 8]).unwrap() < 1e-12);
        assert_eq!(quiet(&[0.3; QUIET_MIN - 1]), None);
        let scattered = [0.1, -0.1, 0.02, 0.2, -0.2, 0.05, -0.05, 0.15];
        let around = quiet(&scattered).unwrap();
        assert!((0.01..0.02).contains(&around), "{around}");
        // A drive that moves nothing for long while the real one does, in ever fewer pages.
        let wrong: Vec<f64> = (0..16).map(|n| 0.6 - 0.05 * f64::from(n)).collect();
        assert!(quiet(&wrong).unwrap() < 0.01, "{:?}", quiet(&wrong));
        // Collections that came earlier count as little as chance elsewhere.
        let collected = [&scattered[..], &[5.0]].concat();
        assert!(quiet(&collected).unwrap() < 3.0 * around);
    }

    fn held(residuals: &[f64], beside: f64, last_fifth: f64) -> Held {
        let distance = Distance { rms: 0.0, mean: 0.0, last_fifth };
        let of = OfSeries { index: 0, waf: 1.0, waf_last_fifth: 1.0, distance, wafs: Vec::new() };
        let (residuals, shared, quiet) = (residuals.to_vec(), Shared::default(), Vec::new());
        Held { of, residuals, shared, chance: 0.04, simulated: 0.02, quiet, beside }
    }

    #[test]
    fn every_series_counts_the_same_however_long_it_is() {
        let long = held(&[0.2; 30], 2.0, 0.1);
        let (distance, _, parts) = together(std::slice::from_ref(&long), |_| 1.0);
        assert!((distance.rms - 0.1).abs() < 1e-12 && (distance.mean - 0.1).abs() < 1e-12);
        assert!((parts[0].chance - 0.01).abs() < 1e-12 && parts[0].residuals.len() == 30);
        let short = held(&[-0.3, -0.3], 1.0, -0.3);
        let (distance, _, parts) = together(&[long, short], |_| 1.0);
        assert!((distance.rms.powi(2) - f64::midpoint(0.01, 0.09)).abs() < 1e-12, "{distance:?}");
        assert!((distance.mean + 0.1 / 3.0).abs() < 1e-12, "what is written beside, of all");
        assert!((distance.last_fifth + 0.3).abs() < 1e-12, "the furthest");
        assert!((parts[1].chance - 0.04).abs() < 1e-12 && parts[1].residuals.len() == 2);
    }
}
