//! Simulating candidates, each once, and holding them against what was measured.

use super::drive::{Candidate, EXPLAINED, Held, OfSeries, Trial, together};
use super::in_pages::InPages;
use super::known::Known;
use super::overhead::overhead;
use super::question::{Extent, Question, Series};
use super::scale::{self, scales};
use super::series::Measured;
use super::written::{Curve, Written};
use crate::error::ExperimentsError;
use crate::identity::changed;
use crate::kept::Kept;
use crate::parallel::{Stop, Until, lock, when_it_fits};
use ftlab_sim::format::significant;
use ftlab_sim::{
    Experiment, Length, Logical, Physical, Prepared, Progress, SimError, Status, WorkloadIdentity,
};
use ftlab_spec::Share;
use ftlab_trace::Contents;
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock};

/// Intervals of a drive write in which relocations are counted, at least.
const INTERVALS: u64 = 64;

/// Intervals of the simulation in the shortest of the series.
const FINER: f64 = 4.0;

/// Runs with seeds of their own of drives that are held against each other closely.
pub(super) const SEEDS: u64 = 3;

/// Next to nothing is moved if so much is written beside the host.
const QUIET: f64 = 1e-4;

/// A drive is filled if no more than this share of it is written again before it is full.
const OVERWRITTEN_MOST: f64 = 0.01;

/// A workload may end by this share of the series before it: counters count what else was written.
const ENDS_BEFORE: f64 = 0.05;

/// A drive is given up that amplifies more than the largest measured WAF - 1, this many times.
const GIVEN_UP: f64 = 4.0;

/// Runs candidates, each once.
pub(super) struct Runner<'a> {
    question: &'a Question,
    /// Of the workload of each series.
    identities: Vec<WorkloadIdentity>,
    contents: Contents,
    /// What was measured, in pages.
    in_pages: Vec<InPages>,
    /// Of each series, whether the drive was filled in it, from empty.
    is_fill: Vec<bool>,
    /// Of each capacity, the most that a drive may amplify before it is given up: under any series, so that it does not
    /// depend on which.
    most: Vec<(u64, f64)>,
    /// Why a candidate could not be run: the first reason.
    pub(super) refused: Mutex<Option<String>>,
    pub(super) ran: Arc<Ran<'a>>,
    /// How much each series counts in the search; all the same until they are told apart.
    weights: OnceLock<Vec<f64>>,
}

/// What was run, of this question and of others like it.
pub(super) struct Ran<'a> {
    kept: Mutex<Option<Kept<Candidate, Written>>>,
    /// What a longer run wrote is what a shorter one would have.
    pub(super) known: Known,
    count: Mutex<usize>,
    on_run: &'a (dyn Fn(usize) + Sync),
}

/// One run: of a candidate under a series, with a number of pages and a seed.
#[derive(Clone, Copy)]
struct Run<'a> {
    candidate: &'a Candidate,
    index: usize,
    pages: u32,
    drive_writes: f64,
    seed: u64,
    /// Whether two other drives may tell what it writes.
    may_be_told: bool,
}

/// How much a run counts, and what came of it.
type WeighedRun = (f64, Arc<Written>);

/// How near a candidate has to come; as soon as it cannot any more, it is not run under the other series.
pub(super) struct Bar {
    mean_square: f64,
    /// Series in their order: those first that leave the most.
    first: Vec<usize>,
}

impl Bar {
    pub(super) const NONE: Self = Self { mean_square: f64::INFINITY, first: Vec::new() };

    /// Nearer than this.
    fn of(best: &Trial) -> Self {
        let mut series: Vec<_> = best.series.iter().collect();
        series.sort_by(|a, b| b.distance.rms.total_cmp(&a.distance.rms));
        let first = series.into_iter().map(|own| own.index).collect();
        Self { mean_square: best.nearness.rms.powi(2), first }
    }
}

/// What came of a candidate under a series.
struct Simulated {
    /// What a drive of the real size writes, of each seed.
    curves: Vec<Curve>,
    /// What the drives of either size alone wrote, the larger ones first.
    sizes: Vec<Vec<Curve>>,
    /// How many pages the larger ones have, as a share of those of the real one.
    share_of_real: f64,
}

