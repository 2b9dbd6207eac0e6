//! `ftlab run`: FTLs on a workload.

use crate::error::{CliError, Results};
use crate::files::FileArgs;
use crate::ftls::Ftls;
use crate::header::{header, parsed};
use crate::options::ReadingArgs;
use crate::output::{print, print_json, say};
use crate::progress::{Bar, with_spinner};
use crate::table::{Width, fdp, notes, sheet};
use crate::times::times;
use crate::typed::command;
use crate::words::{Choice, OfReport, OfRun, Words};
use clap::Args;
use ftlab_sim::fact::Sheet;
use ftlab_sim::{DriveClass, DriveOptions, Experiment, ExperimentResult, Workload, summary};
use ftlab_spec::Spec;
use std::ffi::OsString;

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
    /// An FTL with parameters, or several after commas; may be repeated. See `ftlab list ftls`.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]")]
    ftl: Vec<Ftls>,
    /// Runs on the model of a drive that can be bought, as `ftlab advise --drive` does: its capacity and, if they are known,
    /// its over-provisioning and the unit that it collects at once, such as "7.68TB, 7%". Memory of maps is as much smaller
    /// as the model is; --endurance is of the whole drive. FTLs that merge blocks have no model.
    #[arg(long = "drive", help_heading = "Drive", value_name = "CAPACITY[,SHARE][,UNIT]",
          conflicts_with_all = ["logical", "logical_pages", "pages_per_block", "timing"])]
    class: Option<DriveClass>,
    #[command(flatten)]
    drive: Words<DriveOptions, OfDrive>,
    #[command(flatten)]
    options: Words<Experiment>,
    #[command(flatten)]
    reading: ReadingArgs,
    #[command(flatten)]
    report: ReportArgs,
}

/// All that a drive has; FTLs may run with several maps.
#[derive(Debug)]
struct OfDrive;

impl Choice for OfDrive {
    fn takes(name: &str, heading: &str) -> bool {
        OfRun::takes(name, heading)
    }

    fn repeats(name: &str) -> bool {
        name == "mapping"
    }
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Report")]
struct ReportArgs {
    #[command(flatten)]
    options: Words<Experiment, OfReport>,
    #[command(flatten)]
    files: FileArgs,
    /// Shows all columns of tables, instead of those that fit in 80 characters.
    #[arg(long)]
    wide: bool,
    /// Writes JSON to standard output; everything else goes to standard error.
    #[arg(long)]
    json: bool,
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
    files.check(&prepared, prepared.config().ftls.len())?;
    if !quiet {
        show(&header(&prepared))?;
    }
    let mut bar = if quiet { Bar::hidden() } else { Bar::new(&prepared) };
    let mut result = prepared.run(&mut bar)?;
    result.command = Some(command(typed));
    if let Some(known) = args.class.and_then(|class| class.known) {
        result = result.on(known);
    }
    bar.finish();
    let width = if args.report.wide { Width::Wide } else { Width::Narrow };
    let mut results = Results::default();
    results.note(show(&text(&result, quiet, width)));
    if json {
        results.note(print_json(&result));
    }
    results.note(files.write(&result, quiet));
    results.all()
}

/// Everything that is printed of a result.
fn text(result: &ExperimentResult, quiet: bool, width: Width) -> String {
    let parsed = if quiet { String::new() } else { parsed(result) };
    let sheet = |of| sheet(result, of, width);
    let tables = [
        sheet(Sheet::Runs),
        times(result, width),
        sheet(Sheet::Refresh),
        sheet(Sheet::Slc),
        sheet(Sheet::Map),
        sheet(Sheet::Wear),
        fdp(result),
        sheet(Sheet::Faults),
        notes(result),
    ];
    let answer = summary::sentence(result);
    let known = result.known_drive.as_ref().map_or_else(String::new, |own| own.line(&result.runs));
    format!("{parsed}{}{answer}\n{}\n{known}", tables.concat(), result.trust.line)
}

/// The FTLs that were asked for, or that of a drive that is known.
fn ftls(args: &RunArgs) -> Vec<Spec> {
    let known = args.class.and_then(|class| class.known);
    match (Ftls::all(&args.ftl), known) {
        (ftls, Some(known)) if ftls.is_empty() => vec![known.ftl.clone()],
        (ftls, _) => ftls,
    }
}

fn experiment(args: &RunArgs) -> Result<Experiment, CliError> {
    let Some(workload) = &args.workload else { return Err(CliError::usage(NO_WORKLOAD)) };
    let usual = args.class.map_or_else(DriveOptions::default, |class| class.usual());
    let drive = args.drive.apply(usual)?;
    let workload = Workload::parse(workload, args.reading.open_options(drive.page_bytes))?;
    let experiment = Experiment {
        drive,
        slowest: args.report.files.slowest(),
        observe: args.report.files.observe(),
        ..Experiment::new(workload, ftls(args))
    };
    let experiment = args.report.options.apply(args.options.apply(experiment)?)?;
    let Some(class) = args.class else { return Ok(experiment) };
    let Experiment { workload, drive, seed, .. } = &experiment;
    Ok(class.model(workload, drive.page_bytes, *seed)?.of(&experiment)?)
}
