//! Inspection of the captured traces against the statistics that were computed, by other means,
//! when they were captured: every row of the first table of `STATS.md` that a trace can tell.

use crate::common::shared;
use ftlab_analysis::{Extent, InspectOptions, Inspection, Sizes, analyze, inspect};
use ftlab_trace::{OpenOptions, open};
use std::path::Path;

/// Columns of the table, and their files.
const TRACES: [(&str, &str); 7] = [
    ("tpcc1", "tpcc-mariadb"),
    ("linkbench", "linkbench-mariadb"),
    ("pg", "pgbench-postgresql"),
    ("rocksdb", "ycsb-rocksdb"),
    ("fio_zipf0.5", "fio-zipf-0.5"),
    ("fio_zipf0.9", "fio-zipf-0.9"),
    ("fio_zipf1.1", "fio-zipf-1.1"),
];

/// Rows of what is in no trace: the size of the file, and flags that the traces do not keep.
const NOT_IN_TRACES: [&str; 2] = ["parquet bytes", "fs metadata/journal pages (M flag)"];

/// A trace as a whole, and from the beginning of its phase `run` on.
struct Found {
    whole: Inspection,
    run: Inspection,
    /// Of the write requests of the run, exactly.
    sizes: Sizes,
}

fn found(path: &Path) -> Found {
    let part = |phase: &str| {
        let source = open(path, &OpenOptions::default()).unwrap();
        let start_us = source.metadata().phase_us(phase).unwrap_or(0);
        (source, Extent { range_us: Some(start_us..u64::MAX), ..Extent::default() })
    };
    let inspect_from = |phase: &str| {
        let (mut source, extent) = part(phase);
        inspect(source.as_mut(), &InspectOptions { extent, ..Default::default() }).unwrap()
    };
    let (mut source, extent) = part("run");
    let (sizes, _) = analyze(source.as_mut(), &extent, Sizes::default()).unwrap();
    Found { whole: inspect_from("start"), run: inspect_from("run"), sizes }
}

