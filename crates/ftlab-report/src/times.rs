//! Tables of response times, and of what LUNs and channels did.

use crate::tables::{Cell, Column, Meaning, Row, Table, cell};
use ftlab_sim::ExperimentResult;
use ftlab_sim::fact::{Fact, Facts, Sheet, Shown, shown_of};
use ftlab_sim::result::{
    GroupResult, LunSeconds, ResponseSummary, RunResult, TimingResult, WaitsResult,
};

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

/// Activity of the flash over time; empty if time was not simulated.
pub(crate) fn speed(result: &ExperimentResult) -> Table {
    fn timed(run: &RunResult, cell: impl FnOnce(&TimingResult) -> Cell) -> Cell {
        Cell::of(run.timing.as_ref(), cell)
    }
    fn busy(run: &RunResult, part: fn(&LunSeconds) -> f64) -> Cell {
        timed(run, |time| {
            let of = &time.lun_seconds;
            let moved = of.relocations + of.merges;
            let all = of.host_writes + of.host_reads + moved + of.erases + of.others;
            Cell::of(Some(part(of) / all).filter(|share| share.is_finite()), Cell::share)
        })
    }
    fn mean(run: &RunResult, shares: fn(&TimingResult) -> &Vec<f64>) -> Option<f64> {
        let shares = shares(run.timing.as_ref()?);
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    }
    let columns: [Column; 12] = [
        ("host writes per second", "Pages that the host wrote per simulated second", |run| {
            timed(run, |time| Cell::count(time.iops.round() as u64))
        }),
        ("MB/s", "Million bytes that the host wrote per simulated second", |run| {
            timed(run, |time| Cell::digits(time.bytes_per_second / 1e6, 4))
        }),
        ("LUNs busy", "Share of the time, of the mean LUN", |run| {
            Cell::of(mean(run, |time| &time.lun_busy_share), Cell::share)
        }),
        ("least", "Of the LUN that was least busy", |run| {
            let shares = run.timing.iter().flat_map(|time| &time.lun_busy_share);
            Cell::of(shares.copied().reduce(f64::min), Cell::share)
        }),
        ("most", "Of the LUN that was most busy", |run| {
            let shares = run.timing.iter().flat_map(|time| &time.lun_busy_share);
            Cell::of(shares.copied().reduce(f64::max), Cell::share)
        }),
        ("waiting per LUN", "Pages of the host that waited for a LUN, averaged over time", |run| {
            Cell::of(mean(run, |time| &time.lun_queue_mean), |pages| Cell::digits(pages, 3))
        }),
        (
            "channels busy",
            "Share of the time for which a page passed, of the mean channel",
            |run| {
                let busy = mean(run, |time| &time.channel_busy_share).filter(|share| *share > 0.0);
                Cell::of(busy, Cell::share)
            },
        ),
        ("LUNs for host writes", "Share of the LUNs' busy time that host writes took", |run| {
            busy(run, |of| of.host_writes)
        }),
        ("for host reads", "Share that reads of the host took, where they take time", |run| {
            let takes_time = run.timing.as_ref().is_some_and(|time| time.requests.is_some());
            if takes_time { busy(run, |of| of.host_reads) } else { Cell::of(None, Cell::share) }
        }),
        ("for relocations", "Share that relocations took", |run| busy(run, |of| of.relocations)),
        ("for merges", "Share that copies of merges took", |run| busy(run, |of| of.merges)),
        ("for erases", "Share that erases took", |run| busy(run, |of| of.erases)),
    ];
    Table::new(result, &columns).without_empty()
}
