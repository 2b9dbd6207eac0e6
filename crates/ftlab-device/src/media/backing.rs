//! What keeps a drive's bytes.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Bytes that survive: a file, or a double of one that loses power.
///
/// What was written is read at once; it is durable when a [`sync`](Self::sync) that began later has
/// succeeded. After a sync that failed nothing may be assumed of what was written since the one before.
pub trait Backing: Send + Sync {
    /// Fills `data` from `offset` on.
    fn read_at(&self, data: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `data` at `offset`.
    fn write_at(&self, data: &[u8], offset: u64) -> io::Result<()>;
    /// Makes what was written durable.
    fn sync(&self) -> io::Result<()>;
    /// How many bytes there are.
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
