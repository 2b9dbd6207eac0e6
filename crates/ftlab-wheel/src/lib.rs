//! The compiled part of the Python package `ftlab`: module `ftlab._core`, with the engines and the command.
// pyo3 hands over owned values.
#![allow(clippy::needless_pass_by_value)]

mod command;

use pyo3::prelude::*;

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    // Files that Python writes state the commit, too.
    ftlab_cli::name_commit();
    ftlab_python::add_to(module)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)
}
