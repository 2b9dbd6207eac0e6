//! Databases whose clients wait for transactions.

use ftlab_sim::result::{ExperimentResult, TransactionsResult};
use ftlab_sim::{DriveOptions, Experiment, Logical, SimError, Workload};
use ftlab_trace::OpenOptions;

const TPCC: &str = "tpcc:start=0.2,end=0.9,buffer=0.3,log=on,log-size=0.05";

fn try_run(workload: &str, timing: Option<&str>) -> Result<ExperimentResult, SimError> {
    let map = workload.contains(".csv").then(|| "op=1,off:pages=2,len:pages=3".to_owned());
    let workload = Workload::parse(workload, OpenOptions { map, ..OpenOptions::default() })?;
    let ftls = ["1r-greedy", "2r-fifo"].map(|ftl| ftl.parse().unwrap());
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(8192),
            pages_per_block: Some(32),
            ..DriveOptions::default()
        },
        timing: timing.map(|timing| timing.parse().unwrap()),
        ..Experiment::new(workload, ftls.into())
    };
    experiment.run(&mut ())
}

fn run(workload: &str, timing: &str) -> ExperimentResult {
    try_run(workload, Some(timing)).unwrap()
}

fn transactions(result: &ExperimentResult, ftl: usize) -> &TransactionsResult {
    result.runs[ftl].timing.as_ref().unwrap().transactions.as_ref().unwrap()
}

#[test]
fn one_thread_is_busy_with_its_transactions_from_the_first_to_the_last() {
    let result = run(TPCC, "slc:luns=4,unit=transaction");
    for ftl in 0..2 {
        let of = transactions(&result, ftl);
        assert!(of.count > 1000, "{}", of.count);
        let one_after_the_other = of.per_second * of.response_ns.mean / 1e9;
        assert!((one_after_the_other - 1.0).abs() < 0.01, "{one_after_the_other}");
    }
    assert_eq!(transactions(&result, 0).count, transactions(&result, 1).count);
}

#[test]
fn what_is_written_is_what_it_is_without_time() {
    let timed = run(TPCC, "slc:luns=4,unit=transaction,queue-depth=8");
    let untimed = try_run(TPCC, None).unwrap();
    for (timed, untimed) in timed.runs.iter().zip(&untimed.runs) {
        assert_eq!(timed.host_writes, untimed.host_writes, "{}", timed.ftl);
    }
    let reads = timed.workload.requests["read"];
    assert!(reads > 0 && untimed.workload.requests["read"] == 0);
}

#[test]
fn more_threads_do_more_and_wait_longer() {
    let of =
        |threads: u32| run(TPCC, &format!("slc:luns=4,unit=transaction,queue-depth={threads}"));
    let (alone, together) = (of(1), of(16));
    let (alone, together) = (transactions(&alone, 0), transactions(&together, 0));
    assert_eq!(alone.count, together.count);
    // A single thread keeps the LUNs busy for three quarters of the time, with collections above all.
    assert!(together.per_second > 1.1 * alone.per_second);
    assert!(together.response_ns.mean > 8.0 * alone.response_ns.mean);
    let under_way = together.per_second * together.response_ns.mean / 1e9;
    assert!((under_way - 16.0).abs() < 0.5, "Little's law: {under_way}");
}

#[test]
fn intervals_are_the_run() {
    let result = run(TPCC, "slc:luns=4,unit=transaction,queue-depth=4");
    let (of, time) = (transactions(&result, 0), result.runs[0].timing.as_ref().unwrap());
    assert_eq!(of.running_per_second.len(), time.running_iops.len());
    let interval = result.config.interval_writes as f64;
    let in_intervals: f64 = of
        .running_per_second
        .iter()
        .zip(&time.running_iops)
        .map(|(rate, iops)| rate * interval / iops)
        .sum();
    let share = in_intervals / of.count as f64;
    assert!((0.8..=1.0).contains(&share), "the last interval is not whole: {share}");
}

#[test]
fn buffers_and_reads_first_serve_transactions_too() {
    let timing = "slc:luns=4,unit=transaction,queue-depth=8,priority=read-first,waits=on,\
                  write-buffer=64KiB:plp=off";
    let result = run("linkbench:start=0.3,end=0.6,buffer=0.2,doublewrite=8", timing);
    for ftl in 0..2 {
        let of = transactions(&result, ftl);
        assert!(of.count > 500 && of.response_ns.p99 > of.response_ns.p50, "{}", of.count);
    }
}

#[test]
fn what_has_no_transactions_is_refused() {
    let error = try_run("uniform", Some("slc:unit=transaction")).unwrap_err().to_string();
    assert!(error.contains("uniform: its requests belong to none"), "{error}");
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::io::Write::write_all(&mut file, b"W,0,1\n").unwrap();
    let path = file.path().display().to_string();
    let error = try_run(&path, Some("slc:unit=transaction")).unwrap_err().to_string();
    assert!(error.contains("is a trace") && error.contains("unit=request"), "{error}");
}
