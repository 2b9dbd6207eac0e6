//! `ftlab`: a laboratory for flash translation layers.

#![forbid(unsafe_code)]

mod advise;
mod compare;
mod completions;
mod convert;
#[cfg(target_os = "linux")]
mod drive;
mod error;
mod figure;
mod header;
mod inspect;
mod list;
mod model;
mod options;
mod output;
mod progress;
#[cfg(target_os = "linux")]
mod record;
mod report;
mod reproduce;
mod run;
mod sweep;
mod table;
mod tune;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// A laboratory for flash translation layers (FTLs): simulate, compare and explain write
/// amplification.
#[derive(Parser)]
#[command(name = "ftlab", version, arg_required_else_help = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  ftlab run trace.parquet --ftl 1r-greedy --ftl 2r++
  ftlab run zipf:theta=0.9 --logical 8GiB --fill random --ftl 2r-fifo
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
    Sweep(sweep::SweepArgs),
    Tune(Box<tune::TuneArgs>),
    Reproduce(reproduce::ReproduceArgs),
    List(list::ListArgs),
    Inspect(inspect::InspectArgs),
    Convert(convert::ConvertArgs),
    #[cfg(target_os = "linux")]
    Record(record::RecordArgs),
    #[cfg(target_os = "linux")]
    Drive(drive::DriveArgs),
    Model(model::ModelArgs),
    Report(report::ReportArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

/// Suppresses the reports of panics that become errors, which say it better.
fn report_only_bugs() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !ftlab_trace::panic_becomes_error() {
            report(panic);
        }
    }));
}

fn main() -> ExitCode {
    report_only_bugs();
    let mut commands = Cli::command();
    let matches = commands.get_matches_mut();
    let parsed = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let result = match parsed.command {
        // The exit status is the command's.
        #[cfg(target_os = "linux")]
        Command::Record(args) => match record::record_command(&args) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Run(args) => run::run(&args),
        Command::Compare(args) => compare::compare(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        // It takes the arguments as typed, to pass them on.
        Command::Tune(_) => match (commands.find_subcommand("tune"), matches.subcommand()) {
            (Some(command), Some((_, matches))) => tune::tune(command, matches),
            _ => unreachable!("clap has just found it"),
        },
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::List(args) => list::list(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Convert(args) => convert::convert(&args),
        #[cfg(target_os = "linux")]
        Command::Drive(args) => drive::drive(&args),
        Command::Model(args) => model::model(&args),
        Command::Report(args) => report::report(&args),
        Command::Completions(args) => completions::completions(&args, Cli::command()),
        Command::Man(args) => completions::man(&args, Cli::command()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
