//! The tables of placement handles.

use crate::tables::{Cell, Meaning, Row, Table, cell, sheet};
use ftlab_sim::ExperimentResult;
use ftlab_sim::fact::{Fact, Sheet, Shown, in_places, shown_of};
use ftlab_sim::result::{FdpIsolation, FdpStatistics, OF_DRIVE, OF_HANDLE};

/// What a line is of.
const FIRST: [Meaning; 2] = [
    (
        "handle",
        "The placement handle by which the host wrote, in its reclaim group if there are several",
    ),
    ("isolated", "Initially: until collection moves its pages; persistently: for good"),
];

/// A line for each handle that was used, and for units of mixed pages; empty if no FTL has handles.
pub(crate) fn handles(result: &ExperimentResult) -> Table {
    let columns = shown_of(OF_HANDLE.iter(), |shown| match *shown {
        Shown::Report { sheet: Sheet::Handles, at, heading, meaning, .. } => {
            Some((at, (at, (heading, meaning))))
        }
        _ => None,
    });
    let (places, columns): (Vec<_>, Vec<_>) = columns.into_iter().map(|(of, _)| of).unzip();
    let told = result.runs.iter().filter_map(|run| Some((run, run.fdp.as_ref()?)));
    let rows = told.flat_map(|(run, fdp)| {
        let rows = of_drive(fdp, &places).into_iter();
        rows.map(|cells| Row { ftl: run.ftl.clone(), cells })
    });
    Table::of(FIRST.into_iter().chain(columns), rows.collect())
}

fn of_drive(fdp: &FdpStatistics, places: &[u32]) -> Vec<Vec<Cell>> {
    let used = fdp.handles.iter().filter(|handle| handle.hbmw > 0);
    let handles = used.map(|of| {
        let name = match fdp.reclaim_groups {
            1 => of.handle.to_string(),
            _ => format!("{} in group {}", of.handle, of.group),
        };
        let isolated = match of.isolation {
            FdpIsolation::InitiallyIsolated => "initially",
            FdpIsolation::PersistentlyIsolated => "persistently",
        };
        let first = [Cell::new(of.identifier.into(), name), Cell::text(isolated)];
        row(first, (Sheet::Handles, places), &OF_HANDLE, of)
    });
    let mixed = (fdp.shared_units > 0 || fdp.shared_mbe > 0).then(|| {
        let first = [Cell::text("moved and mixed"), Cell::of(None, Cell::text)];
        row(first, (Sheet::Mixed, places), &OF_DRIVE, fdp)
    });
    handles.chain(mixed).collect()
}

/// The cells of a line under columns in these places.
fn row<R: 'static>(
    first: [Cell; 2],
    (of, places): (Sheet, &[u32]),
    facts: &[Fact<R>],
    told: &R,
) -> Vec<Cell> {
    let place = |shown: &Shown| match *shown {
        Shown::Report { sheet, at, .. } if sheet == of => Some(at),
        _ => None,
    };
    let facts = in_places(facts, place, places).into_iter();
    let cells = facts.map(|fact| Cell::of(fact, |fact| cell(fact, fact.of(told))));
    first.into_iter().chain(cells).collect()
}

/// How often something happened to units; empty if no FTL has handles.
pub(crate) fn events(result: &ExperimentResult) -> Table {
    let mut events = sheet(result, Sheet::Events);
    events.rows.retain(|row| row.cells.iter().any(|cell| cell.number.is_some()));
    events
}
