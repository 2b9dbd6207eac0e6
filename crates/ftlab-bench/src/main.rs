//! The cost of a flash page program: nanoseconds per host write and relocation, for every FTL and for a
//! plain greedy loop in the same run, with the results checked.
//!
//! ```text
//! cargo run --release -p ftlab-bench            the 8 GiB drive
//! cargo run --release -p ftlab-bench -- ftls 2r++ wolf:q=3  FTLs of your choice, zipf on the 8 GiB drive
//! cargo run --release -p ftlab-bench -- large     the 512 GiB drive (needs 1.5 GB of memory)
//! cargo run --release -p ftlab-bench -- timed     the cost of simulating time, on the 8 GiB drive
//! cargo run --release -p ftlab-bench -- requests  the cost of simulating requests, on 8 channels x 8 LUNs
//! cargo run --release -p ftlab-bench -- hot-cold  hotness tests (Lee and Kim, SYSTOR 2013): what they cost
//! cargo run --release -p ftlab-bench -- live-drive [SECONDS [ROUNDS]]  the cost of serving a drive, compared with nbdkit
//! cargo run --release -p ftlab-bench -- sweep     the overhead of a sweep of 1,000 small runs
//! ```
//!
//! Times are CPU times. Machines differ and are noisy: compare the ratio to the reference loop.

mod common;
mod femu_rule;
mod hot_cold;
mod live_drive;
mod reference;
mod request_cost;
mod stopwatch;
mod sweep_cost;

use common::{BATCH_WRITES, Failure, PAGE_BYTES};
use ftlab_flash::{Flash, Geometry, Lpn, NoPayload};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DynFtl};
use ftlab_ftl::{Counters, PageBatch};
use ftlab_host::Timing;
use ftlab_trace::Space;
use ftlab_trace::pages::{PageSink, expand, page_sectors};
use ftlab_trace::{RequestBatch, TraceSource};
use ftlab_workload::build;
use reference::Reference;
use std::time::Duration;
use stopwatch::Stopwatch;

/// One drive under one workload.
#[derive(Clone, Copy)]
struct Row<'a> {
    drive: &'a str,
    workload: &'a str,
    logical_pages: u32,
    pages_per_block: u32,
    op_ratio: f64,
    /// Drive writes before the measurement, not including the sequential fill.
    warmup: f64,
    /// Drive writes measured.
    measured: f64,
    ftls: &'a [&'a str],
    /// Those of `ftls` that are also measured over flash with a clock.
    timed: &'a [&'a str],
}

const FTLS: &[&str] = &[
    "1r-greedy",
    "2r-greedy",
    "2r-fifo",
    "2r++",
    "lfs-cb",
    "sep-gc/cost-benefit",
    "lru/cost-benefit",
    "mbf/cost-benefit",
    "dac-cb",
    "dac-greedy",
    "sepbit",
    "hazard",
    "wolf",
    "wolf:allocation=sqrt",
    "wolf:allocation=optimum",
    "fdp-freq",
];

/// Clocks: one LUN, and 64 LUNs on 8 channels.
const TIMINGS: [&str; 2] = ["slc", "femu"];

const TIMED: &[&str] = &["1r-greedy", "2r-fifo"];

const SMALL: [Row<'static>; 3] = [
    Row {
        drive: "8 GiB",
        workload: "zipf:theta=0.9",
        logical_pages: 1 << 21,
        pages_per_block: 1024,
        op_ratio: 0.125,
        warmup: 4.0,
        measured: 8.0,
        ftls: FTLS,
        timed: TIMED,
    },
    Row {
        drive: "8 GiB",
        workload: "uniform",
        logical_pages: 1 << 21,
        pages_per_block: 1024,
        op_ratio: 0.125,
        warmup: 4.0,
        measured: 8.0,
        ftls: FTLS,
        timed: TIMED,
    },
    // Table 2 of the FASTer paper at a log space of 10%.
    Row {
        drive: "4 Mi pages",
        workload: "oltp",
        logical_pages: 1 << 22,
        pages_per_block: 64,
        op_ratio: 0.1,
        warmup: 1.0,
        measured: 1.0,
        ftls: &["fast:sw=off", "faster", "page"],
        timed: &["fast:sw=off", "faster", "page"],
    },
];

