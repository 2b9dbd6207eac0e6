//! Pages of a map on flash that tell where a page of the host is, and who waits for them.

use super::operation::NONE;
use std::collections::VecDeque;

/// Everything that a map reads and writes before a page of the host can be asked for.
#[derive(Debug, Clone)]
struct Lookup {
    /// Operations that are not complete.
    left: u32,
    /// The operations of the host, once they are asked for: one, or those of a unit.
    waiting: VecDeque<u32>,
    /// The last page that was read.
    read: u32,
}

/// All that are not complete; their memory is used again.
#[derive(Debug, Clone, Default)]
pub(super) struct Lookups {
    all: Vec<Lookup>,
    free: Vec<u32>,
    /// That of the page of the host that is asked for next.
    present: Option<u32>,
}

impl Lookups {
    /// Another operation of the present one, which reads a page or not: the number of that.
    pub(super) fn enter(&mut self, id: u32, is_read: bool) -> u32 {
        let number = *self.present.get_or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                let fresh = Lookup { left: 0, waiting: VecDeque::new(), read: NONE };
                self.all.push(fresh);
                self.all.len() as u32 - 1
            })
        });
        let lookup = &mut self.all[number as usize];
        lookup.left += 1;
        if is_read {
            lookup.read = id;
        }
        number
    }

    /// The last page that the present one reads: what is programmed next holds a part of it.
    pub(super) fn last_read(&self) -> Option<u32> {
        let read = self.all[self.present? as usize].read;
        (read != NONE).then_some(read)
    }

    /// Ends the present one, if there is one: operations of the host [wait](Self::wait) for it.
    pub(super) fn take(&mut self) -> Option<u32> {
        self.present.take()
    }

    /// An operation of the host waits for one that was taken.
    pub(super) fn wait(&mut self, number: u32, id: u32) {
        self.all[number as usize].waiting.push_back(id);
    }

    /// Nobody waits for the present one.
    pub(super) fn forget(&mut self) {
        self.present = None;
    }

    /// An operation of one is complete: whether all are, and who waits can be [released](Self::release).
    pub(super) fn leave(&mut self, number: u32) -> bool {
        let lookup = &mut self.all[number as usize];
        lookup.left -= 1;
        lookup.left == 0 && self.present != Some(number)
    }

    /// Who need not wait any longer for one that is complete; when there is nobody left, its memory is used again.
    pub(super) fn release(&mut self, number: u32) -> Option<u32> {
        let lookup = &mut self.all[number as usize];
        let waiting = lookup.waiting.pop_front();
        if waiting.is_none() {
            lookup.read = NONE;
            self.free.push(number);
        }
        waiting
    }
}
