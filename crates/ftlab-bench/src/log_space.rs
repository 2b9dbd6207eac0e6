//! The drive of the FASTer paper: hybrid-mapped FTLs and their page-mapped rival by log space.

use crate::stopwatch::Stopwatch;
use crate::{BATCH_WRITES, Failure, Pages};
use ftlab_flash::{Flash, Geometry, Lpn, NoPayload, ResponseTimes, Timed, Timing};
use ftlab_ftl::page::DriveConfig;
use ftlab_ftl::registry::{self, DynFtl};
use ftlab_ftl::{Counters, PageBatch};
use ftlab_trace::RequestBatch;
use ftlab_trace::pages::{expand, page_sectors};
use ftlab_trace::synthetic::{Space, build};

/// 8 GiB of 2 KiB pages, in blocks of 64.
const LOGICAL_PAGES: u32 = 1 << 22;
const PAGES_PER_BLOCK: u32 = 64;
const PAGE_BYTES: u32 = 2048;

/// Log space in percent of the data blocks.
pub(crate) const LOG_PERCENT: [u32; 6] = [3, 5, 10, 15, 20, 25];

/// The latencies of the paper's table 1. A copyback is a read and a program: the published deviations
/// follow from the means at this and not at the program alone.
const TIMING: &str = "slc";
const PROGRAM_NS: u64 = 200_000;
const COPY_NS: u64 = 225_000;
const ERASE_NS: u64 = 1_500_000;

/// One FTL at one log space.
pub(crate) struct Cell {
    pub(crate) response_times: ResponseTimes,
    /// Host writes per second in millions, over flash without and with a clock.
    pub(crate) million_writes: [f64; 2],
}

impl Cell {
    pub(crate) fn mean_ms(&self) -> f64 {
        self.response_times.mean_ns() / 1e6
    }

    pub(crate) fn deviation_ms(&self) -> f64 {
        self.response_times.stddev_ns() / 1e6
    }
}

/// The writes of one pass over the drive.
pub(crate) fn pass(workload: &str) -> Result<Vec<Lpn>, Failure> {
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

/// Blocks beyond data and log.
fn spare_blocks(ftl: &str) -> u32 {
    match ftl {
        "page" => 0,
        "fast:sw=on" => 2,
        _ => 1,
    }
}

/// Runs the FTL with and without a clock and holds the two against each other.
pub(crate) fn measure(ftl: &str, percent: u32, pass: &[Lpn]) -> Result<Cell, Failure> {
    let data_blocks = LOGICAL_PAGES / PAGES_PER_BLOCK;
    let blocks = data_blocks + data_blocks * percent / 100 + spare_blocks(ftl);
    let geometry = Geometry::new(blocks, PAGES_PER_BLOCK, PAGE_BYTES)?;
    let config = DriveConfig::new(geometry, LOGICAL_PAGES, 1);
    let clock = Timed::new(NoPayload, &Timing::from_spec(&TIMING.parse()?)?, &geometry);
    let mut plain: DynFtl<_, ()> = registry::build(&ftl.parse()?, config, NoPayload, ())?;
    let mut timed: DynFtl<_, ()> = registry::build(&ftl.parse()?, config, clock, ())?;
    let (counters, untimed_speed) = run(&mut plain, pass, |_| ())?;
    let (timed_counters, timed_speed) = run(&mut timed, pass, |ftl| ftl.flash_mut().measure())?;
    assert_eq!(counters, timed_counters, "{ftl}: a clock changes nothing");
    let measured = timed.flash_mut().measured();
    let copies = counters.relocations() + counters.merges.copies;
    let sum = counters.host_writes * PROGRAM_NS + copies * COPY_NS + counters.erases() * ERASE_NS;
    assert_eq!(measured.elapsed_ns, sum, "{ftl}: elapsed time is counts times latencies");
    Ok(Cell {
        response_times: measured.response_times,
        million_writes: [untimed_speed, timed_speed],
    })
}

/// Fills the drive, runs the pass once, and measures it the second time: its counts, and millions of
/// host writes per second.
fn run<F: Flash>(
    ftl: &mut DynFtl<F, ()>,
    pass: &[Lpn],
    begin: impl Fn(&mut DynFtl<F, ()>),
) -> Result<(Counters, f64), Failure> {
    let fill: Vec<Lpn> = (0..LOGICAL_PAGES).map(Lpn).collect();
    let apply = |ftl: &mut DynFtl<F, ()>, writes: &[Lpn]| {
        writes.chunks(BATCH_WRITES as usize).try_for_each(|writes| ftl.write_pages(writes))
    };
    apply(ftl, &fill)?;
    apply(ftl, pass)?;
    begin(ftl);
    let before = ftl.counters();
    let start = Stopwatch::start();
    apply(ftl, pass)?;
    let seconds = start.elapsed().as_secs_f64();
    ftl.check()?;
    Ok((ftl.counters().since(&before), pass.len() as f64 / seconds / 1e6))
}
