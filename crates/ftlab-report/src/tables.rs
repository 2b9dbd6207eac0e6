//! The tables of the page.

use ftlab_sim::ExperimentResult;
use ftlab_sim::format::{bytes, grouped, percent_tenths, significant};
use ftlab_sim::result::{
    Endurance, FaultsResult, LunSeconds, Moves, ResponseSummary, RunResult, TimingResult,
    WaitsResult,
};

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

    fn share(share: f64) -> Self {
        Self::new(share, percent_tenths(share))
    }

    /// A dash if there is no value.
    fn of<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or_else(|| Self::text("–"), cell)
    }
}

/// The heading of a column, its meaning, and how it is derived from a run.
type Column = (&'static str, &'static str, fn(&RunResult) -> Cell);

impl Table {
    fn new(result: &ExperimentResult, columns: &[Column]) -> Self {
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
    fn without_empty(mut self) -> Self {
        for column in (0..self.headings.len()).rev() {
            if self.rows.iter().all(|row| row.cells[column].number.is_none()) {
                self.headings.remove(column);
                self.rows.iter_mut().for_each(|row| drop(row.cells.remove(column)));
            }
        }
        self
    }
}

/// The counts.
pub(crate) fn results(result: &ExperimentResult) -> Table {
    let columns: [Column; 11] = [
        ("write amplification", "Flash pages programmed per page that the host wrote", |run| {
            Cell::digits(run.waf, 5)
        }),
        ("last tenth", "Write amplification over the last tenth of the host writes", |run| {
            Cell::digits(run.waf_last_tenth, 5)
        }),
        ("relocations", "Valid pages that garbage collection moved", |run| {
            Cell::count(run.relocations)
        }),
        ("refreshed", "Of the relocations, pages of blocks read too often or too old", |run| {
            Cell::of(run.refresh.as_ref(), |refresh| Cell::count(refresh.relocations))
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
    ];
    Table::new(result, &columns).without_empty()
}

/// Response times; empty if time was not simulated.
pub(crate) fn responses(result: &ExperimentResult) -> Table {
    fn ms(run: &RunResult, time: fn(&ResponseSummary) -> f64) -> Cell {
        let timing = run.timing.as_ref();
        Cell::of(timing, |timing| Cell::digits(time(&timing.response_ns) / 1e6, 4))
    }
    fn read_ms(run: &RunResult, time: fn(&ResponseSummary) -> f64) -> Cell {
        let requests = run.timing.as_ref().and_then(|timing| timing.requests.as_ref());
        let reads = requests.and_then(|requests| requests.operations.get("read"));
        Cell::of(reads, |reads| Cell::digits(time(&reads.response_ns) / 1e6, 4))
    }
    let columns: [Column; 13] = [
        (
            "mean",
            "Mean response time of a page write, or of a write request, in milliseconds",
            |run| ms(run, |of| of.mean),
        ),
        ("median", "Half of the writes took no longer", |run| ms(run, |of| of.p50 as f64)),
        ("p90", "90% took no longer", |run| ms(run, |of| of.p90 as f64)),
        ("p95", "95% took no longer", |run| ms(run, |of| of.p95 as f64)),
        ("p99", "99% took no longer", |run| ms(run, |of| of.p99 as f64)),
        ("p99.9", "99.9% took no longer", |run| ms(run, |of| of.p99_9 as f64)),
        ("p99.99", "99.99% took no longer", |run| ms(run, |of| of.p99_99 as f64)),
        ("longest", "The longest of all", |run| ms(run, |of| of.max as f64)),
        ("reads: mean", "Mean response time of a read request", |run| read_ms(run, |of| of.mean)),
        ("p99", "99% of the reads took no longer", |run| read_ms(run, |of| of.p99 as f64)),
        ("p99.9", "99.9% of the reads took no longer", |run| read_ms(run, |of| of.p99_9 as f64)),
        ("p99.99", "99.99% of the reads took no longer", |run| read_ms(run, |of| of.p99_99 as f64)),
        ("p99.999", "99.999% of the reads took no longer", |run| {
            read_ms(run, |of| of.p99_999 as f64)
        }),
    ];
    Table::new(result, &columns).without_empty()
}

/// A heading and its meaning.
pub(crate) type Meaning = (&'static str, &'static str);

/// What there is to wait for.
const PARTS: [Meaning; 7] = [
    ("response", "The response time in milliseconds, on average, which is the sum of the rest"),
    ("own", "The request's own operations: the cells and the transfer"),
    ("host's LUN", "The LUN was busy with other operations of the host, or kept for them"),
    ("host's channel", "Other pages of the host were on the channel, or it was kept for them"),
    ("collection", "Pages were moved, on the LUN or channel or for a write to have room"),
    ("erase", "The LUN erased, or a write waited for an erase"),
    ("buffer", "The write buffer was full, or a page waited there for its program"),
];

/// What requests waited for; empty if nobody asked.
pub(crate) fn waits(result: &ExperimentResult) -> Table {
    const FIRST: [Meaning; 2] = [
        ("which", "All requests, or those whose response times are within 1/32 of a percentile"),
        ("requests", "How many these are"),
    ];
    let mut rows = Vec::new();
    for run in &result.runs {
        let requests = run.timing.as_ref().and_then(|timing| timing.requests.as_ref());
        for op in ["read", "write"] {
            let times = requests.and_then(|requests| requests.operations.get(op));
            for waits in times.iter().flat_map(|times| times.waits.iter().flatten()) {
                let which = Cell { text: format!("{op}s, {}", waits.of), number: None };
                let mut cells = vec![which, Cell::count(waits.requests)];
                cells.extend(waited(waits));
                rows.push(Row { ftl: run.ftl.clone(), cells });
            }
        }
    }
    Table::of(FIRST.into_iter().chain(PARTS), rows)
}

/// The slowest requests; empty if they were not kept.
pub(crate) fn slowest(result: &ExperimentResult) -> Table {
    const FIRST: [Meaning; 2] = [
        ("request", "What it asked for, and its number"),
        ("arrived at", "Seconds on the clock of the simulation"),
    ];
    let mut rows = Vec::new();
    for run in &result.runs {
        let requests = run.timing.as_ref().and_then(|timing| timing.requests.as_ref());
        for of in requests.iter().flat_map(|requests| requests.slowest.iter().flatten()) {
            let which = Cell { text: format!("{} {}", of.operation, of.number), number: None };
            let mut cells = vec![which, Cell::digits(of.arrival_ns as f64 / 1e9, 6)];
            cells.extend(waited(&of.waits));
            rows.push(Row { ftl: run.ftl.clone(), cells });
        }
    }
    Table::of(FIRST.into_iter().chain(PARTS), rows)
}

fn waited(waits: &WaitsResult) -> impl Iterator<Item = Cell> {
    let parts = waits.parts().map(|(_, part)| part);
    std::iter::once(waits.response_ns).chain(parts).map(|ns| Cell::digits(ns / 1e6, 4))
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
    let columns: [Column; 7] = [
        ("host writes per second", "Pages that the host wrote per simulated second", |run| {
            timed(run, |time| Cell::count(time.iops.round() as u64))
        }),
        ("MB/s", "Million bytes that the host wrote per simulated second", |run| {
            timed(run, |time| Cell::digits(time.bytes_per_second / 1e6, 4))
        }),
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
