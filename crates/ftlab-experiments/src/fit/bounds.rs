//! What a series cannot tell apart: profiles of the likelihood.
//!
//! A drive is within the bounds if its deviance ([`noise`](super::noise)) is no more than 3.84 above that of the best, the
//! 95% quantile of chi-square with one degree of freedom, over as many intervals as independent ones are worth: n, less for
//! those that are off like the one before them, n (1 - r) / (1 + r) with their correlation r. That seeds are few is allowed
//! for with 1.645 standard deviations (95%). Units of every size and other schedules of collection are tried, since both
//! may stand for more or less over-provisioning. Drives of other FTLs that are as good are tried in the same way.

use super::drive::{Candidate, Closely, Trial};
use super::noise::Noise;
use super::question::Question;
use super::runner::Runner;
use super::search::{AGAIN, SEEDS_AGAIN, is_as_large, matched, schedules, try_each};
use crate::error::ExperimentsError;
use ftlab_ftl::page::GcSchedule;
use serde::Serialize;
use std::collections::HashSet;

/// Over-provisioning is looked at in these steps on either side of the best. A step is this share of it, times how far the
/// best is off, within these limits; or of one series a unit, if that is more.
const STEPS: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
const STEP: f64 = 0.4;
const STEP_RMS: (f64, f64) = (0.01, 0.15);

/// Standard deviations that 95% of what pace tells is off by at most.
const NORMAL: f64 = 1.96;

/// Units beside the reserve that the simplest FTL needs: one is open, and one is collected into.
const BLOCKS_MIN: u32 = 2;

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

impl Bounds {
    /// Bounds of the first of these drives as those of all: each is within as many times its own over-provisioning.
    fn spanning(self, drives: &[Trial]) -> Self {
        let own = drives[0].op_ratio;
        let (least, most) = (self.op_ratio.0 / own, self.op_ratio.1 / own);
        let ends = drives.iter().map(|other| (least * other.op_ratio, most * other.op_ratio));
        let op_ratio =
            ends.fold(self.op_ratio, |(low, high), own| (low.min(own.0), high.max(own.1)));
        Self { op_ratio, ..self }
    }

    /// Wide enough for another drive.
    fn with(self, other: &Trial) -> Self {
        let wide = |(least, most): (f64, f64), own: f64| (least.min(own), most.max(own));
        Self {
            op_ratio: wide(self.op_ratio, other.op_ratio),
            unit_bytes: wide(self.unit_bytes, other.unit_bytes),
            ..self
        }
    }
}

/// How well an over-provisioning does, with the units of the best and its schedule of collection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ProfilePoint {
    /// (physical - logical) / logical.
    pub op_ratio: f64,
    /// How far off it is.
    pub rms: f64,
}

/// How far beyond the bounds a drive with some over-provisioning is.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Point {
    op_ratio: f64,
    beyond: f64,
}

/// Units are followed in steps of so many doublings, from drives that are no further beyond the bounds than this, and over no
/// more sizes than these.
const UNITS_APART: f64 = 0.18;
const FOLLOWED_BEYOND: f64 = 2.0;
const FOLLOWED_MOST: usize = 24;

/// What was hopeless is at least so far beyond.
const PRUNED: f64 = 2.0;

/// What is known about a fit, and how well.
pub(super) struct Profiled {
    pub(super) bounds: Bounds,
    pub(super) noise: Noise,
    pub(super) profile: Vec<ProfilePoint>,
    /// The drive around which this is.
    pub(super) around: Candidate,
    /// The best of all that was tried on the way.
    pub(super) best: Trial,
}

