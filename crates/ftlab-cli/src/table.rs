//! Tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use ftlab_sim::ExperimentResult;
use ftlab_sim::fact::{Fact, Kind, Sheet, Shown, Value, When, in_places, shown_of};
use ftlab_sim::format::{bytes, grouped, significant};
use ftlab_sim::result::{
    FdpEvent, FdpEventCounts, FdpEventType, FdpHandle, FdpIsolation, FdpStatistics, OF_DRIVE,
    OF_HANDLE, RunResult, shown,
};
use ftlab_sim::summary::doubts;

/// Where the host wrote pages in part, the short name says of what it is.
const WAF: &str = "WAF";
const WAF_OF_PAGES: &str = "WAF of\npages";
/// Beside the steady value, it says of what it is, too.
const WAF_OF_RUN: &str = "WAF of\nthe run";
const STEADY: &str = "steady\nWAF";

/// A line above, one below the headings, one at the end.
const LINES: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// A column: its heading, when it is there, when it is left out, and the fact that it shows.
type Column = ((&'static str, When, u8), &'static Fact<RunResult>);

/// Characters of a line of a table, unless all columns are asked for.
const WIDTH_MAX: usize = 80;

/// Which columns a table has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Width {
    /// As many as fit in 80 characters.
    Narrow,
    /// All.
    Wide,
}

/// The table of the facts that are shown on `sheet`: a line for each run that has what is always there; empty if none
/// has. What a narrow one leaves out is named below it.
pub(crate) fn sheet(result: &ExperimentResult, of: Sheet, width: Width) -> String {
    let mut columns: Vec<Column> = shown(|shown| match *shown {
        Shown::Table { sheet, at, heading, when, spare } if sheet == of => {
            Some((at, (heading, when, spare)))
        }
        _ => None,
    });
    columns.retain(|((_, when, _), fact)| match when {
        When::Always | When::Known | When::WithBuffer | When::WithQueues => true,
        When::Told => result.runs.iter().any(|run| fact.of(run).is_some()),
        When::Nonzero => result.runs.iter().any(|run| is_nonzero(fact.of(run).as_ref())),
        When::InPart => result.runs.iter().any(RunResult::has_parts),
    });
    let mut left_out = Vec::new();
    loop {
        let text = ruled_sheet(result, of, &columns);
        let last = columns.iter().enumerate().max_by_key(|(_, ((_, _, spare), _))| *spare);
        let last = last.filter(|(_, ((_, _, spare), _))| *spare > 0).map(|(at, _)| at);
        let is_short = text.lines().all(|line| line.chars().count() <= WIDTH_MAX);
        match last.filter(|_| width == Width::Narrow && !is_short) {
            Some(at) => left_out.push(columns.remove(at)),
            None => return text + &named(left_out),
        }
    }
}

/// The columns that a table has not, in their order.
fn named(mut left_out: Vec<Column>) -> String {
    if left_out.is_empty() {
        return String::new();
    }
    left_out.reverse();
    let names = left_out.iter().map(|((heading, ..), _)| heading.replace('\n', " "));
    format!("--wide adds: {}\n\n", names.collect::<Vec<_>>().join(", "))
}

fn ruled_sheet(result: &ExperimentResult, of: Sheet, columns: &[Column]) -> String {
    let rows: Vec<_> = result.runs.iter().filter_map(|run| line(run, columns)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let in_part = columns.iter().any(|((_, when, _), _)| *when == When::InPart);
    let has_steady = columns.iter().any(|((heading, ..), _)| *heading == STEADY);
    let heading = |heading| match heading {
        WAF if has_steady => WAF_OF_RUN,
        WAF if in_part => WAF_OF_PAGES,
        other => other,
    };
    let headings = columns.iter().map(|((text, ..), _)| heading(*text));
    let headings: Vec<_> =
        std::iter::once(of.heading()).chain(headings).map(str::to_owned).collect();
    ruled(&headings, rows)
}

fn is_nonzero(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value.number() > 0.0)
}

/// The line of a run; none if it lacks what is always there.
fn line(run: &RunResult, columns: &[Column]) -> Option<Vec<String>> {
    let mut cells = vec![run.ftl.clone()];
    for ((_, when, _), fact) in columns {
        let value = fact.of(run).filter(|of| *when != When::Nonzero || is_nonzero(Some(of)));
        cells.push(match value {
            Some(value) => cell(fact, &value),
            None if *when == When::Always => return None,
            None => "-".to_owned(),
        });
    }
    Some(cells)
}

