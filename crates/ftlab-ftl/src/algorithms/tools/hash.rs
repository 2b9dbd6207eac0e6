//! Numbers that look random and depend on a page, for hash tables and Bloom filters.

use ftlab_flash::Lpn;

/// 64 bits of which each depends on all bits of the page number.
#[inline]
pub(crate) fn hash(lpn: Lpn) -> u64 {
    let product = u128::from(u64::from(lpn.0) ^ 0x9E6C_63D0_876A_9A99) * 0xC2B2_AE3D_27D4_EB4F;
    (product >> 64) as u64 ^ product as u64
}

/// The number below `limit`, at most 2^32, at which `hash` stands among all 32-bit numbers.
#[inline]
pub(crate) fn below(limit: u64, hash: u32) -> u64 {
    (u64::from(hash) * limit) >> 32
}
