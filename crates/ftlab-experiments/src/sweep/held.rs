//! Runs held against the series that drives gave: how far they are off.

use super::compare::{Numbers, Results};
use super::measured::SeriesTable;
use super::metric::Metric;
use super::plan::{Plan, Point};
use super::series::Curve;
use crate::fit::{Distance, Measured};
use ftlab_sim::result::{Config, RunResult};
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

    /// What `of` makes of the series of a point, and of the bytes that its run had written to the medium by each byte
    /// of the host.
    fn with<T>(
        &self,
        point: &Point,
        of: impl FnOnce(&SeriesTable, &Measured, &dyn Fn(f64) -> f64) -> T,
    ) -> Option<T> {
        let (table, measured) = self.series.iter().find(|(table, _)| point.is_in(&table.of))?;
        let stored = self.results.get(&point.run)?;
        let run = stored.result.runs.first()?;
        let (hosts, sums) = written(run, &stored.result.config);
        if sums.len() < 2 {
            return None;
        }
        let media = |host: f64| {
            let host = host / table.capacity;
            let from = hosts.partition_point(|own| *own <= host).saturating_sub(1);
            let from = from.min(sums.len() - 2);
            let slope = (sums[from + 1] - sums[from]) / (hosts[from + 1] - hosts[from]);
            (sums[from] + (host - hosts[from]) * slope) * table.capacity
        };
        Some(of(table, measured, &media))
    }

    fn distance(&self, point: &Point) -> Option<Distance> {
        self.with(point, |table, measured, media| {
            measured.distance(table.skip * table.capacity, 0.0, media)
        })
    }

    /// Media bytes per host byte in the intervals of the series, against drive writes.
    fn beside(&self, point: &Point) -> Option<Vec<(f64, f64)>> {
        self.with(point, |table, measured, media| table.drawn(measured.wafs_of(media).into_iter()))
    }
}

/// What the host of a run had sent by the end of each interval, and what had been written to the medium, in sizes of
/// the drive; both begin with 0.
fn written(run: &RunResult, config: &Config) -> (Vec<f64>, Vec<f64>) {
    let interval = config.interval_writes as f64 / f64::from(config.drive.logical_pages);
    let bytes = config.drive.logical_bytes as f64;
    let sent = |at: usize| match &run.running_host_bytes {
        Some(running) => running.get(at).map_or(interval, |sent| *sent as f64 / bytes),
        None => interval,
    };
    let (mut hosts, mut sums) = (vec![0.0], vec![0.0]);
    for (at, waf) in run.running_waf.iter().enumerate() {
        hosts.push(hosts[at] + sent(at));
        sums.push(sums[at] + waf * interval);
    }
    (hosts, sums)
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

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::{DriveOptions, Experiment, Logical, Requests, Workload};
    use ftlab_trace::{Input, OpenOptions, open_input};

    #[test]
    fn what_the_host_sent_is_held_against_what_it_sent() {
        // Whole pages, and then a quarter of each.
        let line = |at: u64| format!("W,{},{}\n", at % 512 * 8, if at < 4096 { 8 } else { 2 });
        let lines: String = (0..8192).map(line).collect();
        let open = move || {
            let input = Input::from_bytes("requests", lines.clone().into_bytes())?;
            let map = Some("op=1,off:sectors=2,len:sectors=3".into());
            open_input(input, &OpenOptions { map, ..OpenOptions::default() })
        };
        let workload = Workload::Requests(Requests::new("requests", false, open));
        let drive = DriveOptions {
            logical: Logical::Pages(1024),
            pages_per_block: Some(16),
            ..DriveOptions::default()
        };
        let ftls = vec!["1r-greedy".parse().unwrap()];
        let experiment = Experiment { drive, ..Experiment::new(workload, ftls) };
        let result = experiment.run(&mut ()).unwrap();
        let run = &result.runs[0];
        let (hosts, sums) = written(run, &result.config);
        let last = |of: &[f64]| *of.last().unwrap();
        assert_eq!(hosts.len(), sums.len());
        assert!((hosts[16] - 4.0).abs() < 1e-9 && (last(&hosts) - 5.0).abs() < 1e-9, "{hosts:?}");
        assert!((last(&sums) / last(&hosts) - run.media_bytes_per_host_byte).abs() < 1e-9);
    }
}
