//! A drive that may be the one that was measured, and how it did.

use super::series::Distance;
use ftlab_ftl::page::GcSchedule;
use serde::{Deserialize, Serialize};

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
    /// How far each interval is off, so that the mean of the squares counts every series the same.
    #[serde(skip)]
    pub(super) residuals: Vec<f64>,
    /// The mean of the squares that is chance of the drive, as runs with other seeds show; 0 if it ran once.
    #[serde(skip)]
    pub(super) chance: f64,
    /// That of the mean of the seeds that were simulated.
    #[serde(skip)]
    pub(super) simulated: f64,
    /// That of intervals in which nothing is moved, if there are any.
    #[serde(skip)]
    pub(super) quiet: Option<f64>,
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
    /// The variance of one drive, and of the mean of those that were simulated.
    pub(super) chance: f64,
    pub(super) simulated: f64,
    /// Intervals in which nothing is moved.
    pub(super) quiet: Vec<f64>,
    /// What distances are shares of: WAF - 1 as measured, or the least that counts.
    pub(super) beside: f64,
}

impl Held {
    /// The mean of the squares of how far its intervals are off.
    pub(super) fn mean_square(&self) -> f64 {
        let squares: f64 = self.residuals.iter().map(|off| off * off).sum();
        squares / self.residuals.len().max(1) as f64 / self.beside.powi(2)
    }
}

impl Trial {
    /// The logarithm of what it writes beside the host, as a multiple of what was measured, on average.
    pub(super) fn excess(&self) -> f64 {
        (1.0 + self.distance.mean).max(0.01).ln()
    }

    /// The mean square without the chance of the seeds that were simulated.
    pub(super) fn left(&self) -> f64 {
        (self.mean_square() - self.simulated).max(0.1 * self.mean_square())
    }

    /// The mean of the squares of how far the intervals are off.
    pub(super) fn mean_square(&self) -> f64 {
        let squares: f64 = self.residuals.iter().map(|off| off * off).sum();
        squares / self.residuals.len().max(1) as f64
    }
}

/// What a candidate was held against, together.
pub(super) struct Together {
    pub(super) distance: Distance,
    pub(super) residuals: Vec<f64>,
    pub(super) chance: f64,
    pub(super) simulated: f64,
    pub(super) quiet: Option<f64>,
}

/// With this many intervals in which nothing is moved, these tell how far counters are off.
const QUIET_MIN: usize = 4;

/// How far a candidate is off all that it was held against, the intervals of all, and the variances that are expected.
pub(super) fn together(held: &[Held]) -> Together {
    let intervals: usize = held.iter().map(|own| own.residuals.len()).sum();
    let mut residuals = Vec::with_capacity(intervals);
    let (mut chance, mut simulated, mut excess, mut beside, mut last_fifth) =
        (0.0, 0.0, 0.0, 0.0, 0.0_f64);
    let mut quiet = Vec::new();
    for own in held {
        let count = own.residuals.len() as f64;
        let weight = (intervals as f64 / count / held.len() as f64).sqrt() / own.beside;
        residuals.extend(own.residuals.iter().map(|off| off * weight));
        quiet.extend(own.quiet.iter().map(|off| (off * weight).abs()));
        let share = own.beside.powi(2) * held.len() as f64;
        chance += own.chance / share;
        simulated += own.simulated / share;
        excess += own.residuals.iter().sum::<f64>() / count;
        beside += own.beside;
        if own.of.distance.last_fifth.abs() > last_fifth.abs() {
            last_fifth = own.of.distance.last_fifth;
        }
    }
    let squares: f64 = residuals.iter().map(|off| off * off).sum();
    let rms = (squares / intervals.max(1) as f64).sqrt();
    let distance = Distance { rms, mean: excess / beside, last_fifth };
    quiet.sort_by(f64::total_cmp);
    // Half of normally distributed numbers are within 0.6745 standard deviations; the first collections may come earlier.
    let median = quiet.get(quiet.len() / 2).map(|median| (median / 0.6745).powi(2));
    let quiet = median.filter(|_| quiet.len() >= QUIET_MIN);
    Together { distance, residuals, chance, simulated, quiet }
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

    fn held(residuals: &[f64], beside: f64, last_fifth: f64) -> Held {
        let distance = Distance { rms: 0.0, mean: 0.0, last_fifth };
        let of = OfSeries { index: 0, waf: 1.0, waf_last_fifth: 1.0, distance, wafs: Vec::new() };
        let (residuals, quiet) = (residuals.to_vec(), Vec::new());
        Held { of, residuals, chance: 0.04, simulated: 0.02, quiet, beside }
    }

    #[test]
    fn every_series_counts_the_same_however_long_it_is() {
        let long = held(&[0.2; 30], 2.0, 0.1);
        let Together { distance, residuals, chance, .. } = together(std::slice::from_ref(&long));
        assert!((distance.rms - 0.1).abs() < 1e-12 && (distance.mean - 0.1).abs() < 1e-12);
        assert!((chance - 0.01).abs() < 1e-12 && residuals.len() == 30);
        let short = held(&[-0.3, -0.3], 1.0, -0.3);
        let Together { distance, residuals, chance, .. } = together(&[long, short]);
        assert!((distance.rms.powi(2) - f64::midpoint(0.01, 0.09)).abs() < 1e-12, "{distance:?}");
        assert!((distance.mean + 0.1 / 3.0).abs() < 1e-12, "what is written beside, of all");
        assert!((distance.last_fifth + 0.3).abs() < 1e-12, "the furthest");
        assert!((chance - f64::midpoint(0.01, 0.04)).abs() < 1e-12 && residuals.len() == 32);
    }
}
