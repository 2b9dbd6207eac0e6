//! Table 2 of the FASTer paper: response time of a write, mean and standard deviation, by log space.
//!
//! The paper's trace cannot be had. The generator `oltp` has what the paper states of it; with two
//! more assumptions, which were fitted to this very table, it comes closer. Both are shown.

use crate::{BATCH_WRITES, Failure, Pages};
use ftlab_flash::{BlockId, Flash, Geometry, Lpn, Ppn};
use ftlab_ftl::PageBatch;
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DynFtl};
use ftlab_trace::RequestBatch;
use ftlab_trace::pages::{expand, page_sectors};
use ftlab_trace::synthetic::{Space, build};
use std::convert::Infallible;
use std::time::{Duration, Instant};

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

/// Flash that only tells the time, with the latencies of the paper's table 1. A copyback is a read
/// and a program: the published deviations follow from the means at this and not at the program
/// alone.
#[derive(Debug, Default)]
struct Clock {
    microseconds: u64,
}

impl Clock {
    const READ: u64 = 25;
    const PROGRAM: u64 = 200;
    const ERASE: u64 = 1500;
}

impl Flash for Clock {
    type Error = Infallible;

    fn program(&mut self, _to: Ppn, _lpn: Lpn, _data: &[u8]) -> Result<(), Infallible> {
        self.microseconds += Self::PROGRAM;
        Ok(())
    }

    fn copyback(&mut self, _from: Ppn, _to: Ppn, _lpn: Lpn) -> Result<(), Infallible> {
        self.microseconds += Self::READ + Self::PROGRAM;
        Ok(())
    }

    fn erase(&mut self, _block: BlockId) -> Result<(), Infallible> {
        self.microseconds += Self::ERASE;
        Ok(())
    }

    fn read(&mut self, _from: Ppn, _data: &mut [u8]) -> Result<(), Infallible> {
        self.microseconds += Self::READ;
        Ok(())
    }
}

/// Mean and standard deviation of what was added.
#[derive(Debug, Default)]
struct Moments {
    count: u64,
    sum: u64,
    squares: u128,
}

impl Moments {
    fn add(&mut self, value: u64) {
        self.count += 1;
        self.sum += value;
        self.squares += u128::from(value) * u128::from(value);
    }

    fn mean(&self) -> f64 {
        self.sum as f64 / self.count as f64
    }

    fn deviation(&self) -> f64 {
        (self.squares as f64 / self.count as f64 - self.mean().powi(2)).sqrt()
    }
}

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
fn measure(row: &Row, percent: u32, pass: &[Lpn]) -> Result<(Moments, Duration), Failure> {
    let data_blocks = LOGICAL_PAGES / PAGES_PER_BLOCK;
    let blocks = data_blocks + data_blocks * percent / 100 + row.spare_blocks;
    let config =
        DriveConfig::new(Geometry::new(blocks, PAGES_PER_BLOCK, PAGE_BYTES)?, LOGICAL_PAGES, 1);
    let mut ftl: DynFtl<Clock, ()> =
        registry::build(&row.ftl.parse()?, config, Clock::default(), ())?;
    let fill: Vec<Lpn> = (0..LOGICAL_PAGES).map(Lpn).collect();
    let warm_up = fill.chunks(BATCH_WRITES as usize).chain(pass.chunks(BATCH_WRITES as usize));
    for writes in warm_up {
        ftl.apply(&PageBatch { writes: writes.to_vec(), trims: Vec::new() })?;
    }
    let mut moments = Moments::default();
    let mut before = ftl.flash_mut().microseconds;
    let start = Instant::now();
    for &lpn in pass {
        ftl.write(lpn, &[])?;
        let now = ftl.flash_mut().microseconds;
        moments.add(now - before);
        before = now;
    }
    let taken = start.elapsed();
    ftl.check()?;
    Ok((moments, taken))
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
        println!("  M host writes/s");
        for row in &ROWS {
            let cells = LOG_PERCENT.map(|percent| measure(row, percent, &pass));
            let cells = cells.into_iter().collect::<Result<Vec<_>, _>>()?;
            print_line(row.ftl, "mean", &row.mean, cells.iter().map(|(moments, _)| moments.mean()));
            let speeds = cells
                .iter()
                .map(|(moments, taken)| moments.count as f64 / taken.as_secs_f64() / 1e6);
            println!(
                "  {:.1} to {:.1}",
                speeds.clone().fold(f64::MAX, f64::min),
                speeds.fold(0.0, f64::max)
            );
            let deviations = cells.iter().map(|(moments, _)| moments.deviation());
            print_line("", "deviation", &row.deviation, deviations);
            println!();
        }
        println!();
    }
    Ok(())
}

fn print_line(ftl: &str, what: &str, published: &[f64; 6], found: impl Iterator<Item = f64>) {
    print!("{ftl:21}{what:10}");
    for (published, microseconds) in published.iter().zip(found) {
        let ms = microseconds / 1000.0;
        print!(" {:>6} {:>7}", three_digits(ms), format!("({})", three_digits(*published)));
    }
}

fn three_digits(ms: f64) -> String {
    format!("{ms:.*}", if ms < 10.0 { 2 } else { 1 })
}
