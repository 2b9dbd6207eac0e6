//! Reading the journal: batch by batch, from whichever copy has it.

use crate::media::Backing;
use crate::media::batch::{HEADER_BYTES, Header, MAGIC, Records, Seed, operations, verify};
use crate::media::journal::{BATCH_BYTES, Head, batch_bytes_max};
use crate::media::layout::{COPIES, Layout};
use crate::media::reading::{Unread, retry_all, with_retries};
use crate::media::ring::{Ring, SCAN_BYTES, SECTOR_BYTES, Window};
use std::convert::Infallible;
use std::io;
use uuid::Uuid;

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
        let (head, copies) =
            (self.head, [self.read_copy(self.head, 1), self.read_copy(self.head, 0)]);
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
