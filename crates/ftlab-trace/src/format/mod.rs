//! Trace formats: one file per reader, one line per format in [`FORMATS`].

pub mod blkparse;
pub mod blktrace;
pub mod cloudphysics;
pub mod csv;
mod fields;
pub mod fio_iolog;
pub mod fiu;
pub mod ftrace;
mod info;
pub mod lpn_u32;
pub mod oracle_general;
pub mod parquet;
mod rwbs;
pub mod strace;
mod strangers;

use crate::{Input, Op, OpenOptions, PartialFile, TraceError, TraceSource, volumes};
use ftlab_spec::{Spec, SpecError};
use info::first_lines;
use std::path::Path;

pub use fields::decimal;
pub use info::{FormatInfo, Looks, OpenFormat};

/// Every format, in the order in which they are listed.
pub static FORMATS: &[FormatInfo] = &[
    parquet::FORMAT,
    blkparse::FORMAT,
    blktrace::FORMAT,
    ftrace::FORMAT,
    strace::FORMAT,
    fio_iolog::FORMAT,
    csv::FORMAT,
    csv::msr::FORMAT,
    csv::spc::FORMAT,
    csv::alibaba::FORMAT,
    csv::tencent::FORMAT,
    csv::systor::FORMAT,
    csv::mqsim::FORMAT,
    csv::disksim::FORMAT,
    fiu::FORMAT,
    cloudphysics::FORMAT,
    oracle_general::FORMAT,
    lpn_u32::FORMAT,
];

/// The version of what readers make of traces, from 1: raised when the same trace has other requests than before. A test
/// of `ftlab-sim` over golden hashes asks for it.
pub const VERSION: u32 = 2;

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
    rwbs::operation(rwbs, sectors).ok()
}

/// Opens `input` as the format that `options` names, or else that its content shows, or else that
/// its name suggests.
pub(crate) fn open(
    input: Input,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    check(options)?;
    let spec = match options.format_spec()? {
        Some(spec) => spec,
        None => Spec::bare(recognise(&input, options)?.name),
    };
    let format = find(&spec.name)?;
    let ignored_by = ignoring_volumes(format, &spec);
    let source = (format.open)(input, &spec, options)?;
    volumes::arrange(source, options, format.volumes_together, ignored_by)
}

/// The format that ignores volumes and is `spec` otherwise, if there is one.
fn ignoring_volumes(format: &FormatInfo, spec: &Spec) -> Option<String> {
    const VOLUME: &str = "volume";
    let parameters = (format.parameters)();
    let is_possible = parameters.iter().any(|parameter| parameter.name == VOLUME);
    let mut spec = spec.clone();
    let is_said = spec.get(VOLUME).is_some();
    spec.arguments.push((VOLUME.into(), "ignore".into()));
    (is_possible && !is_said).then(|| spec.to_string())
}

/// As which format the trace at `path` is read, with every parameter of it; of what no reader knows, only that.
pub(crate) fn reading(path: &Path, options: &OpenOptions) -> Result<String, TraceError> {
    let spec = match options.format_spec()? {
        Some(spec) => spec,
        None => match recognise(&Input::open(path)?, options) {
            Ok(format) => Spec::bare(format.name),
            Err(_) => return Ok("as nothing known".into()),
        },
    };
    let values = (find(&spec.name)?.parameters)().into_iter().map(|parameter| {
        let value = spec.get(parameter.name).unwrap_or(&parameter.default);
        format!(" {}={value}", parameter.name)
    });
    Ok(format!("as {}{}", spec.name, values.collect::<String>()))
}

/// The format that the content of `input` shows, or else that its name suggests.
fn recognise(input: &Input, options: &OpenOptions) -> Result<&'static FormatInfo, TraceError> {
    let looking = |looks| {
        let formats = FORMATS.iter().filter(move |format| (format.detect)(input.head()) == looks);
        formats.collect::<Vec<_>>()
    };
    let certain = looking(Looks::Certain);
    if let [format] = certain[..] {
        return Ok(format);
    }
    let extension = unpacked_extension(input);
    let by_name = FORMATS.iter().find(|format| format.extensions.contains(&extension));
    let candidates = if certain.is_empty() { looking(Looks::Possible) } else { certain };
    match by_name {
        // A reader that its name alone chose says best what is wrong with the content.
        Some(format) if candidates.is_empty() || is_among(format, &candidates) => Ok(format),
        _ if candidates.is_empty() => Err(unknown_content(input, options)),
        _ => Err(TraceError::Ambiguous {
            name: input.name().into(),
            verdict: if candidates.len() == 1 {
                "fits one format, as numbers may by chance"
            } else {
                "fits several formats"
            },
            candidates: names(candidates.into_iter()),
        }),
    }
}

fn is_among(format: &FormatInfo, candidates: &[&FormatInfo]) -> bool {
    candidates.iter().any(|candidate| candidate.name == format.name)
}

/// Formats with what each is, one a line.
fn names<'a>(formats: impl Iterator<Item = &'a FormatInfo>) -> String {
    let names = formats.map(|format| format!("{} ({})", format.name, format.summary));
    names.collect::<Vec<_>>().join(",\n    ")
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

/// The ending of a file name before `.gz` and `.zst`.
pub(crate) fn bare_extension(name: &str) -> &str {
    let unpacked = name.strip_suffix(".zst").or_else(|| name.strip_suffix(".gz")).unwrap_or(name);
    unpacked.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The ending of the name of what is read, before those of what it is packed in.
pub fn unpacked_extension(input: &Input) -> &str {
    const PACKED: [&str; 7] = [".gz", ".zst", ".lz4", ".bz2", ".xz", ".tar", ".zip"];
    let mut name = PartialFile::finished(input.inner_name());
    while let Some(inner) = PACKED.iter().find_map(|ending| name.strip_suffix(ending)) {
        name = inner;
    }
    bare_extension(name)
}

fn unknown_content(input: &Input, options: &OpenOptions) -> TraceError {
    let head = input.head();
    let first_line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let is_text = !head.is_empty() && !head.iter().take(4096).any(|b| *b == 0 || *b >= 0xf8);
    let text = || format!("text, first line {:?}", crate::error::excerpt(first_line));
    let known = names(FORMATS.iter());
    let by_name = format!("name one with --format: {known}");
    let (looks, remedy) = if head.is_empty() && input.is_unfinished() {
        ("it is empty: its writer was stopped before anything was written".to_owned(), by_name)
    } else if head.is_empty() {
        ("it is empty".to_owned(), by_name)
    } else if let Some((what, remedy)) = strangers::name(head) {
        (what.to_owned(), format!("{remedy}; or {by_name}"))
    } else if !is_text {
        (format!("binary, first bytes {:02x?}", &head[..head.len().min(16)]), by_name)
    } else {
        let proposal = csv::propose(head, options.page_bytes);
        (
            text(),
            proposal.map_or(by_name.clone(), |proposal| format!("{proposal};\n    or {by_name}")),
        )
    };
    TraceError::UnknownContent { name: input.name().into(), looks, remedy }
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