/// A value; a moment names its unit.
fn cell(fact: &Fact<RunResult>, value: &Value) -> String {
    let text = fact.terminal_text(value);
    if fact.kind == Kind::Moment { format!("{text} {}", fact.unit) } else { text }
}

/// The table of the statistics of flexible data placement, with a line for every handle that was written
/// by; empty if no FTL has handles.
pub(crate) fn fdp(result: &ExperimentResult) -> String {
    let columns = shown_of(OF_HANDLE.iter(), |shown| match *shown {
        Shown::Table { sheet: Sheet::Handles, at, heading, .. } => Some((at, (at, heading))),
        _ => None,
    });
    let (places, headings): (Vec<_>, Vec<_>) = columns.into_iter().map(|(of, _)| of).unzip();
    let runs = result.runs.iter().filter_map(|run| Some((run, run.fdp.as_ref()?)));
    let rows: Vec<_> = runs.flat_map(|(run, fdp)| fdp_rows(&run.ftl, fdp, &places)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = [Sheet::Handles.heading()].into_iter().chain(headings).map(str::to_owned);
    ruled(&headings.collect::<Vec<_>>(), rows)
}

fn fdp_rows(ftl: &str, fdp: &FdpStatistics, places: &[u32]) -> Vec<Vec<String>> {
    let whole = row(ftl.to_owned(), (Sheet::Handles, places), &OF_DRIVE, fdp);
    let used = fdp.handles.iter().filter(|handle| handle.hbmw > 0);
    let each = used.map(|handle| {
        let FdpHandle { group, handle: number, .. } = *handle;
        let group = if fdp.reclaim_groups > 1 { format!("group {group}, ") } else { String::new() };
        let isolation = match handle.isolation {
            FdpIsolation::InitiallyIsolated => "initially",
            FdpIsolation::PersistentlyIsolated => "persistently",
        };
        let name = format!("  {group}handle {number}, {isolation} isolated");
        row(name, (Sheet::Handles, places), &OF_HANDLE, handle)
    });
    let shared = (fdp.shared_units > 0 || fdp.shared_mbe > 0)
        .then(|| row("  moved and mixed".to_owned(), (Sheet::Mixed, places), &OF_DRIVE, fdp));
    [whole].into_iter().chain(each).chain(shared).collect()
}

/// A line under columns in these places: what the facts that are shown there say of `told`.
fn row<R: 'static>(
    name: String,
    (of, places): (Sheet, &[u32]),
    facts: &[Fact<R>],
    told: &R,
) -> Vec<String> {
    let place = |shown: &Shown| match *shown {
        Shown::Table { sheet, at, .. } if sheet == of => Some(at),
        _ => None,
    };
    let text =
        |fact: Option<&Fact<R>>| fact.and_then(|fact| Some(fact.terminal_text(&fact.of(told)?)));
    let facts = in_places(facts, place, places).into_iter();
    let cells = facts.map(|fact| text(fact).unwrap_or_else(|| "-".to_owned()));
    [name].into_iter().chain(cells).collect()
}

/// Warnings, a paragraph each: drives that stopped, drives that cannot keep up, drives unlike those that are built,
/// missing streams, and pages that are written in part.
pub(crate) fn notes(result: &ExperimentResult) -> String {
    let runs =
        result.runs.iter().flat_map(|run| [stopped(run), lagging(run), logged(run)]).flatten();
    let doubts = doubts(result).into_iter().map(|doubt| doubt + "\n\n");
    runs.chain(doubts)
        .chain(nameless(result))
        .chain(in_part(result))
        .chain(watched(result))
        .collect()
}

/// Requests that are smaller than pages, or lie across their boundaries.
fn in_part(result: &ExperimentResult) -> Option<String> {
    let unaligned = result.workload.unaligned_writes;
    let run = result.runs.iter().find(|run| unaligned > 0 && run.has_parts())?;
    let page_bytes = u64::from(result.config.drive.page_bytes);
    let all = result.workload.requests.get("write").copied().unwrap_or(unaligned);
    Some(format!(
        "{} of {} write requests do not begin and end at the boundaries of pages of {}: what a request writes of a page \
         takes a whole program, and reading the rest of the page before it is not simulated. The host sent {} with {} page \
         writes ({}). WAF counts the pages; media per host byte counts what the host sent, as the counters of drives do. \
         --page-size sets the size.\n\n",
        grouped(unaligned),
        grouped(all),
        bytes(page_bytes),
        bytes(run.host_bytes),
        grouped(run.host_writes),
        bytes(run.host_writes * page_bytes)
    ))
}

