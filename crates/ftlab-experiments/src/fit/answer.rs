//! The search and its bounds, one after the other.

use super::bounds::{Bounds, ProfilePoint, Profiled};
use super::drive::{Candidate, Trial};
use super::left_out::LeftOut;
use super::noise::Noise;
use super::overhead::overhead;
use super::question::{Extent, Question, Series};
use super::runner::Runner;
use super::verdict::{Verdict, is_unexplained};
use super::written::Written;
use crate::compare::standard_ftls;
use crate::error::ExperimentsError;
use crate::kept::Kept;
use crate::parallel::lock;
use ftlab_ftl::page::Hints;
use ftlab_ftl::registry::{self, Kind, entries};
use ftlab_sim::SimError;
use ftlab_sim::format::percent;
use ftlab_spec::Spec;
use serde::Serialize;

/// Finished runs of a fit.
pub type Trials = Kept<Candidate, Written>;

/// The name of their file.
pub const TRIALS: &str = "trials.jsonl";

/// Pages of a simulated drive, if nothing else is asked for.
pub const USUAL_PAGES: u32 = 262_144;

/// Least and most over-provisioning of the coarse grid, if nothing else is asked for.
pub const USUAL_OP_RATIOS: (f64, f64) = (0.04, 0.4);

/// Units of a drive: the fewest and the most.
const UNITS: (u32, u32) = (64, 8192);

/// The fewest pages of a unit. Smaller units differ more in how many of their pages are valid, which makes collecting
/// them cheaper than it is on the real drive.
const UNIT_PAGES_MIN: u32 = 32;

/// Tried beside the standard FTLs: plain drives that keep apart what they move.
const FURTHER: [&str; 2] = ["sep-gc/greedy", "sep-gc/fifo"];

/// How much larger the drive is on which the answer is tried again.
const LARGER: u32 = 4;

/// The most that a drive may write beside the host while it is empty; more is collection.
const OVERHEAD_MAX: f64 = 0.5;

/// Drive writes over which that is looked at: a capacity that is twice too large is found out later.
const EMPTY_FOR: f64 = 0.25;

/// Drive writes of an interval, at least, of one series and of each of several: within less, it is mostly chance what is
/// moved, and under zones within far more.
const INTERVAL: f64 = 1.0 / 16.0;
const INTERVAL_OF_SEVERAL: f64 = 1.0 / 4.0;

/// Bounds are looked for around a better drive this often.
const RECENTRED_MAX: u32 = 2;

/// The drives that explain a series best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The best drive of each FTL that was followed to the end, best first.
    pub drives: Vec<Trial>,
    /// Of those that are as good; none if nothing explains what was measured.
    pub bounds: Option<Bounds>,
    /// How far the FTL of the first is off at best, by over-provisioning; empty if there are no bounds.
    pub profile: Vec<ProfilePoint>,
    /// Of `drives`, those that the series cannot tell from the first.
    pub as_good: usize,
    /// The best of each FTL that was not followed to the end.
    pub left: Vec<Trial>,
    /// The first drive over the beginning of the series, as large as all, and four times as large.
    pub scales: Option<Scales>,
    /// Whether the first explains what was measured.
    pub verdict: Verdict,
    /// Of several series, what each would have been predicted to be by a fit of the others.
    pub left_out: Vec<LeftOut>,
    /// What was measured in each series.
    pub series: Vec<SeriesFacts>,
    /// Media bytes that the first drive writes beside the others, as a share of them.
    pub overhead: f64,
    /// The series that the overhead was taken from, in which an empty drive was filled, or which began on one if none was;
    /// none if it was given, or none did.
    pub overhead_of: Vec<String>,
    /// Pages of the drives that were simulated.
    pub pages: u32,
    /// Why an FTL has no result, if one has none.
    pub refused: Option<String>,
}

/// What was measured in a series.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SeriesFacts {
    /// What it is called.
    pub name: String,
    /// Measured media bytes per host byte.
    pub media_bytes_per_host_byte: f64,
    /// Measured write amplification, which is of pages: media bytes per byte of the pages that the host wrote, some of
    /// them in part.
    pub waf: f64,
    /// Over the last fifth.
    pub waf_last_fifth: f64,
    /// What WAF - 1 may be off by as a share of it, if pace tells it (a standard deviation); 0 of counters.
    pub error: f64,
    /// How often the counters were read.
    pub samples_read: usize,
    /// Samples that told something new.
    pub samples: usize,
}

/// A drive over the beginning of the series, on two scales: what scaling down does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scales {
    /// As large as all that were simulated.
    pub own: Trial,
    /// On more pages, as `pages` says.
    pub larger: Trial,
    /// Pages of the larger.
    pub pages: u32,
    /// Host bytes of the beginning.
    pub host_bytes: f64,
}

/// Pages that a unit may have on a drive of `pages`.
pub fn unit_pages(pages: u32) -> (u32, u32) {
    let least = (pages / UNITS.1).max(UNIT_PAGES_MIN);
    (least, (pages / UNITS.0).max(least))
}

