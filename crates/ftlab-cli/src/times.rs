//! Tables of response times, and of what LUNs and channels did.

use crate::table::{Width, ruled, sheet};
use ftlab_sim::ExperimentResult;
use ftlab_sim::fact::{Fact, Facts, Sheet, Shown, When, shown_of};
use ftlab_sim::format::grouped;
use ftlab_sim::result::{GroupResult, RequestsResult, ResponseSummary, TimingResult, WaitsResult};
use std::sync::LazyLock;

/// The tables of response times and of LUN activity; empty if time was not simulated.
pub(crate) fn times(result: &ExperimentResult, width: Width) -> String {
    let runs: Vec<_> = result
        .runs
        .iter()
        .filter_map(|run| Some((run.ftl.clone(), run.timing.as_ref()?)))
        .collect();
    if runs.is_empty() {
        return String::new();
    }
    let requests: Vec<_> = runs.iter().flat_map(|(ftl, time)| requests(ftl, time)).collect();
    let responses = if requests.is_empty() {
        sheet(result, Sheet::Responses, width)
    } else {
        ruled(&request_headings(Sheet::Requests), requests)
    };
    let buffers: String = runs.iter().filter_map(|(ftl, time)| buffer(ftl, time)).collect();
    responses + &groups(&runs) + &buffers + &waits(&runs) + &sheet(result, Sheet::Luns, width)
}

/// What is told of how long requests took.
static TIMES: LazyLock<Vec<Fact<ResponseSummary>>> = LazyLock::new(ResponseSummary::facts);

/// The columns of tables of requests: their headings and facts.
fn columns() -> Vec<(&'static str, &'static Fact<ResponseSummary>)> {
    shown_of(TIMES.iter(), |shown| match *shown {
        Shown::Table { sheet: Sheet::Requests, at, heading, .. } => Some((at, heading)),
        _ => None,
    })
}

fn request_headings(of: Sheet) -> Vec<String> {
    let columns = columns().into_iter().map(|(heading, _)| heading);
    [of.heading(), "a second"].into_iter().chain(columns).map(str::to_owned).collect()
}

/// A line for each operation that the host asked for, if it waited for requests, and one for transactions.
fn requests(ftl: &str, time: &TimingResult) -> Vec<Vec<String>> {
    let line = |what: &str, per_second: f64, of: &ResponseSummary| {
        let name = format!("{ftl}, {what}{}", if what == "flush" { "es" } else { "s" });
        response_line(name, per_second, of)
    };
    // In the order in which hosts are described: reads and writes first.
    let mut lines: Vec<_> =
        time.requests.iter().flat_map(|requests| &requests.operations).collect();
    lines.sort_by_key(|(op, _)| {
        ["read", "write", "trim"].iter().position(|of| of == op).unwrap_or(3)
    });
    let of_operations =
        lines.into_iter().map(|(op, times)| line(op, times.per_second, &times.response_ns));
    let transactions = time.transactions.as_ref();
    let of_transactions =
        transactions.map(|of| line("transaction", of.per_second, &of.response_ns));
    of_operations.chain(of_transactions).collect()
}

fn response_line(name: String, per_second: f64, of: &ResponseSummary) -> Vec<String> {
    let text = |fact: &Fact<_>| fact.of(of).map(|value| fact.text(&value)).unwrap_or_default();
    let times = columns().into_iter().map(|(_, fact)| text(fact));
    [name, grouped(per_second.round() as u64)].into_iter().chain(times).collect()
}

/// The groups of requests of one kind, where there is more than one.
fn groups(runs: &[(String, &TimingResult)]) -> String {
    let mut lines = Vec::new();
    for (ftl, time) in runs {
        let groups = time.requests.iter().flat_map(|requests| &requests.groups);
        for by in ["size", "tenant", "stream"] {
            let of: Vec<_> = groups.clone().filter(|group| group.by == by).collect();
            if of.iter().any(|group| group.name != of[0].name) {
                lines.extend(of.into_iter().map(|group| group_line(ftl, group)));
            }
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    ruled(&request_headings(Sheet::Groups), lines)
}

fn group_line(ftl: &str, group: &GroupResult) -> Vec<String> {
    let GroupResult { by, name, operation, .. } = group;
    let what = match by.as_str() {
        "size" => format!("of {name} page{}", if name == "1" { "" } else { "s" }),
        "tenant" => format!("of {name}"),
        _ => format!("of stream {name}"),
    };
    let plural = if operation == "flush" { "es" } else { "s" };
    let name = format!("{ftl}, {operation}{plural} {what}");
    response_line(name, group.per_second, &group.response_ns)
}

/// What is told of what requests waited for.
static WAITS: LazyLock<Vec<Fact<WaitsResult>>> = LazyLock::new(WaitsResult::facts);

/// What requests waited for, if somebody asked: lines for reads and writes.
fn waits(runs: &[(String, &TimingResult)]) -> String {
    let any = |has: fn(&RequestsResult) -> bool| {
        runs.iter().any(|(_, time)| time.requests.as_ref().is_some_and(has))
    };
    let mut columns = shown_of(WAITS.iter(), |shown| match *shown {
        Shown::Table { sheet: Sheet::Waits, at, heading, when, .. } => Some((at, (heading, when))),
        _ => None,
    });
    let waited = |fact: &Fact<WaitsResult>| {
        let requests = runs.iter().filter_map(|(_, time)| time.requests.as_ref());
        let all = requests.flat_map(|of| of.operations.values());
        let mut waits = all.flat_map(|of| of.waits.iter().flatten());
        waits.any(|waits| fact.of(waits).is_some_and(|value| value.number() > 0.0))
    };
    columns.retain(|((_, when), fact)| match when {
        When::Nonzero => waited(fact),
        When::WithBuffer => any(|of| of.write_buffer.is_some()),
        When::WithQueues => any(|of| of.queued_mean > 0.0),
        _ => true,
    });
    let mut lines = Vec::new();
    for (ftl, time) in runs {
        for op in ["read", "write"] {
            let times = time.requests.as_ref().and_then(|requests| requests.operations.get(op));
            for waits in times.iter().flat_map(|times| times.waits.iter().flatten()) {
                let told = |fact: &Fact<_>| fact.of(waits).map(|value| fact.text(&value));
                let cells = columns.iter().map(|(_, fact)| told(fact).unwrap_or_default());
                let name = format!("{ftl}, {op}s, {}", waits.of);
                lines.push([name].into_iter().chain(cells).collect::<Vec<_>>());
            }
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let headings = columns.iter().map(|((heading, _), _)| *heading);
    let headings = [Sheet::Waits.heading()].into_iter().chain(headings).map(str::to_owned);
    ruled(&headings.collect::<Vec<_>>(), lines)
}

/// What happened in the write buffer, in a sentence.
fn buffer(ftl: &str, time: &TimingResult) -> Option<String> {
    let of = time.requests.as_ref()?.write_buffer?;
    let share = |pages: u64| format!("{:.1}%", 100.0 * pages as f64 / of.writes.max(1) as f64);
    Some(format!(
        "{ftl}: of {} pages written to the buffer, {} took the place of an older version there and {} waited \
         for room; {} pages were read from it.\n\n",
        grouped(of.writes),
        share(of.coalesced),
        share(of.waited),
        grouped(of.read_hits)
    ))
}
