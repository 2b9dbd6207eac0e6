//! Pages of a map on flash that tell where a page of the host is, and who waits for them.

use super::operation::NONE;

/// Everything that a map reads and writes before a page of the host can be asked for.
#[derive(Debug, Clone, Copy)]
struct Lookup {
    /// Operations that are not complete.
    left: u32,
    /// The operation of the host, once it is asked for.
    waiting: u32,
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
            let fresh = Lookup { left: 0, waiting: NONE, read: NONE };
            let number = self.free.pop().unwrap_or(self.all.len() as u32);
            if number as usize == self.all.len() {
                self.all.push(fresh);
            } else {
                self.all[number as usize] = fresh;
            }
            number
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

    /// An operation of the host waits for the present one; false if there is none.
    pub(super) fn wait(&mut self, id: u32) -> bool {
        let Some(number) = self.present.take() else { return false };
        self.all[number as usize].waiting = id;
        true
    }

    /// Nobody waits for the present one.
    pub(super) fn forget(&mut self) {
        self.present = None;
    }

    /// An operation of one is complete: who need not wait any longer.
    pub(super) fn leave(&mut self, number: u32) -> Option<u32> {
        let lookup = &mut self.all[number as usize];
        lookup.left -= 1;
        if lookup.left > 0 || self.present == Some(number) {
            return None;
        }
        self.free.push(number);
        (lookup.waiting != NONE).then_some(lookup.waiting)
    }
}
