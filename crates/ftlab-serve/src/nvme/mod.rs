//! The drive as an NVMe SSD over TCP: `ftlab drive serve FILE --nvme HOST:PORT`. Any Linux attaches it with
//! `nvme connect -t tcp`, and sees an SSD with placement handles (FDP), SMART, and the commands that only an
//! SSD has.
//!
//! [`Subsystem`] is what hosts connect to; it makes a `Queue` for each connection, which is the protocol
//! without sockets: bytes in, bytes out, so that tests and fuzzers can drive it. A connection is a queue: the
//! admin queue, which makes a controller, and the I/O queues of that controller. The
//! [server](crate::net::Server) gives each a thread.
//!
//! ```text
//! queue.rs        what each unit of the host leads to                          NVMe/TCP 1.1
//!   unit.rs         what units must look like, and their digests
//!   transfer.rs     data that a command announces and the host sends later
//!   output.rs       units for the host
//! controllers.rs  who makes way when there are too many
//! fabrics.rs      Connect, properties, Disconnect                              base 2.1, section 6
//! admin.rs        Identify, log pages, features, events, Format, Sanitize      base 2.1, section 5
//! io.rs           reads, writes, and all else that has blocks                  NVM command set 1.1
//!   copy.rs         copies of blocks
//! layout/         the structures, as plain types
//! ```
//!
//! Data goes from the receive buffer directly into the store, and from the store directly into the send
//! buffer. Commands of one queue are executed in order; a host opens as many queues as it has processors.
//! A command takes effect once all of its data is there: what comes in several units waits in memory that all
//! queues share.

mod admin;
mod commands;
mod controller;
mod controllers;
mod conversation;
mod copy;
mod events;
mod fabrics;
mod features;
#[doc(hidden)]
pub mod fuzz;
mod identify;
#[doc(hidden)]
pub mod initiator;
mod io;
mod layout;
mod lock;
mod logs;
mod management;
mod namespace;
mod output;
mod placement;
mod queue;
mod settings;
mod subsystem;
#[cfg(test)]
mod tests;
mod transfer;
mod uncorrectable;
mod unit;

pub use subsystem::{Subsystem, SubsystemOptions};

/// The most data of a command.
pub(crate) const TRANSFER_BYTES_MAX: u32 = 1 << 20;

/// [`TRANSFER_BYTES_MAX`] as a power of two of 4 KiB, the smallest memory page of a controller (MDTS).
const TRANSFER_SHIFT: u8 = 8;

/// The most data in the capsule of a command of an I/O queue.
const IN_CAPSULE_BYTES: u32 = 32 << 10;

/// The most data in the capsule of an admin command (NVMe/TCP 1.1, section 3.3.1.1: 8 KiB).
const ADMIN_IN_CAPSULE_BYTES: u32 = 8 << 10;

/// The most data of one unit from the host (MAXH2CDATA).
const UNIT_BYTES_MAX: u32 = 128 << 10;

/// The most data of a command that is neither Write nor Compare: all that the standard has is shorter.
const BUFFERED_BYTES_MAX: u32 = 8 << 10;

/// The most data that a queue asks for at once: those of a command wait in memory until all of them are there.
const ASKED_BYTES_MAX: u32 = 2 * TRANSFER_BYTES_MAX;

/// Entries of an I/O queue, at most.
const QUEUE_ENTRIES_MAX: u16 = 1024;

/// Entries of an admin queue, at most.
const ADMIN_QUEUE_ENTRIES: u16 = 128;

/// I/O queues of a controller, at most.
const QUEUES_MAX: u16 = 128;

/// The endurance group of all namespaces.
const ENDURANCE_GROUP: u16 = 1;

/// All namespaces, in place of the number of one.
const ALL_NAMESPACES: u32 = u32::MAX;

/// The version of the standard: 2.1.
const VERSION: u32 = 0x0002_0100;
