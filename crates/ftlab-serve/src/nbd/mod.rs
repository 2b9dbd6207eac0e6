//! A server of the NBD protocol (network block device), for fio, qemu, libnbd and anything that
//! speaks it: `ftlab drive serve FILE --nbd SOCKET`.
//!
//! [`Session`] is the protocol: bytes in, bytes out, and no sockets, so that tests and fuzzers can
//! drive it; [`Nbd`] makes one for each client of a [server](crate::net::Server). Data goes from
//! the receive buffer directly into the store, and from the store directly into the send buffer:
//! only the system copies it. Requests of one connection are executed in order; a client that wants
//! parallelism opens several connections.
//!
//! Supported: the fixed newstyle handshake with one export, TLS, structured replies, flush, FUA, trim,
//! write-zeroes and block status (`base:allocation`), of any offset and length.

mod handshake;
mod request;
mod session;
#[cfg(test)]
mod tests;
mod transmission;
mod wire;

pub use session::{Nbd, Session};

use crate::net::Address;

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

/// The URI of a server's address, for clients such as `nbdinfo` and fio.
///
/// ```
/// let uri = ftlab_serve::nbd::uri(&"/run/drive.sock".parse()?);
/// assert_eq!(uri, "nbd+unix:///?socket=/run/drive.sock");
/// # Ok::<(), ftlab_serve::ServeError>(())
/// ```
pub fn uri(address: &Address) -> String {
    match address {
        Address::Unix(path) => format!("nbd+unix:///?socket={}", path.display()),
        Address::Tcp(address) => format!("nbd://{address}"),
    }
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
