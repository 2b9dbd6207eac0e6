//! Trace formats: one file per reader, one line per format in [`FORMATS`].

pub mod blkparse;
pub mod csv;
mod fields;
pub mod fio_iolog;
pub mod lpn_u32;
pub mod parquet;

use crate::{Input, Op, OpenOptions, TraceError, TraceSource};
use ftlab_spec::{Parameter, Spec, SpecError};

/// Opens a trace of one format, with the parameters of that format.
pub type OpenFormat = fn(Input, &Spec, &OpenOptions) -> Result<Box<dyn TraceSource>, TraceError>;

/// One format: how it is called, recognised and read.
pub struct FormatInfo {
    /// The name to type.
    pub name: &'static str,
    /// Endings of file names, without the dot and without `.gz` or `.zst`; they decide only where
    /// the content does not.
    pub extensions: &'static [&'static str],
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where the format is described.
    pub source: &'static str,
    /// Its parameters.
    pub parameters: fn() -> Vec<Parameter>,
    /// Whether a trace that begins with these bytes (unpacked, up to 64 KiB) is of this format.
    pub detect: fn(head: &[u8]) -> bool,
    /// Opens a trace of this format.
    pub open: OpenFormat,
}

/// Every format, in the order in which content is tried.
pub static FORMATS: &[FormatInfo] =
    &[parquet::FORMAT, blkparse::FORMAT, fio_iolog::FORMAT, csv::FORMAT, lpn_u32::FORMAT];

/// The format of this name.
pub fn find(name: &str) -> Result<&'static FormatInfo, TraceError> {
    FORMATS.iter().find(|format| format.name == name).ok_or_else(|| {
        let known = FORMATS.iter().map(|format| format.name.to_owned()).collect();
        SpecError::UnknownName { kind: "format", name: name.into(), known }.into()
    })
}

/// What the letters that the kernel calls `rwbs` ask of a drive: whether a flush comes first, and
/// what follows it; `None` for what is no request of data (see [`blkparse`]).
pub fn operation_of_rwbs(rwbs: &[u8], sectors: u32) -> Option<(bool, Option<Op>)> {
    blkparse::operation(rwbs, sectors).ok()
}

/// Opens `input` as the format that `options` names, or else that its content shows, or else that
/// its name suggests.
pub(crate) fn open(
    input: Input,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    check(options)?;
    if let Some(spec) = options.format_spec()? {
        return (find(&spec.name)?.open)(input, &spec, options);
    }
    let extension = bare_extension(input.name());
    let by_content = FORMATS.iter().find(|format| (format.detect)(input.head()));
    let by_name = || FORMATS.iter().find(|format| format.extensions.contains(&extension));
    match by_content.or_else(by_name) {
        // A reader that its name alone chose says best what is wrong with the content.
        Some(format) => (format.open)(input, &Spec::bare(format.name), options),
        None => Err(unknown_content(&input)),
    }
}

fn check(options: &OpenOptions) -> Result<(), TraceError> {
    crate::pages::page_sectors(options.page_bytes)?;
    if (0.0..=100.0).contains(&options.skip_bad_percent) {
        return Ok(());
    }
    Err(TraceError::Unsupported {
        what: format!("a tolerance of {}% for wrong lines", options.skip_bad_percent),
        remedy: "give a percentage in 0..=100".into(),
    })
}

/// The ending of a file name in front of `.gz` and `.zst`.
pub(crate) fn bare_extension(name: &str) -> &str {
    let unpacked = name.strip_suffix(".zst").or_else(|| name.strip_suffix(".gz")).unwrap_or(name);
    unpacked.rsplit_once('.').map_or("", |(_, extension)| extension)
}

fn unknown_content(input: &Input) -> TraceError {
    let head = input.head();
    let first_line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_text = !head.is_empty() && !head.iter().take(4096).any(|b| *b == 0 || *b >= 0xf8);
    let looks = if head.is_empty() {
        "it is empty".to_owned()
    } else if is_text {
        format!("text, first line {:?}", crate::error::excerpt(first_line))
    } else {
        format!("binary, first bytes {:02x?}", &head[..head.len().min(16)])
    };
    let known = FORMATS
        .iter()
        .map(|format| format!("{} ({})", format.name, format.summary))
        .collect::<Vec<_>>()
        .join(", ");
    TraceError::UnknownContent { name: input.name().into(), looks, known }
}

/// The first batch of a text in the format of `options`, and what was passed over: for tests of formats.
#[cfg(test)]
fn read_text(text: &str, options: &OpenOptions) -> Result<(crate::RequestBatch, String), String> {
    let input = Input::from_bytes("test", text.as_bytes().to_vec()).map_err(|e| e.to_string())?;
    let mut source = open(input, options).map_err(|error| error.to_string())?;
    let mut batch = crate::RequestBatch::new();
    source.next_batch(&mut batch).map_err(|error| error.to_string())?;
    Ok((batch, source.skipped().to_string()))
}
