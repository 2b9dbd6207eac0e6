//! Latencies under load, as they were measured.

use ftlab_sim::format::grouped;
use serde::Serialize;

/// Share of the asked rate below which a drive counts as saturated.
const KEPT_UP: f64 = 0.98;

/// What was measured of one drive.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeasuredLoads {
    /// The drive, if the file names it.
    pub name: Option<String>,
    /// In ascending order of what was asked for.
    pub loads: Vec<MeasuredLoad>,
}

/// What was measured at one load.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MeasuredLoad {
    /// What it is called: the job of fio.
    pub name: Option<String>,
    /// Writes a second that the host asked for, or reads, if it does not write; none if it asked for the next request as
    /// soon as one was complete, in a closed loop.
    pub asked_per_second: Option<f64>,
    /// Writes a second that the drive did.
    pub writes_per_second: f64,
    /// Reads a second between them, if the load has its own.
    pub reads_per_second: Option<f64>,
    /// Requests under way in a closed loop, if the load has its own number.
    pub queue_depth: Option<u32>,
    /// Latencies of reads.
    pub reads: LatencyTimes,
    /// Latencies of writes.
    pub writes: LatencyTimes,
}

/// Latencies in microseconds, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LatencyTimes {
    /// The mean.
    pub mean_us: Option<f64>,
    /// The median.
    pub p50_us: Option<f64>,
    /// 99% took no longer.
    pub p99_us: Option<f64>,
    /// 99.9% took no longer.
    pub p99_9_us: Option<f64>,
}

impl LatencyTimes {
    /// The median, or else the mean.
    pub(super) fn usual(&self) -> Option<f64> {
        self.p50_us.or(self.mean_us)
    }
}

impl MeasuredLoad {
    /// Whether as many requests as may be were always under way: the drive did not keep up with what was asked for, or
    /// that was a closed loop.
    pub fn is_closed(&self) -> bool {
        let reads = self.reads_per_second.unwrap_or(0.0);
        let done = if self.writes_per_second > 0.0 { self.writes_per_second } else { reads };
        self.asked_per_second.is_none_or(|asked| done < KEPT_UP * asked)
    }

    /// Whether writes had to wait for the flash. Where they do not, they take less time than reads.
    pub fn is_saturated(&self) -> bool {
        let waits = match (self.reads.usual(), self.writes.usual()) {
            (Some(reads), Some(writes)) => writes > reads,
            _ => true,
        };
        let is_full = self.asked_per_second.is_some() || waits;
        self.writes_per_second > 0.0 && self.is_closed() && is_full
    }

    /// What it is called: its name, or what was asked for.
    pub fn label(&self) -> String {
        let asked = self.asked_per_second.unwrap_or(self.writes_per_second);
        self.name.clone().unwrap_or_else(|| grouped(asked.round() as u64))
    }
}
