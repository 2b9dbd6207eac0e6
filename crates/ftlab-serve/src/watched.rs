//! A store that measures its requests: their number, size and duration.

use ftlab_drive::latency::due;
use ftlab_drive::{Extent, Store};
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The longest duration that is distinguished from longer ones.
const LONGEST_NS: u64 = 100_000_000_000;

/// Significant decimal digits of a quantile.
const DIGITS: u8 = 2;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Read,
    Write,
    /// Trims and writes of zeros.
    Trim,
    Flush,
}

/// Statistics of one kind of request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Requests {
    /// Their number.
    pub requests: u64,
    /// Bytes requested.
    pub bytes: u64,
    /// Number of failed requests.
    pub failed: u64,
    /// Durations of all of them.
    pub latency: Latency,
    /// Durations of those in the last interval.
    pub recent_latency: Latency,
}

/// Durations of requests, in microseconds; quantiles are at most 1% too long.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Latency {
    /// Their number.
    pub count: u64,
    /// The mean.
    pub mean_us: f64,
    /// The median.
    pub p50_us: f64,
    /// The 90th percentile.
    pub p90_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// The 99.9th percentile.
    pub p999_us: f64,
    /// The longest.
    pub max_us: f64,
}

/// The requests of the host since serving began.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostRequests {
    /// Reads.
    pub reads: Requests,
    /// Writes.
    pub writes: Requests,
    /// Trims and writes of zeros.
    pub trims: Requests,
    /// Flushes, including those for FUA.
    pub flushes: Requests,
}

/// Executes requests on a store, and measures them.
pub struct Watched {
    store: Arc<dyn Store>,
    tallies: [Mutex<Tally>; 4],
}

impl Watched {
    /// Measures the requests to `store`.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, tallies: std::array::from_fn(|_| Mutex::new(Tally::new())) }
    }

    /// The requests so far; ends the current interval of recent latencies.
    pub fn sample(&self) -> HostRequests {
        let of = |kind: Kind| lock(&self.tallies[kind as usize]).sample();
        HostRequests {
            reads: of(Kind::Read),
            writes: of(Kind::Write),
            trims: of(Kind::Trim),
            flushes: of(Kind::Flush),
        }
    }

    #[inline]
    fn watch(
        &self,
        kind: Kind,
        bytes: u64,
        request: impl FnOnce(&dyn Store) -> io::Result<()>,
    ) -> io::Result<()> {
        let begin = Instant::now();
        let result = request(self.store.as_ref());
        // If flash is emulated, the host waits until it would be done.
        let imitated = due().map_or(Duration::ZERO, |due| due.saturating_duration_since(begin));
        let time = begin.elapsed().max(imitated);
        lock(&self.tallies[kind as usize]).add(bytes, time, result.is_err());
        result
    }
}

impl Store for Watched {
    fn bytes(&self) -> u64 {
        self.store.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.store.block_bytes()
    }

    fn is_read_only(&self) -> bool {
        self.store.is_read_only()
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.watch(Kind::Read, data.len() as u64, |store| store.read(offset, data))
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.watch(Kind::Write, data.len() as u64, |store| store.write(offset, data))
    }

    fn write_stream(&self, offset: u64, data: &[u8], stream: u16) -> io::Result<()> {
        let bytes = data.len() as u64;
        self.watch(Kind::Write, bytes, |store| store.write_stream(offset, data, stream))
    }

    fn renew_handle(&self, handle: u16) -> io::Result<bool> {
        self.store.renew_handle(handle)
    }

    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.watch(Kind::Trim, bytes, |store| store.trim(offset, bytes))
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()> {
        self.watch(Kind::Trim, bytes, |store| store.write_zeroes(offset, bytes, may_trim))
    }

    fn extent(&self, offset: u64, bytes: u64) -> io::Result<Extent> {
        self.store.extent(offset, bytes)
    }

    fn flush(&self) -> io::Result<()> {
        self.watch(Kind::Flush, 0, |store| store.flush())
    }
}

/// The counters of one kind of request.
#[derive(Debug)]
struct Tally {
    bytes: u64,
    failed: u64,
    sum: Times,
    /// The part of the current interval that is not yet in `sum`.
    recent: Times,
}

