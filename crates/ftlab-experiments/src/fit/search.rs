//! The search. Over the beginning of the series, every FTL with the over-provisioning that makes it write as much as
//! was measured, then the better ones with units of every size. Then, over all of it, the best of those, step by step, and of
//! one series all FTLs with units of every size; what comes of it is held against each other over several seeds, since
//! chance is not the same twice.

use super::drive::{Candidate, Closely, Trial};
use super::noise::Noise;
use super::question::{Extent, Question, UNIT_PAGES};
use super::runner::{Runner, SEEDS};
use super::scale::LARGE;
use crate::error::ExperimentsError;
use crate::parallel::parallel;
use ftlab_ftl::page::GcSchedule;
use ftlab_ftl::registry;
use ftlab_spec::Spec;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// Over-provisioning of the coarse grid: this many steps from the least to the most.
const OP_STEPS: i32 = 7;

/// Drives of the coarse grid are this much smaller.
const COARSER: u32 = 4;

/// Units of drives before their size is looked for.
const UNITS: u32 = 1024;

/// FTLs that are tried with units of every size: those within this factor of the best, in order, no fewer and no more than
/// these.
const SIZED: (f64, usize, usize) = (3.0, 5, 12);

/// Drives with the plainest FTLs tell which units are tried first, and how much of a series is chance. These are run with several
/// seeds: those within this factor of the nearest, no fewer and no more than these. And no more sizes are tried first than this.
const FIRST_SIZES: (f64, usize, usize) = (2.0, 3, 10);
const SIZES_MOST: usize = 2;

/// Where there are several series, this many drives of each FTL are run with several seeds: of all those within this factor
/// of the nearest, no fewer and no more than these.
const NEAREST_OF_EACH: usize = 3;
const LIKELIEST: (f64, usize, usize) = (3.0, 10, 60);

/// FTLs that are tried with units of every size, and drives that are looked at over the whole series, if one is left out;
/// and how many of these are run with several seeds.
const OTHERS: (f64, usize, usize) = (2.0, 3, 5);
const CLOSELY: usize = 3;

/// Drives that are looked at over the whole series, of whatever FTL; the best of each FTL is followed step by step.
const FOLLOWED: (f64, usize, usize) = (1.5, 5, 10);

/// FTLs that are looked at over the whole series beside those: within this factor of the best, and no more than these.
const FURTHER: (f64, usize) = (2.0, 14);

/// Drives that are tried in units of every size with several seeds: within this factor of the best, no fewer and no more
/// than these.
const RESIZED: (f64, usize, usize) = (2.0, 2, 12);

/// Of several series, those are that are no further beyond the bounds than this.
const RESIZED_BEYOND: f64 = 3.0;

/// Units are too large if chance alone would make of them this many times what is left.
const COARSEST: f64 = 4.0;

/// Drives that are tried with gradual collection: those within this factor of the best, no fewer and no more than these;
/// and the free units, in a million of all, below which it begins.
const GRADUAL: (f64, usize, usize) = (1.5, 3, 5);
const GRADUAL_FROM: [u32; 4] = [10_000, 20_000, 40_000, 80_000];

/// What throttled collection is tried with: free units below which it begins, invalid pages of a victim, and relocations for
/// a host page, all in a million. One series does not tell it from more over-provisioning.
const THROTTLED: (u32, u32, [u32; 4]) = (400_000, 500_000, [50_000, 100_000, 200_000, 400_000]);

/// A step of its beginning and of its relocations, as a share of them, is this times the step of over-provisioning.
const THROTTLE_STEPS: f64 = 25.0;

/// Steps of over-provisioning begin at this and end at that, as shares of it.
const OP_STEP: (f64, f64) = (0.01, 0.005);

/// A step of units, in doublings, is this times the step of over-provisioning.
const UNIT_STEPS: f64 = 25.0;

/// Write amplification less 1 is matched if the logarithm of its ratio to the measured one is at most this.
const MATCHED: f64 = 0.004;

/// Runs with which it is matched, at most.
const MATCHED_IN: usize = 4;

/// A drive that cannot be run is tried again, at most `ROOM_IN` times: with its over-provisioning times `ROOM`, or half-way
/// back to one that could.
const ROOM: f64 = 1.25;
const ROOM_IN: usize = 3;

/// Drives that are looked at more closely: those that are no further beyond the bounds than this, and no more than these at a
/// time, and in all. Of one series, and of several.
const REFINED_OF_ONE: (f64, usize, usize) = (12.0, 8, 32);
const REFINED: (f64, usize, usize) = (6.0, 12, 64);

/// Units a little smaller and larger, as shares of their pages.
const UNIT_STEP: [f64; 2] = [0.88, 1.14];

/// The most that are run again if they are as good, and with how many seeds. The search runs those again that are no further
/// beyond the bounds than this, and no more of an FTL.
pub(super) const AGAIN: usize = 12;
const AGAIN_BEYOND: f64 = 3.0;
const AGAIN_OF_EACH: usize = 2;
pub(super) const SEEDS_AGAIN: u64 = 8;

