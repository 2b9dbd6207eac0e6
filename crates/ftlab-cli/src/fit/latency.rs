//! `ftlab fit --latency`: which times explain the latency of a drive under load.

use crate::error::CliError;
use crate::options::parse_in;
use crate::output::{print, print_json, say};
use crate::progress::runs_so_far;
use crate::table::ruled;
use clap::Args;
use ftlab_experiments::Stop;
use ftlab_experiments::latency_fit::{
    DataSheet, LatencyFit, LatencyTimes, LoadDrive, LoadQuestion, LoadRow, MeasuredLoad,
    MeasuredLoads, Off, SimulatedLoad, Told, USUAL_PAGES_OF_LUN, USUAL_READS,
};
use ftlab_ftl::page::GcSchedule;
use ftlab_sim::format::{grouped, significant};
use ftlab_spec::{ByteSize, Share, Spec};
use std::path::PathBuf;

/// Options of other fits.
const NOT_USED: [&str; 27] = [
    "series",
    "workload",
    "and",
    "logical",
    "host_counter",
    "media_counter",
    "pages",
    "page_size",
    "ftl",
    "op",
    "reserve",
    "fill",
    "skip",
    "after",
    "overhead",
    "store",
    "save",
    "figure",
    "width",
    "height",
    "format",
    "map",
    "skip_bad",
    "assume_write",
    "volume",
    "side_by_side",
    "compact",
];

/// Queues of the host at most: response times of as many tenants are told apart.
const QUEUES_MOST: u32 = 64;

/// Bytes a second of sequential writes, at least.
const SEQUENTIAL_LEAST: u64 = 1_000_000;

#[derive(Debug, Args)]
#[command(next_help_heading = "Latency under load")]
pub(super) struct LatencyArgs {
    /// Finds the --timing that explains latencies of 4 KiB requests, uniform over the drive; may be repeated. A file is what
    /// fio writes with --output-format=json+ (or json), in which jobs that ran at once are a load. Or it is a CSV file with a
    /// line for each load, and columns set_writes_per_s (or set_rate_thousands_per_s), writes_per_s, read_mean_us,
    /// read_p50_us, read_p99_us, read_p99.9_us and the same of write, as far as they were measured; of closed loops depth, in
    /// place of set_writes_per_s, and reads_per_s.
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_USED)]
    pub(super) latency: Vec<PathBuf>,
    /// The drive, if the file has a column drive with several.
    #[arg(long, value_name = "DRIVE", requires = "latency")]
    name: Option<String>,
    /// Reads a second between the writes, of loads that do not say.
    #[arg(long, value_name = "N", requires = "latency", value_parser = parse_in(1_u32..))]
    reads: Option<u32>,
    /// Requests under way at a load that the drive does not keep up with, and that does not say.
    #[arg(long, value_name = "N", requires = "latency", value_parser = parse_in(1_u32..))]
    depth: Option<u32>,
    /// Queues of the host at such a load, which have equal shares of --depth. One of them sends the reads, with as many
    /// writes, and its latencies were measured.
    #[arg(long, value_name = "N", requires = "depth", default_value_t = 1, value_parser = parse_in(1_u32..=QUEUES_MOST))]
    queues: u32,
    /// Bytes a second of sequential writes, as the data sheet has them, such as 1500MB. Without --latency, media bytes of a
    /// series follow from its column seconds.
    #[arg(long, value_name = "SIZE")]
    pub(super) sequential: Option<ByteSize>,
    /// Random writes of 4 KiB a second, as the data sheet has them; they count if no measured load saturates the drive.
    #[arg(long, value_name = "N", requires = "latency", value_parser = parse_in(1_u32..))]
    random: Option<u32>,
    /// Over-provisioning, such as 14.5%; found as well by default.
    #[arg(long, value_name = "SHARE", requires = "latency")]
    over_provisioning: Option<Share>,
    /// Only compares these times with what was measured, at this --over-provisioning. Blocks are small, and erases as much
    /// shorter.
    #[arg(long, value_name = "NAME[:KEY=VALUE,...]", requires = "latency", conflicts_with_all = ["sequential", "random"])]
    timing: Option<Spec>,
}

/// Of what a drive that was searched for is told.
const HEADINGS: [&str; 5] = ["writes/s", "reads/s", "reads: mean", "median", "99th percentile"];

