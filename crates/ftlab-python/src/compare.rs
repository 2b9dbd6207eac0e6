//! `ftlab.compare`.

use crate::advise::{real_drive, shares};
use crate::error::{Error, Result};
use crate::experiment::experiment_on;
use crate::parse::{Settings, bad};
use crate::progress::stoppable;
use crate::workload::Workload;
use ftlab_experiments::Stop;
use ftlab_experiments::compare::{
    CELLS, CellStore, Comparison, Outcome, Scoreboard, USUAL_OP_RATIOS, contestants, markdown,
};
use ftlab_sim::{DriveClass, DriveOptions, Threads, Workload as SimWorkload};
use ftlab_spec::Spec;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

/// What is compared: workloads, FTLs (all if there are none), baselines, fills, shares of over-provisioning and
/// pages per block (the usual number if there are none).
type Axes = (Vec<Py<Workload>>, Vec<String>, Vec<String>, Vec<String>, Vec<String>, Vec<u32>);

#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    board: &'a Scoreboard,
    cells: &'a [Outcome],
    markdown: String,
}

/// The scoreboard as JSON; finished cells are kept in `directory`.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    axes: Axes,
    directory: PathBuf,
    settings: BTreeMap<String, String>,
    progress: Option<Py<PyAny>>,
) -> Result<String> {
    let (workloads, ftls, baseline, fills, op_ratios, pages_per_block) = axes;
    let workloads: Vec<_> = workloads.iter().map(|of| of.get().inner.clone()).collect();
    if workloads.is_empty() {
        return Err(bad("workloads", "[]", "one workload or more").into());
    }
    if let Some(SimWorkload::Requests(of)) =
        workloads.iter().find(|of| matches!(of, SimWorkload::Requests(_)))
    {
        let expects = "a trace file or a generator, which finished cells can be kept for";
        return Err(bad("workloads", &SimWorkload::Requests(of.clone()).name(), expects).into());
    }
    let parse = |all: &[String]| {
        all.iter().map(|ftl| ftl.parse()).collect::<std::result::Result<Vec<Spec>, _>>()
    };
    let baseline = parse(&baseline)?;
    let mut settings = Settings::new(settings);
    let class = real_drive(&mut settings)?;
    let ftls = contestants(&parse(&ftls)?, &baseline, class.is_some())?;
    let baseline: Vec<_> = baseline.iter().map(Spec::to_string).collect();
    if class.is_some() && !pages_per_block.is_empty() {
        let expects = "None with real_drive, whose model has blocks of its own";
        return Err(bad("pages_per_block", &format!("{pages_per_block:?}"), expects).into());
    }
    let usual = class.as_ref().map_or_else(DriveOptions::default, DriveClass::usual);
    let base = experiment_on(usual, workloads[0].clone(), Vec::new(), &mut settings)?;
    let fills = fills.iter().map(|fill| {
        fill.parse().map_err(|error: ftlab_spec::SpecError| bad("fill", fill, &error.to_string()))
    });
    let comparison = Comparison {
        workloads,
        ftls,
        fills: fills.collect::<std::result::Result<_, _>>()?,
        op_ratios: match class.and_then(|class| class.op) {
            _ if !op_ratios.is_empty() => shares(&op_ratios)?,
            Some(op) => vec![op],
            None => USUAL_OP_RATIOS.to_vec(),
        },
        pages_per_block: if pages_per_block.is_empty() {
            vec![None]
        } else {
            pages_per_block.into_iter().map(Some).collect()
        },
        models: None,
        stop: Stop::default(),
        base,
    };
    let comparison = match class {
        Some(class) => py.detach(|| comparison.on_models(class))?,
        None => comparison,
    };
    let store = CellStore::open(&directory, CELLS)?;
    let threads = comparison.base.threads.unwrap_or_else(Threads::processors);
    let outcomes = stoppable(py, &comparison.stop, progress.as_ref(), |count| {
        comparison.run(store, threads, &|done, of, _| {
            count.done.store(done, Ordering::Relaxed);
            count.all.store(of, Ordering::Relaxed);
        })
    })??;
    let board = Scoreboard::new(&outcomes, &baseline);
    if board.scores.is_empty() {
        let (reason, is_evidence) = board.why_none();
        let what = if is_evidence { "evidence" } else { "a result" };
        let expects = format!("an FTL with {what} in any cell: {reason}");
        return Err(bad("baseline", &baseline.join(", "), &expects).into());
    }
    let board =
        py.detach(|| comparison.with_trust(board, CellStore::open(&directory, CELLS)?, threads))?;
    let document = Document { board: &board, cells: &outcomes, markdown: markdown(&board) };
    serde_json::to_string(&document)
        .map_err(|error| Error::from(PyRuntimeError::new_err(error.to_string())))
}
