//! `ftlab.run`.

use crate::error::{Error, Result};
use crate::experiment::experiment;
use crate::parse::Settings;
use crate::progress::Watch;
use crate::workload::Workload;
use ftlab_sim::{ExperimentResult, SimError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Runs FTLs over a workload; returns the result as JSON.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    workload: &Workload,
    ftls: Vec<String>,
    settings: BTreeMap<String, String>,
    progress: Option<Py<PyAny>>,
) -> Result<String> {
    let ftls = ftls.iter().map(|ftl| ftl.parse()).collect::<std::result::Result<_, _>>()?;
    let experiment = experiment(workload.0.clone(), ftls, &mut Settings::new(settings))?;
    let mut watch = Watch::new(progress);
    let outcome = py.detach(|| experiment.prepare()?.run(&mut watch));
    match (watch.raised, outcome) {
        (Some(raised), Err(SimError::Stopped)) => Err(raised.into()),
        (_, outcome) => to_json(&outcome?),
    }
}

/// A result as Python takes it over.
pub(crate) fn to_json(result: &ExperimentResult) -> Result<String> {
    serde_json::to_string(result)
        .map_err(|error| Error::from(PyRuntimeError::new_err(error.to_string())))
}
