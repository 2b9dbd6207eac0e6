//! What samples are worth: cells of workloads, FTLs and over-provisioning, each run as a whole and estimated.
//!
//! `cargo run --release -p ftlab-experiments --example sampling_cells -- STORE FOLDER > docs/notes/sampling-cells.md`,
//! where FOLDER holds the captured traces. STORE is a file of JSON lines, which keeps what has been run: the same command
//! continues. Without FOLDER, nothing runs. It takes about ten minutes on one core.

use ftlab_experiments::Stop;
use ftlab_experiments::advise::{Choice, Question};
use ftlab_experiments::curve::{CurvePoint, Curves, Estimate, Sampling, estimate, least_half};
use ftlab_sim::{DriveOptions, Experiment, Length, Logical, Workload};
use ftlab_spec::Share;
use ftlab_trace::OpenOptions;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs::{self, OpenOptions as Files};
use std::io::Write;
use std::path::Path;

const FTLS: [&str; 13] = [
    "1r-greedy",
    "fifo",
    "2r-fifo",
    "2r++",
    "lfs-cb",
    "dac-cb",
    "sepbit",
    "multilog/cost-benefit",
    "sfs/cost-benefit",
    "fk",
    "wolf",
    "midas",
    "hazard",
];
const OPS: [f64; 5] = [0.07, 0.28, 0.1, 0.5, 0.15];

/// On drives of 512 blocks. Constants were fitted to those that are marked.
const GROWN: [(&str, bool); 12] = [
    ("zipf:theta=0.9", true),
    ("zipf:theta=1.1", false),
    ("hotcold", true),
    ("uniform", false),
    ("trace-like:file=linkbench-mariadb.parquet", true),
    ("trace-like:file=tpcc-mariadb.parquet", false),
    ("trace-like:file=pgbench-postgresql.parquet", true),
    ("ycsb", false),
    ("tpcc", true),
    ("linkbench", false),
    ("hotcold:writes=0.99,pages=0.3", true),
    ("skew:x=90", false),
];
const GROWN_BLOCKS: u64 = 512;
const GROWN_DRIVE_WRITES: f64 = 3.0;
/// Pages of their blocks; all have the smaller ones, a few the larger ones.
const MIDDLE: u32 = 1024;
const LARGE: u32 = 4096;
const ARE_LARGE: usize = 4;

/// As they were captured, on drives of their own, with blocks of 512 pages.
const CAPTURED: [(&str, bool); 5] = [
    ("linkbench-mariadb.parquet", true),
    ("tpcc-mariadb.parquet", false),
    ("pgbench-postgresql.parquet", true),
    ("ycsb-rocksdb.parquet", false),
    ("fio-zipf-0.9.parquet", false),
];
const CAPTURED_BLOCK: u32 = 512;
const CAPTURED_DRIVE_WRITES: f64 = 16.0;

/// Less than this is next to nothing, of which no share is taken.
const MOVED_MIN: f64 = 0.01;

/// A workload on a drive, and both answers.
#[derive(Serialize, Deserialize)]
struct Asked {
    workload: String,
    is_fitted: bool,
    pages_per_block: u32,
    whole: Curves,
    sampled: Curves,
}

struct Plan {
    workload: &'static str,
    is_fitted: bool,
    /// Whether its drive has the size of the trace.
    is_captured: bool,
    pages_per_block: u32,
    ops: Vec<f64>,
}

