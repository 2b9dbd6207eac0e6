//! The protocol, from the side of a host.

mod admin;
mod bench;
mod commands;
mod copies;
mod layouts;
mod power_cut;
mod sockets;
mod transport;
mod whole;
