//! The page: its text, and the data for its scripts.

use crate::data::{Data, KINDS};
use crate::handle_tables;
use crate::tables::{Table, sheet};
use crate::text::name_of;
use crate::timeline::{Picture, pictures};
use crate::times;
use crate::{BYTES_MAX, CHART_STYLE, Link, ReportError, check};
use askama::Template;
use ftlab_sim::fact::Sheet;
use ftlab_sim::format::{bytes, decimal, grouped, percent, significant};
use ftlab_sim::result::{Config, DriveSummary, RunResult, WorkloadSummary};
use ftlab_sim::{DriveOptions, Experiment, ExperimentResult, Told, summary, told};
use std::collections::BTreeMap;

/// The page that shows `result`.
pub fn page(result: &ExperimentResult) -> Result<String, ReportError> {
    check(result.runs.len())?;
    let text = Page::new(result)?.render()?;
    if text.len() > BYTES_MAX {
        return Err(ReportError::TooLarge { bytes: text.len() });
    }
    Ok(text)
}

#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    contents: Vec<Link>,
    result: &'a ExperimentResult,
    question: String,
    answer: String,
    trust: &'a str,
    /// What is known of the real drive, if it is one.
    known_drive: Vec<String>,
    facts: Vec<Fact>,
    /// What is unlike a drive that is built.
    doubts: Vec<String>,
    results: Table,
    moves: Table,
    responses: Table,
    /// Operations whose response times are drawn.
    kinds: Vec<Kind>,
    groups: Table,
    waits: Table,
    slowest: Table,
    pictures: Vec<Picture>,
    speed: Table,
    wear: Table,
    faults: Table,
    handles: Table,
    events: Table,
    /// Host writes per interval of the running numbers.
    interval: String,
    /// Host writes that separate hot pages from warm ones.
    window: String,
    /// Host writes after which a page is cold.
    cold_age: String,
    configuration: Vec<Fact>,
    workload: Vec<Fact>,
    data: String,
}

/// An operation whose response times are drawn.
struct Kind {
    name: &'static str,
    plural: &'static str,
    /// Whether it is known how they changed over time.
    has_series: bool,
}

/// Those of which some took time; page writes if the host waits for these.
fn kinds(result: &ExperimentResult) -> Vec<Kind> {
    let timings = || result.runs.iter().filter_map(|run| run.timing.as_ref());
    let of = |(name, plural): (&'static str, &'static str)| {
        let times = timings().filter_map(|time| time.requests.as_ref()?.operations.get(name));
        let has_times = times.clone().any(|times| times.response_ns.max > 0);
        let is_page = name == "write" && timings().any(|time| time.requests.is_none());
        let series = times.filter_map(|times| times.running_p99_9_ns.as_ref());
        let has_series = series.flatten().any(Option::is_some);
        (has_times || is_page).then_some(Kind { name, plural, has_series })
    };
    let plurals = ["reads", "writes", "trims", "flushes"];
    KINDS.into_iter().zip(plurals).filter_map(of).collect()
}

fn known_drive(result: &ExperimentResult) -> Vec<String> {
    let line = result.known_drive.as_ref().map(|own| own.line(&result.runs));
    line.iter().flat_map(|line| line.lines()).map(str::to_owned).collect()
}

/// A name and a value.
struct Fact {
    name: String,
    value: String,
}

fn fact(name: &str, value: impl Into<String>) -> Fact {
    Fact { name: name.into(), value: value.into() }
}

impl<'a> Page<'a> {
    fn new(result: &'a ExperimentResult) -> Result<Self, ReportError> {
        let runs = &result.runs;
        let window =
            runs.iter().find_map(|run| run.observed.as_ref()).map(|o| o.moves.window_writes);
        let responses = sheet(result, Sheet::Responses);
        Ok(Self {
            contents: contents(result, !responses.headings.is_empty()),
            result,
            question: question(result),
            answer: summary::sentence(result),
            trust: &result.trust.line,
            known_drive: known_drive(result),
            facts: facts(result),
            doubts: summary::doubts(result),
            results: sheet(result, Sheet::Runs),
            moves: sheet(result, Sheet::Moves),
            responses,
            groups: times::groups(result),
            kinds: kinds(result),
            waits: times::waits(result),
            slowest: times::slowest(result),
            pictures: pictures(result),
            speed: sheet(result, Sheet::Luns),
            wear: sheet(result, Sheet::Wear),
            faults: sheet(result, Sheet::Faults),
            handles: handle_tables::handles(result),
            events: handle_tables::events(result),
            interval: grouped(result.config.interval_writes),
            window: grouped(window.unwrap_or(0)),
            cold_age: grouped(2 * window.unwrap_or(0)),
            configuration: configuration(&result.config),
            workload: workload(&result.workload),
            data: Data::new(result).to_json()?,
        })
    }

