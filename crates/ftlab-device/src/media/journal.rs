//! The journal: the host's operations since the older checkpoint, in consecutive batches in a ring, of
//! which there are two copies.

use crate::media::Backing;
use crate::media::batch::{
    CHECKSUM_AT, HEADER_BYTES, Header, MAGIC, PAGE, RENEWAL, REPLACEMENT, Record, Records, STREAM,
    Seed, TRIM, UNREADABLE, operations, verify,
};
use crate::media::layout::{COPIES, Layout};
use crate::media::reading::{Unread, retry_all, with_retries};
use crate::media::slots::Replacement;
use std::convert::Infallible;
use std::io;
use uuid::Uuid;

/// Batches start at multiples of this, the atomic write unit of a disk.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// A batch is written when it has this many bytes.
const BATCH_BYTES: usize = 32 << 10;

/// Bytes of the journal scanned at once.
const SCAN_BYTES: usize = 4 << 20;

/// A position in the journal: where a batch goes, and what identifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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

/// The journal's bytes, as a ring.
#[derive(Clone, Copy)]
struct Ring<'a> {
    layout: &'a Layout,
    backing: &'a dyn Backing,
}

impl Ring<'_> {
    /// The offset of `position` in the backing, and how many of `bytes` are before the end of the
    /// ring.
    fn place(&self, position: u64, bytes: usize, copy: u64) -> (u64, usize) {
        let within = position % self.layout.journal_bytes;
        let before_end = self.layout.journal_bytes - within;
        (self.layout.journal(copy) + within, bytes.min(before_end as usize))
    }

    fn write(&self, bytes: &[u8], position: u64, copy: u64) -> io::Result<()> {
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

    /// The same, sector by sector where that is necessary; zeros for those that cannot be read.
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
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The bytes from `position` on, which are fetched if they are not there.
    fn get(&mut self, ring: Ring, position: u64, len: usize, copy: u64) -> &[u8] {
        let end = position + len as u64;
        if position < self.start || end > self.start + self.bytes.len() as u64 {
            self.fetch(ring, position, SCAN_BYTES.max(len), copy);
        }
        let from = (position - self.start) as usize;
        &self.bytes[from..from + len]
    }

    /// Reads as many bytes from `position` on, in any case.
    fn fetch(&mut self, ring: Ring, position: u64, bytes: usize, copy: u64) {
        let bytes = (bytes as u64).min(ring.layout.journal_bytes) as usize;
        self.bytes.resize(bytes, 0);
        self.start = position;
        ring.read_readable(&mut self.bytes, position, copy);
    }
}

/// A batch of which only one copy can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Half {
    /// Where it is.
    pub(crate) head: Head,
    /// The copy that is missing.
    copy: u64,
    /// Operations up to its end.
    pub(crate) operations: u64,
}

/// Reads batches in order.
pub(crate) struct JournalReader<'a> {
    seed: Seed,
    ring: Ring<'a>,
    head: Head,
    /// The start of the chain.
    start: u64,
    batch: Vec<u8>,
    /// Of each copy.
    windows: [Window; COPIES as usize],
    /// Batches that were found in one copy only.
    halves: Vec<Half>,
}

impl<'a> JournalReader<'a> {
    /// A reader that starts at `head`.
    pub(crate) fn new(
        backing: &'a dyn Backing,
        uuid: Uuid,
        layout: &'a Layout,
        head: Head,
    ) -> Self {
        let ring = Ring { layout, backing };
        Self {
            seed: Seed::new(uuid),
            ring,
            head,
            start: head.position,
            batch: Vec::new(),
            windows: Default::default(),
            halves: Vec::new(),
        }
    }

    /// The position of the next batch.
    pub(crate) fn head(&self) -> Head {
        self.head
    }

    /// The next batch, if a copy is complete and continues the previous one; otherwise the journal ends
    /// there.
    pub(crate) fn next(&mut self) -> Option<Header> {
        let mut is_again = false;
        let found = with_retries(self.ring.backing, |_| {
            if std::mem::replace(&mut is_again, true) {
                (0..COPIES).for_each(|copy| self.fetch_again(self.head, copy));
            }
            self.find().ok_or(Unread::Differs)
        });
        let (header, next) = found.ok()?;
        self.head = next;
        Some(header)
    }

