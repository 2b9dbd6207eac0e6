//! Which entry a page has, of the few that are in memory.

use crate::map::links::NONE;
use crate::memory;
use crate::page_table::PageTable;
use crate::{Archive, State, StateError};

/// Page -> its entry.
#[derive(Debug)]
pub(super) struct Index {
    /// Four bytes a page: the fastest. Empty if it is as large as what it holds.
    of_all: Vec<u32>,
    /// Then this one, which is not saved: the entries tell it.
    of_held: PageTable,
}

impl Index {
    /// Of a drive with this many pages: for all of them, or, if it is small, for what is held.
    pub(super) fn new(pages: u32, is_small: bool) -> Self {
        let pages = if is_small { 0 } else { pages as usize };
        Self { of_all: memory::table(pages, NONE), of_held: PageTable::default() }
    }

    fn is_small(&self) -> bool {
        self.of_all.is_empty()
    }

    /// The entry of `page`, or [`NONE`].
    #[inline]
    pub(super) fn get(&self, page: u32) -> u32 {
        match self.of_all.get(page as usize) {
            Some(entry) => *entry,
            None => self.get_held(page),
        }
    }

    #[cold]
    fn get_held(&self, page: u32) -> u32 {
        self.of_held.get(page).unwrap_or(NONE)
    }

    /// The same, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, page: u32) -> Option<&mut u32> {
        match self.of_all.get_mut(page as usize) {
            Some(entry) => (*entry != NONE).then_some(entry),
            None => self.of_held.get_mut(page),
        }
    }

    /// Sets bits in the entry of `page`: whether there is one.
    #[inline]
    pub(super) fn set_bits(&mut self, page: u32, bits: u32) -> bool {
        let Self { of_all, of_held } = self;
        let entry = of_all.get_mut(page as usize).or_else(|| of_held.get_mut(page));
        let Some(entry) = entry else { return false };
        // All bits of none are set.
        *entry |= bits;
        *entry != NONE
    }

    /// Whether `page` has an entry.
    #[inline]
    pub(super) fn holds(&self, page: u32) -> bool {
        self.get(page) != NONE
    }

    #[inline]
    pub(super) fn set(&mut self, page: u32, entry: u32) {
        match self.of_all.get_mut(page as usize) {
            Some(of_page) => *of_page = entry,
            None => self.set_held(page, entry),
        }
    }

    #[cold]
    fn set_held(&mut self, page: u32, entry: u32) {
        debug_assert!(self.is_small(), "page {page} is beyond the drive");
        if entry == NONE { self.of_held.remove(page) } else { self.of_held.set(page, entry) }
    }

    #[inline]
    pub(super) fn remove(&mut self, page: u32) {
        self.set(page, NONE);
    }

    /// Pages that have an entry.
    pub(super) fn len(&self) -> usize {
        let of_all = self.of_all.iter().filter(|entry| **entry != NONE).count();
        of_all + self.of_held.len()
    }

    /// If they were not saved, all entries are these, by their pages.
    pub(super) fn restore(&mut self, entries: impl Iterator<Item = (u32, u32)>) {
        if self.is_small() {
            self.of_held = entries.collect();
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, page: u32) {
        memory::prefetch(&self.of_all, page as usize);
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.of_all[..]) + self.of_held.bytes()
    }
}

impl State for Index {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        if self.is_small() { Ok(()) } else { self.of_all.transfer(archive) }
    }
}
