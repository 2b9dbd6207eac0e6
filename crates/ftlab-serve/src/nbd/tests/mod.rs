//! The protocol, from the side of a client.

mod client;
mod handshake;
mod hooked;
mod requests;
mod sockets;
mod tls;
