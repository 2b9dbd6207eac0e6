//! What simulated drives wrote, and what the real one would have written by that.

use serde::{Deserialize, Serialize};
use std::borrow::Borrow;

/// What a simulated drive wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// Pages that the host can address.
    pub(super) pages: u32,
    /// Over-provisioning as it came out.
    pub(super) op_ratio: f64,
    /// Erase blocks.
    pub(super) blocks: u32,
    /// Host writes of an interval.
    pub(super) interval: u64,
    /// Pages that were written in each beside those of the host: relocated, or copied by merges.
    pub(super) beside: Vec<u64>,
    /// Whether the run was given up.
    pub(super) given_up: bool,
}

impl Written {
    /// Whether it lasts for these drive writes.
    pub(super) fn covers(&self, drive_writes: f64) -> bool {
        let of_interval = self.interval as f64 / f64::from(self.pages);
        self.drive_writes() + of_interval > drive_writes
    }

    /// Drive writes of the host, in whole intervals.
    pub(super) fn drive_writes(&self) -> f64 {
        self.beside.len() as f64 * self.interval as f64 / f64::from(self.pages)
    }
}

impl Written {
    /// What a drive would have written whose over-provisioning is between that of this one and of `other`; none if they
    /// are not the same but for that.
    pub(super) fn toward(&self, other: &Self, op_ratio: f64) -> Option<Self> {
        if (self.pages, self.interval) != (other.pages, other.interval) {
            return None;
        }
        let share = (op_ratio / self.op_ratio).ln() / (other.op_ratio / self.op_ratio).ln();
        let between = |own: f64, other: f64| (own + share * (other - own)).round();
        let both = self.beside.iter().zip(&other.beside);
        let beside = both.map(|(own, other)| between(*own as f64, *other as f64) as u64);
        Some(Self {
            op_ratio,
            blocks: between(self.blocks.into(), other.blocks.into()) as u32,
            beside: beside.collect(),
            ..self.clone()
        })
    }
}

/// What a drive would have written, by runs of it that count with weights; these add up to 1.
#[derive(Debug, Clone)]
pub(super) struct Curve(Vec<Weighed>);

/// A run, and how much it counts.
#[derive(Debug, Clone)]
struct Weighed {
    weight: f64,
    /// Of the run.
    pages: f64,
    interval: f64,
    /// Pages written beside the host's until the end of each interval, from 0 on.
    sums: Vec<f64>,
}

impl Curve {
    /// That of runs with their weights.
    pub(super) fn new<W: Borrow<Written>>(runs: &[(f64, W)]) -> Self {
        let weighed = |(weight, run): &(f64, W)| {
            let run = run.borrow();
            let running = run.beside.iter().scan(0.0, |sum, own| {
                *sum += *own as f64;
                Some(*sum)
            });
            Weighed {
                weight: *weight,
                pages: run.pages.into(),
                interval: run.interval as f64,
                sums: std::iter::once(0.0).chain(running).collect(),
            }
        };
        Self(runs.iter().map(weighed).collect())
    }

    /// The mean of several.
    pub(super) fn mean(curves: &[Self]) -> Self {
        let share = 1.0 / curves.len() as f64;
        let all = curves.iter().flat_map(|curve| &curve.0);
        Self(all.map(|own| Weighed { weight: own.weight * share, ..own.clone() }).collect())
    }

    /// Bytes that the real drive, of `capacity`, would have written after `host` bytes.
    pub(super) fn media(&self, capacity: f64, host: f64) -> f64 {
        host + self.0.iter().map(|own| own.weight * own.beside(capacity, host)).sum::<f64>()
    }
}

impl Weighed {
    /// Bytes that the real drive would have written beside the host's.
    fn beside(&self, capacity: f64, host: f64) -> f64 {
        let page = capacity / self.pages;
        let place = host / (self.interval * page);
        let sums = &self.sums;
        let before = (place as usize).min(sums.len() - 1);
        let after = (before + 1).min(sums.len() - 1);
        // Beyond the end it continues as it ended.
        let step = if after > before {
            sums[after] - sums[before]
        } else {
            sums[before] - sums[before - 1]
        };
        (sums[before] + (place - before as f64) * step) * page
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pages: u32, interval: u64, beside: Vec<u64>) -> Written {
        Written { pages, op_ratio: 0.1, blocks: 11, interval, beside, given_up: false }
    }

    #[test]
    fn a_run_covers_what_it_was_run_for_and_is_extrapolated_beyond() {
        // 100 pages; intervals of 50 host writes; two drive writes.
        let written = written(100, 50, vec![0, 10, 20, 30]);
        assert!(written.covers(2.0) && written.covers(2.4));
        assert!(!written.covers(2.5), "an interval is missing");
        // The real drive has 1,000 bytes, 10 for each page.
        let curve = Curve::new(&[(1.0, written)]);
        let series = [(0.0, 0.0), (500.0, 500.0), (1000.0, 1100.0), (1250.0, 1450.0)];
        for (host, media) in series.into_iter().chain([(2500.0, 2500.0 + 900.0)]) {
            let told = curve.media(1000.0, host);
            assert!((told - media).abs() < 1e-9, "{told} after {host}");
        }
    }

    #[test]
    fn runs_of_other_sizes_count_as_they_weigh() {
        // Half of what the host wrote is relocated on the larger, and a quarter on the smaller.
        let (larger, smaller) = (written(100, 50, vec![25; 4]), written(20, 20, vec![5; 4]));
        let curve = Curve::new(&[(1.5, larger), (-0.5, smaller)]);
        for curve in [curve.clone(), Curve::mean(&[curve.clone(), curve])] {
            let told = curve.media(1000.0, 800.0);
            assert!((told - (800.0 + 1.5 * 400.0 - 0.5 * 200.0)).abs() < 1e-9, "{told}");
        }
    }
}
