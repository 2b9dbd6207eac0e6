//! Hosts that ask for more when what they asked for is complete, and so have to be told.

use crate::{RequestBatch, TraceError};

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// A host issues its request at this time, in nanoseconds, unless one under way is complete before.
    Issue(u64),
    /// All wait for requests under way.
    Wait,
    /// All have ended.
    End,
}

/// A request that a host has issued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issued {
    /// Which host: a number of its own.
    pub host: u32,
    /// The number of its tenant.
    pub tenant: u16,
    /// When the drive has it, in nanoseconds.
    pub time_ns: u64,
    /// For how long it waited before.
    pub queued_ns: u64,
}

/// A transaction that is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// When it began, in nanoseconds.
    pub began_ns: u64,
    /// When the last of its requests was complete.
    pub done_ns: u64,
}

/// The requests of all hosts in the order in which they are issued.
pub trait ClosedLoop: Send {
    /// What is worth knowing of the hosts, by name.
    fn notes(&self) -> Vec<(&'static str, String)>;

    /// The names of tenants by their numbers: hosts that belong together. None if there is only one.
    fn tenants(&self) -> Vec<String> {
        Vec::new()
    }

    /// The first hosts begin at this time, in nanoseconds.
    fn begin_at(&mut self, now_ns: u64);

    /// What comes next, as far as is known of the requests under way.
    fn turn(&mut self) -> Result<Turn, TraceError>;

    /// Adds the next request to `batch`, if its [turn](Self::turn) has come.
    fn issue(&mut self, batch: &mut RequestBatch) -> Option<Issued>;

    /// A request of a host is complete.
    fn complete(&mut self, host: u32, done_ns: u64);

    /// Takes the transactions that are complete since the last call; none where requests belong to none.
    fn take_done(&mut self) -> Vec<Done> {
        Vec::new()
    }
}
