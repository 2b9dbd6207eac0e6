//! What a front end serves: a block device in bytes.
use std::io;
/// A block device in bytes; every operation may run on any thread, and many at once.
pub trait Store: Send + Sync {
    /// Its size; a multiple of [`block_bytes`](Self::block_bytes).
    fn bytes(&self) -> u64;
    /// The size and alignment of requests it likes best: the page size. Any other works, slower.
    fn block_bytes(&self) -> u32;
    /// Reads `data.len()` bytes at `offset`; what was never written or was trimmed reads as zeros.
    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()>;
    /// Writes `data` at `offset`; durable after the next [`flush`](Self::flush).
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Gives up the content of a range: it reads as zeros.
    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()>;
    /// Makes a range read as zeros; as [`trim`](Self::trim), where `may_trim`.
    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()>;
    /// Returns when everything that completed before is durable.
    fn flush(&self) -> io::Result<()>;
}
