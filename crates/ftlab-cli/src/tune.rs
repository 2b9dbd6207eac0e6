//! `ftlab tune`: passes its options to the Python package, which implements the search.

use crate::error::CliError;
use crate::options::{ReadingArgs, parse};
use crate::words::Words;
use clap::{ArgAction, ArgMatches, Args, Command, parser::ValueSource};
use ftlab_ftl::MetadataBudget;
use ftlab_sim::{DriveOptions, Experiment};
use ftlab_spec::Spec;
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Searches for the parameters that minimise an FTL's write amplification, within a metadata
/// budget.
///
/// Optuna proposes, ftlab runs: first the default parameters, then those that earlier trials
/// suggest. Results depend on the seed, not on threads, and a stopped search can be resumed. The
/// search is part of the Python package ftlab (pip install 'ftlab[tune]', in a clone '.[tune]'). The
/// interpreter is FTLAB_PYTHON if it is set; otherwise the one whose package includes the command,
/// or python3.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab tune 2r++ trace.parquet --fill sequential --metadata-budget 4B/page
  ftlab tune sepbit zipf:theta=0.9 --logical 1GiB --fill random --trials 200 --validate zipf:theta=0.9
  ftlab tune hazard trace.parquet --fix estimates=kept --space epoch=0.004..0.25 --out hazard-trace
  ftlab tune 2r-fifo trace.parquet --space 'fallback=raise|greedy' --writes 1M --validate rest")]
#[allow(dead_code, reason = "checked here, and handed on as they were typed")]
pub(crate) struct TuneArgs {
    /// The FTL. Parameters given with it become its defaults and are not searched.
    #[arg(value_name = "NAME[:KEY=VALUE,...]")]
    ftl: Spec,
    /// A trace file, a generator, or a job file of fio; or, last and after --, a command of fio. See
    /// `ftlab list workloads`.
    workload: String,
    #[command(flatten)]
    search: SearchArgs,
    #[command(flatten)]
    drive: Words<DriveOptions>,
    #[command(flatten)]
    options: Words<Experiment>,
    #[command(flatten)]
    reading: ReadingArgs,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Search")]
#[allow(dead_code, reason = "checked here, and handed on as they were typed")]
struct SearchArgs {
    /// Limit on all the state that the FTL needs, such as 4B/page, 2bits/page, 64B/block or 1MiB.
    #[arg(long, value_name = "SIZE[/page|/block]")]
    metadata_budget: Option<MetadataBudget>,
    /// Number of parameter sets to try; 100 by default.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    trials: Option<NonZeroU32>,
    /// Searches a parameter in this range, or among these values, instead of a range derived from
    /// its limits and default; may be repeated.
    #[arg(long, value_name = "KEY=LOW..HIGH|KEY=A|B")]
    space: Vec<String>,
    /// Sets a parameter to this value instead of searching it; may be repeated.
    #[arg(long, value_name = "KEY=VALUE")]
    fix: Vec<String>,
    /// Also runs the best and the default on this workload, with the next seed; rest is the part of
    /// the trace after --writes.
    #[arg(long, value_name = "WORKLOAD|rest")]
    validate: Option<String>,
    /// Trials that are proposed together and may run at the same time; 8 by default. Results depend
    /// on it.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    batch: Option<NonZeroU32>,
    /// Number of threads; by default one per processor. Results do not depend on it.
    #[arg(long, value_name = "N", value_parser = parse::<NonZeroU32>)]
    threads: Option<NonZeroU32>,
    /// Saves the study in this directory, so that the same command resumes where it was stopped.
    /// Also writes tuning.json, trials.csv and pareto.svg to it.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Writes JSON to standard output; everything else goes to standard error.
    #[arg(long)]
    json: bool,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

/// The program for the interpreter; its argument is a JSON object of the given options.
const PROGRAM: &str = r#"
import sys
try:
    from ftlab._tune_command import main
except ImportError as error:
    sys.exit(f"error: {sys.executable} cannot import ftlab's search ({error}); install the Python package "
             "of this version with pip install 'ftlab[tune]', in a clone pip install '.[tune]', or set FTLAB_PYTHON "
             "to the interpreter that has it")
sys.exit(main(sys.argv[1]))
"#;

/// Hands over to Python (`python` unless FTLAB_PYTHON is set); returns only if that fails.
pub(crate) fn tune(
    command: &Command,
    matches: &ArgMatches,
    python: Option<&OsStr>,
) -> Result<(), CliError> {
    let mut options = given(command, matches);
    options.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    let named = std::env::var_os("FTLAB_PYTHON");
    let python = named.as_deref().or(python).unwrap_or("python3".as_ref());
    let mut interpreter = std::process::Command::new(python);
    interpreter.args(["-c", PROGRAM]).arg(Value::Object(options).to_string());
    Err(cannot_run(python, &replace_by(&mut interpreter)))
}

/// The given options, by name: a text, a list of texts if the option may be repeated, or true.
fn given(command: &Command, matches: &ArgMatches) -> Map<String, Value> {
    let typed =
        |id: &str| matches.value_source(id).is_some_and(|from| from == ValueSource::CommandLine);
    let options = command.get_arguments().filter(|option| typed(option.get_id().as_str()));
    let values = options.map(|option| {
        let id = option.get_id().as_str();
        let mut texts = matches
            .get_raw(id)
            .into_iter()
            .flatten()
            .map(|text| Value::from(text.to_string_lossy()));
        let value = match option.get_action() {
            ArgAction::SetTrue => Value::Bool(true),
            ArgAction::Append => Value::Array(texts.collect()),
            _ => texts.next().unwrap_or(Value::Null),
        };
        (id.to_owned(), value)
    });
    values.collect()
}

/// Replaces this process by `command`, so that signals and exit status are its own.
#[cfg(unix)]
fn replace_by(command: &mut std::process::Command) -> std::io::Error {
    use std::os::unix::process::CommandExt;
    command.exec()
}

/// Runs `command`, and exits with its status.
#[cfg(not(unix))]
fn replace_by(command: &mut std::process::Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(1)),
        Err(error) => error,
    }
}

fn cannot_run(python: &OsStr, error: &std::io::Error) -> CliError {
    let python = python.to_string_lossy();
    let what = if error.kind() == ErrorKind::NotFound {
        "there is no such program".into()
    } else {
        error.to_string()
    };
    CliError::failure(format!(
        "{python}: {what}; the search runs in Python 3.11 or later with the package ftlab, installed by \
         pip install 'ftlab[tune]', in a clone pip install '.[tune]'; set FTLAB_PYTHON for another \
         interpreter"
    ))
}
