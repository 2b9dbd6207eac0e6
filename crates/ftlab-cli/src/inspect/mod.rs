//! `ftlab inspect`: statistics of workloads.

mod describe;
mod moment;
mod page;
mod statistics;
mod volumes;

use crate::error::{CliError, Results};
use crate::figure::{self, FIGURES, Figure, FigureSize, Kind};
use crate::generator::generator_space;
use crate::options::{ReadingArgs, parse, parse_in};
use crate::output::{print, print_json, say};
use crate::progress::with_spinner;
use crate::report::check_report;
use crate::typed::command;
use clap::Args;
use describe::{describe, provenance};
use ftlab_analysis::{Extent, InspectOptions, Inspection, Inspections, LogWindow};
use ftlab_sim::Workload;
use ftlab_spec::ByteSize;
use ftlab_trace::{TraceError, TraceSource, open};
use ftlab_workload::build_to_write;
use moment::Moment;
use statistics::statistics;
use std::ffi::OsString;
use std::ops::Range;
use std::path::{Path, PathBuf};
use volumes::volumes;

/// Analyses a trace or a generator: operations, sizes, skew, write intervals, frozen pages, growth;
/// and reports skipped lines.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab inspect trace.parquet --from run
  ftlab inspect a.parquet b.parquet --figures figures
  ftlab inspect trace.parquet --report workload.html
  ftlab inspect zipf:theta=0.9 --logical 8GiB --writes 10M --figure skew=skew.png

docs/inspect.md explains each statistic.")]
pub(crate) struct InspectArgs {
    /// Traces (- is standard input), generators such as zipf:theta=0.9, or job files of fio
    /// (jobs.fio); several are compared. Or, last and after --, a command of fio.
    #[arg(required = true, value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Bytes per page, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = ftlab_sim::page_size)]
    page_size: u32,
    /// Log window that separates hot pages from cold ones: a share of the drive, a size, or a
    /// number of pages.
    #[arg(long, value_name = "WINDOW", default_value_t = LogWindow::Drive(ftlab_spec::Share(0.1)))]
    window: LogWindow,
    /// Capacity of the drive that shares refer to and that a generator writes to; for a trace, by
    /// default that of its device, or up to its highest address.
    #[arg(long, value_name = "SIZE", conflicts_with = "logical_pages")]
    logical: Option<ByteSize>,
    /// Logical capacity in pages.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    logical_pages: Option<u64>,
    /// Seed of a generator; 1 by default.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    seed: Option<u64>,
    /// Maximum memory for the pages written, 16 bytes each.
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize(4 << 30))]
    memory: ByteSize,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    part: PartArgs,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Part of a workload (times and phases: traces only)")]
