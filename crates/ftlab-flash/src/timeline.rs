//! What LUNs did around the slowest requests.

use crate::host_op::HostOp;
use crate::waits::Waits;

/// What a LUN did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LunWork {
    /// The host read a page.
    HostRead,
    /// The host wrote a page.
    HostProgram,
    /// The FTL read a page, to move it.
    Read,
    /// The FTL programmed a page that it had read.
    Program,
    /// A block was erased.
    Erase,
}

impl LunWork {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::HostRead, Self::HostProgram, Self::Read, Self::Program, Self::Erase];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::HostRead => "host read",
            Self::HostProgram => "host program",
            Self::Read => "read to move",
            Self::Program => "program of a moved page",
            Self::Erase => "erase",
        }
    }
}

/// What a LUN did without a break; waits for its channel in between are part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slice {
    /// The LUN.
    pub lun: u32,
    /// When it began, in nanoseconds.
    pub begin_ns: u64,
    /// When it was over, or interrupted.
    pub end_ns: u64,
    /// What it was.
    pub work: LunWork,
    /// The page of the drive, or the block that was erased.
    pub page: u32,
    /// The number of the request that asked for it, if one did.
    pub request: Option<u64>,
}

/// A request that took longer than most.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SlowRequest {
    /// Its number, from 0 for the first on this drive.
    pub number: u64,
    /// What it asked for.
    pub op: HostOp,
    /// When it arrived, in nanoseconds.
    pub arrival_ns: u64,
    /// When it was complete.
    pub done_ns: u64,
    /// What it waited for.
    pub waits: Waits,
    /// What the LUNs did from a little before its arrival to its end.
    pub slices: Vec<Slice>,
}

impl SlowRequest {
    /// How long it took.
    pub fn response_ns(&self) -> u64 {
        self.done_ns - self.arrival_ns
    }

    /// When its picture begins: an eighth of its response time before it arrived.
    pub fn begin_ns(&self) -> u64 {
        self.arrival_ns.saturating_sub(self.response_ns() / 8)
    }
}

/// How many slices there are, at least, before old ones are forgotten.
const SLICES_MIN: usize = 1 << 16;

/// What the LUNs did of late, and may be going to do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    slices: Vec<Slice>,
    /// How many there may be before it is worth it to forget some.
    slices_max: usize,
}

impl Log {
    pub(crate) fn add(&mut self, slice: Slice) {
        if slice.begin_ns < slice.end_ns {
            self.slices.push(slice);
        }
    }

    /// Those that overlap this time, in order of LUNs and time.
    pub(crate) fn during(&self, begin_ns: u64, end_ns: u64) -> Vec<Slice> {
        let overlaps = |slice: &&Slice| slice.end_ns > begin_ns && slice.begin_ns < end_ns;
        let mut during: Vec<_> = self.slices.iter().filter(overlaps).copied().collect();
        during.sort_by_key(|slice| (slice.lun, slice.begin_ns));
        during
    }

    /// Whether it is time to forget some.
    pub(crate) fn is_full(&self) -> bool {
        self.slices.len() >= self.slices_max.max(SLICES_MIN)
    }

    /// Forgets what was over by then.
    pub(crate) fn forget(&mut self, before_ns: u64) {
        self.slices.retain(|slice| slice.end_ns > before_ns);
        self.slices_max = 2 * self.slices.len();
    }
}

/// The slowest requests, the slowest first, of several that took equally long the one that was complete first.
/// They get their slices late, before these are forgotten, so that it costs little to be among them for a while.
#[derive(Debug, Clone)]
pub(crate) struct Slowest {
    count: usize,
    requests: Vec<SlowRequest>,
}

impl Slowest {
    pub(crate) fn new(count: usize) -> Self {
        Self { count, requests: Vec::with_capacity(count + 1) }
    }

    /// A request is complete that took so long, and that `request` describes, without slices.
    #[inline]
    pub(crate) fn offer(&mut self, response_ns: u64, request: impl FnOnce() -> SlowRequest) {
        let last = self.requests.get(self.count - 1);
        if last.is_some_and(|last| response_ns <= last.response_ns()) {
            return;
        }
        let place = self.requests.partition_point(|of| of.response_ns() >= response_ns);
        self.requests.insert(place, request());
        self.requests.truncate(self.count);
    }

    /// Gives those their slices that have none.
    pub(crate) fn settle(&mut self, log: &Log) {
        for request in self.requests.iter_mut().filter(|request| request.slices.is_empty()) {
            request.slices = log.during(request.begin_ns(), request.done_ns);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.requests.clear();
    }

    /// All of them.
    pub(crate) fn requests(&self) -> &[SlowRequest] {
        &self.requests
    }
}
