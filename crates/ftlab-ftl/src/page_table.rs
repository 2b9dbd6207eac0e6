//! A number for each of some pages.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of a bucket: page, number, and a byte of the table itself.
const BUCKET_BYTES: usize = 9;

/// Page -> number, in memory for those pages alone.
#[derive(Debug, Default)]
pub(crate) struct PageTable(HashMap<u32, u32, BuildHasherDefault<Multiply>>);

impl PageTable {
    #[inline]
    pub(crate) fn get(&self, page: u32) -> Option<u32> {
        self.0.get(&page).copied()
    }

    pub(crate) fn get_mut(&mut self, page: u32) -> Option<&mut u32> {
        self.0.get_mut(&page)
    }

    #[inline]
    pub(crate) fn set(&mut self, page: u32, number: u32) {
        self.0.insert(page, number);
    }

    /// Sets it, if there is one.
    pub(crate) fn set_present(&mut self, page: u32, number: u32) {
        if let Some(present) = self.get_mut(page) {
            *present = number;
        }
    }

    /// Makes room for this many more.
    pub(crate) fn reserve(&mut self, numbers: usize) {
        self.0.reserve(numbers);
    }

    /// Sets it, if there is none.
    #[inline]
    pub(crate) fn set_absent(&mut self, page: u32, number: impl FnOnce() -> u32) {
        self.0.entry(page).or_insert_with(number);
    }

    #[inline]
    pub(crate) fn remove(&mut self, page: u32) {
        self.0.remove(&page);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Keeps the numbers of these pages only, and no more memory than twice as many take.
    pub(crate) fn keep(&mut self, keeps: impl Fn(u32) -> bool) {
        self.0.retain(|page, _| keeps(*page));
        self.0.shrink_to(2 * self.0.len());
    }

    pub(crate) fn bytes(&self) -> usize {
        // At most seven of eight buckets are used.
        self.0.capacity() * 8 / 7 * BUCKET_BYTES
    }
}

impl FromIterator<(u32, u32)> for PageTable {
    fn from_iter<T: IntoIterator<Item = (u32, u32)>>(numbers: T) -> Self {
        Self(numbers.into_iter().collect())
    }
}

/// Page numbers, spread by a multiplication.
#[derive(Debug, Default)]
pub(crate) struct Multiply(u64);

impl Hasher for Multiply {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32((*byte).into());
        }
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        let product = (self.0 ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = product ^ product >> 32;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