/// How that logarithm changes with the logarithm of over-provisioning, as a rule, and at least and at most.
const SLOPE: f64 = -1.2;
const SLOPES: (f64, f64) = (-12.0, -0.4);

/// The logarithm of over-provisioning changes by no more than this at a time: a drive that moves nothing says little.
const STEP_MOST: f64 = std::f64::consts::LN_2;

/// What a search finds.
pub(super) struct Found {
    /// The best drive of each FTL that was followed to the end, best first.
    pub(super) followed: Vec<Trial>,
    /// The best of each of the others.
    pub(super) left: Vec<Trial>,
}

/// Drives of one FTL, with units of one size, on the way to the over-provisioning with which they write as much as was
/// measured.
struct Line {
    /// What is tried next.
    next: Candidate,
    tried: Vec<Trial>,
}

/// The best of a line, and by how much its neighbours have more and less over-provisioning.
struct Walker {
    best: Trial,
    step: f64,
}

impl Line {
    fn new(next: Candidate) -> Self {
        Self { next, tried: Vec::new() }
    }

    /// Follows it over a part of the series, and tells its best.
    fn follow(
        mut self,
        runner: &Runner<'_>,
        extent: &Extent<'_>,
    ) -> Result<Option<Trial>, ExperimentsError> {
        for _ in 0..MATCHED_IN + ROOM_IN {
            let next = runner.question().in_whole_units(&self.next);
            if let Some(trial) = runner.trial(&next, extent, 1)? {
                if !self.add(trial) {
                    break;
                }
            } else {
                // Too few blocks, or far too much is moved.
                let known = self.tried.last().map(|known| known.op_ratio);
                let own = self.next.op_ratio;
                self.next.op_ratio = known.map_or(ROOM * own, |known| (known * own).sqrt());
            }
        }
        Ok(self.tried.into_iter().min_by(by_distance))
    }

    /// Takes the next trial in; whether there is one more to try.
    fn add(&mut self, trial: Trial) -> bool {
        let off = trial.excess();
        let far = self
            .tried
            .last()
            .map(|before| (off - before.excess(), (trial.op_ratio / before.op_ratio).ln()));
        let slope = far.filter(|(_, far)| *far != 0.0).map_or(SLOPE, |(more, far)| more / far);
        self.next.op_ratio = matching(&trial, slope);
        self.tried.push(trial);
        off.abs() > MATCHED && self.tried.len() < MATCHED_IN
    }
}

impl Question {
    /// Pages of a unit of which a drive has about `units`.
    fn pages_per_block(&self, units: u32) -> u32 {
        (self.pages / units).clamp(self.unit_pages.0, self.unit_pages.1)
    }

