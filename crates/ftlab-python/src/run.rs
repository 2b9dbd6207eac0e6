//! `ftlab.run`.

use crate::error::Result;
use crate::experiment::experiment;
use crate::parse::Settings;
use crate::policy::PythonPolicy;
use crate::progress::{Watch, check_signals};
use crate::results::to_json;
use crate::workload::{Raised, Workload, take};
use ftlab_sim::{Experiment, OwnPolicies, SimError};
use ftlab_spec::Spec;
use ftlab_trace::Contents;
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// Host writes per batch if a policy in Python processes them: few enough for a prompt reaction to
/// Ctrl-C.
const PYTHON_BATCH_WRITES: u64 = 4096;

/// Runs FTLs on a workload; returns the result as JSON. `policies` are FTLs in Python by name.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    workload: &Workload,
    ftls: Vec<String>,
    policies: Vec<(String, Py<PyAny>)>,
    settings: BTreeMap<String, String>,
    progress: Option<Py<PyAny>>,
) -> Result<String> {
    let ftls = ftls.iter().map(|ftl| ftl.parse()).collect::<std::result::Result<_, _>>()?;
    let mut watch = Watch::new(progress);
    let mut experiment = experiment(workload.inner.clone(), ftls, &mut Settings::new(settings))?;
    if !policies.is_empty() {
        experiment.policies = own(policies, &watch.raised)?;
        experiment.batch_writes = PYTHON_BATCH_WRITES;
    }
    let prepared = py.detach(|| prepare(experiment, &watch.raised));
    let outcome = prepared.and_then(|prepared| py.detach(|| prepared.run(&mut watch)));
    match take(&watch.raised) {
        Some(raised) => Err(raised.into()),
        None => to_json(&outcome.map_err(|error| workload.raised_or(error))?),
    }
}

/// What tells the run of an FTL of the registry from any other: 32 hexadecimal digits.
#[pyfunction]
pub(crate) fn identity(
    py: Python<'_>,
    workload: &Workload,
    ftl: &str,
    settings: BTreeMap<String, String>,
) -> Result<String> {
    let ftl: Spec = ftl.parse()?;
    let experiment = experiment(workload.inner.clone(), vec![], &mut Settings::new(settings))?;
    let identity = py.detach(|| {
        let page_bytes = experiment.drive.page_bytes;
        let workload = experiment.workload.identity(page_bytes, &Contents::of_user())?;
        Ok::<_, SimError>(experiment.identity(&workload)?.of_run(&ftl)?)
    });
    Ok(identity.map_err(|error| workload.raised_or(error))?.hash)
}

/// The policies by name.
fn own(policies: Vec<(String, Py<PyAny>)>, raised: &Raised) -> Result<OwnPolicies> {
    let mut own = OwnPolicies::default();
    for (name, policy) in policies {
        let raised = Arc::clone(raised);
        let make = move |size| PythonPolicy::make(&policy, size, &raised);
        own.add(&name, make).map_err(SimError::from)?;
    }
    Ok(own)
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