/// All [standard](standard_ftls) FTLs that a drive can have: none that knows the future, none that is mapped by
/// blocks, and none that places by what the host names: without that it is another of them. And the plainest
/// ones that keep apart what they move.
pub fn possible_ftls() -> Vec<Spec> {
    let is_page_mapped = |ftl: &Spec| {
        entries().iter().find(|entry| entry.name == ftl.name).is_none_or(|entry| {
            entry.kind != Kind::Ftl || registry::policy_names().contains(&ftl.name)
        })
    };
    let is_told = |ftl: &Spec| registry::hints(ftl).is_ok_and(|hints| hints != Hints::None);
    let standard = standard_ftls().into_iter().filter(|ftl| !is_told(ftl) && is_page_mapped(ftl));
    standard.chain(FURTHER.into_iter().map(Spec::bare)).collect()
}

/// A given overhead is refused if 1 and it are more than the media bytes per host byte of a series by this factor.
const OFF_AT_MOST: f64 = 1.1;

/// That an FTL cannot be tried on a drive with smaller blocks.
fn block_mapped(ftl: &Spec) -> SimError {
    SimError::Unusable {
        what: format!(
            "{ftl} merges blocks, so what it copies depends on their pages, and a drive that is scaled down has fewer"
        ),
        remedy: "name page-mapped FTLs (--ftl), or simulate it on the whole drive: ftlab run --pages-per-block"
            .into(),
    }
}

impl Fit {
    /// What WAF - 1 of its series may be off by at most, as a share of it, since pace tells it; 0 of counters.
    pub fn error(&self) -> f64 {
        self.series.iter().map(|own| own.error).fold(0.0, f64::max)
    }
}

impl Question {
    /// Searches, on `threads`; `on_run` is told how many runs there were so far.
    pub fn answer(
        &self,
        kept: Option<Trials>,
        threads: usize,
        on_run: &(dyn Fn(usize) + Sync),
    ) -> Result<Fit, ExperimentsError> {
        let mut fit = self.with_merged_intervals().answered(kept, threads, on_run)?;
        for (facts, own) in fit.series.iter_mut().zip(&self.series) {
            facts.samples = own.measured.samples();
        }
        Ok(fit)
    }

    /// The same with intervals that are not too short.
    fn with_merged_intervals(&self) -> Self {
        let smallest = self.capacities.iter().copied().min().unwrap_or(1) as f64;
        let interval = if self.series.len() == 1 { INTERVAL } else { INTERVAL_OF_SEVERAL };
        let of = |own: &Series| {
            let measured = own.measured.merged(interval * smallest);
            Series { measured, ..own.clone() }
        };
        Self { series: self.series.iter().map(of).collect(), ..self.clone() }
    }

    fn answered(
        &self,
        kept: Option<Trials>,
        threads: usize,
        on_run: &(dyn Fn(usize) + Sync),
    ) -> Result<Fit, ExperimentsError> {
        self.check()?;
        self.check_means()?;
        let runner = Runner::new(self, kept, on_run)?;
        self.check_empty(&runner)?;
        let found = self.search(&runner, threads)?;
        let mut drives = found.followed;
        let Some(first) = drives.first().cloned() else {
            let reason = lock(&runner.refused).clone();
            return Err(SimError::Unusable {
                what: format!(
                    "no FTL explains the series: {}",
                    reason.unwrap_or_else(|| "all amplify far more".into())
                ),
                remedy:
                    "check the workload and the capacity, or give more over-provisioning (--op)"
                        .into(),
            }
            .into());
        };
        // A drive that explains nothing excludes nothing.
        let profiled = if is_unexplained(&first) {
            None
        } else {
            Some(self.profiled(&runner, &first, &drives[1..], threads)?)
        };
        let noise = match &profiled {
            Some(profiled) => {
                drives[0] = profiled.best.clone();
                profiled.noise.clone()
            }
            None => Noise::of(drives.iter()),
        };
        let best = drives[0].clone();
        let beyond = |trial: &Trial| noise.beyond(trial, &best);
        drives[1..].sort_by(|a, b| beyond(a).total_cmp(&beyond(b)));
        let scales = self.scales(&runner, &best.candidate)?;
        let as_good = drives.iter().filter(|own| beyond(own) <= 1.0).count().max(1);
        let bounds = match &profiled {
            Some(own) => Some(self.bounds_of_all(&runner, own, &drives[..as_good], threads)?),
            None => None,
        };
        let refused = lock(&runner.refused).clone();
        let capacity = drives[0].candidate.capacity;
        let verdict = self.verdict(&runner, &drives, threads)?;
        Ok(Fit {
            verdict,
            left_out: self.left_out(&runner, threads)?,
            series: self.facts(&runner, capacity),
            overhead: runner.overhead(&self.whole(None), capacity),
            overhead_of: self.overhead_of(&runner),
            as_good,
            bounds,
            profile: profiled.map_or_else(Vec::new, |own| own.profile),
            left: found.left,
            scales,
            pages: self.pages,
            refused,
            drives,
        })
    }

