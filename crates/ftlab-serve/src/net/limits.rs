//! What one client may take, and all of them together.

use std::time::Duration;

/// A client that has been this long in the middle of a request or reply makes way for others.
pub(super) const STALLED: Duration = Duration::from_secs(1);

/// What one client may take, and all of them together.
///
/// A connection takes about a megabyte at most: large reads and writes go through it in pieces, and
/// a piece has to be received or sent within a time. Data that wait for the rest of their request take
/// memory that all clients share. Between requests a client may be silent for as long as it likes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Clients at a time. Who has not finished the handshake, is stalled or idle makes way for a new
    /// one.
    pub connections: usize,
    /// Time for the handshake.
    pub handshake: Duration,
    /// Time to send a request, or a piece of its data.
    pub request: Duration,
    /// Time to receive a reply, or a piece of it.
    pub reply: Duration,
    /// Bytes of delayed replies, of all clients (`--emulate-latency`).
    pub delayed_bytes: usize,
    /// Bytes of data that wait for the rest of their request, of all clients. When that is not enough, who
    /// has held some of it for a second is disconnected, and others wait.
    pub incomplete_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            handshake: Duration::from_secs(10),
            request: Duration::from_secs(30),
            reply: Duration::from_secs(30),
            delayed_bytes: 64 << 20,
            incomplete_bytes: 128 << 20,
        }
    }
}
