//! `ftlab run`: FTLs on a workload.

use crate::drive_words::DriveWords;
use crate::error::{CliError, Results};
use crate::files::FileArgs;
use crate::header::{header, parsed};
use crate::options::{ReadingArgs, parse};
use crate::output::{print, print_json, say};
use crate::progress::{Bar, with_spinner};
use crate::table::{faults, fdp, notes, refresh, slc, table, wear};
use crate::times::times;
use crate::typed::command;
use clap::{Args, ValueEnum};
use ftlab_sim::{
    Experiment, ExperimentResult, Faults, Fill, Length, StreamMap, UNTIL_STEADY_DRIVE_WRITES,
    Workload, summary,
};
use ftlab_spec::Spec;
use std::ffi::OsString;
use std::num::NonZeroU32;

/// Runs one or more FTLs on a workload and compares their write amplification.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab run trace.parquet --op 10% --ftl 2r++
  ftlab run zipf:theta=0.9 --logical 8GiB --fill random --ftl 1r-greedy --ftl 2r++ --json
  ftlab run writes.csv --map off:bytes=2,len:bytes=3,op=1 --ftl 2r-fifo:blk-util=0.4
  ftlab run --logical 1GiB --ftl 2r++ -- fio --name=a --filename=/dev/nvme0n1 --rw=randwrite --bs=4k")]
