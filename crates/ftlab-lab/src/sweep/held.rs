//! Runs held against the series that drives gave: how far they are off.

use super::compare::{Numbers, Results};
use super::measured::SeriesTable;
use super::metric::Metric;
use super::plan::{Plan, Point};
use super::series::Curve;
use crate::fit::{Distance, Measured};
use ftlab_spec::SpecError;

/// The curve that is drawn beside a series, in the same intervals.
pub const BESIDE_SERIES: &str = "waf-by-drive-writes";

/// A name, and what it stands for.
type OfDistance = (&'static str, fn(Distance) -> f64);

/// What is measured of a point against its series, in percent of the WAF - 1 of the series: root mean square over the
/// intervals; the last fifth of the host bytes; and that without its sign.
const METRICS: [OfDistance; 3] = [
    ("off-rms", |off| 100.0 * off.rms),
    ("off-last-fifth", |off| 100.0 * off.last_fifth),
    ("off-last-fifth-size", |off| 100.0 * off.last_fifth.abs()),
];

/// Results of runs, with the series that they are held against.
pub struct Held<'a> {
    results: Results,
    series: Vec<(&'a SeriesTable, Measured)>,
}

impl<'a> Held<'a> {
    /// Those of a plan, whose series have been checked.
    pub fn new(plan: &'a Plan, results: Results) -> Self {
        let series = plan.file.series.iter();
        let series = series.filter_map(|table| Some((table, table.measured().ok()?))).collect();
        Self { results, series }
    }

    /// What `of` makes of the series of a point, and of the bytes that its run had written to the medium after so many
    /// of the host.
    fn with<T>(
        &self,
        point: &Point,
        of: impl FnOnce(&SeriesTable, &Measured, &dyn Fn(f64) -> f64) -> T,
    ) -> Option<T> {
        let (table, measured) = self.series.iter().find(|(table, _)| point.is_in(&table.of))?;
        let stored = self.results.get(&point.run)?;
        let run = stored.result.runs.first()?;
        let interval = stored.result.config.interval_writes as f64
            / f64::from(stored.result.config.drive.logical_pages);
        let sums: Vec<f64> = std::iter::once(0.0)
            .chain(run.running_waf.iter().scan(0.0, |sum, waf| {
                *sum += waf * interval;
                Some(*sum)
            }))
            .collect();
        if sums.len() < 2 {
            return None;
        }
        let media = |host: f64| {
            let place = host / table.capacity / interval;
            let from = (place as usize).min(sums.len() - 2);
            let step = sums[from + 1] - sums[from];
            (sums[from] + (place - from as f64) * step) * table.capacity
        };
        Some(of(table, measured, &media))
    }

    fn distance(&self, point: &Point) -> Option<Distance> {
        self.with(point, |table, measured, media| {
            measured.distance(table.skip * table.capacity, media)
        })
    }

    /// Write amplification in the intervals of the series, against drive writes.
    fn beside(&self, point: &Point) -> Option<Vec<(f64, f64)>> {
        self.with(point, |table, measured, media| table.drawn(measured.wafs_of(media).into_iter()))
    }
}

impl Numbers for Held<'_> {
    fn check(&self, metric: &str) -> Result<(), SpecError> {
        if METRICS.iter().any(|(name, ..)| *name == metric) {
            return Ok(());
        }
        Metric::find(metric).map(drop)
    }

    fn number(&self, metric: &str, point: &Point) -> Option<f64> {
        match METRICS.iter().find(|(name, ..)| *name == metric) {
            Some((.., of)) => self.distance(point).map(of),
            None => self.results.number(metric, point),
        }
    }

    fn curve(&self, name: &str, point: &Point, at: f64) -> Result<Option<Curve>, SpecError> {
        let curve = self.results.curve(name, point, at)?;
        let beside = if name == BESIDE_SERIES { self.beside(point) } else { None };
        Ok(curve.map(|curve| match beside {
            Some(points) => Curve { points, ..curve },
            None => curve,
        }))
    }
}