const LARGE: [Row<'static>; 1] = [Row {
    drive: "512 GiB",
    workload: "hotcold:writes=0.9,pages=0.1",
    logical_pages: 1 << 27,
    pages_per_block: 8192,
    op_ratio: 0.125,
    warmup: 0.6,
    measured: 0.4,
    ftls: FTLS,
    timed: &[],
}];

/// A subject of measurement: something that takes batches of writes.
trait Subject {
    fn write(&mut self, batch: &PageBatch) -> Result<(), Failure>;
    fn counters(&self) -> (u64, u64);
    fn bytes(&self) -> usize;
    fn verify(&self) -> Result<(), Failure>;
}

impl<F: Flash> Subject for DynFtl<F, ()> {
    fn write(&mut self, batch: &PageBatch) -> Result<(), Failure> {
        Ok(self.apply(batch)?)
    }

    fn counters(&self) -> (u64, u64) {
        let counters: Counters = (**self).counters();
        (counters.host_writes, counters.relocations() + counters.merges.copies)
    }

    fn bytes(&self) -> usize {
        let bytes = self.memory_bytes();
        bytes.drive + bytes.policy
    }

    fn verify(&self) -> Result<(), Failure> {
        Ok(self.check()?)
    }
}

impl Subject for Reference {
    fn write(&mut self, batch: &PageBatch) -> Result<(), Failure> {
        self.write_pages(&batch.writes);
        Ok(())
    }

    fn counters(&self) -> (u64, u64) {
        (self.host_writes, self.relocations)
    }

    fn bytes(&self) -> usize {
        self.bytes()
    }

    fn verify(&self) -> Result<(), Failure> {
        Ok(())
    }
}

/// Collects generated page numbers.
struct Pages<'a>(&'a mut PageBatch);

impl PageSink for Pages<'_> {
    fn write(&mut self, first_page: u64, pages: u64) {
        self.0.writes.extend((first_page..first_page + pages).map(|page| Lpn(page as u32)));
    }
}

/// Passes `writes` generated writes to `subject` and returns the CPU time that it took.
fn drive(
    source: &mut dyn TraceSource,
    subject: &mut dyn Subject,
    writes: u64,
) -> Result<Duration, Failure> {
    let (mut requests, mut batch) = (RequestBatch::new(), PageBatch::default());
    let mut left = writes;
    let mut taken = Duration::ZERO;
    while left > 0 {
        batch.clear();
        while (batch.writes.len() as u64) < BATCH_WRITES.min(left) {
            source.next_batch(&mut requests)?;
            expand(&requests, page_sectors(PAGE_BYTES)?, &mut Pages(&mut batch))?;
        }
        batch.writes.truncate(left as usize);
        left -= batch.writes.len() as u64;
        let start = Stopwatch::start();
        subject.write(&batch)?;
        taken += start.elapsed();
    }
    Ok(taken)
}

fn fill(subject: &mut dyn Subject, logical_pages: u32) -> Result<(), Failure> {
    let mut batch = PageBatch::default();
    for first in (0..logical_pages).step_by(BATCH_WRITES as usize) {
        batch.clear();
        let end = logical_pages.min(first + BATCH_WRITES as u32);
        batch.writes.extend((first..end).map(Lpn));
        subject.write(&batch)?;
    }
    Ok(())
}

