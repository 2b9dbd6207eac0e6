//! Tables of response times.

use crate::tables::{Cell, Meaning, Row, Table, cell};
use ftlab_sim::ExperimentResult;
use ftlab_sim::fact::{Fact, Facts, Sheet, Shown, shown_of};
use ftlab_sim::result::{GroupResult, ResponseSummary, RunResult, WaitsResult};

/// Columns of a table of which the rows are parts of runs: their headings and facts.
type Columns<'a, R> = Vec<(Meaning, &'a Fact<R>)>;

/// Those of the facts that are shown on `of`.
fn columns<R>(facts: &[Fact<R>], of: Sheet) -> Columns<'_, R> {
    shown_of(facts, |shown| match *shown {
        Shown::Report { sheet, at, heading, meaning, .. } if sheet == of => {
            Some((at, (heading, meaning)))
        }
        _ => None,
    })
}

/// The cells of a part.
fn cells<R: 'static>(columns: &[(Meaning, &Fact<R>)], of: &R) -> impl Iterator<Item = Cell> {
    columns.iter().map(|(_, fact)| cell(fact, fact.of(of)))
}

/// Response times by size, tenant and stream; empty if nobody asked.
pub(crate) fn groups(result: &ExperimentResult) -> Table {
    const FIRST: [Meaning; 3] = [
        ("requests", "What was asked for, and by what group"),
        ("a second", "How many there were a second"),
        ("MB/s", "Million bytes of their pages per second"),
    ];
    let facts = ResponseSummary::facts();
    let times = columns(&facts, Sheet::Groups);
    let row = |run: &RunResult, group: &GroupResult| {
        let GroupResult { by, name, operation, response_ns: of, .. } = group;
        let what = match by.as_str() {
            "size" if name == "1" => format!("{operation}, 1 page"),
            "size" => format!("{operation}, {name} pages"),
            "tenant" => format!("{operation}, {name}"),
            _ => format!("{operation}, stream {name}"),
        };
        let mut row = vec![
            Cell { text: what, number: None },
            Cell::count(group.per_second.round() as u64),
            Cell::digits(group.bytes_per_second / 1e6, 4),
        ];
        row.extend(cells(&times, of));
        Row { ftl: run.ftl.clone(), cells: row }
    };
    let mut rows = Vec::new();
    for run in &result.runs {
        let requests = run.timing.as_ref().and_then(|timing| timing.requests.as_ref());
        let groups = requests.iter().flat_map(|requests| &requests.groups);
        rows.extend(groups.map(|group| row(run, group)));
    }
    Table::of(FIRST.into_iter().chain(times.iter().map(|(meaning, _)| *meaning)), rows)
}

/// What requests waited for; empty if nobody asked.
pub(crate) fn waits(result: &ExperimentResult) -> Table {
    const FIRST: Meaning =
        ("which", "All requests, or those whose response times are within 1/32 of a percentile");
    let facts = WaitsResult::facts();
    let columns = columns(&facts, Sheet::Waits);
    let mut rows = Vec::new();
    for run in &result.runs {
        let requests = run.timing.as_ref().and_then(|timing| timing.requests.as_ref());
        for op in ["read", "write"] {
            let times = requests.and_then(|requests| requests.operations.get(op));
            for waits in times.iter().flat_map(|times| times.waits.iter().flatten()) {
                let which = Cell { text: format!("{op}s, {}", waits.of), number: None };
                let cells = [which].into_iter().chain(cells(&columns, waits)).collect();
                rows.push(Row { ftl: run.ftl.clone(), cells });
            }
        }
    }
    let headings = columns.iter().map(|(meaning, _)| *meaning);
    Table::of([FIRST].into_iter().chain(headings), rows).without_zeros()
}

/// The slowest requests; empty if they were not kept.
pub(crate) fn slowest(result: &ExperimentResult) -> Table {
    const FIRST: [Meaning; 2] = [
        ("request", "What it asked for, and its number"),
        ("arrived at", "Seconds on the clock of the simulation"),
    ];
    let facts = WaitsResult::facts();
    let mut columns = columns(&facts, Sheet::Waits);
    columns.retain(|(_, fact)| fact.path != "requests");
    let mut rows = Vec::new();
    for run in &result.runs {
        let requests = run.timing.as_ref().and_then(|timing| timing.requests.as_ref());
        for of in requests.iter().flat_map(|requests| requests.slowest.iter().flatten()) {
            let which = Cell { text: format!("{} {}", of.operation, of.number), number: None };
            let arrival = Cell::digits(of.arrival_ns as f64 / 1e9, 6);
            let cells = [which, arrival].into_iter().chain(cells(&columns, &of.waits)).collect();
            rows.push(Row { ftl: run.ftl.clone(), cells });
        }
    }
    let headings = columns.iter().map(|(meaning, _)| *meaning);
    Table::of(FIRST.into_iter().chain(headings), rows).without_zeros()
}
