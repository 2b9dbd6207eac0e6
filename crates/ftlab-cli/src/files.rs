//! The files that `ftlab run` writes.

use crate::error::{CliError, Results};
use crate::figure::{FigureSize, check_figure, write_figure};
use crate::load::{self, Loads};
use crate::output::say;
use crate::report::{check_page, check_report, write_report};
use clap::Args;
use ftlab_experiments::timeline::{SLOWEST, timeline};
use ftlab_experiments::{check_results, write_results};
use ftlab_sim::{Experiment, ExperimentResult, Prepared};
use ftlab_trace::{check_file, replace_file};
use std::io::Write;
use std::path::PathBuf;

/// Which files.
#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// Writes results.json and series.parquet to this directory: all that `ftlab report` needs.
    /// Also observes pages and blocks, which makes FTLs slower.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Writes an HTML page with tables, charts and a picture of the flash to this file. Also
    /// observes pages and blocks.
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
    /// Measures how long requests take at these loads, shares of the requests a second that each FTL can do:
    /// 0.1..0.95, or 0.5,0.7,0.9. Needs --timing with unit=request. --figure plots the curve, and --report writes a
    /// page with it.
    #[arg(long, value_name = "LOADS", requires = "timing", conflicts_with = "out")]
    load: Option<Loads>,
    /// Writes what the LUNs did around the ten slowest requests of each FTL to this file, in the trace-event format
    /// that Perfetto and Chrome open; --report draws the slowest. Needs --timing with unit=request.
    #[arg(long, value_name = "FILE.json", requires = "timing", conflicts_with = "load")]
    timeline: Option<PathBuf>,
    /// Plots the running write amplification to this file, which ends in .svg, .png or .pdf.
    #[arg(long, value_name = "FILE")]
    figure: Option<PathBuf>,
    #[command(flatten)]
    size: FigureSize,
}

impl FileArgs {
    /// Refuses names that say that something else is expected.
    pub(crate) fn check_names(&self) -> Result<(), CliError> {
        self.report.as_deref().map_or(Ok(()), check_page)
    }

    /// Whether load-latency curves are asked for, instead of a run.
    pub(crate) fn asks_for_loads(&self) -> bool {
        self.load.is_some()
    }

    /// Measures and writes them.
    pub(crate) fn run_loads(
        &self,
        experiment: &Experiment,
        json: bool,
        quiet: bool,
        command: String,
    ) -> Result<(), CliError> {
        let Self { load: Some(loads), figure, report, size, .. } = self else { return Ok(()) };
        let (figure, report) = (figure.as_deref(), report.as_deref());
        let output = load::Output { json, quiet, figure, report, size: *size, command };
        load::run(experiment, loads, &output)
    }

    /// Checks before a run whether the files of its FTLs can be written.
    pub(crate) fn check(&self, prepared: &Prepared, ftls: usize) -> Result<(), CliError> {
        if let Some(directory) = &self.out {
            check_results(directory)?;
        }
        if let Some(path) = &self.figure {
            check_figure(prepared, path)?;
        }
        self.timeline.as_deref().map(check_file).transpose()?;
        if let Some(path) = &self.report {
            check_report(ftls, path)?;
        }
        Ok(())
    }

    /// How many of the slowest requests have to be kept.
    pub(crate) fn slowest(&self) -> usize {
        if self.timeline.is_some() { SLOWEST } else { 0 }
    }

    /// Whether pages and blocks have to be observed.
    pub(crate) fn observe(&self) -> bool {
        self.out.is_some() || self.report.is_some()
    }

    /// Writes the files that were asked for.
    pub(crate) fn write(&self, result: &ExperimentResult, quiet: bool) -> Result<(), CliError> {
        let wrote = |text: String| {
            if !quiet {
                say(&format!("wrote {text}\n"));
            }
        };
        let mut results = Results::default();
        if let Some(directory) = &self.out {
            let files = write_results(result, directory).map_err(CliError::from);
            results.note(files.map(|files| {
                let names: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
                wrote(names.join(" and "));
            }));
        }
        if let Some(path) = &self.figure {
            results.note(write_figure(result, self.size, path));
        }
        if let Some(path) = &self.timeline {
            let text = timeline(result).unwrap_or_default();
            let written = replace_file(path, |file| file.write_all(text.as_bytes()));
            results.note(written.map_err(CliError::from).map(|()| {
                wrote(format!("{}; open it at https://ui.perfetto.dev", path.display()));
            }));
        }
        if let Some(path) = &self.report {
            results.note(write_report(result, path).map(|()| wrote(path.display().to_string())));
        }
        results.all()
    }
}
