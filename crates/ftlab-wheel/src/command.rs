//! The command `ftlab`, which wheels include.

use pyo3::{Python, pyfunction};
use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The exit status of a Rust program that panicked.
const PANICKED: u8 = 101;

/// Runs the command with these arguments and returns the exit status. `python` is the interpreter
/// that `ftlab tune` runs.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, typed: Vec<OsString>, python: OsString) -> u8 {
    py.detach(|| {
        let run = AssertUnwindSafe(|| ftlab_cli::run(typed, Some(&python)));
        let status = catch_unwind(run).unwrap_or(PANICKED);
        // A program does this when it ends; nothing can be done where it fails.
        let _ = std::io::stdout().flush();
        status
    })
}
