//! A drive at one load, simulated.

use super::measured::{LatencyTimes, MeasuredLoad, MeasuredLoads};
use crate::error::ExperimentsError;
use crate::load::with;
use crate::parallel::{Stop, Until, when_it_fits};
use ftlab_ftl::page::GcSchedule;
use ftlab_host::{Timing, Unit};
use ftlab_sim::result::ResponseSummary;
use ftlab_sim::{Experiment, Fill, Length, Logical, Physical, SimError, Workload};
use ftlab_spec::{Share, Spec};
use ftlab_trace::OpenOptions;
use serde::Serialize;
use std::sync::atomic::Ordering;

/// Bytes of a page, which is what the host reads and writes.
const PAGE_BYTES: u32 = 4096;

/// Pages of each LUN that the host can address, if nothing else is asked for.
pub const USUAL_PAGES_OF_LUN: u32 = 8192;

/// Requests under way of a part of a drive, at least.
const DEPTH_OF_PART: u32 = 16;

/// LUNs that a drive counts as if it has fewer.
const LUNS_LEAST: u32 = 4;

/// Drive writes before the measurement, and reads for each of them at most: a load that hardly writes need not be settled.
const WARMUP: f64 = 2.0;
const READS_OF_WARMUP: f64 = 10.0;

/// Reads that are simulated at a load, if nothing else is asked for.
pub const USUAL_READS: u32 = 5000;

/// Writes for each of these reads, at least; fewer where a load has less than a tenth of that, and no more than this.
const WRITES: f64 = 6.0;
const WRITES_OF_SHARE: f64 = 10.0 * WRITES;
const WRITES_MOST: f64 = 100.0;

/// Share of reads at most: a workload writes now and then.
const READS_MOST: f64 = 0.999;

/// A drive whose latency is simulated.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadDrive {
    /// Its times, as `--timing` takes them; how requests arrive does not count.
    pub timing: Spec,
    /// Over-provisioning.
    pub op_ratio: f64,
    /// When it collects.
    pub gc: GcSchedule,
}

/// What was measured, and what is known beside.
#[derive(Debug, Clone)]
pub struct LoadQuestion {
    /// What was measured.
    pub measured: MeasuredLoads,
    /// Reads a second between the writes, of loads that do not say.
    pub reads_per_second: f64,
    /// Requests under way when the drive does not keep up, of loads that do not say.
    pub queue_depth: u32,
    /// Queues of the host at a load that the drive does not keep up with: each has an equal share of that depth. One of
    /// them sends the reads, with as many writes, and its latencies were measured. If there is one, all are in it.
    pub queues: u32,
    /// Reads that are simulated at each load, at least: the more, the surer are percentiles.
    pub reads: u32,
    /// Pages of each LUN that the host can address, on the small drives that are simulated.
    pub pages_of_lun: u32,
    /// Whether each load is also predicted by a fit of the others.
    pub leaves_out: bool,
    /// Seed of the workload.
    pub seed: u64,
    /// Ends all runs when it is set.
    pub stop: Stop,
}

/// What a simulated drive does at a load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SimulatedLoad {
    /// Writes a second.
    pub writes_per_second: f64,
    /// Reads a second.
    pub reads_per_second: f64,
    /// Latencies of reads.
    pub reads: LatencyTimes,
    /// Latencies of writes.
    pub writes: LatencyTimes,
    /// Write amplification.
    pub waf: f64,
}

impl LoadQuestion {
    /// What this drive does at a load. Requests come at random, at the rate that was measured; in a closed loop, and where
    /// the drive did not keep up, as many as the depth are under way.
    pub fn simulate(
        &self,
        drive: &LoadDrive,
        load: &MeasuredLoad,
    ) -> Result<SimulatedLoad, ExperimentsError> {
        self.simulate_part(drive, load, 1)
    }

    /// Whether the host has several queues at this load, which are full.
    pub fn has_queues(&self, load: &MeasuredLoad) -> bool {
        self.queues > 1 && load.asked_per_second.is_some() && load.is_saturated()
    }

    /// Into how many parts a load can be divided, as a power of two: in a closed loop each has as many requests under way.
    /// How long a request waits for its turn is not that of a part.
    pub(super) fn parts_most(&self, load: &MeasuredLoad) -> u32 {
        if self.has_queues(load) {
            return 1;
        }
        let depth = load.queue_depth.unwrap_or(self.queue_depth);
        let most = if load.is_closed() { depth / DEPTH_OF_PART } else { u32::MAX };
        1 << most.max(1).ilog2()
    }

