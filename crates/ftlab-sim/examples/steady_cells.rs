//! What "steady" is worth: every cell runs until it is steady, and then ten times as long; twice if it has a bound.
//!
//! `cargo run --release -p ftlab-sim --example steady_cells -- FOLDER > docs/notes/steady-cells.md`, where FOLDER holds
//! the samples of the captured traces. It takes a few minutes on one core.

use ftlab_sim::result::{ExperimentResult, RunResult};
use ftlab_sim::{
    DriveOptions, Experiment, Length, Logical, Physical, UNTIL_STEADY_DRIVE_WRITES, Verdict,
    Workload,
};
use ftlab_spec::Share;
use ftlab_trace::{Layout, OpenOptions};
use std::error::Error;
use std::path::Path;

/// Captured traces, squeezed to the pages that they use: some thousand pages each.
const TRACES: [&str; 4] = [
    "blktrace-binary.blktrace",
    "blkparse.txt.gz",
    "ftrace-tpcc.txt.gz",
    "fio-zipf-0.9.iolog-v3.gz",
];
const GENERATORS: [&str; 6] = [
    "uniform",
    "zipf:theta=0.9",
    "zipf:theta=1.1",
    "hotcold",
    "skew:x=95",
    "hotcold:writes=0.99,pages=0.3",
];
const FTLS: [&str; 8] =
    ["1r-greedy", "fifo", "lfs-cb", "dac-cb", "sepbit", "2r++", "hazard", "wolf"];
const OP: [f64; 4] = [0.07, 0.12, 0.2, 0.28];
/// Pages of the drives of generators, and of a block.
const PAGES: u64 = 4096;
const BLOCK: u32 = 16;
/// Blocks of the drive of a trace, about.
const BLOCKS: u64 = 300;
/// What counts as right, as a share of WAF - 1, and where hardly anything is moved.
const TOLERANCE: f64 = 0.03;
const TOLERANCE_MIN: f64 = 0.002;

/// How the table came to be, and what it does not prove.
const HOW: &str = "\
`cargo run --release -p ftlab-sim --example steady_cells -- FOLDER` wrote this, from the samples of the captured
traces. The limits of the rule (eight batches, the correlation that is reckoned with) were chosen on 88 cells of the
same workloads on similar drives, so the table is no independent test of them.";

struct Cell {
    workload: &'static str,
    ftl: &'static str,
    op: f64,
    is_trace: bool,
}

/// Every workload with six FTLs, every FTL with several over-provisionings.
fn cells() -> impl Iterator<Item = Cell> {
    let traces = TRACES.into_iter().map(|name| (name, true));
    let workloads = traces.chain(GENERATORS.into_iter().map(|name| (name, false)));
    workloads.enumerate().flat_map(|(at, (workload, is_trace))| {
        (0..6).map(move |turn| Cell {
            workload,
            ftl: FTLS[(at * 3 + turn) % FTLS.len()],
            op: OP[(at + turn) % OP.len()],
            is_trace,
        })
    })
}

impl Cell {
    fn experiment(&self, folder: &Path) -> Result<Experiment, Box<dyn Error>> {
        let mut drive = DriveOptions {
            physical: Physical::OverProvisioning(Share(self.op)),
            ..DriveOptions::default()
        };
        let workload = if self.is_trace {
            let path = folder.join(self.workload).display().to_string();
            let squeezed = OpenOptions { layout: Layout::Pieces(4096), ..OpenOptions::default() };
            Workload::parse(&path, squeezed)?
        } else {
            (drive.logical, drive.pages_per_block) = (Logical::Pages(PAGES), Some(BLOCK));
            Workload::parse(self.workload, OpenOptions::default())?
        };
        let mut experiment = Experiment {
            drive,
            repeat: self.is_trace,
            length: Length::UntilSteady(UNTIL_STEADY_DRIVE_WRITES),
            threads: Some(1),
            ..Experiment::new(workload, vec![self.ftl.parse()?])
        };
        if self.is_trace {
            let pages = u64::from(experiment.prepare()?.config().drive.logical_pages);
            experiment.drive.pages_per_block = Some((pages / BLOCKS).next_power_of_two() as u32);
        }
        Ok(experiment)
    }
}

