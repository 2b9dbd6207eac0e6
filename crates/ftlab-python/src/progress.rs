//! Serves the interpreter while an experiment runs with the GIL released.

use crate::workload::{Raised, keep, take};
use ftlab_experiments::Stop;
use ftlab_sim::{Phase, Progress, Status};
use ftlab_trace::{RequestBatch, Skipped, TraceError, TraceMetadata, TraceSource};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How often Python is asked whether Ctrl-C was pressed, and notified of progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Reports progress to a Python function, and stops the run if that raises, at Ctrl-C, or after an
/// exception elsewhere in Python.
pub(crate) struct Watch {
    callback: Option<Py<PyAny>>,
    last: Instant,
    /// Why the run was stopped, or what a policy raised.
    pub(crate) raised: Raised,
}

impl Watch {
    pub(crate) fn new(callback: Option<Py<PyAny>>) -> Self {
        Self { callback, last: Instant::now(), raised: Raised::default() }
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
        if let Some(error) = take(&self.raised) {
            keep(&self.raised, error);
            return ControlFlow::Break(());
        }
        if self.last.elapsed() < PERIOD {
            return ControlFlow::Continue(());
        }
        let asked = self.ask(status);
        self.last = Instant::now();
        match asked {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                keep(&self.raised, error);
                ControlFlow::Break(())
            }
        }
    }
}

/// What `work` returns, on a thread of its own with the GIL released; this thread tells `callback` how many runs
/// are done, of how many if known. Ctrl-C, or an exception of the callback, sets `stop`, waits, and is raised.
pub(crate) fn stoppable<T: Send>(
    py: Python<'_>,
    stop: &Stop,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(&RunCount) -> T + Send,
) -> PyResult<T> {
    let count = RunCount::default();
    let mut raised = None;
    let done = py.detach(|| {
        std::thread::scope(|scope| {
            let worker = scope.spawn(|| work(&count));
            while !worker.is_finished() {
                std::thread::sleep(PERIOD);
                if raised.is_none()
                    && let Err(error) = count.tell(callback)
                {
                    raised = Some(error);
                    stop.store(true, Ordering::Relaxed);
                }
            }
            worker.join()
        })
    });
    match (raised, done) {
        (Some(error), _) => Err(error),
        (None, Ok(done)) => Ok(done),
        (None, Err(panic)) => std::panic::resume_unwind(panic),
    }
}

/// Runs that are done, and all of them, if that is known.
#[derive(Default)]
pub(crate) struct RunCount {
    pub(crate) done: AtomicUsize,
    /// 0 if it is not known.
    pub(crate) all: AtomicUsize,
}

impl RunCount {
    fn tell(&self, callback: Option<&Py<PyAny>>) -> PyResult<()> {
        let (done, all) = (self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed));
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(callback) = callback {
                callback.call1(py, (done, (all > 0).then_some(all)))?;
            }
            Ok(())
        })
    }
}

/// Raises what Ctrl-C raises, if it was pressed.
#[allow(clippy::redundant_closure_for_method_calls)] // the method is of one lifetime, `attach` wants any
pub(crate) fn check_signals() -> PyResult<()> {
    Python::attach(|py| py.check_signals())
}

/// A source that ends with an error at Ctrl-C.
pub(crate) struct Interruptible<'a> {
    source: &'a mut dyn TraceSource,
    last: Instant,
    pub(crate) raised: Option<PyErr>,
}

impl<'a> Interruptible<'a> {
    pub(crate) fn new(source: &'a mut dyn TraceSource) -> Self {
        Self { source, last: Instant::now(), raised: None }
    }
}

impl TraceSource for Interruptible<'_> {
    fn metadata(&self) -> &TraceMetadata {
        self.source.metadata()
    }

    fn next_batch(&mut self, batch: &mut RequestBatch) -> Result<bool, TraceError> {
        if self.last.elapsed() >= PERIOD {
            self.last = Instant::now();
            if let Err(error) = check_signals() {
                self.raised = Some(error);
                let (what, remedy) = ("interrupted".into(), "begin again".into());
                return Err(TraceError::Unsupported { what, remedy });
            }
        }
        self.source.next_batch(batch)
    }

    fn skipped(&self) -> &Skipped {
        self.source.skipped()
    }

    fn volumes(&self) -> &[String] {
        self.source.volumes()
    }

    fn progress(&self) -> Option<f64> {
        self.source.progress()
    }
}

/// As `ftlab.Status` has it.
fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::LookAhead => "look-ahead",
        Phase::Fill => "fill",
        Phase::WarmUp => "warm-up",
        Phase::Count => "count",
    }
}
