//! Sizes of write requests.

use crate::{Analysis, Request};
use ftlab_trace::Op;
use ftlab_trace::pages::SECTOR_BYTES;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts the sizes of write requests exactly.
#[derive(Debug, Clone, Default)]
pub struct Sizes {
    /// Size in bytes -> requests. Traces have few sizes: they are multiples of a sector.
    requests: BTreeMap<u64, u64>,
    /// The size added last and how often in a row, not yet in the map.
    run: (u64, u64),
}

/// Sizes of requests in bytes; all 0 where there is no request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeSummary {
    /// The smallest.
    pub min_bytes: u64,
    /// Half of the requests are at most this large.
    pub median_bytes: u64,
    /// The mean.
    pub mean_bytes: f64,
    /// The largest.
    pub max_bytes: u64,
    /// Requests by size: each power of two by itself, and the sizes in between; empty buckets are
    /// left out.
    pub buckets: Vec<SizeBucket>,
}

/// Requests of `from_bytes` to `to_bytes`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SizeBucket {
    /// A power of two or one more than that; 0 for requests of no bytes.
    pub from_bytes: u64,
    /// A power of two or one less than that; the same as `from_bytes` for a power of two.
    pub to_bytes: u64,
    /// How many requests.
    pub requests: u64,
    /// Their bytes together.
    pub bytes: u64,
}

impl SizeBucket {
    /// An empty one for requests of `bytes`.
    fn of(bytes: u64) -> Self {
        let (from_bytes, to_bytes) = if bytes == 0 || bytes.is_power_of_two() {
            (bytes, bytes)
        } else {
            let power = 1 << bytes.ilog2();
            (power + 1, power - 1 + power)
        };
        Self { from_bytes, to_bytes, requests: 0, bytes: 0 }
    }
}

impl Analysis for Sizes {
    type Report = Self;

    #[inline]
    fn request(&mut self, request: &Request) {
        if request.op == Op::Write {
            self.add(u64::from(request.sectors) * SECTOR_BYTES);
        }
    }

    fn finish(mut self) -> Self {
        self.end_run();
        self
    }
}

impl Sizes {
    #[inline]
    fn add(&mut self, bytes: u64) {
        if self.run.0 == bytes {
            self.run.1 += 1;
        } else {
            self.end_run();
            self.run = (bytes, 1);
        }
    }

    fn end_run(&mut self) {
        let (bytes, requests) = std::mem::take(&mut self.run);
        if requests > 0 {
            *self.requests.entry(bytes).or_default() += requests;
        }
    }

    /// Every size in bytes with its requests, in ascending order.
    pub fn requests(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.requests.iter().map(|(bytes, requests)| (*bytes, *requests))
    }

    /// The size that `share` of the requests, in 0..=1, do not exceed; 0 without requests.
    pub fn quantile(&self, share: f64) -> u64 {
        let all: u64 = self.requests.values().sum();
        let rank = ((all as f64 * share).ceil() as u64).max(1);
        let mut seen = 0;
        let reached = self.requests().find(|(_, requests)| {
            seen += requests;
            seen >= rank
        });
        reached.map_or(0, |(bytes, _)| bytes)
    }

    /// The sizes in short.
    pub fn summary(&self) -> SizeSummary {
        let (Some((min_bytes, _)), Some((max_bytes, _))) =
            (self.requests.first_key_value(), self.requests.last_key_value())
        else {
            return SizeSummary::default();
        };
        let mut buckets: Vec<SizeBucket> = Vec::new();
        let (mut all, mut sum) = (0, 0_u128);
        for (bytes, requests) in self.requests() {
            all += requests;
            sum += u128::from(bytes) * u128::from(requests);
            if buckets.last().is_none_or(|bucket| bucket.to_bytes < bytes) {
                buckets.push(SizeBucket::of(bytes));
            }
            if let Some(bucket) = buckets.last_mut() {
                bucket.requests += requests;
                bucket.bytes += bytes * requests;
            }
        }
        SizeSummary {
            min_bytes: *min_bytes,
            median_bytes: self.quantile(0.5),
            mean_bytes: sum as f64 / all as f64,
            max_bytes: *max_bytes,
            buckets,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(list: impl IntoIterator<Item = u64>) -> Sizes {
        let mut sizes = Sizes::default();
        list.into_iter().for_each(|bytes| sizes.add(bytes));
        sizes.finish()
    }

    #[test]
    fn sizes_are_summarised_exactly() {
        let sizes = sizes([4096, 4096, 512, 6144, 8192, 4096, 7168]);
        let summary = sizes.summary();
        assert_eq!((summary.min_bytes, summary.median_bytes, summary.max_bytes), (512, 4096, 8192));
        assert!((summary.mean_bytes - 34_304.0 / 7.0).abs() < 1e-9);
        let buckets: Vec<_> = summary
            .buckets
            .iter()
            .map(|bucket| (bucket.from_bytes, bucket.to_bytes, bucket.requests, bucket.bytes))
            .collect();
        let expected = [
            (512, 512, 1, 512),
            (4096, 4096, 3, 12_288),
            (4097, 8191, 2, 13_312),
            (8192, 8192, 1, 8192),
        ];
        assert_eq!(buckets, expected);
        assert_eq!(
            (sizes.quantile(0.0), sizes.quantile(0.6), sizes.quantile(1.0)),
            (512, 6144, 8192)
        );
        assert_eq!(sizes.requests().count(), 5);
    }

    #[test]
    fn nothing_has_no_sizes() {
        assert_eq!(sizes([]).summary(), SizeSummary::default());
        assert_eq!(sizes([0]).summary().buckets, [SizeBucket { requests: 1, ..SizeBucket::of(0) }]);
        assert_eq!(SizeBucket::of(u64::MAX).to_bytes, u64::MAX);
    }
}
