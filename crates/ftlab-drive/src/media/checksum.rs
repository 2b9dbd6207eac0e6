//! Checksums of pages.

use ftlab_flash::Lpn;

/// The checksum of a page: of its number, followed by its data.
#[inline]
pub(crate) fn checksum(lpn: Lpn, data: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&lpn.0.to_le_bytes()), data)
}