    /// Pages that units may have, in powers of two.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u32> + use<> {
        let (least, most) = self.unit_pages;
        (0..u32::BITS).map(|power| 1 << power).filter(move |pages| (least..=most).contains(pages))
    }

    /// Runs many candidates over the beginning of the series, those that are not hopeless there over all of it, and those
    /// that still are not with several seeds. Of a candidate that is given up, the last run is told.
    pub(super) fn try_closely(
        &self,
        runner: &Runner<'_>,
        best: &Trial,
        candidates: &[Candidate],
        noise: &Noise,
        threads: usize,
    ) -> Result<Vec<Closely>, ExperimentsError> {
        let (whole, beginning) = (self.whole(None), self.beginning(self.pages, None));
        let of_best = |extent| runner.trial(&best.candidate, extent, 1);
        let as_it_is = vec![1.0; self.series.len()];
        let begun = match (of_best(&beginning)?, of_best(&whole)?) {
            (Some(begun), Some(whole)) => {
                let both = begun.parts.iter().zip(&whole.parts);
                let times = both.map(|(a, b)| a.mean_square() / b.mean_square().max(1e-300));
                times.map(|times| times.max(1.0)).collect()
            }
            _ => as_it_is.clone(),
        };
        let rounds = [(&beginning, 1, &begun), (&whole, 1, &as_it_is), (&whole, SEEDS, &as_it_is)];
        let trials = parallel(threads, candidates, |candidate| {
            let mut last = None;
            for (extent, seeds, times) in rounds {
                let Some(trial) = runner.trial(candidate, extent, seeds)? else { return Ok(None) };
                let is_hopeless = seeds == 1 && noise.is_hopeless(&trial, best, times);
                let of = last.insert(Closely { trial, is_whole: false });
                if is_hopeless {
                    break;
                }
                of.is_whole = seeds == SEEDS;
            }
            Ok(last)
        });
        let trials: Result<Vec<_>, ExperimentsError> = trials.into_iter().collect();
        Ok(trials?.into_iter().flatten().collect())
    }

    /// Searches, on `threads`.
    pub(super) fn search(
        &self,
        runner: &Runner<'_>,
        threads: usize,
    ) -> Result<Found, ExperimentsError> {
        let whole = self.whole(None);
        let mut trials = self.begun(runner, None, SIZED, threads)?;
        let mut left = trials.split_off(near(&trials, FOLLOWED));
        let begun_nearness = trials.first().map_or(0.0, |best| best.nearness.rms);
        let followed = self.followed(runner, &whole, trials, threads)?;
        let walkers = followed.into_iter().map(|best| Walker { best, step: OP_STEP.0 }).collect();
        let walked = self.walked(runner, &whole, walkers, threads)?;
        // Others may be as good; looking for them is not worth these steps.
        left = best_of_each(left, &[]);
        left.retain(|other| walked.iter().all(|own| own.ftl != other.candidate.ftl));
        let further = {
            let (factor, most) = FURTHER;
            left.iter()
                .take(most)
                .take_while(|own| own.nearness.rms <= factor * begun_nearness)
                .count()
        };
        let further: Vec<_> = left.drain(..further).map(|trial| trial.candidate).collect();
        let further = matched(runner, &whole, &further, threads)?;
        let all = walked.into_iter().chain(further.into_iter().map(|trial| trial.candidate));
        let all: Vec<Candidate> = all.collect();
        let mut trials: Vec<Trial> =
            try_each(runner, &whole, &all, SEEDS, threads)?.into_iter().flatten().collect();
        trials.sort_by(by_distance);
        let firsts = if self.series.len() == 1 {
            trials[..near(&trials, RESIZED)].to_vec()
        } else {
            likely(&trials, RESIZED_BEYOND, RESIZED.2)
        };
        let other = |best: &Trial, pages| {
            let other = self.resized(&best.candidate, pages);
            other.filter(|_| !is_too_coarse(best, pages))
        };
        let with_all: Vec<Candidate> = firsts
            .iter()
            .flat_map(|best| self.sizes().map(move |pages| (best, pages)))
            .filter_map(|(best, pages)| other(best, pages))
            .collect();
        let in_sizes = |drives: &[Trial]| {
            self.matched_in_sizes((runner, &whole), drives, other, is_no_nearer, threads)
        };
        let mut resized = in_sizes(&firsts)?;
        if self.series.len() == 1 {
            // With units of the wrong size, which its beginning may suggest, an FTL seems far off.
            let others = trials.iter().chain(&left).cloned().collect();
            let mut others = nearest_of_each(in_sizes(&best_of_each(others, &firsts))?);
            let nearest = trials.iter().chain(&others).map(|own| own.nearness.rms);
            let most = RESIZED.0 * nearest.fold(f64::INFINITY, f64::min);
            let mut known = HashSet::new();
            others
                .retain(|own| known.insert(own.candidate.ftl.clone()) || own.nearness.rms <= most);
            resized.extend(others);
        }
        let resized: Vec<Candidate> = resized.into_iter().map(|trial| trial.candidate).collect();
        trials.extend(try_each(runner, &whole, &resized, SEEDS, threads)?.into_iter().flatten());
        // Units tell by chance how large they are, whatever the FTL: the others are tried with those of the likeliest.
        let noise = Noise::of(trials.iter());
        let likeliest = trials.iter().min_by(|a, b| noise.likelier(a, b));
        if let Some(pages) = likeliest.map(|own| own.candidate.pages_per_block) {
            let tried = |own: &Candidate| {
                let is_same = |other: &Candidate| {
                    other.ftl == own.ftl && is_as_large(other.pages_per_block, own.pages_per_block)
                };
                with_all.iter().any(is_same)
            };
            let firsts = all.iter().filter_map(|own| self.resized(own, pages));
            let others: Vec<Candidate> = firsts.filter(|own| !tried(own)).collect();
            trials.extend(matched_closely(runner, &whole, &others, threads)?);
        }
        let mut trials = self.refined(runner, &whole, trials, threads)?;
        let noise = Noise::of(trials.iter());
        // Which is the first is worth more seeds.
        let near = if self.series.len() == 1 {
            few_of_each(trials.clone(), AGAIN_OF_EACH, ftl)
        } else {
            few_of_each(trials.clone(), AGAIN_OF_EACH, kind)
        };
        let near = near.into_iter();
        let near = near.filter(|own| noise.beyond(own, &trials[0]) <= AGAIN_BEYOND).take(AGAIN);
        let near: Vec<Candidate> = near.map(|own| own.candidate).collect();
        for again in try_each(runner, &whole, &near, SEEDS_AGAIN, threads)?.into_iter().flatten() {
            let same = trials.iter_mut().find(|own| own.candidate == again.candidate);
            if let Some(own) = same {
                *own = again;
            }
        }
        let noise = Noise::of(trials.iter());
        trials.sort_by(|a, b| noise.likelier(a, b));
        let followed = few_of_each(trials, 1, ftl);
        Ok(Found { left: best_of_each(left, &followed), followed })
    }

    /// These, the likeliest first, and those that are near with a little more and less over-provisioning as well: where units
    /// are large, one more or less is a step.
    fn refined(
        &self,
        runner: &Runner<'_>,
        whole: &Extent<'_>,
        mut trials: Vec<Trial>,
        threads: usize,
    ) -> Result<Vec<Trial>, ExperimentsError> {
        let is_one = self.series.len() == 1;
        let (beyond, at_once, most) = if is_one { REFINED_OF_ONE } else { REFINED };
        let mut around = HashSet::new();
        loop {
            let noise = Noise::of(trials.iter());
            trials.sort_by(|a, b| noise.likelier(a, b));
            // What was asked for may differ, and the drive not.
            let mut known = HashSet::new();
            trials.retain(|own| known.insert(drive(own)));
            let firsts = if is_one {
                few_of_each(trials.clone(), 1, ftl)
            } else {
                few_of_each(trials.clone(), 1, basin)
            };
            let near = firsts.iter().take(at_once);
            let near = near.filter(|own| noise.beyond(own, &firsts[0]) <= beyond);
            let next: Vec<Candidate> = near
                .filter(|own| around.len() < most && around.insert(drive(own)))
                .flat_map(|own| self.beside(own))
                .collect();
            if next.is_empty() {
                return Ok(trials);
            }
            trials.extend(try_each(runner, whole, &next, SEEDS, threads)?.into_iter().flatten());
        }
    }

    /// Drives with a little more and less over-provisioning, of one series by a unit at least, and of several, with larger
    /// and smaller units.
    fn beside(&self, own: &Trial) -> Vec<Candidate> {
        let unit = f64::from(own.candidate.pages_per_block) / f64::from(self.pages);
        let step = OP_STEP.0 * own.op_ratio;
        let mut beside = if self.series.len() == 1 {
            let step = unit.max(step);
            // What is asked for is rounded up to whole units.
            let at = |step: f64| Candidate {
                op_ratio: own.op_ratio + step - unit / 4.0,
                ..own.candidate.clone()
            };
            vec![at(step), at(-step)]
        } else {
            let at =
                |step: f64| Candidate { op_ratio: own.op_ratio + step, ..own.candidate.clone() };
            let all = [at(step), at(-step)].into_iter().chain(self.larger_and_smaller(&at(0.0)));
            all.map(|other| self.in_whole_units(&other)).collect()
        };
        beside.retain(|other| self.has_room(other));
        beside
    }

    /// Drives with units a little larger and smaller, and as much spare flash beside their reserve.
    pub(super) fn larger_and_smaller(&self, own: &Candidate) -> [Candidate; 2] {
        let (least, most) = self.unit_pages;
        let pages = f64::from(own.pages_per_block);
        UNIT_STEP.map(|factor| {
            self.with_units(own, ((pages * factor).round() as u32).clamp(least, most))
        })
    }

    /// The best drive without a series that is left out, found with fewer steps: units in powers of two, and drives are
    /// not run again that lie between those that were.
    pub(super) fn search_others(
        &self,
        runner: &Runner<'_>,
        left_out: usize,
        threads: usize,
    ) -> Result<Option<Trial>, ExperimentsError> {
        runner.ran.known.tell_between();
        let whole = self.whole(Some(left_out));
        let mut trials = self.begun(runner, Some(left_out), OTHERS, threads)?;
        trials.truncate(near(&trials, OTHERS));
        let followed = self.followed(runner, &whole, trials, threads)?;
        let closely = followed.iter().take(CLOSELY).map(|own| own.candidate.clone());
        let closely: Vec<Candidate> = closely.collect();
        let trials = try_each(runner, &whole, &closely, SEEDS, threads)?;
        let trials: Vec<Trial> = trials.into_iter().flatten().collect();
        let noise = Noise::of(trials.iter());
        Ok(trials.into_iter().min_by(|a, b| noise.likelier(a, b)))
    }

    /// Drives over the beginning of each series, best first: every FTL with the over-provisioning with which it writes as
    /// much as was measured, and the best of them with units of every size.
    fn begun(
        &self,
        runner: &Runner<'_>,
        left_out: Option<usize>,
        in_sizes: (f64, usize, usize),
        threads: usize,
    ) -> Result<Vec<Trial>, ExperimentsError> {
        let beginning = self.beginning(self.pages, left_out);
        let sizes = self.first_sizes(runner, left_out, threads)?;
        let starts = self.starts(runner, &self.ftls, &sizes, left_out, threads)?;
        let mut trials = matched(runner, &beginning, &starts, threads)?;
        let ftls = best_of_each(trials.clone(), &[]);
        let other = |best: &Trial, pages| {
            let other = self.with_units(&best.candidate, pages);
            let is_other = !is_as_large(pages, best.candidate.pages_per_block);
            (is_other && other.op_ratio > 0.0).then_some(other)
        };
        let firsts = &ftls[..near(&ftls, in_sizes)];
        let sized =
            self.matched_in_sizes((runner, &beginning), firsts, other, is_no_nearer, threads)?;
        trials.extend(sized);
        if self.series.len() == 1 {
            trials.sort_by(by_distance);
            return Ok(trials);
        }
        self.likeliest_of_each((runner, &beginning), trials, threads)
    }

    /// The likeliest of each FTL, and of each that collects ahead of need, the likeliest first. Of several series, some are
    /// mostly chance, and a drive of less chance seems nearer than the right one if each runs once. So the nearest of each
    /// FTL are run with several seeds.
    fn likeliest_of_each(
        &self,
        (runner, extent): (&Runner<'_>, &Extent<'_>),
        trials: Vec<Trial>,
        threads: usize,
    ) -> Result<Vec<Trial>, ExperimentsError> {
        if self.series.len() == 1 {
            return Ok(best_of_each(trials, &[]));
        }
        let trials = nearest_of_each(trials);
        let near = near(&trials, LIKELIEST);
        let candidates: Vec<Candidate> =
            trials[..near].iter().map(|own| own.candidate.clone()).collect();
        let closely = try_each(runner, extent, &candidates, SEEDS, threads)?;
        let mut closely: Vec<(Trial, Trial)> = trials[..near]
            .iter()
            .zip(closely)
            .filter_map(|(once, closely)| Some((once.clone(), closely?)))
            .collect();
        let noise = Noise::of(closely.iter().map(|(_, closely)| closely));
        closely.sort_by(|a, b| noise.likelier(&a.1, &b.1));
        let far = trials.into_iter().skip(near);
        Ok(first_of_each_kind(closely.into_iter().map(|(once, _)| once).chain(far).collect()))
    }

    /// The best of each FTL, best first, with the over-provisioning with which it writes as much as was measured in all of
    /// the series; the best of them with gradual collection as well, and of several series, beside those without.
    fn followed(
        &self,
        runner: &Runner<'_>,
        whole: &Extent<'_>,
        trials: Vec<Trial>,
        threads: usize,
    ) -> Result<Vec<Trial>, ExperimentsError> {
        let starts: Vec<_> = trials.into_iter().map(|trial| trial.candidate).collect();
        let mut followed = matched(runner, whole, &starts, threads)?;
        followed = self.likeliest_of_each((runner, whole), followed, threads)?;
        if self.tries_gradual {
            let starts = self.ahead(&followed[..near(&followed, GRADUAL)]);
            followed.extend(matched(runner, whole, &starts, threads)?);
            followed = self.likeliest_of_each((runner, whole), followed, threads)?;
        }
        Ok(followed)
    }

    /// Drives that collect ahead of need, and are otherwise like these.
    fn ahead(&self, trials: &[Trial]) -> Vec<Candidate> {
        let throttled = (self.series.len() > 1).then(throttled_schedules);
        let schedules =
            || gradual_schedules().into_iter().chain(throttled.clone().into_iter().flatten());
        let of = |trial: &Trial| {
            let own = trial.candidate.clone();
            schedules().map(move |gc| Candidate { gc, ..own.clone() })
        };
        let collects = |trial: &&Trial| {
            let ftl = trial.candidate.ftl.parse().and_then(|ftl| registry::maps_blocks(&ftl));
            ftl.is_ok_and(|maps_blocks| !maps_blocks)
        };
        trials.iter().filter(collects).flat_map(of).collect()
    }

    /// Continues by more and less over-provisioning, and larger and smaller units, in ever smaller steps.
    fn walked(
        &self,
        runner: &Runner<'_>,
        extent: &Extent<'_>,
        mut walkers: Vec<Walker>,
        threads: usize,
    ) -> Result<Vec<Candidate>, ExperimentsError> {
        while walkers.iter().any(|walker| walker.step >= OP_STEP.1) {
            let walking = walkers.iter().filter(|walker| walker.step >= OP_STEP.1);
            let tried: Vec<(&Trial, Candidate)> = walking
                .flat_map(|own| own.neighbours(self).into_iter().map(|next| (&own.best, next)))
                .collect();
            let trials = parallel(threads, &tried, |(best, own)| runner.nearer(own, extent, best));
            let trials: Result<Vec<_>, ExperimentsError> = trials.into_iter().collect();
            let mut trials = trials?.into_iter();
            for walker in walkers.iter_mut().filter(|walker| walker.step >= OP_STEP.1) {
                let count = walker.neighbours(self).len();
                match trials.by_ref().take(count).flatten().min_by(by_distance) {
                    Some(nearer) => walker.best = nearer,
                    None => walker.step /= 2.0,
                }
            }
        }
        Ok(walkers.into_iter().map(|walker| walker.best.candidate).collect())
    }

    /// Pages of a unit with which every FTL is tried first. Under zones it is their size that decides what is moved, so where
    /// there are several series, what explains them best with the plainest FTLs.
    fn first_sizes(
        &self,
        runner: &Runner<'_>,
        left_out: Option<usize>,
        threads: usize,
    ) -> Result<Vec<u32>, ExperimentsError> {
        let usual = self.pages_per_block(UNITS);
        if self.series.len() == 1 {
            return Ok(vec![usual]);
        }
        let plain = self.plainest();
        let beginning = self.beginning(self.pages, left_out);
        let starts = self.starts(runner, &plain, &[usual], left_out, threads)?;
        let mut trials = matched(runner, &beginning, &starts, threads)?;
        let other = |best: &Trial, pages| {
            let other = self.with_units(&best.candidate, pages);
            (!is_as_large(pages, usual) && other.op_ratio > 0.0).then_some(other)
        };
        let firsts = trials.clone();
        trials.extend(self.matched_in_sizes(
            (runner, &beginning),
            &firsts,
            other,
            is_no_nearer,
            threads,
        )?);
        trials.sort_by(by_distance);
        trials.truncate(near(&trials, FIRST_SIZES));
        let nearest: Vec<Candidate> = trials.into_iter().map(|own| own.candidate).collect();
        let closely = try_each(runner, &beginning, &nearest, SEEDS, threads)?;
        let likely = likely(&closely.into_iter().flatten().collect::<Vec<_>>(), 1.0, usize::MAX);
        let Some(first) = likely.first() else { return Ok(vec![usual]) };
        runner.weigh_by_chance(first);
        let mut sizes: Vec<u32> = Vec::new();
        for own in &likely {
            let pages = own.candidate.pages_per_block;
            if sizes.len() < SIZES_MOST && !sizes.iter().any(|own| is_as_large(*own, pages)) {
                sizes.push(pages);
            }
        }
        Ok(sizes)
    }

    /// Every one of these FTLs with every capacity and units of these sizes, and the over-provisioning that a coarse grid
    /// says.
    fn starts(
        &self,
        runner: &Runner<'_>,
        ftls: &[Spec],
        sizes: &[u32],
        left_out: Option<usize>,
        threads: usize,
    ) -> Result<Vec<Candidate>, ExperimentsError> {
        let (least, most) = self.op_ratios;
        let ratio = (most / least).powf(1.0 / f64::from(OP_STEPS));
        let mut starts = Vec::new();
        for ftl in ftls {
            for (&capacity, &pages_per_block) in
                self.capacities.iter().flat_map(|own| sizes.iter().map(move |size| (own, size)))
            {
                let grid = (0..=OP_STEPS).map(|step| Candidate {
                    ftl: ftl.to_string(),
                    capacity,
                    op_ratio: least * ratio.powi(step),
                    pages_per_block,
                    reserve: self.base().drive.reserve_blocks,
                    gc: self.base().drive.gc.to_string(),
                });
                starts.extend(grid);
            }
        }
        let trials = try_each(runner, &self.roughly(left_out), &starts, 1, threads)?;
        let nearest = trials.chunks(OP_STEPS as usize + 1).filter_map(|line| {
            let off = |trial: &&Trial| trial.excess().abs();
            line.iter().flatten().min_by(|a, b| off(a).total_cmp(&off(b)))
        });
        let start = |nearest: &Trial| Candidate {
            op_ratio: matching(nearest, SLOPE),
            ..nearest.candidate.clone()
        };
        Ok(nearest.map(start).collect())
    }

    /// Each series, on drives that tell the coarse grid: all of it where they are small, since these move less, and later.
    fn roughly(&self, left_out: Option<usize>) -> Extent<'_> {
        let extent = if self.is_scaled() {
            Extent { pages: self.pages / COARSER, ..self.whole(left_out) }
        } else {
            self.beginning(self.pages, left_out)
        };
        Extent { is_rough: true, ..extent }
    }

    /// The best drive that is found quickly: over the beginning of each series, with units of one size.
    pub(super) fn search_quickly(
        &self,
        runner: &Runner<'_>,
        threads: usize,
    ) -> Result<Option<Trial>, ExperimentsError> {
        let usual = self.pages_per_block(UNITS);
        let starts = self.starts(runner, &self.ftls, &[usual], None, threads)?;
        let found = matched(runner, &self.beginning(self.pages, None), &starts, threads)?;
        Ok(found.into_iter().min_by(by_distance))
    }

    /// Whether a drive has so many units that it takes long to run.
    fn is_large(&self, own: &Candidate) -> bool {
        let units = u64::from(self.pages / own.pages_per_block);
        units * u64::from(UNIT_PAGES.1) >= LARGE
    }

    /// Drives like these with units of other sizes, each with the over-provisioning with which it writes as much as was
    /// measured. Large ones are left out that are far from the nearest of their line, and those with more units yet.
    pub(super) fn matched_in_sizes(
        &self,
        (runner, extent): (&Runner<'_>, &Extent<'_>),
        firsts: &[Trial],
        other: impl Fn(&Trial, u32) -> Option<Candidate>,
        is_far: impl Fn(&Trial, &Trial) -> bool,
        threads: usize,
    ) -> Result<Vec<Trial>, ExperimentsError> {
        let line = |first: &Trial| {
            let others = self.sizes().filter_map(|pages| other(first, pages));
            let (large, small): (Vec<_>, Vec<_>) = others.partition(|own| self.is_large(own));
            (first.clone(), small, large)
        };
        let mut lines: Vec<(Trial, Vec<Candidate>, Vec<Candidate>)> =
            firsts.iter().map(line).collect();
        let mut found = Vec::new();
        loop {
            let mut next: Vec<(usize, Candidate)> = Vec::new();
            for (at, (_, small, large)) in lines.iter_mut().enumerate() {
                // The fewest units first.
                let own = if small.is_empty() { large.pop() } else { None };
                next.extend(small.drain(..).chain(own).map(|own| (at, own)));
            }
            if next.is_empty() {
                return Ok(found);
            }
            let starts: Vec<Candidate> = next.iter().map(|(_, other)| other.clone()).collect();
            let trials = matched_each(runner, extent, &starts, threads)?;
            for ((at, start), trial) in next.into_iter().zip(trials) {
                let (nearest, _, large) = &mut lines[at];
                let Some(trial) = trial else { continue };
                if self.is_large(&start) && is_far(&trial, nearest) {
                    large.clear();
                    continue;
                }
                if by_distance(&trial, nearest).is_lt() {
                    *nearest = trial.clone();
                }
                found.push(trial);
            }
        }
    }

    /// A candidate with units of another size; none if they are about as large as its own, or too large.
    fn resized(&self, own: &Candidate, pages: u32) -> Option<Candidate> {
        let ratio = f64::from(pages) / f64::from(own.pages_per_block);
        let other = self.with_units(own, pages);
        (ratio.log2().abs() > 0.25 && self.has_room(&other)).then_some(other)
    }

    /// The candidate of several series with units of a few pages more or less, so that whole ones have the over-provisioning
    /// that it asks for. Of one series it is rounded up to a unit, which changes more the larger units are.
    pub(super) fn in_whole_units(&self, own: &Candidate) -> Candidate {
        if self.series.len() == 1 {
            return own.clone();
        }
        let (least, most) = self.unit_pages;
        let flash = (1.0 + own.op_ratio) * f64::from(self.pages);
        let units = (flash / f64::from(own.pages_per_block)).round().max(1.0);
        let pages_per_block = ((flash / units).round() as u32).clamp(least, most);
        // A little less, since units are rounded up.
        let op_ratio = (units * f64::from(pages_per_block) - 0.25) / f64::from(self.pages) - 1.0;
        Candidate { op_ratio, pages_per_block, ..own.clone() }
    }

    /// A candidate with units of another size, and as much spare flash beside its reserve.
    pub(super) fn with_units(&self, own: &Candidate, pages: u32) -> Candidate {
        let more = (f64::from(pages) - f64::from(own.pages_per_block)) / f64::from(self.pages);
        let op_ratio = own.op_ratio + f64::from(own.reserve) * more;
        Candidate { op_ratio, pages_per_block: pages, ..own.clone() }
    }
}