    /// What one of `parts` equal parts of a drive does with its share of a load; requests a second are those of all.
    pub(super) fn simulate_part(
        &self,
        drive: &LoadDrive,
        load: &MeasuredLoad,
        parts: u32,
    ) -> Result<SimulatedLoad, ExperimentsError> {
        let timing = Timing::from_spec(&drive.timing).map_err(SimError::from)?;
        if timing.unit() != Unit::Request {
            return Err(SimError::Unusable {
                what: "latencies are of requests, not of page writes".into(),
                remedy: "add unit=request to --timing".into(),
            }
            .into());
        }
        let luns = timing.luns().max(LUNS_LEAST);
        let pages = u64::from(luns) * u64::from(self.pages_of_lun);
        let reads = load.reads_per_second.unwrap_or(self.reads_per_second);
        let writes = load.writes_per_second;
        let depth = load.queue_depth.unwrap_or(self.queue_depth);
        let arrivals = if load.is_closed() {
            [("arrivals", "closed".to_owned()), ("queue-depth", (depth / parts).max(1).to_string())]
        } else {
            [
                ("arrivals", "poisson".to_owned()),
                ("rate", ((reads + writes) / f64::from(parts)).to_string()),
            ]
        };
        let share = (reads / (reads + writes)).min(READS_MOST);
        // Where hardly anything is written, more reads are simulated, but not without end.
        let by_read = (1.0 - share) / share;
        let settles = (READS_OF_WARMUP * by_read).min(1.0);
        let by_read = by_read.max((WRITES_OF_SHARE * by_read).min(WRITES)).clamp(0.0, WRITES_MOST);
        let count = f64::from(self.reads) * by_read;
        let has_queues = self.has_queues(load);
        let workload = if has_queues {
            jobs(self.queues, depth, reads, self.seed)
        } else {
            format!("uniform:reads={share}")
        };
        let workload = Workload::parse(&workload, OpenOptions::default())?;
        let mut spec = with(&drive.timing, &arrivals);
        if has_queues {
            spec = with(&spec, &[("by", "tenant".to_owned())]);
        } else {
            // All are in one queue.
            spec.arguments.retain(|(key, _)| key != "slots" && key != "weights");
        }
        let at_once = timing.pages_at_once(PAGE_BYTES);
        let pages_per_block = pages_per_block(&timing);
        let mut experiment = Experiment {
            fill: Fill::Random,
            warmup_writes: (WARMUP * pages as f64 * settles) as u64,
            length: Length::Writes((count as u64).max(1)),
            timing: Some(with_short_erases(spec, &timing, at_once)),
            seed: self.seed,
            threads: Some(1),
            ..Experiment::new(workload, vec!["1r-greedy".parse().map_err(SimError::from)?])
        };
        experiment.drive.page_bytes = PAGE_BYTES;
        experiment.drive.logical = Logical::Pages(pages);
        experiment.drive.pages_per_block = Some(pages_per_block);
        experiment.drive.physical = Physical::OverProvisioning(Share(drive.op_ratio));
        experiment.drive.gc = drive.gc;
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let prepared = when_it_fits(is_stopped, || experiment.prepare())?;
        let mut result = prepared.run(&mut Until(&self.stop))?;
        let run = result.runs.remove(0);
        let requests = run.timing.and_then(|timing| timing.requests);
        let (operations, groups) =
            requests.map(|requests| (requests.operations, requests.groups)).unwrap_or_default();
        let of = |name: &str| {
            let group = groups.iter().find(|group| group.name == READER && group.operation == name);
            let of_all = operations.get(name).map(|of| &of.response_ns);
            group.map(|group| &group.response_ns).or(of_all).map(times).unwrap_or_default()
        };
        let per_second =
            |name: &str| operations.get(name).map_or(0.0, |of| of.per_second * f64::from(parts));
        Ok(SimulatedLoad {
            writes_per_second: per_second("write"),
            reads_per_second: per_second("read"),
            reads: of("read"),
            writes: of("write"),
            waf: run.waf,
        })
    }
}

/// Pages of a block of a simulated drive: what its LUNs program at once.
pub(super) fn pages_per_block(timing: &Timing) -> u32 {
    timing.luns().saturating_mul(timing.pages_at_once(PAGE_BYTES)).max(2)
}

/// The simulated drive has small blocks, each of what its LUNs program at once, and so many erases. They take as much
/// less time, and as much in sum.
fn with_short_erases(mut spec: Spec, timing: &Timing, at_once: u32) -> Spec {
    let values = timing.values();
    let erase_us = values.iter().find(|(key, _)| *key == "erase-us");
    let erase_us: f64 = erase_us.and_then(|(_, value)| value.parse().ok()).unwrap_or(0.0);
    let share = f64::from(at_once) / f64::from(timing.pages_per_lun(PAGE_BYTES).max(at_once));
    spec.arguments.retain(|(key, _)| key != "erase-us");
    spec.arguments.push(("erase-us".to_owned(), format!("{}", erase_us * share)));
    spec
}

/// The job of the queue that reads.
const READER: &str = "reader";

/// Queues that are full of writes, and one that reads and writes so many pages a second.
fn jobs(queues: u32, depth: u32, reads: f64, seed: u64) -> String {
    let depth = (depth / queues).max(1);
    let writers = (1..queues).map(|queue| format!(" --name=writer{queue} --rw=randwrite"));
    let writers: Vec<String> = writers.collect();
    format!(
        "fio --filename=/dev/drive --ioengine=io_uring --bs=4k --norandommap --time_based --runtime=100000 \
         --randseed={seed} --iodepth={depth}{} --name={READER} --rw=randrw --rwmixread=50 --rate_iops={}",
        writers.concat(),
        reads.round().max(1.0)
    )
}

fn times(of: &ResponseSummary) -> LatencyTimes {
    let ResponseSummary { mean, p50, p99, p99_9, .. } = *of;
    LatencyTimes {
        mean_us: Some(mean / 1e3),
        p50_us: Some(p50 as f64 / 1e3),
        p99_us: Some(p99 as f64 / 1e3),
        p99_9_us: Some(p99_9 as f64 / 1e3),
    }
}
