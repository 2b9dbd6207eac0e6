//! Checkpoints: the whole state of a drive as of one operation, in two alternating slots.
//!
//! A slot consists of a header and a body: the FTL's state, then for each slice of the logical
//! pages their locations and their checksums. The header is written when the body and everything
//! that it refers to is durable.

use crate::media::batch::Seed;
use crate::media::fields::{FieldReader, FieldWriter};
use crate::media::journal::Head;
use crate::media::layout::{HEADER_BYTES, Layout};
use crate::media::reading::{Unread, read_medium, with_retries};
use crate::media::{Backing, MediaError};
use ftlab_ftl::Archive;
use std::io;
use uuid::Uuid;

const MAGIC: &[u8; 8] = b"ftlabchk";

/// Offset of the checksum of a header.
const CHECKSUM_AT: usize = HEADER_BYTES - 4;

/// Bytes of a body written or read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Logical pages in a slice.
pub(crate) const SLICE_PAGES: u32 = 64 << 10;

/// The header of a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Counts checkpoints; the higher one is newer.
    pub(crate) number: u64,
    /// Where the journal continues from it.
    pub(crate) head: Head,
    /// The journal does not lead from the older checkpoint to this one.
    pub(crate) is_break: bool,
    pub(crate) totals: Totals,
    pub(crate) body_bytes: u64,
    pub(crate) body_checksum: u32,
}

/// Counters over the life of a drive, in addition to those of the FTL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes of superblocks, journal and checkpoints written.
    pub metadata_bytes: u64,
    /// Reads of pages that failed, or found something else than was written.
    pub media_errors: u64,
    /// Number of times that it was opened without having been closed.
    pub recoveries: u64,
}

impl Checkpoint {
    fn encode(&self, seed: Seed) -> Vec<u8> {
        let mut bytes = vec![0; HEADER_BYTES];
        let mut fields = FieldWriter::new(&mut bytes[..CHECKSUM_AT]);
        fields.put(MAGIC).u64(self.number);
        fields.u64(self.head.position).u64(self.head.number).u64(self.head.previous);
        fields.u64(self.head.operations).u64(self.body_bytes).u32(self.body_checksum);
        fields.u32(self.is_break.into());
        fields.u64(self.totals.metadata_bytes).u64(self.totals.media_errors);
        fields.u64(self.totals.recoveries);
        let checksum = seed.checksum(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// From a header block; `None` if it does not belong to this drive.
    fn decode(bytes: &[u8], seed: Seed) -> Option<Self> {
        let sum = seed.checksum(bytes.get(..CHECKSUM_AT)?).to_le_bytes();
        if !bytes.starts_with(MAGIC) || sum != bytes[CHECKSUM_AT..] {
            return None;
        }
        Self::fields(bytes)
    }

    /// From a header block with a correct checksum.
    fn fields(bytes: &[u8]) -> Option<Self> {
        let mut fields = FieldReader::new(bytes.get(MAGIC.len()..CHECKSUM_AT)?);
        let number = fields.u64()?;
        let head = Head {
            position: fields.u64()?,
            number: fields.u64()?,
            previous: fields.u64()?,
            operations: fields.u64()?,
        };
        let (body_bytes, body_checksum) = (fields.u64()?, fields.u32()?);
        let is_break = fields.u32()? != 0;
        let totals = Totals {
            metadata_bytes: fields.u64()?,
            media_errors: fields.u64()?,
            recoveries: fields.u64()?,
        };
        Some(Self { number, head, is_break, totals, body_bytes, body_checksum })
    }

    /// The header in `slot`; an error if there is no intact one.
    pub(crate) fn read(
        backing: &dyn Backing,
        layout: &Layout,
        uuid: Uuid,
        slot: u8,
    ) -> Result<Self, MediaError> {
        let mut bytes = vec![0; HEADER_BYTES];
        let room = layout.checkpoint_bytes - HEADER_BYTES as u64;
        let read = read_medium(backing, &mut bytes, layout.checkpoint(slot), |bytes| {
            Self::decode(bytes, Seed::new(uuid)).filter(|found| found.body_bytes <= room)
        });
        read.map_err(|unread| match unread {
            Unread::Failed(error) => MediaError::io("read its header", error),
            Unread::Differs => MediaError::Checkpoint("its header is damaged".to_owned()),
        })
    }

    /// Writes the header, which makes the body valid.
    pub(crate) fn write(
        &self,
        backing: &dyn Backing,
        layout: &Layout,
        uuid: Uuid,
        slot: u8,
    ) -> io::Result<()> {
        backing.write_at(&self.encode(Seed::new(uuid)), layout.checkpoint(slot))
    }
}

/// Writes a body.
pub(crate) struct BodyWriter<'a> {
    backing: &'a dyn Backing,
    offset: u64,
    end: u64,
    chunk: Vec<u8>,
    pub(crate) bytes: u64,
    pub(crate) checksum: u32,
}

impl<'a> BodyWriter<'a> {
    /// Into `slot`.
    pub(crate) fn new(backing: &'a dyn Backing, layout: &Layout, slot: u8) -> Self {
        let start = layout.checkpoint(slot);
        let offset = start + HEADER_BYTES as u64;
        let end = start + layout.checkpoint_bytes;
        let chunk = Vec::with_capacity(CHUNK_BYTES);
        Self { backing, offset, end, chunk, bytes: 0, checksum: 0 }
    }

