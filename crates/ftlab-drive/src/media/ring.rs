//! The bytes of the journal on the medium: a ring, of which there are two copies.

use crate::media::Backing;
use crate::media::layout::Layout;
use std::io;

/// Batches start at multiples of this, the atomic write unit of a disk.
pub(super) const SECTOR_BYTES: u64 = 512;

/// Bytes of the journal scanned at once.
pub(super) const SCAN_BYTES: usize = 4 << 20;

/// The journal's bytes, as a ring.
#[derive(Clone, Copy)]
pub(super) struct Ring<'a> {
    pub(super) layout: &'a Layout,
    pub(super) backing: &'a dyn Backing,
}

impl Ring<'_> {
    /// The offset of `position` in the backing, and how many of `bytes` are before the end of the
    /// ring.
    fn place(&self, position: u64, bytes: usize, copy: u64) -> (u64, usize) {
        let within = position % self.layout.journal_bytes;
        let before_end = self.layout.journal_bytes - within;
        (self.layout.journal(copy) + within, bytes.min(before_end as usize))
    }

    pub(super) fn write(&self, bytes: &[u8], position: u64, copy: u64) -> io::Result<()> {
        let (offset, len) = self.place(position, bytes.len(), copy);
        self.backing.write_at(&bytes[..len], offset)?;
        match &bytes[len..] {
            [] => Ok(()),
            rest => self.backing.write_at(rest, self.layout.journal(copy)),
        }
    }

    fn read(&self, bytes: &mut [u8], position: u64, copy: u64) -> io::Result<()> {
        let (offset, len) = self.place(position, bytes.len(), copy);
        let (head, rest) = bytes.split_at_mut(len);
        self.backing.read_medium_at(head, offset)?;
        match rest {
            [] => Ok(()),
            rest => self.backing.read_medium_at(rest, self.layout.journal(copy)),
        }
    }

    /// Reads sector by sector where that is necessary; zeros for sectors that cannot be read.
    fn read_readable(&self, bytes: &mut [u8], position: u64, copy: u64) {
        if self.read(bytes, position, copy).is_ok() {
            return;
        }
        let positions = (position..).step_by(SECTOR_BYTES as usize);
        for (sector, position) in bytes.chunks_mut(SECTOR_BYTES as usize).zip(positions) {
            if self.read(sector, position, copy).is_err() {
                sector.fill(0);
            }
        }
    }
}

/// A part of a copy of the ring, in memory.
#[derive(Debug, Default)]
pub(super) struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The bytes from `position` on, which are fetched if they are not there.
    pub(super) fn get(&mut self, ring: Ring, position: u64, len: usize, copy: u64) -> &[u8] {
        let end = position + len as u64;
        if position < self.start || end > self.start + self.bytes.len() as u64 {
            self.fetch(ring, position, SCAN_BYTES.max(len), copy);
        }
        let from = (position - self.start) as usize;
        &self.bytes[from..from + len]
    }

    /// Reads as many bytes from `position` on, in any case.
    pub(super) fn fetch(&mut self, ring: Ring, position: u64, bytes: usize, copy: u64) {
        let bytes = (bytes as u64).min(ring.layout.journal_bytes) as usize;
        self.bytes.resize(bytes, 0);
        self.start = position;
        ring.read_readable(&mut self.bytes, position, copy);
    }
}
