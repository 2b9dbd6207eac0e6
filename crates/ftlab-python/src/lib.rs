//! The compiled part of the Python package `ftlab`: module `ftlab._core`.
//!
//! What users see is written in Python (`python/ftlab/`) and documented there. This module receives
//! arguments whose types Python has checked, runs with the GIL released, and returns results as the
//! JSON that `ftlab run --json` prints.

// Python hands arguments over by value.
#![allow(clippy::needless_pass_by_value)]

mod advise;
mod arrow;
mod capsule;
mod colours;
mod command;
mod compare;
mod drive_view;
mod error;
mod experiment;
mod generate;
mod inspect;
mod model;
mod parse;
mod policy;
mod progress;
mod registry;
mod results;
mod run;
mod sweep;
mod workload;

#[pyo3::pymodule]
mod _core {
    use pyo3::prelude::*;

    /// Files that Python writes state the commit, too.
    #[pymodule_init]
    fn name_commit(_module: &Bound<'_, PyModule>) {
        ftlab_cli::name_commit();
    }

    #[pymodule_export]
    use super::advise::advise;
    #[pymodule_export]
    use super::colours::{palette, styles};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::compare::compare;
    #[pymodule_export]
    use super::drive_view::DriveView;
    #[pymodule_export]
    use super::generate::RequestTables;
    #[pymodule_export]
    use super::inspect::inspect;
    #[pymodule_export]
    use super::model::{model_d_choices, model_fifo, model_greedy, model_hot_cold, model_split};
    #[pymodule_export]
    use super::registry::{entries, ftl, metadata_budget};
    #[pymodule_export]
    use super::results::{answer, load, report, save};
    #[pymodule_export]
    use super::run::{identity, run};
    #[pymodule_export]
    use super::sweep::{Plan, Store, sweep};
    #[pymodule_export]
    use super::workload::Workload;

    #[pymodule_export]
    const USUAL_FTLS: [&str; 7] = ftlab_lab::advise::USUAL_FTLS;
    #[pymodule_export]
    const USUAL_OP_RATIOS: &str = ftlab_lab::advise::USUAL_OP_RATIOS;
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
