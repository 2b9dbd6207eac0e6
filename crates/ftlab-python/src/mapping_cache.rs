//! `ftlab.mapping_cache`.

use crate::error::{Error, Result};
use crate::experiment::experiment_on;
use crate::parse::{Settings, bad};
use crate::progress::stoppable;
use crate::workload::Workload;
use ftlab_experiments::Stop;
use ftlab_experiments::advise::usual_length;
use ftlab_experiments::mapping_cache::MapQuestion;
use ftlab_sim::{DriveOptions, Length, Threads};
use ftlab_spec::{ByteSize, Spec, SpecError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// How much memory the map of a drive needs: the advice as JSON.
#[pyfunction]
pub(crate) fn mapping_cache(
    py: Python<'_>,
    workload: &Workload,
    ftls: Vec<String>,
    sizes: Vec<String>,
    settings: BTreeMap<String, String>,
) -> Result<String> {
    let question = question(workload, &ftls, &sizes, &mut Settings::new(settings))?;
    let threads = question.base.threads.unwrap_or_else(Threads::processors);
    let advice = stoppable(py, &question.stop, None, |_| question.answer(threads))?;
    let advice = advice.map_err(|error| workload.raised_or(error))?;
    serde_json::to_string(&advice)
        .map_err(|error| Error::from(PyRuntimeError::new_err(error.to_string())))
}

fn question(
    workload: &Workload,
    ftls: &[String],
    sizes: &[String],
    settings: &mut Settings,
) -> Result<MapQuestion> {
    let ftls: Vec<Spec> =
        ftls.iter().map(|ftl| ftl.parse()).collect::<std::result::Result<_, _>>()?;
    let size = |text: &String| {
        text.parse().map_err(|error: SpecError| bad("sizes", text, &error.to_string()))
    };
    let sizes: Vec<ByteSize> = sizes.iter().map(size).collect::<std::result::Result<_, _>>()?;
    let once = settings.flag("once")?;
    let target_waf = settings.number("target_waf")?;
    if let Some(waf) = target_waf.filter(|waf| *waf <= 1.0) {
        return Err(bad("target_waf", &waf.to_string(), "a number above 1").into());
    }
    let usual = DriveOptions::default();
    let mut base = experiment_on(usual, workload.inner.clone(), ftls, settings)?;
    if base.length == Length::OfWorkload {
        base.length = usual_length(&base.workload, once);
    }
    Ok(MapQuestion { base, sizes, target_waf, stop: Stop::default() })
}
