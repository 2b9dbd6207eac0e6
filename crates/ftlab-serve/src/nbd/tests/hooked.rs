//! A store that does something before each write.

use crate::Ram;
use ftlab_drive::Store;
use std::io;

/// Blocks of this size in memory; the function gets the offset and the bytes of each write.
pub(super) struct Hooked<F> {
    pub(super) ram: Ram,
    pub(super) block_bytes: u32,
    pub(super) before_write: F,
}

impl<F: Fn(u64, usize) + Send + Sync> Store for Hooked<F> {
    fn bytes(&self) -> u64 {
        self.ram.bytes()
    }

    fn block_bytes(&self) -> u32 {
        self.block_bytes
    }

    fn read(&self, offset: u64, data: &mut [u8]) -> io::Result<()> {
        self.ram.read(offset, data)
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        (self.before_write)(offset, data.len());
        self.ram.write(offset, data)
    }

    fn trim(&self, offset: u64, bytes: u64) -> io::Result<()> {
        self.ram.trim(offset, bytes)
    }

    fn write_zeroes(&self, offset: u64, bytes: u64, may_trim: bool) -> io::Result<()> {
        self.ram.write_zeroes(offset, bytes, may_trim)
    }

    fn flush(&self) -> io::Result<()> {
        self.ram.flush()
    }
}
