//! Generators whose requests come in groups: transactions, flushes, compactions.

use super::sequence::{ByTransaction, PageSequence};
use ftlab_trace::{RequestBatch, TraceError};

/// What happens, one thing after the other, and the requests that come of it.
pub(super) trait Steps: Send {
    /// Puts the requests of what happens next into `out`, which is empty: any number of them, but not
    /// none for ever. All of them have a stream, or none. False at the end, with nothing put in.
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError>;

    /// The steps by transactions, if they are made of some.
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
    waiting: RequestBatch,
    used: usize,
}

impl<S: Steps> Stepped<S> {
    pub(super) fn new(steps: S) -> Self {
        Self { steps, waiting: RequestBatch::new(), used: 0 }
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
}

impl<S: Steps> PageSequence for Stepped<S> {
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
    use ftlab_trace::Op;

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
        let mut sequence = Stepped::new(Three(0));
        let mut batch = RequestBatch::with_limit(2);
        assert!(sequence.next_requests(&mut batch, 8).unwrap() && batch.len() == 2);
        batch.clear();
        assert!(sequence.next_requests(&mut batch, 8).unwrap());
        assert_eq!(batch.iter().collect::<Vec<_>>(), [(Op::Flush, 0, 0), (Op::Write, 7, 2)]);
        batch.clear();
        assert!(!sequence.next_requests(&mut batch, 8).unwrap());
    }
}