impl Walker {
    /// Drives with a little more and less over-provisioning, and with larger and smaller units; of a drive whose collection
    /// is throttled, with a little more and less of that, too.
    fn neighbours(&self, question: &Question) -> Vec<Candidate> {
        let own = &self.best.candidate;
        let with_op = |factor: f64| {
            let op_ratio = factor * own.op_ratio;
            question.in_whole_units(&Candidate { op_ratio, ..own.clone() })
        };
        let (least, most) = question.unit_pages;
        let with_units = |doublings: f64| {
            let pages = f64::from(own.pages_per_block) * doublings.exp2();
            let pages = (pages.round() as u32).clamp(least, most);
            question.in_whole_units(&question.with_units(own, pages))
        };
        let doublings = UNIT_STEPS * self.step;
        let mut neighbours = vec![
            with_op(1.0 - self.step),
            with_op(1.0 + self.step),
            with_units(-doublings),
            with_units(doublings),
        ];
        if let Ok(GcSchedule::Throttled { from, invalid, moves }) = own.gc.parse() {
            let step = THROTTLE_STEPS * self.step;
            let times = |number: u32, factor: f64| (f64::from(number) * factor).round() as u32;
            for factor in [1.0 - step, 1.0 + step] {
                let from_there = (times(from, factor).clamp(1000, 950_000), moves);
                for (from, moves) in
                    [from_there, (from, times(moves, factor).clamp(1000, 10_000_000))]
                {
                    let gc = GcSchedule::Throttled { from, invalid, moves }.to_string();
                    neighbours.push(Candidate { gc, ..own.clone() });
                }
            }
        }
        neighbours
    }
}

