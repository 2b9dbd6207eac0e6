//! `ftlab advise`: which FTL, and how much over-provisioning.

mod command;

use command::command;

use crate::compare::processors;
use crate::error::CliError;
use crate::figure::{FigureSize, check, trade_off_svg, write_trade_off};
use crate::options::{ReadingArgs, parse_page_size, parse_positive};
use crate::output::{aligned, print, print_json, say};
use crate::report::check_report;
use crate::table::ruled;
use clap::Args;
use ftlab_lab::Stop;
use ftlab_lab::advise::{
    Advice, Point, Question, Service, Target, USUAL_FTLS, USUAL_OP_RATIOS, tbw_of_dwpd,
    usual_length,
};
use ftlab_report::{AdvicePage, advice_page};
use ftlab_sim::format::{bytes, grouped, percent, significant};
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Workload};
use ftlab_spec::{ByteSize, Share, Spec};
use ftlab_trace::replace_file;
use indicatif::ProgressBar;
use std::io::{IsTerminal, Write};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

/// Finds which FTL reaches a target on a workload, and with how much over-provisioning.
///
/// Runs every FTL on drives with increasing amounts of flash, then on drives between those that miss
/// the target and those that meet it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab advise trace.parquet --target-waf 1.3
  ftlab advise trace.parquet --tbw 600 --endurance 3000 --figure trade-off.svg
  ftlab advise zipf:theta=0.9 --logical 1GiB --dwpd 1 --endurance 1000 --ftl 2r++ --ftl hazard
  ftlab advise trace.parquet --endurance 3000 --daily-writes 1TiB --years 5 --price 0.08")]
pub(crate) struct AdviseArgs {
    /// A trace file, or a generator.
    workload: String,
    #[command(flatten)]
    target: TargetArgs,
    /// An FTL to choose from; may be repeated.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", default_values = USUAL_FTLS)]
    ftl: Vec<Spec>,
    #[command(flatten)]
    service: ServiceArgs,
    #[command(flatten)]
    drive: DriveArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Plots the trade-off curves to this file, which ends in .svg, .png or .pdf.
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    size: FigureSize,
    /// Writes evidence, curves, answer and caveats to this HTML page.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Maximum number of threads; by default one per processor.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Prints the answer as JSON on standard output, and the table on standard error.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Target")]
struct TargetArgs {
    /// The highest write amplification.
    #[arg(long, value_name = "WAF", conflicts_with_all = ["tbw", "dwpd"], value_parser = parse_waf)]
    target_waf: Option<f64>,
    /// The minimum of terabytes (10^12 bytes) that the host can write; requires --endurance.
    #[arg(long, value_name = "TB", requires = "endurance", value_parser = parse_positive)]
    tbw: Option<f64>,
    /// The same, in drive writes per day over five years.
    #[arg(long, value_name = "N", requires = "endurance", conflicts_with = "tbw",
          value_parser = parse_positive)]
    dwpd: Option<f64>,
    /// Program/erase cycles that a block endures.
    #[arg(long, value_name = "CYCLES")]
    endurance: Option<NonZeroU32>,
}

/// What the drive is for: adds the one that uses the least flash over the years.
#[derive(Debug, Args)]
#[command(next_help_heading = "Years of service")]
struct ServiceArgs {
    /// Bytes that the host writes a day: adds which drive uses the least flash over the years, each replaced when it
    /// is worn out; requires --endurance.
    #[arg(long, value_name = "SIZE", requires = "endurance")]
    daily_writes: Option<ByteSize>,
    /// Years of service.
    #[arg(long, value_name = "N", default_value_t = 5.0, value_parser = parse_positive)]
    years: f64,
    /// Price of a gigabyte (10^9 bytes) of flash, in any currency.
    #[arg(long, value_name = "PRICE", requires = "daily_writes", value_parser = parse_positive)]
    price: Option<f64>,
    /// Kilograms of CO2 equivalent to make a gigabyte of flash; the default is from Tannu and Nair, The Dirty Secret
    /// of SSDs (2023).
    #[arg(long, value_name = "KG", default_value_t = Service::CARBON_PER_GB, value_parser = parse_positive)]
    carbon: f64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Drive")]
struct DriveArgs {
    /// Points of the curve: over-provisioning, (physical - logical) / logical, in ascending order.
    #[arg(
        long,
        value_name = "SHARE,...",
        value_delimiter = ',',
        default_value = USUAL_OP_RATIOS
    )]
    op: Vec<Share>,
    /// Logical capacity; by default that of the trace's device, or up to its highest address.
    #[arg(long, value_name = "SIZE")]
    logical: Option<ByteSize>,
    /// Bytes per page, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = parse_page_size)]
    page_size: u32,
    /// Pages per erase block, at least 2; by default the usual number for the size of the drive: 512, fewer
    /// below 1 GiB.
    #[arg(long, value_name = "N")]
    pages_per_block: Option<u32>,
    /// Free blocks that host writes may not use.
    #[arg(long, value_name = "BLOCKS", default_value_t = 4)]
    reserve: u32,
    /// How the drive is filled first: none, sequential, random, twice.
    #[arg(long, value_name = "HOW", default_value_t = Fill::default())]
    fill: Fill,
    /// Runs so many host page writes, at most. By default a trace of two or more drive writes runs twice and counts
    /// the second time; a shorter one, or a generator, runs again and again until write amplification is steady.
    #[arg(long, value_name = "N")]
    writes: Option<u64>,
    /// Runs a trace once, or 4 drive writes of a generator, steady or not.
    #[arg(long, conflicts_with = "writes")]
    once: bool,
    /// Seed of generator and random fill.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Ignores trims, as in papers whose FTLs do not support them.
    #[arg(long)]
    ignore_trims: bool,
}

