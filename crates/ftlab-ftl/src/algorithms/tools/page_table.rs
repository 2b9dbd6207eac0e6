//! A hash table by page number that is quick to tell that a page is not in it.

use crate::algorithms::tools::hash::{below, hash};
use crate::state::state;
use ftlab_flash::Lpn;

/// A slot without a page.
const EMPTY: u32 = u32::MAX;

/// Slots per entry: seven searches in eight for a page that is not there end at the first slot, which
/// the processor learns to expect.
const SLOTS_PER_ENTRY: usize = 8;

/// A number for each of a limited number of pages.
///
/// Open addressing: a page stands in the first slot that was empty from its home on. Where one is
/// removed those after it move up, so that searches never get longer. Nothing is allocated after
/// construction.
#[derive(Debug)]
pub(crate) struct PageTable {
    /// Slot -> page; apart from the numbers, so that more of them fit into the cache.
    pages: Vec<u32>,
    /// Slot -> number of its page.
    numbers: Vec<u32>,
}

state!(PageTable { pages, numbers });

impl PageTable {
    /// An empty table for `entries` pages, at least 1.
    pub(crate) fn new(entries: u32) -> Self {
        let slots = SLOTS_PER_ENTRY * entries as usize;
        Self { pages: vec![EMPTY; slots], numbers: vec![0; slots] }
    }

    /// The number of `lpn`, if it is in the table.
    #[inline]
    pub(crate) fn get(&self, lpn: Lpn) -> Option<u32> {
        let mut slot = self.home(lpn.0);
        loop {
            let page = self.pages[slot];
            if page == lpn.0 {
                return Some(self.numbers[slot]);
            }
            if page == EMPTY {
                return None;
            }
            slot = self.after(slot);
        }
    }

    /// Adds `lpn`, which is not in the table; there must be room.
    #[inline]
    pub(crate) fn insert(&mut self, lpn: Lpn, number: u32) {
        let mut slot = self.home(lpn.0);
        while self.pages[slot] != EMPTY {
            slot = self.after(slot);
        }
        self.pages[slot] = lpn.0;
        self.numbers[slot] = number;
    }

    /// Takes out `lpn`, which is in the table.
    pub(crate) fn remove(&mut self, lpn: Lpn) {
        let mut hole = self.home(lpn.0);
        while self.pages[hole] != lpn.0 {
            hole = self.after(hole);
        }
        let mut slot = self.after(hole);
        while self.pages[slot] != EMPTY {
            let home = self.home(self.pages[slot]);
            if self.distance(home, slot) >= self.distance(hole, slot) {
                self.pages[hole] = self.pages[slot];
                self.numbers[hole] = self.numbers[slot];
                hole = slot;
            }
            slot = self.after(slot);
        }
        self.pages[hole] = EMPTY;
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.pages[..]) + size_of_val(&self.numbers[..])
    }

    /// The slot where the search for a page begins.
    #[inline]
    fn home(&self, page: u32) -> usize {
        below(self.pages.len() as u64, (hash(Lpn(page)) >> 32) as u32) as usize
    }

    #[inline]
    fn after(&self, slot: usize) -> usize {
        if slot + 1 < self.pages.len() { slot + 1 } else { 0 }
    }

    /// Steps from one slot on to another.
    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        if from <= to { to - from } else { to + self.pages.len() - from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0_u32..100, any::<u32>()), 0..500)) {
            // Of 4 slots for 3 pages: every search runs into others and round the end.
            let mut table = PageTable { pages: vec![EMPTY; 4], numbers: vec![0; 4] };
            let mut map = HashMap::new();
            for (page, number) in steps {
                if map.remove(&page).is_some() {
                    table.remove(Lpn(page));
                } else if map.len() < 3 {
                    map.insert(page, number);
                    table.insert(Lpn(page), number);
                } else {
                    let page = *map.keys().min().unwrap();
                    map.remove(&page);
                    table.remove(Lpn(page));
                }
                for page in 0..100 {
                    prop_assert_eq!(table.get(Lpn(page)), map.get(&page).copied());
                }
            }
        }
    }
}
