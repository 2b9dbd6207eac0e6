//! How many transactions a database does, and how long they take.

use ftlab_host::ResponseTimeRecorder;
use ftlab_trace::Done;

/// Transactions that are complete.
#[derive(Debug, Default)]
pub struct Transactions {
    /// How long they took.
    pub times: ResponseTimeRecorder,
    /// How many.
    pub count: u64,
    /// When the first was complete.
    pub first_ns: Option<u64>,
    /// When the last was complete.
    pub last_ns: u64,
    /// Those of each whole interval.
    pub intervals: Vec<u64>,
    present: u64,
}

impl Transactions {
    /// Adds one.
    pub fn add(&mut self, done: Done) {
        self.times.record(done.done_ns - done.began_ns);
        self.count += 1;
        self.present += 1;
        self.first_ns.get_or_insert(done.done_ns);
        self.last_ns = self.last_ns.max(done.done_ns);
    }

    /// Ends an interval.
    pub fn end_interval(&mut self) {
        self.intervals.push(std::mem::take(&mut self.present));
    }
}
