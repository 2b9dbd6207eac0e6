//! BigHash: small objects in buckets, each of which is one write.

use ftlab_random::scale_below;

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

/// Entries of a line of memory.
const LINE: usize = 16;

/// A table of buckets. An object has its bucket by its hash; in it, the oldest objects make room for new
/// ones.
pub(super) struct BigHash {
    buckets: u64,
    /// Entries of all buckets, as many of each, those of its objects first and in order of age; the rest
    /// is 0. Buckets begin where lines of memory do, the first of them at `first`.
    entries: Vec<u32>,
    first: usize,
    /// Entries of a bucket, whole lines, and those that objects may have.
    stride: usize,
    entries_max: usize,
}

impl BigHash {
    /// `object_bytes_min` is the smallest object that there will be: it limits how many a bucket may hold.
    pub(super) fn new(buckets: u64, object_bytes_min: u32) -> Self {
        let slot = object_bytes_min + OBJECT_HEADER_BYTES;
        let entries_max = ((BUCKET_BYTES - BUCKET_HEADER_BYTES) / slot).max(1) as usize;
        let stride = entries_max.next_multiple_of(LINE);
        let entries = ftlab_memory::table(buckets as usize * stride + LINE, 0_u32);
        let first = entries.as_ptr().align_offset(LINE * size_of::<u32>()).min(LINE);
        Self { buckets, entries, first, stride, entries_max }
    }

    /// The bucket of an object.
    #[inline]
    pub(super) fn bucket(&self, key: u64) -> u64 {
        scale_below(key, self.buckets)
    }

    #[inline]
    fn place(&self, key: u64) -> usize {
        self.first + self.bucket(key) as usize * self.stride
    }

    #[inline]
    fn tag(key: u64) -> u32 {
        (key as u32) << SIZE_BITS
    }

    /// Fetches the bucket of an object.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        let place = self.place(key);
        for line in (0..self.stride.min(2 * LINE)).step_by(LINE) {
            ftlab_memory::prefetch(&self.entries, place + line);
        }
    }

    /// Whether an entry is of an object with this tag. If so, what they do not have in common is the size, which is not 0.
    #[inline]
    fn is_it(entry: u32, tag: u32) -> bool {
        (entry ^ tag).wrapping_sub(1) < SIZE_MASK
    }

    /// Whether an object with this tag is among the entries, a line of which is compared at a time.
    #[inline]
    fn has(entries: &[u32], tag: u32) -> bool {
        let (lines, _) = entries.as_chunks::<LINE>();
        for line in lines {
            let mut has = false;
            for entry in line {
                has |= Self::is_it(*entry, tag);
            }
            if has {
                return true;
            }
            if line[LINE - 1] == 0 {
                return false;
            }
        }
        false
    }

    /// Whether an object is here.
    #[inline]
    pub(super) fn contains(&self, key: u64) -> bool {
        let place = self.place(key);
        Self::has(&self.entries[place..place + self.stride], Self::tag(key))
    }

    /// Forgets an object; whether it was here, so that its bucket has to be written.
    #[inline]
    pub(super) fn remove(&mut self, key: u64) -> bool {
        let (place, tag) = (self.place(key), Self::tag(key));
        let entries = &mut self.entries[place..place + self.stride];
        Self::has(entries, tag) && Self::take(entries, tag)
    }

    /// Takes out the entry with this tag.
    #[cold]
    fn take(entries: &mut [u32], tag: u32) -> bool {
        let place = entries.iter().position(|entry| Self::is_it(*entry, tag));
        if let Some(place) = place {
            entries.copy_within(place + 1.., place);
            *entries.last_mut().expect("a line at least") = 0;
        }
        place.is_some()
    }

    /// Puts an object in, and takes out the oldest ones for which there is no more room.
    #[inline]
    pub(super) fn insert(&mut self, key: u64, bytes: u32) {
        let (place, tag) = (self.place(key), Self::tag(key));
        let entries = &mut self.entries[place..place + self.stride];
        if Self::has(entries, tag) {
            Self::take(entries, tag);
        }
        let slot = bytes + OBJECT_HEADER_BYTES;
        let (mut count, mut used) = (0, 0);
        let (lines, _) = entries.as_chunks::<LINE>();
        for line in lines {
            count += line.iter().map(|entry| u32::from(*entry != 0)).sum::<u32>();
            used += line.iter().map(|entry| entry & SIZE_MASK).sum::<u32>();
            if line[LINE - 1] == 0 {
                break;
            }
        }
        let count = count as usize;
        let mut room = BUCKET_BYTES - BUCKET_HEADER_BYTES - used;
        let mut leaving = usize::from(count == self.entries_max);
        room += entries[..leaving].iter().map(|entry| entry & SIZE_MASK).sum::<u32>();
        while room < slot {
            room += entries[leaving] & SIZE_MASK;
            leaving += 1;
        }
        if leaving == 0 {
            entries[count] = tag | slot;
            return;
        }
        entries.copy_within(leaving..count, 0);
        entries[count - leaving] = tag | slot;
        entries[count - leaving + 1..count].fill(0);
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
