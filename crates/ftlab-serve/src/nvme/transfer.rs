//! Data that commands have announced and the host has not sent yet.

use super::ASKED_BYTES_MAX;
use super::io::Target;
use super::layout::Command;
use std::collections::VecDeque;
use std::time::Instant;

/// A command whose data the controller asks for.
pub(super) struct Transfer {
    pub(super) command: Command,
    pub(super) target: Target,
    /// Bytes that have arrived.
    pub(super) received: u32,
    /// What has arrived in units before the last one.
    pub(super) data: Vec<u8>,
    /// Whether all digests of them are right.
    pub(super) is_intact: bool,
    /// When the first of these units arrived.
    pub(super) since: Option<Instant>,
    is_asked: bool,
}

impl Transfer {
    /// Nothing has been asked for, and nothing has arrived.
    pub(super) fn new(command: &Command, target: Target) -> Self {
        Self {
            command: *command,
            target,
            received: 0,
            data: Vec::new(),
            is_intact: true,
            since: None,
            is_asked: false,
        }
    }

    /// Keeps data until the rest is there, unless it is of no use any more.
    pub(super) fn keep(&mut self, data: &[u8]) {
        if !self.is_intact {
            self.data = Vec::new();
            return;
        }
        if self.data.is_empty() {
            self.data.reserve_exact(self.command.sgl.bytes as usize);
        }
        self.data.extend_from_slice(data);
    }
}

/// All of a queue, by their tags.
#[derive(Default)]
pub(super) struct Transfers {
    slots: Vec<Option<Transfer>>,
    count: usize,
    /// Those whose data have not been asked for, in the order of the commands.
    waiting: VecDeque<u16>,
    /// Bytes that have been asked for, of commands that are not complete.
    asked_bytes: u32,
}

impl Transfers {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether the host owes data.
    pub(super) fn has_asked(&self) -> bool {
        self.asked_bytes > 0
    }

    /// Whether a command of this number is among them.
    pub(super) fn has(&self, command: u16) -> bool {
        self.slots.iter().flatten().any(|transfer| transfer.command.id == command)
    }

    /// When the first data arrived of the one that has been incomplete for longest, if there is any.
    pub(super) fn incomplete_since(&self) -> Option<Instant> {
        self.slots.iter().flatten().filter_map(|transfer| transfer.since).min()
    }

    pub(super) fn add(&mut self, transfer: Transfer) {
        self.count += 1;
        let free = self.slots.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(transfer);
        self.waiting.push_back(slot as u16);
    }

    /// The tag of the next one whose data are to be asked for, if that is not too much at once.
    pub(super) fn ask_next(&mut self) -> Option<(u16, &Command)> {
        let tag = *self.waiting.front()?;
        let transfer = self.slots.get_mut(usize::from(tag))?.as_mut()?;
        let asked_bytes = self.asked_bytes.saturating_add(transfer.command.sgl.bytes);
        if asked_bytes > ASKED_BYTES_MAX {
            return None;
        }
        self.asked_bytes = asked_bytes;
        self.waiting.pop_front();
        transfer.is_asked = true;
        Some((tag, &transfer.command))
    }

    /// One whose data have been asked for.
    pub(super) fn get(&mut self, tag: u16) -> Option<&mut Transfer> {
        self.slots.get_mut(usize::from(tag))?.as_mut().filter(|transfer| transfer.is_asked)
    }

    /// Takes out one that is complete.
    pub(super) fn remove(&mut self, tag: u16) -> Option<Transfer> {
        let transfer = self.slots.get_mut(usize::from(tag))?.take()?;
        self.count -= 1;
        self.asked_bytes -= transfer.command.sgl.bytes;
        Some(transfer)
    }
}
