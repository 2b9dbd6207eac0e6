//! What is measured: an FTL under a schedule of garbage collection.

use ftlab_sim::result::ResponseSummary;

pub(super) const FTLS: [&str; 4] = ["1r-greedy", "2r-greedy", "2r-fifo", "2r++"];

pub(super) const SCHEDULES: [&str; 3] = ["foreground", "background", "incremental"];

/// Response times in milliseconds and the share of the host writes that took longer.
pub(super) type Tail = Vec<(f64, f64)>;

/// One FTL under one schedule.
pub(super) struct Line {
    pub(super) ftl: &'static str,
    pub(super) schedule: &'static str,
    pub(super) waf: f64,
    pub(super) response_ns: ResponseSummary,
    pub(super) host_writes: u64,
}

impl Line {
    /// The share of the host writes that took longer than a response time, as a step function from
    /// `shortest` on, constant between measured times.
    pub(super) fn tail(&self, shortest: f64) -> Tail {
        let measured = self.response_ns.tail.iter().map(|(ns, longer)| (*ns as f64 / 1e6, *longer));
        let mut longer_before = 1.0;
        let mut stairs = vec![(shortest, 1.0)];
        for (ms, longer) in measured {
            // One write is the smallest share; a logarithmic axis has no 0.
            let longer = longer.max(1.0 / self.host_writes as f64);
            stairs.extend([(ms, longer_before), (ms, longer)]);
            longer_before = longer;
        }
        stairs
    }
}
