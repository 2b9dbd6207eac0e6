//! Response times of a measurement, and of the present interval of it.

use crate::interval::Interval;
use crate::interval_times::IntervalTimes;
use crate::response_times::ResponseTimes;

/// How many are counted at once.
const LATEST_MAX: usize = 256;

/// Takes response times one by one, and counts many at once: no count waits for the one before it, and the tables are
/// not fetched for each.
#[derive(Debug, Clone, Default)]
pub(crate) struct Responses {
    /// Those that are not counted yet.
    latest: Vec<u64>,
    all: ResponseTimes,
    of_interval: IntervalTimes,
}

impl Responses {
    /// Takes one more.
    #[inline]
    pub(crate) fn record(&mut self, nanoseconds: u64) {
        self.latest.push(nanoseconds);
        if self.latest.len() >= LATEST_MAX {
            self.count();
        }
    }

    /// Most writes find nothing in their way, so equal times come in a row.
    #[inline(never)]
    fn count(&mut self) {
        for equal in self.latest.chunk_by(u64::eq) {
            let (nanoseconds, count) = (equal[0], equal.len() as u32);
            self.all.record(nanoseconds, count.into());
            self.of_interval.record(nanoseconds, count);
        }
        self.latest.clear();
    }

    pub(crate) fn times(&self) -> ResponseTimes {
        let mut counted = self.clone();
        counted.count();
        counted.all
    }

    /// Adds those since the last call to an interval that ends; their median and 99.9th percentile, if there are some.
    pub(crate) fn end_interval(&mut self, interval: &mut Interval) -> Option<[u64; 2]> {
        self.count();
        let times = &mut self.of_interval;
        interval.responses += times.count();
        interval.response_sum_ns += times.sum_ns();
        interval.response_max_ns = interval.response_max_ns.max(times.max_ns());
        times.take([0.5, 0.999])
    }
}