fn plans() -> Vec<Plan> {
    let of = |is_captured: bool, pages_per_block: u32, first: usize| {
        move |(at, (workload, is_fitted)): (usize, (&'static str, bool))| {
            let mut ops = [0, 1].map(|turn| OPS[(first + at + turn) % OPS.len()]).to_vec();
            ops.sort_by(f64::total_cmp);
            Plan { workload, is_fitted, is_captured, pages_per_block, ops }
        }
    };
    let captured = CAPTURED.into_iter().enumerate().map(of(true, CAPTURED_BLOCK, 0));
    let middle = GROWN.into_iter().enumerate().map(of(false, MIDDLE, 0));
    let large = GROWN.into_iter().take(ARE_LARGE).enumerate().map(of(false, LARGE, 2));
    captured.chain(middle).chain(large).collect()
}

impl Plan {
    fn question(&self, folder: &Path) -> Result<Question, Box<dyn Error>> {
        let text = match self.workload.strip_prefix("trace-like:file=") {
            Some(file) => format!("trace-like:file={}", folder.join(file).display()),
            None if self.is_captured => folder.join(self.workload).display().to_string(),
            None => self.workload.to_owned(),
        };
        let workload = Workload::parse(&text, OpenOptions::default())?;
        let ftls = FTLS.iter().map(|ftl| ftl.parse()).collect::<Result<Vec<_>, _>>()?;
        let (logical, drive_writes) = if self.is_captured {
            (Logical::OfWorkload, CAPTURED_DRIVE_WRITES)
        } else {
            let pages = GROWN_BLOCKS * u64::from(self.pages_per_block);
            (Logical::Pages(pages), GROWN_DRIVE_WRITES)
        };
        Ok(Question {
            base: Experiment {
                drive: DriveOptions {
                    logical,
                    pages_per_block: Some(self.pages_per_block),
                    ..DriveOptions::default()
                },
                length: Length::DriveWrites(drive_writes),
                ..Experiment::new(workload, Vec::new())
            },
            ftls: Choice::new(&ftls, None),
            class: None,
            op_ratios: self.ops.iter().copied().map(Share).collect(),
            target: None,
            service: None,
            stop: Stop::default(),
        })
    }

    fn ask(&self, folder: &Path) -> Result<Asked, Box<dyn Error>> {
        let question = self.question(folder)?;
        let one_in = self.pages_per_block / 64;
        let sampled = question.draw_curves(Some(Sampling { one_in, draws: 2 }), 1, &|_, _| ())?;
        let whole = question.draw_curves(None, 1, &|_, _| ())?;
        let Self { workload, is_fitted, pages_per_block, .. } = *self;
        Ok(Asked { workload: workload.into(), is_fitted, pages_per_block, whole, sampled })
    }
}

/// A whole run beside its estimate.
struct Cell<'a> {
    of: &'a Asked,
    ftl: &'a str,
    op: f64,
    waf: f64,
    estimate: Estimate,
}

impl Cell<'_> {
    fn off(&self) -> f64 {
        (self.estimate.waf - self.waf) / (self.waf - 1.0)
    }

    fn is_within(&self) -> bool {
        (self.estimate.interval[0]..=self.estimate.interval[1]).contains(&self.waf)
    }
}

fn cells(asked: &[Asked]) -> Vec<Cell<'_>> {
    let mut cells = Vec::new();
    for of in asked {
        for (whole, sampled) in of.whole.curves.iter().zip(&of.sampled.curves) {
            for point in &whole.points {
                let is_same = |other: &&CurvePoint| other.blocks == point.blocks;
                let Some(other) = sampled.points.iter().find(is_same) else { continue };
                let estimate = estimate(&other.seen, of.whole.pages_per_block);
                let pages =
                    of.sampled.sample.as_ref().map_or(0.0, |sample| sample.pages_per_request);
                let estimate = estimate.widened(least_half(&whole.ftl, pages));
                let op = (1000.0 * point.op_ratio).round() / 1000.0;
                cells.push(Cell { of, ftl: &whole.ftl, op, waf: point.waf, estimate });
            }
        }
    }
    cells.retain(|cell| cell.waf - 1.0 >= MOVED_MIN);
    cells
}

fn pages_per_request(of: &Asked) -> f64 {
    of.sampled.sample.as_ref().map_or(0.0, |sample| sample.pages_per_request)
}

fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted[((share * sorted.len() as f64) as usize).min(sorted.len() - 1)]
}