impl<'a> Runner<'a> {
    pub(super) fn new(
        question: &'a Question,
        kept: Option<Kept<Candidate, Written>>,
        on_run: &'a (dyn Fn(usize) + Sync),
    ) -> Result<Self, ExperimentsError> {
        let (kept, known, count) = (Mutex::new(kept), Known::default(), Mutex::default());
        Self::knowing(question, Arc::new(Ran { kept, known, count, on_run }))
    }

    /// Of a question about the same series, which may be under other workloads or of another capacity.
    pub(super) fn knowing(
        question: &'a Question,
        ran: Arc<Ran<'a>>,
    ) -> Result<Self, ExperimentsError> {
        let contents = Contents::of_user();
        let identities = question.series.iter().map(|series| identity(series, &contents));
        let in_pages = question.series.iter().map(|series| InPages::new(question, series));
        let in_pages: Vec<InPages> = in_pages.collect::<Result<_, _>>()?;
        let is_fill = question.series.iter().map(|series| is_fill(question, series));
        let most = |capacity: u64| {
            let all = question.series.iter().zip(&in_pages);
            let all = all.map(|(series, own)| own.of(&series.measured, capacity).waf_max());
            1.0 + GIVEN_UP * (all.fold(1.0, f64::max) - 1.0)
        };
        Ok(Self {
            question,
            identities: identities.collect::<Result<_, _>>()?,
            is_fill: is_fill.collect::<Result<_, _>>()?,
            most: question.capacities.iter().map(|&capacity| (capacity, most(capacity))).collect(),
            in_pages,
            contents,
            refused: Mutex::default(),
            ran,
            weights: OnceLock::new(),
        })
    }

