//! `ftlab list`: the contents of the registries.

use crate::error::CliError;
use crate::metrics;
use crate::output::{print, print_json};
use clap::{Args, ValueEnum};
use ftlab_ftl::registry::{self, Kind};
use ftlab_sim::TIMINGS;
use ftlab_sim::atlas::atlas;
use ftlab_sim::format::percent;
use ftlab_spec::Parameter;
#[cfg(feature = "lab")]
use ftlab_trace::WRITERS;
use ftlab_trace::format::FORMATS;
use ftlab_workload::GENERATORS;
use serde::Serialize;
use std::fmt::Write;

/// Lists FTLs, workload generators, trace formats or timings, with their parameters; drives; or what results tell.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// What to list.
    #[arg(value_enum)]
    what: What,
    /// Writes JSON to standard output.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum What {
    /// Flash translation layers, and the placements and victim rules that combine into more.
    Ftls,
    /// Workload generators.
    Workloads,
    /// Trace formats.
    Formats,
    /// Flash timings.
    Timings,
    /// Drives that can be bought, for --drive.
    Drives,
    /// Counts, ratios, times and series of a run.
    Metrics,
}

/// Something with a name and parameters.
#[derive(Debug, Serialize)]
struct Item {
    kind: &'static str,
    name: &'static str,
    summary: String,
    source: &'static str,
    parameters: Vec<ParameterItem>,
    /// File extensions of a format.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    extensions: Vec<&'static str>,
    /// Whether `ftlab convert` can write a format.
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<bool>,
}

#[derive(Debug, Serialize)]
struct ParameterItem {
    name: &'static str,
    default: String,
    expects: String,
    doc: String,
    source: &'static str,
    /// What it is a parameter of, where the list is divided.
    #[serde(skip_serializing_if = "str::is_empty")]
    group: &'static str,
}

impl From<Parameter> for ParameterItem {
    fn from(parameter: Parameter) -> Self {
        let Parameter { name, default, expects, doc, source, group, domain: _ } = parameter;
        Self { name, default, expects, doc, source, group }
    }
}

const WORKLOADS: &str = "\
Use a generator as `ftlab run NAME:key=value,...`; a trace by the name of its file.

Generators inside mix and join are written NAME(key=value;key=value)*NUMBER, with ';' between them:
    ftlab run 'mix:of=uniform*0.3;zipf(theta=0.9)*0.7' --logical 8GiB --ftl 2r++
    ftlab run 'join:of=hotcold(writes=0.9;pages=0.1)*2;uniform*1' --logical 8GiB --ftl 2r++
NUMBER is a share of the writes in mix, a length in drive writes in join. An item without '=' belongs
to the value before it, as in swap(sizes=0.5;0.5;at=1). Generators nest: mix(of=uniform*0.5;skew*0.5)*1.
The quotes keep the shell from taking ';' and '(' for its own.
";

pub(crate) fn list(args: &ListArgs) -> Result<(), CliError> {
    let items = match args.what {
        What::Ftls => ftls(),
        What::Workloads => workloads(),
        What::Formats => formats(),
        What::Timings => timings(),
        What::Drives => return list_drives(args.json),
        What::Metrics => return list_metrics(args.json),
    };
    if args.json {
        return print_json(&items);
    }
    let mut text = match args.what {
        What::Timings => describe_timings(&items),
        _ => items.iter().map(describe).collect(),
    };
    text += match args.what {
        What::Ftls => "Use an FTL as --ftl NAME:key=value,..., or any PLACEMENT/VICTIM pair.\n",
        What::Workloads => WORKLOADS,
        What::Formats => {
            "Formats are recognised by content; --format NAME:key=value,... decides where they are \
             not. Packed files are unpacked.\n"
        }
        What::Timings => "Use a timing as `ftlab run --timing NAME:key=value,...`.\n",
        What::Drives | What::Metrics => "",
    };
    print(&text)
}

/// A drive of the atlas.
#[derive(Debug, Serialize)]
struct DriveItem {
    name: &'static str,
    title: &'static str,
    /// Capacity, over-provisioning and unit, as `--drive` takes them.
    drive: &'static str,
    ftl: String,
    reserve: u32,
    gc: String,
    /// What it writes beside the host's pages and those that it moves, as a share of them.
    overhead: f64,
    /// Where its numbers are from.
    source: &'static str,
    /// How far the fit is off what it was made with, in shares of WAF - 1.
    off: &'static str,
    /// The standard deviation of what it was fitted to, in shares of WAF - 1, if that follows from how long writes took.
    error: Option<&'static str>,
    /// How far half of the predictions of what it was not made with are off at most.
    held_out: Option<&'static str>,
    /// Its times as `--timing` takes them, if they are known.
    timing: Option<&'static str>,
    /// How far these are off the loads that they were fitted to, and off those that were left out, in words.
    times_off: Option<&'static str>,
    /// How far predictions are off, or a half of its own series, in words.
    #[serde(skip)]
    told: String,
    /// What is said of what it was fitted to, if counters do not tell that.
    #[serde(skip)]
    by_pace: String,
}

