//! Which commands there are, what they work with, and what they return.

use super::controller::Controller;
use super::layout::{Status, opcode};
use super::subsystem::Subsystem;
use std::ops::Range;

/// What a command is answered with.
#[derive(Debug)]
pub(super) enum Answer {
    /// A completion, with dwords 0 and 1.
    Done(u64),
    /// Data, as far as the host wants them.
    Data(Vec<u8>),
    /// Data, and dwords 0 and 1 of the completion.
    DataAnd(Vec<u8>, u64),
    /// This range of the drive.
    Read(Range<u64>),
    /// A completion: these bytes have been written.
    Written(u64),
    /// A completion: these bytes have been compared.
    Compared(u64),
    /// An answer follows when there is something to tell.
    Later,
    /// The command with this number is aborted, and then a completion.
    Aborted(u16),
    /// A completion of a command that failed after a part, with dwords 0 and 1.
    Failed(Status, u64),
    /// A completion, after which the connection ends.
    Leave,
}

/// Codes of the commands of admin queues, and whether they change data; those of fabrics are not among them.
pub(super) const ADMIN: [(u8, bool); 10] = [
    (opcode::admin::GET_LOG_PAGE, false),
    (opcode::admin::IDENTIFY, false),
    (opcode::admin::ABORT, false),
    (opcode::admin::SET_FEATURES, false),
    (opcode::admin::GET_FEATURES, false),
    (opcode::admin::ASYNC_EVENT, false),
    (opcode::admin::KEEP_ALIVE, false),
    (opcode::admin::DIRECTIVE_RECEIVE, false),
    (opcode::admin::FORMAT, true),
    (opcode::admin::SANITIZE, true),
];

/// The commands of I/O queues, and whether they change the drive.
pub(super) const IO: [(u8, bool); 11] = [
    (opcode::io::FLUSH, false),
    (opcode::io::WRITE, true),
    (opcode::io::READ, false),
    (opcode::io::WRITE_UNCORRECTABLE, true),
    (opcode::io::COMPARE, false),
    (opcode::io::WRITE_ZEROES, true),
    (opcode::io::DATASET_MANAGEMENT, true),
    (opcode::io::VERIFY, false),
    (opcode::io::MANAGEMENT_RECEIVE, false),
    (opcode::io::COPY, true),
    (opcode::io::MANAGEMENT_SEND, false),
];

/// What a command needs to know of its queue.
pub(super) struct Context<'a> {
    pub(super) subsystem: &'a Subsystem,
    pub(super) controller: &'a Controller,
    /// Where the host has connected to.
    pub(super) local: Option<std::net::SocketAddr>,
}