fn gradual_schedules() -> [String; 4] {
    GRADUAL_FROM.map(|per_million| GcSchedule::Gradual { per_million }.to_string())
}

fn throttled_schedules() -> [String; 4] {
    let (from, invalid, moves) = THROTTLED;
    moves.map(|moves| GcSchedule::Throttled { from, invalid, moves }.to_string())
}

/// The schedules of collection that are tried with every series.
pub(super) fn schedules() -> Vec<String> {
    let plain = GcSchedule::Foreground.to_string();
    std::iter::once(plain).chain(gradual_schedules()).collect()
}

/// Gives every drive the over-provisioning with which it writes as much as was measured.
pub(super) fn matched(
    runner: &Runner<'_>,
    extent: &Extent<'_>,
    starts: &[Candidate],
    threads: usize,
) -> Result<Vec<Trial>, ExperimentsError> {
    Ok(matched_each(runner, extent, starts, threads)?.into_iter().flatten().collect())
}

/// The same, with nothing for those that could not be run.
fn matched_each(
    runner: &Runner<'_>,
    extent: &Extent<'_>,
    starts: &[Candidate],
    threads: usize,
) -> Result<Vec<Option<Trial>>, ExperimentsError> {
    let follow = |start: &Candidate| Line::new(start.clone()).follow(runner, extent);
    parallel(threads, starts, follow).into_iter().collect()
}

