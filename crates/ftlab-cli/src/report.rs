//! `ftlab report`, and the page that `ftlab run --report` writes.

use crate::error::CliError;
use crate::figure;
use crate::output::say;
use clap::Args;
use ftlab_experiments::read_results;
use ftlab_report::ReportError;
use ftlab_sim::ExperimentResult;
use ftlab_trace::{check_file, replace_file};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes an HTML page with tables, charts and a picture of the flash from the results of an
/// earlier run.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  ftlab run trace.parquet --ftl 1r-greedy --ftl 2r++ --out results
  ftlab report results")]
pub(crate) struct ReportArgs {
    /// The directory that `ftlab run --out` wrote.
    directory: PathBuf,
    /// The HTML page; by default report.html in that directory.
    #[arg(long, value_name = "FILE.html")]
    out: Option<PathBuf>,
    /// Draws the flash at four points in time to this file, which ends in .svg or .png, instead of
    /// the page.
    #[arg(long, value_name = "FILE", conflicts_with = "out")]
    flash: Option<PathBuf>,
}

pub(crate) fn report(args: &ReportArgs) -> Result<(), CliError> {
    let result = read_results(&args.directory)?;
    if let Some(path) = &args.flash {
        figure::check(path)?;
        figure::write_flash(&result, path)?;
        say(&format!("wrote {}\n", path.display()));
        return Ok(());
    }
    let path = args.out.clone().unwrap_or_else(|| args.directory.join("report.html"));
    check_page(&path)?;
    write_report(&result, &path)?;
    say(&format!("wrote {}\n", path.display()));
    Ok(())
}

/// Checks before a run whether a page of this many FTLs can be written to `path`.
pub(crate) fn check_report(ftls: usize, path: &Path) -> Result<(), CliError> {
    ftlab_report::check(ftls)?;
    check_page(path)?;
    Ok(check_file(path)?)
}

/// Refuses names that say that something else than a page is expected.
pub(crate) fn check_page(path: &Path) -> Result<(), CliError> {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    match ending.as_deref() {
        None | Some("html" | "htm") => Ok(()),
        Some(ending) => Err(CliError::usage(format!(
            "{}: a report is an HTML page, not .{ending}; name it .html, and print it from a browser for a PDF",
            path.display()
        ))),
    }
}

/// Writes the page that shows `result`.
pub(crate) fn write_report(result: &ExperimentResult, path: &Path) -> Result<(), CliError> {
    let page = ftlab_report::page(result)?;
    Ok(replace_file(path, |file| file.write_all(page.as_bytes()))?)
}

impl From<ReportError> for CliError {
    fn from(error: ReportError) -> Self {
        match error {
            ReportError::TooManyFtls { .. } | ReportError::TooManySteps { .. } => {
                Self::usage(error.to_string())
            }
            _ => Self::failure(error.to_string()),
        }
    }
}
