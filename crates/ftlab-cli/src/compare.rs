//! `ftlab compare`: the scoreboard.

use crate::error::{CliError, Results};
use crate::figure::{check, write_scoreboard};
use crate::ftls::Ftls;
use crate::options::{ReadingArgs, parse};
use crate::output::{print, print_json, say, say_not_reused};
use crate::progress::advance;
use crate::words::{Choice, Words};
use clap::Args;
use ftlab_experiments::Stop;
use ftlab_experiments::compare::{
    CELLS, Cell, CellStore, Comparison, Outcome, RIVALS, Scoreboard, USUAL_OP_RATIOS, contestants,
    csv, markdown,
};
use ftlab_sim::format::percent;
use ftlab_sim::result::RunResult;
use ftlab_sim::{DriveClass, DriveOptions, Experiment, Fill, Threads, Workload};
use ftlab_spec::{Share, Spec};
use ftlab_trace::replace_file;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// Compares FTLs over many workloads and drives: the scoreboard.
///
/// Runs every FTL on every workload, with every fill, over-provisioning and block size. Each
/// finished run is saved in DIR/cells.jsonl: the same command resumes where it was stopped, and a
/// longer list runs only what is new.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab compare tpcc.parquet linkbench.parquet --out scoreboard
  ftlab compare zipf:theta=0.9 --logical 1GiB --ftl 2r++ --ftl hazard --op 7%,28% --out board
  ftlab compare *.parquet --baseline dac-cb --baseline midas --out board
  ftlab compare trace.parquet --ftl 1r-greedy --ftl 2r++ --baseline 1r-greedy --until steady --repeat --out board")]
pub(crate) struct CompareArgs {
    /// Trace files or generators.
    #[arg(required = true, value_name = "WORKLOAD")]
    workloads: Vec<String>,
    /// Directory for finished runs and for scoreboard.md, .csv and .svg.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// An FTL with parameters, or several after commas; may be repeated. By default all named FTLs, and the other placements
    /// with cost-benefit victims.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    ftl: Vec<Ftls>,
    /// The FTL to compare with; if repeated, the best of them in each cell. `rivals` compares each FTL with
    /// the best of all others in the cell, those that know the future left out.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", default_value = "sepbit")]
    baseline: Vec<Ftls>,
    #[command(flatten)]
    drives: DrivesArgs,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Maximum number of threads; by default one per processor.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    threads: Option<NonZeroU32>,
    /// Prints the scoreboard as JSON on standard output, and the tables on standard error.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Drives")]
struct DrivesArgs {
    /// How drives are filled first: none, sequential, random, twice.
    #[arg(long, value_name = "HOW,...", value_delimiter = ',', default_value = "sequential")]
    fill: Vec<Fill>,
    /// Runs on models of a drive that can be bought: its capacity and, if they are known, its over-provisioning and the unit
    /// that it collects at once (1/2,048 of the capacity if not), such as "7.68TB, 7%". A small trace is repeated side by side
    /// until it fills the drive. Memory of maps is as much smaller as the model is. FTLs that merge blocks have no model.
    #[arg(long = "drive", value_name = "CAPACITY[,SHARE][,UNIT]",
          conflicts_with_all = ["logical", "pages_per_block"])]
    class: Option<DriveClass>,
    /// Over-provisioning, (physical - logical) / logical; by default that of --drive, or 7%,10%,28%.
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',')]
    op: Vec<Share>,
    /// Pages per erase block, at least 2; by default the usual number for the size of the drive: 512, fewer
    /// below 1 GiB.
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = parse::<u32>)]
    pages_per_block: Vec<u32>,
    #[command(flatten)]
    drive: Words<DriveOptions, OfAll>,
    #[command(flatten)]
    run: Words<Experiment, OfAll>,
}

/// What all drives have in common, and all runs.
#[derive(Debug)]
struct OfAll;

impl Choice for OfAll {
    const HEADING: Option<&'static str> = Some("Drives");

    fn takes(name: &str, _: &str) -> bool {
        let drive = ["logical", "page_size", "reserve", "mapping"];
        let run = ["writes", "drive_writes", "repeat", "until", "seed", "ignore_trims"];
        drive.contains(&name) || run.contains(&name)
    }

    fn repeats(name: &str) -> bool {
        name == "mapping"
    }
}

/// Files written to the directory in addition to the store.
const FILES: [&str; 3] = ["scoreboard.md", "scoreboard.csv", "scoreboard.svg"];

pub(crate) fn compare(args: &CompareArgs) -> Result<(), CliError> {
    let comparison = comparison(args)?;
    let store = CellStore::open(&args.out, CELLS)?;
    say_not_reused(store.others(), &args.out);
    let [markdown_path, csv_path, figure_path] = FILES.map(|name| args.out.join(name));
    check(&figure_path)?;
    let bar = Bar::new(args.quiet, store.len());
    let threads = args.threads.map_or_else(Threads::processors, |threads| threads.get() as usize);
    let outcomes =
        comparison.run(store, threads, &|done, of, outcome| bar.show(done, of, outcome))?;
    bar.finish();
    let baseline: Vec<_> = Ftls::all(&args.baseline).iter().map(Spec::to_string).collect();
    let board = Scoreboard::new(&outcomes, &baseline);
    if board.scores.is_empty() {
        return Err(nothing_to_hold_against(&board));
    }
    let board = comparison.with_trust(board, CellStore::open(&args.out, CELLS)?, threads)?;
    let tables = markdown(&board);
    let mut results = Results::default();
    results.note(write(&markdown_path, &tables));
    results.note(write(&csv_path, &csv(&outcomes)));
    results.note(write_scoreboard(&board, &figure_path));
    let caveats = board.caveats.iter().flat_map(|caveat| [caveat.as_str(), "\n"]);
    let caveats: String = caveats.collect();
    let text = legend(&board) + &tables + &missing(&board) + &board.trust.line + "\n" + &caveats;
    if args.json {
        say(&text);
        results.note(print_json(&board));
    } else {
        results.note(print(&text));
    }
    results.all()?;
    if !args.quiet {
        say(&format!("wrote {} to {}\n", FILES.join(", "), args.out.display()));
    }
    Ok(())
}

