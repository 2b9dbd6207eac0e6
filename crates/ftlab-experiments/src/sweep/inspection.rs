//! Experiments that look at workloads alone.

use super::compare::Numbers;
use super::plan::{Job, Plan, Point};
use super::series::{AxisKind, Curve};
use crate::error::ExperimentsError;
use ftlab_analysis::{Extent, InspectOptions, Inspection, Temperature, TemperatureClass, inspect};
use ftlab_sim::{Length, SimError};
use ftlab_spec::SpecError;
use ftlab_trace::Space;
use std::collections::BTreeMap;
use std::ops::Range;

/// What was found out of the workloads of a plan.
#[derive(Debug, Default)]
pub struct Inspected(BTreeMap<String, Inspection>);

impl Inspected {
    /// Looks at every workload of the plan.
    pub fn new(plan: &Plan) -> Result<Self, ExperimentsError> {
        let found = plan.jobs.iter().map(|job| {
            let run = job.runs.first().map(|point| point.run.clone()).unwrap_or_default();
            Ok((run, look(job)?))
        });
        found.collect::<Result<_, ExperimentsError>>().map(Self)
    }
}

fn look(job: &Job) -> Result<Inspection, SimError> {
    let experiment = &job.experiment;
    let page_bytes = experiment.drive.page_bytes;
    let logical_pages = experiment.drive.asked_pages();
    let mut source = match experiment.workload.open_trace(page_bytes, false)? {
        Some(trace) => trace,
        None => experiment.workload.generate(&Space {
            logical_pages: logical_pages.unwrap_or_default(),
            page_bytes,
            seed: experiment.seed,
        })?,
    };
    let page_writes_max = match (experiment.length, logical_pages) {
        (Length::Writes(writes), _) => Some(writes),
        (length, Some(pages)) => length.writes(pages),
        _ => None,
    };
    let options = InspectOptions {
        extent: Extent { page_bytes, page_writes_max, ..Extent::default() },
        drive_bytes: logical_pages.map(|pages| pages * u64::from(page_bytes)),
        ..InspectOptions::default()
    };
    Ok(inspect(source.as_mut(), &options)?)
}

/// A number of an inspection: its name, and the percent that may stand in it.
#[derive(Debug, Clone)]
enum Metric {
    /// Share of the writes that go to this percent of the written pages.
    WritesToTop(f64),
    /// Frozen share of the written pages at this percent of the writes.
    FrozenAt(usize),
    DistinctPages,
    PageWrites,
    /// Share of the drive that is written at all.
    WrittenShare,
    /// Share of the written pages that are of a temperature.
    PagesOf(Class),
    /// Share of the page writes that go to pages of a temperature.
    WritesOf(Class),
    /// Share of the written pages whose mean write interval is at least one power of two and below another.
    OfInterval(Range<u32>),
    /// Shares of the pages written at all: written once; updated 1 to 300 times; more often.
    NeverUpdated,
    UpdatedTo300,
    UpdatedOver300,
}

type Class = fn(&Temperature) -> TemperatureClass;

const CLASSES: [(&str, Class); 3] =
    [("hot", |of| of.hot), ("warm", |of| of.warm), ("cold", |of| of.cold)];

const METRICS: [&str; 15] = [
    "writes-to-top-N%",
    "frozen-at-N%",
    "distinct-pages",
    "page-writes",
    "written-share",
    "hot-pages",
    "warm-pages",
    "cold-pages",
    "hot-writes",
    "warm-writes",
    "cold-writes",
    "pages-of-interval-2^A-to-2^B",
    "never-updated",
    "updated-1-to-300",
    "updated-over-300",
];
const CURVES: [&str; 5] = ["skew", "frozen", "updates", "intervals", "temperatures"];

fn unknown(kind: &'static str, name: &str, known: &[&str]) -> SpecError {
    let known = known.iter().map(|name| (*name).to_owned()).collect();
    SpecError::UnknownName { kind, name: name.into(), known }
}

impl Metric {
    fn find(name: &str) -> Result<Self, SpecError> {
        let percent = |prefix: &str| name.strip_prefix(prefix).and_then(|n| n.strip_suffix('%'));
        if let Some(Ok(percent)) = percent("writes-to-top-").map(str::parse) {
            return Ok(Self::WritesToTop(percent));
        }
        if let Some(Ok(percent)) = percent("frozen-at-").map(str::parse) {
            return Ok(Self::FrozenAt(percent));
        }
        if let Some(powers) = powers_of_interval(name) {
            return Ok(Self::OfInterval(powers));
        }
        for (class, of) in CLASSES {
            match name.strip_prefix(class) {
                Some("-pages") => return Ok(Self::PagesOf(of)),
                Some("-writes") => return Ok(Self::WritesOf(of)),
                _ => {}
            }
        }
        match name {
            "written-share" => Ok(Self::WrittenShare),
            "distinct-pages" => Ok(Self::DistinctPages),
            "page-writes" => Ok(Self::PageWrites),
            "never-updated" => Ok(Self::NeverUpdated),
            "updated-1-to-300" => Ok(Self::UpdatedTo300),
            "updated-over-300" => Ok(Self::UpdatedOver300),
            _ => Err(unknown("number of a workload", name, &METRICS)),
        }
    }

