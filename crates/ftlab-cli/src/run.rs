//! `ftlab run`: FTLs over a workload.

use crate::error::CliError;
use crate::figure::{check_figure, write_figure};
use crate::header::{header, parsed};
use crate::options::{ReadingArgs, parse, parse_page_size};
use crate::output::{print, print_json, say};
use crate::progress::{Bar, with_spinner};
use crate::report::{check_report, command, write_report};
use crate::table::{faults, fdp, notes, table, times, wear};
use clap::Args;
use ftlab_ftl::page::{FreeBlock, GcSchedule, WearLeveling};
use ftlab_sim::{
    DriveOptions, EarlyCollection, Experiment, Faults, Fill, Length, Logical, Physical, StreamMap,
    Workload, check_results, summary, write_results,
};
use ftlab_spec::{ByteSize, Share, Spec};
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Runs one or many FTLs over one workload and compares their write amplification.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab run trace.parquet --op 10% --ftl 2r++
  ftlab run zipf:theta=0.9 --logical 8GiB --fill random --ftl 1r-greedy --ftl 2r++ --json
  ftlab run writes.csv --map off:bytes=2,len:bytes=3,op=1 --ftl 2r-fifo:blk-util=0.4")]
pub(crate) struct RunArgs {
    /// A trace file (- is standard input), or a generator: uniform, zipf:theta=0.9,
    /// hotcold:writes=0.9,pages=0.1. See `ftlab list workloads`.
    workload: Option<String>,
    /// An FTL with parameters; may be given several times. See `ftlab list ftls`.
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
    /// What the host can address, such as 8GiB (8G is the same); by default as much as the trace's
    /// own device, or its highest address.
    #[arg(long, value_name = "SIZE", conflicts_with = "logical_pages")]
    logical: Option<ByteSize>,
    /// The same in pages.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    logical_pages: Option<u64>,
    /// Bytes per page, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = parse_page_size)]
    page_size: u32,
    /// Pages per erase block, 2 or more.
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = parse::<u32>)]
    pages_per_block: u32,
    /// Over-provisioning, (physical - logical) / logical; 10% if neither this nor --blocks is given.
    /// Of hybrid-mapped FTLs it is the log space, with the block or two that they merge into.
    #[arg(long, value_name = "SHARE", conflicts_with = "blocks")]
    op: Option<Share>,
    /// Erase blocks.
    #[arg(long, value_name = "N", value_parser = parse::<u32>)]
    blocks: Option<u32>,
    /// Free blocks that host writes may not take; hybrid-mapped FTLs and page have their own rules.
    #[arg(long, value_name = "BLOCKS", default_value_t = 4, value_parser = parse::<u32>)]
    reserve: u32,
    /// Collects ahead of need while fewer than this share of the blocks are free; off by default.
    #[arg(long, value_name = "SHARE")]
    gc_start: Option<Share>,
    /// Share of a block that must be invalid for that; 12.5% by default.
    #[arg(long, value_name = "SHARE", requires = "gc_start")]
    gc_min_invalid: Option<Share>,
    /// When garbage is collected: foreground, a whole collection before the host write that needs it;
    /// incremental[:pages=N], some pages (N at most) behind each host write; or garbage[:share=S], whole
    /// collections while that share of the programmed pages is invalid.
    #[arg(long, value_name = "SCHEDULE", default_value_t = GcSchedule::Foreground)]
    gc: GcSchedule,
    /// Which free block is opened next: the one that has been free longest (fifo), or the one with the
    /// fewest erases (least-worn).
    #[arg(long, value_name = "RULE", default_value = "fifo", value_parser = parse::<FreeBlock>)]
    free_block: FreeBlock,
    /// Moves cold pages when a block has so many more erases than the least worn one; 0 is never.
    #[arg(long, value_name = "ERASES", default_value_t = 0, value_parser = parse::<u32>)]
    wear_threshold: u32,
    /// Program/erase cycles that a block endures: adds terabytes written and drive writes per day.
    #[arg(long, value_name = "CYCLES", value_parser = parse::<NonZeroU32>)]
    endurance: Option<NonZeroU32>,
    /// Lets flash fail: shares of programs and erases, blocks that are bad from birth, and a seed, such
    /// as program=1e-5,erase=1e-4,bad=20,seed=1.
    #[arg(long, value_name = "KEY=VALUE,...")]
    faults: Option<Faults>,
    /// Simulates time, on flash as fast as NAME, such as slc:channels=4,luns=2,queue-depth=16. See
    /// `ftlab list timings`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    timing: Option<Spec>,
    /// Addresses beyond the drive are taken modulo its size, instead of being an error.
    #[arg(long)]
    wrap: bool,
    /// Trims do nothing, as in papers whose FTLs do not know them.
    #[arg(long)]
    ignore_trims: bool,
    /// Names the streams (placement handles) of requests by where they begin, instead of those that a
    /// trace names: 1MiB..2MiB=1,4GiB..8GiB=2; the rest is stream 0.
    #[arg(long, value_name = "RANGE=STREAM,...")]
    streams: Option<StreamMap>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Length")]
