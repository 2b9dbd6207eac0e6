//! BigHash: small objects in buckets, each of which is one write.

use crate::synthetic::draw::scale_below;

/// Bytes of a bucket.
pub(super) const BUCKET_BYTES: u32 = 4096;
/// Bytes of a bucket that are not for objects.
const BUCKET_HEADER_BYTES: u32 = 24;
/// Bytes that an object takes beside its key and value.
const OBJECT_HEADER_BYTES: u32 = 18;
/// The largest object, key and value.
pub(super) const OBJECT_BYTES_MAX: u32 = BUCKET_BYTES - BUCKET_HEADER_BYTES - OBJECT_HEADER_BYTES;

/// The low bits of an entry are the bytes that an object takes, the rest are the low bits of its key.
const SIZE_BITS: u32 = 12;
const SIZE_MASK: u32 = (1 << SIZE_BITS) - 1;

/// A table of buckets. An object has its bucket by its hash; in it, the oldest objects make room for new
/// ones.
pub(super) struct BigHash {
    buckets: u64,
    /// Entries of all buckets, as many of each, those of its objects first and in order of age; the rest
    /// is 0.
    entries: Vec<u32>,
    entries_per_bucket: usize,
}

impl BigHash {
    /// `object_bytes_min` is the smallest object that there will be: it limits how many a bucket may hold.
    pub(super) fn new(buckets: u64, object_bytes_min: u32) -> Self {
        let slot = object_bytes_min + OBJECT_HEADER_BYTES;
        let entries_per_bucket = ((BUCKET_BYTES - BUCKET_HEADER_BYTES) / slot).max(1) as usize;
        Self {
            buckets,
            entries: vec![0; buckets as usize * entries_per_bucket],
            entries_per_bucket,
        }
    }

    /// The bucket of an object.
    #[inline]
    pub(super) fn bucket(&self, key: u64) -> u64 {
        scale_below(key, self.buckets)
    }

    #[inline]
    fn entries(&self, key: u64) -> &[u32] {
        let first = self.bucket(key) as usize * self.entries_per_bucket;
        &self.entries[first..first + self.entries_per_bucket]
    }

    #[inline]
    fn tag(key: u64) -> u32 {
        (key as u32) << SIZE_BITS
    }

    /// Something of the bucket of an object: reading it brings that into the processor's cache.
    #[inline]
    pub(super) fn touch(&self, key: u64) -> u32 {
        self.entries(key)[0]
    }

    /// The place of an object: entries are compared several at a time, in no order.
    #[inline]
    fn position(entries: &[u32], key: u64) -> Option<usize> {
        const TOGETHER: usize = 8;
        let tag = Self::tag(key);
        let is_it = |entry: u32| u32::from(entry & !SIZE_MASK == tag) & u32::from(entry != 0);
        for (number, together) in entries.chunks(TOGETHER).enumerate() {
            let mut found = 0_u32;
            for (bit, entry) in together.iter().enumerate() {
                found |= is_it(*entry) << bit;
            }
            if found != 0 {
                return Some(number * TOGETHER + found.trailing_zeros() as usize);
            }
        }
        None
    }

    /// Whether an object is here.
    #[inline]
    pub(super) fn contains(&self, key: u64) -> bool {
        Self::position(self.entries(key), key).is_some()
    }

    /// Forgets an object; whether it was here, so that its bucket has to be written.
    #[inline]
    pub(super) fn remove(&mut self, key: u64) -> bool {
        let first = self.bucket(key) as usize * self.entries_per_bucket;
        let entries = &mut self.entries[first..first + self.entries_per_bucket];
        let Some(place) = Self::position(entries, key) else { return false };
        entries.copy_within(place + 1.., place);
        entries[self.entries_per_bucket - 1] = 0;
        true
    }

    /// Puts an object in, and takes out the oldest ones for which there is no more room.
    #[inline]
    pub(super) fn insert(&mut self, key: u64, bytes: u32) {
        self.remove(key);
        let slot = bytes + OBJECT_HEADER_BYTES;
        let first = self.bucket(key) as usize * self.entries_per_bucket;
        let entries = &mut self.entries[first..first + self.entries_per_bucket];
        let mut room = BUCKET_BYTES - BUCKET_HEADER_BYTES;
        let count = entries.iter().map(|entry| usize::from(*entry != 0)).sum::<usize>();
        room -= entries.iter().map(|entry| entry & SIZE_MASK).sum::<u32>();
        let mut leaving = usize::from(count == entries.len());
        room += entries[..leaving].iter().map(|entry| entry & SIZE_MASK).sum::<u32>();
        while room < slot {
            room += entries[leaving] & SIZE_MASK;
            leaving += 1;
        }
        entries.copy_within(leaving..count, 0);
        entries[count - leaving] = Self::tag(key) | slot;
        if leaving > 1 {
            entries[count - leaving + 1..count].fill(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of objects, oldest first, in a single bucket.
        #[test]
        fn the_oldest_objects_make_room(
            operations in prop::collection::vec((0_u64..40, 80_u32..2000, prop::bool::ANY), 0..300),
        ) {
            let mut table = BigHash::new(1, 80);
            let mut list: Vec<(u64, u32)> = Vec::new();
            for (key, bytes, is_insert) in operations {
                let known = list.iter().position(|(other, _)| *other == key);
                prop_assert_eq!(table.contains(key), known.is_some());
                if let Some(place) = known {
                    list.remove(place);
                }
                if is_insert {
                    table.insert(key, bytes);
                    list.push((key, bytes + OBJECT_HEADER_BYTES));
                    while list.iter().map(|(_, slot)| slot).sum::<u32>() > 4072 {
                        list.remove(0);
                    }
                } else {
                    prop_assert_eq!(table.remove(key), known.is_some());
                }
                let left: u32 = list.iter().map(|(_, slot)| slot).sum();
                let held: u32 = table.entries.iter().map(|entry| entry & SIZE_MASK).sum();
                prop_assert_eq!(held, left);
            }
        }
    }
}
