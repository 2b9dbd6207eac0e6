//! The progress bar, on a terminal only.

use ftlab_sim::format::{grouped, significant};
use ftlab_sim::{Phase, Prepared, Progress, Status};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// Steps of the bar.
const STEPS: u64 = 10_000;

pub(crate) struct Bar {
    inner: ProgressBar,
    ftls: Vec<String>,
    phase: Option<Phase>,
}

impl Bar {
    pub(crate) fn new(prepared: &Prepared) -> Self {
        if !std::io::stderr().is_terminal() {
            return Self::hidden();
        }
        let bar = ProgressBar::new(STEPS);
        let template = "{prefix} {bar:24} {percent:>3}%  {msg}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self { inner: bar, ftls: prepared.config().ftls.clone(), phase: None }
    }

    pub(crate) fn hidden() -> Self {
        Self { inner: ProgressBar::hidden(), ftls: Vec::new(), phase: None }
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
    fn update(&mut self, status: &Status) {
        if self.inner.is_hidden() {
            return;
        }
        if self.phase == Some(Phase::Fill) && status.phase != Phase::Fill {
            // Filling goes at another speed, and has a bar of its own.
            self.inner.reset();
        }
        self.phase = Some(status.phase);
        self.inner.set_prefix(match status.phase {
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
        let message = if wafs.is_empty() {
            format!("{} writes", grouped(status.writes))
        } else {
            format!("WAF {}", wafs.join(", "))
        };
        self.inner.set_message(message);
        self.inner.set_position((status.share.unwrap_or(0.0) * STEPS as f64) as u64);
    }
}
