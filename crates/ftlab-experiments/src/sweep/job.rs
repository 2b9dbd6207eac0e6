//! Jobs one at a time: what is left to do, and what comes of it. Programs that distribute a sweep over
//! machines by other means than shards begin here.

use super::columns::{StoredRun, encode};
use super::plan::{Job, Plan, Point};
use super::shard::Shard;
use super::store::Store;
use crate::error::ExperimentsError;
use crate::identity::{Identities, changed};
use ftlab_sim::{Experiment, ExperimentResult, RunIdentity};
use ftlab_spec::Spec;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A run that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The FTL with its workload and place in the plan, for people.
    pub run: String,
    /// The message of the error, or of the panic.
    pub error: String,
}

/// What came of a job.
#[derive(Debug, Default)]
pub struct JobOutcome {
    /// The runs that came to their end.
    pub runs: Vec<StoredRun>,
    /// Those that failed.
    pub failures: Vec<Failure>,
}

impl JobOutcome {
    /// The runs as bytes that [`Store::add_encoded`] takes: a Parquet file.
    pub fn encode(&self) -> Result<Vec<u8>, ExperimentsError> {
        encode(&self.runs)
            .map_err(|error| ExperimentsError::store(Path::new("a finished run"), &error))
    }
}

impl Job {
    /// The part with the wanted runs, if there are any.
    pub fn only(&self, is_wanted: impl Fn(&Point) -> bool) -> Option<Self> {
        let mut part = self.clone();
        let ftls = self.experiment.ftls.iter().zip(&self.runs).filter(|(_, run)| is_wanted(run));
        part.experiment.ftls = ftls.map(|(ftl, _)| ftl.clone()).collect();
        part.runs.retain(is_wanted);
        (!part.runs.is_empty()).then_some(part)
    }

    /// Lets `attempt` run all FTLs together; if that fails, each alone, so that only those fail that
    /// must.
    pub fn run_by(
        &self,
        attempt: impl Fn(&Experiment) -> Result<ExperimentResult, String>,
    ) -> JobOutcome {
        let attempt = |ftls: &[Spec]| {
            let experiment = Experiment { ftls: ftls.to_vec(), ..self.experiment.clone() };
            catch_unwind(AssertUnwindSafe(|| attempt(&experiment)))
                .unwrap_or_else(|_| Err("it panicked: a bug; please report the experiment".into()))
        };
        let mut outcome = JobOutcome::default();
        match attempt(&self.experiment.ftls) {
            Ok(result) => self.keep(0, result, &mut outcome),
            Err(error) if self.runs.len() == 1 => outcome.failures.push(self.failure(0, error)),
            Err(_) => {
                for (index, ftl) in self.experiment.ftls.iter().enumerate() {
                    match attempt(std::slice::from_ref(ftl)) {
                        Ok(result) => self.keep(index, result, &mut outcome),
                        Err(error) => outcome.failures.push(self.failure(index, error)),
                    }
                }
            }
        }
        outcome
    }

    /// Adds the runs of a result, which begin with the FTL of this number: those of the workload that was planned. If
    /// somebody has written to a trace meanwhile, nobody knows what was run.
    fn keep(&self, first: usize, mut result: ExperimentResult, outcome: &mut JobOutcome) {
        let mut identities = Identities::with(&self.contents);
        let identity = identities.of(&self.experiment).map_err(|error| error.to_string());
        for (index, run) in (first..).zip(std::mem::take(&mut result.runs)) {
            let (ftl, point) = (&self.experiment.ftls[index], &self.runs[index]);
            let own = identity.clone().and_then(|of| of.of_run(ftl).map_err(|it| it.to_string()));
            let own = own.and_then(|own| {
                let is_same = own.hash == point.run;
                if is_same { Ok(own) } else { Err(changed(&self.experiment.workload).to_string()) }
            });
            match own {
                Err(error) => outcome.failures.push(self.failure(index, error)),
                Ok(own) => {
                    let result = result.clone().with_runs(vec![run]);
                    let labels = point.labels.clone();
                    let RunIdentity { hash, versions } = own;
                    outcome.runs.push(StoredRun { run: hash, versions, labels, result });
                }
            }
        }
    }

    /// The failure of one of its runs.
    fn failure(&self, index: usize, error: String) -> Failure {
        Failure { run: self.name_of_run(index), error }
    }

    /// How one of its runs is called in messages.
    pub fn name_of_run(&self, index: usize) -> String {
        let ftl = &self.experiment.ftls[index];
        format!("{}, ftl {ftl}, seed {}", self.name, self.experiment.seed)
    }
}

impl Plan {
    /// What of a shard has no result in the store, the longest jobs first, so that none is left alone
    /// at the end.
    pub fn pending(&self, store: &Store, shard: Shard) -> Vec<Job> {
        let own = self.jobs.iter().enumerate().filter(|(index, _)| shard.has(*index));
        let mut pending: Vec<Job> =
            own.filter_map(|(_, job)| job.only(|point| !store.has(&point.run))).collect();
        pending.sort_by_key(|job| {
            let all = job.writes.map(|writes| writes * job.runs.len() as u64);
            // Traces may be long.
            std::cmp::Reverse(all.unwrap_or(u64::MAX))
        });
        pending
    }
}
