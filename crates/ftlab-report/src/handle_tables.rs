//! The tables of placement handles.

use crate::tables::{Cell, Meaning, Row, Table};
use ftlab_sim::ExperimentResult;
use ftlab_sim::format::bytes;
use ftlab_sim::result::{FdpIsolation, FdpStatistics};

/// Columns of the table of handles.
const HANDLES: [Meaning; 7] = [
    (
        "handle",
        "The placement handle by which the host wrote, in its reclaim group if there are several",
    ),
    ("isolated", "Initially: until collection moves its pages; persistently: for good"),
    ("host bytes", "Bytes that the host wrote by it, as it sent them (HBMW)"),
    (
        "media bytes",
        "Bytes of the pages programmed for these, and moved later, wherever they lay (MBMW)",
    ),
    ("media bytes per host byte", "The second as a multiple of the first"),
    ("units", "Reclaim units that hold pages of this handle only, the present one included"),
    ("room left", "Bytes that the present unit still takes"),
];

/// Columns of the table of events.
const EVENTS: [Meaning; 5] = [
    ("not written to capacity", "Units that the host left before they were full"),
    ("implicitly modified", "Units that the drive left before they were full: a program failed"),
    (
        "invalid identifier",
        "Page writes that named a handle or a reclaim group that does not exist",
    ),
    ("media reallocated", "Units of which collection moved pages of initially isolated handles"),
    ("redirected", "Page writes whose reclaim group was full, and that went to another"),
];

/// A line for each handle that was used, and for units of mixed pages; empty if no FTL has handles.
pub(crate) fn handles(result: &ExperimentResult) -> Table {
    let told = result.runs.iter().filter_map(|run| Some((run, run.fdp.as_ref()?)));
    let rows = told.flat_map(|(run, fdp)| {
        let rows = of_drive(fdp).into_iter();
        rows.map(|cells| Row { ftl: run.ftl.clone(), cells })
    });
    Table::of(HANDLES, rows.collect())
}

fn of_drive(fdp: &FdpStatistics) -> Vec<Vec<Cell>> {
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
        vec![
            Cell::new(of.identifier.into(), name),
            Cell::text(isolated),
            Cell::new(of.hbmw as f64, bytes(of.hbmw)),
            Cell::new(of.mbmw as f64, bytes(of.mbmw)),
            Cell::digits(of.mbmw as f64 / of.hbmw as f64, 5),
            Cell::count(of.units),
            Cell::new(of.ruamw_bytes as f64, bytes(of.ruamw_bytes)),
        ]
    });
    let mixed = (fdp.shared_units > 0 || fdp.shared_mbe > 0).then(|| {
        let none = || Cell::text("–");
        let units = Cell::count(fdp.shared_units);
        vec![Cell::text("moved and mixed"), none(), none(), none(), none(), units, none()]
    });
    handles.chain(mixed).collect()
}

/// How often something happened to units; empty if no FTL has handles.
pub(crate) fn events(result: &ExperimentResult) -> Table {
    let told = result.runs.iter().filter_map(|run| Some((run, run.fdp.as_ref()?)));
    let rows = told.map(|(run, fdp)| {
        let events = fdp.events;
        let counts = [
            events.unit_not_fully_written,
            events.implicitly_modified_handle,
            events.invalid_placement_identifier,
            events.media_reallocated,
            fdp.redirected_writes,
        ];
        Row { ftl: run.ftl.clone(), cells: counts.map(Cell::count).into() }
    });
    Table::of(EVENTS, rows.collect())
}
