//! The table of statistics, with a column per workload.

use crate::table::ruled;
use ftlab_analysis::{HintValue, Inspection, TemperatureClass};
use ftlab_sim::format::{bytes, grouped, percent_tenths, significant};

/// A statistic: its name, and its value for a workload.
type Row = (&'static str, fn(&Inspection) -> String);

const NONE: &str = "-";

static ROWS: &[Row] = &[
    ("page writes", |found| grouped(found.page_writes)),
    ("  in sizes of the drive", |found| significant(found.drive_writes(), 4)),
    ("pages written", |found| grouped(found.distinct_pages)),
    ("  of the drive", |found| share(found.distinct_pages, found.drive_pages)),
    ("holding data at the end, of the drive", |found| {
        share(found.footprint.last().map_or(0, |end| end.holding_pages), found.drive_pages)
    }),
    ("writes to 1% of the pages written", |found| percent_tenths(found.skew.top_1_percent)),
    ("  10%", |found| percent_tenths(found.skew.top_10_percent)),
    ("  20%", |found| percent_tenths(found.skew.top_20_percent)),
    ("  50%", |found| percent_tenths(found.skew.top_50_percent)),
    ("writes of a page, median", |found| grouped(u64::from(found.updates.median))),
    ("  most", |found| grouped(u64::from(found.updates.max))),
    ("pages written once", |found| share(found.updates.once_pages, found.distinct_pages)),
    ("write interval, 10% up to", |found| interval(found, 10)),
    ("  50% up to", |found| interval(found, 50)),
    ("  90% up to", |found| interval(found, 90)),
    ("  below 1% of the drive", |found| below(found, 0.01)),
    ("  below 10%", |found| below(found, 0.1)),
    ("  below 100%", |found| below(found, 1.0)),
    ("log window, pages", |found| grouped(found.temperature.window_pages)),
    ("  writes within it", |found| percent_tenths(found.temperature.writes_within_window)),
    ("  hot pages / their writes", |found| class(found, found.temperature.hot)),
    ("  warm", |found| class(found, found.temperature.warm)),
    ("  cold", |found| class(found, found.temperature.cold)),
    ("frozen after 20% of the writes", |found| frozen(found, 20)),
    ("  50%", |found| frozen(found, 50)),
    ("  80%", |found| frozen(found, 80)),
    ("write request, median", |found| bytes(found.write_sizes.median_bytes)),
    ("  mean", |found| bytes(found.write_sizes.mean_bytes.round() as u64)),
    ("sequential requests / bytes", |found| {
        let shares = found.sequentiality.last;
        both(shares.requests, shares.bytes)
    }),
    ("  to one of the last 64", |found| {
        let shares = found.sequentiality.recent;
        both(shares.requests, shares.bytes)
    }),
];

/// What only workloads with streams have.
static HINT_ROWS: &[Row] = &[
    ("octave of a lifetime, bits", |found| hints(found, |hints| significant(hints.bits, 3))),
    ("  of these the stream tells", |found| hints(found, |hints| significant(hints.known_bits, 3))),
];

pub(super) fn statistics(workloads: &[Inspection]) -> String {
    let headings: Vec<_> =
        std::iter::once(String::new()).chain(workloads.iter().map(name)).collect();
    ruled(&headings, rows(workloads))
}

/// A generator as it was named, or the file name of a trace.
pub(super) fn name(found: &Inspection) -> String {
    let short = found.workload.rsplit('/').next().unwrap_or(&found.workload);
    if found.workload == found.format { found.workload.clone() } else { short.to_owned() }
}

/// Each statistic, and its value for each workload.
pub(super) fn rows(workloads: &[Inspection]) -> impl Iterator<Item = Vec<String>> {
    let has_hints = workloads.iter().any(|found| found.hints.is_some());
    let hint_rows = HINT_ROWS.iter().filter(move |_| has_hints);
    ROWS.iter().chain(hint_rows).map(|(label, value)| {
        let values = workloads.iter().map(value);
        std::iter::once((*label).to_owned()).chain(values).collect()
    })
}

fn hints(found: &Inspection, value: impl Fn(&HintValue) -> String) -> String {
    found.hints.as_ref().map_or_else(|| NONE.into(), value)
}

fn share(part: u64, all: u64) -> String {
    if all == 0 { NONE.into() } else { percent_tenths(part as f64 / all as f64) }
}

fn both(requests: f64, bytes: f64) -> String {
    format!("{} / {}", percent_tenths(requests), percent_tenths(bytes))
}

fn class(found: &Inspection, class: TemperatureClass) -> String {
    let pages = share(class.pages, found.distinct_pages);
    format!("{pages} / {}", share(class.writes, found.page_writes))
}

fn interval(found: &Inspection, percent: usize) -> String {
    found.intervals.percentile(percent).map_or_else(|| NONE.into(), grouped)
}

fn below(found: &Inspection, drives: f64) -> String {
    let mut below = found.intervals.below.iter().filter(|_| found.intervals.count > 0);
    let share = below.find(|below| (below.drives - drives).abs() < 1e-9);
    share.map_or_else(|| NONE.into(), |below| percent_tenths(below.share))
}

fn frozen(found: &Inspection, percent: usize) -> String {
    found.frozen_at(percent).map_or_else(|| NONE.into(), |point| percent_tenths(point.share))
}
