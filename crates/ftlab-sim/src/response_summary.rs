//! How long something took: mean, quantiles and tail.

use ftlab_host::ResponseTimes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Response times in nanoseconds; quantiles are too long by at most 0.1%.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResponseSummary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub stddev: f64,
    /// The median.
    pub p50: u64,
    /// 90% were not longer.
    pub p90: u64,
    /// 95% were not longer.
    pub p95: u64,
    /// 99% were not longer.
    pub p99: u64,
    /// 99.9% were not longer.
    pub p99_9: u64,
    /// 99.99% were not longer.
    pub p99_99: u64,
    /// 99.999% were not longer.
    pub p99_999: u64,
    /// The longest.
    pub max: u64,
    /// Response times, ascending, each with the share of all that were longer; times that are less than
    /// 5% apart are taken together as the first of them.
    pub tail: Vec<(u64, f64)>,
}

impl ResponseSummary {
    pub(crate) fn new(times: &ResponseTimes) -> Self {
        Self {
            mean: times.mean_ns(),
            stddev: times.stddev_ns(),
            p50: times.quantile_ns(0.5),
            p90: times.quantile_ns(0.9),
            p95: times.quantile_ns(0.95),
            p99: times.quantile_ns(0.99),
            p99_9: times.quantile_ns(0.999),
            p99_99: times.quantile_ns(0.9999),
            p99_999: times.quantile_ns(0.99999),
            max: times.max_ns(),
            tail: times.tail(),
        }
    }
}