    /// Whether any run has something to show.
    fn any(&self, has: fn(&RunResult) -> bool) -> bool {
        self.result.runs.iter().any(has)
    }

    fn is_watched(&self) -> bool {
        self.any(|run| run.observed.is_some())
    }

    /// Whether the section of this title is there.
    fn has(&self, id: &str) -> bool {
        self.contents.iter().any(|link| link.id == id)
    }

    fn has_merges(&self) -> bool {
        self.any(|run| run.merge_copies > 0)
    }

    fn parameters(run: &RunResult) -> String {
        parameters(&run.parameters)
    }

    const STYLE: &'static str = CHART_STYLE;

    const SCRIPTS: [&'static str; 11] = [
        include_str!("../assets/vendor/uPlot.iife.min.js"),
        include_str!("../assets/page.js"),
        include_str!("../assets/table.js"),
        include_str!("../assets/export.js"),
        include_str!("../assets/drawn.js"),
        include_str!("../assets/lines.js"),
        include_str!("../assets/bars.js"),
        include_str!("../assets/flash.js"),
        include_str!("../assets/blocks.js"),
        include_str!("../assets/workload.js"),
        include_str!("../assets/main.js"),
    ];
}

/// The sections that there is something for, in order.
fn contents(result: &ExperimentResult, has_times: bool) -> Vec<Link> {
    let any = |has: fn(&RunResult) -> bool| result.runs.iter().any(has);
    let is_watched = any(|run| run.observed.is_some());
    let sections = [
        ("results-title", "Results", true),
        ("waf-title", "Over time", any(|run| !run.running_waf.is_empty())),
        ("flash-title", "The flash", is_watched),
        ("cold-title", "Cold pages", is_watched),
        ("utilisation-title", "How full", is_watched),
        ("region-title", "Cold region", any(|run| run.running_cold_region_share.is_some())),
        ("moves-title", "Moves", is_watched),
        ("time-title", "Response times", has_times),
        ("handles-title", "Handles", any(|run| run.fdp.is_some())),
        ("wear-title", "Wear", true),
        ("workload-title", "Workload", result.workload.observed.is_some()),
        ("repeat-title", "Run it again", true),
    ];
    let there = sections.into_iter().filter(|(_, _, is_there)| *is_there);
    there.map(|(id, text, _)| Link { id, text }).collect()
}

fn question(result: &ExperimentResult) -> String {
    let names: Vec<_> = result.runs.iter().map(|run| run.ftl.as_str()).collect();
    let workload = name_of(&result.config);
    match names.as_slice() {
        [] => format!("What amplifies the writes of {workload}?"),
        [one] => format!("How much does {one} amplify the writes of {workload}?"),
        [rest @ .., last] => {
            let rest = rest.join(", ");
            format!("How much do {rest} and {last} amplify the writes of {workload}?")
        }
    }
}

/// The facts needed to interpret the answer.
fn facts(result: &ExperimentResult) -> Vec<Fact> {
    let Config { drive, fill, .. } = &result.config;
    let writes = result.runs.iter().map(|run| run.host_writes).max().unwrap_or(0);
    let drive_writes = writes as f64 / f64::from(drive.logical_pages);
    let filled = if fill == "none" { "initially empty" } else { "initially full" };
    let in_part = result.runs.iter().find(|run| run.has_parts());
    let sent = in_part.map_or_else(String::new, |run| {
        format!("; {} of the host, which wrote pages in part", bytes(run.host_bytes))
    });
    vec![
        fact("drive", format!("{}, {filled}", bytes(drive.logical_bytes))),
        fact("over-provisioning", percent(drive.op_ratio)),
        fact("flash", blocks(drive)),
        fact(
            "host writes",
            format!(
                "{} pages, {} drive writes{sent}",
                grouped(writes),
                significant(drive_writes, 3)
            ),
        ),
    ]
}

fn blocks(drive: &DriveSummary) -> String {
    let block_bytes = u64::from(drive.pages_per_block) * u64::from(drive.page_bytes);
    format!("{} erase blocks of {}", grouped(drive.blocks.into()), bytes(block_bytes))
}

