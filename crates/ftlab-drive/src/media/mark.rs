//! The flush mark: how many operations a sync has made durable.
//!
//! If something is missing after a crash, it may have been on its way, or it was durable and has rotted.
//! Only the mark can tell: operations up to it must not be discarded. It is written after each sync,
//! before anyone who waited for that is told, and not synced itself: a killed process leaves it, a power
//! cut may lose it.

use crate::media::Backing;
use crate::media::batch::Seed;
use crate::media::fields::{FieldReader, FieldWriter};
use crate::media::layout::{COPIES, Layout};
use crate::media::reading::retry_all;
use std::convert::Infallible;
use std::io;
use uuid::Uuid;

const MAGIC: &[u8; 8] = b"ftlabmrk";

/// Bytes of a mark: a sector, so that it is whole or not there.
const MARK_BYTES: usize = 512;

/// Offset of the checksum.
const CHECKSUM_AT: usize = MARK_BYTES - 4;

/// Reads and writes the mark of a drive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    seed: Seed,
    layout: Layout,
}

impl Mark {
    pub(crate) fn new(uuid: Uuid, layout: Layout) -> Self {
        Self { seed: Seed::new(uuid), layout }
    }

    /// Writes that `operations` are durable; an error if no copy can be written.
    pub(crate) fn write(&self, backing: &dyn Backing, operations: u64) -> io::Result<()> {
        let mut bytes = [0; MARK_BYTES];
        FieldWriter::new(&mut bytes).put(MAGIC).u64(operations);
        let checksum = self.seed.checksum(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        let written = (0..COPIES).map(|copy| backing.write_at(&bytes, self.layout.mark(copy)));
        // Both are written before either counts.
        let written: Vec<_> = written.collect();
        written.into_iter().reduce(Result::or).unwrap_or(Ok(()))
    }

    /// The highest one that can be read, 0 if there is none; and how many copies cannot.
    pub(crate) fn read(&self, backing: &dyn Backing) -> (u64, u64) {
        let mut found = Vec::new();
        let copies = (0..COPIES).collect();
        let damaged = retry_all(backing, copies, |copy| {
            let mark = self.read_copy(backing, *copy);
            found.extend(mark);
            Ok::<_, Infallible>(mark.is_some())
        });
        let Ok(damaged) = damaged;
        (found.into_iter().max().unwrap_or(0), damaged.len() as u64)
    }

    fn read_copy(&self, backing: &dyn Backing, copy: u64) -> Option<u64> {
        let mut bytes = [0; MARK_BYTES];
        backing.read_medium_at(&mut bytes, self.layout.mark(copy)).ok()?;
        let checksum = self.seed.checksum(&bytes[..CHECKSUM_AT]).to_le_bytes();
        let is_right = bytes.starts_with(MAGIC) && checksum == bytes[CHECKSUM_AT..];
        is_right.then(|| FieldReader::new(&bytes[MAGIC.len()..]).u64()).flatten()
    }
}
