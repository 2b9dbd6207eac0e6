//! What is measured.

use super::requests::RequestTimes;
use crate::cause::Cause;
use crate::occupied::Occupied;
use crate::response_times::ResponseTimes;

/// What has been measured since [`Timed::measure`](crate::Timed::measure).
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Host page writes.
    pub host_writes: u64,
    /// Of host page writes; of write requests, if the host waits for requests.
    pub response_times: ResponseTimes,
    /// Of requests, if the host waits for requests.
    pub requests: Option<RequestTimes>,
    /// From the end of the last operation before to that of the last one, in nanoseconds.
    pub elapsed_ns: u64,
    /// From the end of the last operation before to the arrival of the last page write, in nanoseconds: in
    /// an open loop, the time by which the host has asked for all that was done.
    pub arrived_ns: u64,
    /// How occupied LUNs and channels were, and how long operations waited for LUNs.
    pub occupied: Occupied,
    /// LUN time of host programs, in nanoseconds.
    pub host_writes_ns: u64,
    /// LUN time of host reads.
    pub host_reads_ns: u64,
    /// LUN time of copybacks by collections.
    pub relocations_ns: u64,
    /// LUN time of copybacks by merges; the erases of merges are among the erases.
    pub merges_ns: u64,
    /// LUN time of erases.
    pub erases_ns: u64,
    /// LUN time of reads by the FTL, and of programs that no host write asked for.
    pub others_ns: u64,
    pub(super) start: u64,
    pub(super) occupied_before: Occupied,
}

impl Measured {
    /// LUN time of copies for this cause.
    #[inline]
    pub(super) fn copies_ns(&mut self, cause: Cause) -> &mut u64 {
        match cause {
            Cause::Merge => &mut self.merges_ns,
            _ => &mut self.relocations_ns,
        }
    }
}
