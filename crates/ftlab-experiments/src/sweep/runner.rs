//! Carries out a plan: as many jobs at a time as there are threads, results kept as they come.

use super::columns::{StoredRun, encode};
use super::job::{Failure, JobOutcome};
use super::plan::{Job, Plan};
use super::shard::Shard;
use super::store::Store;
use crate::error::ExperimentsError;
use crate::parallel::{on_threads, when_it_fits};
use ftlab_sim::{Experiment, ExperimentResult, Phase, Progress, SimError, Status, Threads};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How a sweep is carried out. Results depend on none of it.
#[derive(Debug, Clone, Copy)]
pub struct SweepOptions {
    /// Threads; as many as there are processors if `None`.
    pub threads: Option<usize>,
    /// The part of the jobs that is run.
    pub shard: Shard,
}

impl Default for SweepOptions {
    fn default() -> Self {
        Self { threads: None, shard: Shard::WHOLE }
    }
}

/// How far a sweep is.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepStatus {
    /// Runs of this shard.
    pub runs: usize,
    /// Of them, those with a result, from before or now.
    pub done: usize,
    /// Those that failed.
    pub failed: usize,
    /// Share of what there was to do at the start, by page writes.
    pub share: f64,
    /// Since the start.
    pub elapsed: Duration,
    /// The time left at the speed so far.
    pub left: Option<Duration>,
}

/// What a sweep did.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outcome {
    /// Runs that were carried out.
    pub ran: usize,
    /// Runs whose results were there before.
    pub reused: usize,
    /// Runs that failed; a later sweep tries them again.
    pub failures: Vec<Failure>,
}

/// Runs everything in the plan that has no result yet, and adds what comes out to the store. A run
/// that fails does not keep the others from running. The sweep stops where `progress` breaks off: with
/// [`SimError::Stopped`], and what is finished is kept.
pub fn sweep(
    plan: &Plan,
    store: &mut Store,
    options: SweepOptions,
    progress: &(dyn Fn(&SweepStatus) -> ControlFlow<()> + Sync),
) -> Result<Outcome, ExperimentsError> {
    let threads = options.threads.unwrap_or_else(Threads::processors).max(1);
    let pool = Threads::new(threads)?;
    let own = plan.jobs.iter().enumerate().filter(|(index, _)| options.shard.has(*index));
    let runs = own.map(|(_, job)| job.runs.len()).sum();
    let pending = plan.pending(store, options.shard);
    let reused = runs - pending.iter().map(|job| job.runs.len()).sum::<usize>();
    let work = Work::of(&pending);
    let state = State {
        queue: pending.into_iter().rev().collect(),
        running: BTreeMap::new(),
        outcome: Outcome { reused, ..Outcome::default() },
        finished: 0.0,
        told: 0.0,
        broken: None,
    };
    let shared = Shared {
        plan,
        pool,
        runs,
        work,
        started: Instant::now(),
        state: Mutex::new(state),
        store: Mutex::new(store),
        progress,
    };
    shared.tell();
    on_threads(threads, |worker| shared.work(worker));
    let Shared { state, store, .. } = shared;
    let state = state.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(error) = state.broken {
        return Err(error);
    }
    store.into_inner().unwrap_or_else(PoisonError::into_inner).join()?;
    Ok(state.outcome)
}

/// How much there is to do, in page writes; a job that does not say counts as the mean of the others.
#[derive(Debug, Clone, Copy)]
struct Work {
    of_unknown: f64,
    total: f64,
}

impl Work {
    fn of(jobs: &[Job]) -> Self {
        let known: Vec<f64> = jobs.iter().filter_map(|job| Some(job.writes? as f64)).collect();
        let of_unknown = known.iter().sum::<f64>() / known.len().max(1) as f64;
        let mut work = Self { of_unknown: of_unknown.max(1.0), total: 0.0 };
        work.total = jobs.iter().map(|job| work.of_job(job)).sum();
        work
    }

    fn of_job(self, job: &Job) -> f64 {
        job.writes.map_or(self.of_unknown, |writes| writes as f64) * job.runs.len() as f64
    }
}

