//! How long pages live: the update interval distribution of an epoch.

use crate::memory;
use crate::page::DriveState;
use crate::state::state;
use ftlab_flash::Lpn;

/// Buckets of a distribution at most.
const BUCKETS_MAX: u64 = 16_384;

const BUCKETS_PER_BLOCK: u64 = 4;

/// Units of an epoch in which no page is left out.
const COMPLETE_UNITS: u64 = 10;

/// Not written in this epoch.
const NOT_WRITTEN: u32 = u32::MAX;

/// The bit of a page that was written once in this epoch.
const ONCE: u32 = 1;

/// The intervals between the writes of sampled pages, within one epoch.
pub(super) struct Intervals {
    /// Sampled page -> bucket time of its last write, shifted by one, and whether that was the first.
    pages: Vec<u32>,
    stride: u32,
    /// Host writes per bucket.
    unit: u64,
    /// The write clock when the epoch began.
    began: u64,
    counts: Vec<u32>,
    /// The pages written in the present unit, ascending, if it is a complete one, and which unit that is.
    written: Vec<u32>,
    present: u64,
    /// Writes in complete units to a page that was written in the same unit before.
    again: u32,
}

state!(Intervals { pages, began, counts, written, present, again } constant stride, unit);

impl Intervals {
    /// Every `stride`-th page is sampled, in epochs of `epoch` host writes.
    pub(super) fn new(logical_pages: u32, stride: u32, epoch: u64, pages_per_block: u32) -> Self {
        let unit =
            (u64::from(pages_per_block) / BUCKETS_PER_BLOCK).max(epoch.div_ceil(BUCKETS_MAX));
        let buckets = epoch / unit.max(1) + 1;
        let sampled = logical_pages.div_ceil(stride);
        Self {
            pages: memory::table(sampled as usize, NOT_WRITTEN),
            stride,
            unit: unit.max(1),
            began: 0,
            counts: vec![0; buckets as usize],
            written: Vec::new(),
            present: 0,
            again: 0,
        }
    }

    /// The host writes or trims a page.
    #[inline]
    pub(super) fn end(&mut self, lpn: Lpn, is_written: bool, drive: &DriveState) {
        let unit = (drive.write_clock() - self.began) / self.unit;
        let every = self.counts.len() as u64 / (COMPLETE_UNITS + 1);
        if is_written && every > 0 && unit > 0 && unit.is_multiple_of(every) {
            self.write_completely(lpn, unit);
        }
        if !lpn.0.is_multiple_of(self.stride) {
            return;
        }
        let now = unit as u32;
        let page = &mut self.pages[(lpn.0 / self.stride) as usize];
        let before = std::mem::replace(page, NOT_WRITTEN);
        if is_written {
            *page = now << 1 | if before == NOT_WRITTEN { ONCE } else { 0 };
        }
        if before != NOT_WRITTEN {
            let interval = (now - (before >> 1)) as usize;
            let last = self.counts.len() - 1;
            self.counts[interval.min(last)] += 1;
        }
    }

    fn write_completely(&mut self, lpn: Lpn, unit: u64) {
        if self.present != unit {
            self.present = unit;
            self.written.clear();
        }
        match self.written.binary_search(&lpn.0) {
            Ok(_) => self.again += 1,
            Err(place) => self.written.insert(place, lpn.0),
        }
    }

    /// Another epoch begins.
    pub(super) fn restart(&mut self, drive: &DriveState) {
        self.pages.fill(NOT_WRITTEN);
        self.counts.fill(0);
        (self.present, self.again) = (0, 0);
        self.began = drive.write_clock();
    }

    /// The distribution of all writes, if anything was written: a page of interval i is seen as often as whole
    /// intervals fit into the epoch, which is made up for; those written once live beyond it. The
    /// shortest intervals are those of the complete units.
    pub(super) fn distribution(&self) -> Option<Distribution> {
        let once = |page: &&u32| **page != NOT_WRITTEN && **page & ONCE == ONCE;
        let beyond = self.pages.iter().filter(once).count();
        let buckets = self.counts.len();
        let seen = self.counts.iter().enumerate().skip(1).map(|(interval, &count)| {
            let rest = (buckets % interval) as f64 + interval as f64 / 2.0;
            f64::from(count) * (1.0 + rest / buckets as f64)
        });
        // The hottest pages are few, and a sample may have none or too many of them.
        let units = buckets as f64 / COMPLETE_UNITS as f64;
        let shortest = f64::from(self.again) * units / f64::from(self.stride);
        let counts = std::iter::once(shortest).chain(seen).collect();
        Distribution::new(counts, beyond as f64, self.unit as f64)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.pages[..]) + size_of_val(&self.counts[..])
    }
}

