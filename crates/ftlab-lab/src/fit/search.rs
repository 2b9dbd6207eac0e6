//! The search: all FTLs on a coarse grid, then the better ones step by step.

use super::drive::{Candidate, Runner, Trial};
use super::question::Question;
use crate::error::LabError;
use crate::parallel::parallel;

/// Over-provisioning of the coarse grid: this many steps from the least to the most.
const OP_STEPS: i32 = 7;

/// FTLs that are followed further: those within this factor of the best, in order, no fewer and no more than these.
const FOLLOWED: (f64, usize, usize) = (3.0, 4, 8);

/// The same half way.
const FOLLOWED_TO_THE_END: (f64, usize, usize) = (1.5, 3, 5);

/// Steps of over-provisioning begin at this and end at that.
const OP_STEP: (f64, f64) = (0.02, 0.001);

/// Over-provisioning goes up and down with the size of units by this, at least.
const UNIT_STEP: f64 = 0.005;

/// Drives of the coarse grid are this much smaller.
const COARSER: u32 = 4;

/// Units of the coarse grid.
const UNITS: u32 = 1024;

/// One FTL, the best that was found of it, and how far its neighbours are.
pub(super) struct Walker {
    pub(super) best: Trial,
    step: f64,
}

/// The best trial of each FTL, best first; those that were not followed to the end are marked.
pub(super) struct Found {
    pub(super) walkers: Vec<Walker>,
    pub(super) left: Vec<Trial>,
}

impl Question {
    /// Pages of a unit of which a drive has about so many.
    fn pages_per_block(&self, units: u32) -> u32 {
        (self.pages / units).clamp(self.unit_pages.0, self.unit_pages.1)
    }

    /// Tries many candidates at a time; those that could not be run are left out.
    pub(super) fn try_all(
        &self,
        runner: &Runner<'_>,
        candidates: &[Candidate],
        threads: usize,
    ) -> Result<Vec<Trial>, LabError> {
        self.try_all_on(self.pages, runner, candidates, threads)
    }

    /// The same on drives of so many pages.
    fn try_all_on(
        &self,
        pages: u32,
        runner: &Runner<'_>,
        candidates: &[Candidate],
        threads: usize,
    ) -> Result<Vec<Trial>, LabError> {
        let trials = parallel(threads, candidates, |candidate| {
            runner.trial(candidate, pages, self.base.seed)
        });
        let trials: Result<Vec<_>, _> = trials.into_iter().collect();
        Ok(trials?.into_iter().flatten().collect())
    }

    /// Searches, on `threads`.
    pub(super) fn search(&self, runner: &Runner<'_>, threads: usize) -> Result<Found, LabError> {
        let is_scaled = self.base.workload.is_generator();
        let pages = if is_scaled { self.pages / COARSER } else { self.pages };
        let coarse = self.try_all_on(pages, runner, &self.coarse(), threads)?;
        let mut best: Vec<Trial> = Vec::new();
        for trial in coarse {
            match best.iter_mut().find(|best| best.candidate.ftl == trial.candidate.ftl) {
                Some(best) if best.distance.rms <= trial.distance.rms => {}
                Some(best) => *best = trial,
                None => best.push(trial),
            }
        }
        // A smaller drive with as many units treats FTLs differently, so they are compared at full size.
        let candidates: Vec<_> = best.into_iter().map(|trial| trial.candidate).collect();
        let mut best = self.try_all(runner, &candidates, threads)?;
        best.sort_by(|a, b| a.distance.rms.total_cmp(&b.distance.rms));
        let mut left = best.split_off(followed(&best, FOLLOWED));
        let mut walkers: Vec<_> =
            best.into_iter().map(|best| Walker { best, step: OP_STEP.0 }).collect();
        let mut is_half_way = false;
        while walkers.iter().any(|walker| walker.step >= OP_STEP.1) {
            self.advance(runner, &mut walkers, threads)?;
            walkers.sort_by(|a, b| a.best.distance.rms.total_cmp(&b.best.distance.rms));
            if !is_half_way && walkers.iter().all(|walker| walker.step < OP_STEP.0 / 2.0) {
                is_half_way = true;
                let trials: Vec<_> = walkers.iter().map(|walker| walker.best.clone()).collect();
                let rest = walkers.split_off(followed(&trials, FOLLOWED_TO_THE_END));
                left.extend(rest.into_iter().map(|walker| walker.best));
            }
        }
        left.sort_by(|a, b| a.distance.rms.total_cmp(&b.distance.rms));
        Ok(Found { walkers, left })
    }

