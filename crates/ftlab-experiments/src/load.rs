//! How long requests take at several loads: how many a second a drive can do, and what it costs to come close.
//!
//! The capacity of an FTL is what it does in a closed loop with [`DEPTH_PER_LUN`] requests under way for each LUN.
//! At a load of 0.5, half as many come, at random and independent of each other.

use crate::ExperimentsError;
use ftlab_host::{Arrivals, Timing, Unit};
use ftlab_sim::result::{Config, OperationTimes, RequestsResult, RunResult};
use ftlab_sim::{Experiment, Progress, SimError, summary};
use ftlab_spec::Spec;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Requests under way for each LUN in the closed loop that measures the capacity.
pub const DEPTH_PER_LUN: u64 = 8;

/// Load-latency curves of some FTLs under one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCurves {
    /// Version of ftlab, with the commit that it was built from, if that is known.
    pub version: String,
    /// The command line.
    pub command: Option<String>,
    /// The experiment that measured the capacity of the first FTL; the others differ in the FTL, and in how
    /// requests arrive.
    pub config: Config,
    /// A curve for each FTL.
    pub curves: Vec<LoadCurve>,
    /// What is unlike a drive that is built: too few blocks, LUNs that no block reaches, erases that take too much time
    /// under full load.
    pub doubts: Vec<String>,
}

/// That of one FTL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadCurve {
    /// The FTL.
    pub ftl: String,
    /// Requests a second that it can do.
    pub capacity_per_second: f64,
    /// The load of the points with the most requests a second per mean response time (Kleinrock's power): more load
    /// costs more than it brings. None of fewer than three points.
    pub knee: Option<f64>,
    /// In ascending order of loads.
    pub points: Vec<LoadPoint>,
}

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoadPoint {
    /// Share of the capacity that is asked for.
    pub load: f64,
    /// Requests a second that come.
    pub asked_per_second: f64,
    /// Requests a second that were done.
    pub per_second: f64,
    /// Mean response time of all of them, in nanoseconds.
    pub response_mean_ns: f64,
    /// Requests under way, averaged over time.
    pub under_way_mean: f64,
    /// Each operation that was asked for: read, write, trim, flush; without intervals.
    pub operations: BTreeMap<String, OperationTimes>,
}

impl LoadPoint {
    fn new(load: f64, asked_per_second: f64, requests: RequestsResult) -> Self {
        let per_second = per_second(&requests);
        // Little's law.
        let response_mean_ns = requests.under_way_mean / per_second * 1e9;
        let mut operations = requests.operations;
        for times in operations.values_mut() {
            (times.running_p50_ns, times.running_p99_9_ns) = (None, None);
        }
        Self {
            load,
            asked_per_second,
            per_second,
            response_mean_ns,
            under_way_mean: requests.under_way_mean,
            operations,
        }
    }
}

fn per_second(requests: &RequestsResult) -> f64 {
    requests.operations.values().map(|times| times.per_second).sum()
}

/// Measures the capacity of each FTL of `experiment`, and then each of `loads`, shares of it above 0 and below 1.
pub fn load_curves(
    experiment: &Experiment,
    loads: &[f64],
    progress: &mut impl Progress,
) -> Result<LoadCurves, ExperimentsError> {
    let (timing, depth) = check(experiment, loads)?;
    let mut first = None;
    let mut curves = Vec::new();
    let mut doubts = Vec::new();
    for ftl in &experiment.ftls {
        let ftls = vec![ftl.clone()];
        let one = Experiment { ftls, jobs_are_hosts: false, ..experiment.clone() };
        let closed = [("arrivals", "closed".into()), ("queue-depth", depth.to_string())];
        let result = run(&one, &with(&timing, &closed), progress)?;
        let capacity = per_second(&result.1);
        doubts.extend(result.2);
        first.get_or_insert(result.0);
        let mut points = Vec::new();
        for &load in loads {
            let rate = load * capacity;
            let open = [("arrivals", "poisson".into()), ("rate", rate.to_string())];
            let (_, requests, _) = run(&one, &with(&timing, &open), progress)?;
            points.push(LoadPoint::new(load, rate, requests));
        }
        curves.push(LoadCurve {
            ftl: ftl.to_string(),
            capacity_per_second: capacity,
            knee: knee(&points),
            points,
        });
    }
    let Some(config) = first else {
        return Err(unusable("no FTL is named", "add --ftl NAME").into());
    };
    let version = ftlab_spec::version().to_owned();
    let doubts = summary::each_once(&doubts);
    Ok(LoadCurves { version, command: None, config, curves, doubts })
}

/// The load with the most power.
fn knee(points: &[LoadPoint]) -> Option<f64> {
    let power = |point: &LoadPoint| point.per_second / point.response_mean_ns;
    let best = points.iter().max_by(|a, b| power(a).total_cmp(&power(b)));
    best.filter(|_| points.len() >= 3).map(|point| point.load)
}

/// The configuration of a run, its requests, and what is unlike a drive that is built, by FTL.
type OneRun = (Config, RequestsResult, Vec<(String, String)>);

/// One run with one FTL.
fn run(
    one: &Experiment,
    timing: &Spec,
    progress: &mut impl Progress,
) -> Result<OneRun, ExperimentsError> {
    let experiment = Experiment { timing: Some(timing.clone()), ..one.clone() };
    let result = experiment.run(progress)?;
    let doubts = summary::doubts_of(&result);
    let requests = |run: RunResult| run.timing?.requests;
    match result.runs.into_iter().next().and_then(requests) {
        Some(requests) if per_second(&requests) > 0.0 => Ok((result.config, requests, doubts)),
        _ => Err(unusable(
            "the requests take no time at all, so there is no load",
            "choose a --timing whose operations take time",
        )
        .into()),
    }
}