impl Question {
    /// Finds the bounds around the best drive; `others` tell of the noise as well.
    pub(super) fn bounds(
        &self,
        runner: &Runner<'_>,
        best: &Trial,
        others: &[Trial],
        threads: usize,
    ) -> Result<Profiled, ExperimentsError> {
        let noise = Noise::of(others.iter().chain([best]));
        let own = &best.candidate;
        let closely = |tried: &[Candidate]| self.try_closely(runner, best, tried, &noise, threads);
        let centres = self.centres(runner, best, &noise, threads)?;
        let tried: Vec<Candidate> =
            centres.iter().flat_map(|centre| self.around(centre, best)).collect();
        let mut all = closely(&tried)?;
        let reserves = closely(&self.other_reserves(best))?;
        all.push(Closely { trial: best.clone(), is_whole: true });
        if self.series.len() > 1 {
            self.follow_units(runner, best, &noise, &mut all, threads)?;
        }
        self.run_again(runner, best, &noise, &mut all, threads)?;
        // What these lack is less than what the first few did, or as much.
        let whole = all.iter().filter(|own| own.is_whole).map(|own| &own.trial);
        let noise = Noise::of(whole.clone().chain(others));
        let likeliest = whole.clone().min_by(|a, b| noise.likelier(a, b)).unwrap_or(best);
        let is_within = |trial: &&Trial| noise.beyond(trial, likeliest) <= 1.0;
        let within = || whole.clone().filter(is_within);
        let points = |of: &Closely| {
            let beyond = noise.beyond(&of.trial, likeliest);
            Point {
                op_ratio: of.trial.op_ratio,
                beyond: if of.is_whole { beyond } else { beyond.max(PRUNED) },
            }
        };
        let mut groups: Vec<(u32, &str, Vec<Point>)> = Vec::new();
        for of in &all {
            let (pages, gc) = (self.about(&of.trial.candidate), of.trial.candidate.gc.as_str());
            match groups.iter_mut().find(|group| (group.0, group.1) == (pages, gc)) {
                Some(group) => group.2.push(points(of)),
                None => groups.push((pages, gc, vec![points(of)])),
            }
        }
        let ends = groups.into_iter().filter_map(|(_, _, points)| extent(points));
        let ends: Vec<f64> = ends.flat_map(|(least, most)| [least, most]).collect();
        let (least, most) = range(ends.into_iter(), f64::min, f64::max);
        let reserves = reserves.iter().filter(|own| own.is_whole).map(|own| &own.trial);
        let reserves = reserves.chain([best]).filter(|own| noise.beyond(own, likeliest) <= 1.0);
        let reserves = reserves.map(|trial| trial.candidate.reserve);
        let rms_of = |square: f64| {
            let own = likeliest.mean_square().max(1e-300);
            likeliest.distance.rms * (square / own).sqrt()
        };
        let bounds = Bounds {
            op_ratio: (least.min(likeliest.op_ratio), most.max(likeliest.op_ratio)),
            unit_bytes: range(within().map(|trial| trial.unit_bytes), f64::min, f64::max),
            reserve: reserves
                .fold((own.reserve, own.reserve), |(low, high), own| (low.min(own), high.max(own))),
            rms_most: rms_of(noise.square_most(likeliest)).hypot(NORMAL * self.error()),
            intervals: noise.intervals,
        };
        let is_alike = |own: &&Closely| {
            let (own, best) = (&own.trial.candidate, &likeliest.candidate);
            (self.about(own), &own.gc) == (self.about(best), &best.gc)
        };
        let profile = points_of_profile(all.iter().filter(is_alike).map(|own| &own.trial));
        Ok(Profiled {
            bounds,
            noise,
            around: best.candidate.clone(),
            best: likeliest.clone(),
            profile,
        })
    }

    /// Adds drives with units a little larger and smaller than of those within the bounds, or nearly, until they are beyond.
    /// Units and over-provisioning stand for each other, so that one cannot be bounded without the other.
    fn follow_units(
        &self,
        runner: &Runner<'_>,
        best: &Trial,
        noise: &Noise,
        all: &mut Vec<Closely>,
        threads: usize,
    ) -> Result<(), ExperimentsError> {
        let place = |own: &Candidate| (own.gc.clone(), self.about(own));
        let mut known = HashSet::new();
        let mut followed = 0;
        loop {
            let whole = all.iter().filter(|own| own.is_whole).map(|own| &own.trial);
            let likeliest = whole.clone().min_by(|a, b| noise.likelier(a, b)).unwrap_or(best);
            let mut near: Vec<&Trial> =
                whole.filter(|own| noise.beyond(own, likeliest) <= FOLLOWED_BEYOND).collect();
            near.sort_by(|a, b| noise.likelier(a, b));
            known.extend(near.iter().map(|own| place(&own.candidate)));
            let mut starts: Vec<Candidate> = Vec::new();
            for own in near {
                let beside = self.larger_and_smaller(&own.candidate).into_iter();
                starts.extend(beside.filter(|own| self.has_room(own) && known.insert(place(own))));
            }
            starts.truncate(FOLLOWED_MOST - followed);
            if starts.is_empty() {
                return Ok(());
            }
            followed += starts.len();
            let found = matched(runner, &self.whole(None), &starts, threads)?;
            let tried: Vec<Candidate> =
                found.iter().flat_map(|own| self.around(&own.candidate, best)).collect();
            all.extend(self.try_closely(runner, best, &tried, noise, threads)?);
        }
    }

