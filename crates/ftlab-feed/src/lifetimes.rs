//! How long every page write will live, which only a first pass over the workload tells.
//!
//! A write lives until its page is written again or trimmed, counted in host writes, fill and warm-up
//! included; one that outlives the run lives for [`u32::MAX`]. The pass takes 4 bytes for every page
//! write of the run and for every logical page, and 20 more for every logical page while it lasts.

use crate::FeedError;
use ftlab_flash::Lpn;
use ftlab_ftl::PageBatch;
use ftlab_ftl::page::Lifetime;
use ftlab_trace::available_bytes;
use std::sync::Arc;

/// Bytes per page write that is looked at.
const WRITE_BYTES: u64 = 4;

/// The lifetimes of all page writes, and how many of them have been told.
#[derive(Debug, Clone)]
pub struct Lifetimes {
    all: Arc<Vec<u32>>,
    /// Page -> the mean over its versions.
    means: Arc<Vec<u32>>,
    told: usize,
}

impl Lifetimes {
    /// The lifetimes from the page write after the first `writes` on.
    #[must_use]
    pub fn after(&self, writes: usize) -> Self {
        Self { told: writes, ..self.clone() }
    }

    /// Tells those of the writes of `batch`, the next ones.
    pub fn tell(&mut self, batch: &mut PageBatch) {
        let end = (self.told + batch.writes.len()).min(self.all.len());
        let writes = self.all[self.told..end].iter().zip(&batch.writes);
        let lifetimes = writes.map(|(&this, lpn)| Lifetime { this, mean: self.means[lpn.index()] });
        batch.lifetimes.extend(lifetimes);
        self.told = end;
    }
}

/// The pass, as far as it is.
pub struct LookAhead {
    /// Of every page write.
    lifetimes: Vec<u32>,
    /// Page -> the number of its latest write, from 1; 0 if it holds nothing.
    written: Vec<u64>,
    /// Page -> host writes for which versions of it lived that have ended, and how many these are.
    ended: Vec<(u64, u32)>,
    writes_max: u64,
}

impl LookAhead {
    /// A pass over the writes of a drive that is empty, and how many there will be, if that is known.
    pub fn new(logical_pages: u32, writes: Option<u64>) -> Result<Self, FeedError> {
        let mut lifetimes = Vec::new();
        let writes = writes.unwrap_or(0);
        let available = available_bytes();
        // A failed reservation is no error everywhere: an allocator may end the process.
        if available.is_some_and(|bytes| writes.saturating_mul(WRITE_BYTES) > bytes) {
            return Err(too_many(writes));
        }
        let room = usize::try_from(writes).ok().map(|writes| lifetimes.try_reserve_exact(writes));
        if room.is_none_or(|reserved| reserved.is_err()) {
            return Err(too_many(writes));
        }
        Ok(Self {
            lifetimes,
            written: vec![0; logical_pages as usize],
            ended: vec![(0, 0); logical_pages as usize],
            // A growing table takes up to twice its size, and once more while it moves.
            writes_max: available.map_or(u64::MAX, |bytes| bytes / (3 * WRITE_BYTES)).max(writes),
        })
    }

    /// Page writes so far.
    pub fn writes(&self) -> u64 {
        self.lifetimes.len() as u64
    }

    /// What it saw.
    pub fn finish(self) -> Lifetimes {
        let means = (0..self.written.len()).map(|page| self.mean(page)).collect();
        Lifetimes { all: Arc::new(self.lifetimes), means: Arc::new(means), told: 0 }
    }

    /// The mean lifetime of the versions of a page, the present one counting as half of one.
    fn mean(&self, page: usize) -> u32 {
        let (lived, versions) = self.ended[page];
        let present = match self.written[page] {
            0 => 0,
            written => self.writes() + 1 - written,
        };
        let mean = (lived + present) as f64 / (f64::from(versions) + 0.5);
        mean.round().clamp(1.0, f64::from(u32::MAX)) as u32
    }

    /// Refuses more page writes than memory has room for.
    pub fn check_memory(&self) -> Result<(), FeedError> {
        if self.writes() <= self.writes_max {
            return Ok(());
        }
        Err(too_many(self.writes_max))
    }

