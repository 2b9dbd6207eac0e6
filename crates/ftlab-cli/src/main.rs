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

use clap::{Parser, Subcommand};
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
  ftlab inspect trace.parquet
  ftlab model uniform --op 7%,15%,28%
  ftlab list ftls";

#[derive(Subcommand)]
enum Command {
    Run(Box<run::RunArgs>),
    Compare(Box<compare::CompareArgs>),
    Advise(Box<advise::AdviseArgs>),
    Sweep(sweep::SweepArgs),
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

/// Leaves out the reports of panics that become errors, which say it better.
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
    let result = match Cli::parse().command {
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
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::List(args) => list::list(&args),
        Command::Inspect(args) => inspect::inspect(&args),
        Command::Convert(args) => convert::convert(&args),
        #[cfg(target_os = "linux")]
        Command::Drive(args) => drive::drive(&args),
        Command::Model(args) => model::model(&args),
        Command::Report(args) => report::report(&args),
        Command::Completions(args) => completions::completions(&args),
        Command::Man(args) => completions::man(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
