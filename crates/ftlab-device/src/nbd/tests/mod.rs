//! The protocol, from the side of a client.

mod client;
mod handshake;
mod requests;
mod sockets;
