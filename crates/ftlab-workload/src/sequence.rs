//! What a generator makes: a sequence of requests, or of pages.

use ftlab_trace::{Op, RequestBatch, TraceError};

/// A sequence that is ready to be drawn from.
pub(super) type Sequence = Box<dyn PageSequence>;

/// What requests belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// A part of the initial load.
    Load,
    /// What a client asked for, from its first request to its last.
    Transaction,
}

/// What runs one transaction after the other.
pub(crate) trait ByTransaction {
    /// Puts the requests of the next transaction, or part of the load, into `out`, which is empty: any number of
    /// them, reads among them. `None` at the end, with nothing put in.
    fn next_transaction(&mut self, out: &mut RequestBatch) -> Result<Option<Work>, TraceError>;
}

/// A sequence of requests.
pub(crate) trait PageSequence: Send {
    /// Fills `batch`, which is empty, with the next requests. False at the end.
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError>;

    /// The sequence by transactions, if it is made of some.
    fn by_transaction(&mut self) -> Option<&mut dyn ByTransaction> {
        None
    }

    /// What else is worth knowing of this sequence, by name.
    fn properties(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

/// A sequence without end of nothing but writes of single pages.
pub(crate) trait Pages: Send {
    /// Overwrites `pages` with the next page numbers of the sequence.
    fn fill(&mut self, pages: &mut [u64]);
}

impl<P: Pages> PageSequence for P {
    fn next_requests(
        &mut self,
        batch: &mut RequestBatch,
        page_sectors: u32,
    ) -> Result<bool, TraceError> {
        batch.lba.resize(batch.limit(), 0);
        batch.op.resize(batch.limit(), Op::Write);
        batch.sectors.resize(batch.limit(), page_sectors);
        self.fill(&mut batch.lba);
        for lba in &mut batch.lba {
            *lba *= u64::from(page_sectors);
        }
        Ok(true)
    }
}

#[cfg(test)]
impl dyn PageSequence {
    /// The pages that any sequence of single-page writes writes next.
    pub(super) fn fill(&mut self, pages: &mut [u64]) {
        let mut filled = 0;
        while filled < pages.len() {
            let mut batch = RequestBatch::with_limit(pages.len() - filled);
            assert!(self.next_requests(&mut batch, 8).unwrap(), "it ends");
            for (op, lba, sectors) in batch.iter() {
                if op == Op::Write {
                    assert_eq!(sectors, 8);
                    pages[filled] = lba / 8;
                    filled += 1;
                }
            }
        }
    }
}
