//! A drive that may be the one that was measured, scaled down, and what it writes.

use super::in_pages::InPages;
use super::question::{Extent, Question};
use super::series::Distance;
use crate::error::ExperimentsError;
use crate::identity::changed;
use crate::kept::Kept;
use crate::parallel::{Stop, lock, when_it_fits};
use ftlab_sim::{
    Experiment, Length, Logical, Physical, Prepared, Progress, SimError, Status, WorkloadIdentity,
};
use ftlab_spec::Share;
use ftlab_trace::Contents;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Intervals of a drive write in which relocations are counted, at least.
const INTERVALS: u64 = 64;

/// Intervals of the simulation in the shortest of the series.
const FINER: f64 = 4.0;

/// Runs with seeds of their own of drives that are held against each other closely.
pub(super) const SEEDS: u64 = 3;

/// A drive is given up that amplifies more than the largest measured WAF - 1, this many times.
const GIVEN_UP: f64 = 4.0;

/// A drive that may be the one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The FTL as it was named.
    pub ftl: String,
    /// Bytes that the host can address on the real drive.
    pub capacity: u64,
    /// (physical - logical) / logical.
    pub op_ratio: f64,
    /// Pages of a unit, on a drive of as many pages as are asked for.
    pub pages_per_block: u32,
    /// Free units that host writes may not take.
    pub reserve: u32,
}

/// What a simulated drive wrote.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Written {
    /// Pages that the host can address.
    pages: u32,
    /// Over-provisioning as it came out.
    op_ratio: f64,
    /// Erase blocks.
    blocks: u32,
    /// Host writes of an interval.
    interval: u64,
    /// Pages relocated in each.
    relocated: Vec<u64>,
    /// Whether the run was given up.
    given_up: bool,
}

impl Written {
    /// Bytes that the real drive, of `capacity`, would have written after `host` bytes; `sums` are pages relocated
    /// until the end of each interval.
    fn media(&self, sums: &[f64], capacity: f64, host: f64) -> f64 {
        let page = capacity / f64::from(self.pages);
        let place = host / (self.interval as f64 * page);
        let before = (place as usize).min(sums.len() - 1);
        let after = (before + 1).min(sums.len() - 1);
        // Beyond the end it goes on as it ended.
        let step = if after > before {
            sums[after] - sums[before]
        } else {
            sums[before] - sums[before - 1]
        };
        host + (sums[before] + (place - before as f64) * step) * page
    }

    /// Whether it lasts for these drive writes.
    fn covers(&self, drive_writes: f64) -> bool {
        let host = self.relocated.len() as f64 * self.interval as f64;
        host + self.interval as f64 > drive_writes * f64::from(self.pages)
    }

    fn sums(&self) -> Vec<f64> {
        let running = self.relocated.iter().scan(0.0, |sum, own| {
            *sum += *own as f64;
            Some(*sum)
        });
        std::iter::once(0.0).chain(running).collect()
    }
}

/// How a candidate did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Trial {
    /// The drive.
    pub candidate: Candidate,
    /// Over-provisioning as it came out.
    pub op_ratio: f64,
    /// Bytes of a unit of the real drive.
    pub unit_bytes: f64,
    /// Units of the drive.
    pub units: u32,
    /// How far it is off.
    pub distance: Distance,
    /// How far each interval is off.
    #[serde(skip)]
    pub(super) residuals: Vec<f64>,
    /// The mean of the squares that is expected of the very drive that was measured; 0 if it ran once.
    #[serde(skip)]
    pub(super) expected_square: f64,
    /// Host bytes at the middle of each interval of the series, and the media bytes per host byte there.
    #[serde(skip)]
    pub wafs: Vec<(f64, f64)>,
}

impl Trial {
    /// The logarithm of what it writes beside the host, as a multiple of what was measured, on average.
    pub(super) fn excess(&self) -> f64 {
        (1.0 + self.distance.mean).max(0.01).ln()
    }

    /// The mean of the squares of how far the intervals are off.
    pub(super) fn mean_square(&self) -> f64 {
        let squares: f64 = self.residuals.iter().map(|off| off * off).sum();
        squares / self.residuals.len().max(1) as f64
    }
}

