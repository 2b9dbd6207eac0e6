//! Response times of an interval: quick to take and to forget.

use crate::wait_times::{bucket, longest_of};

/// Response times by buckets whose times are within 1/32 of each other.
#[derive(Debug, Clone, Default)]
pub(crate) struct IntervalTimes {
    /// Bucket, ascending -> its responses.
    counts: Vec<u32>,
    count: u64,
    sum_ns: u64,
    max_ns: u64,
}

impl IntervalTimes {
    /// `count` more took this long.
    #[inline]
    pub(crate) fn record(&mut self, nanoseconds: u64, count: u32) {
        let bucket = bucket(nanoseconds);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += count;
        self.count += u64::from(count);
        self.sum_ns += nanoseconds * u64::from(count);
        self.max_ns = self.max_ns.max(nanoseconds);
    }

    /// How many there are.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Their sum, exact.
    pub(crate) fn sum_ns(&self) -> u64 {
        self.sum_ns
    }

    /// The longest, exact; 0 if there are none.
    pub(crate) fn max_ns(&self) -> u64 {
        self.max_ns
    }

    /// The times that these shares of the responses did not exceed, too long by at most 1/32; none if there are
    /// none. Forgets them.
    pub(crate) fn take<const N: usize>(&mut self, shares: [f64; N]) -> Option<[u64; N]> {
        if self.count == 0 {
            return None;
        }
        let of = |share: f64| {
            let rank = ((share * self.count as f64).ceil() as u64).max(1);
            let mut before = 0;
            let reaches = |count: &u32| {
                before += u64::from(*count);
                before >= rank
            };
            longest_of(self.counts.iter().position(reaches).unwrap_or(0))
        };
        let times = shares.map(of);
        self.counts.fill(0);
        (self.count, self.sum_ns, self.max_ns) = (0, 0, 0);
        Some(times)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_as_sorting_all_finds_them() {
        let mut times = IntervalTimes::default();
        assert_eq!(times.take([0.5]), None);
        for round in 1..4_u64 {
            let mut all: Vec<u64> = (0..5000).map(|at| at * at * round * 37 % 9_000_001).collect();
            for time in &all {
                times.record(*time, 1);
            }
            all.sort_unstable();
            assert_eq!((times.sum_ns(), times.max_ns()), (all.iter().sum(), all[4999]));
            let shares = [0.0, 0.001, 0.5, 0.9, 0.999, 1.0];
            for (time, share) in times.take(shares).unwrap().into_iter().zip(shares) {
                let exact = all[((share * 5000.0_f64).ceil() as usize).max(1) - 1];
                assert!((exact..=exact + exact / 32 + 1).contains(&time), "{time} {exact}");
            }
            assert_eq!(times.take(shares), None);
        }
    }
}