    /// The bounds of all drives that are as good, the best of which is the first: those of its own, as wide around each of
    /// the others, and wide enough for others with units of another size.
    pub(super) fn bounds_of_all(
        &self,
        runner: &Runner<'_>,
        profiled: &Profiled,
        as_good: &[Trial],
        threads: usize,
    ) -> Result<Bounds, ExperimentsError> {
        let (best, noise) = (&profiled.best, &profiled.noise);
        let mut resized = Vec::new();
        for other in &as_good[1..] {
            resized.extend(self.centres(runner, other, noise, threads)?);
        }
        let tried = self.try_closely(runner, best, &resized, noise, threads)?;
        let within = tried.iter().filter(|own| own.is_whole).map(|own| &own.trial);
        let within = within.filter(|trial| noise.beyond(trial, best) <= 1.0);
        Ok(within.fold(profiled.bounds.clone().spanning(as_good), Bounds::with))
    }

    /// The best, and drives with units of every size and with other schedules of collection, each with the
    /// over-provisioning with which it writes as much as was measured.
    fn centres(
        &self,
        runner: &Runner<'_>,
        best: &Trial,
        noise: &Noise,
        threads: usize,
    ) -> Result<Vec<Candidate>, ExperimentsError> {
        let own = &best.candidate;
        let mut schedules = if self.tries_gradual { schedules() } else { Vec::new() };
        if !schedules.contains(&own.gc) {
            schedules.push(own.gc.clone());
        }
        let whole = self.whole(None);
        let scheduled = |gc: &String| Candidate { gc: gc.clone(), ..own.clone() };
        let others = schedules.iter().map(scheduled);
        let others = others.filter(|other| other != own && self.has_room(other));
        let mut found = matched(runner, &whole, &others.collect::<Vec<_>>(), threads)?;
        // What is gradual may stand for units of another size, and the other way round.
        let plain = GcSchedule::Foreground.to_string();
        let resized = schedules.iter().filter(|gc| **gc == own.gc || **gc == plain);
        let firsts: Vec<Trial> =
            resized.map(|gc| Trial { candidate: scheduled(gc), ..best.clone() }).collect();
        let other = |first: &Trial, pages| {
            let other = self.with_units(&first.candidate, pages);
            (!is_as_large(pages, own.pages_per_block) && self.has_room(&other)).then_some(other)
        };
        let as_it_is = vec![1.0; self.series.len()];
        let is_far = |other: &Trial, _: &Trial| noise.is_hopeless(other, best, &as_it_is);
        found.extend(self.matched_in_sizes((runner, &whole), &firsts, other, is_far, threads)?);
        let matched = found.into_iter().map(|trial| trial.candidate);
        Ok(std::iter::once(own.clone()).chain(matched).collect())
    }

    /// Runs those that are within the bounds, or nearly, with more seeds.
    fn run_again(
        &self,
        runner: &Runner<'_>,
        best: &Trial,
        noise: &Noise,
        all: &mut Vec<Closely>,
        threads: usize,
    ) -> Result<(), ExperimentsError> {
        let far = |own: &Closely| {
            if own.is_whole { noise.beyond(&own.trial, best) } else { f64::INFINITY }
        };
        all.sort_by(|a, b| far(a).total_cmp(&far(b)));
        let candidate = |own: &Closely| own.trial.candidate.clone();
        // The best is among the others as well.
        all.dedup_by(|a, b| a.is_whole && b.is_whole && a.trial.candidate == b.trial.candidate);
        let near = all.iter().take(AGAIN).take_while(|own| far(own) <= 1.0).count();
        let candidates: Vec<Candidate> = all[..near].iter().map(candidate).collect();
        let again = try_each(runner, &self.whole(None), &candidates, SEEDS_AGAIN, threads)?;
        for (own, again) in all.iter_mut().zip(again) {
            if let Some(trial) = again {
                own.trial = trial;
            }
        }
        Ok(())
    }

    /// Pages of a unit of drives whose over-provisioning is compared: of several series about as many, in steps.
    fn about(&self, own: &Candidate) -> u32 {
        if self.series.len() == 1 {
            return own.pages_per_block;
        }
        (f64::from(own.pages_per_block).log2() / UNITS_APART).round() as u32
    }

    /// Whether a drive has blocks in reserve, open and to collect into.
    pub(super) fn has_room(&self, own: &Candidate) -> bool {
        let unit = f64::from(own.pages_per_block) / f64::from(self.pages);
        own.op_ratio >= unit * f64::from(own.reserve + BLOCKS_MIN)
    }

