//! Channels: who has them, and who waits for them.

use std::collections::VecDeque;

/// The channels of a drive; LUN l is on channel l mod their number.
#[derive(Debug, Clone)]
pub(super) struct Channels {
    all: Vec<Channel>,
    /// LUN -> its channel.
    of_lun: Vec<u32>,
}

#[derive(Debug, Clone, Default)]
struct Channel {
    is_taken: bool,
    /// LUNs that hold a page which was read.
    out: VecDeque<u32>,
    /// LUNs that have a page to program.
    in_: VecDeque<u32>,
    /// LUNs that have a page to program after the one that they program.
    ahead: VecDeque<u32>,
}

impl Channels {
    /// `count` channels for `luns`.
    pub(super) fn new(count: u32, luns: u32) -> Self {
        let of_lun = (0..luns).map(|lun| lun % count).collect();
        Self { all: vec![Channel::default(); count as usize], of_lun }
    }

    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    #[inline]
    pub(super) fn of(&self, lun: usize) -> usize {
        self.of_lun[lun] as usize
    }

    pub(super) fn is_taken(&self, channel: usize) -> bool {
        self.all[channel].is_taken
    }

    /// Takes a channel; false if it is taken already.
    #[inline]
    pub(super) fn take(&mut self, channel: usize) -> bool {
        !std::mem::replace(&mut self.all[channel].is_taken, true)
    }

    pub(super) fn give_back(&mut self, channel: usize) {
        self.all[channel].is_taken = false;
    }

    pub(super) fn await_out(&mut self, channel: usize, lun: usize) {
        self.all[channel].out.push_back(lun as u32);
    }

    pub(super) fn await_in(&mut self, channel: usize, lun: usize) {
        self.all[channel].in_.push_back(lun as u32);
    }

    pub(super) fn await_ahead(&mut self, channel: usize, lun: usize) {
        self.all[channel].ahead.push_back(lun as u32);
    }

    pub(super) fn next_ahead(&mut self, channel: usize) -> Option<usize> {
        self.all[channel].ahead.pop_front().map(|lun| lun as usize)
    }

    pub(super) fn next_out(&mut self, channel: usize) -> Option<usize> {
        self.all[channel].out.pop_front().map(|lun| lun as usize)
    }

    pub(super) fn next_in(&mut self, channel: usize) -> Option<usize> {
        self.all[channel].in_.pop_front().map(|lun| lun as usize)
    }
}
