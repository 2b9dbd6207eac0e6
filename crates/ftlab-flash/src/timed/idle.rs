//! Work of the FTL while the host asks for nothing.

use super::arrivals::Arrival;
use super::requests::Requests;
use crate::timers::NEVER;

/// Whether there is such work.
#[derive(Debug, Clone, Copy)]
pub(super) struct Idle {
    /// Whether there ever is.
    works: bool,
    /// Whether there is none before the next request.
    rests: bool,
}

impl Idle {
    pub(super) fn new(works: bool) -> Self {
        Self { works, rests: false }
    }

    /// Whether there may be some at present.
    #[inline]
    pub(super) fn may_work(self) -> bool {
        self.works && !self.rests
    }

    /// There is nothing to do before the next request.
    pub(super) fn rest(&mut self) {
        self.rests = true;
    }

    /// A request has arrived.
    #[inline]
    pub(super) fn wake(&mut self) {
        self.rests = false;
    }
}

impl Requests {
    /// From when on the host asks for nothing and all LUNs are at rest, if that is before the next request arrives and
    /// there may be something to do; LUNs that do what they were asked for first are so at `luns_end`.
    pub(super) fn idle_from(
        &mut self,
        now: u64,
        arrival: Arrival,
        luns_end: u64,
        of_trace: impl FnOnce(u64, u64) -> u64,
    ) -> Option<u64> {
        if !self.is_quiet() {
            return None;
        }
        let until = self.arrival(now, arrival, of_trace);
        if until == NEVER {
            return None;
        }
        let mut rest = now.max(luns_end);
        if let Some(schedule) = &mut self.schedule {
            while schedule.pending() > 0 {
                let next = schedule.next_event();
                if next >= until {
                    return None;
                }
                // Nobody waits for any of it.
                schedule.advance(next);
            }
            rest = now.max(schedule.now());
            schedule.advance(rest);
        }
        (rest < until).then_some(rest)
    }
}
