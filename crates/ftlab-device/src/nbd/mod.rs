//! A server of the NBD protocol (network block device), for fio, qemu, libnbd and anything that
//! speaks it: `ftlab drive serve FILE --nbd SOCKET`.
//!
//! [`Session`] is the protocol: bytes in, bytes out, and no sockets, so that tests and fuzzers can
//! drive it. [`Server`] listens and gives each connection a thread, which reads as much as has come,
//! has the session deal with all of it, and sends the replies together. Data goes from the memory
//! that was received into the store, and from the store into the memory that is sent: the system's
//! copies are the only ones. Requests of one connection are carried out in their order; a client that
//! wants more at once opens several connections.
//!
//! What is spoken: the fixed newstyle handshake with one export, structured replies, flush, FUA, trim
//! and write-zeroes, of any offset and length. For TLS put a proxy in front (`nbdkit nbd`).

mod address;
mod connection;
mod handshake;
mod replies;
mod request;
mod server;
mod session;
#[cfg(test)]
mod tests;
mod transmission;
mod wire;

pub use address::Address;
pub use replies::Replies;
pub use server::{Report, Server};
pub use session::Session;

/// The longest read or write: what clients may assume where a server does not say.
pub const REQUEST_BYTES_MAX: u32 = 32 << 20;

/// What is served, as clients see it.
#[derive(Debug, Clone, Default)]
pub struct Export {
    /// Its name; the empty name stands for it too.
    pub name: String,
    /// For people.
    pub description: String,
}

/// What became of the bytes that came.
enum Step {
    /// More have to come before anything can be done.
    Starved,
    /// So many of them have been dealt with.
    Used(usize),
    /// So many of them have been dealt with, and the handshake is over.
    Transmission(usize),
    /// The connection ends: because the client wishes, or else why.
    Close(Option<String>),
}
