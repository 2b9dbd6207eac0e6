//! A server of the NBD protocol (network block device), for fio, qemu, libnbd and anything that
//! speaks it: `ftlab drive serve FILE --nbd SOCKET`.
//!
//! [`Session`] is the protocol: bytes in, bytes out, and no sockets, so that tests and fuzzers can
//! drive it. [`Server`] listens and gives each connection a thread, which receives as much as is
//! available, lets the session process all of it, and sends the replies together. Data goes from
//! the receive buffer directly into the store, and from the store directly into the send buffer:
//! only the system copies it. Requests of one connection are executed in order; a client that wants
//! parallelism opens several connections.
//!
//! Supported: the fixed newstyle handshake with one export, TLS, structured replies, flush, FUA, trim,
//! write-zeroes and block status (`base:allocation`), of any offset and length.
//!
//! [`Limits`] bounds what a client can take: large requests pass through a connection in pieces, the
//! handshake and every piece have a time limit, and clients that hold connections without using them
//! make way for new ones.

mod address;
mod connection;
mod handshake;
mod limits;
mod replies;
mod request;
mod server;
mod session;
mod slots;
mod socket;
#[cfg(test)]
mod tests;
mod tls;
mod transmission;
mod wire;

pub use address::Address;
pub use limits::Limits;
pub use replies::Replies;
pub use server::{Report, Server, ServerOptions};
pub use session::Session;
pub use tls::Tls;

/// The longest read or write: the limit that clients assume if a server does not state one.
pub const REQUEST_BYTES_MAX: u32 = 32 << 20;

/// The export, as clients see it.
#[derive(Debug, Clone, Default)]
pub struct Export {
    /// Its name; the empty name refers to it too.
    pub name: String,
    /// A description for users.
    pub description: String,
}

/// The result of processing received bytes.
enum Step {
    /// More bytes are needed.
    Starved,
    /// This many bytes have been processed.
    Used(usize),
    /// This many bytes have been processed, and the handshake is over.
    Transmission(usize),
    /// This many bytes have been processed, and what follows is encrypted.
    Tls(usize),
    /// The connection ends: at the client's request, or for this reason.
    Close(Option<String>),
}