/// What every fit is told.
pub(super) struct Usual {
    pub(super) seed: u64,
    pub(super) gc: Option<GcSchedule>,
    pub(super) threads: usize,
    pub(super) json: bool,
    pub(super) quiet: bool,
}

/// Bytes a second of sequential writes.
pub(super) fn rate(sequential: ByteSize) -> Result<u64, CliError> {
    if sequential.0 < SEQUENTIAL_LEAST {
        return Err(CliError::usage(format!(
            "--sequential {sequential} is less than 1 MB a second, and no program takes so long; give the rate of the data \
             sheet, such as 1500MB"
        )));
    }
    Ok(sequential.0)
}

pub(super) fn fit(asked: &LatencyArgs, usual: &Usual) -> Result<(), CliError> {
    let needed =
        |option: &str, why: &str| CliError::usage(format!("--latency needs {option}: {why}"));
    let measured = MeasuredLoads::read(&asked.latency, asked.name.as_deref())?;
    if asked.reads.is_none() && measured.loads.iter().any(|load| load.reads_per_second.is_none()) {
        return Err(needed("--reads N", "reads a second between the writes"));
    }
    let is_saturated = measured.loads.iter().any(MeasuredLoad::is_saturated);
    let lacks_depth =
        measured.loads.iter().any(|load| load.is_closed() && load.queue_depth.is_none());
    if asked.depth.is_none() && (lacks_depth || asked.random.is_some()) {
        return Err(needed(
            "--depth N",
            "requests under way where the drive does not keep up, as with --random and at saturated loads",
        ));
    }
    let question = LoadQuestion {
        measured,
        reads_per_second: asked.reads.map_or(0.0, f64::from),
        queue_depth: asked.depth.unwrap_or(1),
        queues: asked.queues,
        reads: USUAL_READS,
        pages_of_lun: USUAL_PAGES_OF_LUN,
        leaves_out: true,
        seed: usual.seed,
        stop: Stop::default(),
    };
    check_queues(asked, &question)?;
    let threads = usual.threads;
    let fit = if let Some(timing) = &asked.timing {
        let op = asked.over_provisioning.ok_or_else(|| {
            needed("--over-provisioning SHARE", "with --timing, nothing is searched for")
        })?;
        let gc = usual.gc.unwrap_or_default();
        question.compare(&LoadDrive { timing: timing.clone(), op_ratio: op.0, gc }, threads)?
    } else {
        if usual.gc.is_some() {
            let found = "--gc is searched for; leave it out, or give the times as well (--timing)";
            return Err(CliError::usage(found));
        }
        let sequential = asked.sequential.ok_or_else(|| {
            needed(
                "--sequential SIZE",
                "the rate of sequential writes tells how long programs take",
            )
        })?;
        let tells_op = is_saturated || asked.random.is_some() || asked.over_provisioning.is_some();
        if !tells_op {
            return Err(needed(
                "--random N or --over-provisioning SHARE",
                "no write waits for the flash at any load, so nothing else tells how much it moves",
            ));
        }
        let known = DataSheet {
            sequential: rate(sequential)? as f64,
            random: asked.random.map(f64::from),
            op_ratio: asked.over_provisioning.map(|share| share.0),
        };
        let spinner = runs_so_far(usual.quiet);
        let fit = question.answer(known, threads, &|runs| {
            spinner.set_message(format!("{runs} runs"));
        })?;
        spinner.finish_and_clear();
        fit
    };
    let text = told(&fit);
    if usual.json {
        say(&text);
        return print_json(&fit);
    }
    print(&text)
}

/// Refuses queues that nothing waits in.
fn check_queues(asked: &LatencyArgs, question: &LoadQuestion) -> Result<(), CliError> {
    let LatencyArgs { queues, timing, .. } = asked;
    let depth = question.queue_depth;
    if *queues > 1 && depth < *queues {
        return Err(CliError::usage(format!(
            "--queues {queues} are more than --depth {depth} requests under way; give a depth of one for each at least"
        )));
    }
    if *queues > 1 && !question.measured.loads.iter().any(|load| question.has_queues(load)) {
        return Err(CliError::usage(format!(
            "--queues {queues} are of use where the drive did not keep up with set_writes_per_s, and it did at all loads; \
             leave it out"
        )));
    }
    match timing.as_ref().and_then(|timing| timing.get("slots")) {
        Some(slots) if *queues == 1 && slots != "0" => Err(CliError::usage(format!(
            "slots={slots} of --timing are those of several queues; add --queues, or leave it out"
        ))),
        _ => Ok(()),
    }
}