pub(crate) struct RunArgs {
    /// A trace file (- is standard input), or a generator: uniform, zipf:theta=0.9,
    /// hotcold:writes=0.9,pages=0.1. See `ftlab list workloads`. Or, last and after --, a command of
    /// fio.
    workload: Option<String>,
    /// An FTL with parameters; may be repeated. See `ftlab list ftls`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    ftl: Vec<Spec>,
    #[command(flatten)]
    drive: DriveArgs,
    #[command(flatten)]
    length: LengthArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    report: ReportArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Drive")]
pub(crate) struct DriveArgs {
    #[command(flatten)]
    options: DriveWords,
    /// Program/erase cycles that a block endures: adds terabytes written and drive writes per day.
    #[arg(long, value_name = "CYCLES", value_parser = parse::<NonZeroU32>)]
    endurance: Option<NonZeroU32>,
    /// Injects flash failures: shares of programs and erases that fail, number of factory bad
    /// blocks, and a seed, such as program=1e-5,erase=1e-4,bad=20,seed=1.
    #[arg(long, value_name = "KEY=VALUE,...")]
    faults: Option<Faults>,
    /// Simulates time, with the flash timing NAME, such as slc:channels=4,luns=2,queue-depth=16.
    /// See `ftlab list timings`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    timing: Option<Spec>,
    /// Takes addresses beyond the drive modulo its size, instead of rejecting them.
    #[arg(long)]
    wrap: bool,
    /// Ignores trims, as in papers whose FTLs do not support them.
    #[arg(long)]
    ignore_trims: bool,
    /// Assigns streams (placement handles) to requests by their start address, instead of those
    /// named in the trace: 1MiB..2MiB=1,4GiB..8GiB=2; the rest is stream 0.
    #[arg(long, value_name = "RANGE=STREAM,...")]
    streams: Option<StreamMap>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Length")]
pub(crate) struct LengthArgs {
    /// How the drive is filled first, which is executed but not counted: none, every page once in
    /// ascending order (sequential) or in random order (random), or every page twice (twice).
    #[arg(long, value_name = "HOW", default_value_t = Fill::default())]
    fill: Fill,
    /// Prepares the drive as a test does: pts, as SNIA's Performance Test Specification, writes every page twice
    /// and then runs the workload until it is steady.
    #[arg(long, value_name = "TEST", conflicts_with_all = ["fill", "writes", "until"])]
    precondition: Option<Precondition>,
    /// Host page writes after the fill that are executed but not counted.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse::<u64>)]
    warmup_writes: u64,
    /// Maximum number of host page writes to count; if neither this nor --drive-writes is given, a
    /// whole trace, or 4 drive writes of a generator.
    #[arg(long, value_name = "N", conflicts_with = "drive_writes", value_parser = parse::<u64>)]
    writes: Option<u64>,
    /// The same, as a multiple of the logical capacity.
    #[arg(long, value_name = "X", value_parser = parse_drive_writes)]
    drive_writes: Option<f64>,
    /// Begins a trace again when it ends, until --writes, --drive-writes (4 by default) or --until ends the run.
    #[arg(long)]
    repeat: bool,
    /// Ends when the write amplification of every FTL is steady: the last five rounds of a quarter drive write
    /// pass the test of SNIA's PTS, and the last half of the run has no trend. A trace is repeated until then;
    /// after --drive-writes (100 by default) it ends all the same.
    #[arg(long, value_name = "WHAT", conflicts_with = "writes")]
    until: Option<Until>,
    /// Seed of generator and random fill: same seed, same result.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse::<u64>)]
    seed: u64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
struct ReportArgs {
    /// Length of an interval of the running write amplification, in host page writes; by default a
    /// quarter of the drive.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    interval: Option<u64>,
    #[command(flatten)]
    files: FileArgs,
    /// Writes JSON to standard output; everything else goes to standard error.
    #[arg(long)]
    json: bool,
    /// Number of threads; by default one per processor. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Shows neither header nor progress.
    #[arg(long, short)]
    quiet: bool,
}

const NO_WORKLOAD: &str = "no workload; name a trace file, a generator or a job file of fio, as in
  ftlab run trace.parquet --ftl 2r++
  ftlab run zipf:theta=0.9 --logical 8GiB --ftl 2r++
  ftlab run jobs.fio --logical 8GiB --ftl 2r++
  ftlab run --logical 8GiB --ftl 2r++ -- fio --name=a --filename=/dev/nvme0n1 --rw=randwrite
see `ftlab list workloads` for the generators and `ftlab list formats` for the formats of traces";

pub(crate) fn run(args: &RunArgs, typed: &[OsString]) -> Result<(), CliError> {
    let ReportArgs { files, json, quiet, .. } = &args.report;
    let (json, quiet) = (*json, *quiet);
    files.check_names()?;
    let experiment = experiment(args)?;
    if files.asks_for_loads() {
        return files.run_loads(&experiment, json, quiet, command(typed));
    }
    let prepared = with_spinner(quiet, "reading the workload", || experiment.prepare())?;
    // With --json, only JSON may go to standard output.
    let show = |text: &str| {
        if json {
            say(text);
            Ok(())
        } else {
            print(text)
        }
    };
    files.check(&prepared, args.ftl.len())?;
    if !quiet {
        show(&header(&prepared))?;
    }
    let mut bar = if quiet { Bar::hidden() } else { Bar::new(&prepared) };
    let mut result = prepared.run(&mut bar)?;
    result.command = Some(command(typed));
    bar.finish();
    let mut results = Results::default();
    results.note(show(&text(&result, quiet)));
    if json {
        results.note(print_json(&result));
    }
    results.note(files.write(&result, quiet));
    results.all()
}

/// Everything that is printed of a result.
fn text(result: &ExperimentResult, quiet: bool) -> String {
    let parsed = if quiet { String::new() } else { parsed(result) };
    let tables = [table, times, refresh, slc, wear, fdp, faults, notes].map(|part| part(result));
    format!("{parsed}{}{}\n", tables.concat(), summary::sentence(result))
}

fn experiment(args: &RunArgs) -> Result<Experiment, CliError> {
    let Some(workload) = &args.workload else { return Err(CliError::usage(NO_WORKLOAD)) };
    let drive = args.drive.options.read()?;
    let workload = Workload::parse(workload, args.reading.open_options(drive.page_bytes))?;
    Ok(Experiment {
        drive,
        length: length(&args.length),
        repeat: args.length.repeat
            || args.length.until.is_some()
            || args.length.precondition.is_some(),
        fill: args.length.precondition.map_or(args.length.fill, |_| Fill::Twice),
        warmup_writes: args.length.warmup_writes,
        interval_writes: args.report.interval,
        timing: args.drive.timing.clone(),
        slowest: args.report.files.slowest(),
        faults: args.drive.faults,
        endurance_cycles: args.drive.endurance.map(NonZeroU32::get),
        seed: args.length.seed,
        streams: args.drive.streams.clone(),
        wrap: args.drive.wrap,
        ignore_trims: args.drive.ignore_trims,
        observe: args.report.files.observe(),
        threads: args.report.threads.map(usize::from),
        ..Experiment::new(workload, args.ftl.clone())
    })
}

fn length(args: &LengthArgs) -> Length {
    let until = args.until.or(args.precondition.map(|_| Until::Steady));
    match (until, args.writes, args.drive_writes) {
        (Some(Until::Steady), _, drives) => {
            Length::UntilSteady(drives.unwrap_or(UNTIL_STEADY_DRIVE_WRITES))
        }
        (None, Some(writes), _) => Length::Writes(writes),
        (None, None, Some(drives)) => Length::DriveWrites(drives),
        (None, None, None) => Length::OfWorkload,
    }
}

/// How tests prepare a drive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Precondition {
    Pts,
}

/// When a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Until {
    Steady,
}

fn parse_drive_writes(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|drives: &f64| *drives > 0.0 && *drives <= 1e9)
        .ok_or_else(|| format!("{text:?} is not a positive number such as 4 or 0.5"))
}