/// Gives every drive the over-provisioning with which it writes as much as was measured, and runs it with several seeds.
fn matched_closely(
    runner: &Runner<'_>,
    extent: &Extent<'_>,
    starts: &[Candidate],
    threads: usize,
) -> Result<Vec<Trial>, ExperimentsError> {
    let found = matched(runner, extent, starts, threads)?;
    let found: Vec<Candidate> = found.into_iter().map(|trial| trial.candidate).collect();
    Ok(try_each(runner, extent, &found, SEEDS, threads)?.into_iter().flatten().collect())
}

/// Whether units of so many pages are as large, within 2%: they may have a few more or less, so that whole ones fit.
pub(super) fn is_as_large(pages: u32, others: u32) -> bool {
    (f64::from(pages) / f64::from(others)).ln().abs() < 0.02
}

/// What a drive is, whatever over-provisioning was asked for.
fn drive(trial: &Trial) -> (String, u32, u32, u32, String) {
    let Candidate { ftl, pages_per_block, reserve, gc, .. } = trial.candidate.clone();
    (ftl, pages_per_block, trial.units, reserve, gc)
}

/// Whether units of this size would leave far more to chance than is left of what was measured.
fn is_too_coarse(trial: &Trial, pages: u32) -> bool {
    let times = f64::from(pages) / f64::from(trial.candidate.pages_per_block);
    trial.chance() * times > COARSEST * trial.left()
}

