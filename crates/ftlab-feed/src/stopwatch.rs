//! CPU time, which other load on the machine hardly affects.

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// Time that was spent on something.
#[derive(Debug, Clone, Copy, Default)]
pub struct Spent {
    /// Of processors.
    pub processor: Duration,
    /// By the clock on the wall.
    pub wall: Duration,
}

impl Spent {
    /// Adds the time that `work` takes on this thread.
    pub fn on<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let (processor, wall) = (processor_time(), Instant::now());
        let result = work();
        self.wall += wall.elapsed();
        self.processor += processor_time().saturating_sub(processor);
        result
    }

    /// Processor seconds of a part of it that took `wall` by the clock.
    pub fn processor_seconds_of(&self, wall: Duration) -> f64 {
        let share = wall.as_secs_f64() / self.wall.as_secs_f64();
        if share.is_finite() { self.processor.as_secs_f64() * share.min(1.0) } else { 0.0 }
    }
}

/// What this thread has had of a processor so far.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_takes_time_by_the_clock_only() {
        let mut spent = Spent::default();
        spent.on(|| std::thread::sleep(Duration::from_millis(20)));
        assert!(spent.wall >= Duration::from_millis(20));
        assert!(spent.processor < Duration::from_millis(15));
        let part = spent.processor_seconds_of(spent.wall / 2);
        assert!((part - spent.processor.as_secs_f64() / 2.0).abs() < 1e-6);
        assert!(Spent::default().processor_seconds_of(Duration::ZERO) < 1e-12);
    }
}