/// Durations, in nanoseconds.
#[derive(Debug)]
struct Times {
    histogram: Histogram<u64>,
    sum_ns: u64,
    max_ns: u64,
}

impl Tally {
    fn new() -> Self {
        Self { bytes: 0, failed: 0, sum: Times::new(), recent: Times::new() }
    }

    #[inline]
    fn add(&mut self, bytes: u64, time: Duration, failed: bool) {
        self.bytes += bytes;
        self.failed += u64::from(failed);
        self.recent.add(time.as_nanos() as u64);
    }

    fn sample(&mut self) -> Requests {
        self.sum.take(&self.recent);
        let requests = Requests {
            requests: self.sum.histogram.len(),
            bytes: self.bytes,
            failed: self.failed,
            latency: self.sum.latency(),
            recent_latency: self.recent.latency(),
        };
        self.recent.clear();
        requests
    }
}

impl Times {
    fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Self { histogram: histogram.expect("these bounds are possible"), sum_ns: 0, max_ns: 0 }
    }

    #[inline]
    fn add(&mut self, nanoseconds: u64) {
        self.histogram.saturating_record(nanoseconds);
        self.sum_ns += nanoseconds;
        self.max_ns = self.max_ns.max(nanoseconds);
    }

    fn take(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("the bounds are the same");
        self.sum_ns += other.sum_ns;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    fn clear(&mut self) {
        self.histogram.reset();
        (self.sum_ns, self.max_ns) = (0, 0);
    }

    fn latency(&self) -> Latency {
        let count = self.histogram.len();
        let microseconds = |nanoseconds: u64| nanoseconds.min(self.max_ns) as f64 / 1e3;
        let quantile = |share: f64| microseconds(self.histogram.value_at_quantile(share));
        Latency {
            count,
            mean_us: self.sum_ns as f64 / count.max(1) as f64 / 1e3,
            p50_us: quantile(0.5),
            p90_us: quantile(0.9),
            p99_us: quantile(0.99),
            p999_us: quantile(0.999),
            max_us: microseconds(self.max_ns),
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ram;

    #[test]
    fn requests_are_counted_by_kind_and_intervals_end_with_a_sample() {
        let watched = Watched::new(Arc::new(Ram::new(1 << 20)));
        let mut data = [0; 4096];
        watched.write(0, &[1; 8192]).unwrap();
        watched.write(0, &[2; 4096]).unwrap();
        watched.read(0, &mut data).unwrap();
        watched.trim(0, 4096).unwrap();
        watched.write_zeroes(4096, 4096, true).unwrap();
        watched.read(1 << 20, &mut data).unwrap_err();
        let first = watched.sample();
        let counted = |of: &Requests| (of.requests, of.bytes, of.failed, of.recent_latency.count);
        assert_eq!(counted(&first.writes), (2, 12_288, 0, 2));
        assert_eq!(counted(&first.reads), (2, 8192, 1, 2));
        assert_eq!(counted(&first.trims), (2, 8192, 0, 2));
        assert_eq!(counted(&first.flushes), (0, 0, 0, 0));
        watched.flush().unwrap();
        let second = watched.sample();
        assert_eq!(counted(&second.flushes), (1, 0, 0, 1));
        assert_eq!(counted(&second.writes), (2, 12_288, 0, 0));
        assert_eq!(second.writes.latency, first.writes.latency);
    }

    #[test]
    fn latencies_are_in_order_and_right_within_a_percent() {
        let mut times = Times::new();
        (1..=10_000_u64).for_each(|time| times.add(time * 1000));
        let latency = times.latency();
        assert!((latency.mean_us - 5000.5).abs() < 1e-6);
        for (value, exact) in
            [(latency.p50_us, 5e3), (latency.p90_us, 9e3), (latency.p99_us, 9900.0)]
        {
            assert!((value / exact - 1.0).abs() < 0.01, "{value}");
        }
        assert!((latency.max_us - 1e4).abs() < 1e-9 && latency.p999_us <= latency.max_us);
    }
}
