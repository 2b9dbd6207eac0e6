//! Requests of the host: when they arrive, how many are under way, how long each takes.

use crate::response_times::{Recorder, ResponseTimes};
use crate::timing::{Arrivals, TimingParameters};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a host may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostOp {
    /// To read pages.
    Read,
    /// To write pages.
    Write,
    /// To give up the content of pages.
    Trim,
    /// To make durable what it was told is written.
    Flush,
}

impl HostOp {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
}

/// When a request arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// As the timing says of a closed loop or of random arrivals.
    Next,
    /// At this time of a trace, in microseconds.
    OfTrace(u64),
    /// At this time of the flash's clock, in nanoseconds.
    At(u64),
}

/// What was measured of requests.
#[derive(Debug, Clone, Default)]
pub struct RequestTimes {
    /// Response times of reads, writes, trims and flushes, in the order of [`HostOp::ALL`].
    pub of: [ResponseTimes; 4],
    /// Requests under way, averaged over time.
    pub under_way_mean: f64,
    /// The most that were.
    pub under_way_max: u64,
}

/// The requests of the host, beside the clock.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    arrivals: Arrivals,
    queue_depth: usize,
    poisson: Poisson,
    /// Of the requests under way, when each is complete, and whether it is measured.
    under_way: BinaryHeap<Reverse<(u64, bool)>>,
    present: Present,
    responses: [Recorder; 4],
    queue: Queue,
}

/// The request that is being asked for.
#[derive(Debug, Clone, Copy)]
struct Present {
    op: HostOp,
    arrival: u64,
    done: u64,
}

/// A number over time.
#[derive(Debug, Clone, Default)]
struct Queue {
    now: u64,
    length: u64,
    length_max: u64,
    /// Its integral over time, in nanoseconds.
    integral: u128,
}

impl Queue {
    #[inline]
    fn pass(&mut self, until: u64) {
        self.integral += u128::from(self.length) * u128::from(until - self.now);
        self.now = until;
    }

    #[inline]
    fn join(&mut self) {
        self.length += 1;
        self.length_max = self.length_max.max(self.length);
    }

    #[inline]
    fn leave(&mut self, at: u64) {
        self.pass(at);
        self.length -= 1;
    }
}

/// Arrivals that are independent of each other.
#[derive(Debug, Clone)]
struct Poisson {
    random: Xoshiro256PlusPlus,
    mean_ns: f64,
    /// The last arrival; none before the first.
    last: Option<f64>,
}

impl Poisson {
    /// The next arrival; the first comes some time after `start`.
    fn next(&mut self, start: u64) -> u64 {
        // 53 random bits, in (0, 1].
        let share = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        let next = self.last.unwrap_or(start as f64) - self.mean_ns * share.ln();
        self.last = Some(next);
        next.round() as u64
    }
}

impl Requests {
    pub(super) fn new(parameters: &TimingParameters) -> Self {
        Self {
            arrivals: parameters.arrivals,
            queue_depth: parameters.queue_depth as usize,
            poisson: Poisson {
                random: Xoshiro256PlusPlus::seed_from_u64(parameters.arrivals_seed),
                mean_ns: 1e9 / parameters.rate,
                last: None,
            },
            under_way: BinaryHeap::new(),
            present: Present { op: HostOp::Flush, arrival: 0, done: 0 },
            responses: Default::default(),
            queue: Queue::default(),
        }
    }

    /// When the next request arrives that no trace tells of; not before `now`.
    pub(super) fn next_arrival(&mut self, now: u64) -> u64 {
        let next = match self.arrivals {
            Arrivals::Poisson => self.poisson.next(now),
            Arrivals::Closed | Arrivals::Trace if self.under_way.len() < self.queue_depth => now,
            Arrivals::Closed | Arrivals::Trace => {
                self.under_way.peek().map_or(now, |Reverse((done, _))| *done)
            }
        };
        next.max(now)
    }

    /// A request arrives.
    #[inline]
    pub(super) fn begin(&mut self, op: HostOp, arrival: u64) {
        self.complete_until(arrival);
        self.queue.pass(arrival);
        self.queue.join();
        self.present = Present { op, arrival, done: arrival };
    }

    /// Takes those off that are complete by then.
    #[inline]
    fn complete_until(&mut self, now: u64) {
        while let Some(&Reverse((done, is_measured))) = self.under_way.peek()
            && done <= now
        {
            self.under_way.pop();
            if is_measured {
                self.queue.leave(done);
            }
        }
    }

    /// A page of the present request is complete at this time.
    #[inline]
    pub(super) fn page_done(&mut self, done: u64) {
        self.present.done = self.present.done.max(done);
    }

    /// All of the present request has been asked for: what it was, how long it takes, and when it is complete.
    #[inline]
    pub(super) fn end(&mut self) -> (HostOp, u64, u64) {
        let Present { op, arrival, done } = self.present;
        self.under_way.push(Reverse((done, true)));
        let response = done - arrival;
        self.responses[op as usize].record(response);
        (op, response, done)
    }

    /// Measures from here on.
    pub(super) fn measure(&mut self, now: u64) {
        self.complete_until(now);
        let before = std::mem::take(&mut self.under_way);
        self.under_way =
            before.into_iter().map(|Reverse((done, _))| Reverse((done, false))).collect();
        self.responses = Default::default();
        self.queue = Queue { now, ..Queue::default() };
    }

    /// When the last of the requests is complete, 0 if none is under way.
    pub(super) fn end_ns(&self) -> u64 {
        self.under_way.iter().map(|Reverse((done, _))| *done).max().unwrap_or(0)
    }

    /// What was measured in `elapsed_ns`, to the end of all requests.
    pub(super) fn measured(&self, elapsed_ns: u64) -> RequestTimes {
        let mut to_end = self.clone();
        to_end.complete_until(u64::MAX);
        RequestTimes {
            of: self.responses.each_ref().map(Recorder::times),
            under_way_mean: to_end.queue.integral as f64 / elapsed_ns.max(1) as f64,
            under_way_max: to_end.queue.length_max,
        }
    }
}
