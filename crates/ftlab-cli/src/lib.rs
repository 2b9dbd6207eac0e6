//! The command `ftlab` as a function: the program of that name calls it, and so does the Python package,
//! whose compiled part brings the command along.

#![forbid(unsafe_code)]

#[cfg_attr(feature = "full", allow(dead_code, reason = "nothing is absent"))]
mod absent;
#[cfg(feature = "lab")]
mod advise;
mod cite;
#[cfg(feature = "lab")]
mod compare;
#[cfg(feature = "completions")]
mod completions;
#[cfg(feature = "lab")]
mod convert;
#[cfg(feature = "lab")]
mod curve;
#[cfg(feature = "live")]
mod drive;
mod error;
#[cfg(feature = "lab")]
mod figure;
#[cfg(feature = "lab")]
mod files;
mod fio_command;
#[cfg(feature = "lab")]
mod fit;
#[cfg(feature = "lab")]
mod fleet;
mod ftls;
#[cfg(feature = "lab")]
mod generator;
mod header;
#[cfg(feature = "lab")]
mod inspect;
mod list;
#[cfg(feature = "lab")]
mod load;
mod metrics;
#[cfg(feature = "lab")]
mod model;
mod options;
mod output;
mod progress;
#[cfg(feature = "record")]
mod record;
#[cfg(feature = "lab")]
mod report;
#[cfg(feature = "lab")]
mod reproduce;
mod run;
#[cfg(feature = "lab")]
mod start;
#[cfg(feature = "lab")]
mod sweep;
#[cfg(feature = "lab")]
mod sweep_table;
mod table;
#[cfg(feature = "lab")]
mod teach;
mod times;
#[cfg(feature = "lab")]
mod tune;
mod typed;
mod words;

#[cfg(not(feature = "lab"))]
use absent::files;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use ftlab_memory::end_if_no_thread_starts;
use std::ffi::{OsStr, OsString};

/// A laboratory for flash translation layers (FTLs): simulate, compare and explain write
/// amplification.
#[derive(Parser)]
#[command(name = "ftlab", version = ftlab_spec::version(), arg_required_else_help = true, after_help = absent::without_absent(EXAMPLES))]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "Examples:
  ftlab start
  ftlab run trace.parquet --ftl 1r-greedy --ftl 2r++
  ftlab run zipf:theta=0.9 --logical 8GiB --fill random --ftl 2r-fifo
  ftlab run --ftl 2r++ -- fio --name=a --rw=randwrite --bs=4k --size=1g --loops=4
  ftlab sweep experiment.toml
  ftlab fleet alibaba.csv.gz --ftl sepbit --out fleet
  ftlab tune 2r++ trace.parquet --metadata-budget 4B/page
  ftlab inspect trace.parquet
  ftlab model uniform --op 7%,15%,28%
  ftlab list ftls";

