//! When the host asks for nothing and the flash is at rest.

use super::arrivals::Arrival;
use super::requests::Requests;
use crate::timers::NEVER;

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
