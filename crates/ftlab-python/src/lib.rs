//! The compiled part of the Python package `ftlab`: module `ftlab._core`.
//!
//! What users see is written in Python (`python/ftlab/`) and documented there. This module takes what
//! Python has checked for its type, runs it without the interpreter's lock, and hands results back as
//! the JSON that `ftlab run --json` prints.

mod error;
mod experiment;
mod parse;
mod progress;
mod run;
mod workload;

#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::workload::Workload;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