    /// Every FTL with every over-provisioning of the coarse grid, and every capacity.
    fn coarse(&self) -> Vec<Candidate> {
        let (least, most) = self.op_ratios;
        let ratio = (most / least).powf(1.0 / f64::from(OP_STEPS));
        let mut candidates = Vec::new();
        for ftl in &self.ftls {
            for &capacity in &self.capacities {
                candidates.extend((0..=OP_STEPS).map(|step| Candidate {
                    ftl: ftl.to_string(),
                    capacity,
                    op_ratio: least * ratio.powi(step),
                    pages_per_block: self.pages_per_block(UNITS),
                    reserve: self.base.drive.reserve_blocks,
                }));
            }
        }
        candidates
    }

    /// One step of every walker that still walks: to the best of its neighbours, or nearer to itself.
    fn advance(
        &self,
        runner: &Runner<'_>,
        walkers: &mut [Walker],
        threads: usize,
    ) -> Result<(), LabError> {
        let walking = walkers.iter().filter(|walker| walker.step >= OP_STEP.1);
        let tried: Vec<Candidate> = walking.flat_map(|walker| self.neighbours(walker)).collect();
        let trials = self.try_all(runner, &tried, threads)?;
        for walker in walkers.iter_mut().filter(|walker| walker.step >= OP_STEP.1) {
            let own = trials.iter().filter(|t| t.candidate.ftl == walker.best.candidate.ftl);
            let nearest = own.min_by(|a, b| a.distance.rms.total_cmp(&b.distance.rms));
            match nearest {
                Some(trial) if trial.distance.rms < walker.best.distance.rms => {
                    walker.best = trial.clone();
                }
                _ => walker.step /= 2.0,
            }
        }
        Ok(())
    }

    /// A candidate with units of another size, and as much spare flash beside its reserve.
    pub(super) fn with_units(&self, own: &Candidate, pages: u32) -> Candidate {
        let more = (f64::from(pages) - f64::from(own.pages_per_block)) / f64::from(self.pages);
        let op_ratio = own.op_ratio + f64::from(own.reserve) * more;
        Candidate { op_ratio, pages_per_block: pages, ..own.clone() }
    }

    /// More and less over-provisioning; larger and smaller units, each with a little more and less of it.
    fn neighbours(&self, walker: &Walker) -> Vec<Candidate> {
        let own = &walker.best.candidate;
        let (least, most) = self.unit_pages;
        let around = |of: &Candidate, step: f64| {
            [-step, 0.0, step].map(|step| Candidate { op_ratio: of.op_ratio + step, ..of.clone() })
        };
        let sizes = [own.pages_per_block * 2, own.pages_per_block / 2].into_iter();
        let units = sizes
            .filter(|pages| (least..=most).contains(pages))
            .flat_map(|pages| around(&self.with_units(own, pages), walker.step.max(UNIT_STEP)));
        let near = around(own, walker.step).into_iter().chain(units);
        near.filter(|candidate| candidate.op_ratio > 0.0).collect()
    }
}

/// How many of these, best first, are followed.
fn followed(trials: &[Trial], (factor, least, most): (f64, usize, usize)) -> usize {
    let Some(best) = trials.first() else { return 0 };
    let near = trials.iter().take_while(|t| t.distance.rms <= factor * best.distance.rms).count();
    near.clamp(least, most).min(trials.len())
}
