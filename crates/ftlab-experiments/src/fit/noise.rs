//! How likely a drive is to have written what was measured.
//!
//! Two drives of one kind do not write the same: what is overwritten when is chance, and the fewer units a drive has, the
//! more of that is seen in an interval. A candidate is held against the mean of its seeds. What is left is
//!
//! - errors that all intervals [share](super::shared);
//! - chance of the drive that was measured: as that between seeds of the candidate, and of those that differ in
//!   over-provisioning only, since three seeds tell it badly ([`scale`](super::scale) has it of the real size);
//! - counters: as in intervals in which nothing is moved;
//! - what no candidate has: as much as the best of them lacks.
//!
//! So the deviance of an interval is ln(s) + q / s. There, s is the sum of the three, and q the mean square of what is left,
//! less the chance of the seeds' mean. Both are of each series apart: where chance is large, a series tells little. A drive of large units has to be off by more than one of small units. One that is off
//! by less than it should is no better for that: q / s is 1 at least.

use super::drive::{Candidate, Part, Trial};
use super::runner::SEEDS;
use super::shared::{Likeliest, likeliest};
use std::collections::HashMap;

/// The 95% quantile of chi-square with one degree of freedom.
const CHI_SQUARE: f64 = 3.841;

/// The 95% quantile of the normal distribution.
const NORMAL: f64 = 1.645;

/// Chance and counters are no less than this, in WAF - 1: rounding.
const LEAST: f64 = 1e-8;

/// What is known of how far intervals are off, whatever the drive.
#[derive(Debug, Clone)]
pub(super) struct Noise {
    series: Vec<OfSeries>,
    /// Chance of drives that differ in over-provisioning only.
    alike: HashMap<Kind, Alike>,
    /// Intervals of all series that are worth as much as independent ones.
    pub(super) intervals: f64,
}

/// All of a drive but its over-provisioning: FTL, pages of a unit, and when it collects. Of several series, where units have
/// as many pages as the over-provisioning takes, these count in quarters of a doubling.
type Kind = (String, u32, String);

/// What drives that differ in over-provisioning only tell of chance.
#[derive(Debug, Clone, Default)]
struct Alike {
    drives: usize,
    /// Of each series, the sum of the logarithms of their variances.
    ln_chance: Vec<f64>,
}

/// What is known of the intervals of a series.
#[derive(Debug, Clone, Copy)]
struct OfSeries {
    /// The variance of counters, and of what no candidate has.
    floor: f64,
    /// Intervals that are worth as much as independent ones.
    intervals: f64,
}

/// How unlikely a candidate is.
#[derive(Debug, Clone, Copy)]
struct Deviance {
    of_interval: f64,
    /// The standard deviation that it has because few seeds were run.
    unsure: f64,
}

