//! What is asked of a fit.

use super::series::Measured;
use crate::parallel::Stop;
use ftlab_sim::format::significant;
use ftlab_sim::{Experiment, SimError};
use ftlab_spec::Spec;
use std::borrow::Cow;

/// What is asked.
#[derive(Debug, Clone)]
pub struct Question {
    /// What was measured of the drive, one at least. All have the same page size, reserve and schedule of collection.
    pub series: Vec<Series>,
    /// Bytes that the host can address; several if that is to be found too.
    pub capacities: Vec<u64>,
    /// Media bytes that the drive writes beside the others, as a share of them: parity, metadata. If `None`, what the
    /// series tell in which an empty drive is filled, or else those that begin on one.
    pub overhead: Option<f64>,
    /// Whether drives are tried as well that collect gradually, before they have to.
    pub tries_gradual: bool,
    /// Pages of the drives that are simulated.
    pub pages: u32,
    /// The FTLs to choose from.
    pub ftls: Vec<Spec>,
    /// Least and most over-provisioning of the coarse grid.
    pub op_ratios: (f64, f64),
    /// Least and most pages of a unit.
    pub unit_pages: (u32, u32),
    /// Ends all runs when it is set.
    pub stop: Stop,
}

/// What a drive did under a workload.
#[derive(Debug, Clone)]
pub struct Series {
    /// What it is called in answers.
    pub name: String,
    /// The workload that was run, the fill, the page size, the reserve and the seed.
    pub base: Experiment,
    /// What was measured.
    pub measured: Measured,
    /// Drive writes at the start whose intervals do not count.
    pub skip: f64,
    /// Bytes that the workload had written before the first sample.
    pub after: u64,
}

impl Series {
    /// Whether the drive was empty at its first sample.
    pub(super) fn is_from_empty(&self) -> bool {
        self.base.fill.writes(1) == 0 && self.after == 0 && self.skip == 0.0
    }
}

/// Share of a series that is its beginning, of host bytes and of what is written beside them, and drive writes that it has
/// at least.
const BEGINNING: (f64, f64) = (0.25, 4.0);

/// Distances are shares of WAF - 1, and of this share of the largest WAF - 1 at least: else a series in which nothing is
/// moved would count for more than any other.
const LEAST_BESIDE: f64 = 0.1;

/// Pages of a unit on the larger of two sizes, at least: over the beginning of a series, and over all of it, where drives are
/// held against each other more closely.
pub(super) const UNIT_PAGES: (u32, u32) = (128, 256);

/// How large a drive is simulated, and how much of which series it is held against.
pub(super) struct Extent<'a> {
    pub(super) pages: u32,
    /// Whether drives are as small as `pages` says, and stand for the real one as they are.
    pub(super) is_rough: bool,
    /// Whether it is the beginning of each series, which tells drives apart roughly.
    pub(super) is_beginning: bool,
    /// Pages of a unit on the larger of two sizes that are simulated, at least.
    pub(super) unit_pages: u32,
    /// Of each series, how much of it; nothing of one that is left out.
    pub(super) measured: Vec<Option<Cow<'a, Measured>>>,
}

impl Extent<'_> {
    /// What there is of each series that is not left out, with its place.
    pub(super) fn included(&self) -> impl Iterator<Item = (usize, &Measured)> {
        let all = self.measured.iter().enumerate();
        all.filter_map(|(index, measured)| Some((index, measured.as_deref()?)))
    }
}

impl Question {
    /// All of the series, but for one that is left out.
    pub(super) fn whole(&self, left_out: Option<usize>) -> Extent<'_> {
        let all = self.extent(self.pages, left_out, |series| Cow::Borrowed(&series.measured));
        Extent { unit_pages: UNIT_PAGES.1, is_beginning: false, ..all }
    }

    /// The beginning of each series after what is skipped, on a drive of `pages`: enough to tell what need not be
    /// looked at further, in a fraction of the time.
    pub(super) fn beginning(&self, pages: u32, left_out: Option<usize>) -> Extent<'_> {
        let largest = self.capacities.iter().copied().max().unwrap_or(1) as f64;
        self.extent(pages, left_out, |series| {
            let skipped = series.skip * largest;
            let (share, drive_writes) = BEGINNING;
            let counted = share * (series.measured.host_bytes() - skipped);
            let bytes = skipped + counted.max(drive_writes * largest);
            // Where nothing is moved for long, FTLs are alike, and only the counters are off.
            let moved = series.measured.beside_by(skipped, share);
            Cow::Owned(series.measured.until(bytes.max(moved)))
        })
    }

    fn extent<'a>(
        &'a self,
        pages: u32,
        left_out: Option<usize>,
        of: impl Fn(&'a Series) -> Cow<'a, Measured>,
    ) -> Extent<'a> {
        let all = self.series.iter().enumerate();
        let measured = all.map(|(index, own)| (Some(index) != left_out).then(|| of(own))).collect();
        let (is_rough, is_beginning) = (false, true);
        Extent { pages, is_rough, is_beginning, unit_pages: UNIT_PAGES.0, measured }
    }

    /// What distances are shares of, at least: nothing if there is one series.
    pub(super) fn least_beside(&self) -> f64 {
        if self.series.len() == 1 {
            return 0.0;
        }
        let all = self.series.iter().map(|series| series.measured.waf() - 1.0);
        LEAST_BESIDE * all.fold(0.0, f64::max)
    }

    /// What all series have in common: page size, reserve, schedule of collection and seed.
    pub(super) fn base(&self) -> &Experiment {
        &self.series[0].base
    }

    /// What is written beside the host may be off by this share of it in one of the series at least.
    pub(super) fn error(&self) -> f64 {
        self.series.iter().map(|own| own.measured.error()).fold(0.0, f64::max)
    }

    /// Refuses a mean of which it is not known when it was, or that is of too little.
    pub(super) fn check_means(&self) -> Result<(), SimError> {
        let largest = self.capacities.iter().copied().max().unwrap_or(1) as f64;
        for series in &self.series {
            let Series { name, measured, skip, .. } = series;
            let host = measured.host_bytes();
            let (what, remedy) = if !measured.is_mean() {
                continue;
            } else if *skip > 0.0 {
                (
                    "has one mean, and --skip would leave nothing of it".to_owned(),
                    "leave out what it skips, and say how much was written before (--after)",
                )
            } else if series.is_from_empty() {
                (
                    "has one mean, which an empty drive has not: it writes faster at first"
                        .to_owned(),
                    "say how it was filled (--fill sequential or random) and how much was written before (--after)",
                )
            } else if host < largest {
                (
                    format!(
                        "has the mean of {} drive writes, and one or more are needed",
                        significant(host / largest, 2)
                    ),
                    "measure for longer; or scale both numbers of a rate: a drive write and its seconds",
                )
            } else {
                continue;
            };
            return Err(SimError::Unusable {
                what: format!("{name} {what}"),
                remedy: remedy.into(),
            });
        }
        Ok(())
    }

    /// Whether the drive may have another size than the real one: unless a trace is among what was run.
    pub(super) fn is_scaled(&self) -> bool {
        self.series.iter().all(|series| series.base.workload.is_generator())
    }
}
