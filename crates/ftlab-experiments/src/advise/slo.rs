//! Service-level objectives: a response time that requests of a kind have to keep.

use crate::load::with;
use ftlab_host::{Timing, Unit};
use ftlab_sim::SimError;
use ftlab_sim::result::{ResponseSummary, RunResult};
use ftlab_spec::Spec;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// How long a percentile of the requests of a kind may take, at a load: `read-p99.9=1ms`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Slo {
    /// read or write.
    pub operation: &'static str,
    /// p50, p90, p95, p99, p99.9, p99.99, p99.999, or mean.
    pub percentile: &'static str,
    /// The longest response time, in nanoseconds.
    pub limit_ns: f64,
}

/// A percentile of response times.
type Percentile = (&'static str, fn(&ResponseSummary) -> f64);

const PERCENTILES: [Percentile; 8] = [
    ("mean", |of| of.mean),
    ("p50", |of| of.p50 as f64),
    ("p90", |of| of.p90 as f64),
    ("p95", |of| of.p95 as f64),
    ("p99", |of| of.p99 as f64),
    ("p99.9", |of| of.p99_9 as f64),
    ("p99.99", |of| of.p99_99 as f64),
    ("p99.999", |of| of.p99_999 as f64),
];

const UNITS: [(&str, f64); 4] = [("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9)];

impl FromStr for Slo {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            let names: Vec<_> = PERCENTILES.iter().map(|(name, _)| *name).collect();
            format!(
                "{text:?} is not an objective such as read-p99.9=1ms: read or write, one of {}, and a time in \
                 us, ms or s",
                names.join(", ")
            )
        };
        let (which, time) = text.split_once('=').ok_or_else(wrong)?;
        let (operation, percentile) = which.split_once('-').ok_or_else(wrong)?;
        let operation = ["read", "write"].into_iter().find(|of| *of == operation);
        let percentile = PERCENTILES.iter().find(|(name, _)| *name == percentile);
        let unit = UNITS.iter().find_map(|(unit, ns)| {
            let number: f64 = time.strip_suffix(unit)?.parse().ok()?;
            Some(number * ns).filter(|ns| *ns > 0.0 && ns.is_finite())
        });
        match (operation, percentile, unit) {
            (Some(operation), Some((percentile, _)), Some(limit_ns)) => {
                Ok(Self { operation, percentile, limit_ns })
            }
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Slo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { operation, percentile, limit_ns } = self;
        let (unit, ns) = UNITS.iter().rev().find(|(_, ns)| limit_ns >= ns).unwrap_or(&UNITS[0]);
        write!(f, "{operation}-{percentile}={}{unit}", limit_ns / ns)
    }
}

impl Slo {
    /// What it is of: `p99.9 of reads`.
    pub fn what(&self) -> String {
        format!("{} of {}s", self.percentile, self.operation)
    }

    /// What a run reached, in nanoseconds.
    pub(super) fn of(&self, run: &RunResult) -> Result<f64, SimError> {
        let requests = run.timing.as_ref().and_then(|timing| timing.requests.as_ref());
        let times = requests.and_then(|requests| requests.operations.get(self.operation));
        let percentile = PERCENTILES.iter().find(|(name, _)| *name == self.percentile);
        match times.zip(percentile) {
            Some((times, (_, of))) => Ok(of(&times.response_ns)),
            None => Err(SimError::Unusable {
                what: format!(
                    "the workload has no {} requests, and the objective is of these",
                    self.operation
                ),
                remedy: format!(
                    "take a trace or a job file of fio with {}s, or another --slo",
                    self.operation
                ),
            }),
        }
    }
}

/// The timing with requests that come at random, `per_second` of them.
pub fn timing_at(timing: &Spec, per_second: f64) -> Result<Spec, SimError> {
    let mut by_request = timing.clone();
    if by_request.get("unit").is_none() {
        by_request.arguments.push(("unit".to_owned(), Unit::Request.to_string()));
    }
    let open = [("arrivals", "poisson".to_owned()), ("rate", per_second.to_string())];
    let spec = with(&by_request, &open);
    Timing::from_spec(&spec)?;
    Ok(spec)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objectives_are_typed_as_a_percentile_and_a_time() {
        for text in ["read-p99.9=1ms", "write-mean=250us", "read-p50=1.5s", "write-p99.999=20ms"] {
            assert_eq!(text.parse::<Slo>().unwrap().to_string(), text);
        }
        let slo: Slo = "read-p99=0.5ms".parse().unwrap();
        assert_eq!((slo.to_string(), slo.what()), ("read-p99=500us".into(), "p99 of reads".into()));
        for text in [
            "",
            "p99=1ms",
            "read-p99",
            "read-p98=1ms",
            "trim-p99=1ms",
            "read-p99=1",
            "read-p99=-1ms",
        ] {
            let error = text.parse::<Slo>().unwrap_err();
            assert!(error.contains("read-p99.9=1ms"), "{error}");
        }
        let timing = timing_at(&"slc:luns=2,queue-depth=4".parse().unwrap(), 5e4).unwrap();
        assert_eq!(timing.to_string(), "slc:luns=2,unit=request,arrivals=poisson,rate=50000");
    }
}
