//! The cache in memory: least recently used.

use super::table::Table;
use std::collections::VecDeque;

/// Bytes that an object takes beside its key and value: the header of an item and its place in a hash
/// table.
const OVERHEAD_BYTES: u64 = 40;

/// Bits of the clock that are kept: an entry of the queue is never so old that another one of its object has
/// the same.
const CLOCK_BITS: u32 = 30;
const CLOCK_MASK: u64 = (1 << CLOCK_BITS) - 1;

/// Objects in memory, the least recently used of which leave first.
///
/// Whoever is used is put at the end of a queue; an entry of the queue that is not the latest of its
/// object means nothing when it comes to the front.
pub(super) struct Dram {
    /// Of each key its [`Object`].
    objects: Table,
    /// Keys, their sizes, and the clock.
    queue: VecDeque<(u64, u32, u32)>,
    /// Entries at the front of the queue that were fetched.
    fetched: usize,
    clock: u64,
    bytes: u64,
    bytes_max: u64,
}

/// An object in memory, in a number: bytes, then the clock when it was used, then whether it is clean.
#[derive(Debug, Clone, Copy)]
struct Object(u64);

impl Object {
    const CLEAN: u64 = 1 << (u32::BITS + CLOCK_BITS);
    const USED_AT: u64 = CLOCK_MASK << u32::BITS;

    #[inline]
    fn new(used_at: u64, bytes: u32, is_clean: bool) -> Self {
        Self(u64::from(bytes) | used_at << u32::BITS | if is_clean { Self::CLEAN } else { 0 })
    }

    #[inline]
    fn bytes(self) -> u32 {
        self.0 as u32
    }

    #[inline]
    fn used_at(self) -> u64 {
        (self.0 & Self::USED_AT) >> u32::BITS
    }

    #[inline]
    fn is_clean(self) -> bool {
        self.0 & Self::CLEAN != 0
    }
}

/// What has left memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Evicted {
    pub(super) key: u64,
    pub(super) bytes: u32,
    /// Whether it came from flash and has not changed.
    pub(super) is_clean: bool,
}

impl Dram {
    pub(super) fn new(bytes_max: u64) -> Self {
        Self {
            objects: Table::new(),
            queue: VecDeque::new(),
            fetched: 0,
            clock: 0,
            bytes: 0,
            bytes_max,
        }
    }

    /// The clock, which goes on, of an entry at the end of the queue.
    #[inline]
    fn enqueue(&mut self, key: u64, bytes: u32) -> u64 {
        self.clock = (self.clock + 1) & CLOCK_MASK;
        self.queue.push_back((key, bytes, self.clock as u32));
        self.clock
    }

    /// Uses an object, if it is here.
    #[inline]
    pub(super) fn get(&mut self, key: u64) -> bool {
        let next = (self.clock + 1) & CLOCK_MASK;
        let Some(object) = self.objects.get_mut(key) else { return false };
        *object = *object & !Object::USED_AT | next << u32::BITS;
        let bytes = Object(*object).bytes();
        self.enqueue(key, bytes);
        true
    }

    /// Puts an object in or replaces it; whether what it replaces had changed since it came from flash.
    #[inline]
    pub(super) fn put(&mut self, key: u64, bytes: u32, is_clean: bool) -> bool {
        let used_at = self.enqueue(key, bytes);
        self.bytes += u64::from(bytes) + OVERHEAD_BYTES;
        let old = self.objects.insert(key, Object::new(used_at, bytes, is_clean).0).map(Object);
        self.bytes -= old.map_or(0, |old| u64::from(old.bytes()) + OVERHEAD_BYTES);
        old.is_some_and(|old| !old.is_clean())
    }

    /// Fetches where an object is.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        self.objects.prefetch(key);
    }

    /// The next of the first `until` entries of the queue that was not told yet, key and size: it may leave soon.
    #[inline]
    pub(super) fn next_leaving(&mut self, until: usize) -> Option<(u64, u32)> {
        if self.fetched >= until {
            return None;
        }
        let (key, bytes, _) = *self.queue.get(self.fetched)?;
        self.fetched += 1;
        Some((key, bytes))
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, key: u64) {
        if let Some(old) = self.objects.remove(key) {
            self.bytes -= u64::from(Object(old).bytes()) + OVERHEAD_BYTES;
        }
    }

    /// The next object that has to leave, if there is too much.
    #[inline]
    pub(super) fn evict(&mut self) -> Option<Evicted> {
        if self.queue.len() > 4 * self.objects.len() + 1024 {
            self.compact();
        }
        while self.bytes > self.bytes_max {
            let (key, _, at) = self.queue.pop_front()?;
            self.fetched = self.fetched.saturating_sub(1);
            let Some(object) = self.objects.get(key).map(Object) else { continue };
            if object.used_at() == u64::from(at) {
                self.remove(key);
                let (bytes, is_clean) = (object.bytes(), object.is_clean());
                return Some(Evicted { key, bytes, is_clean });
            }
        }
        None
    }

    /// Takes entries out of the queue that mean nothing.
    #[cold]
    fn compact(&mut self) {
        self.fetched = 0;
        let objects = &self.objects;
        let is_latest = |key, at| objects.get(key).is_some_and(|o| Object(o).used_at() == at);
        self.queue.retain(|(key, _, at)| is_latest(*key, u64::from(*at)));
    }

    /// Bytes of all objects here.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Objects here.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.objects.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list in order of use.
        #[test]
        fn the_least_recently_used_leave(
            operations in prop::collection::vec((0_u64..30, 0_u8..4), 0..4000),
            room in 1_u64..20,
        ) {
            let mut dram = Dram::new(room * (100 + OVERHEAD_BYTES));
            let mut list: Vec<u64> = Vec::new();
            for (key, operation) in operations {
                let known = list.iter().position(|other| *other == key);
                if let Some(place) = known {
                    list.remove(place);
                }
                match operation {
                    0 => dram.remove(key),
                    1 => {
                        dram.put(key, 100, false);
                        list.push(key);
                    }
                    _ => {
                        prop_assert_eq!(dram.get(key), known.is_some());
                        list.extend(known.map(|_| key));
                    }
                }
                let out = dram.evict().map(|evicted| evicted.key);
                let expected = (list.len() as u64 > room).then(|| list.remove(0));
                prop_assert_eq!(out, expected);
                prop_assert_eq!(dram.len(), list.len());
            }
        }
    }
}
