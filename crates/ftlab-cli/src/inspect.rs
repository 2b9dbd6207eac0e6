//! `ftlab inspect`: what is in a trace.

use crate::error::CliError;
use crate::options::{ReadingArgs, parse_page_size};
use crate::output::{aligned, print, print_json};
use clap::Args;
use ftlab_sim::format::{bytes, grouped};
use ftlab_trace::analyze::{Inspection, Operations};
use ftlab_trace::{analyze, open};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Shows what was parsed of a trace: operations, pages, addresses, skew, and what was passed over.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// The trace; - is standard input.
    trace: PathBuf,
    #[command(flatten)]
    reading: ReadingArgs,
    /// Bytes per page, a multiple of 512.
    #[arg(long, value_name = "SIZE", default_value = "4KiB", value_parser = parse_page_size)]
    page_size: u32,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

pub(crate) fn inspect(args: &InspectArgs) -> Result<(), CliError> {
    let mut source = open(&args.trace, &args.reading.open_options(args.page_size))?;
    let inspection = analyze::inspect(source.as_mut(), args.page_size)?;
    if args.json {
        return print_json(&inspection);
    }
    print(&describe(args, &inspection))?;
    print(&provenance(&source.metadata().properties))
}

/// What the trace says of itself.
fn provenance(properties: &BTreeMap<String, String>) -> String {
    if properties.is_empty() {
        return String::new();
    }
    let lines = properties.iter().map(|(key, value)| {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        format!("  {key}: {value}\n")
    });
    format!("\nthe trace says of itself\n{}", lines.collect::<String>())
}

fn describe(args: &InspectArgs, inspection: &Inspection) -> String {
    let Inspection { requests, skew, write_sizes, addresses, .. } = inspection;
    let share = |share: f64| format!("{:.1}%", 100.0 * share);
    let mut lines = vec![
        ("trace", format!("{} ({})", args.trace.display(), inspection.format)),
        ("requests", format!("{}: {}", grouped(requests.total()), operations(*requests))),
        (
            "written",
            format!("{} in requests of {}", bytes(inspection.bytes.write), sizes(write_sizes)),
        ),
        ("page writes", page_writes(inspection)),
        ("page trims", grouped(inspection.page_trims)),
        (
            "skew",
            format!(
                "{} of the page writes go to 1% of the pages written, {} to 10%, {} to 20%",
                share(skew.top_1_percent),
                share(skew.top_10_percent),
                share(skew.top_20_percent)
            ),
        ),
        (
            "addresses",
            format!(
                "sectors {} to {}",
                grouped(addresses.first_sector),
                grouped(last(addresses.end_sector))
            ),
        ),
        ("drive", drive(inspection)),
    ];
    if let Some((first_us, last_us)) = inspection.time_us {
        lines.push(("time", format!("{:.1} s", last_us.abs_diff(first_us) as f64 / 1e6)));
    }
    lines.push(("passed over", skipped(inspection)));
    aligned(&lines)
}

fn last(end_sector: u64) -> u64 {
    end_sector.saturating_sub(1)
}

fn operations(operations: Operations) -> String {
    let Operations { write, trim, flush, read } = operations;
    [(write, "writes"), (trim, "trims"), (flush, "flushes"), (read, "reads")]
        .map(|(count, name)| format!("{} {name}", grouped(count)))
        .join(", ")
}

fn sizes(sizes: &analyze::SizeSummary) -> String {
    format!(
        "{} to {}, median {}",
        bytes(sizes.min_bytes),
        bytes(sizes.max_bytes),
        bytes(sizes.median_bytes)
    )
}

fn page_writes(inspection: &Inspection) -> String {
    format!(
        "{} of {} to {} distinct pages; {} requests do not begin and end at page borders",
        grouped(inspection.page_writes),
        bytes(u64::from(inspection.page_bytes)),
        grouped(inspection.distinct_pages),
        grouped(inspection.unaligned_writes)
    )
}

fn drive(inspection: &Inspection) -> String {
    let page_bytes = u64::from(inspection.page_bytes);
    let drive_writes = |size: u64| {
        let written = inspection.page_writes as f64 * page_bytes as f64;
        format!("{:.2} drive writes", written / size.max(1) as f64)
    };
    match (inspection.device_bytes, inspection.addresses.device_bytes()) {
        (Some(size), _) => format!("{}, as the trace says; {}", bytes(size), drive_writes(size)),
        (None, Some(size)) => {
            format!("{} at least, by its highest address; {}", bytes(size), drive_writes(size))
        }
        (None, None) => "more than 2^64 bytes, by its highest address".into(),
    }
}

fn skipped(inspection: &Inspection) -> String {
    if inspection.skipped.is_empty() {
        return "nothing".into();
    }
    let reasons: Vec<_> = inspection
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
