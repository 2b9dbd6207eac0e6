//! What a series cannot tell apart: profiles of the likelihood.
//!
//! How far intervals are off is taken as noise of one size, which the best drive tells. A drive is within the bounds
//! if the sum of its squares is no larger than the best one's times 1 + x / n, where x = 3.84 is the 95% quantile of
//! chi-square with one degree of freedom, and n the number of intervals, less for those that are off like the one
//! before them: n (1 - r) / (1 + r) with their correlation r. No sum counts as less than what chance alone would make
//! of the best drive, as its seeds show. Their mean has noise of its own, V over all intervals, and so has that of the drive
//! that is compared: that the difference of their sums comes of it is allowed for with 1.645 standard deviations (95%) of
//! 2 sqrt(2 S V / n), where S is the sum of the best.

use super::drive::{Candidate, Trial};
use super::question::Question;
use super::runner::{Runner, SEEDS};
use crate::error::ExperimentsError;
use serde::Serialize;

/// The 95% quantile of chi-square with one degree of freedom.
const CHI_SQUARE: f64 = 3.841;

/// The 95% quantile of the normal distribution.
const NORMAL: f64 = 1.645;

/// How far over-provisioning is looked at on either side of the best, and in how many steps; further if that is not
/// beyond its bounds.
const OP_REACH: f64 = 0.01;
const OP_STEPS: i32 = 4;
const WIDER_MAX: u32 = 3;

/// What is within the bounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bounds {
    /// Over-provisioning, from the least to the most.
    pub op_ratio: (f64, f64),
    /// Bytes of a unit, from the least to the most that was tried.
    pub unit_bytes: (f64, f64),
    /// Units in reserve, from the least to the most that was tried, where the spare flash beside them stays.
    pub reserve: (u32, u32),
    /// The largest root mean square within the bounds, as a share of WAF - 1.
    pub rms_most: f64,
    /// Intervals that are worth as much as independent ones.
    pub intervals: f64,
}

/// The best that can be done with an over-provisioning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProfilePoint {
    /// (physical - logical) / logical.
    pub op_ratio: f64,
    /// How far off the best of its units is.
    pub rms: f64,
}

/// What is known about a fit, and how well.
pub(super) struct Profiled {
    pub(super) bounds: Bounds,
    pub(super) profile: Vec<ProfilePoint>,
    /// The drive around which this is.
    pub(super) around: Candidate,
    /// The best of all that was tried on the way.
    pub(super) best: Trial,
}

/// The largest mean square within the bounds, and the intervals that it is based on.
fn limit(best: &Trial) -> (f64, f64) {
    let residuals = &best.residuals;
    let count = residuals.len() as f64;
    let pairs: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let alike = (pairs / (count * best.mean_square()).max(1e-300)).clamp(0.0, 0.95);
    let independent = (count * (1.0 - alike) / (1.0 + alike)).max(2.0);
    let square = best.mean_square().max(best.expected_square);
    // One run and the mean of all are expected to differ by the variances of both.
    let simulated = best.expected_square / (SEEDS + 1) as f64;
    let chance = 2.0 * NORMAL * (2.0 * square * simulated / independent).sqrt();
    (square * (1.0 + CHI_SQUARE / independent) + chance, independent)
}

impl Question {
    /// Finds the bounds around the best drive.
    pub(super) fn bounds(
        &self,
        runner: &Runner<'_>,
        best: &Trial,
        threads: usize,
    ) -> Result<Profiled, ExperimentsError> {
        let (limit, independent) = limit(best);
        let is_within = |trial: &&Trial| trial.mean_square() <= limit;
        let profile = self.profile(runner, best, limit, threads)?;
        let own = &best.candidate;
        let units = self.try_closely(runner, own, &self.other_units(own), limit, threads)?;
        let reserves = self.try_closely(runner, own, &self.other_reserves(best), limit, threads)?;
        let within = || profile.iter().chain(&units).chain([best]).filter(is_within);
        let sizes = within().map(|trial| trial.unit_bytes);
        let ratios = within().map(|trial| trial.op_ratio);
        let (least, most) = range(ratios, f64::min, f64::max);
        let reserves = reserves.iter().chain([best]).filter(is_within);
        let reserves = reserves.map(|trial| trial.candidate.reserve);
        let points = points(&profile);
        let rms_of = |square: f64| {
            let own = best.mean_square().max(1e-300);
            best.distance.rms * (square / own).sqrt()
        };
        let crossed = crossing(&points, rms_of(limit), best.op_ratio);
        let bounds = Bounds {
            // Units of another size, with as much flash beside the reserve, may be between the steps of the profile.
            op_ratio: (crossed.0.min(least), crossed.1.max(most)),
            unit_bytes: range(sizes, f64::min, f64::max),
            reserve: reserves.fold((u32::MAX, 0), |(low, high), own| (low.min(own), high.max(own))),
            rms_most: rms_of(limit),
            intervals: independent,
        };
        let around = best.candidate.clone();
        let all = profile.iter().chain(&units).chain([best]);
        let best = all.min_by(|a, b| a.distance.rms.total_cmp(&b.distance.rms)).unwrap_or(best);
        Ok(Profiled { bounds, around, best: best.clone(), profile: points })
    }

