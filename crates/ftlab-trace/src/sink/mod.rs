//! Writing traces: one file per format, one line each in [`WRITERS`].

mod lpn_u32;
mod output;
mod parquet;
mod text;

use crate::{
    Op, OpenOptions, PartialFile, RequestBatch, TraceError, TraceMetadata, TraceSource, format,
};
use ftlab_spec::SpecError;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// How to create a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct CreateOptions {
    /// A name of [`WRITERS`]; by the ending of the file name if `None`.
    pub format: Option<String>,
    /// Bytes per page, for formats that count in pages.
    pub page_bytes: u32,
    /// Where the requests come from; formats that can, keep it.
    pub metadata: TraceMetadata,
}

impl Default for CreateOptions {
    fn default() -> Self {
        Self { format: None, page_bytes: 4096, metadata: TraceMetadata::default() }
    }
}

/// Takes requests and makes a file of them.
pub trait TraceSink: Send {
    /// Adds requests. All batches must have the same columns.
    fn write(&mut self, batch: &RequestBatch) -> Result<(), TraceError>;

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
    fn leave_out(&mut self, op: Op) {
        *self.left_out.entry(op.name()).or_default() += 1;
    }
}

type Create = fn(PartialFile, &CreateOptions) -> Result<Box<dyn TraceSink>, TraceError>;

/// One format that can be written.
pub struct WriterInfo {
    /// The name to type; a reader of [`format::FORMATS`] has the same.
    pub name: &'static str,
    /// Endings of file names, without the dot and without `.gz` or `.zst`.
    pub extensions: &'static [&'static str],
    /// What is kept and what is left out, in one line.
    pub summary: &'static str,
    create: Create,
}

/// Every format that can be written.
pub static WRITERS: &[WriterInfo] =
    &[parquet::WRITER, text::BLKPARSE, text::FIO_IOLOG, text::CSV, lpn_u32::WRITER];

/// Creates a trace at `path`, in the format of its ending unless `options` names one; text and
/// `lpn-u32` are compressed if the name ends with `.gz` or `.zst`.
///
/// The file appears under its name when [`TraceSink::finish`] returns, and not at all if it does
/// not; an existing file is replaced, and anything else that has the name is an error.
pub fn create(path: &Path, options: &CreateOptions) -> Result<Box<dyn TraceSink>, TraceError> {
    crate::pages::page_sectors(options.page_bytes)?;
    let name = path.display().to_string();
    let extension = format::bare_extension(&name);
    let known = || WRITERS.iter().map(|writer| writer.name.to_owned()).collect::<Vec<_>>();
    let writer = match &options.format {
        Some(format) => WRITERS.iter().find(|w| w.name == format).ok_or_else(|| {
            SpecError::UnknownName { kind: "writer", name: format.clone(), known: known() }
        })?,
        None => WRITERS.iter().find(|w| w.extensions.contains(&extension)).ok_or_else(|| {
            TraceError::Unsupported {
                what: format!(
                    "{name}: the ending {extension:?} does not say which format to write"
                ),
                remedy: format!(
                    "end the name with .parquet, or name one of {}",
                    known().join(", ")
                ),
            }
        })?,
    };
    (writer.create)(PartialFile::create(path)?, options)
}

/// Copies requests from `source` to `sink` (at most `requests_max` of them) and finishes the file.
pub fn convert(
    source: &mut dyn TraceSource,
    mut sink: Box<dyn TraceSink>,
    requests_max: Option<u64>,
) -> Result<Written, TraceError> {
    let mut batch = RequestBatch::new();
    let mut left = requests_max.unwrap_or(u64::MAX);
    while left > 0 && source.next_batch(&mut batch)? {
        batch.truncate(usize::try_from(left).unwrap_or(usize::MAX));
        sink.write(&batch)?;
        left -= batch.len() as u64;
    }
    sink.finish()
}

/// Opens `from`, writes it to `to` with the provenance of the original: format, name of the file
/// and whatever it says of itself.
pub fn convert_file(
    from: &Path,
    open_options: &OpenOptions,
    to: &Path,
    format: Option<&str>,
) -> Result<Written, TraceError> {
    let mut source = crate::open(from, open_options)?;
    let mut metadata = source.metadata().clone();
    let file_name = from.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    metadata.properties.entry("converted_from".into()).or_insert(file_name);
    metadata.properties.entry("converted_format".into()).or_insert(metadata.format.clone());
    let options = CreateOptions {
        format: format.map(Into::into),
        page_bytes: open_options.page_bytes,
        metadata,
    };
    let sink = create(to, &options)?;
    convert(source.as_mut(), sink, None)
}
