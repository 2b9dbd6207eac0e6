//! The journal: what the host did since the older checkpoint, in batches behind each other in a ring.

use crate::media::batch::{
    CHECKSUM_AT, HEADER_BYTES, Header, MAGIC, PAGE, Record, Records, Seed, TRIM, operations, verify,
};
use crate::media::layout::Layout;
use crate::media::{Backing, MediaError};
use std::io;
use uuid::Uuid;

/// A batch begins at a multiple of this; a disk writes so much at once.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A batch is written when it has so many bytes.
const BATCH_BYTES: usize = 32 << 10;

/// How much of the journal is looked through at once.
const SCAN_BYTES: usize = 1 << 20;

/// A place in the journal: where a batch goes, and what tells it from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes since the drive was created; the place in the ring is the rest modulo its size.
    pub(crate) position: u64,
    pub(crate) number: u64,
    /// The session of the batch before.
    pub(crate) previous: u64,
    /// Operations before it.
    pub(crate) operations: u64,
}

/// The end of the journal, where batches are appended.
#[derive(Debug)]
pub(crate) struct Journal {
    seed: Seed,
    layout: Layout,
    session: u64,
    /// Where the batch goes that is being gathered.
    head: Head,
    /// The first position that a checkpoint still needs.
    tail: u64,
    batch: Vec<u8>,
    records: u32,
    operations: u64,
}

impl Journal {
    /// One that goes on at `head`; `session` is a number that no earlier one had.
    pub(crate) fn new(uuid: Uuid, layout: Layout, session: u64, head: Head, tail: u64) -> Self {
        let capacity = BATCH_BYTES + 2 * layout.geometry.page_bytes() as usize;
        let mut batch = Vec::with_capacity(capacity);
        batch.resize(HEADER_BYTES, 0);
        let seed = Seed::new(uuid);
        let operations = head.operations;
        Self { seed, layout, session, head, tail, batch, records: 0, operations }
    }

    /// Where the next batch goes, once what is gathered is written.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// Forgets what is before `position`.
    pub(crate) fn release(&mut self, position: u64) {
        self.tail = position;
    }

    /// Bytes of the ring that no checkpoint needs.
    pub(crate) fn room(&self) -> u64 {
        self.layout.journal_bytes - (self.head.position - self.tail)
    }

    /// Whether the batch had better be written.
    pub(crate) fn is_full(&self) -> bool {
        self.batch.len() >= BATCH_BYTES
    }

    pub(crate) fn append(&mut self, record: Record) {
        self.operations += u64::from(record.is_operation());
        self.records += 1;
        match record {
            Record::Write { lpn, checksum } => self.put(lpn.0, checksum),
            Record::Trim { first, pages } => {
                self.put(TRIM, pages);
                self.put(first.0, 0);
            }
            Record::Page { lpn, checksum, data } => {
                self.put(PAGE, 0);
                self.put(lpn.0, checksum);
                self.batch.extend_from_slice(data);
            }
        }
    }

    #[inline]
    fn put(&mut self, first: u32, second: u32) {
        let number = u64::from(first) | u64::from(second) << 32;
        self.batch.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes what is gathered, if anything is, and returns how many bytes that were.
    pub(crate) fn write(
        &mut self,
        backing: &dyn Backing,
        durable: u64,
        metadata_bytes: u64,
    ) -> io::Result<u64> {
        if self.records == 0 {
            return Ok(0);
        }
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
            durable,
            metadata_bytes: metadata_bytes + bytes,
            records: self.records,
        };
        header.encode(&mut self.batch);
        let checksum = self.seed.batch(&self.batch);
        self.batch[CHECKSUM_AT..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        let ring = Ring { layout: &self.layout, backing };
        ring.write(&self.batch, self.head.position)?;
        self.batch.truncate(HEADER_BYTES);
        self.records = 0;
        self.head = Head {
            position: self.head.position + bytes,
            number: self.head.number + 1,
            previous: self.session,
            operations: self.operations,
        };
        Ok(bytes)
    }
}

/// The journal's bytes, whose positions go round.
#[derive(Clone, Copy)]
struct Ring<'a> {
    layout: &'a Layout,
    backing: &'a dyn Backing,
}

