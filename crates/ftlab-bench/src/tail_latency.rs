//! Section 4.3.4 of the 2R paper: collecting several blocks at once makes some host writes wait very
//! long, and collecting in the background should not. Response times under each schedule.
//!
//! The captured trace is expected in `$FTLAB_SHARED/traces`.

mod figure;
mod line;

use crate::common::Failure;
use ftlab_sim::result::RunResult;
use ftlab_sim::{DriveOptions, Experiment, Fill, Workload};
use ftlab_trace::OpenOptions;
use line::{FTLS, Line, SCHEDULES};
use std::path::{Path, PathBuf};

const TRACE: &str = "tpcc-mariadb";

const QUEUE_DEPTHS: [u32; 2] = [1, 16];

/// Runs all FTLs on the trace, with a full drive.
fn measure(trace: &Path, schedule: &'static str, queue_depth: u32) -> Result<Vec<Line>, Failure> {
    let workload = Workload::parse(&trace.display().to_string(), OpenOptions::default())?;
    let ftls = FTLS.iter().map(|ftl| ftl.parse()).collect::<Result<_, _>>()?;
    let experiment = Experiment {
        drive: DriveOptions {
            pages_per_block: Some(1024),
            gc: schedule.parse()?,
            ..DriveOptions::default()
        },
        fill: Fill::Sequential,
        timing: Some(format!("slc:channels=4,luns=2,queue-depth={queue_depth}").parse()?),
        ..Experiment::new(workload, ftls)
    };
    let runs = experiment.run(&mut ())?.runs;
    FTLS.iter().zip(runs).map(|(ftl, run)| line(ftl, schedule, run)).collect()
}

fn line(ftl: &'static str, schedule: &'static str, run: RunResult) -> Result<Line, Failure> {
    let timing = run.timing.ok_or("the run has no times")?;
    let (waf, host_writes) = (run.waf, run.host_writes);
    Ok(Line { ftl, schedule, waf, response_ns: timing.response_ns, host_writes })
}

fn print(line: &Line) {
    let of = &line.response_ns;
    print!("{:10} {:12} {:6.3} {:8.3}", line.ftl, line.schedule, line.waf, of.mean / 1e6);
    for ns in [of.p50, of.p95, of.p99, of.p99_9, of.p99_99, of.max] {
        print!(" {:8.2}", ns as f64 / 1e6);
    }
    println!();
}

/// Prints all schedules for each FTL, and draws them into the file `figure`, if given.
pub(crate) fn run(figure: Option<&str>) -> Result<(), Failure> {
    let shared = std::env::var_os("FTLAB_SHARED").map(PathBuf::from);
    let trace = shared.map(|shared| shared.join(format!("traces/{TRACE}.parquet")));
    let Some(trace) = trace.filter(|path| path.exists()) else {
        println!("SKIPPED: set FTLAB_SHARED to the directory that contains traces/{TRACE}.parquet");
        return Ok(());
    };
    let mut panels = Vec::new();
    for queue_depth in QUEUE_DEPTHS {
        println!("{TRACE}, queue depth {queue_depth}; response times in ms");
        print!("{:10} {:12} {:>6}", "FTL", "--gc", "WAF");
        for heading in ["mean", "p50", "p95", "p99", "p99.9", "p99.99", "longest"] {
            print!(" {heading:>8}");
        }
        println!();
        let mut lines = Vec::new();
        for schedule in SCHEDULES {
            lines.extend(measure(&trace, schedule, queue_depth)?);
        }
        // The schedules of an FTL on consecutive lines.
        lines.sort_by_key(|line| FTLS.iter().position(|ftl| *ftl == line.ftl));
        lines.iter().for_each(print);
        println!();
        panels.push((
            format!("depth {queue_depth}: dashed foreground, dotted background, solid incremental"),
            lines,
        ));
    }
    if let Some(path) = figure {
        std::fs::write(path, figure::draw(&panels)?)
            .map_err(|error| format!("cannot write the figure {path}: {error}"))?;
    }
    Ok(())
}
