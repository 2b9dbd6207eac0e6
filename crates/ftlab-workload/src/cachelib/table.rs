//! A table of keys that are hashes already, with a number for each: one look at one place, as a rule.

/// The bit of a number that says that it is there.
pub(super) const PRESENT: u64 = 1 << 63;

/// Keys and numbers. A key is at the place of its low bits or at the next one that is free behind it, so that
/// it is found in the line of memory that was looked at first.
pub(super) struct Table {
    /// Numbers without [`PRESENT`] are free places.
    slots: Vec<(u64, u64)>,
    len: usize,
}

impl Table {
    pub(super) fn new() -> Self {
        Self { slots: ftlab_memory::table(1 << 10, (0, 0)), len: 0 }
    }

    /// Keys here.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn home(&self, key: u64) -> usize {
        key as usize & (self.slots.len() - 1)
    }

    /// The place of a key, or the free one that it would take.
    #[inline]
    fn place(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = self.home(key);
        while self.slots[place].1 & PRESENT != 0 && self.slots[place].0 != key {
            place = (place + 1) & mask;
        }
        place
    }

    /// Fetches the place of a key.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        ftlab_memory::prefetch(&self.slots, self.home(key));
    }

    /// The number of a key.
    #[inline]
    pub(super) fn get(&self, key: u64) -> Option<u64> {
        let number = self.slots[self.place(key)].1;
        (number & PRESENT != 0).then_some(number)
    }

    /// The value of a key, to change all but [`PRESENT`].
    #[inline]
    pub(super) fn get_mut(&mut self, key: u64) -> Option<&mut u64> {
        let place = self.place(key);
        let number = &mut self.slots[place].1;
        (*number & PRESENT != 0).then_some(number)
    }

    /// Puts a key in, or gives it another number; returns the one that it had.
    #[inline]
    pub(super) fn insert(&mut self, key: u64, number: u64) -> Option<u64> {
        let place = self.place(key);
        let old = std::mem::replace(&mut self.slots[place], (key, number | PRESENT)).1;
        if old & PRESENT != 0 {
            return Some(old);
        }
        self.len += 1;
        if 3 * self.len > 2 * self.slots.len() {
            self.grow();
        }
        None
    }

    #[cold]
    fn grow(&mut self) {
        let slots = ftlab_memory::table(2 * self.slots.len(), (0, 0));
        for (key, number) in std::mem::replace(&mut self.slots, slots) {
            if number & PRESENT != 0 {
                let place = self.place(key);
                self.slots[place] = (key, number);
            }
        }
    }

    /// Takes a key out; returns its number.
    #[inline]
    pub(super) fn remove(&mut self, key: u64) -> Option<u64> {
        let mask = self.slots.len() - 1;
        let mut free = self.place(key);
        let old = self.slots[free].1;
        if old & PRESENT == 0 {
            return None;
        }
        self.len -= 1;
        // Those behind it move up, unless that were before their place.
        let mut place = (free + 1) & mask;
        while self.slots[place].1 & PRESENT != 0 {
            let home = self.home(self.slots[place].0);
            if place.wrapping_sub(home) & mask >= place.wrapping_sub(free) & mask {
                self.slots[free] = self.slots[place];
                free = place;
            }
            place = (place + 1) & mask;
        }
        self.slots[free] = (0, 0);
        Some(old)
    }

    #[cfg(test)]
    fn slots(&self) -> usize {
        self.slots.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Against a map, with keys whose places are the same or follow one another, and wrap around.
        #[test]
        fn keys_are_found_again(
            operations in prop::collection::vec((0_u64..400, 0_u64..4, 0_u64..1000), 0..4000),
        ) {
            let mut table = Table::new();
            let mut map = HashMap::new();
            for (low, high, number) in operations {
                // Some at the end of 1,024 places, some far behind.
                let key = ((low + 1000) % 1200) | (high << 40);
                match number % 3 {
                    0 => prop_assert_eq!(table.remove(key), map.remove(&key)),
                    1 => {
                        let number = number | PRESENT;
                        prop_assert_eq!(table.insert(key, number), map.insert(key, number));
                    }
                    _ => {
                        prop_assert_eq!(table.get(key), map.get(&key).copied());
                        prop_assert_eq!(table.get_mut(key).copied(), map.get(&key).copied());
                    }
                }
                prop_assert_eq!(table.len(), map.len());
            }
            for (key, number) in map {
                prop_assert_eq!(table.get(key), Some(number));
            }
        }
    }

    #[test]
    fn it_grows() {
        let mut table = Table::new();
        (0..5000_u64).for_each(|key| assert_eq!(table.insert(key * 7, key), None));
        assert_eq!((table.len(), table.slots()), (5000, 8192));
        assert!((0..5000_u64).all(|key| table.get(key * 7) == Some(key | PRESENT)));
    }
}