    /// The batch that follows, and the position after it.
    fn find(&mut self) -> Option<(Header, Head)> {
        let (head, copies) = (self.head, [self.read_copy(self.head, 1), self.read_copy(self.head, 0)]);
        let (found, missing) = match copies {
            [Some(_), Some(found)] => return Some(found),
            [None, found] => (found?, 1),
            [found, None] => (found?, 0),
        };
        self.halves.push(Half { head, copy: missing, operations: found.1.operations });
        // The records are to be those of the copy that was found.
        self.read_copy(head, 1 - missing)
    }

    fn fetch_again(&mut self, head: Head, copy: u64) {
        let bytes = batch_bytes_max(self.ring.layout.geometry.page_bytes()) as usize;
        self.windows[copy as usize].fetch(self.ring, head.position, bytes, copy);
    }

    /// The batches, of those that [`next`](Self::next) found, that one copy does not have however often it is read.
    pub(crate) fn halves(&mut self) -> Vec<Half> {
        let halves = std::mem::take(&mut self.halves);
        let Ok(halves) = retry_all(self.ring.backing, halves, |half| {
            self.fetch_again(half.head, half.copy);
            Ok::<_, Infallible>(self.read_copy(half.head, half.copy).is_some())
        });
        halves
    }

    /// Writes the copy of a batch that is missing; whether it is there then.
    pub(crate) fn mend(&mut self, half: Half) -> io::Result<bool> {
        let Half { head, copy, .. } = half;
        if self.read_copy(head, 1 - copy).is_none() {
            return Ok(false);
        }
        self.ring.write(&self.batch, head.position, copy)?;
        self.fetch_again(head, copy);
        Ok(self.read_copy(head, copy).is_some())
    }

    /// Reads a copy of the batch at `head`; returns it with the position after it.
    fn read_copy(&mut self, head: Head, copy: u64) -> Option<(Header, Head)> {
        let header = self.read(head.position, copy)?;
        let follows = header.number == head.number
            && header.previous == head.previous
            && header.operations == head.operations;
        if !follows {
            return None;
        }
        let operations = operations(&self.batch, &header, self.page_bytes())?;
        let bytes = u64::from(header.bytes).next_multiple_of(SECTOR_BYTES);
        let next = Head {
            position: head.position + bytes,
            number: header.number + 1,
            previous: header.session,
            operations: header.operations + operations,
        };
        let is_within = next.position - self.start <= self.ring.layout.journal_bytes;
        is_within.then_some((header, next))
    }

    /// The records of the batch that [`next`](Self::next) found.
    pub(crate) fn records(&self, header: &Header) -> Records<'_> {
        Records::new(&self.batch, header, self.page_bytes())
    }

    /// The highest number of flushed operations recorded in any complete batch in the ring. What cannot be
    /// read is obsolete, or the other copy has it.
    pub(crate) fn flushed_anywhere(&mut self) -> u64 {
        let journal_bytes = self.ring.layout.journal_bytes;
        let mut flushed = 0;
        let mut chunk = vec![0; SCAN_BYTES];
        let starts = (0..journal_bytes).step_by(SCAN_BYTES);
        for (start, copy) in starts.flat_map(|start| (0..COPIES).map(move |copy| (start, copy))) {
            let bytes = SCAN_BYTES.min((journal_bytes - start) as usize);
            chunk[..bytes]
                .copy_from_slice(self.windows[copy as usize].get(self.ring, start, bytes, copy));
            let sectors = chunk[..bytes].chunks(SECTOR_BYTES as usize);
            for (sector, position) in sectors.zip((start..).step_by(SECTOR_BYTES as usize)) {
                if sector.starts_with(&MAGIC.to_le_bytes())
                    && let Some(header) = self.read(position, copy)
                {
                    flushed = flushed.max(header.flushed);
                }
            }
        }
        flushed
    }

    fn page_bytes(&self) -> usize {
        self.ring.layout.geometry.page_bytes() as usize
    }

    /// Reads a copy of the batch at `position`, if there is a complete one.
    fn read(&mut self, position: u64, copy: u64) -> Option<Header> {
        let window = &mut self.windows[copy as usize];
        let header = Header::decode(window.get(self.ring, position, HEADER_BYTES, copy))?;
        let bytes_max = BATCH_BYTES + 2 * self.ring.layout.geometry.page_bytes() as usize;
        let bytes = header.bytes as usize;
        let bytes_max = bytes_max.min(self.ring.layout.journal_bytes as usize);
        if !(HEADER_BYTES..=bytes_max).contains(&bytes) {
            return None;
        }
        self.batch.clear();
        self.batch.extend_from_slice(window.get(self.ring, position, bytes, copy));
        verify(self.seed, &self.batch).then_some(header)
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
