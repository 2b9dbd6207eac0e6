//! The cost of a sweep in addition to its runs: how busy it keeps the processors, and its overhead
//! per run compared with the same experiments one after the other without a sweep.

use crate::common::Failure;
use ftlab_experiments::sweep::{ExperimentFile, Plan, Scale, Shard, Store, SweepOptions, sweep};
use ftlab_sim::Threads;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

/// 1,000 runs of a few milliseconds, two FTLs per workload.
const EXPERIMENT: &str = r#"
    title = "1,000 small runs"
    workloads = ["zipf:theta={theta}"]
    ftls = ["1r-greedy", "2r-fifo"]
    seeds = [1, 2, 3, 4, 5]
    [drive]
    logical-pages = 16384
    pages-per-block = 64
    op = "{op}"
    [run]
    fill = "sequential"
    drive-writes = 8
    [grid]
    theta = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]
    op = ["20%", "22%", "24%", "26%", "28%", "30%", "32%", "34%", "36%", "38%"]
"#;

/// The limits that the sweep must meet.
const OVERHEAD_MAX: Duration = Duration::from_millis(2);
const BUSY_MIN: f64 = 0.9;

/// CPU time of all threads of this process.
fn processor_time() -> Duration {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(tv_sec.unsigned_abs(), tv_nsec as u32)
}

/// Measures and prints both.
pub(crate) fn run() -> Result<(), Failure> {
    let plan = Plan::new(ExperimentFile::parse(Path::new("bench.toml"), EXPERIMENT)?, Scale::FULL)?;
    let threads = Threads::processors();
    let start = processor_time();
    let one = Threads::new(1)?;
    for job in &plan.jobs {
        job.experiment.prepare_on(&one)?.run(&mut ())?;
    }
    let plain = processor_time().saturating_sub(start);
    let directory = std::env::temp_dir().join(format!("ftlab-sweep-{}", std::process::id()));
    let (start, clock) = (processor_time(), Instant::now());
    let mut store = Store::open(&directory, Shard::WHOLE)?;
    let outcome =
        sweep(&plan, &mut store, SweepOptions::default(), &|_| ControlFlow::Continue(()))?;
    let (taken, elapsed) = (processor_time().saturating_sub(start), clock.elapsed());
    drop(store);
    std::fs::remove_dir_all(&directory)?;
    let runs = plan.runs() as u32;
    assert_eq!((outcome.ran, outcome.failures.len()), (plan.runs(), 0));
    let busy = taken.as_secs_f64() / elapsed.as_secs_f64() / threads as f64;
    let overhead = taken.saturating_sub(plain) / runs;
    println!("{runs} runs, {threads} threads: {:.2} s", elapsed.as_secs_f64());
    println!("CPU time per run: {:?} plain, {:?} in a sweep", plain / runs, taken / runs);
    println!("overhead per run: {overhead:?}, processors busy: {:.0}%", 100.0 * busy);
    assert!(overhead < OVERHEAD_MAX, "more than {OVERHEAD_MAX:?}");
    if busy < BUSY_MIN {
        println!("less than {:.0}%: is something else running?", 100.0 * BUSY_MIN);
    }
    Ok(())
}