/// How many of the pages that the host writes live how long.
pub(super) struct Distribution {
    unit: f64,
    /// Multiple of the unit -> the share of the writes that end before.
    ended: Vec<f64>,
    /// Multiple of the unit -> how long those live, summed: by Little's law the pages that are
    /// valid at any time because of them, per host write.
    lived: Vec<f64>,
}

impl Distribution {
    /// Of the writes that end in each unit of time, and those that outlive all.
    fn new(counts: Vec<f64>, beyond: f64, unit: f64) -> Option<Self> {
        let total = counts.iter().sum::<f64>() + beyond;
        if total <= 0.0 {
            return None;
        }
        let (mut ended, mut lived) = (vec![0.0], vec![0.0]);
        let (mut sum, mut time) = (0.0, 0.0);
        for (bucket, count) in counts.into_iter().enumerate() {
            sum += count / total;
            time += count / total * unit * (bucket as f64 + 0.5);
            ended.push(sum);
            lived.push(time);
        }
        Some(Self { unit, ended, lived })
    }

    /// The epoch, which is the longest time that is told apart.
    pub(super) fn longest(&self) -> f64 {
        self.unit * (self.ended.len() - 1) as f64
    }

    fn at(&self, values: &[f64], time: f64) -> f64 {
        let place = time / self.unit;
        let bucket = (place as usize).min(values.len() - 2);
        let part = (place - bucket as f64).min(1.0);
        values[bucket] + part * (values[bucket + 1] - values[bucket])
    }

    /// The share of the writes that end before `time`.
    #[inline]
    pub(super) fn ended(&self, time: f64) -> f64 {
        self.at(&self.ended, time)
    }

    /// How long those live, summed.
    #[inline]
    pub(super) fn lived(&self, time: f64) -> f64 {
        self.at(&self.lived, time)
    }

    /// How long a write lives up to `time`, on average.
    #[inline]
    pub(super) fn lived_up_to(&self, time: f64) -> f64 {
        self.lived(time) + time * (1.0 - self.ended(time))
    }

    /// Multiples of the unit.
    pub(super) fn times(&self) -> impl Iterator<Item = f64> + '_ {
        (1..self.ended.len()).map(|bucket| self.unit * bucket as f64)
    }

    /// Pages that outlive `time` as two kinds, those of less and of more than 0.7 of their mean interval: the
    /// first kind's share of the writes, and of the pages.
    pub(super) fn two_kinds(&self, time: f64) -> (f64, f64) {
        let longest = self.longest();
        let beyond = 1.0 - self.ended[self.ended.len() - 1];
        let writes = 1.0 - self.ended(time);
        let pages = self.lived[self.lived.len() - 1] - self.lived(time) + beyond * longest;
        let bound = (0.7 * pages / writes).max(time);
        (
            (self.ended(bound) - self.ended(time)) / writes,
            (self.lived(bound) - self.lived(time)) / pages,
        )
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Half the writes live for 1,000 host writes, the others beyond the 40,000 of the epoch.
    pub(in super::super) fn two_lifetimes() -> Distribution {
        let mut counts = vec![0.0; 400];
        counts[10] = 500.0;
        Distribution::new(counts, 500.0, 100.0).unwrap()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn writes_end_where_their_intervals_do() {
        let writes = two_lifetimes();
        assert!(close(writes.ended(1000.0), 0.0) && close(writes.ended(1100.0), 0.5));
        assert!(close(writes.ended(1e9), 0.5) && close(writes.lived_up_to(1000.0), 1000.0));
        assert!(close(writes.lived_up_to(2100.0), 525.0 + 1050.0));
        assert!(Distribution::new(vec![0.0; 4], 0.0, 1.0).is_none());
    }

    #[test]
    fn the_shorter_kind_has_few_pages_and_many_writes() {
        let (writes, pages) = two_lifetimes().two_kinds(0.0);
        assert!(close(writes, 0.5) && close(pages, 525.0 / (525.0 + 20_000.0)), "{writes} {pages}");
    }

    #[test]
    fn intervals_that_do_not_fit_often_are_made_up_for() {
        let epoch = |period: u64| {
            let mut intervals = Intervals::new(1, 1, 1000, 40);
            intervals.unit = 10;
            let buckets = intervals.counts.len() as u64;
            intervals.counts.fill(0);
            let interval = period / 10;
            intervals.counts[interval as usize] = (buckets / interval) as u32;
            intervals.distribution().unwrap().ended(1000.0)
        };
        assert!(close(epoch(100), 1.0) && close(epoch(600), 1.0));
    }
}