    pub(super) fn question(&self) -> &'a Question {
        self.question
    }

    /// What was measured of a series, or a part of it, in pages.
    pub(super) fn in_pages<'m>(
        &self,
        index: usize,
        measured: &'m Measured,
        capacity: u64,
    ) -> Cow<'m, Measured> {
        self.in_pages[index].of(measured, capacity)
    }

    /// Media bytes that a drive of `capacity` writes beside the others, as a share of them, as far as the series tell
    /// that an extent includes.
    pub(super) fn overhead(&self, extent: &Extent<'_>, capacity: u64) -> f64 {
        let of = |(index, measured)| self.in_pages(index, measured, capacity);
        let told = || overhead(self.telling_overhead(extent).map(of), capacity as f64);
        self.question.overhead.unwrap_or_else(told)
    }

    /// The series that tell it: those in which the drive was filled, from empty. A drive that overwrites before it is
    /// full may collect early. So others that began on an empty one tell it only if there is no fill.
    pub(super) fn telling_overhead<'e>(
        &self,
        extent: &'e Extent<'_>,
    ) -> impl Iterator<Item = (usize, &'e Measured)> {
        let is_fill = |index: usize| self.is_fill[index];
        let has_fill = extent.included().any(|(index, _)| is_fill(index));
        let tells = move |index: usize| {
            if has_fill { is_fill(index) } else { self.series(index).is_from_empty() }
        };
        extent.included().filter(move |(index, _)| tells(*index))
    }

    fn weight(&self, index: usize) -> f64 {
        self.weights.get().map_or(1.0, |weights| weights[index])
    }

    /// From here on, series count less in the search the more of them is chance, as this drive shows that ran with several
    /// seeds. A fit of the others counts them in the same way.
    pub(super) fn weigh_by_chance(&self, trial: &Trial) {
        let mut weights = vec![1.0; self.question.series.len()];
        for (of, part) in trial.series.iter().zip(&trial.parts) {
            weights[of.index] = EXPLAINED.powi(2) / (EXPLAINED.powi(2) + part.chance);
        }
        self.weights.get_or_init(|| weights);
    }

    fn series(&self, index: usize) -> &Series {
        &self.question.series[index]
    }

    /// What comes of a candidate, on average over the seeds; none if it cannot be run, or amplifies far more.
    pub(super) fn trial(
        &self,
        candidate: &Candidate,
        extent: &Extent<'_>,
        seeds: u64,
    ) -> Result<Option<Trial>, ExperimentsError> {
        let overhead = self.overhead(extent, candidate.capacity);
        self.trial_with(candidate, (extent, seeds), overhead, &Bar::NONE)
    }

    /// What comes of a candidate with one seed, if it is nearer than `best`.
    pub(super) fn nearer(
        &self,
        candidate: &Candidate,
        extent: &Extent<'_>,
        best: &Trial,
    ) -> Result<Option<Trial>, ExperimentsError> {
        let overhead = self.overhead(extent, candidate.capacity);
        let trial = self.trial_with(candidate, (extent, 1), overhead, &Bar::of(best))?;
        Ok(trial.filter(|trial| trial.nearness.rms < best.nearness.rms))
    }

    /// What comes of a candidate that writes so much beside; none if it does not get over the bar.
    pub(super) fn trial_with(
        &self,
        candidate: &Candidate,
        (extent, seeds): (&Extent<'_>, u64),
        overhead: f64,
        bar: &Bar,
    ) -> Result<Option<Trial>, ExperimentsError> {
        let mut held: Vec<Held> = Vec::new();
        let mut size = None;
        let mut series: Vec<_> = extent.included().collect();
        series.sort_by_key(|(index, _)| bar.first.iter().position(|first| first == index));
        for (index, measured) in series.iter().copied() {
            let squares: f64 =
                held.iter().map(|own| self.weight(own.of.index) * own.mean_square()).sum();
            if squares > bar.mean_square * series.len() as f64 {
                return Ok(None);
            }
            let base = &self.series(index).base;
            // A trace is the same with every seed.
            let own_seeds = if base.workload.is_generator() { seeds } else { 1 };
            let mut curves = Vec::new();
            let mut sizes: Vec<Vec<Curve>> = Vec::new();
            let mut share_of_real = 1.0;
            for number in 0..own_seeds {
                let seed = base.seed.wrapping_add(number);
                let run = Run {
                    candidate,
                    index,
                    pages: 0,
                    drive_writes: 0.0,
                    seed,
                    may_be_told: seeds == 1,
                };
                let Some(runs) = self.runs(&run, extent, measured)? else { return Ok(None) };
                size.get_or_insert((runs[0].1.op_ratio, runs[0].1.blocks));
                curves.push(Curve::new(&runs));
                sizes.resize_with(runs.len(), Vec::new);
                share_of_real = self.share_of_real(candidate, &runs[0].1);
                for ((_, written), of_size) in runs.into_iter().zip(&mut sizes) {
                    of_size.push(Curve::new(&[(1.0, written)]));
                }
            }
            let simulated = Simulated { curves, sizes, share_of_real };
            held.push(self.held(candidate, (index, measured), &simulated, overhead));
        }
        let Some((op_ratio, units)) = size else { return Ok(None) };
        held.sort_by_key(|own| own.of.index);
        let (distance, nearness, parts) = together(&held, |index| self.weight(index));
        Ok(Some(Trial {
            candidate: candidate.clone(),
            op_ratio,
            unit_bytes: f64::from(candidate.pages_per_block) / f64::from(self.question.pages)
                * candidate.capacity as f64,
            units,
            distance,
            series: held.into_iter().map(|own| own.of).collect(),
            nearness,
            parts,
        }))
    }

    /// Runs of a candidate under a series, with their weights: none if one cannot be run, or is given up.
    fn runs(
        &self,
        run: &Run<'_>,
        extent: &Extent<'_>,
        measured: &Measured,
    ) -> Result<Option<Vec<WeighedRun>>, ExperimentsError> {
        let candidate = run.candidate;
        let measured = self.in_pages(run.index, measured, candidate.capacity);
        let drive_writes = measured.host_bytes() / candidate.capacity as f64;
        let mut runs = Vec::new();
        for (weight, pages) in scales(self.question, candidate, extent) {
            let Some(written) = self.known_or_run(&Run { pages, drive_writes, ..*run })? else {
                return Ok(None);
            };
            runs.push((weight, written));
        }
        Ok(Some(runs))
    }

    fn known_or_run(&self, run: &Run<'_>) -> Result<Option<Arc<Written>>, ExperimentsError> {
        match self.prepared_or_run(run) {
            Ok(written) => Ok(Some(written).filter(|written| !written.given_up)),
            Err(ExperimentsError::Sim(error @ (SimError::Stopped | SimError::Changed { .. }))) => {
                Err(error.into())
            }
            Err(ExperimentsError::Sim(error)) => {
                let ftl = &run.candidate.ftl;
                lock(&self.refused).get_or_insert_with(|| match error.to_string() {
                    // Some errors say it.
                    own if own.starts_with(&format!("{ftl}: ")) => own,
                    own => format!("{ftl}: {own}"),
                });
                Ok(None)
            }
            // Of another capacity it may last.
            Err(error @ ExperimentsError::Series { .. }) => {
                lock(&self.refused).get_or_insert_with(|| error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn prepared_or_run(&self, run: &Run<'_>) -> Result<Arc<Written>, ExperimentsError> {
        let Candidate { ftl, capacity, op_ratio, pages_per_block, reserve, gc } = run.candidate;
        let Run { index, pages, drive_writes, seed, .. } = *run;
        let workload = self.series(index).base.workload.name();
        let most = self.most(*capacity);
        let of = format!("{index} {workload} {ftl} {capacity} {seed} up to {most}");
        let kind = format!("{of} {pages_per_block} {reserve} {gc} {pages}");
        let known = &self.ran.known;
        let between = || known.between(&kind, *op_ratio, drive_writes).filter(|_| run.may_be_told);
        if let Some(written) = known.of(&kind, *op_ratio, drive_writes).or_else(between) {
            return Ok(written);
        }
        let experiment = self.experiment(run)?;
        let is_stopped = || self.question.stop.load(Ordering::Relaxed);
        let prepared = when_it_fits(is_stopped, || experiment.prepare())?;
        let drive = format!("{of} {:?}", prepared.config().drive);
        let written = match known.of_drive(&drive, drive_writes) {
            Some(written) => written,
            None => Arc::new(self.written(run, &experiment, prepared)?),
        };
        self.expect_whole(run, &written)?;
        known.put(&kind, *op_ratio, drive, &written);
        Ok(written)
    }

    /// An error if the workload ended long before the series did: nothing is known of what came then.
    fn expect_whole(&self, run: &Run<'_>, written: &Written) -> Result<(), ExperimentsError> {
        if written.given_up || written.covers((1.0 - ENDS_BEFORE) * run.drive_writes) {
            return Ok(());
        }
        let series = self.series(run.index);
        Err(ExperimentsError::Series {
            path: series.name.clone().into(),
            reason: format!(
                "the host wrote {} drive writes, and its workload {} ends after {}; name all that was run (a job of fio \
                 that writes on has --time_based and --runtime, or a larger --io_size)",
                significant(run.drive_writes, 4),
                series.base.workload.name(),
                significant(written.drive_writes(), 4)
            ),
        })
    }

    /// Pages of the drive that was simulated, as a share of those of the real one.
    fn share_of_real(&self, candidate: &Candidate, written: &Written) -> f64 {
        let page_bytes = f64::from(self.question.base().drive.page_bytes);
        (f64::from(written.pages) * page_bytes / candidate.capacity as f64).min(1.0)
    }

    /// Runs of a candidate held against a series.
    fn held(
        &self,
        candidate: &Candidate,
        (index, part): (usize, &Measured),
        Simulated { curves, sizes, share_of_real }: &Simulated,
        overhead: f64,
    ) -> Held {
        let measured = self.in_pages(index, part, candidate.capacity);
        let capacity = candidate.capacity as f64;
        let skip = measured.skipped_by(part, self.series(index).skip * capacity);
        let media_of = |curve: &Curve, host: f64| (1.0 + overhead) * curve.media(capacity, host);
        let mean = Curve::mean(curves);
        let media = |host: f64| media_of(&mean, host);
        let all = measured.residuals(0.0, &media);
        let residuals = measured.residuals(skip, &media);
        let count = curves.len() as f64;
        // The variance of one of them.
        let apart = |curves: &[Curve]| {
            let mean = Curve::mean(curves);
            let of_mean = measured.residuals(skip, &|host| media_of(&mean, host));
            let apart_of = |curve: &Curve| {
                let own = measured.residuals(skip, &|host| media_of(curve, host)).into_iter();
                own.zip(&of_mean).map(|(own, mean)| (own - mean).powi(2)).sum::<f64>()
            };
            let sum: f64 = curves.iter().map(apart_of).sum();
            sum / of_mean.len() as f64 / (count - 1.0).max(1.0)
        };
        // Of one size there is nothing more to tell.
        let larger = (sizes.len() > 1).then(|| Curve::mean(&sizes[0]));
        let of_scale = larger.map_or_else(Vec::new, |larger| {
            let by_larger = measured.residuals(skip, &|host| media_of(&larger, host));
            residuals.iter().zip(by_larger).map(|(both, one)| scale::ERROR * (both - one)).collect()
        });
        let wafs = measured.wafs_of(&media);
        let simulated_wafs = wafs[wafs.len() - residuals.len()..].iter().map(|(_, waf)| *waf);
        let both = simulated_wafs.zip(&residuals);
        let quiet = both.filter(|(waf, _)| *waf < 1.0 + overhead + QUIET).map(|(_, off)| *off);
        let least = self.question.least_beside();
        let (waf, waf_last_fifth) = measured.wafs_by(skip, &media);
        Held {
            chance: scale::chance(
                apart(&sizes[0]),
                sizes.get(1).map(|own| apart(own)),
                *share_of_real,
            ),
            simulated: apart(curves) / count,
            quiet: quiet.collect(),
            beside: (measured.waf_after(skip) - 1.0).max(least),
            of: OfSeries {
                index,
                waf,
                waf_last_fifth,
                distance: measured.distance(skip, least, &media),
                wafs: part.with_off(&measured, &all),
            },
            residuals,
            shared: [of_scale, measured.shared_error(skip)],
        }
    }

    /// The most that a drive may amplify before it is given up.
    fn most(&self, capacity: u64) -> f64 {
        let of = self.most.iter().find(|(own, _)| *own == capacity);
        of.map_or(f64::INFINITY, |(_, most)| *most)
    }

    fn written(
        &self,
        run: &Run<'_>,
        experiment: &Experiment,
        prepared: Prepared,
    ) -> Result<Written, ExperimentsError> {
        let (candidate, series) = (run.candidate, self.series(run.index));
        let identity_of = &self.identities[run.index];
        let most = self.most(candidate.capacity);
        let own = experiment.identity(identity_of)?.of_run(&experiment.ftls[0]);
        let mut own = own.map_err(SimError::from)?.with(&format!("up to {most}"));
        if experiment.workload != series.base.workload {
            own = own.with(&format!("of {} bytes", candidate.capacity));
        }
        if let Some(written) = lock(&self.ran.kept).as_ref().and_then(|kept| kept.get(&own)) {
            return Ok(written);
        }
        let drive = prepared.config().drive.clone();
        let interval = prepared.config().interval_writes;
        let mut watch = Watch { stop: &self.question.stop, most, given_up: false };
        let result = match prepared.run(&mut watch) {
            Ok(mut result) => Some(result.runs.remove(0)),
            Err(SimError::Stopped) if watch.given_up => None,
            Err(error) => return Err(error.into()),
        };
        // What cannot be looked at any more is no reason against a candidate either.
        if identity(series, &self.contents).ok().as_ref() != Some(identity_of) {
            return Err(changed(&series.base.workload).into());
        }
        // Not relocations: FTLs with log blocks merge.
        let of_interval = |waf: &f64| ((waf - 1.0) * interval as f64).round() as u64;
        let beside: Vec<u64> =
            result.iter().flat_map(|own| own.running_waf.iter().map(of_interval)).collect();
        let given_up = result.is_none();
        let written = Written {
            pages: drive.logical_pages,
            op_ratio: drive.op_ratio,
            blocks: drive.blocks,
            interval,
            beside,
            given_up,
        };
        if let Some(kept) = lock(&self.ran.kept).as_mut() {
            kept.put(&own, candidate, &written)?;
        }
        let mut count = lock(&self.ran.count);
        *count += 1;
        (self.ran.on_run)(*count);
        Ok(written)
    }

    fn experiment(&self, run: &Run<'_>) -> Result<Experiment, SimError> {
        let (candidate, series) = (run.candidate, self.series(run.index));
        let (pages, unit_pages) = self.size(candidate, run.pages);
        let capacity = candidate.capacity as f64;
        // Page writes of the drive that is simulated, for bytes of the host.
        let writes = |bytes: f64| bytes / capacity * f64::from(pages);
        let measured = self.in_pages(run.index, &series.measured, candidate.capacity);
        let shortest = writes(measured.shortest()) / FINER;
        let interval = (u64::from(pages) / INTERVALS).min(shortest as u64).max(1);
        let mut experiment = Experiment {
            ftls: vec![candidate.ftl.parse()?],
            length: Length::DriveWrites(run.drive_writes),
            warmup_writes: writes(series.after as f64) as u64,
            interval_writes: Some(interval),
            seed: run.seed,
            threads: Some(1),
            workload: series.base.workload.of_capacity(candidate.capacity)?,
            ..series.base.clone()
        };
        experiment.drive.logical = Logical::Pages(u64::from(pages));
        experiment.drive.physical = self.physical(candidate);
        experiment.drive.pages_per_block = Some(unit_pages);
        experiment.drive.reserve_blocks = candidate.reserve;
        experiment.drive.gc = candidate.gc.parse()?;
        Ok(experiment)
    }

    /// Over-provisioning; of several series, as many units as a drive of the size that was asked for has. Else those of a
    /// smaller one, of fewer pages each, may be one more.
    fn physical(&self, candidate: &Candidate) -> Physical {
        if self.question.series.len() == 1 {
            return Physical::OverProvisioning(Share(candidate.op_ratio));
        }
        let flash = (1.0 + candidate.op_ratio) * f64::from(self.question.pages);
        Physical::Blocks((flash / f64::from(candidate.pages_per_block)).ceil() as u32)
    }

    /// Pages of a drive of about this size, and of its units: a drive of another size has as many units.
    fn size(&self, candidate: &Candidate, pages: u32) -> (u32, u32) {
        let (asked, unit) = (f64::from(self.question.pages), f64::from(candidate.pages_per_block));
        let unit_pages = (unit * f64::from(pages) / asked).round().max(2.0);
        ((asked * unit_pages / unit).round() as u32, unit_pages as u32)
    }
}

/// Whether the drive was filled in a series, from empty, as its first capacity has it; nobody asks if the overhead is
/// given.
fn is_fill(question: &Question, series: &Series) -> Result<bool, SimError> {
    if question.overhead.is_some() || !series.is_from_empty() || series.base.workload.is_read_once()
    {
        return Ok(false);
    }
    let Some(capacity) = question.capacities.first() else { return Ok(false) };
    let mut experiment = series.base.clone();
    experiment.drive.logical = Logical::Pages(u64::from(question.pages));
    let mut overwritten = || {
        experiment.workload = series.base.workload.of_capacity(*capacity)?;
        experiment.overwritten_while_filling(&mut Until(&question.stop))
    };
    match overwritten() {
        Ok(share) => Ok(share <= OVERWRITTEN_MOST),
        Err(error @ (SimError::Stopped | SimError::Memory { .. })) => Err(error),
        // What is wrong with a workload is said of the first drive that is run.
        Err(_) => Ok(false),
    }
}

fn identity(series: &Series, contents: &Contents) -> Result<WorkloadIdentity, SimError> {
    series.base.workload.identity(series.base.drive.page_bytes, contents)
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
