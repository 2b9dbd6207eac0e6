//! Table 2 of the FASTer paper: response time of a write, mean and standard deviation, by log space.
//!
//! The paper's trace cannot be had. The generator `oltp` has what the paper states of it; with two
//! more assumptions, which were fitted to this very table, it comes closer. Both are shown.

use crate::{BATCH_WRITES, Failure, Pages};
use ftlab_flash::{Geometry, Lpn, NoPayload, ResponseTimes, Timed, Timing};
use ftlab_ftl::PageBatch;
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DynFtl};
use ftlab_trace::RequestBatch;
use ftlab_trace::pages::{expand, page_sectors};
use ftlab_trace::synthetic::{Space, build};

/// 8 GiB of 2 KiB pages, in blocks of 64.
const LOGICAL_PAGES: u32 = 1 << 22;
const PAGES_PER_BLOCK: u32 = 64;
const PAGE_BYTES: u32 = 2048;

/// Log space in percent of the data blocks.
const LOG_PERCENT: [u32; 6] = [3, 5, 10, 15, 20, 25];

const WORKLOADS: [(&str, &str); 2] = [
    ("oltp", "what the paper states of its trace, and nothing else"),
    ("oltp:window=0.28,blocks=0.68", "two assumptions more, fitted to this table"),
];

/// An FTL, its blocks beyond data and log, and the published means and standard deviations in ms.
struct Row {
    ftl: &'static str,
    spare_blocks: u32,
    mean: [f64; 6],
    deviation: [f64; 6],
}

const FAST_MEAN: [f64; 6] = [3.59, 2.64, 1.71, 1.33, 1.12, 1.00];
const FAST_DEVIATION: [f64; 6] = [27.6, 19.9, 12.2, 9.01, 7.20, 6.19];

const ROWS: [Row; 5] = [
    Row { ftl: "fast:sw=off", spare_blocks: 1, mean: FAST_MEAN, deviation: FAST_DEVIATION },
    Row { ftl: "fast:sw=on", spare_blocks: 2, mean: FAST_MEAN, deviation: FAST_DEVIATION },
    Row {
        ftl: "faster:isolation=off",
        spare_blocks: 1,
        mean: [3.11, 2.11, 1.24, 0.92, 0.76, 0.66],
        deviation: [38.9, 30.8, 21.6, 17.3, 14.6, 12.7],
    },
    Row {
        ftl: "faster",
        spare_blocks: 1,
        mean: [3.04, 2.08, 1.20, 0.90, 0.75, 0.66],
        deviation: [5.99, 5.00, 3.66, 3.02, 2.64, 2.40],
    },
    Row {
        ftl: "page",
        spare_blocks: 0,
        mean: [3.00, 2.05, 1.20, 0.89, 0.72, 0.61],
        deviation: [5.73, 4.74, 3.44, 2.77, 2.32, 2.01],
    },
];

/// The latencies of the paper's table 1. A copyback is a read and a program: the published deviations
/// follow from the means at this and not at the program alone.
const TIMING: &str = "slc";

/// The writes of one pass over the drive.
fn pass(workload: &str) -> Result<Vec<Lpn>, Failure> {
    let space = Space { logical_pages: u64::from(LOGICAL_PAGES), page_bytes: PAGE_BYTES, seed: 1 };
    let mut source = build(&workload.parse()?, &space)?;
    let (mut requests, mut batch) = (RequestBatch::new(), PageBatch::default());
    while batch.writes.len() < LOGICAL_PAGES as usize {
        source.next_batch(&mut requests)?;
        expand(&requests, page_sectors(PAGE_BYTES)?, &mut Pages(&mut batch))?;
    }
    batch.writes.truncate(LOGICAL_PAGES as usize);
    Ok(batch.writes)
}

/// Fills the drive, runs the pass once, and measures it the second time.
fn measure(row: &Row, percent: u32, pass: &[Lpn]) -> Result<ResponseTimes, Failure> {
    let data_blocks = LOGICAL_PAGES / PAGES_PER_BLOCK;
    let blocks = data_blocks + data_blocks * percent / 100 + row.spare_blocks;
    let geometry = Geometry::new(blocks, PAGES_PER_BLOCK, PAGE_BYTES)?;
    let flash = Timed::new(NoPayload, &Timing::from_spec(&TIMING.parse()?)?, &geometry);
    let config = DriveConfig::new(geometry, LOGICAL_PAGES, 1);
    let mut ftl: DynFtl<_, ()> = registry::build(&row.ftl.parse()?, config, flash, ())?;
    let apply = |ftl: &mut DynFtl<_, ()>, writes: &[Lpn]| {
        let batches = writes.chunks(BATCH_WRITES as usize);
        let mut batches =
            batches.map(|writes| PageBatch { writes: writes.to_vec(), trims: Vec::new() });
        batches.try_for_each(|batch| ftl.apply(&batch))
    };
    let fill: Vec<Lpn> = (0..LOGICAL_PAGES).map(Lpn).collect();
    apply(&mut ftl, &fill)?;
    apply(&mut ftl, pass)?;
    ftl.flash_mut().measure();
    apply(&mut ftl, pass)?;
    ftl.check()?;
    Ok(ftl.flash_mut().measured().response_times)
}

/// Runs every cell and prints it beside the published one.
pub(crate) fn run() -> Result<(), Failure> {
    for (workload, remark) in WORKLOADS {
        let pass = pass(workload)?;
        println!("{workload}: {remark}; ms, in brackets published");
        print!("{:31}", "log space");
        for percent in LOG_PERCENT {
            print!("{percent:>14}%");
        }
        println!();
        for row in &ROWS {
            let cells = LOG_PERCENT.map(|percent| measure(row, percent, &pass));
            let cells = cells.into_iter().collect::<Result<Vec<_>, _>>()?;
            print_line(row.ftl, "mean", &row.mean, cells.iter().map(ResponseTimes::mean_ns));
            let deviations = cells.iter().map(ResponseTimes::stddev_ns);
            print_line("", "deviation", &row.deviation, deviations);
        }
        println!();
    }
    Ok(())
}

fn print_line(ftl: &str, what: &str, published: &[f64; 6], found: impl Iterator<Item = f64>) {
    print!("{ftl:21}{what:10}");
    for (published, nanoseconds) in published.iter().zip(found) {
        let ms = nanoseconds / 1e6;
        print!(" {:>6} {:>7}", three_digits(ms), format!("({})", three_digits(*published)));
    }
    println!();
}

fn three_digits(ms: f64) -> String {
    format!("{ms:.*}", if ms < 10.0 { 2 } else { 1 })
}
