//! `ftlab drive copy`.

use super::serving::TICK;
use super::token::TokenArgs;
use crate::error::CliError;
use crate::output::print;
use clap::Args;
use ftlab_drive::{Drive, OpenOptions, check_openable};
use ftlab_serve::http::{CopyOrder, CopyStatus, get_json, post_json};
use ftlab_sim::format::grouped;
use ftlab_spec::Spec;
use indicatif::ProgressBar;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::thread;

/// Copies a drive as it is at one moment to a new one.
///
/// A drive that is being served goes on working: what its clients change meanwhile is not in the copy. Its
/// server writes the copy, into the directory that it was given with --copies. The exit code is 1 if pages
/// cannot be read: the copy holds zeros there.
#[derive(Debug, Args)]
pub(crate) struct CopyArgs {
    /// The drive; while it is served with --http and --copies, the URL of its dashboard.
    #[arg(value_name = "FILE|URL")]
    drive: PathBuf,
    /// The new file; of a drive that is being served its name in the directory of the server.
    to: PathBuf,
    /// The FTL of the copy; by default that of the drive.
    #[arg(long, value_name = "FTL")]
    ftl: Option<Spec>,
    #[command(flatten)]
    token: TokenArgs,
    /// Shows no progress.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn copy(args: &CopyArgs) -> Result<(), CliError> {
    let (file, pages, unreadable) =
        match args.drive.to_str().filter(|text| text.starts_with("http://")) {
            Some(url) => copy_served(args, url)?,
            None => copy_file(args)?,
        };
    print(&format!("{file}: {} pages copied\n", grouped(pages.into())))?;
    if unreadable.is_empty() {
        return Ok(());
    }
    let pages: Vec<_> = unreadable.iter().take(20).map(ToString::to_string).collect();
    let more = if unreadable.len() > 20 { ", ..." } else { "" };
    Err(CliError::failure(format!(
        "{} pages cannot be read, the copy holds zeros there: {}{more}",
        unreadable.len(),
        pages.join(", ")
    )))
}

type Made = (String, u32, Vec<u32>);

fn bar(pages: u32, quiet: bool) -> ProgressBar {
    if !quiet && std::io::stderr().is_terminal() {
        ProgressBar::new(pages.into())
    } else {
        ProgressBar::hidden()
    }
}

fn copy_file(args: &CopyArgs) -> Result<Made, CliError> {
    check_openable(&args.drive)?;
    let options = OpenOptions { read_only: true, ..OpenOptions::default() };
    let drive = Drive::open(&args.drive, options)?;
    let bar = bar(drive.logical_pages(), args.quiet);
    let copied = drive.copy(&args.to, args.ftl.clone(), |pages| {
        bar.set_position(pages.into());
        true
    });
    bar.finish_and_clear();
    let copied = copied?;
    let unreadable = copied.unreadable.iter().map(|lpn| lpn.0).collect();
    Ok((args.to.display().to_string(), copied.pages, unreadable))
}

fn copy_served(args: &CopyArgs, url: &str) -> Result<Made, CliError> {
    let token = args.token.token()?;
    let name = name(&args.to)?;
    let order = CopyOrder { name, ftl: args.ftl.as_ref().map(ToString::to_string) };
    let mut status: CopyStatus = post_json(url, "/api/copy", token.as_deref(), &order)?;
    let bar = bar(status.logical_pages, args.quiet);
    while status.is_running {
        bar.set_position(status.done_pages.into());
        thread::sleep(TICK);
        status = get_json(url, "/api/copy", token.as_deref())?;
    }
    bar.finish_and_clear();
    let CopyStatus { file, copied_pages, unreadable_pages, error, .. } = status;
    match (error, copied_pages, file) {
        (None, Some(pages), Some(file)) => Ok((file, pages, unreadable_pages)),
        (error, ..) => {
            let why = error.unwrap_or_else(|| "it has been forgotten".to_owned());
            Err(CliError::failure(format!("{url}: no copy: {why}")))
        }
    }
}

/// The name of a file without a directory.
fn name(path: &Path) -> Result<String, CliError> {
    let name = path.to_str().filter(|_| path.file_name() == Some(path.as_os_str()));
    name.map(str::to_owned).ok_or_else(|| {
        CliError::usage(format!(
            "{}: a server copies into its own directory (--copies); give only a name",
            path.display()
        ))
    })
}