pub(crate) fn advise(args: &AdviseArgs) -> Result<(), CliError> {
    args.figure.as_deref().map(check).transpose()?;
    args.report.as_deref().map(|path| check_report(1, path)).transpose()?;
    let question = question(args)?;
    let spinner = spinner(args.quiet);
    let threads = args.threads.map_or_else(processors, usize::from);
    let advice = question.answer(threads, &|runs| {
        spinner.set_message(format!("{runs} runs"));
    })?;
    spinner.finish_and_clear();
    let (headings, rows) = table(&advice);
    let command = command(args, &advice);
    let text = text_of(&evidence(&advice))
        + &ruled(&headings, rows.clone())
        + &refused(&advice)
        + &advice.answer
        + "\n"
        + &caveats(&advice)
        + &command.as_ref().map_or_else(String::new, |line| format!("\nSee it at work: {line}\n"));
    if args.json {
        say(&text);
        print_json(&advice)?;
    } else {
        print(&text)?;
    }
    if let Some(path) = &args.figure {
        write_trade_off(&advice, args.size, path)?;
    }
    if let Some(path) = &args.report {
        let page = AdvicePage {
            question: title(args, &advice),
            answer: advice.answer.clone(),
            evidence: evidence(&advice),
            figure: trade_off_svg(&advice)?,
            headings: headings.iter().map(|heading| heading.replace('\n', " ")).collect(),
            rows,
            caveats: advice.caveats.clone(),
            command,
        };
        let page = advice_page(&page)?;
        replace_file(path, |file| file.write_all(page.as_bytes()))?;
    }
    Ok(())
}

/// What is asked.
fn title(args: &AdviseArgs, advice: &Advice) -> String {
    let workload = &args.workload;
    match advice.target {
        None => format!("What over-provisioning brings for {workload}"),
        Some(Target::Waf(waf)) => {
            format!(
                "How much over-provisioning for a write amplification of {waf} under {workload}?"
            )
        }
        Some(Target::Endurance { tbw, cycles }) => {
            format!(
                "How much over-provisioning for {tbw} terabytes at {cycles} cycles under {workload}?"
            )
        }
    }
}

fn question(args: &AdviseArgs) -> Result<Question, CliError> {
    let drive = &args.drive;
    if !drive.op.is_sorted_by(|a, b| a < b) {
        return Err(CliError::usage("--op is not ascending; give shares such as 7%,10%,28%"));
    }
    let workload = Workload::parse(&args.workload, args.reading.open_options(drive.page_size))?;
    let base = Experiment {
        drive: DriveOptions {
            logical: drive.logical.map_or(Logical::OfWorkload, Logical::Bytes),
            page_bytes: drive.page_size,
            pages_per_block: drive.pages_per_block,
            reserve_blocks: drive.reserve,
            ..DriveOptions::default()
        },
        fill: drive.fill,
        length: match drive.writes {
            Some(writes) => Length::Writes(writes),
            None => usual_length(&workload, drive.once),
        },
        seed: drive.seed,
        endurance_cycles: args.target.endurance.map(NonZeroU32::get),
        ignore_trims: drive.ignore_trims,
        ..Experiment::new(workload, args.ftl.clone())
    };
    let target = target(args, &base)?;
    let of = &args.service;
    let service = of.daily_writes.map(|daily| Service {
        daily,
        years: of.years,
        price_per_gb: of.price,
        carbon_per_gb: of.carbon,
    });
    Ok(Question {
        base,
        ftls: args.ftl.clone(),
        op_ratios: drive.op.clone(),
        target,
        service,
        stop: Stop::default(),
    })
}

