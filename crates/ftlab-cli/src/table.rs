//! Tables.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use ftlab_sim::ExperimentResult;
use ftlab_sim::format::{bytes, grouped, percent_tenths, significant};
use ftlab_sim::result::{
    FdpEvent, FdpEventCounts, FdpEventType, FdpHandle, FdpIsolation, FdpStatistics, LunSeconds,
    ResponseSummary, RunResult, TimingResult,
};

/// On two lines, to keep the table narrow.
const HEADINGS: [&str; 11] = [
    "FTL",
    "WAF",
    "WAF,\nlast 10%",
    "relocations",
    "erases",
    "victims\nvalid",
    "cold\nregion",
    "metadata",
    "ns per\nwrite",
    "ns per\nmove",
    "settled?",
];

/// After the relocations, if anything was merged.
const MERGE_HEADING: &str = "merge\ncopies";
const MERGE_COLUMN: usize = 4;

/// A line above, one below the headings, one at the end.
const LINES: TableStyle = TableStyle::new()
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// The final table of a run.
pub(crate) fn table(result: &ExperimentResult) -> String {
    let mut headings = HEADINGS.map(str::to_owned).to_vec();
    let mut rows: Vec<Vec<String>> = result.runs.iter().map(row).collect();
    if result.runs.iter().any(|run| run.merge_copies > 0) {
        headings.insert(MERGE_COLUMN, MERGE_HEADING.to_owned());
        for (row, run) in rows.iter_mut().zip(&result.runs) {
            let copies = run.merge_copies;
            row.insert(MERGE_COLUMN, if copies > 0 { grouped(copies) } else { "-".into() });
        }
    }
    ruled(&headings, rows)
}

