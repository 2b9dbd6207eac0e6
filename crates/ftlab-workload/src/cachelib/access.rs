//! Requests for objects, and where they come from.

use ftlab_trace::TraceError;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ask {
    /// To read an object; whoever misses it computes it and sets it.
    Get,
    /// To write it.
    Set,
    /// To forget it.
    Delete,
}

/// One request for an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Access {
    /// The object: a hash, all bits of which are used.
    pub(super) key: u64,
    /// Bytes of key and value; 0 where a trace does not say.
    pub(super) bytes: u32,
    pub(super) ask: Ask,
}

/// A sequence of requests for objects.
pub(super) trait Accesses: Send {
    /// Fills `out`, which is empty, to its capacity at most. False at the end, with nothing put in.
    fn next(&mut self, out: &mut Vec<Access>) -> Result<bool, TraceError>;
}
