//! The command `ftlab` as a function: the program of that name calls it, and so does the Python package,
//! whose compiled part brings the command along.

#![forbid(unsafe_code)]

#[cfg_attr(feature = "full", allow(dead_code, reason = "nothing is absent"))]
mod absent;
mod advise;
mod cite;
mod compare;
#[cfg(feature = "completions")]
mod completions;
mod convert;
#[cfg(feature = "live")]
mod drive;
mod error;
mod figure;
mod fio_command;
mod fit;
mod header;
mod inspect;
mod list;
mod load;
mod model;
mod options;
mod output;
mod progress;
#[cfg(feature = "record")]
mod record;
mod report;
mod reproduce;
mod run;
mod sweep;
mod table;
mod teach;
mod times;
mod tune;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use ftlab_hardware::end_if_no_thread_starts;
use std::ffi::{OsStr, OsString};

/// A laboratory for flash translation layers (FTLs): simulate, compare and explain write
/// amplification.
#[derive(Parser)]
#[command(name = "ftlab", version = ftlab_spec::version(), arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  ftlab run trace.parquet --ftl 1r-greedy --ftl 2r++
  ftlab run zipf:theta=0.9 --logical 8GiB --fill random --ftl 2r-fifo
  ftlab run --ftl 2r++ -- fio --name=a --rw=randwrite --bs=4k --size=1g --loops=4
  ftlab sweep experiment.toml
  ftlab tune 2r++ trace.parquet --metadata-budget 4B/page
  ftlab inspect trace.parquet
  ftlab model uniform --op 7%,15%,28%
  ftlab list ftls";

#[derive(Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Compare(Box<compare::CompareArgs>),
    Advise(Box<advise::AdviseArgs>),
    Fit(Box<fit::FitArgs>),
    Sweep(sweep::SweepArgs),
    Tune(Box<tune::TuneArgs>),
    Reproduce(reproduce::ReproduceArgs),
    List(list::ListArgs),
    Inspect(inspect::InspectArgs),
    Convert(convert::ConvertArgs),
    #[cfg(feature = "record")]
    Record(record::RecordArgs),
    #[cfg(not(feature = "record"))]
    #[command(hide = true, disable_help_flag = true)]
    Record(absent::AbsentArgs),
    #[cfg(feature = "live")]
    Drive(drive::DriveArgs),
    #[cfg(not(feature = "live"))]
    #[command(hide = true, disable_help_flag = true)]
    Drive(absent::AbsentArgs),
    Model(model::ModelArgs),
    Cite(cite::CiteArgs),
    Report(report::ReportArgs),
    Teach(teach::TeachArgs),
    #[cfg(feature = "completions")]
    Completions(completions::CompletionsArgs),
    #[cfg(feature = "completions")]
    Man(completions::ManArgs),
    #[cfg(not(feature = "completions"))]
    #[command(hide = true, disable_help_flag = true)]
    Completions(absent::AbsentArgs),
    #[cfg(not(feature = "completions"))]
    #[command(hide = true, disable_help_flag = true)]
    Man(absent::AbsentArgs),
}

/// Lets what this program writes name the commit that it was built from.
pub fn name_commit() {
    ftlab_spec::name_commit(env!("FTLAB_COMMIT"));
}

/// Suppresses the reports of panics that become errors, which say it better.
fn report_only_bugs() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        end_if_no_thread_starts(panic);
        if !ftlab_trace::panic_becomes_error() {
            report(panic);
        }
    }));
}

/// Runs the command with these arguments (without its own name) and returns the exit status: 2 if the
/// command was wrong, 1 if its execution failed.
///
/// `python` is the interpreter that `ftlab tune` runs if FTLAB_PYTHON is not set; `python3` if `None`.
pub fn run(typed: impl IntoIterator<Item = OsString>, python: Option<&OsStr>) -> u8 {
    report_only_bugs();
    name_commit();
    let typed: Vec<_> = typed.into_iter().collect();
    let mut commands = Cli::command();
    let words = std::iter::once("ftlab".into()).chain(fio_command::as_workload(&typed));
    let parsed = commands.try_get_matches_from_mut(words).and_then(|matches| {
        let parsed = Cli::from_arg_matches(&matches)?;
        Ok((matches, parsed))
    });
    let (matches, parsed) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Help that was asked for comes this way, too. Nothing can be done where printing fails.
            let _ = error.print();
            fio_command::say_how_to_give_it(&error, &typed);
            return u8::try_from(error.exit_code()).unwrap_or(2);
        }
    };
    let result = match parsed.command {
        // The exit status is the command's.
        #[cfg(feature = "record")]
        Command::Record(args) => match record::record_command(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Run(args) => run::run(&args, &typed),
        Command::Compare(args) => compare::compare(&args),
        Command::Cite(args) => cite::cite(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        // It takes the arguments as typed, to pass them on.
        Command::Tune(_) => match (commands.find_subcommand("tune"), matches.subcommand()) {
            (Some(command), Some((_, matches))) => tune::tune(command, matches, python),
            _ => unreachable!("clap has just found it"),
        },
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::List(args) => list::list(&args),
        Command::Inspect(args) => inspect::inspect(&args, &typed),
        Command::Convert(args) => convert::convert(&args),
        #[cfg(not(feature = "record"))]
        Command::Record(_) => Err(absent::absent("ftlab record", "record")),
        #[cfg(feature = "live")]
        Command::Drive(args) => drive::drive(&args),
        #[cfg(not(feature = "live"))]
        Command::Drive(_) => Err(absent::absent("ftlab drive", "live")),
        Command::Model(args) => model::model(&args),
        Command::Report(args) => report::report(&args),
        Command::Teach(args) => teach::teach(&args, &typed),
        #[cfg(feature = "completions")]
        Command::Completions(args) => completions::completions(&args, Cli::command()),
        #[cfg(feature = "completions")]
        Command::Man(args) => completions::man(&args, Cli::command()),
        #[cfg(not(feature = "completions"))]
        Command::Completions(_) => Err(absent::absent("ftlab completions", "completions")),
        #[cfg(not(feature = "completions"))]
        Command::Man(_) => Err(absent::absent("ftlab man", "completions")),
    };
    match result {
        Ok(()) => 0,
        Err(error) => error.report(),
    }
}
