//! Writing traces: one file per format, one line each in [`WRITERS`].

mod lpn_u32;
mod output;
mod parquet;
mod split;
mod spool;
mod text;
mod writer;

pub use split::split_file;
pub use writer::{CreateOptions, TraceSink, WriterInfo, Written};

use crate::format::parquet::VOLUMES_PROPERTY;
use crate::partial_file::{check_unfinished, is_same_file};
use crate::{
    Input, Layout, OpenOptions, PartialFile, RequestBatch, Skipped, TraceError, TraceSource,
    format, window,
};
use ftlab_spec::SpecError;
use std::path::Path;

/// Every format that can be written.
pub static WRITERS: &[WriterInfo] = &[
    parquet::WRITER,
    text::BLKPARSE,
    text::FIO_IOLOG,
    text::CSV,
    text::ALIBABA,
    text::TENCENT,
    lpn_u32::WRITER,
];

/// Formats that keep the volumes of requests.
const KEEP_VOLUMES: [&str; 3] = ["parquet", "alibaba", "tencent"];

/// Creates a trace at `path`, in the format of its ending unless `options` names one; text and
/// `lpn-u32` are compressed if the name ends with `.gz` or `.zst`.
///
/// The file appears under its name when [`TraceSink::finish`] returns, and not at all if it does
/// not; an existing file is replaced, and anything else that has the name is an error. Of what cannot
/// be completed, `NAME.partial` remains if `options` ask for it; they then refuse to replace such a part.
pub fn create(path: &Path, options: &CreateOptions) -> Result<Box<dyn TraceSink>, TraceError> {
    crate::pages::page_sectors(options.page_bytes)?;
    let writer = writer_of(path, options.format.as_deref())?;
    if options.keeps_part {
        check_unfinished(path)?;
    }
    (writer.create)(PartialFile::create(path)?.keeping_part(options.keeps_part), options)
}

/// The writer called `format`, or else the one of the ending of `path`.
fn writer_of(path: &Path, format: Option<&str>) -> Result<&'static WriterInfo, TraceError> {
    let name = path.display().to_string();
    let extension = format::bare_extension(&name);
    let known = || WRITERS.iter().map(|writer| writer.name.to_owned()).collect::<Vec<_>>();
    let Some(format) = format else {
        return WRITERS.iter().find(|w| w.extensions.contains(&extension)).ok_or_else(|| {
            TraceError::Unsupported {
                what: format!(
                    "{name}: the ending {extension:?} does not say which format to write"
                ),
                remedy: format!(
                    "end the name with .parquet, or name one of {}",
                    known().join(", ")
                ),
            }
        });
    };
    WRITERS.iter().find(|writer| writer.name == format).ok_or_else(|| {
        SpecError::UnknownName { kind: "writer", name: format.into(), known: known() }.into()
    })
}

/// Copies requests from `source` to `sink` (at most `requests_max` of them) and finishes the file;
/// an error, and no file, if there is no request to put into it.
pub fn convert(
    source: &mut dyn TraceSource,
    mut sink: Box<dyn TraceSink>,
    requests_max: Option<u64>,
) -> Result<Written, TraceError> {
    let mut batch = RequestBatch::new();
    let mut taken = 0;
    let limit = requests_max.unwrap_or(u64::MAX);
    while taken < limit && source.next_batch(&mut batch)? {
        batch.truncate(usize::try_from(limit - taken).unwrap_or(usize::MAX));
        sink.write(&batch)?;
        taken += batch.len() as u64;
    }
    if sink.requests() == 0 {
        return Err(TraceError::NothingToWrite { format: source.metadata().format.clone(), taken });
    }
    if !source.volumes().is_empty() {
        let names = serde_json::to_string(source.volumes()).expect("names are text");
        sink.annotate(VOLUMES_PROPERTY, names);
    }
    sink.finish()
}

