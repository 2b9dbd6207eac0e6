//! The cost of simulating requests: page operations per second on one LUN and on 8 channels of 8, half of them reads, with
//! each way in which LUNs choose what to do, and the answers checked.

use crate::common::{BATCH_WRITES, Failure, PAGE_BYTES};
use crate::femu_rule::{Host, Rule};
use crate::reference::Reference;
use crate::stopwatch::Stopwatch;
use ftlab_flash::{Geometry, Lpn};
use ftlab_ftl::PageBatch;
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::DriveConfig;
use ftlab_host::{Arrival, Asker, HostOp, RequestPart, Timing};
use ftlab_stack::{AnyFtl, OwnPolicies};
use std::time::Duration;

const LOGICAL_PAGES: u32 = 1 << 21;

const PAGES_PER_BLOCK: u32 = 1024;

/// Requests of one page each that are measured, and as many before.
const REQUESTS: u32 = 8 << 20;

/// One LUN, and then 8 channels of 8.
const TIMINGS: [&str; 8] = [
    "slc:unit=request,queue-depth=256",
    "femu:unit=request,queue-depth=256,priority=femu",
    "femu:unit=request,queue-depth=256",
    "femu:unit=request,queue-depth=256,waits=on",
    "femu:unit=request,queue-depth=256,priority=read-first",
    "femu:unit=request,queue-depth=256,priority=read-first,suspend=both",
    "femu:unit=request,queue-depth=256,priority=read-first,suspend=both,waits=on",
    "femu:unit=request,queue-depth=256,write-buffer=64MiB",
];

/// Half reads, half writes of one page each, anywhere.
struct Requests(u64);

impl Requests {
    fn next(&mut self, batch: &mut PageBatch, parts: &mut Vec<RequestPart>) {
        batch.clear();
        parts.clear();
        for _ in 0..BATCH_WRITES {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let first = Lpn((self.0 >> 33) as u32 % LOGICAL_PAGES);
            let op = if self.0 >> 63 == 0 { HostOp::Read } else { HostOp::Write };
            if op == HostOp::Write {
                batch.writes.push(first);
            }
            let (arrival, asker) = (Arrival::Next, Asker::default());
            let part = RequestPart {
                op,
                first,
                pages: 1,
                lacking: 0,
                arrival,
                asker,
                begins: true,
                ends: true,
            };
            parts.push(part);
        }
    }
}

/// CPU time of serving [`REQUESTS`]; without a clock, of their writes.
fn serve(ftl: &mut AnyFtl, requests: &mut Requests, is_timed: bool) -> Result<Duration, Failure> {
    let (mut batch, mut parts) = (PageBatch::default(), Vec::new());
    let mut taken = Duration::ZERO;
    for _ in 0..u64::from(REQUESTS) / BATCH_WRITES {
        requests.next(&mut batch, &mut parts);
        let start = Stopwatch::start();
        let served = if is_timed { ftl.serve(&batch, &parts) } else { ftl.apply(&batch, &[]) };
        served.map_err(|stop| format!("{stop:?}"))?;
        taken += start.elapsed();
    }
    Ok(taken)
}

/// Counts of host writes, relocations and erases, and millions of page operations a second, reads included.
fn measure(timing: Option<&str>) -> Result<([u64; 3], f64), Failure> {
    let blocks = LOGICAL_PAGES / PAGES_PER_BLOCK * 9 / 8;
    let geometry = Geometry::new(blocks, PAGES_PER_BLOCK, PAGE_BYTES)?;
    let config = DriveConfig::new(geometry, LOGICAL_PAGES, 4);
    let parsed = timing.map(|timing| Timing::from_spec(&timing.parse()?)).transpose()?;
    let own = OwnPolicies::default();
    let mut ftl = AnyFtl::new(
        &"1r-greedy".parse()?,
        &own,
        &Mapping::FULL,
        config,
        parsed.as_ref(),
        None,
        false,
    )?;
    let fill = PageBatch { writes: (0..LOGICAL_PAGES).map(Lpn).collect(), ..PageBatch::default() };
    ftl.apply(&fill, &[]).map_err(|stop| format!("{stop:?}"))?;
    let mut requests = Requests(1);
    serve(&mut ftl, &mut requests, timing.is_some())?;
    ftl.measure();
    let before = ftl.tally().counters;
    let taken = serve(&mut ftl, &mut requests, timing.is_some())?;
    let done = ftl.tally().counters.since(&before);
    // Who waits for room in the buffer is answered, too; that takes time in which nobody asks.
    ftl.empty_buffer().map_err(|stop| format!("{stop:?}"))?;
    let always =
        if timing.is_some_and(|timing| timing.contains("write-buffer")) { 0.02 } else { 1e-3 };
    if let Some(requests) = ftl.measured().and_then(|measured| measured.requests) {
        let counts: u64 = requests.of.iter().map(ftlab_host::ResponseTimes::count).sum();
        assert_eq!(counts, u64::from(REQUESTS), "every request is answered");
        let under_way = requests.under_way_mean / 256.0;
        assert!((under_way - 1.0).abs() < always, "256 are always under way: {under_way}");
    }
    let reads = u64::from(REQUESTS) / 2 * u64::from(timing.is_some());
    let operations = (reads + done.programs()) as f64;
    let counts = [done.host_writes, done.relocations(), done.erases()];
    Ok((counts, operations / taken.as_secs_f64() / 1e6))
}

/// Millions of page operations a second of a plain loop: a greedy FTL without policies, and the rule of FEMU.
fn measure_rule() -> Result<f64, Failure> {
    let mut ftl = Reference::new(
        LOGICAL_PAGES,
        LOGICAL_PAGES / PAGES_PER_BLOCK * 9 / 8,
        PAGES_PER_BLOCK,
        Rule::new(),
    );
    (0..LOGICAL_PAGES).for_each(|lpn| ftl.write(lpn));
    let (mut requests, mut batch, mut parts) = (Requests(1), PageBatch::default(), Vec::new());
    let next = |into: &mut Vec<(HostOp, Lpn)>| {
        requests.next(&mut batch, &mut parts);
        into.clear();
        into.extend(parts.iter().map(|part| (part.op, part.first)));
    };
    Host::default().measure(&mut ftl, next, u64::from(REQUESTS) / BATCH_WRITES)
}

/// Prints a line for each timing, or for one of them.
pub(crate) fn run(only: Option<&str>) -> Result<(), Failure> {
    println!(
        "1r-greedy, 8 GiB, half reads, 256 requests of a page under way; page operations are those and programs\n"
    );
    println!("{:78} {:>10} {:>16}", "", "M page", "times as long");
    println!("{:78} {:>10} {:>16}", "", "ops/s", "as without time");
    let (expected, without) = measure(None)?;
    let print = |name: &str, rate: f64| println!("{name:78} {rate:10.1} {:16.1}", without / rate);
    print("writes only, without time", without);
    print("a plain loop with the rule of FEMU on 64 LUNs", measure_rule()?);
    for timing in TIMINGS.into_iter().filter(|timing| only.is_none_or(|only| only == *timing)) {
        let (counts, rate) = measure(Some(timing))?;
        print(timing, rate);
        assert!(
            timing.contains("write-buffer") || counts == expected,
            "{timing}: {counts:?}, not {expected:?}"
        );
    }
    Ok(())
}
