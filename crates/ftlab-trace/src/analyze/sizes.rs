//! Sizes of requests.

use serde::Serialize;
use std::collections::BTreeMap;

/// Counts request sizes exactly.
#[derive(Debug, Clone, Default)]
pub struct Sizes {
    /// Size in bytes -> requests. Traces have few sizes: they are multiples of a sector.
    requests: BTreeMap<u64, u64>,
    /// The size added last and how often in a row, not yet in the map.
    run: (u64, u64),
}

/// Sizes of requests in bytes; all 0 where there is no request.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SizeSummary {
    /// The smallest.
    pub min_bytes: u64,
    /// Half of the requests are at most this large.
    pub median_bytes: u64,
    /// The mean.
    pub mean_bytes: f64,
    /// The largest.
    pub max_bytes: u64,
    /// Requests by size, in powers of two; empty buckets are left out.
    pub buckets: Vec<SizeBucket>,
}

/// Requests larger than half of `up_to_bytes` and at most that large.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SizeBucket {
    /// A power of two; 0 for requests of no bytes.
    pub up_to_bytes: u64,
    /// How many requests.
    pub requests: u64,
    /// Their bytes together.
    pub bytes: u64,
}

impl Sizes {
    /// Adds a request of `bytes`.
    #[inline]
    pub fn add(&mut self, bytes: u64) {
        if self.run.0 == bytes {
            self.run.1 += 1;
        } else {
            self.end_run();
            self.run = (bytes, 1);
        }
    }

    fn end_run(&mut self) {
        if self.run.1 > 0 {
            *self.requests.entry(self.run.0).or_default() += self.run.1;
        }
    }

    /// The summary of everything added.
    pub fn summary(mut self) -> SizeSummary {
        self.end_run();
        let requests: u64 = self.requests.values().sum();
        let (Some((min, _)), Some((max, _))) =
            (self.requests.first_key_value(), self.requests.last_key_value())
        else {
            return SizeSummary::default();
        };
        let mut buckets: Vec<SizeBucket> = Vec::new();
        let mut median_bytes = None;
        let (mut seen, mut bytes) = (0, 0u128);
        for (size, count) in &self.requests {
            seen += count;
            bytes += u128::from(*size) * u128::from(*count);
            if seen >= requests.div_ceil(2) {
                median_bytes.get_or_insert(*size);
            }
            let up_to_bytes = if *size == 0 { 0 } else { size.next_power_of_two() };
            if buckets.last().is_none_or(|bucket| bucket.up_to_bytes != up_to_bytes) {
                buckets.push(SizeBucket { up_to_bytes, requests: 0, bytes: 0 });
            }
            let bucket = buckets.last_mut().expect("pushed above");
            bucket.requests += count;
            bucket.bytes += size * count;
        }
        SizeSummary {
            min_bytes: *min,
            median_bytes: median_bytes.unwrap_or(*max),
            mean_bytes: bytes as f64 / requests as f64,
            max_bytes: *max,
            buckets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_summarised_exactly() {
        let mut sizes = Sizes::default();
        for bytes in [4096, 4096, 512, 6144, 8192, 4096] {
            sizes.add(bytes);
        }
        let summary = sizes.summary();
        assert_eq!((summary.min_bytes, summary.median_bytes, summary.max_bytes), (512, 4096, 8192));
        assert!((summary.mean_bytes - 27_136.0 / 6.0).abs() < 1e-9);
        let buckets: Vec<_> =
            summary.buckets.iter().map(|b| (b.up_to_bytes, b.requests, b.bytes)).collect();
        assert_eq!(buckets, [(512, 1, 512), (4096, 3, 12_288), (8192, 2, 14_336)]);
        assert_eq!(Sizes::default().summary(), SizeSummary::default());
    }
}
