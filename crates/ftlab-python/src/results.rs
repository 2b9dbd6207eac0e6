//! Results to files and pages.

use crate::error::{Error, Result};
use ftlab_experiments::{read_results, write_results};
use ftlab_sim::fact::Shown;
use ftlab_sim::result::shown;
use ftlab_sim::{ExperimentResult, summary};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use std::path::PathBuf;

/// Parses a result that Python passes.
pub(crate) fn to_json(result: &ExperimentResult) -> Result<String> {
    serde_json::to_string(result)
        .map_err(|error| Error::from(PyRuntimeError::new_err(error.to_string())))
}

fn from_json(json: &str) -> Result<ExperimentResult> {
    serde_json::from_str(json).map_err(|error| {
        let message = format!("this is not a result of this version of ftlab: {error}");
        Error::from(PyValueError::new_err(message))
    })
}

/// The outcome, in a sentence.
#[pyfunction]
pub(crate) fn answer(json: &str) -> Result<String> {
    Ok(summary::sentence(&from_json(json)?))
}

/// What is unlike a drive that is built, a sentence each.
#[pyfunction]
pub(crate) fn doubts(json: &str) -> Result<Vec<String>> {
    Ok(summary::doubts(&from_json(json)?))
}

/// Writes a result into a directory.
#[pyfunction]
pub(crate) fn save(py: Python<'_>, json: &str, directory: PathBuf) -> Result<()> {
    let result = from_json(json)?;
    py.detach(|| write_results(&result, &directory))?;
    Ok(())
}

/// Reads a result from a directory.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, directory: PathBuf) -> Result<String> {
    to_json(&py.detach(|| read_results(&directory))?)
}

/// A result as an HTML page.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, json: &str) -> Result<String> {
    let result = from_json(json)?;
    py.detach(|| ftlab_report::page(&result))
        .map_err(|error| Error::from(PyValueError::new_err(error.to_string())))
}

/// Columns of the table of runs or of series besides what is directly in a run: their names, and where in the run
/// their values are.
type Columns = Vec<(&'static str, String)>;

/// Those of the table of runs.
#[pyfunction]
pub(crate) fn run_columns() -> Columns {
    columns(|shown| match *shown {
        Shown::Frame { at, name } => Some((at, name)),
        _ => None,
    })
}

/// Those of the table of series.
#[pyfunction]
pub(crate) fn series_columns() -> Columns {
    columns(|shown| match *shown {
        Shown::Running { frame, name, .. } => Some((frame, name)),
        _ => None,
    })
}

fn columns(pick: impl Fn(&Shown) -> Option<(u32, &'static str)>) -> Columns {
    shown(pick).into_iter().map(|(name, fact)| (name, fact.path.clone())).collect()
}
