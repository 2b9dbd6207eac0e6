//! `ftlab.run`.

use crate::error::Result;
use crate::experiment::experiment;
use crate::own;
use crate::parse::Settings;
use crate::progress::{Watch, check_signals};
use crate::results::to_json;
use crate::workload::{Raised, Workload, take};
use ftlab_sim::{Experiment, SimError};
use ftlab_spec::Spec;
use ftlab_trace::Contents;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Host writes per batch if a policy in Python processes them: few enough for a prompt reaction to
/// Ctrl-C.
pub(crate) const PYTHON_BATCH_WRITES: u64 = 4096;

/// Runs FTLs on a workload; returns the result as JSON. `policies` are those in Python among them.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    workload: &Workload,
    ftls: Vec<String>,
    policies: Vec<Bound<'_, PyAny>>,
    settings: BTreeMap<String, String>,
    progress: Option<Py<PyAny>>,
) -> Result<String> {
    let ftls = ftls.iter().map(|ftl| ftl.parse()).collect::<std::result::Result<_, _>>()?;
    let mut watch = Watch::new(progress);
    let mut experiment = experiment(workload.inner.clone(), ftls, &mut Settings::new(settings))?;
    if !policies.is_empty() {
        experiment.policies = own::policies(&policies, &watch.raised)?;
        experiment.batch_writes = PYTHON_BATCH_WRITES;
    }
    let prepared = py.detach(|| prepare(experiment, &watch.raised));
    let outcome = prepared.and_then(|prepared| py.detach(|| prepared.run(&mut watch)));
    match take(&watch.raised) {
        Some(raised) => Err(raised.into()),
        None => to_json(&outcome.map_err(|error| workload.raised_or(error))?),
    }
}

/// What tells the run of an FTL from any other: 32 hexadecimal digits.
#[pyfunction]
pub(crate) fn identity(
    py: Python<'_>,
    workload: &Workload,
    ftl: &str,
    policies: Vec<Bound<'_, PyAny>>,
    settings: BTreeMap<String, String>,
) -> Result<String> {
    let ftl: Spec = ftl.parse()?;
    let mut experiment = experiment(workload.inner.clone(), vec![], &mut Settings::new(settings))?;
    experiment.policies = own::only_named(&policies)?;
    let identity = py.detach(|| {
        let page_bytes = experiment.drive.page_bytes;
        let workload = experiment.workload.identity(page_bytes, &Contents::of_user())?;
        Ok::<_, SimError>(experiment.identity(&workload)?.of_run(&ftl)?)
    });
    Ok(identity.map_err(|error| workload.raised_or(error))?.hash)
}

/// Prepares an experiment, which may take a pass over a long trace, on a thread of its own. At
/// Ctrl-C, the thread is abandoned.
fn prepare(
    experiment: Experiment,
    raised: &Raised,
) -> std::result::Result<ftlab_sim::Prepared, SimError> {
    let (send, receive) = mpsc::channel();
    // If the thread was abandoned, the result is dropped.
    std::thread::spawn(move || drop(send.send(experiment.prepare())));
    loop {
        match receive.recv_timeout(Duration::from_millis(50)) {
            Ok(prepared) => return prepared,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(SimError::Threads("preparing the run failed: a bug".into()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(error) = check_signals() {
            crate::workload::keep(raised, error);
            return Err(SimError::Stopped);
        }
    }
}
