//! The interface that front ends serve: a byte-addressed block device.
use std::io;

/// A part of a device, all of which holds data, or none of which does and reads as zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Its length.
    pub bytes: u64,
    /// Whether it holds data.
    pub has_data: bool,
}

/// A byte-addressed block device; operations may run on any thread, also concurrently.
pub trait Store: Send + Sync {
    /// Its size; a multiple of [`block_bytes`](Self::block_bytes).
    fn bytes(&self) -> u64;
    /// The preferred size and alignment of requests: the page size. Others work, but are slower.
    fn block_bytes(&self) -> u32;
    /// Whether it can only be read.
    fn is_read_only(&self) -> bool {
        false
    }
    /// Reads `data.len()` bytes at `offset`; ranges never written, or trimmed, read as zeros.
    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()>;
    /// Writes `data` at `offset`; durable after the next [`flush`](Self::flush).
    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()>;
    /// Writes `data` of a stream that the host names (a placement handle): FTLs that ask for streams keep their pages
    /// apart.
    fn write_stream(&self, offset: u64, data: &[u8], stream: u16) -> io::Result<()> {
        let _ = stream;
        self.write(offset, data)
    }
    /// Moves a stream that the host names (a placement handle) to a fresh unit; false if there is no such
    /// handle.
    fn renew_handle(&self, handle: u16) -> io::Result<bool> {
        let _ = handle;
        Ok(false)
    }
    /// Discards the content of a range, which then reads as zeros.
    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()>;
    /// Makes a range read as zeros; like [`trim`](Self::trim) if `may_trim`.
    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()>;
    /// The part that begins at `offset`, of at most `bytes` bytes, which are at least 1. The next part
    /// may be of the same kind.
    fn extent(&self, offset: u64, bytes: u64) -> io::Result<Extent> {
        let _ = offset;
        Ok(Extent { bytes, has_data: true })
    }
    /// Returns when everything that completed before is durable.
    fn flush(&self) -> io::Result<()>;
}