/// Measures one subject; returns nanoseconds per program.
fn measure(row: &Row, name: &str, mut subject: Box<dyn Subject>) -> Result<(f64, f64), Failure> {
    let space =
        Space { logical_pages: u64::from(row.logical_pages), page_bytes: PAGE_BYTES, seed: 1 };
    let mut source = build(&row.workload.parse()?, &space)?;
    fill(&mut *subject, row.logical_pages)?;
    let drive_writes = |share: f64| (share * f64::from(row.logical_pages)) as u64;
    drive(&mut *source, &mut *subject, drive_writes(row.warmup))?;
    let before = subject.counters();
    let taken = drive(&mut *source, &mut *subject, drive_writes(row.measured))?;
    let after = subject.counters();
    let (host, moved) = (after.0 - before.0, after.1 - before.1);
    subject.verify()?;
    let programs = (host + moved) as f64;
    let waf = programs / host as f64;
    let ns = taken.as_nanos() as f64 / programs;
    let million_writes = host as f64 / taken.as_secs_f64() / 1e6;
    let flash_pages = f64::from(row.logical_pages) * (1.0 + row.op_ratio);
    let bytes = subject.bytes() as f64 / flash_pages;
    print!(
        "{:10} {:30} {name:22} {waf:6.3} {ns:8.2} {million_writes:9.1} {bytes:8.2}",
        row.drive, row.workload
    );
    Ok((ns, waf))
}

fn run(row: &Row) -> Result<(), Failure> {
    let blocks = (f64::from(row.logical_pages) * (1.0 + row.op_ratio)
        / f64::from(row.pages_per_block))
    .ceil() as u32;
    let config = DriveConfig::new(
        Geometry::new(blocks, row.pages_per_block, PAGE_BYTES)?,
        row.logical_pages,
        4,
    );
    let reference = Reference::new(row.logical_pages, blocks, row.pages_per_block, NoPayload);
    let (reference_ns, reference_waf) = measure(row, "reference", Box::new(reference))?;
    println!();
    for name in row.ftls {
        let ftl = registry::build(&name.parse()?, config, NoPayload, ())?;
        let (ns, waf) = measure(row, name, Box::new(ftl))?;
        println!(" {:6.2}", ns / reference_ns);
        if *name == "1r-greedy" {
            let off = (waf / reference_waf - 1.0).abs();
            assert!(off < 0.01, "1r-greedy: {waf:.4}, the reference loop {reference_waf:.4}");
        }
        for timing in TIMINGS.iter().filter(|_| row.timed.contains(name)) {
            let flash = Timing::from_spec(&timing.parse()?)?.over(NoPayload, &config.geometry);
            let ftl = registry::build(&name.parse()?, config, flash, ())?;
            let (timed_ns, timed_waf) = measure(row, &format!("{name}, {timing}"), Box::new(ftl))?;
            println!(" {:6.2}   {:.2} of {name}", timed_ns / reference_ns, timed_ns / ns);
            assert!(
                (timed_waf - waf).abs() < f64::EPSILON,
                "{name}: {timed_waf} with a clock, {waf}"
            );
        }
    }
    Ok(())
}

fn program_cost(rows: &[Row]) -> Result<(), Failure> {
    println!(
        "{:10} {:30} {:22} {:>6} {:>8} {:>9} {:>8} {:>6}",
        "drive", "workload", "ftl", "waf", "ns/prog", "M writes/s", "B/page", "ratio"
    );
    rows.iter().try_for_each(run)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let argument = |index: usize| arguments.get(index).copied();
    match argument(0) {
        None => program_cost(&SMALL),
        Some("ftls") => program_cost(&[Row { ftls: &arguments[1..], timed: &[], ..SMALL[0] }]),
        Some("timed") => program_cost(&SMALL.map(|row| Row { ftls: row.timed, ..row })),
        Some("large") => program_cost(&LARGE),
        Some("requests") => request_cost::run(argument(1)),
        Some("hot-cold") => hot_cold::run(),
        Some("live-drive") => live_drive::measure(&arguments[1..]),
        Some("sweep") => sweep_cost::run(),
        Some(other) => Err(format!(
            "no benchmark {other:?}; the benchmarks are ftls, timed, requests, large, hot-cold, live-drive and sweep; \
             tables and figures of papers are made by ftlab reproduce"
        )
        .into()),
    }
}
