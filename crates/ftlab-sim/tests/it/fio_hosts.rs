//! Jobs of fio with a clock: each is a host with its own queue depth.

use ftlab_sim::result::ExperimentResult;
use ftlab_sim::{DriveOptions, Experiment, Logical, Workload};
use ftlab_trace::OpenOptions;
use std::io::Write;

const GLOBAL: &str = "[global]\nioengine=io_uring\nfilename=/dev/drive\nbs=4k\nnorandommap\n";

/// A workload from a file that ends in `suffix`, on 4,096 pages with one LUN.
fn run_file(
    suffix: &str,
    text: &str,
    options: OpenOptions,
    timing: &str,
    ftls: &[&str],
) -> ExperimentResult {
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let workload = Workload::parse(&file.path().display().to_string(), options).unwrap();
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(4096),
            pages_per_block: Some(32),
            ..DriveOptions::default()
        },
        timing: Some(timing.parse().unwrap()),
        ..Experiment::new(workload, ftls.iter().map(|ftl| ftl.parse().unwrap()).collect())
    };
    experiment.run(&mut ()).unwrap()
}

fn run(jobs: &str, ftls: &[&str]) -> ExperimentResult {
    run_file(".fio", &format!("{GLOBAL}{jobs}"), OpenOptions::default(), "slc", ftls)
}

#[test]
fn jobs_end_by_their_runtime_and_share_the_drive_by_their_depths() {
    let jobs = "time_based\nruntime=1\nrw=randwrite\n\
                [shallow]\nsize=4k\n[deep]\noffset=1m\niodepth=3\n";
    let result = run(jobs, &["fifo", "1r-greedy"]);
    for run in &result.runs {
        let timing = run.timing.as_ref().unwrap();
        // What is under way at the end is completed, a collection of a whole block included.
        let seconds = timing.elapsed_seconds;
        assert!((1.0..1.1).contains(&seconds), "{}: {seconds}", run.ftl);
        let busy: f64 = timing.lun_busy_share.iter().sum();
        assert!(busy > 0.99, "{}: someone always waits: {busy}", run.ftl);
    }
    assert!(result.runs[0].host_writes > 100);
}

#[test]
fn a_slow_job_leaves_the_drive_idle() {
    let jobs = "rw=write\nrate_iops=100\nnumber_ios=50\n[slow]\n";
    let result = run(jobs, &["fifo"]);
    let timing = result.runs[0].timing.as_ref().unwrap();
    assert_eq!(result.runs[0].host_writes, 50);
    assert!((timing.elapsed_seconds - 0.49).abs() < 0.01, "{}", timing.elapsed_seconds);
    assert!(timing.lun_busy_share[0] < 0.1);
}

#[test]
fn a_single_deep_job_is_the_closed_loop_of_that_depth() {
    let hosts = run("rw=write\niodepth=8\nloops=2\n[job]\n", &["1r-greedy"]);
    let pages = (0..2 * 4096).map(|write| format!("W,{},1\n", write % 4096));
    let map = Some("op=1,off:pages=2,len:pages=3".into());
    let options = OpenOptions { map, ..OpenOptions::default() };
    let pages: String = pages.collect();
    let closed = run_file(".csv", &pages, options, "slc:queue-depth=8", &["1r-greedy"]);
    let [hosts, closed] = [&hosts, &closed].map(|result| &result.runs[0]);
    assert_eq!((hosts.host_writes, hosts.relocations), (closed.host_writes, closed.relocations));
    let [hosts, closed] = [hosts, closed].map(|run| run.timing.as_ref().unwrap());
    let seconds = (hosts.elapsed_seconds, closed.elapsed_seconds);
    assert!((seconds.0 - seconds.1).abs() < 1e-9, "{seconds:?}");
    // Only the first writes differ: they find a queue that the fill has left, or none.
    let (ours, theirs) = (hosts.response_ns.mean, closed.response_ns.mean);
    assert!((ours / theirs - 1.0).abs() < 0.01, "{ours} and {theirs}");
}
