//! Generators whose requests come in groups: transactions, flushes, compactions.

use super::generator::{ByTransaction, PageSequence};
use crate::pages::SECTOR_BYTES;
use crate::{Op, RequestBatch, TraceError};

/// What happens, one thing after the other, and the requests that come of it.
pub(super) trait Steps: Send {
    /// Puts the requests of what happens next into `out`, which is empty: any number of them, but not
    /// none for ever. All of them have a stream, or none. False at the end, with nothing put in.
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError>;

    /// The same by transactions, if it is made of some.
    fn by_transaction(&mut self) -> Option<&mut dyn ByTransaction> {
        None
    }

    /// What is worth knowing of it, by name.
    fn properties(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// Steps as a sequence, cut where a batch is full.
pub(super) struct Stepped<S> {
    steps: S,
    page_sectors: u32,
    waiting: RequestBatch,
    used: usize,
    /// Pages of the request at `used` that [`PageSequence::fill`] has taken.
    pages_used: u64,
}

impl<S: Steps> Stepped<S> {
    /// `page_bytes` is that of the drive.
    pub(super) fn new(steps: S, page_bytes: u32) -> Self {
        let page_sectors = page_bytes / SECTOR_BYTES as u32;
        Self { steps, page_sectors, waiting: RequestBatch::new(), used: 0, pages_used: 0 }
    }

    /// What the requests come of.
    pub(super) fn steps_mut(&mut self) -> &mut S {
        &mut self.steps
    }

    /// Makes sure that a request waits; false at the end.
    fn refill(&mut self) -> Result<bool, TraceError> {
        while self.used == self.waiting.len() {
            self.waiting.clear();
            self.used = 0;
            if !self.steps.step(&mut self.waiting)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next page that is written; `None` at the end.
    fn next_page(&mut self) -> Result<Option<u64>, TraceError> {
        let page_sectors = u64::from(self.page_sectors);
        while self.refill()? {
            let (op, lba) = (self.waiting.op[self.used], self.waiting.lba[self.used]);
            let end = lba + u64::from(self.waiting.sectors[self.used]);
            let page = lba / page_sectors + self.pages_used;
            if op == Op::Write && page * page_sectors < end {
                self.pages_used += 1;
                return Ok(Some(page));
            }
            self.used += 1;
            self.pages_used = 0;
        }
        Ok(None)
    }
}

impl<S: Steps> PageSequence for Stepped<S> {
    fn fill(&mut self, pages: &mut [u64]) {
        for page in pages {
            *page = match self.next_page() {
                Ok(page) => page.expect("what ends is not asked for pages without end"),
                Err(error) => panic!("{error}"),
            };
        }
    }

    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        _page_sectors: u32,
    ) -> Result<bool, TraceError> {
        while !batch.is_full() && self.refill()? {
            let room = batch.limit() - batch.len();
            let end = self.waiting.len().min(self.used + room);
            let taken = self.used..end;
            batch.op.extend_from_slice(&self.waiting.op[taken.clone()]);
            batch.lba.extend_from_slice(&self.waiting.lba[taken.clone()]);
            batch.sectors.extend_from_slice(&self.waiting.sectors[taken.clone()]);
            if !self.waiting.stream.is_empty() {
                batch.stream.extend_from_slice(&self.waiting.stream[taken]);
            }
            self.used = end;
        }
        Ok(!batch.is_empty())
    }

    fn by_transaction(&mut self) -> Option<&mut dyn ByTransaction> {
        self.steps.by_transaction()
    }

    fn properties(&self) -> Vec<(&'static str, String)> {
        self.steps.properties()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three steps, the middle one without requests.
    struct Three(u32);

    impl Steps for Three {
        fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
            self.0 += 1;
            match self.0 {
                1 => {
                    out.push(Op::Write, 16, 20);
                    out.push(Op::Trim, 0, 8);
                    out.push(Op::Flush, 0, 0);
                }
                3 => out.push(Op::Write, 7, 2),
                _ => {}
            }
            Ok(self.0 <= 3)
        }
    }

    #[test]
    fn steps_are_cut_where_a_batch_is_full() {
        let mut sequence = Stepped::new(Three(0), 4096);
        let mut batch = RequestBatch::with_limit(2);
        assert!(sequence.next_requests(&mut batch, 8).unwrap() && batch.len() == 2);
        batch.clear();
        assert!(sequence.next_requests(&mut batch, 8).unwrap());
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Flush, 0, 0), (Op::Write, 7, 2)]);
        batch.clear();
        assert!(!sequence.next_requests(&mut batch, 8).unwrap());
    }

    #[test]
    fn pages_are_those_that_the_writes_touch() {
        let mut sequence = Stepped::new(Three(0), 4096);
        let pages: Vec<_> = std::iter::from_fn(|| sequence.next_page().unwrap()).collect();
        assert_eq!(pages, [2, 3, 4, 0, 1]);
    }
}