struct State {
    /// Jobs to run; the next one is the last.
    queue: Vec<Job>,
    /// Work done so far by each worker in its present job.
    running: BTreeMap<usize, f64>,
    outcome: Outcome,
    /// Work of jobs that ended.
    finished: f64,
    /// The greatest share that was told: a job that is tried again has its work to do again.
    told: f64,
    /// Why nothing more is run.
    broken: Option<ExperimentsError>,
}

struct Shared<'a> {
    plan: &'a Plan,
    pool: Threads,
    runs: usize,
    work: Work,
    started: Instant,
    state: Mutex<State>,
    store: Mutex<&'a mut Store>,
    progress: &'a (dyn Fn(&SweepStatus) -> ControlFlow<()> + Sync),
}

impl Shared<'_> {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes jobs until there are none.
    fn work(&self, worker: usize) {
        while let Some(job) = self.take(worker) {
            let (work, of_each) = (self.work.of_job(&job), job.writes);
            let JobOutcome { runs, failures } = job.run_by(|experiment| {
                self.attempt(worker, (work, of_each), experiment).map_err(|error| error.to_string())
            });
            let stored = self.keep(&runs);
            let mut state = self.state();
            state.running.remove(&worker);
            state.finished += work;
            state.outcome.ran += runs.len();
            state.outcome.failures.extend(failures);
            if let Err(error) = stored {
                state.broken.get_or_insert(error);
            }
            drop(state);
            self.tell();
        }
    }

    fn take(&self, worker: usize) -> Option<Job> {
        let mut state = self.state();
        if state.broken.is_some() {
            return None;
        }
        let job = state.queue.pop()?;
        state.running.insert(worker, 0.0);
        Some(job)
    }

    fn keep(&self, runs: &[StoredRun]) -> Result<(), ExperimentsError> {
        if runs.is_empty() {
            return Ok(());
        }
        let bytes =
            encode(runs).map_err(|error| ExperimentsError::store(self.plan.file.path(), &error))?;
        self.store.lock().unwrap_or_else(PoisonError::into_inner).add(runs, &bytes)
    }

    fn attempt(
        &self,
        worker: usize,
        (work, of_each): (f64, Option<u64>),
        experiment: &Experiment,
    ) -> Result<ExperimentResult, SimError> {
        let is_broken = || self.state().broken.is_some();
        let prepared = when_it_fits(is_broken, || experiment.prepare_on(&self.pool))?;
        prepared.run(&mut Meter { shared: self, worker, work, of_each, filled: 0 })
    }

    fn tell(&self) {
        let mut state = self.state();
        let failed = state.outcome.failures.len();
        let done_work = state.finished + state.running.values().sum::<f64>();
        let share = if self.work.total > 0.0 { done_work / self.work.total } else { 1.0 };
        let share = share.max(state.told);
        state.told = share;
        let elapsed = self.started.elapsed();
        let status = SweepStatus {
            runs: self.runs,
            done: state.outcome.ran + state.outcome.reused,
            failed,
            share,
            elapsed,
            left: (share > 0.0).then(|| elapsed.mul_f64((1.0 / share - 1.0).max(0.0))),
        };
        drop(state);
        if (self.progress)(&status).is_break() {
            self.state().broken.get_or_insert(SimError::Stopped.into());
        }
    }
}

/// Tells how far a job is.
struct Meter<'a, 'b> {
    shared: &'a Shared<'b>,
    worker: usize,
    work: f64,
    /// Host page writes of each run, fill included, where that is known.
    of_each: Option<u64>,
    /// Those of the fill so far.
    filled: u64,
}

impl Meter<'_, '_> {
    /// The share of everything that is to be written, of which the fill is the first part.
    fn share(&mut self, status: &Status) -> f64 {
        let written = match status.phase {
            Phase::LookAhead => return 0.0,
            Phase::Fill => {
                self.filled = status.writes;
                self.filled
            }
            Phase::WarmUp | Phase::Count => self.filled + status.writes,
        };
        match (self.of_each, status.phase) {
            (Some(all), _) => (written as f64 / all.max(1) as f64).min(1.0),
            (None, Phase::Fill) => 0.0,
            (None, _) => status.share.unwrap_or(0.0),
        }
    }
}

impl Progress for Meter<'_, '_> {
    fn update(&mut self, status: &Status) -> ControlFlow<()> {
        let share = self.share(status);
        self.shared.state().running.insert(self.worker, share * self.work);
        self.shared.tell();
        if self.shared.state().broken.is_some() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}
