//! The engines as the Python package `ftlab` calls them; `ftlab-wheel` makes the module `ftlab._core` of them.
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
mod compare;
mod drive_view;
mod error;
mod experiment;
mod generate;
mod hint;
mod inspect;
mod mapping_cache;
mod model;
mod own;
mod parameters;
mod parse;
mod policy;
mod progress;
mod registry;
mod results;
mod run;
mod sweep;
mod workload;

use pyo3::prelude::*;
use pyo3::wrap_pyfunction;

/// Adds the engines to the module that Python loads.
pub fn add_to(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<drive_view::DriveView>()?;
    module.add_class::<generate::RequestTables>()?;
    module.add_class::<hint::Hint>()?;
    module.add_class::<sweep::Plan>()?;
    module.add_class::<sweep::Store>()?;
    module.add_class::<workload::Workload>()?;
    for function in [
        wrap_pyfunction!(advise::advise, module)?,
        wrap_pyfunction!(colours::palette, module)?,
        wrap_pyfunction!(colours::styles, module)?,
        wrap_pyfunction!(compare::compare, module)?,
        wrap_pyfunction!(inspect::inspect, module)?,
        wrap_pyfunction!(mapping_cache::mapping_cache, module)?,
        wrap_pyfunction!(model::model_d_choices, module)?,
        wrap_pyfunction!(model::model_fifo, module)?,
        wrap_pyfunction!(model::model_greedy, module)?,
        wrap_pyfunction!(model::model_hot_cold, module)?,
        wrap_pyfunction!(model::model_split, module)?,
        wrap_pyfunction!(parameters::parameter, module)?,
        wrap_pyfunction!(registry::entries, module)?,
        wrap_pyfunction!(registry::ftl, module)?,
        wrap_pyfunction!(registry::metadata_budget, module)?,
        wrap_pyfunction!(results::answer, module)?,
        wrap_pyfunction!(results::doubts, module)?,
        wrap_pyfunction!(results::load, module)?,
        wrap_pyfunction!(results::report, module)?,
        wrap_pyfunction!(results::run_columns, module)?,
        wrap_pyfunction!(results::save, module)?,
        wrap_pyfunction!(results::series_columns, module)?,
        wrap_pyfunction!(run::identity, module)?,
        wrap_pyfunction!(run::run, module)?,
        wrap_pyfunction!(sweep::sweep, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}