/// Runs candidates, each once.
pub(super) struct Runner<'a> {
    question: &'a Question,
    identity: WorkloadIdentity,
    contents: Contents,
    /// What was measured, in pages.
    pub(super) in_pages: InPages,
    kept: Mutex<Option<Kept<Candidate, Written>>>,
    /// By drive and seed; what a longer run wrote is what a shorter one would have.
    known: Mutex<HashMap<String, Written>>,
    /// Why a candidate could not be run: the first reason.
    pub(super) refused: Mutex<Option<String>>,
    ran: Mutex<usize>,
    on_run: &'a (dyn Fn(usize) + Sync),
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        question: &'a Question,
        kept: Option<Kept<Candidate, Written>>,
        on_run: &'a (dyn Fn(usize) + Sync),
    ) -> Result<Self, ExperimentsError> {
        let contents = Contents::of_user();
        Ok(Self {
            question,
            identity: identity(question, &contents)?,
            contents,
            in_pages: InPages::new(question)?,
            kept: Mutex::new(kept),
            known: Mutex::default(),
            refused: Mutex::default(),
            ran: Mutex::default(),
            on_run,
        })
    }

    /// What comes of a candidate, on average over the seeds; none if it cannot be run, or amplifies far more.
    pub(super) fn trial(
        &self,
        candidate: &Candidate,
        extent: &Extent<'_>,
        seeds: u64,
    ) -> Result<Option<Trial>, ExperimentsError> {
        // A trace is the same with every seed.
        let seeds = if self.question.base.workload.is_generator() { seeds } else { 1 };
        let mut written = Vec::new();
        for number in 0..seeds {
            let seed = self.question.base.seed.wrapping_add(number);
            let Some(own) = self.known_or_run(candidate, extent, seed)? else { return Ok(None) };
            written.push(own);
        }
        Ok(Some(self.held(candidate, extent, &written)))
    }

    fn known_or_run(
        &self,
        candidate: &Candidate,
        extent: &Extent<'_>,
        seed: u64,
    ) -> Result<Option<Written>, ExperimentsError> {
        match self.prepared_or_run(candidate, extent, seed) {
            Ok(written) => Ok(Some(written).filter(|written| !written.given_up)),
            Err(ExperimentsError::Sim(error @ (SimError::Stopped | SimError::Changed { .. }))) => {
                Err(error.into())
            }
            Err(ExperimentsError::Sim(error)) => {
                lock(&self.refused).get_or_insert_with(|| format!("{}: {error}", candidate.ftl));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn prepared_or_run(
        &self,
        candidate: &Candidate,
        extent: &Extent<'_>,
        seed: u64,
    ) -> Result<Written, ExperimentsError> {
        let measured = self.in_pages.of(&extent.measured, candidate.capacity);
        let drive_writes = measured.host_bytes() / candidate.capacity as f64;
        let experiment = self.experiment(candidate, extent.pages, drive_writes, seed)?;
        let is_stopped = || self.question.stop.load(Ordering::Relaxed);
        let prepared = when_it_fits(is_stopped, || experiment.prepare())?;
        // Over-provisioning is in whole blocks: neighbours may be the same drive.
        let Candidate { ftl, capacity, .. } = candidate;
        let name = format!("{ftl} {capacity} {:?} {seed}", prepared.config().drive);
        if let Some(known) = lock(&self.known).get(&name)
            && (known.given_up || known.covers(drive_writes))
        {
            return Ok(known.clone());
        }
        let written = self.written(candidate, &experiment, prepared)?;
        lock(&self.known).insert(name, written.clone());
        Ok(written)
    }

    /// Runs of a candidate held against a series.
    fn held(&self, candidate: &Candidate, extent: &Extent<'_>, runs: &[Written]) -> Trial {
        let measured = self.in_pages.of(&extent.measured, candidate.capacity);
        let capacity = candidate.capacity as f64;
        let skip = measured.skipped_by(&extent.measured, self.question.skip * capacity);
        let of_runs: Vec<Vec<f64>> = runs.iter().map(Written::sums).collect();
        let residuals_of =
            |sums: &[f64]| measured.residuals(skip, &|host| runs[0].media(sums, capacity, host));
        let sums = mean_of(&of_runs);
        let media = |host: f64| runs[0].media(&sums, capacity, host);
        let all = measured.residuals(0.0, &media);
        let residuals = residuals_of(&sums);
        let count = runs.len() as f64;
        let apart_of = |sums: &Vec<f64>| {
            let own = residuals_of(sums).into_iter().zip(&residuals);
            own.map(|(own, mean)| (own - mean).powi(2)).sum::<f64>()
        };
        let apart: f64 = of_runs.iter().map(apart_of).sum();
        Trial {
            candidate: candidate.clone(),
            op_ratio: runs[0].op_ratio,
            unit_bytes: f64::from(candidate.pages_per_block) / f64::from(self.question.pages)
                * capacity,
            units: runs[0].blocks,
            distance: measured.distance(skip, &media),
            // The variance of one run, and of the mean of as many as there are.
            expected_square: apart / residuals.len() as f64 / (count - 1.0).max(1.0)
                * (1.0 + 1.0 / count),
            residuals,
            wafs: extent.measured.with_off(&measured, &all),
        }
    }

    fn written(
        &self,
        candidate: &Candidate,
        experiment: &Experiment,
        prepared: Prepared,
    ) -> Result<Written, ExperimentsError> {
        let measured = self.in_pages.of(&self.question.measured, candidate.capacity);
        let most = 1.0 + GIVEN_UP * (measured.waf_max() - 1.0);
        let own = experiment.identity(&self.identity)?.of_run(&experiment.ftls[0]);
        let mut own = own.map_err(SimError::from)?.with(&format!("up to {most}"));
        if experiment.workload != self.question.base.workload {
            own = own.with(&format!("of {} bytes", candidate.capacity));
        }
        if let Some(written) = lock(&self.kept).as_ref().and_then(|kept| kept.get(&own)) {
            return Ok(written);
        }
        let drive = prepared.config().drive.clone();
        let interval = prepared.config().interval_writes;
        let mut watch = Watch { stop: &self.question.stop, most, given_up: false };
        let run = match prepared.run(&mut watch) {
            Ok(mut result) => Some(result.runs.remove(0)),
            Err(SimError::Stopped) if watch.given_up => None,
            Err(error) => return Err(error.into()),
        };
        // What cannot be looked at any more is no reason against a candidate either.
        if identity(self.question, &self.contents).ok().as_ref() != Some(&self.identity) {
            return Err(changed(&self.question.base.workload).into());
        }
        let relocated = run.map(|run| run.running_relocations);
        let given_up = relocated.as_ref().is_none_or(Vec::is_empty);
        let written = Written {
            pages: drive.logical_pages,
            op_ratio: drive.op_ratio,
            blocks: drive.blocks,
            interval,
            relocated: relocated.unwrap_or_default(),
            given_up,
        };
        if let Some(kept) = lock(&self.kept).as_mut() {
            kept.put(&own, candidate, &written)?;
        }
        let mut ran = lock(&self.ran);
        *ran += 1;
        (self.on_run)(*ran);
        Ok(written)
    }

    fn experiment(
        &self,
        candidate: &Candidate,
        pages: u32,
        drive_writes: f64,
        seed: u64,
    ) -> Result<Experiment, SimError> {
        let question = self.question;
        let capacity = candidate.capacity as f64;
        let measured = self.in_pages.of(&question.measured, candidate.capacity);
        let shortest = measured.shortest() / capacity * f64::from(pages) / FINER;
        let interval = (u64::from(pages) / INTERVALS).min(shortest as u64).max(1);
        let mut experiment = Experiment {
            ftls: vec![candidate.ftl.parse()?],
            length: Length::DriveWrites(drive_writes),
            interval_writes: Some(interval),
            seed,
            threads: Some(1),
            workload: question.base.workload.of_capacity(candidate.capacity)?,
            ..question.base.clone()
        };
        experiment.drive.logical = Logical::Pages(u64::from(pages));
        experiment.drive.physical = Physical::OverProvisioning(Share(candidate.op_ratio));
        // A drive of another size has as many units.
        let unit =
            u64::from(candidate.pages_per_block) * u64::from(pages) / u64::from(question.pages);
        experiment.drive.pages_per_block = Some((unit as u32).max(2));
        experiment.drive.reserve_blocks = candidate.reserve;
        Ok(experiment)
    }
}

fn identity(question: &Question, contents: &Contents) -> Result<WorkloadIdentity, SimError> {
    question.base.workload.identity(question.base.drive.page_bytes, contents)
}

/// The mean of series that are equally long, or cut to the shortest.
fn mean_of(series: &[Vec<f64>]) -> Vec<f64> {
    let length = series.iter().map(Vec::len).min().unwrap_or(0);
    let mean = |at: usize| series.iter().map(|own| own[at]).sum::<f64>() / series.len() as f64;
    (0..length).map(mean).collect()
}

/// Ends a run that is to stop, or that amplifies far too much.
struct Watch<'a> {
    stop: &'a Stop,
    most: f64,
    given_up: bool,
}

impl Progress for Watch<'_> {
    fn update(&mut self, status: &Status) -> ControlFlow<()> {
        self.given_up |= status.wafs.iter().flatten().any(|waf| *waf > self.most);
        if self.given_up || self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_covers_what_it_was_run_for_and_is_extrapolated_beyond() {
        // 100 pages; intervals of 50 host writes; two drive writes.
        let written = Written {
            pages: 100,
            op_ratio: 0.1,
            blocks: 11,
            interval: 50,
            relocated: vec![0, 10, 20, 30],
            given_up: false,
        };
        assert!(written.covers(2.0) && written.covers(2.4));
        assert!(!written.covers(2.5), "an interval is missing");
        // The real drive has 1,000 bytes, 10 for each page.
        let series = [(0.0, 0.0), (500.0, 500.0), (1000.0, 1100.0), (1250.0, 1450.0)];
        for (host, media) in series.into_iter().chain([(2500.0, 2500.0 + 900.0)]) {
            let told = written.media(&written.sums(), 1000.0, host);
            assert!((told - media).abs() < 1e-9, "{told} after {host}");
        }
    }
}
