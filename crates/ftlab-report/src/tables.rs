//! The tables of the page.

use ftlab_sim::ExperimentResult;
use ftlab_sim::format::{bytes, grouped, percent_tenths, significant};
use ftlab_sim::result::{Endurance, FaultsResult, Moves, RunResult};

/// A table of the runs.
pub(crate) struct Table {
    pub(crate) headings: Vec<Heading>,
    pub(crate) rows: Vec<Row>,
}

pub(crate) struct Heading {
    pub(crate) text: &'static str,
    pub(crate) meaning: &'static str,
}

pub(crate) struct Row {
    pub(crate) ftl: String,
    pub(crate) cells: Vec<Cell>,
}

/// A text, and the number by which rows are sorted, if any.
pub(crate) struct Cell {
    pub(crate) text: String,
    pub(crate) number: Option<f64>,
}

impl Cell {
    pub(crate) fn new(number: f64, text: String) -> Self {
        Self { text, number: Some(number) }
    }

    pub(crate) fn text(text: &str) -> Self {
        Self { text: text.into(), number: None }
    }

    pub(crate) fn count(number: impl Into<u64>) -> Self {
        let number = number.into();
        Self::new(number as f64, grouped(number))
    }

    pub(crate) fn digits(number: f64, digits: i32) -> Self {
        Self::new(number, significant(number, digits))
    }

    pub(crate) fn share(share: f64) -> Self {
        Self::new(share, percent_tenths(share))
    }

    /// A dash if there is no value.
    pub(crate) fn of<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or_else(|| Self::text("–"), cell)
    }
}

/// A heading and its meaning.
pub(crate) type Meaning = (&'static str, &'static str);

/// The heading of a column, its meaning, and how it is derived from a run.
pub(crate) type Column = (&'static str, &'static str, fn(&RunResult) -> Cell);

impl Table {
    pub(crate) fn new(result: &ExperimentResult, columns: &[Column]) -> Self {
        let row = |run: &RunResult| Row {
            ftl: run.ftl.clone(),
            cells: columns.iter().map(|(_, _, cell)| cell(run)).collect(),
        };
        Self {
            headings: columns.iter().map(|(text, meaning, _)| Heading { text, meaning }).collect(),
            rows: result.runs.iter().map(row).collect(),
        }
    }

    /// Rows under these headings, of which there are none without rows.
    pub(crate) fn of(headings: impl IntoIterator<Item = Meaning>, rows: Vec<Row>) -> Self {
        let headings = headings.into_iter().filter(|_| !rows.is_empty());
        let headings = headings.map(|(text, meaning)| Heading { text, meaning }).collect();
        Self { headings, rows }
    }

    /// Removes empty columns.
    pub(crate) fn without_empty(self) -> Self {
        self.without(|cell| cell.number.is_none())
    }

    /// Removes columns of nothing but zeros.
    pub(crate) fn without_zeros(self) -> Self {
        self.without(|cell| cell.number == Some(0.0))
    }

    /// Removes columns of nothing but such cells.
    fn without(mut self, is_nothing: impl Fn(&Cell) -> bool) -> Self {
        for column in (0..self.headings.len()).rev() {
            if self.rows.iter().all(|row| is_nothing(&row.cells[column])) {
                self.headings.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
            }
        }
        self
    }
}

