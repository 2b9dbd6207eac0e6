//! What an algorithm has to remember.

use std::fmt;
use std::ops::Add;

/// What an algorithm has to remember beside what every FTL of its kind keeps (mapping table, valid
/// pages and their count per block, free list), packed as a controller would pack it.
///
/// Fields of the same thing add up: a placement and a victim rule make the sum of both.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Metadata {
    /// Bits for each logical page.
    pub bits_per_page: f64,
    /// Bits for each erase block.
    pub bits_per_block: u32,
    /// Bytes that do not depend on the size of the drive.
    pub bytes: u64,
}

/// Bits of a time stamp, such as the write clock when a block was sealed.
pub const STAMP_BITS: u32 = 64;

/// Bits of a block number: a link in a list of blocks.
pub const LINK_BITS: u32 = 32;

impl Metadata {
    /// Nothing to remember.
    pub const NONE: Self = Self { bits_per_page: 0.0, bits_per_block: 0, bytes: 0 };

    /// `bits` for each erase block.
    pub const fn per_block(bits: u32) -> Self {
        Self { bits_per_block: bits, ..Self::NONE }
    }

    /// `bits` for each logical page.
    pub const fn per_page(bits: f64) -> Self {
        Self { bits_per_page: bits, ..Self::NONE }
    }

    /// `bytes`, however large the drive is.
    pub const fn fixed(bytes: u64) -> Self {
        Self { bytes, ..Self::NONE }
    }

    /// Bytes on a drive of the given size.
    pub fn total_bytes(&self, logical_pages: u32, blocks: u32) -> u64 {
        let pages = (self.bits_per_page * f64::from(logical_pages) / 8.0).ceil() as u64;
        let blocks = (u64::from(self.bits_per_block) * u64::from(blocks)).div_ceil(8);
        pages + blocks + self.bytes
    }
}

/// Bits that tell `values` values apart.
pub const fn bits_for(values: u32) -> u32 {
    values.next_power_of_two().trailing_zeros()
}

impl Add for Metadata {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            bits_per_page: self.bits_per_page + other.bits_per_page,
            bits_per_block: self.bits_per_block + other.bits_per_block,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// As in `2 bits/page + 64 bits/block + 2052 bytes`; `none` if there is nothing.
impl fmt::Display for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut terms = Vec::new();
        if self.bits_per_page > 0.0 {
            terms.push(format!("{} bits/page", self.bits_per_page));
        }
        if self.bits_per_block > 0 {
            terms.push(format!("{} bits/block", self.bits_per_block));
        }
        if self.bytes > 0 {
            terms.push(format!("{} bytes", self.bytes));
        }
        f.pad(&if terms.is_empty() { "none".to_owned() } else { terms.join(" + ") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_and_print() {
        let sum = Metadata::per_page(2.0) + Metadata::per_block(1) + Metadata::fixed(2052);
        assert_eq!(sum.to_string(), "2 bits/page + 1 bits/block + 2052 bytes");
        assert_eq!(sum.total_bytes(1001, 9), 251 + 2 + 2052);
        assert_eq!(Metadata::NONE.to_string(), "none");
        assert_eq!(Metadata::NONE.total_bytes(1 << 30, 1 << 20), 0);
        assert_eq!([1, 2, 3, 4, 5, 8, 9].map(bits_for), [0, 1, 2, 2, 3, 3, 4]);
    }
}