/// The rows of the first table: name, and a value for each trace.
fn rows(text: &str) -> Vec<(String, Vec<String>)> {
    let table = text.lines().skip_while(|line| !line.starts_with('|'));
    let table = table.take_while(|line| line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let mut rows = table.map(cells).map(|mut cells| (cells.remove(0), cells));
    let columns = rows.next().unwrap().1;
    assert_eq!(columns, TRACES.map(|(column, _)| column.to_owned()));
    rows.skip(1).collect()
}

/// What a row says of a trace, by our count; `None` for a row that we do not know.
fn measured(row: &str, found: &Found) -> Option<Vec<f64>> {
    let Found { whole, run, sizes: write_sizes } = found;
    let counts = |count: u64| Some(vec![count as f64]);
    let share = |part: u64, all: u64| Some(vec![part as f64 / all as f64]);
    let earlier = run.part.map_or(0, |part| part.earlier_pages);
    let sequential = run.sequentiality;
    match row {
        "rows (whole trace)" => counts(whole.requests.total()),
        "device bytes" => counts(run.device_bytes?),
        "page writes 4K, whole trace" => counts(whole.page_writes),
        "page writes 4K, run" => counts(run.page_writes),
        "write requests" => counts(run.requests.write),
        "GiB written" => share(run.bytes.write, 1 << 30),
        "device writes (page writes / device pages)" => Some(vec![run.drive_writes()]),
        "seconds" => run.time_us.map(|(first, last)| vec![(last - first) as f64 / 1e6]),
        "distinct pages" => counts(run.distinct_pages),
        "distinct / device" => share(run.distinct_pages, run.drive_pages),
        "writes to top 1% pages" => Some(vec![run.skew.top_1_percent]),
        "top 10%" => Some(vec![run.skew.top_10_percent]),
        "top 20%" => Some(vec![run.skew.top_20_percent]),
        "top 50%" => Some(vec![run.skew.top_50_percent]),
        "most-written page, writes" => counts(u64::from(run.updates.max)),
        "median writes per page" => counts(u64::from(run.updates.median)),
        "pages written once" => share(run.updates.once_pages, run.distinct_pages),
        "writes that are the only one of their page" => {
            share(run.updates.once_pages, run.page_writes)
        }
        "requests not 4K-aligned" => counts(run.unaligned_writes),
        "sequential requests" => Some(vec![sequential.last.requests]),
        "sequential bytes" => Some(vec![sequential.last.bytes]),
        "sequential to one of last 64, requests" => Some(vec![sequential.recent.requests]),
        "same, bytes" => Some(vec![sequential.recent.bytes]),
        "discards" => counts(run.requests.trim),
        "discard GiB" => share(run.bytes.trim, 1 << 30),
        "flushes" => counts(run.requests.flush),
        "pages written before the run (mkfs + load)" => counts(earlier),
        "of those, never written in the run (cold)" => share(run.updates.never_pages, earlier),
        "ever written in the whole trace / device" => {
            share(whole.distinct_pages, whole.drive_pages)
        }
        _ => frozen(row, run).or_else(|| interval(row, run)).or_else(|| sizes(row, write_sizes)),
    }
}

fn frozen(row: &str, run: &Inspection) -> Option<Vec<f64>> {
    let (percent, of) = row.strip_prefix("frozen at ")?.split_once('%')?;
    let point = run.frozen_at(percent.parse().ok()?)?;
    let all = match of.trim_start_matches(" of the run") {
        ", of pages written so far" => point.written_pages,
        ", of pages ever written in the run" => run.distinct_pages,
        ", of the device" => run.drive_pages,
        _ => return None,
    };
    Some(vec![point.frozen_pages as f64 / all as f64])
}

fn interval(row: &str, run: &Inspection) -> Option<Vec<f64>> {
    let intervals = &run.intervals;
    if let Some(row) = row.strip_prefix("write interval p") {
        let percent = row.strip_suffix(" (page writes)")?.parse().ok()?;
        return Some(vec![intervals.percentile(percent)? as f64]);
    }
    let limit = row.strip_prefix("intervals ")?.strip_suffix("dev")?;
    let drives: f64 = limit.trim_start_matches(['<', '>', '=']).parse().ok()?;
    let below = intervals.below.iter().find(|below| below.drives.total_cmp(&drives).is_eq())?.share;
    Some(vec![if limit.starts_with('<') { below } else { 1.0 - below }])
}

/// The classes are of whole KiB, and their bytes too: the rest of a request is left out.
fn sizes(row: &str, sizes: &Sizes) -> Option<Vec<f64>> {
    let class = row.strip_prefix("requests ")?.strip_suffix(": of requests / of bytes")?;
    let range = match class {
        "<4K" => 0..=3,
        "4K" => 4..=4,
        "8K" => 5..=8,
        "12-16K" => 9..=16,
        "20-64K" => 17..=64,
        "68-256K" => 65..=256,
        ">256K" => 257..=u64::MAX,
        _ => return None,
    };
    let (mut all, mut own) = ([0; 2], [0; 2]);
    for (bytes, requests) in sizes.requests() {
        let kib = bytes / 1024;
        for (sum, value) in [(&mut all, true), (&mut own, range.contains(&kib))] {
            sum[0] += if value { requests } else { 0 };
            sum[1] += if value { kib * requests } else { 0 };
        }
    }
    Some(own.iter().zip(all).map(|(own, all)| *own as f64 / all as f64).collect())
}

/// The published quantiles are interpolated between two intervals and rounded down; ours are the
/// upper one, and above 2^18 up to a hundred-thousandth more.
const INTERVAL_TOLERANCE: f64 = 2e-5;

/// Whether a number is `published`, as far as that has digits.
fn agrees(row: &str, published: &str, found: f64) -> bool {
    let digits = published.split_once('.').map_or("", |(_, digits)| digits);
    let unit = digits.chars().fold(1.0, |unit, _| unit / 10.0);
    let published: f64 = published.replace(',', "").parse().unwrap();
    if row.starts_with("write interval p") {
        return (published..=published + (INTERVAL_TOLERANCE * published).max(1.0))
            .contains(&found);
    }
    (found - published).abs() <= 0.5 * unit + 1e-9
}

#[test]
fn every_row_is_reproduced() {
    let Some(path) = shared("traces/STATS.md") else { return };
    let rows = rows(&std::fs::read_to_string(&path).unwrap());
    assert!(rows.len() >= 60, "{}", rows.len());
    let mut different = Vec::new();
    for (column, (name, file)) in TRACES.into_iter().enumerate() {
        let Some(path) = shared(&format!("traces/{file}.parquet")) else { continue };
        let found = found(&path);
        for (row, values) in &rows {
            let value = &values[column];
            if NOT_IN_TRACES.contains(&row.as_str()) || value == "-" {
                continue;
            }
            let Some(measured) = measured(row, &found) else { panic!("unknown row {row:?}") };
            let published: Vec<_> = value.split(" / ").collect();
            let mut pairs = published.iter().zip(&measured);
            let is_same = published.len() == measured.len()
                && pairs.all(|(published, found)| agrees(row, published, *found));
            if !is_same {
                different.push(format!("{name}, {row}: {value}, found {measured:?}"));
            }
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
