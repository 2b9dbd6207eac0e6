//! CPU time, which other load on the machine hardly affects.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Measures the CPU time of this thread.
pub(crate) struct Stopwatch(Duration);

fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self(now())
    }

    /// Time since the start.
    pub(crate) fn elapsed(&self) -> Duration {
        now().saturating_sub(self.0)
    }
}