    /// Refuses what cannot be answered.
    fn check(&self) -> Result<(), ExperimentsError> {
        for ftl in &self.ftls {
            registry::resolve(ftl).map_err(SimError::from)?;
            if self.is_scaled() && registry::maps_blocks(ftl).map_err(SimError::from)? {
                return Err(block_mapped(ftl).into());
            }
        }
        self.check_overhead()?;
        let told: Vec<_> = self.series.iter().map(|own| own.measured.says_something()).collect();
        match told.iter().find_map(|told| told.as_ref().err()) {
            Some(reason) if told.iter().all(Result::is_err) => Err(ExperimentsError::Series {
                path: self.series[0].name.clone().into(),
                reason: reason.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// Refuses an overhead that is more than a series has in all.
    fn check_overhead(&self) -> Result<(), SimError> {
        let Some(overhead) = self.overhead else { return Ok(()) };
        let has_less = |own: &&Series| OFF_AT_MOST * own.measured.waf() < 1.0 + overhead;
        match self.series.iter().find(has_less) {
            Some(own) => Err(SimError::Unusable {
                what: format!(
                    "an overhead of {} is more than all that {} writes beside the host, {} of it",
                    percent(overhead),
                    own.name,
                    percent(own.measured.waf() - 1.0)
                ),
                remedy: "give less (--overhead), or leave it out: series tell it that fill an empty drive"
                    .into(),
            }),
            None => Ok(()),
        }
    }

    /// The series that tell the overhead.
    fn overhead_of(&self, runner: &Runner<'_>) -> Vec<String> {
        if self.overhead.is_some() {
            return Vec::new();
        }
        let whole = self.whole(None);
        let told = runner.telling_overhead(&whole);
        told.map(|(index, _)| self.series[index].name.clone()).collect()
    }

    /// Refuses a series that did not begin on an empty drive, as it was said to: what it collected would be taken for
    /// overhead.
    fn check_empty(&self, runner: &Runner<'_>) -> Result<(), ExperimentsError> {
        if self.overhead.is_some() {
            return Ok(());
        }
        let smallest = self.capacities.iter().copied().min().unwrap_or(1);
        for (index, series) in self.series.iter().enumerate().filter(|(_, own)| own.is_from_empty())
        {
            let measured = runner.in_pages(index, &series.measured, smallest);
            // Whatever its capacity is: a drive that is full collects from the first byte on.
            let share = overhead(std::iter::once(measured), EMPTY_FOR * smallest as f64);
            if share > OVERHEAD_MAX {
                return Err(SimError::Unusable {
                    what: format!(
                        "{} writes {} more than the host in the first quarter of a drive write, and an empty drive writes \
                         at most {} more: the drive was not empty",
                        series.name,
                        percent(share),
                        percent(OVERHEAD_MAX)
                    ),
                    remedy: "say how it was filled (--fill sequential or random), or what was written before (--after), or \
                             leave out the beginning (--skip 2), or give its overhead (--overhead)"
                        .into(),
                }
                .into());
            }
        }
        Ok(())
    }

    fn facts(&self, runner: &Runner<'_>, capacity: u64) -> Vec<SeriesFacts> {
        let all = self.series.iter().enumerate();
        let facts = all.map(|(index, series)| {
            let measured = &series.measured;
            let in_pages = runner.in_pages(index, measured, capacity);
            SeriesFacts {
                name: series.name.clone(),
                media_bytes_per_host_byte: measured.waf(),
                waf: in_pages.waf(),
                waf_last_fifth: in_pages.waf_last_fifth(),
                error: measured.error(),
                samples_read: measured.samples_read(),
                samples: measured.samples(),
            }
        });
        facts.collect()
    }

    /// What scaling a drive down does, over the beginning of the series.
    fn scales(
        &self,
        runner: &Runner<'_>,
        own: &Candidate,
    ) -> Result<Option<Scales>, ExperimentsError> {
        let extents = [self.pages, self.pages.saturating_mul(LARGER)]
            .map(|pages| self.beginning(pages, None));
        let [own, larger] =
            [runner.trial(own, &extents[0], 1)?, runner.trial(own, &extents[1], 1)?];
        let host_bytes = extents[0].included().map(|(_, own)| own.host_bytes()).sum();
        let [_, Extent { pages, .. }] = &extents;
        Ok(own.zip(larger).map(|(own, larger)| Scales { own, larger, pages: *pages, host_bytes }))
    }

    /// The bounds around the best drive; if they show a better one, around that.
    fn profiled(
        &self,
        runner: &Runner<'_>,
        first: &Trial,
        others: &[Trial],
        threads: usize,
    ) -> Result<Profiled, ExperimentsError> {
        let mut profiled = self.bounds(runner, first, others, threads)?;
        for _ in 0..RECENTRED_MAX {
            let (best, before) = (&profiled.best, &profiled.around);
            if best.candidate == *before {
                break;
            }
            profiled = self.bounds(runner, &best.clone(), others, threads)?;
        }
        Ok(profiled)
    }
}
