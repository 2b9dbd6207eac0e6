//! `ftlab sweep`: an experiment file, every run of it.

use crate::error::{CliError, Results};
use crate::options::parse;
use crate::output::{print, say, say_not_reused};
use crate::progress::SweepBar;
use crate::sweep_table::{SweepTable, TableFile};
use crate::table::csv_line;
use clap::Args;
use ftlab_experiments::sweep::{
    ExperimentFile, Kind, Outcome, Plan, Scale, Shard, Store, StoredRun, SweepOptions,
    read_runs_of, sweep as run_sweep, trust_of, without_evidence,
};
use ftlab_sim::format::grouped;
use ftlab_trace::replace_file;
use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Runs every point of an experiment file, on all processors; resumes a stopped sweep.
///
/// Ends with a table: a line for each cell, with means and standard deviations over its seeds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab sweep op.toml
  ftlab sweep op.toml --out results --threads 4
  ftlab sweep op.toml --table op.tex --table op.csv
  ftlab sweep op.toml --out results --shard $SLURM_ARRAY_TASK_ID/16   # a part of it, for a job array

An experiment file:
  title = \"How much over-provisioning does 2R need?\"
  workloads = [\"zipf:theta={theta}\"]
  ftls = [\"1r-greedy\", \"2r-fifo\"]
  [drive]
  logical = \"1GiB\"
  op = \"{op}\"
  [run]
  fill = \"sequential\"
  [grid]
  theta = [0.5, 0.9]
  op = [\"5%\", \"10%\", \"20%\"]")]
pub(crate) struct SweepArgs {
    /// The experiment file.
    experiment: PathBuf,
    /// Directory for the results, as Parquet files and results.csv; runs that have results there
    /// are not repeated. By default the name of the experiment with .results.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Writes the table to this file, which ends in .tex (LaTeX with booktabs), .md (Markdown) or .csv; may be
    /// repeated.
    #[arg(long, value_name = "FILE")]
    table: Vec<TableFile>,
    /// Number of threads; by default one per processor. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    threads: Option<NonZeroU32>,
    /// Runs part I of N, such as 3/16; any number of processes may share a directory.
    #[arg(long, value_name = "I/N", default_value_t = Shard::WHOLE)]
    shard: Shard,
    /// Scales down drives and the writes of generators, such as 1/8.
    #[arg(long, value_name = "FRACTION", default_value_t = Scale::FULL)]
    scale: Scale,
    /// Shows what would be run, and runs nothing.
    #[arg(long)]
    dry_run: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// Most cells to show as a table; larger results are in files only.
const ROWS_MAX: usize = 60;

pub(crate) fn sweep(args: &SweepArgs) -> Result<(), CliError> {
    let plan = Plan::new(ExperimentFile::read(&args.experiment)?, args.scale)?;
    if plan.file.kind != Kind::Runs {
        return Err(CliError::usage(format!(
            "{} runs no FTLs; use ftlab reproduce {0}",
            args.experiment.display()
        )));
    }
    for absent in &plan.absent {
        say(&format!("skipped: {absent}\n"));
    }
    if args.dry_run {
        return print(&summary(&plan));
    }
    let directory = args.out.clone().unwrap_or_else(|| {
        let stem = args.experiment.file_stem().unwrap_or_default();
        PathBuf::from(stem).with_extension("results")
    });
    let outcome = run(&plan, &directory, args.threads, args.shard, args.quiet)?;
    let results = read_runs_of(&plan, &directory)?;
    let mut written = Results::default();
    let table = SweepTable::new(&plan, &results);
    if table.len() <= ROWS_MAX {
        written.note(print(&table.terminal()));
    }
    for file in &args.table {
        let result = file.write(&table);
        written.note(result.map(|()| say(&format!("wrote {}\n", file.path().display()))));
    }
    written.note(print(&evidence(&plan, &results)));
    let csv = directory.join("results.csv");
    let csv_written = write_csv(&plan, &results, &csv);
    let wrote =
        csv_written.as_ref().map_or(String::new(), |()| format!("; wrote {}", csv.display()));
    written.note(csv_written);
    say(&format!(
        "{} runs carried out, {} reused{wrote}\n",
        grouped(outcome.ran as u64),
        grouped(outcome.reused as u64),
    ));
    written.note(report_failures(&outcome));
    written.all()
}

/// Carries out the runs that have no result yet.
pub(crate) fn run(
    plan: &Plan,
    directory: &Path,
    threads: Option<NonZeroU32>,
    shard: Shard,
    quiet: bool,
) -> Result<Outcome, CliError> {
    let mut store = Store::open(directory, shard)?;
    say_not_reused(store.others(), directory);
    let bar = if quiet { SweepBar::hidden() } else { SweepBar::new() };
    let options = SweepOptions { threads: threads.map(|threads| threads.get() as usize), shard };
    let outcome = run_sweep(plan, &mut store, options, &|status| {
        bar.update(status);
        ControlFlow::Continue(())
    })?;
    bar.finish();
    Ok(outcome)
}

/// An error that lists the runs that failed, if any did.
pub(crate) fn report_failures(outcome: &Outcome) -> Result<(), CliError> {
    let failures = &outcome.failures;
    if failures.is_empty() {
        return Ok(());
    }
    let list: Vec<_> =
        failures.iter().map(|failure| format!("{}: {}", failure.run, failure.error)).collect();
    Err(CliError::failure(format!(
        "{} of the runs failed; the same command retries them:\n  {}",
        grouped(failures.len() as u64),
        list.join("\n  ")
    )))
}

fn summary(plan: &Plan) -> String {
    let axes = plan.varying_axes().into_iter();
    let axes: Vec<_> =
        axes.map(|axis| format!("  {axis}: {}", plan.axis(axis).join(", "))).collect();
    format!(
        "{} runs, {} workloads and drives\n{}\n",
        grouped(plan.runs() as u64),
        grouped(plan.jobs.len() as u64),
        axes.join("\n")
    )
}

/// The points that are no evidence, and what all of them rest on.
fn evidence(plan: &Plan, results: &BTreeMap<String, StoredRun>) -> String {
    let lacking = without_evidence(plan, results).into_iter();
    let lines = lacking.map(|(point, lacks)| format!("{point}: no evidence, {lacks}\n"));
    format!("{}{}\n", lines.collect::<String>(), trust_of(results).line)
}

/// Every point with a result: its axes, and every metric that it has.
pub(crate) fn write_csv(
    plan: &Plan,
    results: &BTreeMap<String, StoredRun>,
    path: &Path,
) -> Result<(), CliError> {
    let axes = plan.axes();
    let metrics = &ftlab_experiments::sweep::METRICS;
    let names = axes.iter().copied().chain(metrics.iter().map(|metric| metric.name));
    let mut text = csv_line(names.map(str::to_owned));
    for point in &plan.points {
        let Some(stored) = results.get(&point.run) else { continue };
        let labels = axes.iter().map(|axis| point.label(axis).unwrap_or_default().to_owned());
        let numbers = metrics
            .iter()
            .map(|metric| metric.of(stored).map_or_else(String::new, |number| number.to_string()));
        text += &csv_line(labels.chain(numbers));
    }
    Ok(replace_file(path, |file| file.write_all(text.as_bytes()))?)
}
