//! What happens in an interval of a run.

/// What happened since the last interval ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interval {
    /// Host page writes.
    pub host_writes: u64,
    /// Time that passed, in nanoseconds.
    pub elapsed_ns: u64,
    /// Response times: as many as page writes, or those of write requests if the host waits for requests.
    pub responses: u64,
    /// Sum of the response times.
    pub response_sum_ns: u64,
    /// The longest response time.
    pub response_max_ns: u64,
    /// The median and the 99.9th percentile of read requests and of write requests, too long by at most 1/32; none
    /// where there were none.
    pub quantiles_ns: [Option<[u64; 2]>; 2],
}
