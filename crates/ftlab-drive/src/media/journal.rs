//! The journal: the host's operations since the older checkpoint, in consecutive batches in a ring, of
//! which there are two copies.

use crate::media::Backing;
use crate::media::batch::{
    CHECKSUM_AT, HEADER_BYTES, Header, PAGE, RENEWAL, REPLACEMENT, Record, STREAM, Seed, TRIM,
    UNREADABLE,
};
use crate::media::layout::{COPIES, Layout};
use crate::media::ring::{Ring, SCAN_BYTES, SECTOR_BYTES};
use crate::media::slots::Replacement;
use serde::{Deserialize, Serialize};
use std::io;
use uuid::Uuid;

/// A batch is written when it has this many bytes.
pub(super) const BATCH_BYTES: usize = 32 << 10;

/// A position in the journal: where a batch goes, and what identifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    /// Bytes since the drive was created; the offset in the ring is this modulo its size.
    pub(crate) position: u64,
    pub(crate) number: u64,
    /// The session of the previous batch.
    pub(crate) previous: u64,
    /// Number of operations before it.
    pub(crate) operations: u64,
}

/// The end of the journal, to which batches are appended.
#[derive(Debug)]
pub(crate) struct Journal {
    seed: Seed,
    layout: Layout,
    session: u64,
    /// The position of the batch being filled.
    head: Head,
    /// The first position that a checkpoint still needs.
    tail: u64,
    batch: Vec<u8>,
    records: u32,
    operations: u64,
    /// Of the last write in the batch.
    stream: u16,
}

impl Journal {
    /// A journal that continues at `head`; `session` is a number that no earlier session had.
    pub(crate) fn new(uuid: Uuid, layout: Layout, session: u64, head: Head, tail: u64) -> Self {
        let capacity = BATCH_BYTES + 2 * layout.geometry.page_bytes() as usize;
        let mut batch = Vec::with_capacity(capacity);
        batch.resize(HEADER_BYTES, 0);
        let seed = Seed::new(uuid);
        let operations = head.operations;
        Self { seed, layout, session, head, tail, batch, records: 0, operations, stream: 0 }
    }

    /// Overwrites both copies with zeros. Checkpoints must not need anything of them.
    pub(crate) fn clear(backing: &dyn Backing, layout: &Layout) -> io::Result<()> {
        let zeros = vec![0; SCAN_BYTES];
        let starts = (0..layout.journal_bytes).step_by(SCAN_BYTES);
        for (start, copy) in starts.flat_map(|start| (0..COPIES).map(move |copy| (start, copy))) {
            let bytes = SCAN_BYTES.min((layout.journal_bytes - start) as usize);
            Ring { layout, backing }.write(&zeros[..bytes], start, copy)?;
        }
        Ok(())
    }

    /// The position of the next batch, after the current one is written.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// Releases everything before `position`.
    pub(crate) fn release(&mut self, position: u64) {
        self.tail = position;
    }

    /// Bytes of the ring that no checkpoint needs.
    pub(crate) fn room(&self) -> u64 {
        self.layout.journal_bytes - (self.head.position - self.tail)
    }

    /// Whether the batch should be written.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.len() >= BATCH_BYTES
    }

    pub(crate) fn append(&mut self, record: Record) {
        self.operations += u64::from(record.is_operation());
        self.records += 1;
        match record {
            Record::Write { lpn, checksum, stream } => {
                if stream != self.stream {
                    self.stream = stream;
                    self.put(STREAM, stream.into());
                }
                self.put(lpn.0, checksum);
            }
            Record::Trim { first, pages } => {
                self.put(TRIM, pages);
                self.put(first.0, 0);
            }
            Record::Renewal { handle } => self.put(RENEWAL, handle.into()),
            Record::Page { lpn, checksum, data } => {
                self.put(PAGE, 0);
                self.put(lpn.0, checksum);
                self.batch.extend_from_slice(data);
            }
            Record::Unreadable { lpn, place } => {
                self.put(UNREADABLE, 0);
                self.put(lpn.0, place.0);
            }
            Record::Replacement(Replacement { erase, block, slot }) => {
                self.put(REPLACEMENT, 0);
                self.put(block.0, slot);
                self.batch.extend_from_slice(&erase.to_le_bytes());
            }
        }
    }

    #[inline]
    fn put(&mut self, first: u32, second: u32) {
        let number = u64::from(first) | u64::from(second) << 32;
        self.batch.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes the current batch, if it is not empty, to both copies, and returns the bytes that were written.
    pub(crate) fn write(
        &mut self,
        backing: &dyn Backing,
        in_place: u64,
        flushed: u64,
        metadata_bytes: u64,
    ) -> io::Result<u64> {
        if self.records == 0 {
            return Ok(0);
        }
        self.write_even_if_empty(backing, in_place, flushed, metadata_bytes)
    }

    /// The same of a batch that may tell no more than what is in place and flushed.
    pub(crate) fn write_even_if_empty(
        &mut self,
        backing: &dyn Backing,
        in_place: u64,
        flushed: u64,
        metadata_bytes: u64,
    ) -> io::Result<u64> {
        let len = self.batch.len();
        let bytes = (len as u64).next_multiple_of(SECTOR_BYTES);
        if bytes > self.room() {
            return Err(io::Error::other("the journal is full: this is a bug of ftlab"));
        }
        let header = Header {
            bytes: len as u32,
            number: self.head.number,
            previous: self.head.previous,
            session: self.session,
            operations: self.head.operations,
            in_place,
            flushed,
            metadata_bytes: metadata_bytes + COPIES * bytes,
            records: self.records,
        };
        header.encode(&mut self.batch);
        let checksum = self.seed.batch(&self.batch);
        self.batch[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        let ring = Ring { layout: &self.layout, backing };
        (0..COPIES).try_for_each(|copy| ring.write(&self.batch, self.head.position, copy))?;
        self.batch.truncate(HEADER_BYTES);
        (self.records, self.stream) = (0, 0);
        self.head = Head {
            position: self.head.position + bytes,
            number: self.head.number + 1,
            previous: self.session,
            operations: self.operations,
        };
        Ok(COPIES * bytes)
    }
}

/// Maximum size of a batch before it is written, in bytes; `page_bytes` is the page size.
pub(crate) fn batch_bytes_max(page_bytes: u32) -> u64 {
    (BATCH_BYTES as u64 + 2 * u64::from(page_bytes)).next_multiple_of(SECTOR_BYTES)
}

/// A number that no earlier session had.
pub(crate) fn new_session() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}
