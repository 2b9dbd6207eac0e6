//! Translation pages in the order of how hot their entries are on average: a heap.

use crate::ensure::ensure;
use crate::state::state;

/// Not in the heap.
const NONE: u32 = u32::MAX;

#[derive(Debug, Clone, Copy)]
struct Item {
    page: u32,
    heat: u64,
    entries: u32,
}

state!(Item { page, heat, entries } blank Self { page: NONE, heat: 0, entries: 0 });

impl Item {
    /// Whether it is colder than another one; of two that are as cold, the one with the lower number is.
    fn is_below(&self, other: &Self) -> bool {
        let own = u128::from(self.heat) * u128::from(other.entries);
        let others = u128::from(other.heat) * u128::from(self.entries);
        (own, self.page) < (others, other.page)
    }
}

/// Pages, the coldest of which is found at once.
#[derive(Debug)]
pub(super) struct Coldest {
    heap: Vec<Item>,
    /// Page -> its place in the heap.
    places: Vec<u32>,
}

state!(Coldest { heap, places });

impl Coldest {
    /// None of this many pages.
    pub(super) fn new(pages: usize) -> Self {
        Self { heap: Vec::new(), places: vec![NONE; pages] }
    }

    /// The coldest.
    pub(super) fn first(&self) -> Option<u32> {
        self.heap.first().map(|item| item.page)
    }

    /// Its entries, one at least, are so hot in all.
    pub(super) fn set(&mut self, page: u32, heat: u64, entries: u32) {
        let item = Item { page, heat, entries };
        let mut place = self.places[page as usize];
        if place == NONE {
            place = self.heap.len() as u32;
            self.heap.push(item);
            self.places[page as usize] = place;
        }
        self.heap[place as usize] = item;
        self.settle(place as usize);
    }

    /// It has no entries any more.
    pub(super) fn remove(&mut self, page: u32) {
        let place = std::mem::replace(&mut self.places[page as usize], NONE);
        if place == NONE {
            return;
        }
        let place = place as usize;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            self.places[self.heap[place].page as usize] = place as u32;
            self.settle(place);
        }
    }

    /// Moves what is at a place to where it belongs.
    fn settle(&mut self, mut place: usize) {
        while place > 0 && self.heap[place].is_below(&self.heap[(place - 1) / 2]) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        loop {
            let below =
                [2 * place + 1, 2 * place + 2].into_iter().filter(|at| *at < self.heap.len());
            let least =
                below.reduce(|a, b| if self.heap[b].is_below(&self.heap[a]) { b } else { a });
            let Some(least) = least.filter(|least| self.heap[*least].is_below(&self.heap[place]))
            else {
                break;
            };
            self.swap(place, least);
            place = least;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        for place in [a, b] {
            self.places[self.heap[place].page as usize] = place as u32;
        }
    }

    /// Bytes of memory that it takes.
    pub(super) fn memory_bytes(&self) -> usize {
        self.heap.capacity() * size_of::<Item>() + size_of_val(&self.places[..])
    }

    /// Verifies that every page is in order, with what `of` says of it.
    pub(super) fn check(&self, of: impl Fn(u32) -> (u64, u32)) -> Result<(), String> {
        for (place, item) in self.heap.iter().enumerate() {
            ensure!((item.heat, item.entries) == of(item.page), "page {} is as it was", item.page);
            ensure!(self.places[item.page as usize] == place as u32, "page {} is lost", item.page);
            let above = &self.heap[place.saturating_sub(1) / 2];
            ensure!(!item.is_below(above), "page {} is above a colder one", above.page);
        }
        let known = (0..self.places.len() as u32).filter(|page| of(*page).1 > 0).count();
        ensure!(known == self.heap.len(), "{known} pages have entries");
        Ok(())
    }
}
