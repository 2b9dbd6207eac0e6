//! `ftlab.sweep`: experiment files, on this machine or on a cluster.
//!
//! On a cluster the client expands the experiment and owns the store; a worker expands the same
//! experiment and carries out the runs that the client identifies by hash. The hash covers
//! everything that determines a result, so a worker with another version or another trace runs
//! nothing instead of something else.

use crate::error::{Error, Result, experiment_error, in_python};
use crate::own;
use crate::progress::Watch as RunWatch;
use crate::run::PYTHON_BATCH_WRITES;
use crate::workload::{Raised, keep, take};
use ftlab_experiments::not_reused;
use ftlab_experiments::sweep as rust;
use ftlab_experiments::sweep::{
    Failure, Kind, Metric, Outcome, Scale, Shard, SweepOptions, SweepStatus,
};
use ftlab_sim::Threads;
use pyo3::exceptions::{PyException, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often Python is asked whether Ctrl-C was pressed, and notified of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// The plan of an experiment file.
#[pyclass(frozen, module = "ftlab._core")]
pub(crate) struct Plan {
    inner: rust::Plan,
    /// The hashes of the runs of policies in Python.
    #[pyo3(get)]
    own: BTreeSet<String>,
    /// What a policy raised.
    raised: Raised,
    /// Held by who runs policies in Python, so that nobody takes what those of another raised.
    turn: Mutex<()>,
}

/// Runs of a job that failed, each with its name and the reason.
type Failures = Vec<(String, String)>;

#[pymethods]
impl Plan {
    /// Expands the experiment in `text`; paths in it are relative to the folder of `path`.
    #[new]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        text: String,
        scale: &str,
        policies: Vec<Bound<'_, PyAny>>,
    ) -> Result<Self> {
        let scale: Scale = scale.parse().map_err(experiment_error)?;
        let raised = Raised::default();
        let policies = own::policies(&policies, &raised)?;
        let plan = py.detach(|| {
            let mut file = rust::ExperimentFile::parse(&path, text)?;
            file.policies = policies;
            rust::Plan::new(file, scale)
        })?;
        if plan.file.kind == Kind::Runs {
            let own = plan.jobs.iter().flat_map(own_of).collect();
            return Ok(Self { inner: plan, own, raised, turn: Mutex::default() });
        }
        let path = path.display();
        Err(experiment_error(format!("{path} runs no FTLs; use ftlab reproduce {path}")).into())
    }

    /// Workloads that are skipped, and why.
    #[getter]
    fn absent(&self) -> Vec<String> {
        self.inner.absent.iter().cloned().collect()
    }

    /// The number of different runs.
    #[getter]
    fn runs(&self) -> usize {
        self.inner.runs()
    }

    /// Whether these runs, given by their hashes, are one of its jobs or a part of one.
    fn has(&self, runs: BTreeSet<String>) -> bool {
        self.job(&runs).is_some()
    }

    /// Carries out runs of one job, given by their hashes, on this thread; returns finished runs as
    /// bytes for `Store.add`, and the reasons why others failed.
    fn run<'py>(
        &self,
        py: Python<'py>,
        runs: BTreeSet<String>,
    ) -> Result<(Bound<'py, PyBytes>, Failures)> {
        let job = self.job(&runs).ok_or_else(|| {
            experiment_error(
                "this worker finds other runs in the experiment than the client does: give it the \
                 same version of ftlab, and traces with the same content"
                    .into(),
            )
        })?;
        let (bytes, failures) = py.detach(|| {
            let turn = || self.turn.lock().unwrap_or_else(PoisonError::into_inner);
            let _turn = own_of(&job).next().is_some().then(turn);
            let outcome = run_job(&job, &self.raised)?;
            Ok::<_, Error>((outcome.encode()?, outcome.failures))
        })?;
        Ok((PyBytes::new(py, &bytes), named(failures)))
    }

    /// What the results in a directory rest on, in one line, and the points that are no evidence with what each lacks.
    fn trust(&self, py: Python<'_>, directory: PathBuf) -> Result<(String, Failures)> {
        let results = py.detach(|| rust::read_runs_of(&self.inner, &directory))?;
        let lacking = rust::without_evidence(&self.inner, &results);
        Ok((rust::trust_of(&results).line, lacking))
    }

    /// Columns of the points that have a result in a directory: axes as texts, the hashes of the runs,
    /// and every metric.
    fn table(&self, py: Python<'_>, directory: PathBuf) -> Result<(Texts, Numbers)> {
        let results = py.detach(|| rust::read_runs_of(&self.inner, &directory))?;
        let points = self.inner.points.iter().filter(|point| results.contains_key(&point.run));
        let points: Vec<_> = points.collect();
        let axis = |name: &str| points.iter().map(|p| p.label(name).map(str::to_owned)).collect();
        let mut texts: Texts =
            self.inner.axes().into_iter().map(|name| (name.to_owned(), axis(name))).collect();
        texts.push(("run".into(), points.iter().map(|point| Some(point.run.clone())).collect()));
        let column = |metric: &Metric| {
            let numbers = points.iter().map(|point| metric.of(&results[&point.run]));
            (metric.name.to_owned(), numbers.collect())
        };
        Ok((texts, rust::METRICS.iter().map(column).collect()))
    }
}

