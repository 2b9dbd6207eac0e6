//! How long something took: mean, quantiles and tail.

use crate::fact::facts;
use ftlab_host::ResponseTimes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

facts! {
    Run:
    /// Response times in nanoseconds; quantiles are too long by at most 0.1%.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
    pub struct ResponseSummary {
        /// The mean.
        mean: f64 = Time(4), "ns", from "the clock" [
            stored(120, "response_mean_ns", Optional),
            frame(190, "response_mean_ns"),
        ];
        /// The standard deviation.
        stddev: f64 = Time(4), "ns", from "the clock" [frame(200, "response_stddev_ns")];
        /// The median.
        p50: u64 = Time(4), "ns", from "the clock" [frame(210, "response_p50_ns")];
        /// 90% were not longer.
        p90: u64 = Time(4), "ns", from "the clock" [frame(220, "response_p90_ns")];
        /// 95% were not longer.
        p95: u64 = Time(4), "ns", from "the clock" [frame(230, "response_p95_ns")];
        /// 99% were not longer.
        p99: u64 = Time(4), "ns", from "the clock" [
            stored(130, "response_p99_ns", Optional),
            frame(240, "response_p99_ns"),
        ];
        /// 99.9% were not longer.
        p99_9: u64 = Time(4), "ns", from "the clock" [frame(250, "response_p99_9_ns")];
        /// 99.99% were not longer.
        p99_99: u64 = Time(4), "ns", from "the clock" [frame(260, "response_p99_99_ns")];
        /// 99.999% were not longer.
        p99_999: u64 = Time(4), "ns", from "the clock" [frame(270, "response_p99_999_ns")];
        /// The longest.
        max: u64 = Time(4), "ns", from "the clock" [frame(280, "response_max_ns")];
        /// Response times, ascending, each with the share of all that were longer; times that are less than
        /// 5% apart are taken together as the first of them.
        tail: Vec<(u64, f64)>;
    }
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
