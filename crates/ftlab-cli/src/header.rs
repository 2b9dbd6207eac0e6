//! The header of a run: before it, the workload and the drive that are simulated; after it, what
//! was parsed.

use crate::output::aligned;
use ftlab_ftl::registry::policy_names;
use ftlab_sim::format::{bytes, decimal, grouped, percent, significant};
use ftlab_sim::result::{Config, DriveSummary, SkippedSummary, TimingSummary, WorkloadSummary};
use ftlab_sim::{DriveOptions, Experiment, ExperimentResult, Fill, Prepared, doubts, told};
use std::collections::BTreeMap;

/// What an option of drives is called that has a line of its own.
const MAPPING: &str = "mapping";

pub(crate) fn header(prepared: &Prepared) -> String {
    let config = prepared.config();
    let drive = &config.drive;
    let mut lines = vec![("workload", workload(prepared) + on_empty_drive(config))];
    lines.extend(prepared.notes().iter().map(|(name, text)| (name.as_str(), text.clone())));
    lines.extend([
        ("logical", logical(drive)),
        ("physical", physical(drive)),
        ("over-prov.", over_provisioning(drive)),
        ("collection", collection(config)),
        ("preparation", preparation(config)),
        ("counted", counted(prepared)),
    ]);
    lines.extend(model(config).map(|text| ("model", text)));
    lines.extend(map(drive).map(|text| ("map", text)));
    lines.extend(wear(drive).map(|text| ("wear", text)));
    if let Some(streams) = &config.streams {
        lines.push(("streams", format!("{streams}; 0 elsewhere")));
    }
    if let Some(faults) = &config.faults {
        lines.push(("faults", self::faults(faults)));
    }
    if let Some(timing) = &config.timing {
        let has_hosts = prepared.notes().iter().any(|(name, _)| name == "hosts");
        lines.push(("time", time(timing, has_hosts)));
    }
    lines.extend(doubts(config, None).into_iter().map(|doubt| ("warning", doubt)));
    let told = told::<Experiment>(&config.options);
    lines.extend(told.filter_map(|(told, text)| Some((told.title, text?.to_owned()))));
    lines.push(("FTLs", config.ftls.join(", ")));
    lines.push(("memory", format!("about {}", bytes(prepared.memory_bytes()))));
    aligned(&lines) + "\n"
}

/// What was parsed of a trace; empty for a generator.
pub(crate) fn parsed(result: &ExperimentResult) -> String {
    if result.config.format.is_none() {
        return String::new();
    }
    let WorkloadSummary { requests, page_writes, skipped_lines, skipped, .. } = &result.workload;
    let count = |operation: &str| grouped(requests.get(operation).copied().unwrap_or(0));
    let mut lines = vec![
        (
            "parsed",
            format!(
                "{} writes of {} pages, {} trims{}, {} flushes, {} reads",
                count("write"),
                grouped(*page_writes),
                count("trim"),
                if result.config.ignore_trims { " (ignored)" } else { "" },
                count("flush"),
                count("read")
            ),
        ),
        ("skipped", format!("{} lines", grouped(*skipped_lines))),
    ];
    for entry in skipped {
        let SkippedSummary { reason, count, first_line, first_text } = entry;
        let count = grouped(*count);
        lines.push(("", format!("{count} x {reason}, first line {first_line}: {first_text:?}")));
    }
    aligned(&lines) + "\n"
}

fn workload(prepared: &Prepared) -> String {
    let config = prepared.config();
    match (&config.format, prepared.requests()) {
        (Some(format), Some(requests)) => {
            format!("{} ({format}, {} requests)", config.workload, grouped(requests))
        }
        (Some(format), None) => format!("{} ({format})", config.workload),
        (None, _) => format!("{} (generator, seed {})", config.workload, config.seed),
    }
}

/// Said first, since it is what most changes a result.
fn on_empty_drive(config: &Config) -> &'static str {
    if config.fill == Fill::None.to_string() { ", on an EMPTY drive" } else { "" }
}

fn logical(drive: &DriveSummary) -> String {
    let rounded = match drive.rounded_bytes {
        0 => String::new(),
        added if added > 0 => format!(", rounded up by {added} bytes"),
        taken => format!(", rounded down by {} bytes", -taken),
    };
    let origin = if drive.size_from == "asked" {
        "as requested".to_owned()
    } else {
        format!("the {}", drive.size_from)
    };
    format!(
        "{} = {} pages of {} ({origin}{rounded})",
        bytes(drive.logical_bytes),
        grouped(u64::from(drive.logical_pages)),
        bytes(u64::from(drive.page_bytes))
    )
}

fn physical(drive: &DriveSummary) -> String {
    let block_bytes = u64::from(drive.pages_per_block) * u64::from(drive.page_bytes);
    format!(
        "{} = {} blocks of {} pages ({})",
        bytes(drive.physical_bytes),
        grouped(u64::from(drive.blocks)),
        grouped(u64::from(drive.pages_per_block)),
        bytes(block_bytes)
    )
}

fn over_provisioning(drive: &DriveSummary) -> String {
    let asked = match drive.op_ratio_asked {
        Some(share) => format!("{} requested, ", percent(share)),
        None => String::new(),
    };
    format!(
        "{asked}{} actual, (physical - logical) / logical; spare factor {}",
        percent(drive.op_ratio),
        percent(drive.spare_factor)
    )
}