fn target(args: &AdviseArgs, base: &Experiment) -> Result<Option<Target>, CliError> {
    let asked = &args.target;
    if let Some(waf) = asked.target_waf {
        return Ok(Some(Target::Waf(waf)));
    }
    let Some(cycles) = base.endurance_cycles else { return Ok(None) };
    let tbw = match (asked.tbw, asked.dwpd) {
        (Some(tbw), _) => tbw,
        (None, Some(dwpd)) => {
            let logical_bytes = base.prepare()?.config().drive.logical_bytes;
            tbw_of_dwpd(dwpd, logical_bytes)
        }
        (None, None) if args.service.daily_writes.is_some() => return Ok(None),
        (None, None) => {
            let remedy =
                "--endurance limits the erases of a block; add --tbw, --dwpd or --daily-writes";
            return Err(CliError::usage(remedy));
        }
    };
    Ok(Some(Target::Endurance { tbw, cycles }))
}

/// A row for every FTL, the cheapest first: what it needs, and its curve.
fn table(advice: &Advice) -> (Vec<String>, Vec<Vec<String>>) {
    let mut drives: Vec<(u32, f64)> =
        advice.grid().map(|point| (point.blocks, point.op_ratio)).collect();
    drives.sort_by_key(|(blocks, _)| *blocks);
    drives.dedup_by_key(|(blocks, _)| *blocks);
    let of = |point: &Point| {
        let mark = if point.has_settled() { "" } else { "*" };
        significant(point.tbw.unwrap_or(point.waf), 4) + mark
    };
    let mut headings = vec!["FTL".to_owned()];
    if advice.target.is_some() {
        headings.extend(["needs".to_owned(), "metadata\nthen".to_owned()]);
    }
    let what = if advice.grid().any(|point| point.tbw.is_some()) { "TBW" } else { "WAF" };
    headings.extend(drives.iter().map(|(_, op)| format!("{what} at\n{}", percent(*op))));
    let rows = advice.curves.iter().map(|curve| {
        let mut row = vec![curve.ftl.clone()];
        if advice.target.is_some() {
            row.extend(curve.needs.map_or(["-".to_owned(), "-".to_owned()], |point| {
                [percent(point.op_ratio), bytes(point.metadata_bytes)]
            }));
        }
        row.extend(drives.iter().map(|(blocks, _)| {
            let point = curve.points.iter().find(|point| point.blocks == *blocks);
            point.map_or_else(|| "-".to_owned(), of)
        }));
        row
    });
    (headings, rows.collect())
}

/// How much the trace says.
fn evidence(advice: &Advice) -> Vec<(String, String)> {
    let Some(evidence) = &advice.evidence else { return Vec::new() };
    let seconds = evidence
        .seconds
        .map_or_else(String::new, |seconds| format!(" in {} s", significant(seconds, 3)));
    let written = format!(
        "{} in {} page writes{seconds}; {} drive writes",
        bytes(evidence.written_bytes),
        grouped(evidence.page_writes),
        significant(evidence.drive_writes, 3)
    );
    let pages = format!("{} of the drive", percent(evidence.written_share));
    let rewrites = format!(
        "{} of the page writes replace earlier ones; {} of those of the last half go to new pages",
        percent(evidence.rewrite_share),
        percent(evidence.new_share)
    );
    [
        ("written", written),
        ("to", pages),
        ("rewrites", rewrites),
        ("trimmed", format!("{} pages", grouped(evidence.trimmed_pages))),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec()
}

fn text_of(evidence: &[(String, String)]) -> String {
    let lines: Vec<_> =
        evidence.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    if lines.is_empty() { String::new() } else { aligned(&lines) + "\n" }
}

/// What to keep in mind.
fn caveats(advice: &Advice) -> String {
    let lines = advice.caveats.iter().flat_map(|caveat| ["- ", caveat.as_str(), "\n"]);
    let lines: String = lines.collect();
    if lines.is_empty() { lines } else { format!("\nTo keep in mind:\n{lines}") }
}

/// Why some drives are too small for some FTLs, each once.
fn refused(advice: &Advice) -> String {
    let reasons = advice.curves.iter().filter_map(|curve| curve.refused.as_deref());
    reasons.flat_map(|reason| [reason, "\n\n"]).collect()
}

fn spinner(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}

fn parse_waf(text: &str) -> Result<f64, String> {
    let waf = text.parse().ok().filter(|waf: &f64| *waf > 1.0 && waf.is_finite());
    waf.ok_or_else(|| format!("{text:?} is not a number above 1, such as 1.3"))
}
