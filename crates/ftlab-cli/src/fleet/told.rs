//! What is said of a fleet in the terminal.

use crate::output::aligned;
use crate::progress::advance;
use crate::table::ruled;
use ftlab_fleet::{CellName, CellResult, Flagged, FtlTotals, Manifest, OnPlan, Totals};
use ftlab_sim::format::{bytes, grouped, percent, significant};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;

/// Lines about volumes that are shown; all are in the files.
const FLAGS_MAX: usize = 10;

/// Steps of the bar.
const STEPS: u64 = 1000;

/// How far a fleet is.
pub(super) struct Told(ProgressBar);

impl Told {
    pub(super) fn new(quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::new(STEPS);
        if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        Self(bar)
    }

    fn show(&self, share: f64, message: String) {
        advance(&self.0, (share * STEPS as f64) as u64);
        self.0.set_message(message);
    }

    pub(super) fn ran(
        &self,
        done: usize,
        of: usize,
        name: &CellName,
        outcome: &Result<CellResult, String>,
    ) {
        if done == 1 {
            self.0.set_position(0);
        }
        let waf = outcome.as_ref().map_or_else(
            |_| "failed".to_owned(),
            |result| format!("WAF {}", significant(result.run.headline_waf(), 4)),
        );
        let (all, so_far) = (grouped(of as u64), grouped(done as u64));
        let text = format!("run {so_far} of {all}: {} on volume {}, {waf}", name.ftl, name.volume);
        self.show(done as f64 / of.max(1) as f64, text);
    }

    pub(super) fn finish(&self) {
        self.0.finish_and_clear();
        self.0.reset();
    }
}

impl OnPlan for Told {
    fn read(&self, done: usize, of: usize, share: f64) {
        let share_of_all = (done as f64 + share) / of.max(1) as f64;
        self.show(
            share_of_all,
            format!(
                "reading trace {} of {}",
                grouped((done + 1).min(of) as u64),
                grouped(of as u64)
            ),
        );
    }

    fn inspected(&self, done: usize, of: usize) {
        if done == 1 {
            self.0.set_position(0);
        }
        let text = format!("looking at volume {} of {}", grouped(done as u64), grouped(of as u64));
        self.show(done as f64 / of.max(1) as f64, text);
    }
}

/// Which volumes there are, and which are run.
pub(super) fn head(manifest: &Manifest) -> String {
    let requests: u64 = manifest.volumes.iter().map(|of| of.volume.all_requests()).sum();
    let written = |is_counted: fn(&ftlab_fleet::PlannedVolume) -> bool| {
        let counted = manifest.volumes.iter().filter(|of| is_counted(of));
        counted.filter_map(|of| Some(of.facts.as_ref()?.written_bytes)).sum::<u64>()
    };
    let traces = match manifest.inputs.len() {
        1 => "1 trace".to_owned(),
        traces => format!("{} traces", grouped(traces as u64)),
    };
    let selected = manifest.selected().count();
    let mut lines = vec![
        (
            "volumes",
            format!(
                "{} in {traces}: {} requests, {} written",
                grouped(manifest.volumes.len() as u64),
                grouped(requests),
                bytes(written(|_| true))
            ),
        ),
        (
            "run",
            format!(
                "{} of them, with {} written: {}",
                grouped(selected as u64),
                bytes(written(|of| of.is_selected)),
                manifest.selection
            ),
        ),
    ];
    lines.extend(manifest.selection_note.iter().map(|note| ("selection", note.clone())));
    lines.extend(manifest.problems.iter().take(FLAGS_MAX).map(|text| ("problem", text.clone())));
    let more = manifest.problems.len().saturating_sub(FLAGS_MAX);
    if more > 0 {
        lines.push(("", format!("and {} more, in totals.json", grouped(more as u64))));
    }
    aligned(&lines) + "\n"
}

/// What FTLs come to.
pub(super) fn table(totals: &Totals) -> String {
    let has_ops =
        totals.ftls.windows(2).any(|pair| pair[0].op_ratio.total_cmp(&pair[1].op_ratio).is_ne());
    let has_rivals = totals.ftls.iter().any(|of| of.ftl != totals.baseline);
    let mut headings = vec!["FTL"];
    headings.extend(has_ops.then_some("OP"));
    headings.extend([
        "volumes\ncompared",
        "WAF of\nall bytes",
        "mean of\nvolumes",
        "median",
        "5%",
        "95%",
    ]);
    headings.extend(
        has_rivals.then_some(["less, of\nall bytes", "less,\nmedian"]).into_iter().flatten(),
    );
    let headings: Vec<_> = headings.into_iter().map(str::to_owned).collect();
    ruled(&headings, totals.ftls.iter().map(|of| line(of, has_ops, has_rivals, &totals.baseline)))
}

fn line(of: &FtlTotals, has_ops: bool, has_rivals: bool, baseline: &str) -> Vec<String> {
    let waf = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |waf| significant(waf, 4));
    let quantile = |place: usize| waf(of.waf.map(|waf| waf.quantiles[place]));
    let mut cells = vec![of.ftl.clone()];
    cells.extend(has_ops.then(|| percent(of.op_ratio)));
    cells.extend([
        grouped(of.compared as u64),
        waf(of.waf_of_all),
        waf(of.waf.map(|waf| waf.mean)),
        quantile(3),
        quantile(1),
        quantile(5),
    ]);
    if has_rivals {
        let share = |value: Option<f64>| {
            let told = value.filter(|_| of.ftl != baseline);
            told.map_or_else(|| "-".to_owned(), |less| format!("{:.1}%", 100.0 * less))
        };
        cells.push(share(of.reduction_of_all));
        cells.push(share(of.reduction.map(|less| less.quantiles[3])));
    }
    cells
}

/// Volumes that are in no mean, and what is wrong with others.
pub(super) fn flags(totals: &Totals) -> String {
    let shown = totals.flagged.iter().take(FLAGS_MAX);
    let mut lines: Vec<_> = shown.map(flag).collect();
    let more = totals.flagged.len().saturating_sub(FLAGS_MAX);
    if more > 0 {
        lines.push(format!("and {} more, in totals.json\n", grouped(more as u64)));
    }
    lines.concat()
}

fn flag(of: &Flagged) -> String {
    let with = of.ftl.as_ref().map_or_else(String::new, |ftl| format!(" with {ftl}"));
    let state = match of.state {
        "evidence" | "not selected" => String::new(),
        state => format!("{state}, in no mean: "),
    };
    format!("volume {}{with}: {state}{}\n", of.volume, of.why)
}