fn collection(config: &Config) -> String {
    let drive = &config.drive;
    let scheduled = policy_names();
    let names = config.ftls.iter().map(|ftl| ftl.split([':', ' ']).next().unwrap_or_default());
    if !names.into_iter().any(|name| scheduled.iter().any(|other| other == name)) {
        return "when the log of an FTL is full, or one block is free; there is no reserve".into();
    }
    let mut reserve =
        format!("when {} free blocks are left", grouped(u64::from(drive.reserve_blocks)));
    if drive.gc.starts_with("garbage") {
        reserve = format!("{}, and {reserve}", drive.gc);
    } else if drive.gc != "foreground" {
        reserve = format!("{}, {reserve}", drive.gc);
    }
    if drive.gc_start_blocks == 0 {
        return reserve;
    }
    format!(
        "{reserve}; early while fewer than {} are free, from blocks with at most {} valid pages",
        grouped(u64::from(drive.gc_start_blocks)),
        grouped(u64::from(drive.early_valid_pages_max))
    )
}

/// Of which drive it is a model, if what is told of it is of that drive.
fn model(config: &Config) -> Option<String> {
    let of = config.model_of.as_ref()?;
    let times = of.logical_bytes as f64 / config.drive.logical_bytes as f64;
    let map = of.mapping.as_ref().map(|map| format!(", and of the memory of its {map}"));
    let life = config.endurance_cycles.map(|_| "; what can be written is that of the drive");
    (map.is_some() || life.is_some()).then(|| {
        format!(
            "1/{} of a drive of {}{}{}",
            grouped(times.round() as u64),
            decimal(of.logical_bytes),
            map.unwrap_or_default(),
            life.unwrap_or_default()
        )
    })
}

/// Where the map is, if it is not in memory.
fn map(drive: &DriveSummary) -> Option<String> {
    let mut told = told::<DriveOptions>(&drive.options);
    told.find_map(|(told, text)| if told.title == MAPPING { text } else { None }).map(str::to_owned)
}

/// Wear levelling, and the options that are told where they are not off.
fn wear(drive: &DriveSummary) -> Option<String> {
    let mut rules = Vec::new();
    if drive.free_block != "fifo" {
        rules.push(format!("the {} free block is opened next", drive.free_block));
    }
    if drive.wear_threshold > 0 {
        let erases = grouped(u64::from(drive.wear_threshold));
        rules.push(format!(
            "cold pages move when a block has {erases} erases more than the least-worn one"
        ));
    }
    let told = told::<DriveOptions>(&drive.options).filter(|(told, _)| told.title != MAPPING);
    rules.extend(told.filter_map(|(told, text)| Some(format!("{} {}", told.title, text?))));
    (!rules.is_empty()).then(|| rules.join("; "))
}

fn faults(parameters: &BTreeMap<String, String>) -> String {
    let value = |name: &str| parameters.get(name).map_or("", String::as_str);
    format!(
        "{} of programs and {} of erases fail, {} are factory bad (seed {})",
        value("program"),
        value("erase"),
        number_of(value("bad"), "block"),
        value("seed")
    )
}

fn time(timing: &TimingSummary, has_hosts: bool) -> String {
    let value = |name: &str| timing.parameters.get(name).map_or("", String::as_str);
    let host = if has_hosts {
        "each job with its own queue depth".to_owned()
    } else if value("arrivals") == "poisson" {
        format!("{} requests a second at random", value("rate"))
    } else if timing.is_open_loop() {
        format!("requests at {} times the speed of the trace", value("speed-up"))
    } else {
        let waited_for = match value("unit") {
            "page" => "page write",
            unit => unit,
        };
        number_of(value("queue-depth"), waited_for) + " outstanding"
    };
    let more = [
        ("priority", "none"),
        ("gc-priority", "same"),
        ("suspend", "off"),
        ("suspend-slice-us", "0"),
        ("cached-transfers", "off"),
        ("command-us", "0"),
        ("write-buffer", "off"),
        ("reads-when-full", "first"),
        ("page-types", "mean"),
        ("planes", "1"),
        ("flash-page", "off"),
        ("read-retries", "off"),
        ("pe-cycles", "0"),
    ];
    let more = more.into_iter().filter(|(key, usual)| !["", usual].contains(&value(key)));
    let more: Vec<_> = more.map(|(key, _)| format!("; {key} {}", value(key))).collect();
    format!(
        "{}: {} us to read, {} to program, {} to erase, {} to transfer; {} x {}, {}; {host}{}",
        timing.timing.split(':').next().unwrap_or_default(),
        value("read-us"),
        value("program-us"),
        value("erase-us"),
        value("transfer-us"),
        number_of(value("channels"), "channel"),
        number_of(value("luns"), "LUN"),
        value("layout"),
        more.concat(),
    )
}

fn number_of(number: &str, what: &str) -> String {
    format!("{number} {what}{}", if number == "1" { "" } else { "s" })
}

fn preparation(config: &Config) -> String {
    let fill = match config.fill.as_str() {
        "none" => "none, the drive is initially empty".to_owned(),
        "random" => format!("every page written once in random order (seed {})", config.seed),
        "twice" => "every page written twice in ascending order".to_owned(),
        _ => "every page written once in ascending order".to_owned(),
    };
    match config.warmup_writes {
        0 => fill,
        writes => format!("{fill}; then {} writes for warm-up", grouped(writes)),
    }
}

fn counted(prepared: &Prepared) -> String {
    let config = prepared.config();
    let Some(writes) = config.writes_max else { return "all page writes of the trace".into() };
    let drives = writes as f64 / f64::from(config.drive.logical_pages);
    let may_end = prepared.may_end().unwrap_or(true);
    let at_most = if may_end || config.until_steady { "at most " } else { "" };
    let counted = format!(
        "{at_most}{} page writes = {} drive writes",
        grouped(writes),
        significant(drives, 4)
    );
    let again = if config.repeat { "the trace again and again, " } else { "" };
    let until = if config.may_end_early() { "until all FTLs are steady, " } else { "" };
    format!("{again}{until}{counted}")
}
