//! Asynchronous events (base 2.1, section 5.1.2): requests that are answered when something happens.

use super::layout::Status;
use std::collections::VecDeque;

/// Requests that a host may have at once.
pub(super) const REQUESTS_MAX: usize = 4;

/// Something that hosts are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// The drive has become read-only.
    Unreliable,
    /// Few spare blocks are left.
    SpareIsLow,
    /// A sanitize operation is complete.
    Sanitized,
}

impl Event {
    /// Its type, its information, and the log page that tells more.
    fn code(self) -> (u32, u32, u8) {
        match self {
            Self::Unreliable => (1, 0, 0x02),
            Self::SpareIsLow => (1, 2, 0x02),
            Self::Sanitized => (6, 1, 0x81),
        }
    }

    /// The bit of the feature that enables it (base 2.1, section 5.1.25.1.5); those of I/O command sets
    /// are always enabled.
    pub(super) fn enabled_by(self) -> u32 {
        match self {
            Self::Unreliable => 1 << 2 | 1 << 3,
            Self::SpareIsLow => 1 << 0,
            Self::Sanitized => 0,
        }
    }
}

/// What waits: requests for an event, or events for a request.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Commands.
    requests: VecDeque<u16>,
    events: Vec<Event>,
    /// Log pages that have to be read before their next event.
    unread: Vec<u8>,
    /// The warnings that the host knows of.
    pub(super) warnings: u8,
}

impl Pending {
    /// The host asks to be told.
    pub(super) fn request(&mut self, command: u16) -> Result<(), Status> {
        if self.requests.len() >= REQUESTS_MAX {
            return Err(Status::AER_LIMIT);
        }
        self.requests.push_back(command);
        Ok(())
    }

    /// Whether anyone waits for events.
    pub(super) fn is_waiting(&self) -> bool {
        !self.requests.is_empty()
    }

    /// Something has happened.
    pub(super) fn add(&mut self, event: Event) {
        if !self.events.contains(&event) {
            self.events.push(event);
        }
    }

    /// Gives up a request; false if there is none of this command.
    pub(super) fn abort(&mut self, command: u16) -> bool {
        let before = self.requests.len();
        self.requests.retain(|request| *request != command);
        self.requests.len() < before
    }

    /// The host has read a log page.
    pub(super) fn has_read(&mut self, log: u8) {
        self.unread.retain(|unread| *unread != log);
    }

    /// A command that is answered now, and its result.
    pub(super) fn deliver(&mut self) -> Option<(u16, u64)> {
        let may_tell = |event: &Event| !self.unread.contains(&event.code().2);
        let index = self.events.iter().position(may_tell)?;
        let command = self.requests.pop_front()?;
        let (kind, information, log) = self.events.remove(index).code();
        self.unread.push(log);
        Some((command, u64::from(kind | information << 8 | u32::from(log) << 16)))
    }
}