impl Ring<'_> {
    /// Where `position` is in the backing, and how many of `bytes` are before the ring's end.
    fn place(&self, position: u64, bytes: usize) -> (u64, usize) {
        let within = position % self.layout.journal_bytes;
        let before_end = self.layout.journal_bytes - within;
        (self.layout.journal() + within, bytes.min(before_end as usize))
    }

    fn write(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let (offset, len) = self.place(position, bytes.len());
        self.backing.write_at(&bytes[..len], offset)?;
        match &bytes[len..] {
            [] => Ok(()),
            rest => self.backing.write_at(rest, self.layout.journal()),
        }
    }

    fn read(&self, bytes: &mut [u8], position: u64) -> io::Result<()> {
        let (offset, len) = self.place(position, bytes.len());
        let (head, rest) = bytes.split_at_mut(len);
        self.backing.read_at(head, offset)?;
        match rest {
            [] => Ok(()),
            rest => self.backing.read_at(rest, self.layout.journal()),
        }
    }
}

/// Reads batches in order.
pub(crate) struct JournalReader<'a> {
    seed: Seed,
    ring: Ring<'a>,
    head: Head,
    /// Where the chain began.
    start: u64,
    batch: Vec<u8>,
}

impl<'a> JournalReader<'a> {
    /// From `head` on.
    pub(crate) fn new(
        backing: &'a dyn Backing,
        uuid: Uuid,
        layout: &'a Layout,
        head: Head,
    ) -> Self {
        let ring = Ring { layout, backing };
        Self { seed: Seed::new(uuid), ring, head, start: head.position, batch: Vec::new() }
    }

    /// Where the next batch would be.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// The next batch, if it is whole and follows the one before; the journal ends where it does not.
    pub(crate) fn next(&mut self) -> Result<Option<Header>, MediaError> {
        let Some(header) = self.read(self.head.position)? else { return Ok(None) };
        let follows = header.number == self.head.number
            && header.previous == self.head.previous
            && header.operations == self.head.operations;
        if !follows {
            return Ok(None);
        }
        let Some(operations) = operations(&self.batch, &header, self.page_bytes()) else {
            return Ok(None);
        };
        let bytes = u64::from(header.bytes).next_multiple_of(SECTOR_BYTES);
        if self.head.position + bytes - self.start > self.ring.layout.journal_bytes {
            return Ok(None);
        }
        self.head = Head {
            position: self.head.position + bytes,
            number: header.number + 1,
            previous: header.session,
            operations: header.operations + operations,
        };
        Ok(Some(header))
    }

    /// The records of the batch that [`next`](Self::next) found.
    pub(crate) fn records(&self, header: &Header) -> Records<'_> {
        Records::new(&self.batch, header, self.page_bytes())
    }

    /// The most operations that any whole batch in the ring says were durable.
    pub(crate) fn durable_anywhere(&mut self) -> Result<u64, MediaError> {
        let journal_bytes = self.ring.layout.journal_bytes;
        let mut durable = 0;
        let mut chunk = vec![0; SCAN_BYTES];
        for start in (0..journal_bytes).step_by(SCAN_BYTES) {
            let bytes = SCAN_BYTES.min((journal_bytes - start) as usize);
            let read = self.ring.read(&mut chunk[..bytes], start);
            read.map_err(|error| MediaError::io("read the journal", error))?;
            let sectors = chunk[..bytes].chunks(SECTOR_BYTES as usize);
            for (sector, position) in sectors.zip((start..).step_by(SECTOR_BYTES as usize)) {
                if sector.starts_with(&MAGIC.to_le_bytes())
                    && let Some(header) = self.read(position)?
                {
                    durable = durable.max(header.durable);
                }
            }
        }
        Ok(durable)
    }

    fn page_bytes(&self) -> usize {
        self.ring.layout.geometry.page_bytes() as usize
    }

    /// Reads the batch at `position`, if there is a whole one.
    fn read(&mut self, position: u64) -> Result<Option<Header>, MediaError> {
        let failed = |error| MediaError::io("read the journal", error);
        self.batch.resize(HEADER_BYTES, 0);
        self.ring.read(&mut self.batch, position).map_err(failed)?;
        let Some(header) = Header::decode(&self.batch) else { return Ok(None) };
        let bytes_max = BATCH_BYTES + 2 * self.page_bytes();
        let bytes = header.bytes as usize;
        let bytes_max = bytes_max.min(self.ring.layout.journal_bytes as usize);
        if !(HEADER_BYTES..=bytes_max).contains(&bytes) {
            return Ok(None);
        }
        self.batch.resize(bytes, 0);
        self.ring.read(&mut self.batch, position).map_err(failed)?;
        Ok(verify(self.seed, &self.batch).then_some(header))
    }
}

/// Bytes that a batch takes at most before it is written; `page_bytes` are those of a page.
pub(crate) fn batch_bytes_max(page_bytes: u32) -> u64 {
    (BATCH_BYTES as u64 + 2 * u64::from(page_bytes)).next_multiple_of(SECTOR_BYTES)
}

/// A number that no session had before.
pub(crate) fn new_session() -> u64 {
    Uuid::new_v4().as_u64_pair().0
}
