//! What a cache saves when it restarts: indexes and filters.

use ftlab_trace::{Op, RequestBatch};

/// Sectors of a request: 1 MiB.
const REQUEST_SECTORS: u64 = 1 << 11;

/// An area that is written, in sequence, whenever the cache has been written so often.
pub(super) struct Metadata {
    pub(super) first_sector: u64,
    pub(super) sectors: u64,
    /// Sectors that the cache writes between restarts; 0 for never.
    pub(super) interval_sectors: u64,
    /// Sectors that it has written since the last one.
    pub(super) written_sectors: u64,
    /// The stream of its writes.
    pub(super) stream: Option<u16>,
}

impl Metadata {
    /// Counts what is in `out` from request `first` on, and adds the writes of a restart if one is due.
    #[inline]
    pub(super) fn follow(&mut self, first: usize, out: &mut RequestBatch) {
        if self.interval_sectors == 0 {
            return;
        }
        let written = out.op[first..].iter().zip(&out.sectors[first..]);
        self.written_sectors += written
            .filter(|(op, _)| **op == Op::Write)
            .map(|(_, sectors)| u64::from(*sectors))
            .sum::<u64>();
        if self.written_sectors < self.interval_sectors {
            return;
        }
        self.written_sectors -= self.interval_sectors;
        for start in (0..self.sectors).step_by(REQUEST_SECTORS as usize) {
            let length = REQUEST_SECTORS.min(self.sectors - start);
            out.push(Op::Write, self.first_sector + start, length as u32);
            out.stream.extend(self.stream);
        }
    }
}
