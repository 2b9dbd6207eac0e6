//! `ftlab convert`: from one format to another, or from a generator.

use crate::error::CliError;
use crate::options::{ReadingArgs, parse_page_size};
use crate::output::{print, print_json};
use clap::Args;
use ftlab_sim::Workload;
use ftlab_sim::format::grouped;
use ftlab_spec::{ByteSize, Spec};
use ftlab_trace::synthetic::{Space, build};
use ftlab_trace::{CreateOptions, TraceSource, Written, create, open, window};
use std::path::{Path, PathBuf};

/// Converts a trace, or writes what a generator yields, to another format.
#[derive(Debug, Args)]
pub(crate) struct ConvertArgs {
    /// A trace (- is standard input), or a generator such as zipf:theta=0.9.
    input: String,
    /// The file to write; its ending says the format, and .gz or .zst packs text and lpn-u32.
    output: PathBuf,
    /// Format to write, whatever the ending.
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Begins at this named moment of the trace, such as run.
    #[arg(long, value_name = "PHASE")]
    from_phase: Option<String>,
    /// Requests at most.
    #[arg(long, value_name = "N", conflicts_with = "writes")]
    limit: Option<u64>,
    /// Writes of a generator.
    #[arg(long, value_name = "N")]
    writes: Option<u64>,
    /// Drive that a generator writes to.
    #[arg(long, value_name = "SIZE", conflicts_with = "logical_pages")]
    logical: Option<ByteSize>,
    /// The same in pages.
    #[arg(long, value_name = "N")]
    logical_pages: Option<u64>,
    /// Bytes per page, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = parse_page_size)]
    page_size: u32,
    /// Seed of a generator.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn convert(args: &ConvertArgs) -> Result<(), CliError> {
    let workload = Workload::parse(&args.input, args.reading.open_options(args.page_size))?;
    let (mut source, limit) = match &workload {
        Workload::Trace { path, .. } => (trace(args, path)?, args.limit),
        Workload::Generator(spec) => generator(args, spec)?,
    };
    let mut metadata = source.metadata().clone();
    if !workload.is_generator() {
        let from = Path::new(&args.input).file_name().unwrap_or_default().to_string_lossy();
        let format = metadata.format.clone();
        metadata.properties.entry("converted_from".into()).or_insert(from.into_owned());
        metadata.properties.entry("converted_format".into()).or_insert(format);
    }
    let options = CreateOptions { format: args.to.clone(), page_bytes: args.page_size, metadata };
    let sink = create(&args.output, &options)?;
    let written = ftlab_trace::convert(source.as_mut(), sink, limit)?;
    if args.json { print_json(&written) } else { print(&describe(args, &written, source.as_ref())) }
}

fn trace(args: &ConvertArgs, path: &Path) -> Result<Box<dyn TraceSource>, CliError> {
    let generator_only = [
        ("--writes", args.writes),
        ("--logical-pages", args.logical_pages),
        ("--logical", args.logical.map(|size| size.0)),
    ];
    if let Some((option, _)) = generator_only.into_iter().find(|(_, value)| value.is_some()) {
        return Err(CliError::usage(format!(
            "{option} is for generators, and {} is a trace; --limit N takes its first N requests",
            path.display()
        )));
    }
    let source = open(path, &args.reading.open_options(args.page_size))?;
    let Some(phase) = &args.from_phase else { return Ok(source) };
    let Some(start_us) = source.metadata().phase_us(phase) else {
        let phases: Vec<_> =
            source.metadata().phases_us().into_iter().map(|(name, _)| name).collect();
        let known = if phases.is_empty() {
            "it names none".to_owned()
        } else {
            format!("it has {}", phases.join(", "))
        };
        return Err(CliError::usage(format!("{} has no phase {phase:?}; {known}", path.display())));
    };
    Ok(window(source, start_us..u64::MAX))
}

type Limited = (Box<dyn TraceSource>, Option<u64>);

fn generator(args: &ConvertArgs, spec: &Spec) -> Result<Limited, CliError> {
    let page_bytes = u64::from(args.page_size);
    let pages = args.logical_pages.or(args.logical.map(|size| size.0 / page_bytes));
    let (Some(logical_pages), Some(writes)) = (pages, args.writes.or(args.limit)) else {
        return Err(CliError::usage(format!(
            "the generator {spec} has neither size nor end; give both, as in --logical 8GiB --writes 1000000"
        )));
    };
    if args.from_phase.is_some() {
        return Err(CliError::usage(format!(
            "the generator {spec} has no phases; leave out --from-phase"
        )));
    }
    let space = Space { logical_pages, page_bytes: args.page_size, seed: args.seed };
    Ok((build(spec, &space)?, Some(writes)))
}

fn describe(args: &ConvertArgs, written: &Written, source: &dyn TraceSource) -> String {
    let requests = grouped(written.requests);
    let mut lines = vec![format!("wrote {requests} requests to {}", args.output.display())];
    let left_out: Vec<_> = written
        .left_out
        .iter()
        .map(|(operation, count)| format!("{} x {operation}", grouped(*count)))
        .collect();
    if !left_out.is_empty() {
        let left_out = left_out.join(", ");
        lines.push(format!("left out, because the format has no place for them: {left_out}"));
    }
    if !source.skipped().is_empty() {
        lines.push(format!("passed over: {}", source.skipped()));
    }
    lines.join("\n") + "\n"
}
