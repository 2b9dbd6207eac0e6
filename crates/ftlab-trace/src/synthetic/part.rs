//! A generator as a part of another one.

use super::generator::Sequence;
use crate::{Op, RequestBatch, TraceError};

/// Requests that are drawn at once.
const AHEAD: usize = 1024;

/// The requests of a sequence, one after the other.
pub(super) struct PartRequests {
    sequence: Sequence,
    ahead: RequestBatch,
    used: usize,
}

/// A request of a part.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartRequest {
    op: Op,
    lba: u64,
    sectors: u32,
    /// The stream that it names, if it names one.
    stream: Option<u16>,
}

impl PartRequests {
    pub(super) fn new(sequence: Sequence) -> Self {
        Self { sequence, ahead: RequestBatch::with_limit(AHEAD), used: 0 }
    }

    /// The next request; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self, page_sectors: u32) -> Result<Option<PartRequest>, TraceError> {
        if self.used == self.ahead.len() {
            self.ahead.clear();
            self.used = 0;
            if !self.sequence.next_requests(&mut self.ahead, page_sectors)? {
                return Ok(None);
            }
        }
        let Self { ahead, used, .. } = self;
        let request = PartRequest {
            op: ahead.op[*used],
            lba: ahead.lba[*used],
            sectors: ahead.sectors[*used],
            stream: ahead.stream.get(*used).copied(),
        };
        *used += 1;
        Ok(Some(request))
    }
}

impl PartRequest {
    /// Pages that it writes, in whole or in part.
    #[inline]
    pub(super) fn written(self, page_sectors: u32) -> u64 {
        if self.op != Op::Write || self.sectors == 0 {
            return 0;
        }
        // So are most, and divisions take their time.
        if self.sectors == page_sectors && self.lba.is_multiple_of(u64::from(page_sectors)) {
            return 1;
        }
        let page_sectors = u64::from(page_sectors);
        let last = self.lba + u64::from(self.sectors) - 1;
        last / page_sectors - self.lba / page_sectors + 1
    }

    /// What it writes to the first `pages` of its pages.
    pub(super) fn up_to(self, pages: u64, page_sectors: u32) -> Self {
        let page_sectors = u64::from(page_sectors);
        let sectors = (self.lba / page_sectors + pages) * page_sectors - self.lba;
        Self { sectors: u64::from(self.sectors).min(sectors) as u32, ..self }
    }

    /// Adds it to a batch; where others name a stream, it is of stream 0 unless it names one.
    #[inline]
    pub(super) fn push(self, batch: &mut RequestBatch) {
        if self.stream.is_some() {
            batch.stream.resize(batch.len(), 0);
        }
        if self.stream.is_some() || !batch.stream.is_empty() {
            batch.stream.push(self.stream.unwrap_or(0));
        }
        batch.push(self.op, self.lba, self.sectors);
    }
}

#[cfg(test)]
impl PartRequest {
    pub(super) fn op(self) -> Op {
        self.op
    }

    /// Whether it asks for the same, in the same stream if both name one.
    pub(super) fn is_same(self, other: Self) -> bool {
        let parts = |it: Self| (it.op, it.lba, it.sectors, it.stream.unwrap_or(0));
        parts(self) == parts(other)
    }
}