/// The hashes of those runs of a job whose FTLs are policies in Python.
fn own_of(job: &rust::Job) -> impl Iterator<Item = String> {
    let runs = job.experiment.ftls.iter().zip(&job.runs);
    let own = runs.filter(|(ftl, _)| job.experiment.policies.code(ftl).is_some());
    own.map(|(_, run)| run.run.clone())
}

/// Carries out a job on this thread; a run in which a policy raises fails. Ctrl-C ends it.
fn run_job(job: &rust::Job, raised: &Raised) -> Result<rust::JobOutcome> {
    let thread = Threads::new(1)?;
    let stopped = Raised::default();
    let has_own = own_of(job).next().is_some();
    let outcome = job.run_by(|experiment| {
        // What was stopped is not tried again FTL by FTL.
        if let Some(error) = take(&stopped) {
            let message = error.to_string();
            keep(&stopped, error);
            return Err(message);
        }
        let mut experiment = experiment.clone();
        if has_own {
            experiment.batch_writes = PYTHON_BATCH_WRITES;
        }
        let mut watch = RunWatch::new(None);
        watch.raised = Arc::clone(raised);
        let prepared = experiment.prepare_on(&thread);
        let result = prepared.and_then(|prepared| prepared.run(&mut watch));
        let Some(error) = take(raised) else { return result.map_err(|error| error.to_string()) };
        let message = error.to_string();
        if Python::attach(|py| !error.is_instance_of::<PyException>(py)) {
            keep(&stopped, error);
        }
        Err(message)
    });
    take(&stopped).map_or(Ok(outcome), |error| Err(error.into()))
}

impl Plan {
    /// The job of these runs.
    fn job(&self, runs: &BTreeSet<String>) -> Option<rust::Job> {
        let mut jobs = self.inner.jobs.iter();
        let found = jobs.find_map(|job| job.only(|point| runs.contains(&point.run)));
        found.filter(|job| job.runs.len() == runs.len())
    }

    /// It without the runs of policies in Python, which one thread carries out.
    fn without_own(&self) -> rust::Plan {
        let jobs = self.inner.jobs.iter();
        let jobs = jobs.filter_map(|job| job.only(|point| !self.own.contains(&point.run)));
        rust::Plan { jobs: jobs.collect(), ..self.inner.clone() }
    }
}

/// Columns by name.
type Texts = Vec<(String, Vec<Option<String>>)>;
type Numbers = Vec<(String, Vec<Option<f64>>)>;

/// The client's store of results of runs that were carried out elsewhere; no other process may add
/// to it until it is closed.
#[pyclass(frozen, module = "ftlab._core")]
pub(crate) struct Store {
    open: Mutex<Option<rust::Store>>,
    /// What is to be said of results that are not used again, if there are any.
    #[pyo3(get)]
    others: Option<String>,
}

impl Store {
    fn open(&self) -> MutexGuard<'_, Option<rust::Store>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn closed() -> Error {
    PyRuntimeError::new_err("the store is closed").into()
}

