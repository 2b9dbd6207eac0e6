//! Where facts are shown besides JSON.

use super::value::Column;

/// A table of which runs are the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sheet {
    /// The main one.
    Runs,
    /// What was rewritten in time.
    Refresh,
    /// What happened in SLC caches.
    Slc,
    /// What a map on flash cost.
    Map,
    /// Erases of blocks, and endurance.
    Wear,
    /// What failed.
    Faults,
    /// Pages moved, by how long they last.
    Moves,
    /// How long writes of pages took.
    Responses,
    /// How long requests took, by operation.
    Requests,
    /// How long requests took, by size, tenant or stream.
    Groups,
    /// What requests waited for: a row of some requests.
    Waits,
    /// What LUNs and channels did.
    Luns,
    /// Placement handles: a row of all, and of each.
    Handles,
    /// Units whose pages handles share: a row of the table of handles.
    Mixed,
    /// What happened to units of placement handles.
    Events,
}

impl Sheet {
    /// What stands over the names of FTLs.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Runs => "FTL",
            Self::Refresh => "refresh",
            Self::Slc => "SLC cache",
            Self::Map => "map",
            Self::Wear => "wear",
            Self::Faults => "faults",
            Self::Moves => "moves",
            Self::Responses | Self::Requests => "response time\nin ms",
            Self::Groups => "response time\nin ms by group",
            Self::Waits => "waits in ms",
            Self::Luns => "LUNs",
            Self::Handles | Self::Mixed | Self::Events => "NVMe statistics",
        }
    }
}

/// When a table has a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Always: a run without a value is on another table.
    Always,
    /// Always: a run may have no value.
    Known,
    /// If some run has a value.
    Told,
    /// If some run has more than 0.
    Nonzero,
    /// If the host wrote pages in part.
    InPart,
    /// If there is a write buffer.
    WithBuffer,
    /// If requests waited in queues of tenants.
    WithQueues,
}

/// A place where a fact is shown. `at` orders the columns there.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)]
pub enum Shown {
    /// A column in the terminal.
    Table {
        sheet: Sheet,
        at: u32,
        /// Its heading, on two lines if it is long.
        heading: &'static str,
        /// When it is there.
        when: When,
        /// Its place in the order in which columns are left out of a table that is too wide, from the highest down; 0
        /// stays.
        spare: u8,
    },
    /// A column on the report page, which leaves out columns without values.
    Report {
        sheet: Sheet,
        at: u32,
        heading: &'static str,
        meaning: &'static str,
        /// When it is there.
        when: When,
    },
    /// A number of experiment files, and a column of `results.csv`.
    Sweep { at: u32, name: &'static str, doc: &'static str },
    /// A column of the store of a sweep, beside the whole result.
    Stored {
        at: u32,
        name: &'static str,
        /// What it holds.
        column: Column,
    },
    /// A column of `scoreboard.csv`.
    Compared { at: u32, name: &'static str },
    /// A column of `series.parquet`, and of the table of series in Python.
    Running {
        /// Its place in the file.
        at: u32,
        name: &'static str,
        /// What it holds.
        column: Column,
        /// Its place in Python.
        frame: u32,
    },
    /// A column of the table of runs in Python, which has whatever is directly in a run anyway.
    Frame { at: u32, name: &'static str },
}

/// A column in the terminal.
pub(crate) fn table(sheet: Sheet, at: u32, heading: &'static str, when: When) -> Shown {
    Shown::Table { sheet, at, heading, when, spare: 0 }
}

/// `column`, which may be left out of a table that is too wide: those with the highest numbers first.
pub(crate) fn spare(place: u8, column: Shown) -> Shown {
    match column {
        Shown::Table { sheet, at, heading, when, .. } => {
            Shown::Table { sheet, at, heading, when, spare: place }
        }
        other => other,
    }
}

/// A column on the report page, with its meaning.
pub(crate) fn report(
    sheet: Sheet,
    at: u32,
    heading: &'static str,
    meaning: &'static str,
    when: When,
) -> Shown {
    Shown::Report { sheet, at, heading, meaning, when }
}

/// A number of experiment files.
pub(crate) fn sweep(at: u32, name: &'static str, doc: &'static str) -> Shown {
    Shown::Sweep { at, name, doc }
}

/// A column of the store of a sweep.
pub(crate) fn stored(at: u32, name: &'static str, column: Column) -> Shown {
    Shown::Stored { at, name, column }
}

/// A column of `scoreboard.csv`.
pub(crate) fn compared(at: u32, name: &'static str) -> Shown {
    Shown::Compared { at, name }
}

/// A column of series.
pub(crate) fn running(at: u32, name: &'static str, column: Column, frame: u32) -> Shown {
    Shown::Running { at, name, column, frame }
}

/// A column of the table of runs in Python.
pub(crate) fn frame(at: u32, name: &'static str) -> Shown {
    Shown::Frame { at, name }
}