    /// Drives with more and less over-provisioning, each with the units of the best and those next to it.
    fn profile(
        &self,
        runner: &Runner<'_>,
        best: &Trial,
        limit: f64,
        threads: usize,
    ) -> Result<Vec<Trial>, ExperimentsError> {
        let mut trials: Vec<Trial> = Vec::new();
        for wider in 0..=WIDER_MAX {
            let reach = OP_REACH * f64::from(1_u32 << wider);
            let steps =
                (-OP_STEPS..=OP_STEPS).map(|step| reach * f64::from(step) / f64::from(OP_STEPS));
            let tried: Vec<Candidate> = steps
                .map(|step| best.candidate.op_ratio + step)
                .filter(|op| *op > 0.0)
                .flat_map(|op_ratio| self.near_units(&best.candidate, op_ratio))
                .collect();
            trials.extend(self.try_closely(runner, &best.candidate, &tried, limit, threads)?);
            let beyond = |is_side: fn(f64, f64) -> bool| {
                let side = trials.iter().filter(|t| is_side(t.op_ratio, best.op_ratio));
                points_of(side).iter().any(|(_, square)| *square > limit)
            };
            if beyond(|own, best| own < best) && beyond(|own, best| own > best) {
                break;
            }
        }
        Ok(trials)
    }

    /// A candidate with this over-provisioning, and with larger and smaller units.
    fn near_units(&self, own: &Candidate, op_ratio: f64) -> Vec<Candidate> {
        let pages = [own.pages_per_block / 2, own.pages_per_block, own.pages_per_block * 2];
        let fitting = pages.into_iter().filter(|pages| self.has_units(*pages));
        fitting
            .map(|pages_per_block| Candidate { op_ratio, pages_per_block, ..own.clone() })
            .collect()
    }

    fn has_units(&self, pages: u32) -> bool {
        (self.unit_pages.0..=self.unit_pages.1).contains(&pages)
    }

    /// Units of all sizes, each with a little more and less over-provisioning.
    fn other_units(&self, own: &Candidate) -> Vec<Candidate> {
        self.sizes()
            .flat_map(|pages| {
                let of = self.with_units(own, pages);
                [-0.01, -0.005, 0.0, 0.005, 0.01]
                    .map(|step| Candidate { op_ratio: of.op_ratio + step, ..of.clone() })
            })
            .filter(|candidate| candidate.op_ratio > 0.0)
            .collect()
    }

    /// Other reserves, with as much spare flash beside them.
    fn other_reserves(&self, best: &Trial) -> Vec<Candidate> {
        let own = &best.candidate;
        let unit = f64::from(own.pages_per_block) / f64::from(self.pages);
        let reserves = (0..10).map(|power| own.reserve << power).filter(|r| *r <= best.units / 20);
        reserves
            .map(|reserve| Candidate {
                reserve,
                op_ratio: own.op_ratio + (f64::from(reserve) - f64::from(own.reserve)) * unit,
                ..own.clone()
            })
            .filter(|candidate| candidate.op_ratio > 0.0)
            .collect()
    }
}

/// The best of each over-provisioning, ascending: its mean square.
fn points_of<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<(&'a Trial, f64)> {
    let mut best: Vec<(&Trial, f64)> = Vec::new();
    for trial in trials {
        let same = |other: &&mut (&Trial, f64)| {
            (other.0.candidate.op_ratio - trial.candidate.op_ratio).abs() < 1e-9
        };
        match best.iter_mut().find(same) {
            Some(other) if other.1 <= trial.mean_square() => {}
            Some(other) => *other = (trial, trial.mean_square()),
            None => best.push((trial, trial.mean_square())),
        }
    }
    best.sort_by(|a, b| a.0.op_ratio.total_cmp(&b.0.op_ratio));
    best
}

fn points(trials: &[Trial]) -> Vec<ProfilePoint> {
    let best = points_of(trials.iter()).into_iter();
    best.map(|(trial, _)| ProfilePoint { op_ratio: trial.op_ratio, rms: trial.distance.rms })
        .collect()
}

/// Where a profile crosses a limit on either side of its best point; its ends if it does not. Between two points the sum of
/// squares grows with the square of the distance, as it does beside the best.
fn crossing(profile: &[ProfilePoint], limit: f64, best: f64) -> (f64, f64) {
    let edge = |ordered: Vec<ProfilePoint>| {
        let mut inside = best;
        for pair in ordered.windows(2) {
            if pair[0].rms <= limit && pair[1].rms > limit {
                let grown = |rms: f64| rms.powi(2) - pair[0].rms.powi(2);
                let share = (grown(limit) / grown(pair[1].rms)).sqrt();
                return pair[0].op_ratio + share * (pair[1].op_ratio - pair[0].op_ratio);
            }
            if pair[1].rms <= limit {
                inside = pair[1].op_ratio;
            }
        }
        inside
    };
    let below = profile.iter().rev().filter(|point| point.op_ratio <= best + 1e-9).copied();
    let above = profile.iter().filter(|point| point.op_ratio >= best - 1e-9).copied();
    (edge(below.collect()), edge(above.collect()))
}

fn range(
    values: impl Iterator<Item = f64>,
    low: fn(f64, f64) -> f64,
    high: fn(f64, f64) -> f64,
) -> (f64, f64) {
    values.fold((f64::INFINITY, 0.0), |(least, most), own| (low(least, own), high(most, own)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_where_the_profile_crosses_the_limit() {
        let point = |op_ratio, rms| ProfilePoint { op_ratio, rms };
        let profile = [
            point(0.08, 0.31_f64.sqrt()),
            point(0.09, 0.1),
            point(0.10, 0.05),
            point(0.11, 0.1),
            point(0.12, 0.1),
        ];
        let (least, most) = crossing(&profile, 0.085_f64.sqrt(), 0.10);
        assert!((least - 0.085).abs() < 1e-9, "{least}");
        assert!((most - 0.12).abs() < 1e-9, "open: {most}");
    }
}
