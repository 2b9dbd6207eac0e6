//! Looks after the interpreter while an experiment runs without its lock.

use ftlab_sim::{Phase, Progress, Status};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How often Python is asked whether Ctrl-C was pressed, and told how far the run is.
const PERIOD: Duration = Duration::from_millis(50);

/// Tells a function of Python how far a run is, and stops the run when that raises, or at Ctrl-C.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    last: Instant,
    /// Why the run was stopped.
    pub(crate) raised: Option<PyErr>,
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, last: Instant::now(), raised: None }
    }

    fn ask(&self, status: &Status) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            let Some(callback) = &self.callback else { return Ok(()) };
            let wafs = status.wafs.clone();
            callback.call1(py, (phase(status.phase), status.writes, status.share, wafs))?;
            Ok(())
        })
    }
}

impl Progress for Watch {
    fn update(&mut self, status: &Status) -> ControlFlow<()> {
        if self.last.elapsed() < PERIOD {
            return ControlFlow::Continue(());
        }
        let asked = self.ask(status);
        self.last = Instant::now();
        match asked {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// As `ftlab.Phase` has it.
fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::LookAhead => "look-ahead",
        Phase::Fill => "fill",
        Phase::WarmUp => "warm-up",
        Phase::Count => "count",
    }
}
