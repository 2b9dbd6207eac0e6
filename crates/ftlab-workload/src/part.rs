//! A generator as a part of another one.

use super::sequence::Sequence;
use ftlab_trace::{Op, RequestBatch, TraceError};

/// Requests that are drawn at once.
const AHEAD: usize = 1024;

/// The requests of a sequence, one after the other: each stays where it was drawn, since most are of single pages
/// and to move one costs more than to draw it.
pub(super) struct PartRequests {
    sequence: Sequence,
    ahead: RequestBatch,
    /// Those of `ahead` up to the present one.
    used: usize,
}

impl PartRequests {
    pub(super) fn new(sequence: Sequence) -> Self {
        Self { sequence, ahead: RequestBatch::with_limit(AHEAD), used: 0 }
    }

    /// Goes on to the next request; false at the end.
    #[inline]
    pub(super) fn advance(&mut self, page_sectors: u32) -> Result<bool, TraceError> {
        if self.used == self.ahead.len() && !self.draw(page_sectors)? {
            return Ok(false);
        }
        self.used += 1;
        Ok(true)
    }

    /// Which of those drawn is the present one.
    #[inline]
    fn present(&self) -> usize {
        self.used - 1
    }

    #[cold]
    fn draw(&mut self, page_sectors: u32) -> Result<bool, TraceError> {
        self.ahead.clear();
        self.used = 0;
        self.sequence.next_requests(&mut self.ahead, page_sectors)
    }

    /// Pages that the present request writes, in whole or in part.
    #[inline]
    pub(super) fn written(&self, page_sectors: u32) -> u64 {
        let (ahead, present) = (&self.ahead, self.present());
        let (lba, sectors) = (ahead.lba[present], ahead.sectors[present]);
        if ahead.op[present] != Op::Write || sectors == 0 {
            return 0;
        }
        let page_sectors = u64::from(page_sectors);
        // So are most, and divisions take their time.
        if u64::from(sectors) == page_sectors && lba.is_multiple_of(page_sectors) {
            return 1;
        }
        let last = lba + u64::from(sectors) - 1;
        last / page_sectors - lba / page_sectors + 1
    }

    /// Leaves the first `pages` of the pages of the present request.
    pub(super) fn shorten(&mut self, pages: u64, page_sectors: u32) {
        let present = self.present();
        let (lba, sectors) = (self.ahead.lba[present], &mut self.ahead.sectors[present]);
        let page_sectors = u64::from(page_sectors);
        let left = (lba / page_sectors + pages) * page_sectors - lba;
        *sectors = u64::from(*sectors).min(left) as u32;
    }

    /// Adds the present request to a batch; where others name a stream, it is of stream 0 unless it names one.
    #[inline]
    pub(super) fn push(&self, batch: &mut RequestBatch) {
        let (ahead, present) = (&self.ahead, self.present());
        if !ahead.stream.is_empty() || !batch.stream.is_empty() {
            batch.stream.resize(batch.len(), 0);
            batch.stream.push(ahead.stream.get(present).copied().unwrap_or(0));
        }
        batch.push(ahead.op[present], ahead.lba[present], ahead.sectors[present]);
    }
}

#[cfg(test)]
impl PartRequests {
    /// What the next request asks for, its first sector, its sectors and its stream, 0 if it names none.
    pub(super) fn next(&mut self) -> (Op, u64, u32, u16) {
        assert!(self.advance(8).unwrap(), "it ends");
        let (ahead, present) = (&self.ahead, self.present());
        let stream = ahead.stream.get(present).copied().unwrap_or(0);
        (ahead.op[present], ahead.lba[present], ahead.sectors[present], stream)
    }
}
