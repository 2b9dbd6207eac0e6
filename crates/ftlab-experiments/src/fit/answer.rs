//! The search and its bounds, one after the other.

use super::bounds::{Bounds, ProfilePoint, Profiled};
use super::drive::{Candidate, Trial};
use super::left_out::LeftOut;
use super::question::{Extent, Question};
use super::runner::Runner;
use super::verdict::Verdict;
use super::written::Written;
use crate::compare::standard_ftls;
use crate::error::ExperimentsError;
use crate::kept::Kept;
use crate::parallel::lock;
use ftlab_ftl::page::Hints;
use ftlab_ftl::registry::{self, Kind, entries};
use ftlab_sim::SimError;
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
const UNITS: (u32, u32) = (128, 8192);

/// The fewest pages of a unit. Smaller units differ more in how many of their pages are valid, which makes collecting
/// them cheaper than it is on the real drive.
const UNIT_PAGES_MIN: u32 = 32;

/// Tried beside the standard FTLs: plain drives that keep apart what they move.
const FURTHER: [&str; 2] = ["sep-gc/greedy", "sep-gc/fifo"];

/// How much larger the drive is on which the answer is tried again.
const LARGER: u32 = 4;

/// Bounds are looked for around a better drive this often.
const RECENTRED_MAX: u32 = 2;

/// The drives that explain a series best.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fit {
    /// The best drive of each FTL that was followed to the end, best first.
    pub drives: Vec<Trial>,
    /// Of the first of them.
    pub bounds: Bounds,
    /// How far the FTL of the first is off at best, by over-provisioning.
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

impl Question {
    /// Searches, on `threads`; `on_run` is told how many runs there were so far.
    pub fn answer(
        &self,
        kept: Option<Trials>,
        threads: usize,
        on_run: &(dyn Fn(usize) + Sync),
    ) -> Result<Fit, ExperimentsError> {
        self.check()?;
        let runner = Runner::new(self, kept, on_run)?;
        let found = self.search(&runner, None, threads)?;
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
        let profiled = self.profiled(&runner, &first, threads)?;
        drives[0] = profiled.best.clone();
        let scales = self.scales(&runner, &drives[0].candidate)?;
        let is_as_good = |trial: &&Trial| trial.distance.rms <= profiled.bounds.rms_most;
        let refused = lock(&runner.refused).clone();
        let capacity = drives[0].candidate.capacity;
        let verdict = self.verdict(&drives, threads, on_run)?;
        Ok(Fit {
            verdict,
            left_out: self.left_out(&runner, threads)?,
            series: self.facts(&runner, capacity),
            overhead: runner.overhead(&self.whole(None), capacity),
            as_good: drives.iter().filter(is_as_good).count().max(1),
            bounds: profiled.bounds,
            profile: profiled.profile,
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
        }
        let told: Vec<_> = self.series.iter().map(|own| own.measured.says_something()).collect();
        match told.iter().find_map(|told| told.as_ref().err()) {
            Some(reason) if told.iter().all(Result::is_err) => Err(ExperimentsError::Series {
                path: self.series[0].name.clone().into(),
                reason: reason.clone(),
            }),
            _ => Ok(()),
        }
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
        threads: usize,
    ) -> Result<Profiled, ExperimentsError> {
        let mut profiled = self.bounds(runner, first, threads)?;
        for _ in 0..RECENTRED_MAX {
            let (best, before) = (&profiled.best, &profiled.around);
            if best.candidate == *before {
                break;
            }
            profiled = self.bounds(runner, &best.clone(), threads)?;
        }
        Ok(profiled)
    }
}
