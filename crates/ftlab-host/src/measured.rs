//! What is measured.

use crate::requests::RequestTimes;
use crate::response_times::ResponseTimes;
use ftlab_flash::{Occupied, Work};

/// What has been measured since [`Host::measure`](crate::Host::measure).
#[derive(Debug, Clone, Default)]
pub struct Measured {
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
    /// Host page writes, and what LUNs did.
    pub work: Work,
}

/// The drive as it was when something began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Before {
    pub(crate) now_ns: u64,
    pub(crate) work: Work,
    pub(crate) occupied: Occupied,
}