/// All of it, as text.
fn told(fit: &LatencyFit) -> String {
    let table = table(fit);
    let drive = format!(
        "--op {}% --gc {} --ftl 1r-greedy --pages-per-block {} --timing {}\n\
         Blocks are small, and erases are part of its programs: use the times with these blocks only.\n",
        significant(100.0 * fit.op_ratio, 4),
        fit.gc,
        fit.pages_per_block,
        fit.timing
    );
    format!("{}{table}{}{drive}", verdict(fit), accuracy(fit))
}

fn verdict(fit: &LatencyFit) -> String {
    let off = fit.loads.iter().filter(|row| !row.off.is_near());
    let off: Vec<String> = off.map(|row| row.measured.label()).collect();
    let off = off.join(", ");
    let limits = "mean and 99th percentile of reads within 15%, requests a second within 5%";
    let of = fit.name.as_ref().map_or_else(String::new, |name| format!(" of {name}"));
    match fit.told {
        Told::Explained => format!("The latencies{of} are explained at every load: {limits}.\n\n"),
        Told::InPart => format!(
            "The latencies{of} are explained in part ({limits}). Further off at these loads: {off}.\n\n"
        ),
        Told::Unexplained => format!(
            "NOTHING HERE EXPLAINS THESE LATENCIES{of}: {limits}. Further off at these loads: {off}.\n\
             Do not use the drive below for predictions.\n\n"
        ),
    }
}

fn accuracy(fit: &LatencyFit) -> String {
    let Some(accuracy) = fit.accuracy() else { return String::new() };
    format!(
        "Each load predicted by a fit of the others: {} of {} within the same limits.\n\n",
        accuracy.near, accuracy.loads
    )
}

/// Three lines for each load: measured, fitted, predicted.
fn table(fit: &LatencyFit) -> String {
    let headings: Vec<String> =
        ["load", ""].into_iter().chain(HEADINGS).map(str::to_owned).collect();
    let rows: Vec<Vec<String>> = fit.loads.iter().flat_map(rows_of).collect();
    ruled(&headings, rows)
}

fn rows_of(row: &LoadRow) -> Vec<Vec<String>> {
    let LoadRow { measured, simulated, off, predicted, predicted_off } = row;
    let label = measured.label();
    let of_measured = Shown {
        writes: Some(measured.writes_per_second),
        reads: measured.reads_per_second,
        times: &measured.reads,
    };
    let mut rows = vec![of_measured.line(&label, "measured", &Off::default())];
    let of = if predicted.is_some() { "fitted" } else { "simulated" };
    rows.push(Shown::of(simulated).line("", of, off));
    if let Some((predicted, off)) = predicted.as_ref().zip(predicted_off.as_ref()) {
        rows.push(Shown::of(predicted).line("", "left out", off));
    }
    rows
}

/// What is shown of a load.
struct Shown<'a> {
    writes: Option<f64>,
    reads: Option<f64>,
    times: &'a LatencyTimes,
}

impl<'a> Shown<'a> {
    fn of(simulated: &'a SimulatedLoad) -> Self {
        let SimulatedLoad { writes_per_second, reads_per_second, reads: times, .. } = simulated;
        Self { writes: Some(*writes_per_second), reads: Some(*reads_per_second), times }
    }

    /// A line of the table, with differences where there are some.
    fn line(&self, load: &str, what: &str, off: &Off) -> Vec<String> {
        let with_off = |value: Option<String>, off: Option<f64>, digits: usize| {
            let off = off.map(|off| format!(" ({:+.digits$}%)", 100.0 * off));
            value.map_or_else(|| "-".to_owned(), |value| value + &off.unwrap_or_default())
        };
        let rate = |rate: Option<f64>| rate.map(|rate| grouped(rate.round() as u64));
        let time = |time: Option<f64>| time.map(|time| significant(time, 3));
        vec![
            load.to_owned(),
            what.to_owned(),
            with_off(rate(self.writes), off.writes_per_second, 1),
            with_off(rate(self.reads), off.reads_per_second, 1),
            with_off(time(self.times.mean_us), off.read_mean, 0),
            with_off(time(self.times.p50_us), off.read_p50, 0),
            with_off(time(self.times.p99_us), off.read_p99, 0),
        ]
    }
}