/// What of a trace is converted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Part {
    /// Begins at this named moment of the trace; at its start if `None`.
    pub from_phase: Option<String>,
    /// Requests at most.
    pub requests_max: Option<u64>,
}

/// A trace that was converted.
#[derive(Debug)]
pub struct Converted {
    /// What the new file has.
    pub written: Written,
    /// What was passed over in the old one.
    pub skipped: Skipped,
    /// Names of the volumes that have a file each; empty for one file.
    pub volumes: Vec<String>,
}

/// Opens `from` and writes `part` of it to `to`, in the format of its ending unless `format` names
/// one, with the provenance of the original: format, name of the file and whatever it says of
/// itself. A part is called one (`converted_part`), because its phases remain those of the whole.
/// Parquet and the tables of cloud block stores keep the volumes of the requests, unless `open_options` lay them out.
pub fn convert_file(
    from: &Path,
    open_options: &OpenOptions,
    to: &Path,
    format: Option<&str>,
    part: &Part,
) -> Result<Converted, TraceError> {
    let mut open_options = open_options.clone();
    let keeps_volumes = KEEP_VOLUMES.contains(&writer_of(to, format)?.name);
    if keeps_volumes && open_options.layout == Layout::ByFormat {
        open_options.layout = Layout::Keep;
    }
    let (mut source, options) = open_part(from, &open_options, format, part)?;
    refuse_same_file(from, to)?;
    let written = convert(source.as_mut(), create(to, &options)?, part.requests_max)?;
    Ok(Converted { written, skipped: source.skipped().clone(), volumes: Vec::new() })
}

/// Refuses to replace the trace that is being read, under whatever name; also under the one that the new file has
/// until it is complete.
fn refuse_same_file(from: &Path, to: &Path) -> Result<(), TraceError> {
    let partial = PartialFile::provisional_of(to);
    for input in Input::files(from) {
        let what = if is_same_file(&input, to) {
            format!("{} is the trace {} itself", to.display(), input.display())
        } else if is_same_file(&input, &partial) {
            let (to, partial) = (to.display(), partial.display());
            format!("{to} is written as {partial} until it is complete, which is the trace itself")
        } else {
            continue;
        };
        let remedy = "write to another file, and rename it afterwards".into();
        return Err(TraceError::Unsupported { what, remedy });
    }
    Ok(())
}

/// Opens `part` of `from`, with options for a sink that say where it comes from.
fn open_part(
    from: &Path,
    open_options: &OpenOptions,
    format: Option<&str>,
    part: &Part,
) -> Result<(Box<dyn TraceSource>, CreateOptions), TraceError> {
    let mut source = crate::open(from, open_options)?;
    let mut metadata = source.metadata().clone();
    if let Some(phase) = &part.from_phase {
        let start_us = metadata.phase_start_us(from, phase)?;
        source = window(source, start_us..u64::MAX);
    }
    let file_name = from.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let properties = &mut metadata.properties;
    // Written again where the volumes are kept.
    properties.remove(VOLUMES_PROPERTY);
    properties.entry("converted_from".into()).or_insert(file_name);
    properties.entry("converted_format".into()).or_insert(metadata.format.clone());
    let names = [
        part.from_phase.as_ref().map(|phase| format!("from phase {phase}")),
        part.requests_max.map(|requests| format!("at most {requests} requests")),
    ];
    let names: Vec<_> = names.into_iter().flatten().collect();
    if !names.is_empty() {
        let earlier = properties.remove("converted_part").into_iter();
        let all: Vec<_> = earlier.chain(names).collect();
        properties.insert("converted_part".into(), all.join(", "));
    }
    let options = CreateOptions {
        format: format.map(Into::into),
        page_bytes: open_options.page_bytes,
        metadata,
        ..CreateOptions::default()
    };
    let is_read_once =
        from == Path::new("-") || std::fs::metadata(from).is_ok_and(|from| !from.is_file());
    Ok((source, if is_read_once { options.recording() } else { options }))
}
