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
    if !manifest.packs.is_empty() {
        lines.push(("drives", packed(manifest)));
    }
    lines.extend(manifest.selection_note.iter().map(|note| ("selection", note.clone())));
    lines.extend(manifest.problems.iter().take(FLAGS_MAX).map(|text| ("problem", text.clone())));
    let more = manifest.problems.len().saturating_sub(FLAGS_MAX);
    if more > 0 {
        lines.push(("", format!("and {} more, in totals.json", grouped(more as u64))));
    }
    aligned(&lines) + "\n"
}

/// How volumes share drives.
fn packed(manifest: &Manifest) -> String {
    let mut orders: Vec<(&str, usize)> = Vec::new();
    for pack in manifest.packs.iter().filter(|pack| pack.draw.is_none_or(|draw| draw == 1)) {
        match orders.last_mut().filter(|(order, _)| *order == pack.order) {
            Some((_, drives)) => *drives += 1,
            None => orders.push((&pack.order, 1)),
        }
    }
    let draws = manifest.packs.iter().filter_map(|pack| pack.draw).max();
    let told = orders.into_iter().map(|(order, drives)| {
        let drives = grouped(drives as u64);
        match draws.filter(|_| order == "random") {
            Some(draws) => format!("{drives} by {order}, {draws} times"),
            None if order == "alone" => format!("{drives}, one for each volume"),
            None => format!("{drives} by {order}"),
        }
    });
    told.collect::<Vec<_>>().join("; ")
}

/// What FTLs come to.
pub(super) fn table(totals: &Totals) -> String {
    let has_ops =
        totals.ftls.windows(2).any(|pair| pair[0].op_ratio.total_cmp(&pair[1].op_ratio).is_ne());
    let has_rivals = totals.ftls.iter().any(|of| of.ftl != totals.baseline);
    let is_packed = totals.packs.is_some();
    let has_draws = totals.ftls.iter().any(|of| of.waf_of_draws.len() > 1);
    let mut headings = vec!["FTL"];
    headings.extend(is_packed.then_some("packed\nby"));
    headings.extend(has_ops.then_some("OP"));
    // Of packs, what counts is all bytes; how drives differ is in the files.
    if is_packed {
        headings.extend(["drives\ncompared", "of all\nwrites", "WAF of\nall bytes"]);
        headings.extend(has_draws.then_some("of draws"));
        headings.extend(has_rivals.then_some("less, of\nall bytes"));
    } else {
        headings.extend([
            "volumes\ncompared",
            "WAF of\nall bytes",
            "mean of\nvolumes",
            "median",
            "5%",
            "95%",
        ]);
        let less = has_rivals.then_some(["less, of\nall bytes", "less,\nmedian"]);
        headings.extend(less.into_iter().flatten());
    }
    let headings: Vec<_> = headings.into_iter().map(str::to_owned).collect();
    let columns = Columns { totals, has_ops, has_rivals, has_draws };
    ruled(&headings, totals.ftls.iter().map(|of| columns.line(of)))
}

/// Which columns the table has.
struct Columns<'a> {
    totals: &'a Totals,
    has_ops: bool,
    has_rivals: bool,
    has_draws: bool,
}

impl Columns<'_> {
    fn line(&self, of: &FtlTotals) -> Vec<String> {
        let waf =
            |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |waf| significant(waf, 4));
        let quantile = |place: usize| waf(of.waf.map(|waf| waf.quantiles[place]));
        let is_packed = self.totals.packs.is_some();
        let mut cells = vec![of.ftl.clone()];
        cells.extend(is_packed.then(|| of.packed_by.clone().unwrap_or_default()));
        cells.extend(self.has_ops.then(|| percent(of.op_ratio)));
        cells.push(grouped(of.compared as u64));
        cells.extend(is_packed.then(|| format!("{:.0}%", 100.0 * of.share_of_writes)));
        cells.push(waf(of.waf_of_all));
        cells.extend(self.has_draws.then(|| draws(&of.waf_of_draws)));
        if !is_packed {
            cells.extend([waf(of.waf.map(|waf| waf.mean)), quantile(3), quantile(1), quantile(5)]);
        }
        if self.has_rivals {
            let share = |value: Option<f64>| {
                let told = value.filter(|_| of.ftl != self.totals.baseline);
                told.map_or_else(|| "-".to_owned(), |less| format!("{:.1}%", 100.0 * less))
            };
            cells.push(share(of.reduction_of_all));
            let median = of.reduction.map(|less| less.quantiles[3]);
            cells.extend((!is_packed).then(|| share(median)));
        }
        cells
    }
}

/// The least and the most of draws.
fn draws(wafs: &[f64]) -> String {
    let least = wafs.iter().copied().reduce(f64::min);
    let most = wafs.iter().copied().reduce(f64::max);
    least.zip(most).map_or_else(
        || "-".to_owned(),
        |(least, most)| format!("{} to {}", significant(least, 4), significant(most, 4)),
    )
}

/// Volumes that are in no mean, and what is wrong with others.
pub(super) fn flags(totals: &Totals) -> String {
    let shown = totals.flagged.iter().take(FLAGS_MAX);
    let what = if totals.packs.is_some() { "drive" } else { "volume" };
    let mut lines: Vec<_> = shown.map(|of| flag(what, of)).collect();
    let more = totals.flagged.len().saturating_sub(FLAGS_MAX);
    if more > 0 {
        lines.push(format!("and {} more, in totals.json\n", grouped(more as u64)));
    }
    lines.concat()
}

fn flag(what: &str, of: &Flagged) -> String {
    let with = of.ftl.as_ref().map_or_else(String::new, |ftl| format!(" with {ftl}"));
    let state = match of.state {
        "evidence" | "not selected" => String::new(),
        state => format!("{state}, in no mean: "),
    };
    format!("{what} {}{with}: {state}{}\n", of.volume, of.why)
}