/// Refuses what has no load; the timing, and how many requests fill the drive.
fn check(experiment: &Experiment, loads: &[f64]) -> Result<(Spec, u64), SimError> {
    if loads.is_empty() || loads.iter().any(|load| !(*load > 0.0 && *load < 1.0)) {
        return Err(unusable(
            "loads are shares of the capacity above 0 and below 1",
            "give --load 0.1..0.95",
        ));
    }
    let Some(spec) = &experiment.timing else {
        return Err(unusable("without time there is no load", "add --timing femu:unit=request"));
    };
    let timing = Timing::from_spec(spec)?;
    if timing.unit() != Unit::Request {
        return Err(unusable(
            "loads are of requests, not of page writes",
            "add unit=request to --timing",
        ));
    }
    if timing.arrivals() == Arrivals::Trace {
        return Err(unusable(
            "loads come at random, not at the times of the trace",
            "leave out arrivals=trace",
        ));
    }
    let value = |name: &str| {
        let values = timing.values();
        values.iter().find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<u64>().ok())
    };
    let luns = value("channels").unwrap_or(1) * value("luns").unwrap_or(1);
    Ok((spec.clone(), (DEPTH_PER_LUN * luns).min(65_536)))
}

/// The timing with other arguments.
pub(crate) fn with(timing: &Spec, arguments: &[(&str, String)]) -> Spec {
    let mut changed = timing.clone();
    changed
        .arguments
        .retain(|(key, _)| !["arrivals", "queue-depth", "rate"].contains(&key.as_str()));
    changed
        .arguments
        .extend(arguments.iter().map(|(key, value)| ((*key).to_owned(), value.clone())));
    changed
}

fn unusable(what: &str, remedy: &str) -> SimError {
    SimError::Unusable { what: what.into(), remedy: remedy.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_sim::{DriveOptions, Length, Logical, Workload};
    use ftlab_trace::OpenOptions;
    use std::io::Write as _;

    fn experiment(timing: &str) -> Experiment {
        let workload = Workload::parse("uniform", OpenOptions::default()).unwrap();
        Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(4096),
                pages_per_block: Some(32),
                ..DriveOptions::default()
            },
            length: Length::DriveWrites(4.0),
            timing: Some(timing.parse().unwrap()),
            ..Experiment::new(workload, vec!["1r-greedy".parse().unwrap(), "fifo".parse().unwrap()])
        }
    }

    #[test]
    fn the_closer_to_the_capacity_the_longer_requests_take() {
        let timing = "slc:luns=4,unit=request,priority=read-first";
        let curves = load_curves(&experiment(timing), &[0.1, 0.5, 0.9], &mut ()).unwrap().curves;
        assert_eq!(curves.len(), 2);
        for curve in &curves {
            assert!(curve.points.is_sorted_by_key(|point| point.response_mean_ns), "{curve:?}");
            for point in &curve.points {
                let rate = point.load * curve.capacity_per_second;
                assert!((point.asked_per_second / rate - 1.0).abs() < 1e-9);
                assert!(
                    (point.per_second / rate - 1.0).abs() < 0.05,
                    "{} of {rate}",
                    point.per_second
                );
                let writes = &point.operations["write"];
                assert!((writes.response_ns.mean / point.response_mean_ns - 1.0).abs() < 1e-3);
            }
            assert!(curve.knee.is_some_and(|knee| knee < 0.9), "{:?}", curve.knee);
        }
    }

    #[test]
    fn jobs_of_fio_come_at_random_too_with_their_reads() {
        let mut file = tempfile::Builder::new().suffix(".fio").tempfile().unwrap();
        let job =
            "[mixed]\nfilename=/dev/drive\nrw=randrw\nrwmixread=70\nnorandommap\nio_size=64m\n";
        file.write_all(job.as_bytes()).unwrap();
        let name = file.path().display().to_string();
        let workload = Workload::parse(&name, OpenOptions::default()).unwrap();
        let timing = "slc:luns=4,unit=request";
        let experiment = Experiment {
            workload,
            ftls: vec!["fifo".parse().unwrap()],
            length: Length::OfWorkload,
            ..experiment(timing)
        };
        let curves = load_curves(&experiment, &[0.2, 0.8], &mut ()).unwrap().curves;
        // 16,384 requests, seven in ten of them reads.
        for point in &curves[0].points {
            let [reads, writes] = ["read", "write"].map(|op| point.operations[op].count);
            assert_eq!(reads + writes, 16_384);
            assert!((10_000..13_000).contains(&reads), "{reads}");
            assert!((point.per_second / point.asked_per_second - 1.0).abs() < 0.05);
        }
        let [low, high] = [0, 1].map(|at| curves[0].points[at].response_mean_ns);
        assert!(low < high, "{low} < {high}");
    }

    #[test]
    fn what_has_no_load_is_refused() {
        for (timing, loads, remedy) in [
            ("slc", &[0.5][..], "unit=request"),
            ("slc:unit=request", &[1.0], "0.1..0.95"),
            ("slc:unit=request", &[], "0.1..0.95"),
            ("slc:unit=request,arrivals=trace", &[0.5], "leave out arrivals=trace"),
        ] {
            let error = load_curves(&experiment(timing), loads, &mut ()).unwrap_err().to_string();
            assert!(error.contains(remedy), "{timing}: {error}");
        }
    }
}
