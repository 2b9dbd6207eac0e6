//! Describes in words what was parsed of a workload.

use crate::output::{aligned, too_short};
use ftlab_analysis::{Inspection, Operations, PartSummary, SizeSummary};
use ftlab_sim::format::{bytes, grouped, percent_tenths};
use std::collections::BTreeMap;

/// The metadata of a trace; empty if there is none.
pub(super) fn provenance(properties: &BTreeMap<String, String>) -> String {
    if properties.is_empty() {
        return String::new();
    }
    let lines = properties.iter().map(|(key, value)| {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("  {key}: {value}\n")
    });
    format!("metadata of the workload\n{}\n", lines.collect::<String>())
}

/// What was parsed.
pub(super) fn describe(found: &Inspection) -> String {
    aligned(&facts(found))
}

/// What was parsed, as names and values.
pub(super) fn facts(found: &Inspection) -> Vec<(&'static str, String)> {
    let name = if found.workload == found.format {
        found.workload.clone()
    } else {
        format!("{} ({})", found.workload, found.format)
    };
    let mut lines = vec![("workload", name)];
    lines.extend(found.part.map(|part| ("part", describe_part(found, part))));
    let requests = format!("{}: {}", grouped(found.requests.total()), operations(found.requests));
    let written =
        format!("{} in requests of {}", bytes(found.bytes.write), sizes(&found.write_sizes));
    lines.extend([
        ("requests", requests),
        ("written", written),
        ("page writes", page_writes(found)),
        ("page trims", grouped(found.page_trims)),
        ("addresses", addresses(found)),
        ("drive", drive(found)),
    ]);
    lines.extend(found.time_us.map(|(first_us, last_us)| {
        let seconds = |time_us: u64| time_us as f64 / 1e6;
        let duration = seconds(last_us.abs_diff(first_us));
        ("time", format!("{duration:.1} s, starting at {:.1} s", seconds(first_us)))
    }));
    lines.push(("skipped", skipped(found)));
    if found.part.is_none() && found.workload != found.format {
        lines.extend(too_short(found.drive_writes()));
    }
    lines
}

fn describe_part(found: &Inspection, part: PartSummary) -> String {
    let seconds = |time_us: u64| format!("{:.6} s", time_us as f64 / 1e6);
    let until =
        part.until_us.map_or_else(String::new, |until| format!(" until {}", seconds(until)));
    let never = found.updates.never_pages as f64 / part.earlier_pages.max(1) as f64;
    format!(
        "from {}{until}; {} pages were written before, {} of them never in it",
        seconds(part.from_us),
        grouped(part.earlier_pages),
        percent_tenths(never)
    )
}

fn operations(operations: Operations) -> String {
    let Operations { write, trim, flush, read } = operations;
    [(write, "writes"), (trim, "trims"), (flush, "flushes"), (read, "reads")]
        .map(|(count, name)| format!("{} {name}", grouped(count)))
        .join(", ")
}

fn sizes(sizes: &SizeSummary) -> String {
    let [min, max, median] = [sizes.min_bytes, sizes.max_bytes, sizes.median_bytes].map(bytes);
    format!("{min} to {max}, median {median}")
}

fn page_writes(found: &Inspection) -> String {
    format!(
        "{} of {} to {} distinct pages; {} requests do not begin and end at page boundaries",
        grouped(found.page_writes),
        bytes(u64::from(found.page_bytes)),
        grouped(found.distinct_pages),
        grouped(found.unaligned_writes)
    )
}

fn addresses(found: &Inspection) -> String {
    let addresses = &found.addresses;
    let last = addresses.end_sector.saturating_sub(1);
    format!("sectors {} to {}", grouped(addresses.first_sector), grouped(last))
}

fn drive(found: &Inspection) -> String {
    let needed = found.addresses.device_bytes();
    let size = found.drive_pages.saturating_mul(u64::from(found.page_bytes));
    let rounded = |bytes: u64| bytes.div_ceil(u64::from(found.page_bytes)) == found.drive_pages;
    let origin = if found.device_bytes.is_some_and(rounded) {
        "according to the workload"
    } else if needed.is_some_and(rounded) {
        "at least, from its highest address"
    } else {
        "as asked"
    };
    format!("{} {origin}; {:.2} drive writes", bytes(size), found.drive_writes())
}

fn skipped(found: &Inspection) -> String {
    if found.skipped.is_empty() {
        return "nothing".into();
    }
    let reasons: Vec<_> = found
        .skipped
        .iter()
        .map(|lines| {
            format!(
                "{} x {}, first line {}: {:?}",
                grouped(lines.count),
                lines.reason,
                lines.first_line,
                lines.first_text
            )
        })
        .collect();
    reasons.join("\n             ")
}