fn nameless(result: &ExperimentResult) -> Option<String> {
    let run = result.runs.iter().find(|run| run.fdp.is_some())?;
    (!result.workload.has_streams).then(|| {
        format!(
            "{}: the workload names no streams, so everything went to placement handle 0; assign \
             them with --streams, or use a trace with a column stream (Parquet, CSV).\n\n",
            run.ftl
        )
    })
}

/// Writes by handles that do not exist, and what else the events log has.
fn logged(run: &RunResult) -> Option<String> {
    let fdp = run.fdp.as_ref()?;
    let FdpEventCounts {
        unit_not_fully_written,
        invalid_placement_identifier: invalid,
        implicitly_modified_handle: modified,
        ..
    } = fdp.events;
    let is_invalid = |event: &&FdpEvent| event.kind == FdpEventType::InvalidPlacementIdentifier;
    let named = fdp.latest_events.iter().rev().find(is_invalid);
    let example = named.map_or(String::new(), |event| format!(", such as {},", event.named));
    let mut said = Vec::new();
    if invalid > 0 {
        let beyond = match fdp.reclaim_groups {
            1 => format!("beyond its {} handles", fdp.handles.len()),
            groups => format!("of none of its {groups} reclaim groups and their handles"),
        };
        said.push(format!(
            "{} page writes named a stream{example} {beyond} and went to handle 0; raise handles=, or name \
             other streams",
            grouped(invalid),
        ));
    }
    if fdp.redirected_writes > 0 {
        said.push(format!(
            "{} page writes named a reclaim group that held as many valid pages as it can, and went to \
             another; spread the streams over the groups, or raise --op",
            grouped(fdp.redirected_writes),
        ));
    }
    let closed = unit_not_fully_written + modified;
    if closed > 0 {
        said.push(format!("{} reclaim units were closed before they were full", grouped(closed)));
    }
    (!said.is_empty()).then(|| format!("{}: {}.\n\n", run.ftl, said.join("; ")))
}

fn watched(result: &ExperimentResult) -> Option<String> {
    result.runs.iter().any(|run| run.observed.is_some()).then(|| {
        "ns per write and per move include the observation for --out and --report; omit these to \
         time FTLs.\n\n"
            .into()
    })
}

fn stopped(run: &RunResult) -> Option<String> {
    let faults = run.faults.as_ref()?;
    let (after, reason) = (faults.read_only_after?, faults.read_only.as_ref()?);
    Some(format!("{} stopped after {} counted writes: {reason}.\n\n", run.ftl, grouped(after)))
}

/// In an open loop, how much longer than the arrival of its requests a drive may take.
const LAG_MAX: f64 = 1.05;

fn lagging(run: &RunResult) -> Option<String> {
    let time = run.timing.as_ref()?;
    let (asked, taken) = (time.arrived_seconds?, time.elapsed_seconds);
    (taken > LAG_MAX * asked).then(|| {
        format!(
            "{}: the drive falls behind the clock of the host: the last page write comes after {} s and \
             the flash is busy until {} s. Response times then reflect the length of the run, not the \
             speed of the drive: lower speed-up or rate, add LUNs, or use arrivals=closed.\n\n",
            run.ftl,
            significant(asked, 4),
            significant(taken, 4)
        )
    })
}

/// A table whose first column is text and whose others are numbers.
pub(crate) fn ruled<R: AsRef<[String]>>(
    headings: &[String],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let mut table = Table::new();
    table.load_style(LINES);
    // Wrapped cells are harder to read than lines that the terminal wraps.
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(headings);
    for row in rows {
        table.add_row(row.as_ref().iter().map(Cell::new));
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let is_name = index == 0;
        column.set_padding(if is_name { (0, 0) } else { (2, 0) });
        let alignment = if is_name { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
    }
    format!("{table}\n\n")
}

/// A line of CSV.
#[cfg(feature = "lab")]
pub(crate) fn csv_line(cells: impl Iterator<Item = String>) -> String {
    let quoted = cells.map(|cell| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell
        }
    });
    quoted.collect::<Vec<_>>().join(",") + "\n"
}
