//! `ftlab reproduce`: tables and figures of the literature, published values compared with measured
//! ones.

mod catalogue;
mod kinds;
mod page;
mod splits;

use crate::error::CliError;
use crate::figure::FigureSize;
use crate::options::parse;
use crate::output::{print, say};
use crate::sweep::{report_failures, run};
use clap::Args;
use ftlab_experiments::sweep::{
    ExperimentFile, Held, Inspected, Kind, Numbers, Outcome, Plan, Recognised, Recorded, Scale,
    Shard, compare, read_runs_of,
};
use page::{Page, Took};
use std::fs;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Instant;

/// Reproduces tables and figures of the literature: published, measured, difference.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab reproduce list
  ftlab reproduce 2r++/table-3 --scale 1/8
  ftlab reproduce wolf
  ftlab reproduce my-experiment.toml
  FTLAB_SHARED=/data ftlab reproduce all      # with the captured traces in /data/traces

Captured traces are expected in $FTLAB_SHARED/traces; if FTLAB_SHARED is not set, what needs them is
reported and skipped.")]
pub(crate) struct ReproduceArgs {
    /// What to reproduce: list, all, names of experiments or papers, or experiment files.
    #[arg(required = true)]
    what: Vec<String>,
    /// Scales down drives and the writes of generators, such as 1/8.
    #[arg(long, value_name = "FRACTION", default_value_t = Scale::FULL)]
    scale: Scale,
    /// Directory for the pages: a table, figures and numbers of each experiment.
    #[arg(long, value_name = "DIR", default_value = "reproduction")]
    out: PathBuf,
    /// Directory for the results of runs, which are not repeated; by default OUT/runs.
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Makes pages again from their CSV files in OUT, without runs and without drawing.
    #[arg(long, conflicts_with = "store")]
    again: bool,
    #[command(flatten)]
    size: FigureSize,
    /// Number of threads; by default one per processor.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    threads: Option<NonZeroU32>,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn reproduce(args: &ReproduceArgs) -> Result<(), CliError> {
    if args.what == ["list"] {
        return list();
    }
    let experiments = catalogue::find(&args.what)?;
    let mut failures = Outcome::default();
    let mut pages = Vec::new();
    for (id, file) in experiments {
        say(&format!("{id}: {}\n", file.title));
        pages.push(one(args, &id, file, &mut failures)?);
    }
    page::index(&args.out, &pages)?;
    let missed = pages.iter().flat_map(Page::unexpected).count();
    let all: usize = pages.iter().map(Page::compared).sum();
    let index = args.out.join("README.md");
    say(&if all == 0 {
        format!(
            "nothing is compared: no [[expect]] has a measurement (docs/experiments.md); see {}\n",
            index.display()
        )
    } else {
        format!(
            "{missed} of {all} numbers and statements differ from those published; see {}\n",
            index.display()
        )
    });
    report_failures(&failures)
}

fn list() -> Result<(), CliError> {
    for (id, file) in catalogue::all()? {
        print(&format!("{id:20} {}\n", file.title))?;
    }
    Ok(())
}

/// Reproduces one experiment: its table on standard output, its page, figures and numbers as files.
fn one(
    args: &ReproduceArgs,
    id: &str,
    file: ExperimentFile,
    all: &mut Outcome,
) -> Result<Page, CliError> {
    let plan = Plan::new(file, args.scale)?;
    for absent in &plan.absent {
        say(&format!("skipped: {absent}\n"));
    }
    if args.again {
        return again(args, id, &plan);
    }
    let start = Instant::now();
    let mut of_runs = None;
    let numbers: Box<dyn Numbers + '_> = match plan.file.kind {
        Kind::Runs => {
            let store = args.store.clone().unwrap_or_else(|| args.out.join("runs"));
            let outcome = run(&plan, &store, args.threads, Shard::WHOLE, args.quiet)?;
            all.failures.extend(outcome.failures);
            let results = read_runs_of(&plan, &store)?;
            let runs = results.values().flat_map(|stored| &stored.result.runs);
            of_runs = Some(runs.map(|run| run.seconds).sum());
            Box::new(Held::new(&plan, results))
        }
        Kind::Inspect => Box::new(Inspected::new(&plan)?),
        Kind::Recognition => Box::new(Recognised::new(&plan)?),
        Kind::Splits => Box::new(splits::study(&plan)?),
    };
    let lines = compare(&plan, numbers.as_ref())?;
    let mut page = Page::new(id, &plan, numbers.as_ref(), lines)?;
    page.took = match of_runs {
        Some(seconds) => Took::InFtls(seconds),
        None => Took::InAll(start.elapsed().as_secs_f64()),
    };
    page.draw(&plan, numbers.as_ref(), args.size, &args.out)?;
    page.write_csv(&plan, numbers.as_ref(), &args.out)?;
    page.write(&plan, &args.out)?;
    print(&page.table())?;
    Ok(page)
}

/// Makes the page of one experiment again from the numbers beside it.
fn again(args: &ReproduceArgs, id: &str, plan: &Plan) -> Result<Page, CliError> {
    let path = page::csv_path(&args.out, id);
    let failed = |reason: String| CliError::failure(format!("{}: {reason}", path.display()));
    let csv = fs::read_to_string(&path).map_err(|error| {
        failed(format!("{error}; leave out --again to run the experiment first"))
    })?;
    let numbers = Recorded::parse(plan, &csv).map_err(failed)?;
    let mut page = Page::new(id, plan, &numbers, compare(plan, &numbers)?)?;
    page.took = page::made_before(&args.out, id)
        .map(Took::Before)
        .ok_or_else(|| failed("the page beside it does not say how it was made".into()))?;
    page.link(plan, &args.out);
    page.write(plan, &args.out)?;
    print(&page.table())?;
    Ok(page)
}
