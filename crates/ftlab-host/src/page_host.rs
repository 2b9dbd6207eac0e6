//! A host that waits for page writes, one by one.

use crate::interval::Interval;
use crate::response_times::ResponseTimes;
use crate::responses::Responses;
use crate::timing::Timing;
use ftlab_flash::Pace;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A host that waits for page writes, a limited number at once, until it asks for [requests](crate::Host) instead.
#[derive(Debug, Clone)]
pub struct PageHost {
    queue_depth: usize,
    speed_up: f64,
    /// Completion times of the latest page writes, `queue_depth` at most.
    under_way: BinaryHeap<Reverse<u64>>,
    /// When page writes that are yet to come arrive.
    coming: VecDeque<u64>,
    /// The time in the trace, in microseconds, of its first request, and ours in nanoseconds.
    origin: Option<(u64, u64)>,
    responses: Responses,
    /// Whether it asks for requests, which have times of their own.
    has_requests: bool,
}

impl PageHost {
    /// A host that asks as this timing says.
    pub fn new(timing: &Timing) -> Self {
        let queue_depth = timing.queue_depth() as usize;
        Self {
            queue_depth,
            speed_up: timing.parameters().speed_up,
            under_way: BinaryHeap::with_capacity(queue_depth + 1),
            coming: VecDeque::new(),
            origin: None,
            responses: Responses::default(),
            has_requests: false,
        }
    }

    /// Microseconds of a trace as nanoseconds of the clock, where the first one ever asked for is `start`.
    pub(crate) fn of_trace(&mut self, time_us: u64, start: u64) -> u64 {
        let (first, start) = *self.origin.get_or_insert((time_us, start));
        start + (time_us.saturating_sub(first) as f64 * 1e3 / self.speed_up).round() as u64
    }

    /// The next page writes arrive at these times of a trace, in microseconds; the first one ever given, at `start`.
    pub fn expect(&mut self, times_us: &[u64], start: u64) {
        for &time_us in times_us {
            let arrival = self.of_trace(time_us, start);
            self.expect_at(arrival, 1);
        }
    }

    /// The next `writes` page writes arrive at this time, in nanoseconds, whatever the timing says.
    pub fn expect_at(&mut self, arrival_ns: u64, writes: usize) {
        self.coming.extend(std::iter::repeat_n(arrival_ns, writes));
    }

    /// It asks for requests from here on.
    pub(crate) fn begin_requests(&mut self) {
        self.has_requests = true;
    }

    /// Measures from here on.
    pub(crate) fn measure(&mut self) {
        self.responses = Responses::default();
    }

    /// All response times since then.
    pub(crate) fn times(&self) -> ResponseTimes {
        self.responses.times()
    }

    /// Adds response times to an interval that ends.
    pub(crate) fn end_interval(&mut self, interval: &mut Interval) {
        self.responses.end_interval(interval);
    }
}

impl Pace for PageHost {
    /// As expected; or when one of those before is complete, if as many are under way as may be. The clock of a trace may
    /// run back a little.
    #[expect(clippy::inline_always, reason = "called for each page that is written")]
    #[inline(always)]
    fn next(&mut self) -> u64 {
        if self.has_requests {
            return 0;
        }
        let next = self.coming.pop_front().or_else(|| {
            let first = self.under_way.peek().filter(|_| self.under_way.len() == self.queue_depth);
            first.map(|Reverse(done)| *done)
        });
        next.unwrap_or(0)
    }

    #[expect(clippy::inline_always, reason = "called for each page that is written")]
    #[inline(always)]
    fn written(&mut self, arrival_ns: u64, done_ns: u64) {
        if self.has_requests {
            return;
        }
        if self.under_way.len() < self.queue_depth {
            self.under_way.push(Reverse(done_ns));
        } else if let Some(mut first) = self.under_way.peek_mut() {
            *first = Reverse(done_ns);
        }
        self.responses.record(done_ns - arrival_ns);
    }
}
