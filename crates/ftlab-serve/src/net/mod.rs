//! Serving over sockets, whatever the protocol: addresses, threads, limits, TLS.
//!
//! [`Server`] listens and gives each connection a thread, which receives as much as is available, lets
//! the [`Conversation`] process all of it, and sends the replies together.
//!
//! [`Limits`] bounds what a client can take: large requests pass through a connection in pieces, the
//! handshake and every piece have a time limit, and clients that hold connections without using them
//! make way for new ones.

mod address;
mod connection;
mod leases;
mod limits;
mod protocol;
mod replies;
mod server;
mod slots;
mod socket;
mod tls;

pub use address::Address;
pub(crate) use leases::Lease;
pub use limits::Limits;
pub use protocol::{Conversation, Link, Protocol};
pub use replies::Replies;
pub use server::{Report, Server, ServerOptions};
pub(crate) use slots::Client;
pub use tls::Tls;
