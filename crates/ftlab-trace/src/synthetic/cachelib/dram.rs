//! The cache in memory: least recently used.

use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;

/// Bytes that an object takes beside its key and value: the header of an item and its place in a hash
/// table.
const OVERHEAD_BYTES: u64 = 40;

/// Objects in memory, the least recently used of which leave first.
///
/// Whoever is used is put at the end of a queue; an entry of the queue that is not the latest of its
/// object means nothing when it comes to the front.
pub(super) struct Dram {
    objects: FxHashMap<u64, Object>,
    queue: VecDeque<(u64, u64)>,
    clock: u64,
    bytes: u64,
    bytes_max: u64,
}

/// An object in memory.
#[derive(Debug, Clone, Copy)]
struct Object {
    used_at: u64,
    bytes: u32,
    is_clean: bool,
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
            objects: FxHashMap::default(),
            queue: VecDeque::new(),
            clock: 0,
            bytes: 0,
            bytes_max,
        }
    }

    /// Uses an object, if it is here.
    #[inline]
    pub(super) fn get(&mut self, key: u64) -> bool {
        let Some(object) = self.objects.get_mut(&key) else { return false };
        self.clock += 1;
        object.used_at = self.clock;
        self.queue.push_back((key, self.clock));
        true
    }

    /// Puts an object in or replaces it; whether what it replaces had changed since it came from flash.
    #[inline]
    pub(super) fn put(&mut self, key: u64, bytes: u32, is_clean: bool) -> bool {
        self.clock += 1;
        self.queue.push_back((key, self.clock));
        self.bytes += u64::from(bytes) + OVERHEAD_BYTES;
        let object = Object { used_at: self.clock, bytes, is_clean };
        let old = self.objects.insert(key, object);
        self.bytes -= old.map_or(0, |old| u64::from(old.bytes) + OVERHEAD_BYTES);
        old.is_some_and(|old| !old.is_clean)
    }

    /// The size of an object, if it is here.
    #[inline]
    pub(super) fn bytes_of(&self, key: u64) -> Option<u32> {
        self.objects.get(&key).map(|object| object.bytes)
    }

    /// Objects that may leave next, in order.
    pub(super) fn leaving(&self) -> impl Iterator<Item = u64> + '_ {
        self.queue.iter().map(|(key, _)| *key)
    }

    /// Forgets an object.
    pub(super) fn remove(&mut self, key: u64) {
        if let Some(old) = self.objects.remove(&key) {
            self.bytes -= u64::from(old.bytes) + OVERHEAD_BYTES;
        }
    }

    /// The next object that has to leave, if there is too much.
    #[inline]
    pub(super) fn evict(&mut self) -> Option<Evicted> {
        if self.queue.len() > 4 * self.objects.len() + 1024 {
            let objects = &self.objects;
            self.queue.retain(|(key, at)| objects.get(key).is_some_and(|o| o.used_at == *at));
        }
        while self.bytes > self.bytes_max {
            let (key, at) = self.queue.pop_front()?;
            if let Entry::Occupied(entry) = self.objects.entry(key)
                && entry.get().used_at == at
            {
                let Object { bytes, is_clean, .. } = entry.remove();
                self.bytes -= u64::from(bytes) + OVERHEAD_BYTES;
                return Some(Evicted { key, bytes, is_clean });
            }
        }
        None
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