pub(crate) struct LengthArgs {
    /// How the drive is filled first, executed and not counted: none, every page once in ascending
    /// order (sequential), or every page once in random order (random).
    #[arg(long, value_name = "HOW", default_value_t = Fill::None)]
    fill: Fill,
    /// Host page writes that are executed and not counted, behind the fill.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = parse::<u64>)]
    warmup_writes: u64,
    /// Host page writes that are counted at most; all of a trace, 4 drive writes of a generator if
    /// neither this nor --drive-writes is given.
    #[arg(long, value_name = "N", conflicts_with = "drive_writes", value_parser = parse::<u64>)]
    writes: Option<u64>,
    /// The same as a multiple of the logical size.
    #[arg(long, value_name = "X", value_parser = parse_drive_writes)]
    drive_writes: Option<f64>,
    /// Seed of generator and random fill: same seed, same result.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = parse::<u64>)]
    seed: u64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
struct ReportArgs {
    /// Host page writes of an interval of the running write amplification; a quarter of the drive by
    /// default.
    #[arg(long, value_name = "N", value_parser = parse::<u64>)]
    interval: Option<u64>,
    /// Writes results.json and series.parquet into this directory: all that `ftlab report` needs. It
    /// watches pages and blocks besides, so that FTLs take longer.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Writes a page with tables, charts and a picture of the flash into this file, to be opened in a
    /// browser. It watches pages and blocks, too.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Draws the running write amplification into this file, which ends in .svg or .png.
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    /// Writes JSON to standard output; everything else goes to standard error.
    #[arg(long)]
    json: bool,
    /// Threads; as many as there are processors by default. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// No header and no progress.
    #[arg(long, short)]
    quiet: bool,
}

const NO_WORKLOAD: &str = "no workload; name a trace file or a generator, as in
  ftlab run trace.parquet --ftl 2r++
  ftlab run zipf:theta=0.9 --logical 8GiB --ftl 2r++
see `ftlab list workloads` for the generators and `ftlab list formats` for the formats of traces";

pub(crate) fn run(args: &RunArgs, typed: &[OsString]) -> Result<(), CliError> {
    let experiment = experiment(args)?;
    let quiet = args.report.quiet;
    let prepared = with_spinner(quiet, "looking at the workload", || experiment.prepare())?;
    // Only JSON may reach standard output where it was asked for.
    let show = |text: &str| {
        if args.report.json {
            say(text);
            Ok(())
        } else {
            print(text)
        }
    };
    if !args.report.quiet {
        show(&header(&prepared))?;
    }
    if let Some(directory) = &args.report.out {
        check_results(directory)?;
    }
    if let Some(path) = &args.report.figure {
        check_figure(&prepared, path)?;
    }
    if let Some(path) = &args.report.report {
        check_report(args.ftl.len(), path)?;
    }
    let mut bar = if args.report.quiet { Bar::hidden() } else { Bar::new(&prepared) };
    let mut result = prepared.run(&mut bar)?;
    result.command = Some(command(typed));
    bar.finish();
    if !args.report.quiet {
        show(&parsed(&result))?;
    }
    show(&table(&result))?;
    show(&times(&result))?;
    show(&wear(&result))?;
    show(&fdp(&result))?;
    show(&faults(&result))?;
    show(&notes(&result))?;
    show(&format!("{}\n", summary::sentence(&result)))?;
    if args.report.json {
        print_json(&result)?;
    }
    if let Some(directory) = &args.report.out {
        let files = write_results(&result, directory)?;
        if !args.report.quiet {
            let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
            say(&format!("wrote {}\n", names.join(" and ")));
        }
    }
    if let Some(path) = &args.report.figure {
        write_figure(&result, path)?;
    }
    if let Some(path) = &args.report.report {
        write_report(&result, path)?;
        if !args.report.quiet {
            say(&format!("wrote {}\n", path.display()));
        }
    }
    Ok(())
}

fn experiment(args: &RunArgs) -> Result<Experiment, CliError> {
    let Some(workload) = &args.workload else { return Err(CliError::usage(NO_WORKLOAD)) };
    let workload = Workload::parse(workload, args.reading.open_options(args.drive.page_size))?;
    Ok(Experiment {
        drive: drive(&args.drive),
        length: match (args.length.writes, args.length.drive_writes) {
            (Some(writes), _) => Length::Writes(writes),
            (None, Some(drives)) => Length::DriveWrites(drives),
            (None, None) => Length::OfWorkload,
        },
        fill: args.length.fill,
        warmup_writes: args.length.warmup_writes,
        interval_writes: args.report.interval,
        timing: args.drive.timing.clone(),
        faults: args.drive.faults,
        endurance_cycles: args.drive.endurance.map(NonZeroU32::get),
        seed: args.length.seed,
        streams: args.drive.streams.clone(),
        wrap: args.drive.wrap,
        ignore_trims: args.drive.ignore_trims,
        observe: args.report.out.is_some() || args.report.report.is_some(),
        threads: args.report.threads.map(usize::from),
        ..Experiment::new(workload, args.ftl.clone())
    })
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
        early: args.gc_start.map(|start| EarlyCollection::new(start, args.gc_min_invalid)),
    }
}

fn parse_drive_writes(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|drives: &f64| *drives > 0.0 && *drives <= 1e9)
        .ok_or_else(|| format!("{text:?} is not a positive number such as 4 or 0.5"))
}
