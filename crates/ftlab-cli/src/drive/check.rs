//! `ftlab drive check`.

use crate::error::CliError;
use crate::output::print;
use clap::Args;
use std::fmt::Write;
use std::path::PathBuf;

/// Verifies every checksum, the mapping and the counters of a drive that is not being served;
/// changes nothing. The exit code is 1 if anything is damaged.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The drive.
    file: PathBuf,
}

pub(crate) fn check(args: &CheckArgs) -> Result<(), CliError> {
    ftlab_drive::check_openable(&args.file)?;
    let checked = ftlab_drive::check(&args.file)?;
    let recovery = &checked.recovery;
    let mut text = format!(
        "drive {}, {}: {} pages hold data\n",
        checked.superblock.uuid, checked.superblock.ftl, checked.pages
    );
    if let Some(why) = &recovery.by_map {
        let _ = writeln!(text, "the next start searches for its pages: {why}");
    }
    if recovery.repeated > 0 || recovery.dropped > 0 {
        let _ = writeln!(
            text,
            "it was not closed: the next start replays {} operations of the journal, and \
             discards {} that were never durable",
            recovery.repeated, recovery.dropped
        );
    }
    if let Some(reason) = &recovery.failed {
        let _ = writeln!(text, "the FTL could not execute the last one: {reason}");
    }
    for damage in &checked.damage {
        let _ = writeln!(text, "damaged: {damage}");
    }
    for note in &checked.notes {
        let _ = writeln!(text, "incomplete but not needed, as a crash may leave it: {note}");
    }
    if checked.damage.is_empty() {
        text.push_str("no damage\n");
        return print(&text);
    }
    print(&text)?;
    let file = args.file.display();
    Err(CliError::failure(format!("{file} is damaged; everything not listed above can be read")))
}
