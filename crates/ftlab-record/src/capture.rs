//! What the two ways of recording share.

use crate::RecordError;
use crate::summary::{DeviceComparison, FileTotals};
use ftlab_trace::RequestBatch;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

/// A running capture: it sends requests, in order of time, until it ends.
pub(crate) struct Capture {
    /// Reads events as they arrive; ends when [`Stop`] requests it, or with the command.
    pub(crate) thread: JoinHandle<Result<Captured, RecordError>>,
    /// How to end it.
    pub(crate) stop: Box<dyn Stop>,
    /// The provenance of the trace.
    pub(crate) properties: BTreeMap<String, String>,
}

/// The end of a capture.
pub(crate) trait Stop {
    /// The phase that begins when the command has ended, if more requests may follow.
    fn last_phase(&self) -> Option<&'static str> {
        None
    }

    /// Waits until everything that the command wrote has been captured, and lets the capture end.
    fn stop(&mut self) -> Result<(), RecordError>;
}

/// The results of a capture that has ended.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// Events that the kernel dropped.
    pub(crate) lost_events: u64,
    /// Size of the drive.
    pub(crate) device_bytes: u64,
    /// The device's own counters.
    pub(crate) device: Option<DeviceComparison>,
    /// The activity on the files.
    pub(crate) files: Option<FileTotals>,
    /// Warnings for the reader of the trace.
    pub(crate) warnings: Vec<String>,
}

/// Passes batches to the writer of the trace.
pub(crate) struct Outlet {
    sender: Sender<RequestBatch>,
    batch: RequestBatch,
}

impl Outlet {
    pub(crate) fn new(sender: Sender<RequestBatch>) -> Self {
        Self { sender, batch: RequestBatch::new() }
    }

    /// Where the next requests go.
    pub(crate) fn batch(&mut self) -> &mut RequestBatch {
        &mut self.batch
    }

    /// Sends the current batch; `false` if the receiver is gone.
    pub(crate) fn send(&mut self) -> bool {
        self.batch.is_empty() || self.sender.send(std::mem::take(&mut self.batch)).is_ok()
    }
}

/// Whether a flag that another thread sets is set.
pub(crate) fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Acquire)
}
