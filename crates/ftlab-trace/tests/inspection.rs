//! Inspection against numbers that were found by other means when the traces were captured.

mod common;

use common::{fixture, shared};
use ftlab_trace::analyze::{Inspection, Inspector, inspect};
use ftlab_trace::{OpenOptions, RequestBatch, TraceSource, open, window};

fn near(found: f64, expected: f64) -> bool {
    (found - expected).abs() <= 0.000_05 + 1e-9
}

fn run_phase(source: Box<dyn TraceSource>) -> Inspection {
    let start_us = source.metadata().phase_us("run").unwrap();
    inspect(window(source, start_us..u64::MAX).as_mut(), 4096).unwrap()
}

#[test]
fn a_small_trace_is_counted_exactly() {
    let options = OpenOptions::default();
    let mut source = open(&fixture("blkparse.txt"), &options).unwrap();
    let found = inspect(source.as_mut(), 4096).unwrap();
    assert_eq!(found.format, "blkparse");
    let counts = found.requests;
    assert_eq!((counts.write, counts.trim, counts.flush, counts.read), (16, 2, 2, 1));
    assert_eq!(counts.total(), 21);
    assert_eq!((found.bytes.trim, found.bytes.read), (2176 * 512, 4096));
    // mkfs wrote 1 MiB pieces from sector 584 on, and 64 KiB twice at sector 524160.
    assert_eq!((found.write_sizes.min_bytes, found.write_sizes.median_bytes), (4096, 524_288));
    assert_eq!(found.page_trims, 2176 / 8);
    assert_eq!(found.page_writes, found.bytes.write / 4096);
    assert_eq!(found.distinct_pages, found.page_writes - 16);
    assert_eq!((found.addresses.first_sector, found.addresses.end_sector), (0, 3_145_728));
    assert_eq!(found.drive_bytes(), Some(3_145_728 * 512));
    assert_eq!(found.time_us, Some((135, 2_500_200)));
    assert_eq!(found.skipped.count("summary"), 7);
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!(json["requests"]["write"], 16);
    assert_eq!(json["skipped"][0]["reason"], "another action");
}

#[test]
fn a_page_that_is_not_a_power_of_two_works() {
    let mut source = open(&fixture("blkparse.txt"), &OpenOptions::default()).unwrap();
    let found = inspect(source.as_mut(), 1536).unwrap();
    assert!(found.page_writes > found.bytes.write / 1536);
    assert!(Inspector::new(1000).is_err());
    assert!(Inspector::new(512).unwrap().update(&RequestBatch::new()).is_ok());
}

#[test]
fn the_fio_log_has_its_known_numbers() {
    let Some(path) = shared("traces/fio-zipf-0.9.parquet") else { return };
    let found = run_phase(open(&path, &OpenOptions::default()).unwrap());
    assert_eq!((found.page_writes, found.distinct_pages), (1_000_000, 174_355));
    assert_eq!((found.requests.total(), found.unaligned_writes), (1_000_000, 0));
    assert_eq!(found.device_bytes, Some(1 << 30));
    assert!(near(found.skew.top_1_percent, 0.4661), "{:?}", found.skew);
    assert!(near(found.skew.top_10_percent, 0.688), "{:?}", found.skew);
    assert!(near(found.skew.top_20_percent, 0.7716), "{:?}", found.skew);
}

#[test]
fn the_linkbench_trace_has_its_known_numbers() {
    let Some(path) = shared("traces/linkbench-mariadb.parquet") else { return };
    let options = OpenOptions::default();
    let whole = inspect(open(&path, &options).unwrap().as_mut(), 4096).unwrap();
    assert_eq!((whole.requests.total(), whole.page_writes), (1_399_943, 8_617_751));
    let run = run_phase(open(&path, &options).unwrap());
    assert_eq!((run.requests.write, run.page_writes), (872_375, 6_175_821));
    assert_eq!((run.requests.trim, run.requests.flush), (5, 192_835));
    assert_eq!((run.distinct_pages, run.unaligned_writes), (91_975, 83_097));
    assert!(near(run.skew.top_1_percent, 0.5277), "{:?}", run.skew);
    assert!(near(run.skew.top_10_percent, 0.7394), "{:?}", run.skew);
    assert!(near(run.skew.top_20_percent, 0.8217), "{:?}", run.skew);
}