fn list_drives(json: bool) -> Result<(), CliError> {
    let items: Vec<DriveItem> = atlas()
        .iter()
        .map(|drive| DriveItem {
            name: &drive.name,
            title: &drive.title,
            drive: &drive.class,
            ftl: drive.ftl.to_string(),
            reserve: drive.reserve,
            gc: drive.gc.to_string(),
            overhead: drive.overhead.0,
            source: drive.told("source", "series").unwrap_or_default(),
            off: drive.told("fit", "off").unwrap_or_default(),
            error: drive.told("fit", "error"),
            held_out: drive.told("held-out", "median"),
            timing: drive.told("times", "timing"),
            times_off: drive.told("times", "off"),
            told: drive.held_out(),
            by_pace: drive.by_pace(),
        })
        .collect();
    if json {
        return print_json(&items);
    }
    let mut text: String = items.iter().map(describe_drive).collect();
    text +=
        "Use a drive as `ftlab run TRACE --drive NAME`, or a file that `ftlab fit --save` wrote.\n";
    print(&text)
}

fn describe_drive(drive: &DriveItem) -> String {
    let DriveItem {
        name, title, drive: class, ftl, gc, overhead, source, off, told, by_pace, ..
    } = drive;
    let times = drive.timing.map(|timing| {
        let off = drive.times_off.unwrap_or("not told");
        format!("    times (with --logical): --timing {timing}\n    off under load: {off}\n")
    });
    format!(
        "{name}\n    {title}\n    {class}; {ftl}, {gc}; {} written beside\n    off {off} of WAF - 1 where it was \
         fitted{by_pace}; {told}\n    source: {source}\n{}\n",
        percent(*overhead),
        times.unwrap_or_default()
    )
}

fn list_metrics(json: bool) -> Result<(), CliError> {
    let items = metrics::metrics();
    if json { print_json(&items) } else { print(&metrics::describe(&items)) }
}

fn ftls() -> Vec<Item> {
    let items = registry::entries().into_iter().map(|entry| Item {
        kind: match entry.kind {
            Kind::Ftl => "ftl",
            Kind::Placement => "placement",
            Kind::Victim => "victim",
        },
        name: entry.name,
        summary: entry.summary,
        source: entry.source,
        parameters: items(entry.parameters),
        extensions: Vec::new(),
        written: None,
    });
    items.collect()
}

fn workloads() -> Vec<Item> {
    let items = GENERATORS.iter().map(|generator| Item {
        kind: "generator",
        name: generator.name,
        summary: generator.summary.to_owned(),
        source: generator.source,
        parameters: items((generator.parameters)()),
        extensions: Vec::new(),
        written: None,
    });
    items.collect()
}

fn formats() -> Vec<Item> {
    let items = FORMATS.iter().map(|format| Item {
        kind: "format",
        name: format.name,
        summary: format.summary.to_owned(),
        source: format.source,
        parameters: items((format.parameters)()),
        extensions: format.extensions.to_vec(),
        written: Some(is_written(format.name)),
    });
    items.collect()
}

/// Whether `ftlab convert` writes a format.
#[cfg(feature = "lab")]
fn is_written(format: &str) -> bool {
    WRITERS.iter().any(|writer| writer.name == format)
}

/// Nothing is converted by a program without this.
#[cfg(not(feature = "lab"))]
fn is_written(_format: &str) -> bool {
    false
}

fn timings() -> Vec<Item> {
    let items = TIMINGS.iter().map(|preset| Item {
        kind: "timing",
        name: preset.name,
        summary: preset.summary.to_owned(),
        source: preset.source,
        parameters: items(preset.parameters()),
        extensions: Vec::new(),
        written: None,
    });
    items.collect()
}

fn items(parameters: Vec<Parameter>) -> Vec<ParameterItem> {
    parameters.into_iter().map(Into::into).collect()
}

/// All timings have the same parameters: the first is described in full, the others by their
/// differences.
fn describe_timings(items: &[Item]) -> String {
    let Some((first, others)) = items.split_first() else { return String::new() };
    let mut text = describe(first);
    for item in others {
        text += &heading(item);
        let pairs = item.parameters.iter().zip(&first.parameters);
        let differing = pairs.filter(|(own, usual)| own.default != usual.default);
        let values: Vec<_> =
            differing.map(|(own, _)| format!("{}={}", own.name, own.default)).collect();
        let _ = writeln!(text, "    {}; otherwise as {}\n", values.join(" "), first.name);
    }
    text
}

fn heading(item: &Item) -> String {
    let Item { name, kind, summary, source, .. } = item;
    format!("{name} ({kind})\n    {summary}\n    source: {source}\n")
}

fn describe(item: &Item) -> String {
    let mut text = heading(item);
    if !item.extensions.is_empty() {
        let written = if item.written == Some(true) { "read and written" } else { "read only" };
        let _ = writeln!(text, "    files: .{}; {written}", item.extensions.join(", ."));
    }
    let mut groups: Vec<&str> = Vec::new();
    for ParameterItem { group, .. } in &item.parameters {
        if !groups.contains(group) {
            groups.push(group);
        }
    }
    for group in groups {
        if !group.is_empty() {
            let _ = writeln!(text, "    of the {group}:");
        }
        let of_group = item.parameters.iter().filter(|parameter| parameter.group == group);
        of_group.for_each(|parameter| text += &describe_parameter(parameter));
    }
    text + "\n"
}

fn describe_parameter(parameter: &ParameterItem) -> String {
    let ParameterItem { name, default, expects, doc, source, .. } = parameter;
    let default = if default.is_empty() { "\"\"" } else { default };
    format!("    {name}={default}  {doc}\n        {expects}; default from {source}\n")
}
