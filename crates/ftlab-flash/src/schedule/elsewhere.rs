//! What is read that is not on flash: it takes its time, and no LUN.

use std::collections::VecDeque;

/// Who waits for such a read.
#[derive(Debug, Clone, Copy)]
pub(super) enum Reader {
    /// A lookup, with its number.
    Lookup(u32),
    /// A program of what is read.
    Program(u32),
}

/// Reads that are under way, all of which take as long.
#[derive(Debug, Clone, Default)]
pub(super) struct Elsewhere {
    under_way: VecDeque<(u64, Reader)>,
}

impl Elsewhere {
    /// One will be complete at this time.
    pub(super) fn begin(&mut self, done: u64, reader: Reader) {
        debug_assert!(self.under_way.back().is_none_or(|(last, _)| *last <= done));
        self.under_way.push_back((done, reader));
    }

    /// When the first is complete, if there is one.
    pub(super) fn first(&self) -> Option<u64> {
        self.under_way.front().map(|(done, _)| *done)
    }

    /// Takes the first: who waited for it.
    pub(super) fn end(&mut self) -> Option<Reader> {
        self.under_way.pop_front().map(|(_, reader)| reader)
    }
}