    /// Adds the writes and trims of `batch`, the next ones.
    pub fn add(&mut self, batch: &PageBatch) {
        let PageBatch { writes, trims, .. } = batch;
        let mut written = 0;
        for trim in trims {
            let before = trim.after_writes as usize;
            writes[written..before].iter().for_each(|lpn| self.write(*lpn));
            written = before;
            (trim.first.0..trim.first.0 + trim.pages).for_each(|lpn| self.end(Lpn(lpn), 0));
        }
        writes[written..].iter().for_each(|lpn| self.write(*lpn));
    }

    fn write(&mut self, lpn: Lpn) {
        self.lifetimes.push(u32::MAX);
        self.end(lpn, self.writes());
    }

    /// The present version of a page ends, if it has one, and `next` is the number of the one that replaces it.
    fn end(&mut self, lpn: Lpn, next: u64) {
        let ended = std::mem::replace(&mut self.written[lpn.index()], next);
        if ended > 0 {
            let lived = self.writes() - ended;
            self.lifetimes[ended as usize - 1] = u32::try_from(lived).unwrap_or(u32::MAX);
            let (sum, versions) = &mut self.ended[lpn.index()];
            *sum += lived;
            *versions += 1;
        }
    }
}

fn too_many(writes: u64) -> FeedError {
    FeedError::TooManyLifetimes { writes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The naive twin: looks for the end of every write from there on.
    fn naive(operations: &[(bool, u32)]) -> Vec<u32> {
        let writes = operations.iter().enumerate().filter(|(_, (is_trim, _))| !is_trim);
        writes
            .map(|(index, (_, page))| {
                let rest = &operations[index + 1..];
                let end = rest.iter().position(|(_, other)| other == page);
                end.map_or(u32::MAX, |end| {
                    let between = rest[..=end].iter().filter(|(is_trim, _)| !is_trim);
                    between.count() as u32
                })
            })
            .collect()
    }

    /// The pages that are written, in order.
    fn writes_of(operations: &[(bool, u32)]) -> Vec<u32> {
        operations.iter().filter(|(is_trim, _)| !is_trim).map(|(_, page)| *page).collect()
    }

    proptest! {
        #[test]
        fn one_pass_finds_every_end(
            operations in prop::collection::vec((prop::bool::weighted(0.1), 0u32..20), 0..200),
            cut in 0usize..200,
        ) {
            let mut pass = LookAhead::new(20, None).unwrap();
            let mut batches = [PageBatch::default(), PageBatch::default()];
            for (index, (is_trim, page)) in operations.iter().enumerate() {
                let batch = &mut batches[usize::from(index >= cut)];
                if *is_trim { batch.trim(Lpn(*page), 1) } else { batch.writes.push(Lpn(*page)) }
            }
            for batch in &batches {
                pass.add(batch);
            }
            let (writes, lifetimes) = (writes_of(&operations), naive(&operations));
            for page in 0..20 {
                let versions = (0..writes.len()).filter(|&write| writes[write] == page);
                let lived = |write| match lifetimes[write] {
                    u32::MAX => (writes.len() - write) as f64,
                    lifetime => f64::from(lifetime),
                };
                let ends = versions.clone().filter(|&write| lifetimes[write] != u32::MAX).count();
                let mean = versions.map(lived).sum::<f64>() / (ends as f64 + 0.5);
                prop_assert_eq!(pass.mean(page as usize), mean.round().max(1.0) as u32);
            }
            prop_assert_eq!(pass.lifetimes, lifetimes);
        }
    }

    #[test]
    fn lifetimes_are_told_in_order_to_both_feeds() {
        let (all, means) = (Arc::new(vec![1, 2, 3, 4, 5]), Arc::new(vec![9, 8]));
        let all = Lifetimes { all, means, told: 0 };
        let told = |mut from: Lifetimes, writes: usize| {
            let mut batch = PageBatch { writes: vec![Lpn(0); writes], ..PageBatch::default() };
            batch.writes[0] = Lpn(1);
            from.tell(&mut batch);
            batch
                .lifetimes
                .iter()
                .map(|lifetime| (lifetime.this, lifetime.mean))
                .collect::<Vec<_>>()
        };
        assert_eq!(told(all.clone(), 3), [(1, 8), (2, 9), (3, 9)]);
        assert_eq!(told(all.after(3), 2), [(4, 8), (5, 9)]);
    }
}
