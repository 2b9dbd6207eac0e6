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
        mean: f64 = Millis(4), "ns", from "the clock" [
            table(Responses, 10, "mean", Always),
            table(Requests, 20, "mean", Always),
            report(Responses, 10, "mean", "Mean response time of a page write, or of a write request, in milliseconds", Known),
            report(Groups, 10, "mean", "Mean response time in milliseconds", Known),
            sweep(280, "response-mean", "mean response time of a page write (or write request), ms"),
            stored(120, "response_mean_ns", Optional),
            frame(190, "response_mean_ns"),
        ];
        /// The standard deviation.
        stddev: f64 = Millis(4), "ns", from "the clock" [
            table(Responses, 20, "standard\ndeviation", Always),
            sweep(290, "response-deviation", "its standard deviation, ms"),
            frame(200, "response_stddev_ns"),
        ];
        /// The median.
        p50: u64 = Millis(4), "ns", from "the clock" [
            table(Responses, 30, "median", Always),
            table(Requests, 30, "median", Always),
            report(Responses, 30, "median", "Half of the writes took no longer", Known),
            report(Groups, 30, "median", "Half of them took no longer", Known),
            sweep(300, "response-p50", "median of the response time, ms"),
            frame(210, "response_p50_ns"),
        ];
        /// 90% were not longer.
        p90: u64 = Millis(4), "ns", from "the clock" [
            report(Responses, 40, "p90", "90% took no longer", Known),
            frame(220, "response_p90_ns"),
        ];
        /// 95% were not longer.
        p95: u64 = Millis(4), "ns", from "the clock" [
            table(Responses, 50, "p95", Always),
            table(Requests, 50, "p95", Always),
            report(Responses, 50, "p95", "95% took no longer", Known),
            frame(230, "response_p95_ns"),
        ];
        /// 99% were not longer.
        p99: u64 = Millis(4), "ns", from "the clock" [
            table(Responses, 60, "p99", Always),
            table(Requests, 60, "p99", Always),
            report(Responses, 60, "p99", "99% took no longer", Known),
            report(Groups, 60, "p99", "99% took no longer", Known),
            sweep(310, "response-p99", "99th percentile of the response time, ms"),
            stored(130, "response_p99_ns", Optional),
            frame(240, "response_p99_ns"),
        ];
        /// 99.9% were not longer.
        p99_9: u64 = Millis(4), "ns", from "the clock" [
            table(Responses, 70, "p99.9", Always),
            table(Requests, 70, "p99.9", Always),
            report(Responses, 70, "p99.9", "99.9% took no longer", Known),
            report(Groups, 70, "p99.9", "99.9% took no longer", Known),
            sweep(320, "response-p99.9", "99.9th percentile, ms"),
            frame(250, "response_p99_9_ns"),
        ];
        /// 99.99% were not longer.
        p99_99: u64 = Millis(4), "ns", from "the clock" [
            table(Responses, 80, "p99.99", Always),
            table(Requests, 80, "p99.99", Always),
            report(Responses, 80, "p99.99", "99.99% took no longer", Known),
            report(Groups, 80, "p99.99", "99.99% took no longer", Known),
            sweep(330, "response-p99.99", "99.99th percentile, ms"),
            frame(260, "response_p99_99_ns"),
        ];
        /// 99.999% were not longer.
        p99_999: u64 = Millis(4), "ns", from "the clock" [
            table(Requests, 90, "p99.999", Always),
            frame(270, "response_p99_999_ns"),
        ];
        /// The longest.
        max: u64 = Millis(4), "ns", from "the clock" [
            table(Responses, 100, "longest", Always),
            table(Requests, 100, "longest", Always),
            report(Responses, 100, "longest", "The longest of all", Known),
            report(Groups, 100, "longest", "The longest of all", Known),
            sweep(340, "response-max", "longest response time, ms"),
            frame(280, "response_max_ns"),
        ];
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
