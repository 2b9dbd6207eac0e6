//! The progress bar, or a counter if the end is not known; on a terminal only.

#[cfg(feature = "lab")]
mod runs;

#[cfg(feature = "lab")]
pub(crate) use runs::{SweepBar, runs_so_far};

use ftlab_sim::format::{grouped, significant};
use ftlab_sim::{Phase, Prepared, Progress, Status};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::time::Duration;

/// Steps of the bar.
const STEPS: u64 = 10_000;

/// If the amount of work is known.
const SHARE: &str = "{prefix} {bar:24} {percent:>3}%  {msg}  {eta} left";

/// If it is not.
const NO_SHARE: &str = "{prefix} {spinner} {pos} page writes  {msg}";

/// Runs `work` while showing `what`: for work without a measure of progress.
pub(crate) fn with_spinner<T>(quiet: bool, what: &'static str, work: impl FnOnce() -> T) -> T {
    if quiet || !std::io::stderr().is_terminal() {
        return work();
    }
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(Duration::from_millis(200));
    let result = work();
    spinner.finish_and_clear();
    result
}

/// Moves a bar forward to `reached`, and never backward: what is left may turn out to be more.
pub(crate) fn advance(bar: &ProgressBar, reached: u64) {
    bar.set_position(bar.position().max(reached));
}

pub(crate) struct Bar {
    inner: ProgressBar,
    ftls: Vec<String>,
    phase: Option<Phase>,
    has_share: bool,
}

impl Bar {
    pub(crate) fn new(prepared: &Prepared) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = Self {
            inner: ProgressBar::new(STEPS),
            ftls: prepared.config().ftls.clone(),
            phase: None,
            has_share: true,
        };
        bar.set_style(SHARE);
        bar
    }

    pub(crate) fn hidden() -> Self {
        Self { inner: ProgressBar::hidden(), ftls: Vec::new(), phase: None, has_share: true }
    }

    fn set_style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.inner.set_style(style.progress_chars("=> "));
        }
    }

    /// Advances the bar, or the counter if the amount of work is unknown.
    fn show(&mut self, status: &Status) {
        if self.has_share != status.share.is_some() {
            self.has_share = status.share.is_some();
            // Steps and page writes are different units.
            self.inner.set_position(0);
            self.set_style(if self.has_share { SHARE } else { NO_SHARE });
        }
        let reached = status.share.map_or(status.writes, |share| (share * STEPS as f64) as u64);
        advance(&self.inner, reached);
    }

    pub(crate) fn finish(&self) {
        self.inner.finish_and_clear();
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.inner.finish_and_clear();
    }
}

impl Progress for Bar {
    fn update(&mut self, status: &Status) -> ControlFlow<()> {
        if self.inner.is_hidden() {
            return ControlFlow::Continue(());
        }
        let goes_on = matches!(self.phase, Some(Phase::LookAhead | Phase::Fill));
        if goes_on && self.phase != Some(status.phase) {
            // The first pass and the fill have other speeds, and bars of their own.
            self.inner.reset();
        }
        self.phase = Some(status.phase);
        self.inner.set_prefix(match status.phase {
            Phase::LookAhead => "ahead   ",
            Phase::Fill => "filling ",
            Phase::WarmUp => "warm-up ",
            Phase::Count => "running ",
        });
        let wafs: Vec<_> = self
            .ftls
            .iter()
            .zip(&status.wafs)
            .filter_map(|(ftl, waf)| Some(format!("{ftl} {}", significant((*waf)?, 4))))
            .collect();
        let message = match wafs.as_slice() {
            [] if status.share.is_some() => format!("{} page writes", grouped(status.writes)),
            [] => String::new(),
            wafs => format!("WAF {}", wafs.join(", ")),
        };
        self.inner.set_message(message);
        self.show(status);
        ControlFlow::Continue(())
    }
}