#[derive(Subcommand)]
enum Command {
    #[cfg(feature = "lab")]
    Start(start::StartArgs),
    Run(Box<run::RunArgs>),
    #[cfg(feature = "lab")]
    Compare(Box<compare::CompareArgs>),
    #[cfg(feature = "lab")]
    Advise(Box<advise::AdviseArgs>),
    #[cfg(feature = "lab")]
    Curve(Box<curve::CurveArgs>),
    #[cfg(feature = "lab")]
    Fit(Box<fit::FitArgs>),
    #[cfg(feature = "lab")]
    Sweep(sweep::SweepArgs),
    #[cfg(feature = "lab")]
    Fleet(Box<fleet::FleetArgs>),
    #[cfg(feature = "lab")]
    Tune(Box<tune::TuneArgs>),
    #[cfg(feature = "lab")]
    Reproduce(reproduce::ReproduceArgs),
    List(list::ListArgs),
    #[cfg(feature = "lab")]
    Inspect(inspect::InspectArgs),
    #[cfg(feature = "lab")]
    Convert(convert::ConvertArgs),
    #[cfg(feature = "record")]
    Record(record::RecordArgs),
    #[cfg(feature = "live")]
    Drive(drive::DriveArgs),
    #[cfg(feature = "lab")]
    Model(model::ModelArgs),
    Cite(cite::CiteArgs),
    #[cfg(feature = "lab")]
    Report(report::ReportArgs),
    #[cfg(feature = "lab")]
    Teach(teach::TeachArgs),
    #[cfg(feature = "completions")]
    Completions(completions::CompletionsArgs),
    #[cfg(feature = "completions")]
    Man(completions::ManArgs),
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
#[cfg_attr(not(feature = "lab"), expect(unused_variables, reason = "only `ftlab tune` needs it"))]
pub fn run(typed: impl IntoIterator<Item = OsString>, python: Option<&OsStr>) -> u8 {
    report_only_bugs();
    name_commit();
    let typed: Vec<_> = typed.into_iter().collect();
    if let Some(error) = absent::absent_command(&typed) {
        return error.report();
    }
    let mut commands = all_commands();
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
            say_how_threads_are_named(&error);
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
        #[cfg(feature = "lab")]
        Command::Start(args) => match start::start(args, |words| run(words, python)) {
            Ok(code) => return code,
            Err(error) => Err(error),
        },
        Command::Run(args) => run::run(&args, &typed),
        Command::Cite(args) => cite::cite(&args),
        Command::List(args) => list::list(&args),
        #[cfg(feature = "live")]
        Command::Drive(args) => drive::drive(&args),
        #[cfg(feature = "completions")]
        Command::Completions(args) => completions::completions(&args, all_commands()),
        #[cfg(feature = "completions")]
        Command::Man(args) => completions::man(&args, all_commands()),
        // It takes the arguments as typed, to pass them on.
        #[cfg(feature = "lab")]
        Command::Tune(_) => match (commands.find_subcommand("tune"), matches.subcommand()) {
            (Some(command), Some((_, matches))) => tune::tune(command, matches, python),
            _ => unreachable!("clap has just found it"),
        },
        #[cfg(feature = "lab")]
        command => laboratory(command, &typed),
    };
    match result {
        Ok(()) => 0,
        Err(error) => error.report(),
    }
}

/// Options of `ftlab run` that -h shows; --help shows all.
const RUN_OFTEN: [&str; 15] = [
    "workload",
    "ftl",
    "logical",
    "op",
    "timing",
    "fill",
    "writes",
    "drive_writes",
    "until",
    "seed",
    "format",
    "out",
    "report",
    "json",
    "quiet",
];

/// All commands. The short help of `ftlab run` has what is used most, each in its first words, on one screen.
fn all_commands() -> clap::Command {
    let brief = |argument: clap::Arg| {
        let is_often = RUN_OFTEN.contains(&argument.get_id().as_str());
        let Some(help) = argument.get_help().map(ToString::to_string) else { return argument };
        let first = help.split("; ").next().and_then(|part| part.split(". ").next());
        let first = first.unwrap_or_default().to_owned();
        argument.help(first).long_help(help).hide_short_help(!is_often)
    };
    Cli::command()
        .mut_subcommands(|of| if of.get_name() == "run" { of.mut_args(brief) } else { of })
}

/// Says what `--jobs` is called.
fn say_how_threads_are_named(error: &clap::Error) {
    let unknown = error.get(ContextKind::InvalidArg);
    if error.kind() == ErrorKind::UnknownArgument
        && matches!(unknown, Some(ContextValue::String(name)) if name == "--jobs" || name == "-j")
    {
        output::say("\nthe number of threads is --threads N, in every command\n");
    }
}

/// Carries out the commands of the laboratory.
#[cfg(feature = "lab")]
fn laboratory(command: Command, typed: &[OsString]) -> Result<(), error::CliError> {
    match command {
        Command::Compare(args) => compare::compare(&args),
        Command::Advise(args) => advise::advise(&args),
        Command::Curve(args) => curve::curve(&args),
        Command::Fit(args) => fit::fit(&args),
        Command::Sweep(args) => sweep::sweep(&args),
        Command::Fleet(args) => fleet::fleet(&args, typed),
        Command::Reproduce(args) => reproduce::reproduce(&args),
        Command::Inspect(args) => inspect::inspect(&args, typed),
        Command::Convert(args) => convert::convert(&args),
        Command::Model(args) => model::model(&args),
        Command::Report(args) => report::report(&args),
        Command::Teach(args) => teach::teach(&args, typed),
        _ => unreachable!("the others are carried out by the caller"),
    }
}
