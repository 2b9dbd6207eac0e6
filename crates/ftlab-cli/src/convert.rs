//! `ftlab convert`: from one format to another, or from a generator.

use crate::error::CliError;
use crate::generator::generator_space;
use crate::options::{ReadingArgs, parse};
use crate::output::{print, print_json};
use clap::Args;
use ftlab_sim::Workload;
use ftlab_sim::format::grouped;
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::{Converted, CreateOptions, OpenOptions, Part, convert_file, create, split_file};
use ftlab_workload::build;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::path::{Path, PathBuf};

const DEFAULT_SEED: u64 = 1;

/// Converts a trace, or the requests of a generator, to another format.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A trace (- is standard input), a generator such as zipf:theta=0.9, or a job file of fio
    /// (jobs.fio); left out for a command of fio, which comes last, after --.
    input: String,
    /// The file to write; its extension selects the format, and .gz or .zst compresses text and
    /// lpn-u32.
    output: PathBuf,
    /// Format to write, instead of that of the extension.
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Writes one file per volume, with its name before the extension: t.prn_1.parquet.
    #[arg(long, conflicts_with_all = ["side_by_side", "compact"])]
    split: bool,
    /// Starts at this named phase of the trace, such as run.
    #[arg(long, value_name = "PHASE")]
    from_phase: Option<String>,
    /// Maximum number of requests of a trace.
    #[arg(long, value_name = "N", value_parser = parse::<u64>, conflicts_with = "writes")]
    limit: Option<u64>,
    /// Number of writes of a generator.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    writes: Option<u64>,
    /// Drive that a generator writes to.
    #[arg(long, value_name = "SIZE", conflicts_with = "logical_pages")]
    logical: Option<ByteSize>,
    /// Logical capacity in pages.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    logical_pages: Option<u64>,
    /// Bytes per page, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = ftlab_sim::page_size)]
    page_size: u32,
    /// Seed of a generator; 1 by default.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    seed: Option<u64>,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn convert(args: &ConvertArgs) -> Result<(), CliError> {
    let workload = Workload::parse(&args.input, args.reading.open_options(args.page_size))?;
    let converted = match &workload {
        Workload::Trace { path, options } => trace(args, path, options)?,
        Workload::Generator(spec) => generator(args, spec)?,
        Workload::Requests(_) | Workload::Copies(_) => {
            return Err(CliError::usage("name a file or a generator"));
        }
    };
    if args.json { print_json(&converted.written) } else { print(&describe(args, &converted)) }
}

fn trace(args: &ConvertArgs, path: &Path, options: &OpenOptions) -> Result<Converted, CliError> {
    let generator_only = [
        ("--writes", args.writes.is_some()),
        ("--logical-pages", args.logical_pages.is_some()),
        ("--logical", args.logical.is_some()),
        ("--seed", args.seed.is_some()),
    ];
    if let Some((option, _)) = generator_only.into_iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::usage(format!(
            "{option} is for generators, and {} is a trace; --limit N takes its first N requests",
            path.display()
        )));
    }
    let part = Part { from_phase: args.from_phase.clone(), requests_max: args.limit };
    let convert = if args.split {
        allow_many_files();
        split_file
    } else {
        convert_file
    };
    Ok(convert(path, options, &args.output, args.to.as_deref(), &part)?)
}

/// Raises the limit of open files as far as allowed: traces have thousands of volumes, and servers
/// hundreds of clients.
pub(crate) fn allow_many_files() {
    let limit = getrlimit(Resource::Nofile);
    // A limit that cannot be raised is an error only if that many files are needed.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn generator(args: &ConvertArgs, spec: &Spec) -> Result<Converted, CliError> {
    let trace_only = [
        ("--from-phase", args.from_phase.is_some()),
        ("--limit", args.limit.is_some()),
        ("--split", args.split),
    ];
    if let Some((option, _)) = trace_only.into_iter().find(|(_, is_given)| *is_given) {
        return Err(CliError::usage(format!(
            "{option} is for traces, and {spec} is a generator; --writes N takes its first N writes"
        )));
    }
    let page_bytes = u64::from(args.page_size);
    let asked = args.logical_pages.or(args.logical.map(|size| size.0 / page_bytes));
    let workload = Workload::Generator(spec.clone());
    let seed = args.seed.unwrap_or(DEFAULT_SEED);
    let space = generator_space(&workload, asked, args.writes, args.page_size, seed)?;
    if args.writes == Some(0) {
        return Err(CliError::usage("a trace of no writes; give --writes 1 or more"));
    }
    let mut source = build(spec, &space)?;
    let metadata = source.metadata().clone();
    let options = CreateOptions {
        format: args.to.clone(),
        page_bytes: args.page_size,
        metadata,
        ..CreateOptions::default()
    };
    let sink = create(&args.output, &options)?;
    let written = ftlab_trace::convert(source.as_mut(), sink, args.writes)?;
    Ok(Converted { written, skipped: source.skipped().clone(), volumes: Vec::new() })
}

fn describe(args: &ConvertArgs, converted: &Converted) -> String {
    let Converted { written, skipped, volumes } = converted;
    let requests = grouped(written.requests);
    let mut lines = vec![format!("wrote {requests} requests to {}", args.output.display())];
    if !volumes.is_empty() {
        let count = grouped(volumes.len() as u64);
        lines.push(format!("with the name of the volume before the extension, {count} files"));
    }
    let left_out: Vec<_> = written
        .left_out
        .iter()
        .map(|(operation, count)| format!("{} x {operation}", grouped(*count)))
        .collect();
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        lines.push(format!("omitted, because the format cannot store them: {left_out}"));
    }
    if !skipped.is_empty() {
        lines.push(format!("skipped: {skipped}"));
    }
    lines.join("\n") + "\n"
}
