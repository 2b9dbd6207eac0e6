//! What writes traces: options, sinks, and how a writer tells of itself.

use crate::{Op, PartialFile, RequestBatch, TraceError, TraceMetadata};
use serde::Serialize;
use std::collections::BTreeMap;

/// In which format a trace is written, and what it says of its requests.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateOptions {
    /// A name of [`WRITERS`](crate::sink::WRITERS); by the ending of the file name if `None`.
    pub format: Option<String>,
    /// Bytes per page, for formats that count in pages.
    pub page_bytes: u32,
    /// Where the requests come from; formats that can, keep it.
    pub metadata: TraceMetadata,
    /// Requests that Parquet gathers in memory and writes together; about a million if `None`.
    pub group_rows: Option<usize>,
    /// Keeps what is written, as `NAME.partial`, if the disk is full: for what cannot be written again.
    pub keeps_part: bool,
}

impl CreateOptions {
    /// Requests that a recording gathers: what is lost if its process is killed.
    const RECORDING_ROWS: usize = 1 << 16;

    /// For what passes only once: as little as possible is lost if it ends early.
    #[must_use]
    pub fn recording(self) -> Self {
        Self { group_rows: Some(Self::RECORDING_ROWS), keeps_part: true, ..self }
    }
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self {
            format: None,
            page_bytes: 4096,
            metadata: TraceMetadata::default(),
            group_rows: None,
            keeps_part: false,
        }
    }
}

/// Takes requests and makes a file of them.
pub trait TraceSink: Send {
    /// Adds requests. All batches must have the same columns.
    fn write(&mut self, batch: &RequestBatch) -> Result<(), TraceError>;

    /// Requests that were added so far, without those that the format has no place for.
    fn requests(&self) -> u64;

    /// Adds to what the file says of itself, where the format can.
    fn annotate(&mut self, key: &str, value: String) {
        let _ = (key, value);
    }

    /// Completes the file; without this it never appears under its name.
    fn finish(self: Box<Self>) -> Result<Written, TraceError>;
}

/// What a sink made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Written {
    /// Requests in the file.
    pub requests: u64,
    /// Requests that the format has no place for, by operation.
    pub left_out: BTreeMap<&'static str, u64>,
}

impl Written {
    pub(super) fn leave_out(&mut self, op: Op) {
        *self.left_out.entry(op.name()).or_default() += 1;
    }
}

pub(super) type Create = fn(PartialFile, &CreateOptions) -> Result<Box<dyn TraceSink>, TraceError>;

/// One format that can be written.
pub struct WriterInfo {
    /// The name to type; a reader of [`FORMATS`](crate::format::FORMATS) has the same.
    pub name: &'static str,
    /// Endings of file names, without the dot and without `.gz` or `.zst`.
    pub extensions: &'static [&'static str],
    /// What is kept and what is left out, in one line.
    pub summary: &'static str,
    pub(super) create: Create,
}