    /// A drive with more and less over-provisioning, in steps that change what it writes about as much as the best is off,
    /// and what was measured may be.
    fn around(&self, centre: &Candidate, best: &Trial) -> Vec<Candidate> {
        let unit = f64::from(centre.pages_per_block) / f64::from(self.pages);
        let rms = best.distance.rms.hypot(self.error()).clamp(STEP_RMS.0, STEP_RMS.1);
        let least = if self.series.len() == 1 { unit } else { 0.0 };
        let step = (STEP * rms * centre.op_ratio).max(least);
        let at = |steps: f64| centre.op_ratio + steps * step;
        let mut ratios: Vec<f64> = STEPS.iter().flat_map(|own| [at(*own), at(-*own)]).collect();
        ratios.push(centre.op_ratio);
        let all = ratios.into_iter().map(|op_ratio| Candidate { op_ratio, ..centre.clone() });
        let all = all.map(|own| self.in_whole_units(&own));
        all.filter(|own| self.has_room(own)).collect()
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

/// How far off each over-provisioning is, ascending, each once.
fn points_of_profile<'a>(trials: impl Iterator<Item = &'a Trial>) -> Vec<ProfilePoint> {
    let of = |trial: &Trial| ProfilePoint { op_ratio: trial.op_ratio, rms: trial.distance.rms };
    let mut points: Vec<ProfilePoint> = trials.map(of).collect();
    points.sort_by(|a, b| a.op_ratio.total_cmp(&b.op_ratio).then(a.rms.total_cmp(&b.rms)));
    points.dedup_by(|a, b| (a.op_ratio - b.op_ratio).abs() < 1e-9);
    points
}

/// Where a profile crosses the bounds on either side; its ends if it does not; `None` if none of it is within. Between two
/// points the deviance grows with the square of the distance, as it does beside the best.
fn extent(mut points: Vec<Point>) -> Option<(f64, f64)> {
    points.sort_by(|a, b| a.op_ratio.total_cmp(&b.op_ratio));
    let is_within = |point: &Point| point.beyond <= 1.0;
    let (first, last) = (points.iter().position(is_within)?, points.iter().rposition(is_within)?);
    let edge = |inside: Point, outside: Option<&Point>| match outside {
        None => inside.op_ratio,
        Some(outside) => {
            let share = ((1.0 - inside.beyond) / (outside.beyond - inside.beyond)).sqrt();
            inside.op_ratio + share.min(1.0) * (outside.op_ratio - inside.op_ratio)
        }
    };
    let below = first.checked_sub(1).map(|at| &points[at]);
    Some((edge(points[first], below), edge(points[last], points.get(last + 1))))
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
    use super::super::drive::Nearness;
    use super::*;

    #[test]
    fn bounds_are_where_the_profile_crosses_the_limit() {
        let point = |op_ratio, beyond| Point { op_ratio, beyond };
        let profile = [point(0.12, 0.3), point(0.08, 4.0), point(0.09, 0.2), point(0.10, 0.0)];
        let (least, most) = extent(profile.to_vec()).unwrap();
        let share = (0.8_f64 / 3.8).sqrt();
        assert!((least - (0.09 - 0.01 * share)).abs() < 1e-9, "{least}");
        assert!((most - 0.12).abs() < 1e-9, "open: {most}");
        assert_eq!(extent(vec![point(0.1, 2.0)]), None);
    }

    #[test]
    fn bounds_span_what_is_as_good() {
        let bounds = Bounds {
            op_ratio: (0.09, 0.12),
            unit_bytes: (1.0, 2.0),
            reserve: (4, 8),
            rms_most: 0.1,
            intervals: 10.0,
        };
        let [first, other] = [0.1, 0.2].map(trial);
        assert_eq!(bounds.clone().spanning(std::slice::from_ref(&first)), bounds);
        let both = bounds.clone().spanning(&[first, other]);
        assert!((both.op_ratio.0 - 0.09).abs() < 1e-12 && (both.op_ratio.1 - 0.24).abs() < 1e-12);
        assert_eq!(Bounds { op_ratio: bounds.op_ratio, ..both }, bounds);
    }

    fn trial(op_ratio: f64) -> Trial {
        Trial {
            candidate: Candidate {
                ftl: "fifo".into(),
                capacity: 1 << 30,
                op_ratio,
                pages_per_block: 64,
                reserve: 4,
                gc: "foreground".into(),
            },
            op_ratio,
            unit_bytes: 1.0,
            units: 100,
            distance: crate::fit::series::Distance { rms: 0.0, mean: 0.0, last_fifth: 0.0 },
            series: Vec::new(),
            nearness: Nearness { rms: 0.0, mean: 0.0 },
            parts: Vec::new(),
        }
    }
}
