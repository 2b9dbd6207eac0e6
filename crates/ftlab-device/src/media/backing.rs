//! The backing storage of a drive.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Persistent bytes: a file, or a test double that loses power.
///
/// Writes are visible to reads at once; they are durable when a [`sync`](Self::sync) that began
/// later has succeeded. After a failed sync nothing may be assumed about the writes since the
/// previous one.
pub trait Backing: Send + Sync {
    /// Fills `data` from `offset`.
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `data` at `offset`.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
    /// Its size in bytes.
    fn bytes(&self) -> io::Result<u64>;
}

impl Backing for File {
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()> {
        self.read_exact_at(data, offset)
    }

    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(data, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }

    fn bytes(&self) -> io::Result<u64> {
        self.metadata().map(|metadata| metadata.len())
    }
}