/// What one cell came to.
struct Outcome {
    drive_writes: f64,
    run: RunResult,
    /// Write amplification of what a longer run has after it.
    rest: f64,
}

fn outcome(cell: &Cell, folder: &Path) -> Result<Outcome, Box<dyn Error>> {
    let experiment = cell.experiment(folder)?;
    let ExperimentResult { config, mut runs, .. } = experiment.run(&mut ())?;
    let run = runs.remove(0);
    let writes = run.host_writes;
    // A bound is known to hold sooner than a value.
    let times = if run.steady_waf.is_some() { 10 } else { 2 };
    let long = Experiment { length: Length::Writes(times * writes), ..experiment }.run(&mut ())?;
    let times = times as f64;
    let rest = (times * long.runs[0].waf - run.waf) / (times - 1.0);
    let drive_writes = writes as f64 / f64::from(config.drive.logical_pages);
    Ok(Outcome { drive_writes, run, rest })
}

impl Outcome {
    fn is_steady(&self) -> bool {
        self.run.settling.verdict == Verdict::Steady
    }

    /// How far the steady value is from the rest, as a share of WAF - 1 of the rest; none where hardly anything is
    /// moved.
    fn off(&self) -> Option<f64> {
        let moved = self.rest - 1.0;
        let off = (self.run.steady_waf? - self.rest) / moved;
        (moved > TOLERANCE_MIN).then_some(off)
    }

    /// Whether what was said is right.
    fn is_right(&self) -> bool {
        let tolerance = (TOLERANCE * (self.rest - 1.0)).max(TOLERANCE_MIN);
        if let Some(waf) = self.run.steady_waf {
            return (waf - self.rest).abs() <= tolerance;
        }
        let settling = &self.run.settling;
        settling.at_least.is_none_or(|low| self.rest >= low - tolerance)
            && settling.at_most.is_none_or(|high| self.rest <= high + tolerance)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give the folder of the samples")?;
    println!("# How often a steady value is right\n");
    println!(
        "Every cell ran until it was steady ([steady.md](../steady.md)), at most 200 drive writes."
    );
    println!(
        "A second run of ten times the length, or twice if it ended with a bound, says what comes after."
    );
    println!("A value is right within 3% of WAF - 1 of that, or 0.002. The drives");
    println!("have a few thousand pages, so that noise is larger than on drives of usual size.\n");
    println!(
        "| workload | FTL | OP | drive writes | answer | whole run | what comes after | off |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let (mut steady, mut bounds) = (Vec::new(), Vec::new());
    for cell in cells() {
        let of = outcome(&cell, Path::new(&folder))?;
        let bound = || of.run.settling.bound().unwrap_or_else(|| "too short".to_owned());
        let answer = of.run.steady_waf.map_or_else(bound, |waf| format!("{waf:.4}"));
        let off = of.off().map_or_else(|| "-".to_owned(), |off| format!("{:+.1}%", 100.0 * off));
        let wrong = if of.is_right() { "" } else { " **wrong**" };
        println!(
            "| {} | {} | {:.0}% | {:.2} | {answer} | {:.4} | {:.4} | {off}{wrong} |",
            cell.workload,
            cell.ftl,
            100.0 * cell.op,
            of.drive_writes,
            of.run.waf,
            of.rest,
        );
        if of.is_steady() { steady.push(of) } else { bounds.push(of) }
    }
    println!();
    let right = |all: &[Outcome]| all.iter().filter(|of| of.is_right()).count();
    println!(
        "{} of {} cells are steady, and {} of these are right. {} end with a bound, of which {} hold.",
        steady.len(),
        steady.len() + bounds.len(),
        right(&steady),
        bounds.len(),
        right(&bounds)
    );
    steady.sort_by(|a, b| a.drive_writes.total_cmp(&b.drive_writes));
    if let Some(middle) = steady.get(steady.len() / 2) {
        println!("Half of the steady ones took {:.0} drive writes or less.", middle.drive_writes);
    }
    println!("\n{HOW}");
    Ok(())
}
