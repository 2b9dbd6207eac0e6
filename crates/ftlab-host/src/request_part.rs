//! What a host asks for.

use crate::arrivals::Arrival;
use crate::groups::Asker;
use crate::host_op::HostOp;
use ftlab_flash::Lpn;

/// Consecutive pages of a request: all of it, or a part.
#[derive(Debug, Clone, Copy)]
pub struct RequestPart {
    /// What the host asks for.
    pub op: HostOp,
    /// The first page; a write takes the pages that are next in its batch.
    pub first: Lpn,
    /// How many pages; a flush has none.
    pub pages: u32,
    /// Sectors of 512 bytes of these pages that the host does not ask for.
    pub lacking: u32,
    /// When the request arrives.
    pub arrival: Arrival,
    /// Who asks, and for which stream.
    pub asker: Asker,
    /// Whether this is its first part.
    pub begins: bool,
    /// Whether this is its last.
    pub ends: bool,
}

impl RequestPart {
    pub(crate) fn lpns(&self) -> impl Iterator<Item = Lpn> + use<> {
        (self.first.0..self.first.0 + self.pages).map(Lpn)
    }
}
