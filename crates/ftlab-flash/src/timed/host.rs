//! Who asks for page writes, one by one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A host that waits for page writes, so many at once.
#[derive(Debug, Clone)]
pub(super) struct Host {
    queue_depth: usize,
    speed_up: f64,
    /// Completion times of the latest page writes, `queue_depth` at most.
    under_way: BinaryHeap<Reverse<u64>>,
    /// When page writes that are yet to come arrive.
    coming: VecDeque<u64>,
    /// The time in the trace, in microseconds, of its first request, and ours in nanoseconds.
    origin: Option<(u64, u64)>,
    /// The present: the arrival of the latest page write or request.
    pub(super) now: u64,
    /// True from the arrival of a page write to its program.
    pub(super) is_waiting: bool,
    /// When the latest page write was complete.
    pub(super) done: u64,
    /// The last such time since it was taken.
    pub(super) latest_done: u64,
}

impl Host {
    pub(super) fn new(queue_depth: usize, speed_up: f64) -> Self {
        Self {
            queue_depth,
            speed_up,
            under_way: BinaryHeap::with_capacity(queue_depth + 1),
            coming: VecDeque::new(),
            origin: None,
            now: 0,
            is_waiting: false,
            done: 0,
            latest_done: 0,
        }
    }

    /// Microseconds of a trace as nanoseconds of this clock, where the first one ever asked for is `start`.
    pub(super) fn of_trace(&mut self, time_us: u64, start: u64) -> u64 {
        let (first, start) = *self.origin.get_or_insert((time_us, start));
        start + (time_us.saturating_sub(first) as f64 * 1e3 / self.speed_up).round() as u64
    }

    /// So many of the next page writes arrive at this time.
    pub(super) fn expect(&mut self, arrival: u64, writes: usize) {
        self.coming.extend(std::iter::repeat_n(arrival, writes));
    }

    #[inline]
    pub(super) fn begin(&mut self) {
        let next = self.coming.pop_front().or_else(|| {
            let first = self.under_way.peek().filter(|_| self.under_way.len() == self.queue_depth);
            first.map(|Reverse(done)| *done)
        });
        // The clock of a trace may run back a little.
        self.now = self.now.max(next.unwrap_or(0));
        self.is_waiting = true;
    }

    /// Ends the page write, and returns its response time.
    #[inline]
    pub(super) fn end(&mut self, done: u64) -> u64 {
        self.is_waiting = false;
        self.done = done;
        self.latest_done = self.latest_done.max(done);
        if self.under_way.len() < self.queue_depth {
            self.under_way.push(Reverse(done));
        } else if let Some(mut first) = self.under_way.peek_mut() {
            *first = Reverse(done);
        }
        done - self.now
    }
}
