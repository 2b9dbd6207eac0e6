//! A command of fio in place of a workload: `ftlab run --ftl 2r++ -- fio --name=a --rw=randwrite`.
//!
//! It comes last, after `--`. The words become one, quoted, which is a workload like any other; it may as well be
//! typed so.

use crate::output::say;
use crate::typed::quote;
use clap::error::{Error, ErrorKind};
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Commands whose workload may be a command of fio; it is their last word, or their first.
const TAKES: &[(&str, bool)] = &[
    ("run", false),
    ("inspect", false),
    ("convert", true),
    ("advise", false),
    ("curve", false),
    ("fit", false),
    ("tune", false),
    ("teach", false),
];

/// What was typed, with a command of fio after `--` as one word where the workload stands.
pub(crate) fn as_workload(typed: &[OsString]) -> Vec<OsString> {
    with_command(typed).unwrap_or_else(|| typed.to_vec())
}

/// What was typed with its command of fio as one word; `None` without one.
fn with_command(typed: &[OsString]) -> Option<Vec<OsString>> {
    let (_, is_first) =
        TAKES.iter().find(|(name, _)| typed.first().is_some_and(|it| it == name))?;
    let end = typed.iter().position(|word| word == "--")?;
    let command = &typed[end + 1..];
    let program = command.iter().find(|word| *word != "sudo")?;
    if !is_fio(program) {
        return None;
    }
    let quoted: Vec<_> =
        command.iter().map(|word| word.to_str().map(quote)).collect::<Option<_>>()?;
    let command = quoted.join(" ");
    let mut words = typed[..end].to_vec();
    words.insert(if *is_first { 1 } else { end }, command.into());
    Some(words)
}

fn is_fio(program: &OsStr) -> bool {
    Path::new(program).file_name().is_some_and(|name| name == "fio")
}

/// Says how a command of fio is given, where one was typed in another way.
pub(crate) fn say_how_to_give_it(error: &Error, typed: &[OsString]) {
    let has_unknown =
        matches!(error.kind(), ErrorKind::UnknownArgument | ErrorKind::ArgumentConflict);
    if has_unknown && typed.iter().any(|word| is_fio(word)) {
        say(
            "\na command of fio comes last, after --: ftlab run --ftl 2r++ -- fio --name=a --rw=randwrite\n",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(typed: &str) -> Vec<String> {
        let typed: Vec<_> = typed.split(' ').map(OsString::from).collect();
        as_workload(&typed).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn a_command_becomes_one_word_where_the_workload_stands() {
        assert_eq!(
            read("run --ftl fifo -- fio --name=a --rw=randwrite:8"),
            ["run", "--ftl", "fifo", "fio --name=a --rw=randwrite:8"]
        );
        assert_eq!(
            read("convert x.iolog -- /usr/bin/fio jobs.fio"),
            ["convert", "/usr/bin/fio jobs.fio", "x.iolog"]
        );
        assert_eq!(read("fit a.log -- sudo fio a b"), ["fit", "a.log", "sudo fio a b"]);
        for other in ["run -- uniform", "record out -- fio --name=a", "run fio:file=a.fio", "list"]
        {
            assert_eq!(read(other).join(" "), other);
        }
        let typed = ["run", "--", "fio", "--name=a b"].map(OsString::from);
        assert_eq!(as_workload(&typed)[1], "fio '--name=a b'");
    }
}
