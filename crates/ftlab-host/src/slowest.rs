//! The slowest requests, and what LUNs did around them.

use crate::host_op::HostOp;
use ftlab_flash::{Log, Slice, Waits};

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

    pub(crate) fn requests(&self) -> &[SlowRequest] {
        &self.requests
    }
}
