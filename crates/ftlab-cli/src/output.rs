//! Writing to standard output and standard error.

use crate::error::CliError;
#[cfg(feature = "lab")]
use ftlab_experiments::not_reused;
#[cfg(feature = "lab")]
use ftlab_sim::evidence::ENOUGH_DRIVE_WRITES;
#[cfg(feature = "lab")]
use ftlab_sim::format::significant;
use ftlab_trace::room;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};
#[cfg(feature = "lab")]
use std::path::Path;

/// Writes to standard output. A closed pipe is not an error: the reader has seen enough.
pub(crate) fn print(text: &str) -> Result<(), CliError> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            let remedy = room(&error).map_or_else(String::new, |room| {
                format!("; {room} or send it elsewhere, and repeat the command")
            });
            Err(CliError::failure(format!("standard output: {error}{remedy}")))
        }
        _ => Ok(()),
    }
}

/// Writes to standard error; failures are ignored, since nothing can be done about them.
pub(crate) fn say(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

#[cfg(feature = "lab")]
/// Says how many results of a store will not be used again, if there are any.
pub(crate) fn say_not_reused(results: usize, store: &Path) {
    if let Some(text) = not_reused(results, store) {
        say(&(text + "\n"));
    }
}

/// Writes a value as JSON to standard output.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let mut text = serde_json::to_string_pretty(value)
        .map_err(|error| CliError::failure(format!("the result cannot be written: {error}")))?;
    text.push('\n');
    print(&text)
}

/// Lines of a label and a value, with the values aligned.
pub(crate) fn aligned(lines: &[(&str, String)]) -> String {
    let width = lines.iter().map(|(label, _)| label.len()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for (label, value) in lines {
        text.extend([&format!("{label:width$}"), value.as_str(), "\n"]);
    }
    text
}

#[cfg(feature = "lab")]
/// A line that says so if a trace is too short to conclude from.
pub(crate) fn too_short(drive_writes: f64) -> Option<(&'static str, String)> {
    (drive_writes < ENOUGH_DRIVE_WRITES).then(|| {
        (
            "too short",
            format!(
                "{} drive writes; {ENOUGH_DRIVE_WRITES} or more speak for themselves. `ftlab advise` and `ftlab run \
                 --until steady --repeat` run a shorter trace again and again",
                significant(drive_writes, 2)
            ),
        )
    })
}
