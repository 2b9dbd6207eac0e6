//! `ftlab drive scrub`, and scrubbing behind serving.

use super::scrubber::Found;
use super::serving::{notice, recovered};
use crate::error::CliError;
use crate::output::{print, say};
use clap::Args;
use ftlab_drive::{Drive, Lpn, OpenOptions, check_openable};

use std::path::PathBuf;

/// Reads every page of a drive that is not being served from the medium, and writes again what is damaged
/// there but can still be read, and both checkpoints. The exit code is 1 if a page cannot be read.
///
/// `ftlab drive serve --scrub RATE` does the same while it serves.
#[derive(Debug, Args)]
pub(crate) struct ScrubArgs {
    /// The drive.
    file: PathBuf,
}

pub(crate) fn scrub(args: &ScrubArgs) -> Result<(), CliError> {
    check_openable(&args.file)?;
    let options = OpenOptions { notice: Some(notice()), ..OpenOptions::default() };
    let drive = Drive::open(&args.file, options)?;
    say(&recovered(&args.file, drive.recovery()));
    let failed = |error: std::io::Error| CliError::failure(error.to_string());
    let mut found = Found::default();
    for lpn in (0..drive.logical_pages()).map(Lpn) {
        found.add(lpn, drive.scrub(lpn).map_err(failed)?);
    }
    for _ in 0..2 {
        drive.checkpoint().map_err(failed)?;
    }
    drive.close().map_err(failed)?;
    print(&found.text())?;
    if found.unreadable.is_empty() {
        return Ok(());
    }
    let pages: Vec<_> = found.unreadable.iter().take(20).map(ToString::to_string).collect();
    let pages = pages.join(", ");
    Err(CliError::failure(format!("pages that cannot be read: {pages}")))
}