struct PartArgs {
    /// Starts at this time of the trace, such as 90s, or at this named phase, such as run. Of
    /// everything before, only the set of written pages is kept.
    #[arg(long, value_name = "TIME|PHASE")]
    from: Option<Moment>,
    /// Ends before this time, or before this named phase.
    #[arg(long, value_name = "TIME|PHASE")]
    until: Option<Moment>,
    /// Restricts the analysis to this named phase of the trace.
    #[arg(long, value_name = "PHASE", conflicts_with_all = ["from", "until"])]
    phase: Option<String>,
    /// Maximum number of page writes; required for generators without an end.
    #[arg(long, value_name = "N", value_parser = parse_in(1_u64..))]
    writes: Option<u64>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
struct ReportArgs {
    /// Draws every figure to this directory.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Format of --figures.
    #[arg(long, value_name = "KIND", default_value = "svg", requires = "figures")]
    figure_kind: Kind,
    /// Draws one figure to a file that ends in .svg, .png or .pdf; may be repeated. Names: skew,
    /// intervals, temperature, frozen, footprint, sizes, updates and heat-map.
    #[arg(long, value_name = "NAME=FILE")]
    figure: Vec<String>,
    #[command(flatten)]
    size: FigureSize,
    /// Writes an HTML page with the statistics and all figures to this file.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn inspect(args: &InspectArgs, typed: &[OsString]) -> Result<(), CliError> {
    let report = args.report.report.as_deref();
    report.map(|path| check_report(args.workloads.len(), path)).transpose()?;
    let figures = figures(&args.report)?;
    for (_, path) in &figures {
        figure::check(path)?;
    }
    let mut found = Vec::new();
    let mut provenances = Vec::new();
    let mut found_volumes = Vec::new();
    for name in &args.workloads {
        let (workload, mut source, options) = prepare(args, name)?;
        let work = || ftlab_analysis::inspect(source.as_mut(), &options);
        let quiet = args.report.quiet || args.report.json;
        let inspection = with_spinner(quiet, "inspecting", work).inspect_err(|error| {
            if matches!(error, TraceError::Unsupported { .. }) {
                say(&volumes(&workload).unwrap_or_default());
            }
        })?;
        if !args.report.json && args.reading.lays_out() {
            found_volumes.push(volumes(&workload)?);
        }
        found.push(Inspection { workload: workload.name(), ..inspection });
        provenances.push(provenance(&source.metadata().properties));
    }
    let found = Inspections { version: ftlab_spec::version().into(), workloads: found };
    let mut results = Results::default();
    for (figure, path) in &figures {
        let draw = |svg: &mut String| figure.draw(&found.workloads, args.report.size, svg);
        results.note(figure::write(path, draw));
    }
    if let Some(path) = report {
        let written = page::write(&found.workloads, command(typed), path);
        results.note(written.map(|()| say(&format!("wrote {}\n", path.display()))));
    }
    if args.report.json {
        results.note(print_json(&found));
    } else {
        results.note(print(&(text(&found, &provenances) + &found_volumes.concat())));
    }
    results.all()
}

/// Everything that is printed.
fn text(found: &Inspections, provenances: &[String]) -> String {
    let described = found.workloads.iter().map(|inspection| describe(inspection) + "\n");
    described.collect::<String>() + &statistics(&found.workloads) + &provenances.concat()
}

/// The figures requested, and where they go.
fn figures(args: &ReportArgs) -> Result<Vec<(&'static Figure, PathBuf)>, CliError> {
    let mut figures = Vec::new();
    if let Some(directory) = &args.figures {
        std::fs::create_dir_all(directory).map_err(|error| {
            CliError::failure(format!("cannot create {}: {error}", directory.display()))
        })?;
        let path = |figure: &Figure| {
            directory.join(figure.name).with_extension(args.figure_kind.extension())
        };
        figures.extend(FIGURES.iter().map(|figure| (figure, path(figure))));
    }
    for text in &args.figure {
        let Some((name, file)) = text.split_once('=') else {
            return Err(CliError::usage(format!(
                "--figure {text:?} is not NAME=FILE, as in \
                 skew=skew.svg"
            )));
        };
        figures.push((figure::find(name)?, file.into()));
    }
    Ok(figures)
}

/// The workload, its requests, and how it is inspected.
fn prepare(
    args: &InspectArgs,
    name: &str,
) -> Result<(Workload, Box<dyn TraceSource>, InspectOptions), CliError> {
    let page_bytes = u64::from(args.page_size);
    let pages_in = |size: ByteSize| size.0.div_ceil(page_bytes);
    let asked_pages = args.logical_pages.or(args.logical.map(pages_in));
    let workload = Workload::parse(name, args.reading.open_options(args.page_size))?;
    let logical_pages =
        asked_pages.map_or_else(|| workload.own_pages(args.page_size), |p| Ok(Some(p)))?;
    let mut range_us = None;
    let source = match &workload {
        Workload::Trace { .. } if args.seed.is_some() => {
            return Err(CliError::usage(format!(
                "--seed is for generators, and {name} is a trace"
            )));
        }
        Workload::Trace { path, options } => {
            let source = open(path, options)?;
            range_us = args.part.range_us(name, source.as_ref())?;
            source
        }
        Workload::Generator(spec) if args.workloads.len() == 1 && args.part.is_by_time() => {
            return Err(CliError::usage(format!(
                "--from, --until and --phase are for traces, and {spec} is a generator, which has no \
                 clock; --writes N takes its first N writes"
            )));
        }
        Workload::Generator(spec) => {
            let seed = args.seed.unwrap_or(1);
            let writes = args.part.writes;
            let space = generator_space(&workload, asked_pages, writes, args.page_size, seed)?;
            build_to_write(spec, &space)?
        }
        Workload::Requests(requests) => requests.open()?,
        Workload::Copies(copies) => copies.open(args.page_size)?,
    };
    let extent = Extent {
        page_bytes: args.page_size,
        range_us,
        page_writes_max: args.part.writes,
        memory_bytes_max: args.memory.0,
    };
    let drive_bytes = logical_pages.map(|pages| pages.saturating_mul(page_bytes));
    Ok((workload, source, InspectOptions { extent, window: args.window, drive_bytes }))
}

impl PartArgs {
    fn is_by_time(&self) -> bool {
        self.from.is_some() || self.until.is_some() || self.phase.is_some()
    }

    /// The times requested; `None` for all.
    fn range_us(
        &self,
        name: &str,
        source: &dyn TraceSource,
    ) -> Result<Option<Range<u64>>, CliError> {
        let metadata = source.metadata();
        let name = Path::new(name);
        let (start_us, end_us) = if let Some(phase) = &self.phase {
            let start_us = metadata.phase_start_us(name, phase)?;
            let later = metadata.phases_us().into_iter().map(|(_, time_us)| time_us);
            (start_us, later.filter(|time_us| *time_us > start_us).min().unwrap_or(u64::MAX))
        } else {
            let time_us = |moment: &Option<Moment>, default| {
                moment.as_ref().map_or(Ok(default), |moment| moment.time_us(name, metadata))
            };
            (time_us(&self.from, 0)?, time_us(&self.until, u64::MAX)?)
        };
        if start_us >= end_us {
            return Err(CliError::usage(format!(
                "the part of {} from {start_us} us until {end_us} us is empty; end it later",
                name.display()
            )));
        }
        Ok((start_us > 0 || end_us < u64::MAX).then_some(start_us..end_us))
    }
}
