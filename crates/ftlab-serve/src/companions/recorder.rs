//! Writes the operations of the host as a trace.

use super::queue::{AbandonOnDrop, HostOp, Queue, TimedOp};
use crate::{RecordingStatus, ServeError};
use ftlab_drive::{Notice, Superblock};
use ftlab_trace::pages::SECTOR_BYTES;
use ftlab_trace::{CreateOptions, Op, RequestBatch, TraceError, TraceMetadata, TraceSink, create};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

/// A thread that writes a trace. Each page that the host writes is a request, in the order in which
/// the drive processed them, so that the trace is what the FTL saw; but for handles that moved on, which
/// traces do not have.
///
/// If the trace cannot be written, it says so at once and keeps what it has; the drive is served on.
#[derive(Debug)]
pub(super) struct TraceRecorder {
    path: String,
    operations: Arc<AtomicU64>,
    failure: Arc<OnceLock<String>>,
    thread: JoinHandle<Result<(), TraceError>>,
}

impl TraceRecorder {
    pub(super) fn start(
        path: &Path,
        superblock: &Superblock,
        names_streams: bool,
        queue: Arc<Queue>,
        notice: Notice,
    ) -> Result<Self, ServeError> {
        let config = superblock.config;
        let page_bytes = config.geometry.page_bytes();
        let metadata = TraceMetadata {
            device_bytes: Some(u64::from(config.logical_pages) * u64::from(page_bytes)),
            ..TraceMetadata::default()
        };
        let options = CreateOptions { page_bytes, metadata, ..CreateOptions::default() };
        let mut sink = create(path, &options.recording())?;
        sink.annotate("drive", superblock.uuid.to_string());
        sink.annotate("ftl", superblock.ftl.to_string());
        let page_sectors = page_bytes / SECTOR_BYTES as u32;
        let operations = Arc::<AtomicU64>::default();
        let counter = Arc::clone(&operations);
        let failure = Arc::<OnceLock<String>>::default();
        let failed = Arc::clone(&failure);
        let record = move || {
            let _given_up = AbandonOnDrop(&queue);
            let written = write(sink, page_sectors, names_streams, &queue, &counter, &notice);
            written.inspect_err(|error| drop(failed.set(error.to_string())))
        };
        let thread = std::thread::Builder::new().name("record".to_owned()).spawn(record);
        let thread = thread.map_err(|error| ServeError::io("starting a thread", error))?;
        Ok(Self { path: path.display().to_string(), operations, failure, thread })
    }

    pub(super) fn status(&self) -> RecordingStatus {
        RecordingStatus {
            path: self.path.clone(),
            operations: self.operations.load(Ordering::Relaxed),
            failure: self.failure.get().cloned(),
        }
    }

    /// Completes the trace.
    pub(super) fn finish(self) -> Result<RecordingStatus, TraceError> {
        let operations = self.operations;
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        let operations = operations.load(Ordering::Relaxed);
        Ok(RecordingStatus { path: self.path, operations, failure: None })
    }
}

fn write(
    mut sink: Box<dyn TraceSink>,
    page_sectors: u32,
    names_streams: bool,
    queue: &Queue,
    counter: &AtomicU64,
    notice: &Notice,
) -> Result<(), TraceError> {
    let mut ops = Vec::new();
    while queue.take(&mut ops) {
        let mut batch = RequestBatch::new();
        for TimedOp { time_us, op } in &ops {
            let (kind, first, pages, stream) = match *op {
                HostOp::Write { lpn, stream } => (Op::Write, lpn, 1, stream),
                HostOp::Trim { first, pages } => (Op::Trim, first, pages, 0),
                HostOp::RenewHandle(_) => continue,
            };
            let lba = u64::from(first.0) * u64::from(page_sectors);
            batch.push_at(*time_us, kind, lba, pages * page_sectors);
            if names_streams {
                batch.stream.push(stream);
            }
        }
        sink.write(&batch).inspect_err(|error| {
            notice(&format!("recording has ended, the drive is served on: {error}"));
        })?;
        counter.fetch_add(batch.len() as u64, Ordering::Relaxed);
    }
    sink.finish().map(drop)
}