/// Runs candidates, each with all seeds; nothing for those that could not be run.
pub(super) fn try_each(
    runner: &Runner<'_>,
    extent: &Extent<'_>,
    candidates: &[Candidate],
    seeds: u64,
    threads: usize,
) -> Result<Vec<Option<Trial>>, ExperimentsError> {
    let trials = parallel(threads, candidates, |own| runner.trial(own, extent, seeds));
    trials.into_iter().collect()
}

/// The over-provisioning with which a drive would write as much as was measured.
fn matching(trial: &Trial, slope: f64) -> f64 {
    let (steepest, flattest) = SLOPES;
    let step = -trial.excess() / slope.clamp(steepest, flattest);
    trial.op_ratio * step.clamp(-STEP_MOST, STEP_MOST).exp()
}

fn is_no_nearer(own: &Trial, nearest: &Trial) -> bool {
    by_distance(own, nearest).is_ge()
}

fn by_distance(a: &Trial, b: &Trial) -> Ordering {
    a.nearness.rms.total_cmp(&b.nearness.rms)
}

/// The best of each FTL that is not among `others`, best first.
fn best_of_each(mut trials: Vec<Trial>, others: &[Trial]) -> Vec<Trial> {
    trials.sort_by(by_distance);
    let mut known: HashSet<String> = others.iter().map(|t| t.candidate.ftl.clone()).collect();
    trials.retain(|trial| known.insert(trial.candidate.ftl.clone()));
    trials
}

