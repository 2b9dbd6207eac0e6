//! A fleet that is made up, written as a trace.

use crate::error::CliError;
use crate::output::say;
use crate::progress::with_spinner;
use ftlab_fleet::{FleetSource, generated};
use ftlab_sim::format::grouped;
use ftlab_spec::Spec;
use ftlab_trace::{CreateOptions, TraceSource, WRITERS, convert, create, replace_file};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What stands for the sizes of volumes, instead of a format.
const SIZES: &str = "sizes";

/// A file, and what it has.
#[derive(Debug, Clone)]
pub(super) struct WrittenFile {
    format: String,
    path: PathBuf,
}

impl FromStr for WrittenFile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let known = || WRITERS.iter().map(|writer| writer.name).chain([SIZES]);
        let found = text.split_once('=').filter(|(_, path)| !path.is_empty());
        let found = found.filter(|(format, _)| known().any(|name| name == *format));
        found.map(|(format, path)| Self { format: format.into(), path: path.into() }).ok_or_else(|| {
            let known: Vec<_> = known().collect();
            format!("{text:?} is not a format and a file, such as alibaba=fleet.csv.gz; formats are {}", known.join(", "))
        })
    }
}

pub(super) fn write_generated(
    traces: &[PathBuf],
    files: &[WrittenFile],
    quiet: bool,
) -> Result<(), CliError> {
    let [trace] = traces else {
        return Err(CliError::usage(
            "--write takes one fleet that is made up, such as fleet:volumes=100",
        ));
    };
    let Some(spec) = generated(trace) else {
        return Err(CliError::usage(format!(
            "--write is for a fleet that is made up, such as fleet:volumes=100, and {} is a trace; convert it with \
             `ftlab convert`",
            trace.display()
        )));
    };
    let spec = spec?;
    for file in files {
        let (count, what) = with_spinner(quiet, "writing", || write(&spec, file))?;
        if !quiet {
            say(&format!("wrote {} {what} to {}\n", grouped(count), file.path.display()));
        }
    }
    Ok(())
}

/// Writes a file; how many of what it has.
fn write(spec: &Spec, file: &WrittenFile) -> Result<(u64, &'static str), CliError> {
    let mut source = FleetSource::new(spec)?;
    if file.format == SIZES {
        return write_sizes(&source, &file.path);
    }
    let options = CreateOptions {
        format: Some(file.format.clone()),
        metadata: source.metadata().clone(),
        ..CreateOptions::default()
    };
    let sink = create(&file.path, &options)?;
    let written = convert(&mut source, sink, None)?;
    Ok((written.requests, "requests"))
}

fn write_sizes(source: &FleetSource, path: &Path) -> Result<(u64, &'static str), CliError> {
    let lines = source.sizes().map(|(name, bytes)| format!("{name},{bytes}\n"));
    let text: String = std::iter::once("device_id,size\n".to_owned()).chain(lines).collect();
    replace_file(path, |file| file.write_all(text.as_bytes()))?;
    Ok((source.sizes().count() as u64, "sizes"))
}