    fn of(&self, found: &Inspection) -> Option<f64> {
        let share = |pages: u64| {
            (found.distinct_pages > 0).then(|| pages as f64 / found.distinct_pages as f64)
        };
        match *self {
            Self::WritesToTop(percent) => {
                let wanted = percent / 100.0;
                let points = found.skew.curve.iter();
                let nearest = points
                    .min_by(|a, b| (a.pages - wanted).abs().total_cmp(&(b.pages - wanted).abs()));
                nearest.map(|point| point.writes)
            }
            Self::FrozenAt(percent) => found.frozen_at(percent).map(|point| point.share),
            Self::DistinctPages => Some(found.distinct_pages as f64),
            Self::PageWrites => Some(found.page_writes as f64),
            Self::WrittenShare => Some(found.distinct_pages as f64 / found.drive_pages as f64),
            Self::PagesOf(class) => {
                Some(class(&found.temperature).pages as f64 / found.distinct_pages as f64)
            }
            Self::WritesOf(class) => {
                Some(class(&found.temperature).writes as f64 / found.page_writes as f64)
            }
            Self::OfInterval(ref powers) => {
                let bins = found.temperature.bins.iter();
                let wanted = bins.filter(|bin| powers.contains(&bin.from.ilog2()));
                share(wanted.map(|bin| bin.pages).sum())
            }
            Self::NeverUpdated => share(found.updates.once_pages),
            Self::UpdatedOver300 => share(found.updates.over_300_pages),
            Self::UpdatedTo300 => share(
                found
                    .distinct_pages
                    .saturating_sub(found.updates.once_pages + found.updates.over_300_pages),
            ),
        }
    }
}

/// The powers of two of `pages-of-interval-2^A-to-2^B`, if `name` is such a number.
fn powers_of_interval(name: &str) -> Option<Range<u32>> {
    let (from, to) = name.strip_prefix("pages-of-interval-2^")?.split_once("-to-2^")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

fn logarithm(page_writes: u64) -> f64 {
    (page_writes.max(1) as f64).log10()
}

impl Numbers for Inspected {
    fn check(&self, metric: &str) -> Result<(), SpecError> {
        Metric::find(metric).map(drop)
    }

    fn number(&self, metric: &str, point: &Point) -> Option<f64> {
        Metric::find(metric).ok()?.of(self.0.get(&point.run)?)
    }

    fn curve(&self, name: &str, point: &Point, _at: f64) -> Result<Option<Curve>, SpecError> {
        let Some(found) = self.0.get(&point.run) else { return Ok(None) };
        let (x, y, points): (_, _, Vec<(f64, f64)>) = match name {
            "skew" => (
                ("pages written, the most-written first", AxisKind::Shares),
                ("page writes", AxisKind::Shares),
                std::iter::once((0.0, 0.0))
                    .chain(found.skew.curve.iter().map(|point| (point.pages, point.writes)))
                    .collect(),
            ),
            "frozen" => (
                ("page writes so far", AxisKind::Shares),
                ("frozen, of the pages written so far", AxisKind::Shares),
                found.frozen.iter().map(|point| (point.time, point.share)).collect(),
            ),
            "updates" => {
                let width = found.updates.bin_writes.max(1);
                let bins = (0..).zip(&found.updates.bins).filter(|(_, pages)| **pages > 0);
                (
                    ("writes of a page", AxisKind::Numbers),
                    ("pages", AxisKind::Powers),
                    bins.map(|(bin, pages)| {
                        (f64::from(bin * width) + 1.0, (*pages as f64).log10())
                    })
                    .collect(),
                )
            }
            "intervals" => {
                let quantiles = found.intervals.quantiles.iter();
                (
                    ("page writes between two of a page", AxisKind::Powers),
                    ("shorter intervals", AxisKind::Shares),
                    quantiles
                        .map(|quantile| (logarithm(quantile.page_writes), quantile.share))
                        .collect(),
                )
            }
            "temperatures" => {
                let pages = found.distinct_pages as f64;
                let mut below = 0;
                (
                    ("mean write interval of a page", AxisKind::Powers),
                    ("pages written that have a shorter one", AxisKind::Shares),
                    found
                        .temperature
                        .bins
                        .iter()
                        .map(|bin| {
                            below += bin.pages;
                            (logarithm(2 * bin.from), below as f64 / pages)
                        })
                        .collect(),
                )
            }
            _ => return Err(unknown("curve of a workload", name, &CURVES)),
        };
        Ok(Some(Curve { x, y, points }))
    }
}
