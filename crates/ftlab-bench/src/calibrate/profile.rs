//! The profile of a workload: skew, frozen pages, write intervals and request sizes of its main
//! part, after the load.

use crate::common::Failure;
use ftlab_trace::pages::{PageSink, SECTOR_BYTES, expand, page_sectors};
use ftlab_trace::{Op, RequestBatch, TraceSource};

/// The end of the load.
#[derive(Debug, Clone, Copy)]
pub(super) enum Load {
    /// Before the first request at this time.
    UntilUs(u64),
    /// After this many page writes.
    PageWrites(u64),
}

/// Buckets of intervals per octave.
const INTERVAL_STEPS: f64 = 8.0;

/// Shares of the pages at which the skew curve is taken.
pub(super) const SKEW_SHARES: [f64; 5] = [0.01, 0.1, 0.2, 0.3, 0.5];

/// Upper ends of classes of request sizes, in bytes.
pub(super) const SIZES: [(u64, &str); 6] = [
    (2048, "below 4 KiB"),
    (4096, "of 4 KiB"),
    (16 << 10, "of up to 16 KiB"),
    (64 << 10, "of up to 64 KiB"),
    (256 << 10, "of up to 256 KiB"),
    (u64::MAX, "above 256 KiB"),
];

/// The main part of a workload.
#[derive(Debug, Clone)]
pub(super) struct Profile {
    /// Page writes of the load.
    pub(super) load_writes: u64,
    /// Page writes after it.
    pub(super) writes: u64,
    /// Pages written after the load, and in total.
    pub(super) distinct: u64,
    pub(super) ever: u64,
    /// Writes of each page that has any, in descending order; by page during counting.
    counts: Vec<u32>,
    /// First and last write of each page, by page; `None` if it has none.
    lives: Vec<Option<(u32, u32)>>,
    /// Write intervals by size.
    intervals: Vec<u64>,
    /// Bytes and write requests by size.
    pub(super) sizes: [(u64, u64); SIZES.len()],
}

/// Counts pages after the load.
struct Counter {
    is_loading: bool,
    limit: u64,
    profile: Profile,
    was_loaded: Vec<bool>,
}

impl PageSink for Counter {
    fn write(&mut self, first_page: u64, pages: u64) {
        let end = (first_page + pages) as usize;
        if self.was_loaded.len() < end {
            self.was_loaded.resize(end, false);
            self.profile.lives.resize(end, None);
            self.profile.counts.resize(end, 0);
        }
        if self.is_loading {
            self.profile.load_writes += pages;
            self.was_loaded[first_page as usize..end].fill(true);
            return;
        }
        for page in first_page as usize..end {
            let now = self.profile.writes as u32;
            self.profile.writes += 1;
            self.profile.counts[page] += 1;
            let life = &mut self.profile.lives[page];
            if let Some((_, last)) = *life {
                let bucket = bucket_of(now - last);
                if self.profile.intervals.len() <= bucket {
                    self.profile.intervals.resize(bucket + 1, 0);
                }
                self.profile.intervals[bucket] += 1;
            }
            *life = Some((life.map_or(now, |(first, _)| first), now));
        }
    }
}

fn bucket_of(interval: u32) -> usize {
    (f64::from(interval.max(1)).log2() * INTERVAL_STEPS) as usize
}

impl Counter {
    fn add(&mut self, batch: &RequestBatch, sectors: u32, load: Load) -> Result<(), Failure> {
        let mut one = RequestBatch::with_limit(1);
        for (index, (op, _, length)) in batch.iter().enumerate() {
            if self.profile.writes >= self.limit {
                break;
            }
            self.is_loading = match load {
                Load::UntilUs(end) => batch.time_us[index] < end,
                Load::PageWrites(pages) => self.profile.load_writes < pages,
            };
            one.clear();
            one.push_from(batch, index);
            expand(&one, sectors, self)?;
            if op == Op::Write && !self.is_loading {
                let bytes = u64::from(length) * SECTOR_BYTES;
                let class = SIZES.iter().position(|(end, _)| bytes <= *end).unwrap_or(0);
                self.profile.sizes[class].0 += bytes;
                self.profile.sizes[class].1 += 1;
            }
        }
        Ok(())
    }
}

impl Profile {
    /// Reads `source` to its end, or to `limit` page writes after the load.
    pub(super) fn of(
        source: &mut dyn TraceSource,
        load: Load,
        limit: u64,
        page_bytes: u32,
    ) -> Result<Self, Failure> {
        let profile = Self {
            load_writes: 0,
            writes: 0,
            distinct: 0,
            ever: 0,
            counts: Vec::new(),
            lives: Vec::new(),
            intervals: Vec::new(),
            sizes: [(0, 0); SIZES.len()],
        };
        let mut counter = Counter {
            is_loading: true,
            limit: limit.min(u64::from(u32::MAX)),
            profile,
            was_loaded: Vec::new(),
        };
        let sectors = page_sectors(page_bytes)?;
        let mut batch = RequestBatch::new();
        while counter.profile.writes < counter.limit && source.next_batch(&mut batch)? {
            counter.add(&batch, sectors, load)?;
        }
        let Counter { mut profile, was_loaded, .. } = counter;
        profile.counts.retain(|&count| count > 0);
        profile.counts.sort_unstable_by(|a, b| b.cmp(a));
        profile.distinct = profile.counts.len() as u64;
        let ever = was_loaded.iter().zip(&profile.lives);
        profile.ever = ever.filter(|(loaded, life)| **loaded || life.is_some()).count() as u64;
        Ok(profile)
    }

    /// Share of the writes that go to this share of the pages written after the load, the
    /// most-written ones.
    pub(super) fn skew(&self, share: f64) -> f64 {
        let pages = (self.counts.len() as f64 * share).max(1.0) as usize;
        let top: u64 = self.counts.iter().take(pages).map(|count| u64::from(*count)).sum();
        top as f64 / self.writes as f64
    }

    /// Of the pages written after the load up to this share of the writes, the share not written
    /// later.
    pub(super) fn frozen(&self, share: f64) -> f64 {
        let moment = (share * self.writes as f64) as u32;
        let lives = self.lives.iter().flatten().filter(|(first, _)| *first < moment);
        let (mut written, mut frozen) = (0_u64, 0_u64);
        for (_, last) in lives {
            written += 1;
            frozen += u64::from(*last < moment);
        }
        frozen as f64 / written.max(1) as f64
    }

    /// The interval, in page writes, that this share of the intervals does not exceed.
    pub(super) fn interval(&self, share: f64) -> f64 {
        let all: u64 = self.intervals.iter().sum();
        let mut seen = 0;
        for (bucket, count) in self.intervals.iter().enumerate() {
            seen += count;
            if seen as f64 >= share * all as f64 {
                return ((bucket as f64 + 0.5) / INTERVAL_STEPS).exp2();
            }
        }
        f64::NAN
    }

    /// Share of the bytes in requests of a class of [`SIZES`].
    pub(super) fn bytes_in(&self, class: usize) -> f64 {
        let all: u64 = self.sizes.iter().map(|(bytes, _)| bytes).sum();
        self.sizes[class].0 as f64 / all.max(1) as f64
    }
}
