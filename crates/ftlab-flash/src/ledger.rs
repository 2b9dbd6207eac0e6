//! What accounts of LUNs tell, whatever decides what a LUN does next.

use crate::timeline::Log;
use crate::waits::Waits;

/// For whom the host asks, what that waited for, and what LUNs do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    /// For which request the host asks from here on.
    pub(crate) request: Option<u64>,
    /// What the last operation of the host waited for: the last that was asked for, or that was complete.
    pub(crate) latest: Waits,
    /// What LUNs do, if somebody wants to know.
    pub(crate) log: Option<Log>,
}

impl Ledger {
    /// With a log, or without.
    pub(crate) fn new(keeps_log: bool) -> Self {
        Self { log: keeps_log.then(Log::default), ..Self::default() }
    }
}