impl Noise {
    /// What these trials tell of it, each of which has several seeds.
    pub(super) fn of<'t>(trials: impl Iterator<Item = &'t Trial> + Clone) -> Self {
        let Some(best) = trials.clone().min_by(|a, b| a.left().total_cmp(&b.left())) else {
            return Self { series: Vec::new(), alike: HashMap::new(), intervals: 2.0 };
        };
        let lacks = |trial: &Trial| -> Vec<f64> {
            let parts = trial.parts.iter().zip(&best.parts);
            let lacks = |(own, best): (&Part, &Part)| {
                let chance = own.chance + best.quiet;
                (own.left_beside_shared(chance + LEAST, own.residuals.len() as f64).0 - chance)
                    .max(0.0)
            };
            parts.map(lacks).collect()
        };
        let sum = |lacking: &Vec<f64>| lacking.iter().sum::<f64>();
        let mut alike: HashMap<Kind, Alike> = HashMap::new();
        for trial in trials.clone() {
            let own = alike.entry(kind(trial)).or_default();
            own.drives += 1;
            own.ln_chance.resize(best.parts.len(), 0.0);
            for (sum, part) in own.ln_chance.iter_mut().zip(&trial.parts) {
                *sum += (part.chance + LEAST).ln();
            }
        }
        let least = trials.map(lacks).min_by(|a, b| sum(a).total_cmp(&sum(b)));
        let series = best.parts.iter().zip(least.unwrap_or_default()).map(|(own, lacking)| {
            let floor = own.quiet + lacking + LEAST;
            OfSeries { floor, intervals: independent(&own.residuals) }
        });
        let series: Vec<OfSeries> = series.collect();
        let intervals = series.iter().map(|own| own.intervals).sum();
        Self { series, alike, intervals }
    }

    fn deviance(&self, trial: &Trial) -> Deviance {
        let (mut sum, mut unsure) = (0.0, 0.0_f64);
        let alike = self.alike.get(&kind(trial));
        for (at, (part, of)) in trial.parts.iter().zip(&self.series).enumerate() {
            let told = alike.map(|all| ((all.ln_chance[at] / all.drives as f64).exp(), all.drives));
            let own = of.deviance(part, told.unwrap_or((part.chance, 1)));
            sum += of.intervals * own.of_interval;
            unsure = unsure.hypot(of.intervals * own.unsure);
        }
        Deviance { of_interval: sum / self.intervals, unsure: unsure / self.intervals }
    }

    /// The order of two trials, the likelier first.
    pub(super) fn likelier(&self, a: &Trial, b: &Trial) -> std::cmp::Ordering {
        self.deviance(a).of_interval.total_cmp(&self.deviance(b).of_interval)
    }

    /// How far a trial is beyond what the best excludes: the bounds are at 1, and nothing is 0.
    pub(super) fn beyond(&self, trial: &Trial, best: &Trial) -> f64 {
        let [own, best] = [trial, best].map(|of| self.deviance(of));
        let unsure = NORMAL * own.unsure.hypot(best.unsure);
        let most = CHI_SQUARE / self.intervals + unsure;
        ((own.of_interval - best.of_interval) / most).max(0.0)
    }

    /// The mean square at the bounds, of a drive with the chance of this one.
    pub(super) fn square_most(&self, best: &Trial) -> f64 {
        let parts = best.parts.iter().zip(&self.series);
        let variance: f64 = parts.map(|(part, of)| part.chance + of.floor).sum();
        best.mean_square() + variance / best.parts.len().max(1) as f64 * self.most(best)
    }

    /// How much more the deviance of an interval may be, on average.
    fn most(&self, best: &Trial) -> f64 {
        CHI_SQUARE / self.intervals + NORMAL * std::f64::consts::SQRT_2 * self.deviance(best).unsure
    }

    /// Whether one run of a candidate is beyond the bounds for sure, as one of the series says. Of each series, `times` is how
    /// much larger its mean square may be.
    pub(super) fn is_hopeless(&self, trial: &Trial, best: &Trial, times: &[f64]) -> bool {
        // The fewer units, the more of chance is seen.
        let fewer =
            f64::from(trial.candidate.pages_per_block) / f64::from(best.candidate.pages_per_block);
        let most = self.most(best);
        let parts = trial.parts.iter().zip(&best.parts).zip(&self.series).zip(times);
        parts.into_iter().any(|(((own, best), of), times)| {
            let share = of.intervals / self.intervals;
            let square_most = best.mean_square() + (best.chance + of.floor) * most / share;
            own.left_beside_shared(best.chance + of.floor, of.intervals).0
                > times * (2.0 * square_most + 6.0 * best.chance * fewer.max(1.0))
        })
    }
}

impl OfSeries {
    /// That of a drive whose chance is told by so many like it.
    fn deviance(&self, part: &Part, (chance, drives): (f64, usize)) -> Deviance {
        let variance = chance + self.floor;
        let (left, of_shared) = part.left_beside_shared(variance, self.intervals);
        let off = left / variance;
        let of_interval = variance.ln() + off.max(1.0) + of_shared;
        let square = (left + part.simulated).max(variance);
        let of_mean = 2.0 * (square * part.simulated / self.intervals).sqrt() / variance;
        // How well that many seeds tell what chance is.
        let told = self.intervals * (SEEDS - 1) as f64 * drives as f64;
        let changes = if off < 1.0 { 1.0 } else { (1.0 - off).abs() };
        let of_chance = changes * chance / variance * (2.0 / told).sqrt();
        Deviance { of_interval, unsure: of_mean.hypot(of_chance) }
    }
}

impl Part {
    /// The mean square that is left with the likeliest errors that intervals share, beside the chance of the seeds, if intervals
    /// have this variance and are worth so many independent ones; and how much these add to the deviance of an interval.
    fn left_beside_shared(&self, variance: f64, intervals: f64) -> (f64, f64) {
        let Likeliest { square, unlikely } =
            likeliest(&self.residuals, &self.shared, variance, intervals);
        ((square - self.simulated).max(0.1 * square), unlikely / intervals)
    }
}

fn kind(trial: &Trial) -> Kind {
    let Candidate { ftl, pages_per_block, gc, .. } = trial.candidate.clone();
    let is_one = trial.parts.len() == 1;
    let quarters = || (4.0 * f64::from(pages_per_block).log2()).round() as u32;
    (ftl, if is_one { pages_per_block } else { quarters() }, gc)
}

/// How many independent intervals are worth as much as these.
fn independent(residuals: &[f64]) -> f64 {
    let count = residuals.len() as f64;
    let squares: f64 = residuals.iter().map(|off| off * off).sum();
    let pairs: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let alike = (pairs / squares.max(1e-300)).clamp(0.0, 0.95);
    (count * (1.0 - alike) / (1.0 + alike)).max(count.min(2.0))
}

#[cfg(test)]
mod tests {
    use super::super::drive::Nearness;
    use super::super::scale::ERROR;
    use super::super::series::Distance;
    use super::super::shared::Shared;
    use super::*;