/// The table of what was rewritten in time; empty if nothing ever is.
pub(crate) fn refresh(result: &ExperimentResult) -> String {
    let runs = result.runs.iter().filter_map(|run| Some((run, run.refresh.as_ref()?)));
    let rows: Vec<[String; 4]> = runs
        .map(|(run, refresh)| {
            let share = refresh.relocations as f64 / run.relocations.max(1) as f64;
            [
                run.ftl.clone(),
                grouped(refresh.blocks),
                grouped(refresh.relocations),
                format!("{}%", significant(100.0 * share, 3)),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = ["refresh", "blocks\nrewritten", "their\npages", "of\nrelocations"];
    ruled(&headings.map(str::to_owned), rows)
}

/// The table of endurance; empty if it was not asked for.
pub(crate) fn wear(result: &ExperimentResult) -> String {
    let runs = result.runs.iter().filter_map(|run| Some((run, run.endurance?)));
    let rows: Vec<[String; 7]> = runs
        .map(|(run, endurance)| {
            let erases = &run.erase_counts;
            [
                run.ftl.clone(),
                grouped(u64::from(erases.min)),
                significant(erases.mean, 4),
                grouped(u64::from(erases.max)),
                significant(erases.gini, 3),
                significant(endurance.tbw, 4),
                significant(endurance.dwpd, 4),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = [
        "wear",
        "fewest\nerases",
        "mean",
        "most",
        "Gini",
        "terabytes\nwritten",
        "drive writes\nper day",
    ];
    ruled(&headings.map(str::to_owned), rows)
}

/// The table of the statistics of flexible data placement, with a line for every handle that was written
/// by; empty if no FTL has handles.
pub(crate) fn fdp(result: &ExperimentResult) -> String {
    let runs = result.runs.iter().filter_map(|run| Some((run, run.fdp.as_ref()?)));
    let rows: Vec<[String; 7]> = runs.flat_map(|(run, fdp)| fdp_rows(&run.ftl, fdp)).collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = [
        "NVMe statistics",
        "HBMW",
        "MBMW",
        "MBE",
        "media per\nhost byte",
        "units\nat the end",
        "room in the\npresent unit",
    ];
    ruled(&headings.map(str::to_owned), rows)
}

fn fdp_rows(ftl: &str, fdp: &FdpStatistics) -> Vec<[String; 7]> {
    let none = || "-".to_owned();
    let row = |name: String, [hbmw, mbmw, mbe]: [u64; 3], units: u64, room: Option<u64>| {
        let ratio = if hbmw == 0 { none() } else { format!("{:.4}", mbmw as f64 / hbmw as f64) };
        let room = room.map_or_else(none, bytes);
        [name, bytes(hbmw), bytes(mbmw), bytes(mbe), ratio, grouped(units), room]
    };
    let units = fdp.handles.iter().map(|handle| u64::from(handle.units)).sum::<u64>();
    let whole = row(
        ftl.to_owned(),
        [fdp.hbmw, fdp.mbmw, fdp.mbe],
        units + u64::from(fdp.shared_units),
        None,
    );
    let used = fdp.handles.iter().filter(|handle| handle.hbmw > 0);
    let each = used.map(|handle| {
        let FdpHandle { group, handle: number, .. } = *handle;
        let group = if fdp.reclaim_groups > 1 { format!("group {group}, ") } else { String::new() };
        let isolation = match handle.isolation {
            FdpIsolation::InitiallyIsolated => "initially",
            FdpIsolation::PersistentlyIsolated => "persistently",
        };
        row(
            format!("  {group}handle {number}, {isolation} isolated"),
            [handle.hbmw, handle.mbmw, handle.mbe],
            handle.units.into(),
            Some(handle.ruamw_bytes),
        )
    });
    let shared = (fdp.shared_units > 0 || fdp.shared_mbe > 0).then(|| {
        let (mbe, units) = (bytes(fdp.shared_mbe), grouped(fdp.shared_units.into()));
        ["  moved and mixed".to_owned(), none(), none(), mbe, none(), units, none()]
    });
    [whole].into_iter().chain(each).chain(shared).collect()
}

/// The table of what failed; empty if nothing can.
pub(crate) fn faults(result: &ExperimentResult) -> String {
    let runs = result.runs.iter().filter_map(|run| Some((run, run.faults.as_ref()?)));
    let rows: Vec<[String; 6]> = runs
        .map(|(run, faults)| {
            let after = faults.read_only_after;
            [
                run.ftl.clone(),
                grouped(u64::from(faults.bad_blocks)),
                grouped(u64::from(faults.retired_blocks)),
                grouped(faults.failed_programs),
                grouped(faults.failed_erases),
                after.map_or_else(|| "-".to_owned(), |writes| grouped(writes) + " writes"),
            ]
        })
        .collect();
    if rows.is_empty() {
        return String::new();
    }
    let headings = [
        "faults",
        "factory\nbad",
        "retired\nat the end",
        "failed\nprograms",
        "failed\nerases",
        "read-only\nafter",
    ];
    ruled(&headings.map(str::to_owned), rows)
}

/// Warnings, a paragraph each: drives that stopped, drives that cannot keep up, and missing
/// streams.
pub(crate) fn notes(result: &ExperimentResult) -> String {
    let runs =
        result.runs.iter().flat_map(|run| [stopped(run), lagging(run), logged(run)]).flatten();
    runs.chain(nameless(result)).chain(watched(result)).collect()
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

/// The tables of response times and of LUN activity; empty if time was not simulated.
pub(crate) fn times(result: &ExperimentResult) -> String {
    let runs: Vec<_> = result
        .runs
        .iter()
        .filter_map(|run| Some((run.ftl.clone(), run.timing.as_ref()?)))
        .collect();
    if runs.is_empty() {
        return String::new();
    }
    let responses = runs.iter().map(|(ftl, time)| responses(ftl.clone(), time));
    let requests: Vec<_> = runs.iter().flat_map(|(ftl, time)| requests(ftl, time)).collect();
    let has_reads = !requests.is_empty();
    let luns = runs.iter().map(|(ftl, time)| luns(ftl.clone(), time, has_reads));
    let mut lun_headings = LUN_HEADINGS.map(str::to_owned).to_vec();
    if has_reads {
        lun_headings.push("busy with\nhost reads".into());
    }
    let responses = if requests.is_empty() {
        ruled(&RESPONSE_HEADINGS.map(str::to_owned), responses)
    } else {
        ruled(&REQUEST_HEADINGS.map(str::to_owned), requests)
    };
    let buffers: String = runs.iter().filter_map(|(ftl, time)| buffer(ftl, time)).collect();
    responses + &buffers + &waits(&runs) + &ruled(&lun_headings, luns)
}

const RESPONSE_HEADINGS: [&str; 9] = [
    "response time\nin ms",
    "mean",
    "standard\ndeviation",
    "median",
    "p95",
    "p99",
    "p99.9",
    "p99.99",
    "longest",
];

fn responses(ftl: String, time: &TimingResult) -> [String; 9] {
    let ms = |nanoseconds: f64| significant(nanoseconds / 1e6, 4);
    let of = &time.response_ns;
    let quantiles = [of.p50, of.p95, of.p99, of.p99_9, of.p99_99, of.max];
    let [p50, p95, p99, p99_9, p99_99, max] = quantiles.map(|ns| ms(ns as f64));
    [ftl, ms(of.mean), ms(of.stddev), p50, p95, p99, p99_9, p99_99, max]
}

const REQUEST_HEADINGS: [&str; 10] = [
    "response time\nin ms",
    "a second",
    "mean",
    "median",
    "p95",
    "p99",
    "p99.9",
    "p99.99",
    "p99.999",
    "longest",
];

/// A line for each operation that the host asked for, if it waited for requests, and one for transactions.
fn requests(ftl: &str, time: &TimingResult) -> Vec<[String; 10]> {
    let ms = |nanoseconds: f64| significant(nanoseconds / 1e6, 4);
    let line = |what: &str, per_second: f64, of: &ResponseSummary| {
        let quantiles = [of.p50, of.p95, of.p99, of.p99_9, of.p99_99, of.p99_999, of.max];
        let [p50, p95, p99, p99_9, p99_99, p99_999, max] = quantiles.map(|ns| ms(ns as f64));
        [
            format!("{ftl}, {what}{}", if what == "flush" { "es" } else { "s" }),
            grouped(per_second.round() as u64),
            ms(of.mean),
            p50,
            p95,
            p99,
            p99_9,
            p99_99,
            p99_999,
            max,
        ]
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

const WAIT_HEADINGS: [&str; 8] = [
    "waits in ms",
    "requests",
    "response\ntime",
    "own\noperation",
    "host's\nLUN",
    "host's\nchannel",
    "collection",
    "erase",
];

/// What requests waited for, if somebody asked: lines for reads and writes, and a column for the write buffer if
/// there is one.
fn waits(runs: &[(String, &TimingResult)]) -> String {
    let ms = |nanoseconds: f64| significant(nanoseconds / 1e6, 4);
    let has_buffer = runs
        .iter()
        .any(|(_, time)| time.requests.as_ref().is_some_and(|of| of.write_buffer.is_some()));
    let mut lines = Vec::new();
    for (ftl, time) in runs {
        for op in ["read", "write"] {
            let times = time.requests.as_ref().and_then(|requests| requests.operations.get(op));
            for waits in times.iter().flat_map(|times| times.waits.iter().flatten()) {
                let mut cells = vec![
                    format!("{ftl}, {op}s, {}", waits.of),
                    grouped(waits.requests),
                    ms(waits.response_ns),
                ];
                let parts =
                    waits.parts().into_iter().filter(|(of, _)| has_buffer || *of != "buffer");
                cells.extend(parts.map(|(_, part)| ms(part)));
                lines.push(cells);
            }
        }
    }
    if lines.is_empty() {
        return String::new();
    }
    let mut headings = WAIT_HEADINGS.map(str::to_owned).to_vec();
    headings.extend(has_buffer.then(|| "buffer".to_owned()));
    ruled(&headings, lines)
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

const LUN_HEADINGS: [&str; 9] = [
    "LUNs",
    "host\nwrites/s",
    "MB/s",
    "least\nbusy",
    "most\nbusy",
    "busy with\nhost writes",
    "busy with\nrelocations",
    "busy with\nmerges",
    "busy with\nerases",
];

/// Reads of the host come last, if they take time.
fn luns(ftl: String, time: &TimingResult, has_reads: bool) -> Vec<String> {
    let percent = |share: f64| format!("{:.1}%", 100.0 * share);
    let shares = || time.lun_busy_share.iter().copied();
    let LunSeconds { host_writes, host_reads, relocations, merges, erases, others } =
        time.lun_seconds;
    let all = host_writes + host_reads + relocations + merges + erases + others;
    let of_all = |seconds: f64| if all > 0.0 { percent(seconds / all) } else { "-".to_owned() };
    let mut cells = vec![
        ftl,
        grouped(time.iops.round() as u64),
        significant(time.bytes_per_second / 1e6, 4),
        percent(shares().fold(f64::INFINITY, f64::min)),
        percent(shares().fold(0.0, f64::max)),
        of_all(host_writes),
        of_all(relocations),
        of_all(merges),
        of_all(erases),
    ];
    if has_reads {
        cells.push(of_all(host_reads));
    }
    cells
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

fn row(run: &RunResult) -> Vec<String> {
    let share = |share: Option<f64>| share.map_or_else(|| "-".to_owned(), percent_tenths);
    vec![
        run.ftl.clone(),
        significant(run.waf, 5),
        significant(run.waf_last_tenth, 5),
        grouped(run.relocations),
        grouped(run.erases),
        share(run.victim_valid_share.mean),
        share(run.cold_region_share),
        bytes(run.memory.metadata_bytes),
        significant(run.nanoseconds_per_host_write, 3),
        run.nanoseconds_per_relocation.map_or_else(|| "-".to_owned(), |time| significant(time, 3)),
        run.settling.verdict.to_string(),
    ]
}
