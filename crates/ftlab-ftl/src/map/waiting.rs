//! Written pages that wait in memory, to be programmed in the order of their addresses.

use crate::state::state;
use crate::{Archive, State, StateError};
use ftlab_flash::{Hint, Lifetime};
use std::ops::Range;

/// A unit that was written, and is not programmed yet.
#[derive(Debug, Clone)]
pub(super) struct Write {
    pub(super) unit: u32,
    /// Its pages that the host wrote.
    pub(super) asked: Range<u32>,
    pub(super) data: Vec<u8>,
    pub(super) hint: Hint,
    /// Whether an older version waits, too, and is programmed before it.
    pub(super) is_again: bool,
}

impl State for Write {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        let Self { unit, asked, data, hint, is_again } = self;
        let Hint { lifetime: Lifetime { this, mean }, stream, lacking } = hint;
        for number in [unit, &mut asked.start, &mut asked.end, this, mean] {
            number.transfer(archive)?;
        }
        data.transfer(archive)?;
        stream.transfer(archive)?;
        lacking.transfer(archive)?;
        is_again.transfer(archive)
    }

    fn blank() -> Option<Self> {
        Some(Self { unit: 0, asked: 0..1, data: Vec::new(), hint: Hint::NONE, is_again: false })
    }
}

/// What waits, in the order in which it was written.
pub(super) struct Waiting {
    writes: Vec<Write>,
    most: usize,
    /// A bit for each unit.
    waits: Vec<u64>,
}

state!(Waiting { writes, waits } constant most);

impl Waiting {
    /// Up to `most` of some units.
    pub(super) fn new(most: u32, units: u32) -> Self {
        let most = most as usize;
        Self { writes: Vec::new(), most, waits: vec![0; units.div_ceil(64) as usize] }
    }

    /// Adds one: whether as many wait as may.
    pub(super) fn add(&mut self, unit: u32, asked: Range<u32>, data: &[u8], hint: Hint) -> bool {
        let write = Write { unit, asked, data: data.to_vec(), hint, is_again: self.holds(unit) };
        self.waits[unit as usize / 64] |= 1 << (unit % 64);
        self.writes.push(write);
        self.writes.len() >= self.most
    }

    /// These, which were taken, wait again; of one unit the newest is the last.
    pub(super) fn put_back(&mut self, writes: Vec<Write>) {
        for write in &writes {
            self.waits[write.unit as usize / 64] |= 1 << (write.unit % 64);
        }
        debug_assert!(self.writes.is_empty(), "more was written meanwhile");
        self.writes = writes;
    }

    /// A unit of a read-only drive, which takes nothing else, waits no more and is not programmed.
    pub(super) fn forget(&mut self, unit: u32) {
        self.writes.retain(|write| write.unit != unit);
        self.waits[unit as usize / 64] &= !(1 << (unit % 64));
    }

    /// Whether a unit waits.
    pub(super) fn holds(&self, unit: u32) -> bool {
        self.waits[unit as usize / 64] >> (unit % 64) & 1 == 1
    }

    /// Whether this page of a unit waits: the host may have written others of it.
    pub(super) fn holds_page(&self, unit: u32, page: u32) -> bool {
        let is_of = |write: &Write| write.unit == unit && write.asked.contains(&page);
        self.holds(unit) && self.writes.iter().any(is_of)
    }

    /// The newest data of a unit that waits.
    pub(super) fn data(&self, unit: u32) -> Option<&[u8]> {
        self.writes.iter().rfind(|write| write.unit == unit).map(|write| &write.data[..])
    }

    /// Takes all, in order of their addresses, by groups of this many units. Of those that were written again, earlier
    /// versions come first in their group, so that the newest lie side by side.
    pub(super) fn take_in_order(&mut self, group_units: u32) -> Vec<Write> {
        let mut writes = std::mem::take(&mut self.writes);
        for write in &writes {
            self.waits[write.unit as usize / 64] = 0;
        }
        writes.sort_by_key(|write| write.unit);
        let is_newest =
            |index: usize| writes.get(index + 1).is_none_or(|next| next.unit != writes[index].unit);
        let newest: Vec<bool> = (0..writes.len()).map(is_newest).collect();
        let mut keyed: Vec<_> = newest.into_iter().zip(writes).collect();
        keyed.sort_by_key(|(is_newest, write)| (write.unit / group_units, *is_newest));
        keyed.into_iter().map(|(_, write)| write).collect()
    }

    /// Pages that the host wrote of all.
    pub(super) fn pages(&self) -> u64 {
        self.writes.iter().map(|write| write.asked.len() as u64).sum()
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        let data: usize = self.writes.iter().map(|write| write.data.capacity()).sum();
        data + self.writes.capacity() * size_of::<Write>() + size_of_val(&self.waits[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_versions_lie_side_by_side() {
        let mut waiting = Waiting::new(8, 100);
        let units = [5, 70, 4, 5, 6, 12, 5, 12];
        for (unit, number) in units.into_iter().zip(0..) {
            assert_eq!(waiting.add(unit, 0..1, &[number], Hint::NONE), number == 7);
        }
        assert!([4, 5, 70].iter().all(|unit| waiting.holds(*unit)) && !waiting.holds(7));
        assert!(waiting.holds_page(5, 0) && !waiting.holds_page(5, 1) && !waiting.holds_page(7, 0));
        assert_eq!((waiting.data(5), waiting.pages()), (Some(&[6][..]), 8));
        let order = waiting.take_in_order(10);
        let again: Vec<_> =
            order.iter().filter(|write| write.is_again).map(|write| write.data[0]).collect();
        assert_eq!(again, [3, 6, 7]);
        let order: Vec<_> = order.iter().map(|write| (write.unit, write.data[0])).collect();
        let expected = [(5, 0), (5, 3), (4, 2), (5, 6), (6, 4), (12, 5), (12, 7), (70, 1)];
        assert_eq!(order, expected);
        assert!((0..100).all(|unit| !waiting.holds(unit)) && waiting.pages() == 0);
    }

    #[test]
    fn what_is_put_back_is_as_it_was_and_fills_it_again() {
        let mut waiting = Waiting::new(4, 100);
        for (unit, number) in [5, 70, 5, 6].into_iter().zip(0..) {
            waiting.add(unit, 0..1, &[number], Hint::NONE);
        }
        let mut writes = waiting.take_in_order(10);
        waiting.put_back(writes.split_off(1));
        assert_eq!((waiting.data(5), waiting.data(70)), (Some(&[2][..]), Some(&[1][..])));
        assert!(waiting.add(7, 0..1, &[4], Hint::NONE), "as many wait as may");
        waiting.forget(5);
        assert!(!waiting.holds(5) && waiting.data(5).is_none() && waiting.pages() == 3);
        let order: Vec<_> = waiting.take_in_order(10).iter().map(|write| write.unit).collect();
        assert_eq!(order, [6, 7, 70]);
    }
}
