//! Data that commands have announced and the host has not sent yet.

use super::BUFFERED_IN_ALL_BYTES_MAX;
use super::io::Target;
use super::layout::Command;
use std::time::Instant;

/// A command whose data the controller has asked for.
pub(super) struct Transfer {
    pub(super) command: Command,
    /// Bytes that have arrived.
    pub(super) received: u32,
    pub(super) target: Target,
    /// When the flash that is emulated would be done with them.
    pub(super) due: Option<Instant>,
}

impl Transfer {
    fn buffered_bytes(&self) -> u32 {
        match self.target {
            Target::Blocks(_) => 0,
            Target::Memory(_) => self.command.sgl.bytes,
        }
    }
}

/// All of a queue, by their tags.
#[derive(Default)]
pub(super) struct Transfers {
    slots: Vec<Option<Transfer>>,
    count: usize,
    /// Bytes that go into memory, once they are there.
    buffered: u32,
}

impl Transfers {
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Whether a command of this number is among them.
    pub(super) fn has(&self, command: u16) -> bool {
        self.slots.iter().flatten().any(|transfer| transfer.command.id == command)
    }

    /// Whether another one is possible without taking too much memory.
    pub(super) fn has_room(&self, transfer: &Transfer) -> bool {
        self.buffered + transfer.buffered_bytes() <= BUFFERED_IN_ALL_BYTES_MAX
    }

    /// Adds one, and returns its tag.
    pub(super) fn add(&mut self, transfer: Transfer) -> u16 {
        self.count += 1;
        self.buffered += transfer.buffered_bytes();
        let free = self.slots.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(transfer);
        slot as u16
    }

    pub(super) fn get(&mut self, tag: u16) -> Option<&mut Transfer> {
        self.slots.get_mut(usize::from(tag))?.as_mut()
    }

    /// Takes out one that is complete.
    pub(super) fn remove(&mut self, tag: u16) -> Option<Transfer> {
        let transfer = self.slots.get_mut(usize::from(tag))?.take()?;
        self.count -= 1;
        self.buffered -= transfer.buffered_bytes();
        Some(transfer)
    }
}
