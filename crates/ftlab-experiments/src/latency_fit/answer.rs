//! What is told of a drive whose latency was measured.

use super::measured::{LatencyTimes, MeasuredLoad};
use super::simulated::{LoadDrive, LoadQuestion, SimulatedLoad, pages_per_block};
use crate::error::ExperimentsError;
use crate::parallel::parallel;
use ftlab_host::Timing;
use ftlab_sim::SimError;
use serde::Serialize;

/// How far latencies and writes a second may be off at a load that is explained.
const NEAR: (f64, f64) = (0.15, 0.05);

/// The drive, and how far it is off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LatencyFit {
    /// What was measured.
    pub name: Option<String>,
    /// Its times, as `--timing` takes them.
    pub timing: String,
    /// Pages of a block of the simulated drive.
    pub pages_per_block: u32,
    /// Over-provisioning.
    pub op_ratio: f64,
    /// When it collects, as `--gc` takes it.
    pub gc: String,
    /// In ascending order of loads.
    pub loads: Vec<LoadRow>,
    /// Whether it explains what was measured.
    pub told: Told,
    /// Runs that it took.
    pub runs: usize,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadRow {
    /// What was measured.
    pub measured: MeasuredLoad,
    /// What the drive does.
    pub simulated: SimulatedLoad,
    /// How far that is off.
    pub off: Off,
    /// What a drive does that was fitted to the other loads.
    pub predicted: Option<SimulatedLoad>,
    /// How far that is off.
    pub predicted_off: Option<Off>,
}

/// Simulated over measured, less one; none of what was not measured, and -1 if no such request ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Off {
    /// Writes a second.
    pub writes_per_second: Option<f64>,
    /// Reads a second, in a closed loop that has its own.
    pub reads_per_second: Option<f64>,
    /// The mean of reads.
    pub read_mean: Option<f64>,
    /// Their median.
    pub read_p50: Option<f64>,
    /// Their 99th percentile.
    pub read_p99: Option<f64>,
}

/// Whether a drive explains what was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Told {
    /// Every load.
    Explained,
    /// Half of the loads or more.
    InPart,
    /// Fewer.
    Unexplained,
}

/// How near predictions are, of all loads that were left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Accuracy {
    /// Loads.
    pub loads: usize,
    /// Loads whose mean and 99th percentile of reads and writes a second are near.
    pub near: usize,
}

impl Off {
    pub(super) fn of(simulated: &SimulatedLoad, measured: &MeasuredLoad) -> Self {
        let off = |of: fn(&LatencyTimes) -> Option<f64>| {
            Some(of(&simulated.reads).unwrap_or(0.0) / of(&measured.reads)? - 1.0)
        };
        let rate =
            |simulated: f64, measured: f64| (measured > 0.0).then_some(simulated / measured - 1.0);
        let reads = measured.reads_per_second.filter(|_| measured.is_closed());
        Self {
            writes_per_second: rate(simulated.writes_per_second, measured.writes_per_second),
            reads_per_second: reads.and_then(|reads| rate(simulated.reads_per_second, reads)),
            read_mean: off(|times| times.mean_us),
            read_p50: off(|times| times.p50_us),
            read_p99: off(|times| times.p99_us),
        }
    }

    /// Whether mean and 99th percentile of reads, or the median if neither was measured, are within 15%, and requests a
    /// second within 5%.
    pub fn is_near(&self) -> bool {
        let is_near = |off: f64| off.abs() <= NEAR.0;
        let of_reads = match (self.read_mean, self.read_p99) {
            (None, None) => self.read_p50.is_none_or(is_near),
            (mean, p99) => mean.into_iter().chain(p99).all(is_near),
        };
        let mut rates = self.writes_per_second.into_iter().chain(self.reads_per_second);
        of_reads && rates.all(|off| off.abs() <= NEAR.1)
    }
}

impl LatencyFit {
    /// How near predictions of loads that were left out are; none without any.
    pub fn accuracy(&self) -> Option<Accuracy> {
        let offs = self.loads.iter().filter_map(|row| row.predicted_off);
        let near: Vec<bool> = offs.map(|off| off.is_near()).collect();
        let accuracy =
            Accuracy { loads: near.len(), near: near.iter().filter(|near| **near).count() };
        (accuracy.loads > 0).then_some(accuracy)
    }

    pub(super) fn new(
        question: &LoadQuestion,
        drive: &LoadDrive,
        loads: Vec<LoadRow>,
    ) -> Result<Self, ExperimentsError> {
        let timing = Timing::from_spec(&drive.timing).map_err(SimError::from)?;
        let near = loads.iter().filter(|row| row.off.is_near()).count();
        let told = match near {
            all if all == loads.len() => Told::Explained,
            half if 2 * half >= loads.len() => Told::InPart,
            _ => Told::Unexplained,
        };
        Ok(Self {
            name: question.measured.name.clone(),
            timing: drive.timing.to_string(),
            pages_per_block: pages_per_block(&timing),
            op_ratio: drive.op_ratio,
            gc: drive.gc.to_string(),
            runs: loads.len(),
            loads,
            told,
        })
    }
}

impl LoadQuestion {
    /// How far this drive is off.
    pub fn compare(
        &self,
        drive: &LoadDrive,
        threads: usize,
    ) -> Result<LatencyFit, ExperimentsError> {
        let rows = parallel(threads, &self.measured.loads, |measured| {
            let simulated = self.simulate(drive, measured)?;
            Ok(LoadRow {
                measured: measured.clone(),
                simulated,
                off: Off::of(&simulated, measured),
                predicted: None,
                predicted_off: None,
            })
        });
        let rows = rows.into_iter().collect::<Result<_, ExperimentsError>>()?;
        LatencyFit::new(self, drive, rows)
    }
}