/// Cells, median, 95%, within 5%, within their interval.
fn row(name: &str, cells: &[&Cell<'_>]) -> String {
    let mut off: Vec<f64> = cells.iter().map(|cell| cell.off().abs()).collect();
    off.sort_by(f64::total_cmp);
    let share = |count: usize| 100.0 * count as f64 / cells.len() as f64;
    format!(
        "| {name} | {} | {:.1}% | {:.1}% | {:.0}% | {:.0}% |\n",
        cells.len(),
        100.0 * quantile(&off, 0.5),
        100.0 * quantile(&off, 0.95),
        share(off.iter().filter(|off| **off <= 0.05).count()),
        share(cells.iter().filter(|cell| cell.is_within()).count()),
    )
}

/// Which cells a row is about.
type Which<'a> = &'a dyn Fn(&Cell<'_>) -> bool;

fn print_page(asked: &[Asked]) {
    const HEADINGS: &str = "cells | median | 95% are within | within 5% | in the interval |\n|---|---|---|---|---|---|\n";
    let all = cells(asked);
    let some = |is: Which<'_>| all.iter().filter(|cell| is(cell)).collect::<Vec<_>>();
    let is_doubtful = |cell: &Cell<'_>| least_half(cell.ftl, pages_per_request(cell.of)) > 0.0;
    print!("{HOW}");
    print!("\n| of | {HEADINGS}");
    let groups: [(&str, Which<'_>); 7] = [
        ("all", &|_| true),
        ("fitted", &|cell| cell.of.is_fitted),
        ("held out", &|cell| !cell.of.is_fitted),
        ("held out, without what the answer says is far off", &|cell| {
            !cell.of.is_fitted && !is_doubtful(cell)
        }),
        ("blocks of 4,096 pages, without these", &|cell| {
            cell.of.pages_per_block == LARGE && !is_doubtful(cell)
        }),
        ("blocks of 1,024 pages, without these", &|cell| {
            cell.of.pages_per_block == MIDDLE && !is_doubtful(cell)
        }),
        ("captured traces, blocks of 512 pages, without these", &|cell| {
            cell.of.pages_per_block == CAPTURED_BLOCK && !is_doubtful(cell)
        }),
    ];
    for (name, is) in groups {
        let cells = some(is);
        if !cells.is_empty() {
            print!("{}", row(name, &cells));
        }
    }
    print!("\n| FTL | {HEADINGS}");
    for ftl in FTLS {
        let cells = some(&|cell| cell.ftl == ftl);
        if !cells.is_empty() {
            print!("{}", row(ftl, &cells));
        }
    }
    print!(
        "\n| workload, pages of a block | cells | median | 95% are within | within 5% | in the interval | page writes |\n|---|---|---|---|---|---|---|\n"
    );
    for of in asked {
        let cells = some(&|cell| std::ptr::eq(cell.of, of));
        let work = of.sampled.sample.as_ref().map_or(1.0, |sample| sample.work);
        let row = row(&format!("{}, {}", of.workload, of.pages_per_block), &cells);
        println!("{} {:.1} x fewer |", row.trim_end(), 1.0 / work);
    }
    print!(
        "\n| workload | FTL | OP | WAF | estimate | interval | off |\n|---|---|---|---|---|---|---|\n"
    );
    for cell in &all {
        let Estimate { waf, interval: [low, high] } = cell.estimate;
        println!(
            "| {} | {} | {:.0}% | {:.3} | {waf:.3} | {low:.3} to {high:.3} | {:+.1}% |",
            cell.of.workload,
            cell.ftl,
            100.0 * cell.op,
            cell.waf,
            100.0 * cell.off()
        );
    }
}

/// How the tables came to be, and what they do not prove.
const HOW: &str = "\
# How far samples are off

Every cell is a workload, an FTL and over-provisioning. It was run as a whole, and estimated from samples, as
`ftlab curve --sample` does: two samples with 64 pages left in a block, two with 16. Shares are of WAF - 1; cells with
less than 0.01 are left out. Drives have 512 blocks and are written three times. Captured traces are on their own
drives, and last 16 drive writes at most.

`cargo run --release -p ftlab-experiments --example sampling_cells -- STORE FOLDER` wrote this. The constants of
the interval, and the form of the estimate, were fitted to half of the workloads; those held out are the test. What
the answer says is far off is `fifo`, `fk`, `hazard`, `sfs`, `wolf`, and RocksDB: intervals have at least what was
measured, so that they are no test.
";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let store = arguments.next().ok_or("give the file that keeps what has been run")?;
    let folder = arguments.next();
    let lines = fs::read_to_string(&store).unwrap_or_default();
    let mut asked: Vec<Asked> =
        lines.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    for plan in plans() {
        let Some(folder) = &folder else { break };
        let is_same =
            |of: &Asked| of.workload == plan.workload && of.pages_per_block == plan.pages_per_block;
        if asked.iter().any(is_same) {
            continue;
        }
        let of = plan.ask(Path::new(folder))?;
        eprintln!("{}", of.workload);
        let mut file = Files::new().create(true).append(true).open(&store)?;
        writeln!(file, "{}", serde_json::to_string(&of)?)?;
        asked.push(of);
    }
    print_page(&asked);
    Ok(())
}
