//! When requests arrive.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// When a request arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// As the timing says of a closed loop or of random arrivals.
    Next,
    /// At this time of a trace, in microseconds.
    OfTrace(u64),
    /// At this time of the flash's clock, in nanoseconds.
    At(u64),
    /// At this time of the flash's clock, of a host that wants to know when its request is complete.
    Of {
        /// Its number.
        host: u32,
        /// When, in nanoseconds.
        time_ns: u64,
        /// For how long it waited before, in the queue of its tenant.
        queued_ns: u64,
    },
}

/// Arrivals of bursts that are independent of each other.
#[derive(Debug, Clone)]
pub(crate) struct Poisson {
    random: Xoshiro256PlusPlus,
    /// Between bursts.
    mean_ns: f64,
    /// Requests of a burst, and those of the present one that are left.
    burst: u32,
    left: u32,
    /// The last arrival; none before the first.
    last: Option<f64>,
}

impl Poisson {
    /// `rate` requests a second, in bursts of `burst`.
    pub(crate) fn new(rate: f64, burst: u32, seed: u64) -> Self {
        let mean_ns = f64::from(burst) * 1e9 / rate;
        let random = Xoshiro256PlusPlus::seed_from_u64(seed);
        Self { random, mean_ns, burst, left: 0, last: None }
    }

    /// The next arrival; the first comes some time after `start`.
    pub(crate) fn next(&mut self, start: u64) -> u64 {
        if self.left > 0 {
            self.left -= 1;
            return self.last.map_or(start, |last| last.round() as u64);
        }
        self.left = self.burst - 1;
        // 53 random bits, in (0, 1].
        let share = ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        let next = self.last.unwrap_or(start as f64) - self.mean_ns * share.ln();
        self.last = Some(next);
        next.round() as u64
    }
}