/// The nearest few of each FTL, and of each that collects ahead of need, best first.
fn nearest_of_each(mut trials: Vec<Trial>) -> Vec<Trial> {
    trials.sort_by(by_distance);
    few_of_each(trials, NEAREST_OF_EACH, kind)
}

/// The FTL of a drive.
fn ftl(trial: &Trial) -> String {
    trial.candidate.ftl.clone()
}

/// The FTL of a drive, and whether it collects ahead of need.
fn kind(trial: &Trial) -> (String, bool) {
    (ftl(trial), trial.candidate.gc != GcSchedule::Foreground.to_string())
}

/// The kind of a drive, and about how large its units are: the doublings of a page.
fn basin(trial: &Trial) -> (String, bool, u32) {
    let (ftl, ahead) = kind(trial);
    (ftl, ahead, f64::from(trial.candidate.pages_per_block).log2().round() as u32)
}

/// The first of each FTL, and of each that collects ahead of need, in order. On the way to the nearest, one may be
/// nearer that is not in the end.
fn first_of_each_kind(trials: Vec<Trial>) -> Vec<Trial> {
    few_of_each(trials, 1, kind)
}

/// The first of each kind, no more than so many, in order.
fn few_of_each<K: Eq + Hash>(
    mut trials: Vec<Trial>,
    most: usize,
    kind: impl Fn(&Trial) -> K,
) -> Vec<Trial> {
    let mut count: HashMap<K, usize> = HashMap::new();
    trials.retain(|trial| {
        let own = count.entry(kind(trial)).or_default();
        *own += 1;
        *own <= most
    });
    trials
}

/// The likeliest of these, which ran with several seeds, in order: those that are no further beyond the bounds than this, and at
/// most this many.
fn likely(trials: &[Trial], beyond: f64, most: usize) -> Vec<Trial> {
    let noise = Noise::of(trials.iter());
    let mut trials = trials.to_vec();
    trials.sort_by(|a, b| noise.likelier(a, b));
    let within = trials.iter().take_while(|own| noise.beyond(own, &trials[0]) <= beyond).count();
    trials.truncate(within.min(most));
    trials
}

/// How many of these, best first, are near the best.
fn near(trials: &[Trial], (factor, least, most): (f64, usize, usize)) -> usize {
    let Some(best) = trials.first() else { return 0 };
    let near = trials.iter().take_while(|t| t.nearness.rms <= factor * best.nearness.rms).count();
    near.clamp(least, most).min(trials.len())
}
