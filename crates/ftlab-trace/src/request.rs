//! Requests, and batches of them.

/// What a request asks of the drive.
#[repr(u8)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// Data is written.
    Write = 0,
    /// The drive may forget the data: discard, TRIM, deallocate, write-zeroes.
    Trim = 1,
    /// All earlier writes must be durable. Has no address.
    Flush = 2,
    /// Data is read.
    Read = 3,
}

impl Op {
    /// Every operation, in order of its number.
    pub const ALL: [Op; 4] = [Op::Write, Op::Trim, Op::Flush, Op::Read];

    /// The operation with this number in the native format; `None` where there is none.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// `write`, `trim`, `flush` or `read`.
    pub fn name(self) -> &'static str {
        ["write", "trim", "flush", "read"][self as usize]
    }
}

/// Sectors of a write or read at most: 2 GiB, more than Linux lets a system call transfer. A longer
/// one is a sign of damage, and simulating it page by page would only take time and memory.
pub const DATA_SECTORS_MAX: u32 = 1 << 22;

/// Requests that a source puts in one batch, unless the batch says otherwise.
pub const BATCH_REQUESTS: usize = 8192;

/// A batch of requests as a structure of arrays, filled again and again.
///
/// `op`, `lba` and `sectors` have one element per request. `time_us` has too, or is empty where the
/// source has no clock (or [`need_time`](crate::OpenOptions::need_time) is off); likewise `stream`
/// and `volume`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestBatch {
    /// Microseconds, from a start that the source chooses.
    pub time_us: Vec<u64>,
    /// What is asked.
    pub op: Vec<Op>,
    /// First 512-byte sector.
    pub lba: Vec<u64>,
    /// Length in 512-byte sectors.
    pub sectors: Vec<u32>,
    /// The stream (write hint) that the host names.
    pub stream: Vec<u16>,
    /// The volume that the request belongs to.
    pub volume: Vec<u32>,
    limit: usize,
}

impl Default for RequestBatch {
    fn default() -> Self {
        Self::with_limit(BATCH_REQUESTS)
    }
}

impl RequestBatch {
    /// An empty batch that sources fill with about [`BATCH_REQUESTS`] requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty batch that sources stop filling at `limit` requests (at least 1). A source may go
    /// past it where one line of a trace stands for several requests.
    pub fn with_limit(limit: usize) -> Self {
        Self {
            time_us: Vec::new(),
            op: Vec::new(),
            lba: Vec::new(),
            sectors: Vec::new(),
            stream: Vec::new(),
            volume: Vec::new(),
            limit: limit.max(1),
        }
    }

    /// How many requests a source should put in.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// From here on sources stop filling it at `limit` requests (at least 1).
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit.max(1);
    }

    /// Requests in the batch.
    pub fn len(&self) -> usize {
        self.op.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.op.is_empty()
    }

    /// Whether a source should stop here.
    pub fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    /// Drops every request and keeps the memory.
    pub fn clear(&mut self) {
        self.time_us.clear();
        self.op.clear();
        self.lba.clear();
        self.sectors.clear();
        self.stream.clear();
        self.volume.clear();
    }

    /// Keeps the first `requests` requests.
    pub fn truncate(&mut self, requests: usize) {
        self.time_us.truncate(requests);
        self.op.truncate(requests);
        self.lba.truncate(requests);
        self.sectors.truncate(requests);
        self.stream.truncate(requests);
        self.volume.truncate(requests);
    }

    /// Keeps the requests whose entry in `kept`, which has one for each, is true.
    pub fn retain(&mut self, kept: &[bool]) {
        fn sift<T>(column: &mut Vec<T>, kept: &[bool]) {
            let mut kept = kept.iter();
            column.retain(|_| kept.next().is_some_and(|kept| *kept));
        }
        sift(&mut self.time_us, kept);
        sift(&mut self.op, kept);
        sift(&mut self.lba, kept);
        sift(&mut self.sectors, kept);
        sift(&mut self.stream, kept);
        sift(&mut self.volume, kept);
    }

    /// Adds a request without time, stream or volume.
    #[inline]
    pub fn push(&mut self, op: Op, lba: u64, sectors: u32) {
        self.op.push(op);
        self.lba.push(lba);
        self.sectors.push(sectors);
    }

    /// Adds requests of one kind and length, at each of `lbas`, without time, stream or volume.
    pub fn extend(&mut self, op: Op, lbas: impl Iterator<Item = u64>, sectors: u32) {
        self.lba.extend(lbas);
        self.op.resize(self.lba.len(), op);
        self.sectors.resize(self.lba.len(), sectors);
    }

    /// Adds a request with its time.
    #[inline]
    pub fn push_at(&mut self, time_us: u64, op: Op, lba: u64, sectors: u32) {
        self.time_us.push(time_us);
        self.push(op, lba, sectors);
    }

    /// Every request as (operation, first sector, sectors).
    pub fn iter(&self) -> impl Iterator<Item = (Op, u64, u32)> + '_ {
        self.op
            .iter()
            .zip(&self.lba)
            .zip(&self.sectors)
            .map(|((op, lba), sectors)| (*op, *lba, *sectors))
    }

    /// Whether a request from `index` on is a write or read of more than [`DATA_SECTORS_MAX`].
    #[inline]
    pub(crate) fn is_overlong_from(&self, index: usize) -> bool {
        let requests = self.op[index..].iter().zip(&self.sectors[index..]);
        requests
            .into_iter()
            .any(|(op, sectors)| *sectors > DATA_SECTORS_MAX && matches!(op, Op::Write | Op::Read))
    }

    /// Adds every request of `other`, with whatever columns that has.
    pub fn extend_from(&mut self, other: &Self) {
        self.time_us.extend_from_slice(&other.time_us);
        self.op.extend_from_slice(&other.op);
        self.lba.extend_from_slice(&other.lba);
        self.sectors.extend_from_slice(&other.sectors);
        self.stream.extend_from_slice(&other.stream);
        self.volume.extend_from_slice(&other.volume);
    }

    /// Adds the request at `index` of `other`, with whatever columns that has.
    pub fn push_from(&mut self, other: &Self, index: usize) {
        self.push(other.op[index], other.lba[index], other.sectors[index]);
        if let Some(time_us) = other.time_us.get(index) {
            self.time_us.push(*time_us);
        }
        if let Some(stream) = other.stream.get(index) {
            self.stream.push(*stream);
        }
        if let Some(volume) = other.volume.get(index) {
            self.volume.push(*volume);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_go_both_ways() {
        for (code, op) in Op::ALL.into_iter().enumerate() {
            assert_eq!((op as usize, Op::from_code(code as u8)), (code, Some(op)));
        }
        assert_eq!(Op::from_code(4), None);
        assert_eq!(Op::ALL.map(Op::name), ["write", "trim", "flush", "read"]);
    }

    #[test]
    fn a_copied_request_brings_only_the_columns_there_are() {
        let mut from = RequestBatch::new();
        from.push_at(7, Op::Trim, 8, 16);
        from.volume.push(3);
        let mut to = RequestBatch::with_limit(1);
        to.push_from(&from, 0);
        assert!(to.is_full() && to.stream.is_empty());
        assert_eq!(to.iter().collect::<Vec<_>>(), [(Op::Trim, 8, 16)]);
        assert_eq!((to.time_us, to.volume), (vec![7], vec![3]));
    }
}
