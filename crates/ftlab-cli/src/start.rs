//! `ftlab start`: a few questions, and the command that answers them, run.

use crate::error::CliError;
use crate::output::say;
use crate::typed::command;
use clap::{Args, Subcommand};
use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, stdin};

/// Asks what you have and what you want to know, and runs the command that answers it.
///
/// On a terminal it asks, at most three questions. Elsewhere, or to skip them, say it with the
/// arguments.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  ftlab start
  ftlab start trace trace.parquet
  ftlab start database -- sh load.sh
  ftlab start drive 8GiB
  ftlab start teach")]
pub(crate) struct StartArgs {
    #[command(subcommand)]
    path: Option<StartPath>,
}

#[derive(Debug, Subcommand)]
enum StartPath {
    /// What does this trace do to a drive? Two FTLs on it, and a report.
    Trace {
        /// The trace file, or a generator.
        workload: String,
    },
    /// How much over-provisioning does a database need? Records a command that loads it, and advises.
    Database {
        /// The directory with its files.
        #[arg(long, value_name = "DIR", default_value = ".")]
        dir: String,
        /// The command that loads it, after --.
        #[arg(last = true, required = true, value_name = "COMMAND")]
        command: Vec<String>,
    },
    /// A live drive of this size in a file, for real programs: creates it, and says how to serve it.
    Drive {
        /// What the host can address, such as 8GiB.
        size: String,
    },
    /// Garbage collection step by step, on a page to show in class.
    Teach,
}

/// The questions after the first: what is asked, and what an empty answer means.
type Question = (&'static str, &'static str);

const FIRST: &str = "What do you have?
  1  a trace, or a workload by name: which FTL suits it?
  2  a database, or another program: how much over-provisioning does it need?
  3  programs that need a drive: a live one, in a file
  4  a class to teach: garbage collection, step by step
";

const TRACE: Question = ("The trace, or a workload such as zipf:theta=0.9", "hotcold");
const DIRECTORY: Question = ("The directory with its files", ".");
const LOAD: Question = ("The command that loads it, such as sh load.sh", "");
const SIZE: Question = ("Size of the drive", "1GiB");

/// The commands, with their arguments, that `path` takes.
fn commands(path: &StartPath) -> Vec<Vec<String>> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match path {
        StartPath::Trace { workload } => {
            let mut run =
                words(&["run", workload, "--ftl", "1r-greedy,2r++", "--report", "report.html"]);
            if !std::path::Path::new(workload).exists() {
                run.extend(words(&["--logical", "256MiB"]));
            }
            vec![run]
        }
        StartPath::Database { dir, command } => {
            let mut record = words(&["record", "--dir", dir, "--out", "database.parquet", "--"]);
            record.extend(command.iter().cloned());
            let advise =
                ["advise", "database.parquet", "--target-waf", "1.5", "--report", "advice.html"];
            vec![record, words(&["inspect", "database.parquet"]), words(&advise)]
        }
        StartPath::Drive { size } => vec![words(&["drive", "create", "drive.ftl", "--size", size])],
        StartPath::Teach => {
            vec![words(&["teach", "--ftl", "1r-greedy,2r-fifo", "--out", "lesson.html"])]
        }
    }
}

/// What is to be looked at, or done, after the commands.
fn after(path: &StartPath) -> &'static str {
    match path {
        StartPath::Trace { .. } => {
            "open report.html; more FTLs: ftlab list ftls, and ftlab compare"
        }
        StartPath::Database { .. } => {
            "open advice.html; what it says is in docs/over-provisioning.md"
        }
        StartPath::Drive { .. } => {
            "serve it: ftlab drive serve drive.ftl --nbd 127.0.0.1:10809; docs/drive.md says how to mount it"
        }
        StartPath::Teach => "open lesson.html; more for a course is in docs/paths/teacher.sh",
    }
}

/// Runs every command of the path with `run`, which returns the exit status, until one fails.
pub(crate) fn start(args: StartArgs, run: impl Fn(Vec<OsString>) -> u8) -> Result<u8, CliError> {
    let path = match args.path {
        Some(path) => path,
        None if stdin().is_terminal() => ask(&mut stdin().lock())?,
        None => {
            return Err(CliError::usage(
                "standard input is no terminal, so nothing can be asked; name a path: ftlab start trace FILE, \
                 database -- COMMAND, drive SIZE or teach",
            ));
        }
    };
    for words in commands(&path) {
        let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
        say(&format!("{}\n", command(&words)));
        let status = run(words);
        if status != 0 {
            return Ok(status);
        }
    }
    say(&format!("{}\n", after(&path)));
    Ok(0)
}

/// The path that the answers in `input` lead to.
fn ask(input: &mut impl BufRead) -> Result<StartPath, CliError> {
    say(FIRST);
    let choice = answer(input, ("1 to 4", "1"))?;
    Ok(match choice.as_str() {
        "1" => StartPath::Trace { workload: answer(input, TRACE)? },
        "2" => {
            let dir = answer(input, DIRECTORY)?;
            let load = answer(input, LOAD)?;
            let command = shlex::split(&load).filter(|command| !command.is_empty());
            let command = command.ok_or_else(|| {
                CliError::usage(format!(
                    "{load:?} is no command; type one as in a shell, such as sh load.sh"
                ))
            })?;
            StartPath::Database { dir, command }
        }
        "3" => StartPath::Drive { size: answer(input, SIZE)? },
        "4" => StartPath::Teach,
        other => return Err(CliError::usage(format!("{other:?} is not a number from 1 to 4"))),
    })
}

/// The next line of `input`; what is usual where it is empty.
fn answer(input: &mut impl BufRead, (question, usual): Question) -> Result<String, CliError> {
    let hint = if usual.is_empty() { String::new() } else { format!(" [{usual}]") };
    say(&format!("{question}{hint}: "));
    let mut line = String::new();
    let read = input.read_line(&mut line);
    let bytes = read.map_err(|error| CliError::failure(format!("standard input: {error}")))?;
    if bytes == 0 {
        return Err(CliError::usage(
            "the answers ended; name a path instead, such as ftlab start teach",
        ));
    }
    let line = line.trim();
    Ok(if line.is_empty() { usual.to_owned() } else { line.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(answers: &str) -> Result<Vec<String>, CliError> {
        let path = ask(&mut answers.as_bytes())?;
        Ok(commands(&path).into_iter().map(|words| words.join(" ")).collect())
    }

    #[test]
    fn answers_lead_to_commands() {
        for (answers, expected) in [
            (
                "\n\n",
                vec!["run hotcold --ftl 1r-greedy,2r++ --report report.html --logical 256MiB"],
            ),
            (
                "2\ndata\nsh 'my load.sh' 5\n",
                vec![
                    "record --dir data --out database.parquet -- sh my load.sh 5",
                    "inspect database.parquet",
                    "advise database.parquet --target-waf 1.5 --report advice.html",
                ],
            ),
            ("3\n8GiB\n", vec!["drive create drive.ftl --size 8GiB"]),
            ("4\n", vec!["teach --ftl 1r-greedy,2r-fifo --out lesson.html"]),
        ] {
            assert_eq!(path(answers).unwrap_or_default(), expected, "{answers:?}");
        }
        for wrong in ["5\n", "", "2\n\n\n", "3\n"] {
            assert!(path(wrong).is_err(), "{wrong:?}");
        }
    }
}
