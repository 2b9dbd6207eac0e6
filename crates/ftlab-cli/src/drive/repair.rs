//! `ftlab drive repair`.

use crate::error::CliError;
use crate::output::print;
use clap::Args;
use ftlab_drive::{Checked, MediaError, Restored, check_openable};
use serde::Serialize;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Says what is wrong with a drive and what repairing it would lose; repairs it with --yes, or saves what can be
/// found on it to a new drive with --to.
///
/// Superblocks, checkpoints and journal exist twice, and are written anew from the copies that can be read. A
/// journal that is damaged in both copies is cut off there: what was written after that is lost. Without a
/// checkpoint a drive cannot be repaired, but --to finds the newest version of each page by reading all of the
/// medium; pages that had been trimmed may come back.
#[derive(Debug, Args)]
pub(crate) struct RepairArgs {
    /// The drive.
    file: PathBuf,
    /// Repairs it.
    #[arg(long, conflicts_with = "to")]
    yes: bool,
    /// Saves what can be found to a new drive in this file, and leaves the old one as it is.
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
    /// Writes what was found and done to this file, as JSON.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// What was found, and what was done.
#[derive(Debug, Default, Serialize)]
struct Report {
    /// Damaged or incomplete structures, and damaged pages.
    damage: Vec<String>,
    /// Operations that had been flushed and are lost.
    lost_operations: u64,
    /// Pages that cannot be read until they are written.
    unreadable_pages: u64,
    /// Whether the drive was repaired or restored.
    done: bool,
    /// Pages in the new drive.
    restored_pages: Option<u32>,
    /// Of these, those that are an older version.
    older_pages: Vec<u32>,
    /// Pages that were not found.
    lost_pages: Vec<u32>,
}

pub(crate) fn repair(args: &RepairArgs) -> Result<(), CliError> {
    check_openable(&args.file)?;
    let report = match &args.to {
        Some(to) => restore(&args.file, to)?,
        None => repair_in_place(args)?,
    };
    let Some(path) = &args.report else { return Ok(()) };
    let text = serde_json::to_string_pretty(&report).map_err(|error| error.to_string());
    let text = text.map_err(CliError::failure)?;
    Ok(ftlab_trace::replace_file(path, |file| file.write_all(text.as_bytes()))?)
}

/// The drive as repairing it would leave it.
fn examine(file: &Path) -> Result<Checked, CliError> {
    match ftlab_drive::check(file) {
        Err(MediaError::Journal { .. }) => Ok(ftlab_drive::check_repaired(file)?),
        Err(error @ MediaError::NoCheckpoint { .. }) => {
            let file = file.display();
            Err(CliError::failure(format!(
                "{error}: it cannot be repaired; save what its pages hold with `ftlab drive repair {file} --to NEW`"
            )))
        }
        checked => Ok(checked?),
    }
}

fn repair_in_place(args: &RepairArgs) -> Result<Report, CliError> {
    let checked = examine(&args.file)?;
    let report = Report {
        lost_operations: checked.recovery.lost,
        unreadable_pages: checked.recovery.damaged_pages,
        damage: checked.damage.into_iter().chain(checked.notes).collect(),
        ..Report::default()
    };
    let mut text = String::new();
    for damage in &report.damage {
        let _ = writeln!(text, "damaged: {damage}");
    }
    if report.damage.is_empty() && report.lost_operations == 0 {
        print("no damage: nothing to repair\n")?;
        return Ok(report);
    }
    if report.lost_operations > 0 {
        let _ = writeln!(
            text,
            "the journal is damaged in both copies: {} page writes and trims that had been flushed are lost",
            report.lost_operations
        );
    }
    if report.unreadable_pages > 0 {
        let _ = writeln!(
            text,
            "{} pages cannot be read, repaired or not, until they are written",
            report.unreadable_pages
        );
    }
    if !args.yes {
        text.push_str(
            "nothing was changed: repeat it with --yes to write all other structures anew\n",
        );
        print(&text)?;
        return Ok(report);
    }
    ftlab_drive::repair(&args.file)?;
    text.push_str("repaired\n");
    print(&text)?;
    Ok(Report { done: true, ..report })
}

fn restore(file: &Path, to: &Path) -> Result<Report, CliError> {
    let Restored { pages, older, lost } = ftlab_drive::restore(file, to)?;
    let mut text = format!("{pages} pages were found and are on {}\n", to.display());
    if !older.is_empty() {
        let _ =
            writeln!(text, "of these, {} are older versions: the newest is damaged", older.len());
    }
    if !lost.is_empty() {
        let _ = writeln!(text, "{} pages are lost", lost.len());
    }
    print(&text)?;
    let numbers = |pages: Vec<ftlab_drive::Lpn>| pages.into_iter().map(|lpn| lpn.0).collect();
    Ok(Report {
        done: true,
        restored_pages: Some(pages),
        older_pages: numbers(older),
        lost_pages: numbers(lost),
        ..Report::default()
    })
}
