//! `ftlab run`: FTLs on a workload.

use crate::error::{CliError, Results};
use crate::files::FileArgs;
use crate::header::{header, parsed};
use crate::options::{ReadingArgs, parse, parse_page_size};
use crate::output::{print, print_json, say};
use crate::progress::{Bar, with_spinner};
use crate::table::{faults, fdp, notes, refresh, slc, table, wear};
use crate::times::times;
use crate::typed::command;
use clap::{Args, ValueEnum};
use ftlab_ftl::page::{FreeBlock, GcSchedule, Refresh, WearLeveling};
use ftlab_sim::{
    DriveOptions, EarlyCollection, Experiment, ExperimentResult, Faults, Fill, Length, Logical,
    Physical, SlcCache, StreamMap, UNTIL_STEADY_DRIVE_WRITES, Workload, summary,
};
use ftlab_spec::{ByteSize, Share, Spec};
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
    /// Logical capacity, such as 8GiB (8G is the same); by default that of the trace's device, or
    /// up to its highest address.
    #[arg(long, value_name = "SIZE", conflicts_with = "logical_pages")]
    logical: Option<ByteSize>,
    /// The same, in pages.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    logical_pages: Option<u64>,
    /// Bytes per page, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = parse_page_size)]
    page_size: u32,
    /// Pages per erase block, at least 2; by default the usual number for the size of the drive: 512, fewer
    /// below 1 GiB.
    #[arg(long, value_name = "N", value_parser = parse::<u32>)]
    pages_per_block: Option<u32>,
    /// Over-provisioning, (physical - logical) / logical; 10% if neither this nor --blocks is
    /// given. For hybrid-mapped FTLs it is the log space, including the one or two blocks that they
    /// merge into.
    #[arg(long, value_name = "SHARE", conflicts_with = "blocks")]
    op: Option<Share>,
    /// Number of erase blocks.
    #[arg(long, value_name = "N", value_parser = parse::<u32>)]
    blocks: Option<u32>,
    /// Free blocks that host writes may not use; hybrid-mapped FTLs and page have their own rules.
    #[arg(long, value_name = "BLOCKS", default_value_t = 4, value_parser = parse::<u32>)]
    reserve: u32,
    /// Collects early, after host writes, while less than this share of the blocks is free; off by
    /// default.
    #[arg(long, value_name = "SHARE")]
    gc_start: Option<Share>,
    /// Share of a block that must be invalid for early collection; 12.5% by default.
    #[arg(long, value_name = "SHARE", requires = "gc_start")]
    gc_min_invalid: Option<Share>,
    /// When garbage is collected: foreground, a whole collection before the host write that needs
    /// it; incremental[:pages=N], some pages (at most N) after each host write; background[:pages=N],
    /// the first victim before the host write and the others like that; garbage[:share=S], whole
    /// collections while at least that share of the programmed pages is invalid; or gradual[:from=S],
    /// whole collections, the more the fewer blocks are free, below that share.
    #[arg(long, value_name = "SCHEDULE", default_value_t = GcSchedule::Foreground)]
    gc: GcSchedule,
    /// Which free block is opened next: the one that has been free longest (fifo), or the one with the
    /// fewest erases (least-worn).
    #[arg(long, value_name = "RULE", default_value = "fifo", value_parser = parse::<FreeBlock>)]
    free_block: FreeBlock,
    /// Moves cold pages once a block has been erased this many times more than the least-worn
    /// block; 0 disables.
    #[arg(long, value_name = "ERASES", default_value_t = 0, value_parser = parse::<u32>)]
    wear_threshold: u32,
    /// Rewrites the pages of a block once they have been read so often since it was erased, or so many host
    /// page writes after it became full, such as reads=100000,age=5000000. Reads need --timing with
    /// unit=request.
    #[arg(long, value_name = "KEY=VALUE,...")]
    refresh: Option<Refresh>,
    /// Blocks that are programmed with one bit a cell, take what the host writes, and are folded into the others
    /// later, such as size=64MiB,bits=3,full=fold,idle=on; full=bypass writes past a full cache. They come on top
    /// of --op.
    #[arg(long, value_name = "KEY=VALUE,...")]
    slc_cache: Option<SlcCache>,
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
    let workload = Workload::parse(workload, args.reading.open_options(args.drive.page_size))?;
    Ok(Experiment {
        drive: drive(&args.drive),
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

fn drive(args: &DriveArgs) -> DriveOptions {
    let default = DriveOptions::default();
    DriveOptions {
        logical: match (args.logical, args.logical_pages) {
            (Some(size), _) => Logical::Bytes(size),
            (None, Some(pages)) => Logical::Pages(pages),
            (None, None) => default.logical,
        },
        page_bytes: args.page_size,
        pages_per_block: args.pages_per_block,
        physical: Physical::asked(args.op, args.blocks),
        reserve_blocks: args.reserve,
        gc: args.gc,
        wear: WearLeveling { free_block: args.free_block, threshold: args.wear_threshold },
        refresh: args.refresh.unwrap_or_default(),
        slc_cache: args.slc_cache,
        early: args.gc_start.map(|start| EarlyCollection::new(start, args.gc_min_invalid)),
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