/// The counts.
pub(crate) fn results(result: &ExperimentResult) -> Table {
    let columns: [Column; 15] = [
        ("write amplification", "Flash pages programmed per page that the host wrote", |run| {
            Cell::digits(run.waf, 5)
        }),
        (
            "media bytes per host byte",
            "Bytes of these pages per byte that the host sent, as counters of drives give it: pages written in part count whole",
            |run| {
                let ratio = run.has_parts().then_some(run.media_bytes_per_host_byte);
                Cell::of(ratio, |ratio| Cell::digits(ratio, 5))
            },
        ),
        ("last tenth", "Write amplification over the last tenth of the host writes", |run| {
            Cell::digits(run.waf_last_tenth, 5)
        }),
        ("relocations", "Valid pages that garbage collection moved", |run| {
            Cell::count(run.relocations)
        }),
        ("refreshed", "Of the relocations, pages of blocks read too often or too old", |run| {
            Cell::of(run.refresh.as_ref(), |refresh| Cell::count(refresh.relocations))
        }),
        (
            "folded",
            "Of the relocations, pages written from the SLC cache to normal blocks",
            |run| Cell::of(run.slc.as_ref(), |slc| Cell::count(slc.folds)),
        ),
        ("SLC hits", "Of the host writes, pages rewritten or trimmed in the SLC cache", |run| {
            Cell::of(run.slc.as_ref(), |slc| Cell::count(slc.dropped))
        }),
        ("merge copies", "Pages that merges of a hybrid-mapped FTL copied", |run| {
            Cell::of(Some(run.merge_copies).filter(|copies| *copies > 0), Cell::count)
        }),
        ("erases", "Blocks erased", |run| Cell::count(run.erases)),
        ("victims valid", "Mean share of pages still valid in the blocks collected", |run| {
            Cell::of(run.victim_valid_share.mean, Cell::share)
        }),
        ("cold region", "Share of the blocks in cold streams at the end", |run| {
            Cell::of(run.cold_region_share, Cell::share)
        }),
        (
            "metadata",
            "State that a controller keeps for the algorithm in addition to the mapping",
            |run| {
                let size = run.memory.metadata_bytes;
                Cell::new(size as f64, bytes(size))
            },
        ),
        (
            "settled?",
            "Steady: the last five rounds of a quarter drive write agree, and the last half of the run has no trend",
            |run| Cell::new(run.settling.trend, run.settling.verdict.to_string()),
        ),
        ("host writes", "Pages that the host wrote", |run| Cell::count(run.host_writes)),
        ("host bytes", "Bytes that the host sent with these", |run| {
            let sent = run.has_parts().then_some(run.host_bytes);
            Cell::of(sent, |sent| Cell::new(sent as f64, bytes(sent)))
        }),
    ];
    Table::new(result, &columns).without_empty()
}

/// Erases of blocks, and endurance.
pub(crate) fn wear(result: &ExperimentResult) -> Table {
    fn endurance(run: &RunResult, value: fn(Endurance) -> f64) -> Cell {
        Cell::of(run.endurance, |endurance| Cell::digits(value(endurance), 4))
    }
    let columns: [Column; 6] = [
        ("fewest erases", "Of the block with the fewest", |run| Cell::count(run.erase_counts.min)),
        ("mean", "Mean over all blocks", |run| Cell::digits(run.erase_counts.mean, 4)),
        ("most", "Of the block with the most", |run| Cell::count(run.erase_counts.max)),
        ("Gini", "0 if all blocks have equally many erases, towards 1 if a few have all", |run| {
            Cell::digits(run.erase_counts.gini, 3)
        }),
        ("terabytes written", "What the host can write before the flash is worn out", |run| {
            endurance(run, |of| of.tbw)
        }),
        ("drive writes per day", "The same, over the years of a usual warranty", |run| {
            endurance(run, |of| of.dwpd)
        }),
    ];
    Table::new(result, &columns).without_empty()
}

/// Failures; empty if nothing could fail.
pub(crate) fn faults(result: &ExperimentResult) -> Table {
    fn failed(run: &RunResult, count: fn(&FaultsResult) -> u64) -> Cell {
        Cell::of(run.faults.as_ref(), |faults| Cell::count(count(faults)))
    }
    let columns: [Column; 5] = [
        ("factory bad", "Blocks", |run| failed(run, |of| of.bad_blocks.into())),
        ("retired at the end", "Blocks", |run| failed(run, |of| of.retired_blocks.into())),
        ("failed programs", "Programs and copies", |run| failed(run, |of| of.failed_programs)),
        ("failed erases", "Erases", |run| failed(run, |of| of.failed_erases)),
        ("read-only after", "Host page writes", |run| {
            let after = run.faults.as_ref().and_then(|faults| faults.read_only_after);
            Cell::of(after, Cell::count)
        }),
    ];
    Table::new(result, &columns).without_empty()
}

/// Pages moved, by lifetime; empty if the flash was not observed.
pub(crate) fn moves(result: &ExperimentResult) -> Table {
    fn moved(run: &RunResult, class: fn(&Moves) -> u64) -> Cell {
        Cell::of(run.observed.as_ref(), |observed| Cell::count(class(&observed.moves)))
    }
    let columns: [Column; 5] = [
        ("hot", "Overwritten or trimmed within a tenth of a drive write", |run| {
            moved(run, |of| of.hot)
        }),
        ("warm", "Within two tenths", |run| moved(run, |of| of.warm)),
        ("cold", "Later", |run| moved(run, |of| of.cold)),
        ("frozen", "Valid to the end, and older than two tenths of a drive write", |run| {
            moved(run, |of| of.frozen)
        }),
        ("undecided", "Valid to the end, and younger", |run| moved(run, |of| of.undecided)),
    ];
    Table::new(result, &columns).without_empty()
}
