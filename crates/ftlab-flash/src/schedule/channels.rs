//! Channels: who has them, and who waits for them.

use std::collections::VecDeque;

/// The channels of a drive; LUN l is on channel l mod their number.
#[derive(Debug, Clone)]
pub(super) struct Channels(Vec<Channel>);

#[derive(Debug, Clone, Default)]
struct Channel {
    is_taken: bool,
    /// LUNs that hold a page which was read.
    out: VecDeque<u32>,
    /// LUNs that have a page to program.
    in_: VecDeque<u32>,
}

impl Channels {
    pub(super) fn new(count: usize) -> Self {
        Self(vec![Channel::default(); count])
    }

    pub(super) fn count(&self) -> usize {
        self.0.len()
    }

    /// The channel of a LUN.
    #[inline]
    pub(super) fn of(&self, lun: usize) -> usize {
        lun % self.0.len()
    }

    pub(super) fn is_taken(&self, channel: usize) -> bool {
        self.0[channel].is_taken
    }

    /// Takes a channel; false if it is taken already.
    #[inline]
    pub(super) fn take(&mut self, channel: usize) -> bool {
        !std::mem::replace(&mut self.0[channel].is_taken, true)
    }

    pub(super) fn give_back(&mut self, channel: usize) {
        self.0[channel].is_taken = false;
    }

    pub(super) fn await_out(&mut self, channel: usize, lun: usize) {
        self.0[channel].out.push_back(lun as u32);
    }

    pub(super) fn await_in(&mut self, channel: usize, lun: usize) {
        self.0[channel].in_.push_back(lun as u32);
    }

    pub(super) fn next_out(&mut self, channel: usize) -> Option<usize> {
        self.0[channel].out.pop_front().map(|lun| lun as usize)
    }

    pub(super) fn next_in(&mut self, channel: usize) -> Option<usize> {
        self.0[channel].in_.pop_front().map(|lun| lun as usize)
    }
}