#[pymethods]
impl Store {
    #[new]
    fn new(directory: PathBuf) -> Result<Self> {
        let store = rust::Store::open(&directory, Shard::WHOLE)?;
        let others = not_reused(store.others(), &directory);
        Ok(Self { open: Mutex::new(Some(store)), others })
    }

    /// Runs without a result, the longest first: hash and name of each run, job by job.
    fn pending(&self, plan: &Plan) -> Result<Vec<Vec<(String, String)>>> {
        let open = self.open();
        let jobs = plan.inner.pending(open.as_ref().ok_or_else(closed)?, Shard::WHOLE);
        let named = |job: &rust::Job| {
            let runs = job.runs.iter().enumerate();
            runs.map(|(index, point)| (point.run.clone(), job.name_of_run(index))).collect()
        };
        Ok(jobs.iter().map(named).collect())
    }

    /// Adds the runs that `Plan.run` returned, except those already there; returns how many it
    /// added.
    fn add(&self, py: Python<'_>, runs: &[u8]) -> Result<usize> {
        py.detach(|| Ok(self.open().as_mut().ok_or_else(closed)?.add_encoded(runs)?))
    }

    /// Joins files of single runs, and lets other processes add to the directory.
    fn close(&self, py: Python<'_>) -> Result<()> {
        py.detach(|| match self.open().take() {
            Some(mut store) => Ok(store.join()?),
            None => Ok(()),
        })
    }
}

/// Carries out all runs without a result on threads of this process, as `ftlab sweep` does, but for those of policies
/// in Python; returns the number of runs carried out, the number reused, the failures, and what is to be said of results
/// that are not used again. `progress` is called with
/// the number of runs, those done, those failed, the share of the work done, and the seconds left.
#[pyfunction]
pub(crate) fn sweep(
    py: Python<'_>,
    plan: &Plan,
    directory: PathBuf,
    threads: Option<usize>,
    progress: Option<Py<PyAny>>,
) -> Result<(usize, usize, Failures, Option<String>)> {
    let mut store = rust::Store::open(&directory, Shard::WHOLE)?;
    let others = not_reused(store.others(), &directory);
    let options = SweepOptions { threads, shard: Shard::WHOLE };
    let plan = plan.without_own();
    let watch = Watch::default();
    let (outcome, raised) = py.detach(|| {
        std::thread::scope(|scope| {
            let work = scope
                .spawn(|| rust::sweep(&plan, &mut store, options, &|status| watch.update(status)));
            let mut raised = None;
            while !work.is_finished() {
                std::thread::park_timeout(PERIOD);
                if raised.is_none() {
                    raised = watch.ask(progress.as_ref()).err();
                }
            }
            (work.join(), raised)
        })
    });
    if let Some(raised) = raised {
        return Err(raised.into());
    }
    let bug =
        |_| PyRuntimeError::new_err("the sweep panicked: a bug; please report the experiment");
    let Outcome { ran, reused, failures } = outcome.map_err(bug)??;
    Ok((ran, reused, named(failures), others))
}

fn named(failures: Vec<Failure>) -> Failures {
    failures.into_iter().map(|failure| (failure.run, in_python(&failure.error))).collect()
}

/// Shared between the threads of a sweep and the thread that talks to Python.
#[derive(Default)]
struct Watch {
    status: Mutex<Option<SweepStatus>>,
    stop: AtomicBool,
}

impl Watch {
    /// Stores the state of the sweep for Python, and stops the sweep if Python requests it.
    fn update(&self, status: &SweepStatus) -> ControlFlow<()> {
        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = Some(status.clone());
        if self.stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    /// Reports progress to Python; at Ctrl-C, or if that raises, the sweep stops.
    fn ask(&self, progress: Option<&Py<PyAny>>) -> PyResult<()> {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner).take();
        let asked = Python::attach(|py| {
            py.check_signals()?;
            let Some((status, tell)) = status.zip(progress) else { return Ok(()) };
            let left = status.left.map(|left| left.as_secs_f64());
            tell.call1(py, (status.runs, status.done, status.failed, status.share, left))?;
            Ok(())
        });
        if asked.is_err() {
            self.stop.store(true, Ordering::Relaxed);
        }
        asked
    }
}
