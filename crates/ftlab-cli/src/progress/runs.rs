//! The progress of many runs.

use super::{STEPS, advance};
use ftlab_experiments::sweep::SweepStatus;
use ftlab_sim::format::grouped;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

pub(crate) struct SweepBar(ProgressBar);

/// Runs and remaining time.
const SWEEP: &str = "{bar:24} {percent:>3}%  {msg}";

impl SweepBar {
    pub(crate) fn new() -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = ProgressBar::new(STEPS);
        if let Ok(style) = ProgressStyle::with_template(SWEEP) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self(bar)
    }

    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    pub(crate) fn update(&self, status: &SweepStatus) {
        if self.0.is_hidden() {
            return;
        }
        let failed = match status.failed {
            0 => String::new(),
            failed => format!(", {} failed", grouped(failed as u64)),
        };
        let left = status
            .left
            .map_or_else(String::new, |left| format!(", {} left", indicatif::HumanDuration(left)));
        let (done, runs) = (grouped(status.done as u64), grouped(status.runs as u64));
        advance(&self.0, (status.share * STEPS as f64) as u64);
        self.0.set_message(format!("{done} of {runs} runs{failed}{left}"));
    }

    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// A spinner for the number of runs so far, where nobody knows how many there will be.
pub(crate) fn runs_so_far(quiet: bool) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let spinner = ProgressBar::new_spinner();
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}
