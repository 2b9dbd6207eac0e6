//! When the host asks for nothing and the chip is at rest.

use crate::arrivals::Arrival;
use crate::page_host::PageHost;
use crate::requests::Requests;
use ftlab_flash::{Chip, NEVER};

impl Requests {
    /// From when on the host asks for nothing and all LUNs are at rest, if that is before the next request arrives and
    /// there may be something to do.
    pub(crate) fn idle_from(
        &mut self,
        chip: &mut Chip,
        pages: &mut PageHost,
        arrival: Arrival,
    ) -> Option<u64> {
        if !self.is_quiet() {
            return None;
        }
        let until = self.arrival(chip.now_ns(), arrival, pages);
        if until == NEVER { None } else { chip.rest_before(until) }
    }
}
