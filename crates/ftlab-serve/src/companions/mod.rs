//! Companions of a drive that is being served: its operations are recorded, and carried out by
//! other FTLs.
//!
//! The drive reports every operation of the host as it takes effect ([`HostObserver`]). A queue per
//! companion passes it to a thread. Nothing is lost: a companion that is too slow fills its queue,
//! and then the drive waits for it.

mod queue;
mod recorder;
mod shadows;
#[cfg(test)]
mod tests;

use crate::{CompanionStatus, RecordingStatus, ServeError, ShadowStatus};
use ftlab_drive::{Drive, HostObserver, Notice};
use ftlab_flash::Lpn;
use ftlab_spec::Spec;
use ftlab_trace::TraceError;
use queue::{HostOp, Queue, TimedOp};
use recorder::TraceRecorder;
use shadows::Shadow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The companions to start.
#[derive(Debug, Clone, Default)]
pub struct CompanionOptions {
    /// The trace file for the operations of the host.
    pub record: Option<PathBuf>,
    /// FTLs that carry out the same operations on a drive of the same size.
    pub shadows: Vec<Spec>,
    /// Whether the trace has a column of the streams that the host names.
    pub names_streams: bool,
    /// The flash that is emulated, for the dashboard.
    pub emulated_latency: Option<String>,
}

/// Queues of companions that have not started yet: the drive is opened in between.
#[derive(Debug)]
pub struct Prepared {
    options: CompanionOptions,
    queues: Vec<Arc<Queue>>,
}

/// Running companions.
#[derive(Debug)]
pub struct Companions {
    recorder: Option<TraceRecorder>,
    shadows: Vec<Shadow>,
    emulated_latency: Option<String>,
}

impl CompanionOptions {
    /// Prepares companions, and the observer to open the drive with, if there are any.
    pub fn prepare(self) -> (Prepared, Option<Box<dyn HostObserver>>) {
        let count = usize::from(self.record.is_some()) + self.shadows.len();
        let queues: Vec<_> = (0..count).map(|_| Arc::new(Queue::new())).collect();
        let tap = Tap { queues: queues.clone(), begin: Instant::now() };
        let observer = (count > 0).then(|| Box::new(tap) as Box<dyn HostObserver>);
        (Prepared { options: self, queues }, observer)
    }
}

impl Prepared {
    /// Starts companions of `drive`, which was opened with the observer of
    /// [`CompanionOptions::prepare`]. Shadows begin with the pages that the drive holds, written in
    /// address order. `notice` is told at once if the trace cannot be written.
    pub fn start(self, drive: &Drive, notice: Notice) -> Result<Companions, ServeError> {
        let superblock = drive.snapshot().superblock;
        let mut queues = self.queues.into_iter();
        let mut next = || queues.next().expect("there is a queue for each companion");
        let mapping = if self.options.shadows.is_empty() { Vec::new() } else { drive.mapping() };
        let start = |spec| Shadow::start(spec, superblock.config, &mapping, next());
        let shadows = self.options.shadows.iter().map(start).collect::<Result<_, _>>()?;
        // Last, because it creates a file.
        let names_streams = self.options.names_streams;
        let start =
            |path: PathBuf| TraceRecorder::start(&path, &superblock, names_streams, next(), notice);
        let recorder = self.options.record.map(start);
        let recorder = recorder.transpose()?;
        Ok(Companions { recorder, shadows, emulated_latency: self.options.emulated_latency })
    }
}

impl Companions {
    /// Ends when all operations have been processed; completes the trace, if there is one, and
    /// returns its number of operations. The drive must be closed.
    pub fn finish(self) -> Result<Option<RecordingStatus>, TraceError> {
        drop(self.shadows);
        self.recorder.map(TraceRecorder::finish).transpose()
    }
}

impl CompanionStatus for Companions {
    fn shadows(&self) -> Vec<ShadowStatus> {
        self.shadows.iter().map(Shadow::status).collect()
    }

    fn recording(&self) -> Option<RecordingStatus> {
        self.recorder.as_ref().map(TraceRecorder::status)
    }

    fn emulated_latency(&self) -> Option<String> {
        self.emulated_latency.clone()
    }
}

/// Adds the operations of the host to the queues.
struct Tap {
    queues: Vec<Arc<Queue>>,
    begin: Instant,
}

impl Tap {
    fn tell(&self, op: HostOp) {
        let time_us = self.begin.elapsed().as_micros() as u64;
        for queue in &self.queues {
            queue.push(TimedOp { time_us, op });
        }
    }
}

impl HostObserver for Tap {
    fn write(&mut self, lpn: Lpn, stream: u16) {
        self.tell(HostOp::Write { lpn, stream });
    }

    fn trim(&mut self, first: Lpn, pages: u32) {
        self.tell(HostOp::Trim { first, pages });
    }

    fn renew_handle(&mut self, handle: u16) {
        self.tell(HostOp::RenewHandle(handle));
    }
}

impl Drop for Tap {
    /// The drive is closed: there are no more operations.
    fn drop(&mut self) {
        for queue in &self.queues {
            queue.close();
        }
    }
}
