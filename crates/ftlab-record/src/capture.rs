//! What the two ways of recording have in common.

use crate::RecordError;
use crate::summary::{DeviceComparison, FileTotals};
use ftlab_trace::RequestBatch;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;

/// A capture that has begun: it sends requests, in order of time, until it ends.
pub(crate) struct Capture {
    /// Reads events as they come; ends when [`Stop`] says so, or with the command.
    pub(crate) thread: JoinHandle<Result<Captured, RecordError>>,
    /// How to end it.
    pub(crate) stop: Box<dyn Stop>,
    /// What the trace says of where it comes from.
    pub(crate) properties: BTreeMap<String, String>,
}

/// The end of a capture.
pub(crate) trait Stop {
    /// The phase that begins when the command has ended, if there is more to come.
    fn last_phase(&self) -> Option<&'static str> {
        None
    }

    /// Waits until everything that the command wrote has been seen, and lets the capture end.
    fn stop(&mut self) -> Result<(), RecordError>;
}

/// What a capture knows when it has ended.
#[derive(Debug, Default)]
pub(crate) struct Captured {
    /// Events that the kernel had no room for.
    pub(crate) lost_events: u64,
    /// Size of the drive.
    pub(crate) device_bytes: u64,
    /// What the device itself counted.
    pub(crate) device: Option<DeviceComparison>,
    /// What happened to the files.
    pub(crate) files: Option<FileTotals>,
    /// What the reader of the trace has to know.
    pub(crate) warnings: Vec<String>,
}

/// Hands batches to the writer of the trace.
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

    /// Sends what there is; `false` if nobody listens any more.
    pub(crate) fn send(&mut self) -> bool {
        self.batch.is_empty() || self.sender.send(std::mem::take(&mut self.batch)).is_ok()
    }
}

/// Whether a flag that another thread sets is set.
pub(crate) fn is_set(flag: &AtomicBool) -> bool {
    flag.load(Ordering::Acquire)
}
