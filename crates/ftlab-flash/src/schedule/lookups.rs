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
    /// When the last part is told that is not on flash.
    told_at: u64,
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
    /// The number of the present one.
    fn number(&mut self) -> u32 {
        *self.present.get_or_insert_with(|| {
            self.free.pop().unwrap_or_else(|| {
                let fresh = Lookup { left: 0, waiting: VecDeque::new(), read: NONE, told_at: 0 };
                self.all.push(fresh);
                self.all.len() as u32 - 1
            })
        })
    }

    /// Another operation of the present one, which reads a page or not: the number of that.
    pub(super) fn enter(&mut self, id: u32, is_read: bool) -> u32 {
        let number = self.number();
        let lookup = &mut self.all[number as usize];
        lookup.left += 1;
        if is_read {
            lookup.read = id;
        }
        number
    }

    /// A part that is not on flash tells the present one more at this time: the number of that.
    pub(super) fn enter_until(&mut self, told_at: u64) -> u32 {
        let number = self.number();
        let lookup = &mut self.all[number as usize];
        (lookup.left, lookup.told_at) = (lookup.left + 1, told_at);
        number
    }

    /// When the last part that is not on flash tells the present one more; the past, if there is none.
    pub(super) fn told_at(&self) -> u64 {
        self.present.map_or(0, |number| self.all[number as usize].told_at)
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
            (lookup.read, lookup.told_at) = (NONE, 0);
            self.free.push(number);
        }
        waiting
    }
}