    /// A trial with units of this size that is `off` by this much, and what chance makes of a drive like it.
    fn trial(pages_per_block: u32, off: f64, chance: f64, quiet: Option<f64>) -> Trial {
        let candidate = Candidate {
            ftl: "fifo".into(),
            capacity: 1 << 30,
            op_ratio: 0.1,
            pages_per_block,
            reserve: 4,
            gc: "foreground".into(),
        };
        // Apart from its neighbours, as noise is.
        let residuals: Vec<f64> = (0..64).map(|n| if n % 2 == 0 { off } else { -off }).collect();
        Trial {
            candidate,
            op_ratio: 0.1,
            unit_bytes: 1.0,
            units: 100,
            distance: Distance { rms: off, mean: 0.0, last_fifth: 0.0 },
            series: Vec::new(),
            nearness: Nearness { rms: off, mean: 0.0 },
            parts: vec![Part {
                residuals,
                shared: Shared::default(),
                chance: chance.powi(2),
                simulated: 1e-9,
                quiet: quiet.map_or(0.0, |own| own * own),
            }],
        }
    }

    #[test]
    fn a_drive_is_as_far_off_as_chance_makes_it() {
        // Counters that are right to a thousandth, and intervals that are 2% off: as a drive of large units would be.
        let fine = trial(32, 0.02, 0.005, Some(0.001));
        let coarse = trial(128, 0.02, 0.02, Some(0.001));
        let noise = Noise::of([&fine, &coarse].into_iter());
        assert!(noise.likelier(&coarse, &fine).is_lt());
        assert!(noise.beyond(&fine, &coarse) > 1.0, "{}", noise.beyond(&fine, &coarse));
        assert!(noise.beyond(&coarse, &coarse) < 1e-9);
        // If counters are off by as much, a drive of large units would be off by more.
        let with_counters_off = |of: &Trial| {
            let mut of = of.clone();
            of.parts[0].quiet = 4e-4;
            of
        };
        let [fine, coarse] = [&fine, &coarse].map(with_counters_off);
        let noise = Noise::of([&fine, &coarse].into_iter());
        assert!(noise.beyond(&coarse, &fine) > 1.0 && noise.beyond(&fine, &coarse) < 1e-9);
    }

    #[test]
    fn a_series_that_is_chance_tells_less_than_one_that_is_not() {
        let with_zones = |off: f64, off_zones: f64, chance: f64| {
            let mut of = trial(32, off, 0.002, None);
            of.parts.extend(trial(32, off_zones, chance, None).parts);
            of
        };
        let right = with_zones(0.002, 0.33, 0.3);
        let smooth = with_zones(0.03, 0.30, 0.02);
        assert!(smooth.mean_square() < right.mean_square(), "the nearer by distance");
        let noise = Noise::of([&right, &smooth].into_iter());
        assert!(noise.likelier(&right, &smooth).is_lt());
        assert!(noise.beyond(&smooth, &right) > 1.0, "{}", noise.beyond(&smooth, &right));
        // One run may be off by chance where that is large, and not where it is small.
        assert!(!noise.is_hopeless(&with_zones(0.002, 0.5, 0.0), &right, &[1.0, 1.0]));
        assert!(noise.is_hopeless(&with_zones(0.05, 0.3, 0.0), &right, &[1.0, 1.0]));
    }

    #[test]
    fn what_two_sizes_add_may_be_more_or_less() {
        let add = |trial: &mut Trial, of_scale: f64, off: f64| {
            let part = &mut trial.parts[0];
            part.shared[0] = vec![ERROR * of_scale; part.residuals.len()];
            part.residuals.iter_mut().for_each(|own| *own += off);
        };
        let right = trial(32, 0.005, 0.005, Some(0.001));
        // 1.5% off in all intervals: a fifth of 7.5% that two sizes add, and five times what another two add.
        let [mut by_scale, mut by_more] = [right.clone(), right.clone()];
        add(&mut by_scale, 0.075, 0.015);
        add(&mut by_more, 0.003, 0.015);
        let noise = Noise::of([&right, &by_scale, &by_more].into_iter());
        let [likely, unlikely] = [&by_scale, &by_more].map(|own| noise.beyond(own, &right));
        assert!(likely < 1.0 && unlikely > 1.0, "{likely} {unlikely}");
        // The answer still says how far it is off.
        assert!(by_scale.mean_square() > right.mean_square() + 0.014_f64.powi(2));
    }

    #[test]
    fn what_no_drive_explains_is_no_reason_against_any() {
        let best = trial(32, 0.05, 0.005, Some(0.001));
        let near = trial(64, 0.0505, 0.005, Some(0.001));
        let far = trial(64, 0.08, 0.005, Some(0.001));
        let noise = Noise::of([&best, &near, &far].into_iter());
        assert!(noise.beyond(&near, &best) < 1.0, "{}", noise.beyond(&near, &best));
        assert!(noise.beyond(&far, &best) > 1.0);
        assert!(noise.square_most(&best) > best.mean_square());
    }
}
