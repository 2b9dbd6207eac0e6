//! How far an experiment is, for whoever waits for it.

use std::ops::ControlFlow;

/// What an experiment is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// A first pass over the workload, for FTLs that know the future.
    LookAhead,
    /// The drive is filled.
    Fill,
    /// Writes are executed and not counted.
    WarmUp,
    /// Writes are counted.
    Count,
}

/// How far an experiment is.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// Host page writes so far in the fill, or else after it.
    pub writes: u64,
    /// Share of the fill, or else of what follows it, in 0..=1, where it is known.
    pub share: Option<f64>,
    /// Each FTL's write amplification so far, once there is one.
    pub wafs: Vec<Option<f64>>,
}

/// Is told how far an experiment is, some hundred times a second at most; `()` does not care.
pub trait Progress {
    /// Called between two batches; a break stops the experiment with
    /// [`SimError::Stopped`](crate::SimError::Stopped).
    fn update(&mut self, status: &Status) -> ControlFlow<()> {
        let _ = status;
        ControlFlow::Continue(())
    }
}

impl Progress for () {}