/// Everything that determines the numbers.
fn configuration(config: &Config) -> Vec<Fact> {
    let drive = &config.drive;
    let mut facts = vec![fact("workload", &*config.workload)];
    facts
        .extend(config.workload_parameters.iter().map(|of| fact("its parameters", parameters(of))));
    facts.extend(config.format.iter().map(|format| fact("format", format)));
    facts.extend([
        fact("logical pages", grouped(drive.logical_pages.into())),
        fact("logical size", format!("{} ({})", bytes(drive.logical_bytes), drive.size_from)),
        fact("physical size", bytes(drive.physical_bytes)),
        fact("page", bytes(drive.page_bytes.into())),
        fact("erase block", format!("{} pages", grouped(drive.pages_per_block.into()))),
        fact("erase blocks", grouped(drive.blocks.into())),
        fact("over-provisioning", over_provisioning(drive)),
        fact("spare factor", percent(drive.spare_factor)),
        fact("collection", &*drive.gc),
        fact("reserve", format!("{} blocks", grouped(drive.reserve_blocks.into()))),
    ]);
    if let Some(of) = &config.model_of {
        facts.push(fact("model of a drive of", decimal(of.logical_bytes)));
        facts.extend(of.mapping.iter().map(|mapping| fact("map of that drive", mapping)));
    }
    if drive.gc_start_blocks > 0 {
        let (start, most) = (drive.gc_start_blocks, drive.early_valid_pages_max);
        let text = format!(
            "below {} free blocks, from blocks with at most {} valid pages",
            grouped(start.into()),
            grouped(most.into())
        );
        facts.push(fact("early collection", text));
    }
    let wear = match drive.wear_threshold {
        0 => "never".to_owned(),
        erases => format!("from a difference of {} erases", grouped(erases.into())),
    };
    facts
        .extend([fact("free block opened next", &*drive.free_block), fact("wear levelling", wear)]);
    facts.extend(told::<DriveOptions>(&drive.options).map(option));
    facts.extend([
        fact("fill", &*config.fill),
        fact("warm-up", format!("{} page writes", grouped(config.warmup_writes))),
        fact(
            "counted",
            config.writes_max.map_or_else(
                || "all page writes of the trace".into(),
                |writes| format!("at most {} page writes", grouped(writes)),
            ),
        ),
        fact("interval", format!("{} page writes", grouped(config.interval_writes))),
        fact("seed", config.seed.to_string()),
    ]);
    if config.wrap {
        facts.push(fact("addresses beyond the drive", "modulo its size"));
    }
    if config.ignore_trims {
        facts.push(fact("trims", "ignored"));
    }
    if let Some(timing) = &config.timing {
        facts.push(fact("timing", &*timing.timing));
        facts.push(fact("its parameters", parameters(&timing.parameters)));
    }
    facts.extend(config.faults.iter().map(|faults| fact("faults", parameters(faults))));
    let endurance = config.endurance_cycles.map(|cycles| grouped(cycles.into()));
    facts.extend(endurance.map(|cycles| fact("endurance", format!("{cycles} cycles"))));
    facts.extend(told::<Experiment>(&config.options).map(option));
    facts
}

/// An option that results tell.
fn option<T>((told, text): (&Told<T>, Option<&str>)) -> Fact {
    fact(told.title, text.unwrap_or(told.off))
}

/// What was read of the workload.
fn workload(workload: &WorkloadSummary) -> Vec<Fact> {
    let requests = workload.requests.iter();
    let mut facts: Vec<_> = requests
        .map(|(operation, count)| fact(&format!("{operation} requests"), grouped(*count)))
        .collect();
    facts.push(fact("page writes", grouped(workload.page_writes)));
    if workload.unaligned_writes > 0 {
        let unaligned = grouped(workload.unaligned_writes);
        facts.push(fact("write requests within or across pages", unaligned));
    }
    facts.push(fact("lines skipped", grouped(workload.skipped_lines)));
    facts.extend(workload.skipped.iter().map(|skipped| {
        let (count, first) = (grouped(skipped.count), grouped(skipped.first_line));
        fact(&skipped.reason, format!("{count}, first line {first}: {}", skipped.first_text))
    }));
    facts
}

fn over_provisioning(drive: &DriveSummary) -> String {
    let actual = percent(drive.op_ratio);
    match drive.op_ratio_asked {
        Some(asked) => format!("{} requested, {actual} actual", percent(asked)),
        None => actual,
    }
}

/// `key=value`, separated by commas.
fn parameters(values: &BTreeMap<String, String>) -> String {
    let pairs: Vec<_> = values.iter().map(|(key, value)| format!("{key}={value}")).collect();
    if pairs.is_empty() { "none".into() } else { pairs.join(", ") }
}