    /// Appends numbers.
    pub(crate) fn numbers(&mut self, numbers: &[u32]) -> io::Result<()> {
        for numbers in numbers.chunks(1024) {
            self.chunk.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            self.write_full()?;
        }
        Ok(())
    }

    fn write_full(&mut self) -> io::Result<()> {
        if self.chunk.len() >= CHUNK_BYTES / 2 { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        if self.offset + self.chunk.len() as u64 > self.end {
            return Err(io::Error::other("a checkpoint is larger than its slot"));
        }
        self.backing.write_at(&self.chunk, self.offset)?;
        self.checksum = crc32c::crc32c_append(self.checksum, &self.chunk);
        self.offset += self.chunk.len() as u64;
        self.bytes += self.chunk.len() as u64;
        self.chunk.clear();
        Ok(())
    }

    /// Writes the rest, and returns the length and the checksum of the body.
    pub(crate) fn finish(mut self) -> io::Result<(u64, u32)> {
        self.write()?;
        Ok((self.bytes, self.checksum))
    }
}

impl Archive for BodyWriter<'_> {
    fn bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.chunk.extend_from_slice(bytes);
        self.write_full()
    }
}

/// Reads a body.
pub(crate) struct BodyReader<'a> {
    backing: &'a dyn Backing,
    offset: u64,
    /// Bytes not yet read from the backing.
    left: u64,
    chunk: Vec<u8>,
    /// Number of bytes of the chunk already consumed.
    taken: usize,
    checksum: u32,
}

impl<'a> BodyReader<'a> {
    /// From `slot`, which holds a body of this length.
    pub(crate) fn new(backing: &'a dyn Backing, layout: &Layout, slot: u8, bytes: u64) -> Self {
        let offset = layout.checkpoint(slot) + HEADER_BYTES as u64;
        Self { backing, offset, left: bytes, chunk: Vec::new(), taken: 0, checksum: 0 }
    }

    /// Reads numbers.
    pub(crate) fn numbers(&mut self, numbers: &mut [u32]) -> io::Result<()> {
        let mut buffer = [0; 4096];
        for numbers in numbers.chunks_mut(buffer.len() / 4) {
            let bytes = &mut buffer[..4 * numbers.len()];
            self.bytes(bytes)?;
            for (number, bytes) in numbers.iter_mut().zip(bytes.as_chunks().0) {
                *number = u32::from_le_bytes(*bytes);
            }
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<()> {
        let bytes = self.left.min(CHUNK_BYTES as u64);
        self.chunk.resize(bytes as usize, 0);
        self.backing.read_medium_at(&mut self.chunk, self.offset)?;
        self.checksum = crc32c::crc32c_append(self.checksum, &self.chunk);
        self.offset += bytes;
        self.left -= bytes;
        self.taken = 0;
        Ok(())
    }

    /// Whether the body in `slot`, of this length, can be read and has this checksum.
    pub(crate) fn verify(
        backing: &dyn Backing,
        layout: &Layout,
        slot: u8,
        bytes: u64,
        checksum: u32,
    ) -> bool {
        let read = with_retries(backing, |_| {
            let mut body = BodyReader::new(backing, layout, slot, bytes);
            while body.left > 0 {
                body.read()?;
            }
            (body.checksum == checksum).then_some(()).ok_or(Unread::Differs)
        });
        read.is_ok()
    }

    /// Reads the rest; returns whether the whole body has this checksum, and whether all of it was
    /// consumed.
    pub(crate) fn finish(mut self, checksum: u32) -> io::Result<bool> {
        let is_taken = self.left == 0 && self.taken == self.chunk.len();
        while self.left > 0 {
            self.read()?;
        }
        Ok(is_taken && self.checksum == checksum)
    }
}

impl Archive for BodyReader<'_> {
    fn bytes(&mut self, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.taken == self.chunk.len() {
                if self.left == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                self.read()?;
            }
            let len = bytes.len().min(self.chunk.len() - self.taken);
            let (head, rest) = bytes.split_at_mut(len);
            head.copy_from_slice(&self.chunk[self.taken..self.taken + len]);
            self.taken += len;
            bytes = rest;
        }
        Ok(())
    }
}

/// Reads a header with a correct checksum, and writes it back unchanged.
pub(crate) fn fuzz(bytes: &[u8]) {
    let seed = Seed::new(Uuid::nil());
    if let Some(checkpoint) = Checkpoint::fields(bytes) {
        assert_eq!(Checkpoint::decode(&checkpoint.encode(seed), seed), Some(checkpoint));
    }
}