fn comparison(args: &CompareArgs) -> Result<Comparison, CliError> {
    let drives = &args.drives;
    let usual = drives.class.map_or_else(DriveOptions::default, |class| class.usual());
    let drive = drives.drive.apply(usual)?;
    let reading = args.reading.open_options(drive.page_bytes);
    let parse = |name: &String| Workload::parse(name, reading.clone());
    let workloads = args.workloads.iter().map(parse).collect::<Result<Vec<_>, _>>()?;
    let ftls =
        contestants(&Ftls::all(&args.ftl), &Ftls::all(&args.baseline), drives.class.is_some())?;
    let base = Experiment { drive, ..Experiment::new(workloads[0].clone(), Vec::new()) };
    let comparison = Comparison {
        base: drives.run.apply(base)?,
        workloads,
        ftls,
        fills: drives.fill.clone(),
        op_ratios: op_ratios(drives),
        pages_per_block: if drives.pages_per_block.is_empty() {
            vec![None]
        } else {
            drives.pages_per_block.iter().copied().map(Some).collect()
        },
        models: None,
        stop: Stop::default(),
    };
    Ok(match drives.class {
        Some(class) => comparison.on_models(class)?,
        None => comparison,
    })
}

/// Over-provisioning that was asked for, or that of the drive, or the usual.
fn op_ratios(drives: &DrivesArgs) -> Vec<Share> {
    match (&drives.op[..], drives.class.and_then(|class| class.op)) {
        ([], Some(op)) => vec![op],
        ([], None) => USUAL_OP_RATIOS.to_vec(),
        (asked, _) => asked.to_vec(),
    }
}

fn legend(board: &Scoreboard) -> String {
    let of_rivals = board.baseline.iter().any(|ftl| ftl == RIVALS);
    let baseline = if of_rivals {
        "the best rival in the cell, those that know the future left out".into()
    } else {
        board.baseline.join(" or ")
    };
    let is_one = of_rivals || board.baseline.len() == 1;
    let best = if is_one { "" } else { ", whichever is better in the cell" };
    let same_map = if board.has_maps() { ", with the same map" } else { "" };
    let drive = board.drive.as_ref().map_or_else(String::new, |of| format!("models of {of}\n"));
    format!(
        "{drive}relative: geometric mean of (WAF - 1 + 0.003) / that of {baseline}{best}{same_map}; by workload, the \
         mean WAF in brackets\n\n"
    )
}

/// Cells without a result, each reason once.
fn missing(board: &Scoreboard) -> String {
    let mut reasons: Vec<(String, &str, usize)> = Vec::new();
    for (cell, reason) in &board.missing {
        let name = cell.name();
        match reasons.iter_mut().find(|(of, other, _)| *of == name && *other == reason) {
            Some((_, _, count)) => *count += 1,
            None => reasons.push((name, reason, 1)),
        }
    }
    let lines = reasons.iter().map(|(name, reason, count)| {
        let cells = if *count == 1 { "1 cell".to_owned() } else { format!("{count} cells") };
        format!("{cells} of {name} without a result: {reason}\n")
    });
    let text: String = lines.collect();
    format!("\n{text}{}", without_evidence(board))
}

/// Cells that are in no mean, and what they lack.
fn without_evidence(board: &Scoreboard) -> String {
    let lines = board.without_evidence.iter().map(|(cell, lacks)| {
        let Cell { workload, fill, op_ratio, .. } = cell;
        format!(
            "{} on {workload} ({}, fill {fill}) is in no mean: {lacks}\n",
            cell.name(),
            percent(*op_ratio)
        )
    });
    lines.collect()
}

fn nothing_to_hold_against(board: &Scoreboard) -> CliError {
    let is_evidence = board.without_evidence.is_empty();
    if board.baseline.iter().any(|ftl| ftl == RIVALS) && is_evidence {
        return CliError::failure(
            "no FTL has a rival with a result in any cell; name at least two (--ftl), or another --baseline",
        );
    }
    let baseline = board.baseline.join(", ");
    match board.why_none() {
        (reason, true) => CliError::failure(format!(
            "the baseline {baseline} is no evidence in any cell: {reason}; write more (--drive-writes, --repeat), or \
             take a smaller drive (--logical)"
        )),
        (reason, false) => CliError::failure(format!(
            "the baseline {baseline} has no result in any cell: {reason}"
        )),
    }
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    Ok(replace_file(path, |file| file.write_all(text.as_bytes()))?)
}

/// Cells so far.
struct Bar(ProgressBar);

impl Bar {
    fn new(quiet: bool, stored: usize) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        if stored > 0 {
            say(&format!("{stored} finished runs are reused\n"));
        }
        let bar = ProgressBar::new(1);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}  {eta} left") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self(bar)
    }

    fn show(&self, done: usize, of: usize, outcome: &Outcome) {
        self.0.set_length(of as u64);
        advance(&self.0, done as u64);
        let Outcome { cell, run } = outcome;
        let waf = |run: &RunResult| format!("{:.3}", run.headline_waf());
        let waf = run.as_ref().map_or_else(|_| "-".to_owned(), waf);
        self.0.set_message(format!("{} on {}: WAF {waf}", cell.name(), cell.workload));
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}
