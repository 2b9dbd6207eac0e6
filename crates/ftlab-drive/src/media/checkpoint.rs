//! Checkpoints: the whole state of a drive as of one operation, in two alternating slots.
//!
//! A slot consists of a header and a body, which has [sections](Section). The last one is the map: for each slice of
//! the logical pages their locations and their checksums. The header is written when the body and everything that it
//! refers to is durable.

use crate::media::batch::Seed;
use crate::media::journal::Head;
use crate::media::layout::{HEADER_BYTES, Layout};
use crate::media::named::{self, CHECKSUM_AT, VERSION};
use crate::media::owner_capture::NOTHING;
use crate::media::reading::{Unread, read_medium, with_retries};
use crate::media::{Backing, MediaError, format2};
use ftlab_flash::{Lpn, Ppn};
use ftlab_ftl::{Archive, StateError};
use serde::{Deserialize, Serialize};
use std::io;
use uuid::Uuid;

const MAGIC: &[u8; 8] = b"ftlabckp";

/// Bytes of a body written or read at once.
const CHUNK_BYTES: usize = 1 << 20;

/// Logical pages in a slice.
pub(crate) const SLICE_PAGES: u32 = 64 << 10;

/// The header of a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// [What decided](crate::media::Superblock::decider) where pages went before it, and decides after it; none if the
    /// program did not say.
    pub(crate) decider: Option<String>,
    /// The sections of its body, in order; none if the program did not say.
    pub(crate) sections: Vec<(Section, u64)>,
}

/// A part of a body. What a version does not know, it passes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Section {
    /// The state of the FTL: it takes the same FTL in the same version to read it.
    Ftl,
    /// Which slots took the place of others, and what could not be read.
    Slots,
    /// What has been counted, as JSON.
    Counters,
    /// The erases of each block, 4 bytes each.
    Wear,
    /// Where logical pages are, and their checksums.
    Map,
    /// Instead of it, of a drive whose map is on flash: what flash pages hold, and the checksums of that.
    Owners,
    /// Of a later version.
    #[serde(other)]
    Other,
}

/// Counters over the life of a drive, in addition to those of the FTL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Bytes of superblocks, journal and checkpoints written.
    pub metadata_bytes: u64,
    /// Reads of pages that failed, or found something else than was written.
    pub media_errors: u64,
    /// Number of times that it was opened without having been closed.
    pub recoveries: u64,
}

impl Checkpoint {
    /// `None` if what decides takes too much room.
    fn encode(&self, seed: Seed) -> Option<Vec<u8>> {
        let mut bytes = named::encode(*MAGIC, VERSION, self)?;
        let checksum = seed.checksum(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        Some(bytes)
    }

    /// From a header block; `None` if it does not belong to this drive.
    fn decode(bytes: &[u8], seed: Seed) -> Option<Self> {
        let sum = seed.checksum(bytes.get(..CHECKSUM_AT)?).to_le_bytes();
        if sum == bytes[CHECKSUM_AT..] { Self::fields(bytes) } else { None }
    }

    /// From a header block with a correct checksum.
    fn fields(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(format2::CHECKPOINT) {
            return format2::checkpoint(bytes.get(..CHECKSUM_AT)?).map(Self::from_format2);
        }
        named::decode(*MAGIC, bytes)
    }

    fn from_format2(old: format2::Header) -> Self {
        let [metadata_bytes, media_errors, recoveries] = old.totals;
        Self {
            number: old.number,
            head: old.head,
            is_break: old.is_break,
            totals: Totals { metadata_bytes, media_errors, recoveries },
            body_bytes: old.body_bytes,
            body_checksum: old.body_checksum,
            decider: None,
            sections: Vec::new(),
        }
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
        let header = self.encode(Seed::new(uuid));
        let header = header.ok_or_else(|| io::Error::other("its header is too long"))?;
        backing.write_at(&header, layout.checkpoint(slot))
    }
}

/// Writes a body.
pub(crate) struct BodyWriter<'a> {
    backing: &'a dyn Backing,
    offset: u64,
    end: u64,
    chunk: Vec<u8>,
    /// Bytes and checksum of what has been written.
    bytes: u64,
    checksum: u32,
    /// Where the section began that is being written, and those before it.
    section_start: u64,
    sections: Vec<(Section, u64)>,
    /// Lists within lists.
    lists: u32,
}

impl<'a> BodyWriter<'a> {
    /// Into `slot`.
    pub(crate) fn new(backing: &'a dyn Backing, layout: &Layout, slot: u8) -> Self {
        let start = layout.checkpoint(slot);
        let offset = start + HEADER_BYTES as u64;
        let end = start + layout.checkpoint_bytes;
        let chunk = Vec::with_capacity(CHUNK_BYTES);
        let (sections, section_start) = (Vec::new(), 0);
        Self {
            backing,
            offset,
            end,
            chunk,
            bytes: 0,
            checksum: 0,
            section_start,
            sections,
            lists: 0,
        }
    }

    /// Ends a section: everything since the last one.
    pub(crate) fn end_section(&mut self, section: Section) {
        let end = self.bytes + self.chunk.len() as u64;
        self.sections.push((section, end - self.section_start));
        self.section_start = end;
    }

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

    /// Writes the rest, and tells `checkpoint` what the body is.
    pub(crate) fn finish(mut self, checkpoint: &mut Checkpoint) -> io::Result<()> {
        self.write()?;
        checkpoint.body_bytes = self.bytes;
        checkpoint.body_checksum = self.checksum;
        checkpoint.sections = self.sections;
        Ok(())
    }
}

impl Archive for BodyWriter<'_> {
    fn bytes(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.chunk.extend_from_slice(bytes);
        self.write_full()
    }

    /// A byte of length, and the name.
    fn name(&mut self, name: &'static str) -> Result<(), StateError> {
        if self.lists == 0 {
            self.chunk.push(name.len() as u8);
            self.chunk.extend_from_slice(name.as_bytes());
        }
        Ok(())
    }

    fn list_begins(&mut self) {
        self.lists += 1;
    }

    fn list_ends(&mut self) {
        self.lists -= 1;
    }
}

/// Reads a body.
pub(crate) struct BodyReader<'a> {
    backing: &'a dyn Backing,
    offset: u64,
    /// Of the body.
    bytes: u64,
    /// Bytes not yet read from the backing.
    left: u64,
    chunk: Vec<u8>,
    /// Number of bytes of the chunk already consumed.
    taken: usize,
    checksum: u32,
    has_names: bool,
    /// Lists within lists.
    lists: u32,
}

impl<'a> BodyReader<'a> {
    /// The body of `checkpoint`, which is in `slot`.
    pub(crate) fn new(
        backing: &'a dyn Backing,
        layout: &Layout,
        slot: u8,
        checkpoint: &Checkpoint,
    ) -> Self {
        let offset = layout.checkpoint(slot) + HEADER_BYTES as u64;
        let (left, chunk) = (checkpoint.body_bytes, Vec::new());
        let has_names = !checkpoint.sections.is_empty();
        let bytes = left;
        Self { backing, offset, bytes, left, chunk, taken: 0, checksum: 0, has_names, lists: 0 }
    }

    /// Reads a map of `logical_pages`, and hands on each slice: its first page, places and checksums.
    pub(crate) fn slices(
        &mut self,
        logical_pages: u32,
        mut take: impl FnMut(Lpn, &[u32], &[u32]) -> Result<(), MediaError>,
    ) -> Result<(), MediaError> {
        let failed = |error| MediaError::io("read a checkpoint", error);
        let most = SLICE_PAGES.min(logical_pages) as usize;
        let (mut flash_pages, mut checksums) = (vec![0; most], vec![0; most]);
        for first in (0..logical_pages).step_by(SLICE_PAGES as usize) {
            let pages = SLICE_PAGES.min(logical_pages - first) as usize;
            self.numbers(&mut flash_pages[..pages]).map_err(failed)?;
            self.numbers(&mut checksums[..pages]).map_err(failed)?;
            take(Lpn(first), &flash_pages[..pages], &checksums[..pages])?;
        }
        Ok(())
    }

    /// Reads what this many flash pages hold, and hands on each that holds something: its place, what it holds, and the
    /// checksum of that.
    pub(crate) fn owners(
        &mut self,
        flash_pages: u32,
        mut take: impl FnMut(Ppn, Lpn, u32) -> Result<(), MediaError>,
    ) -> Result<(), MediaError> {
        let mut owners = [0; 2 * 512];
        for first in (0..flash_pages).step_by(512) {
            let pages = 512.min(flash_pages - first) as usize;
            let owners = &mut owners[..2 * pages];
            self.numbers(owners).map_err(|error| MediaError::io("read a checkpoint", error))?;
            for (page, [lpn, checksum]) in (first..).zip(owners.as_chunks().0) {
                if *lpn != NOTHING {
                    take(Ppn(page), Lpn(*lpn), *checksum)?;
                }
            }
        }
        Ok(())
    }

    /// The next bytes, at most as many as the body has.
    pub(crate) fn take(&mut self, bytes: u64) -> io::Result<Vec<u8>> {
        let mut taken = Vec::new();
        while (taken.len() as u64) < bytes {
            let start = taken.len();
            taken.resize(bytes.min((start + CHUNK_BYTES) as u64) as usize, 0);
            self.bytes(&mut taken[start..])?;
        }
        Ok(taken)
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

    /// Whether the body of `checkpoint`, in `slot`, can be read and has its checksum.
    pub(crate) fn verify(
        backing: &dyn Backing,
        layout: &Layout,
        slot: u8,
        checkpoint: &Checkpoint,
    ) -> bool {
        let read = with_retries(backing, |_| {
            let mut body = BodyReader::new(backing, layout, slot, checkpoint);
            while body.left > 0 {
                body.read()?;
            }
            (body.checksum == checkpoint.body_checksum).then_some(()).ok_or(Unread::Differs)
        });
        read.is_ok()
    }

    /// Bytes that have been consumed.
    pub(crate) fn position(&self) -> u64 {
        self.bytes - self.left - (self.chunk.len() - self.taken) as u64
    }

    /// Passes over what is left before `end`; an error if more than that has been consumed.
    pub(crate) fn pass_over(&mut self, end: u64) -> io::Result<()> {
        let left = end.checked_sub(self.position());
        let left =
            left.ok_or_else(|| io::Error::other("a section is shorter than what is in it"))?;
        let mut passed = [0; 4096];
        for start in (0..left).step_by(passed.len()) {
            let bytes = (left - start).min(passed.len() as u64) as usize;
            self.bytes(&mut passed[..bytes])?;
        }
        Ok(())
    }

    /// Reads the rest; returns whether the whole body has this checksum, and whether all of it was
    /// consumed.
    pub(crate) fn finish(mut self, checksum: u32) -> io::Result<(bool, bool)> {
        let is_taken = self.left == 0 && self.taken == self.chunk.len();
        while self.left > 0 {
            self.read()?;
        }
        Ok((self.checksum == checksum, is_taken))
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

    fn name(&mut self, expected: &'static str) -> Result<(), StateError> {
        if !self.has_names || self.lists > 0 {
            return Ok(());
        }
        let mut length = [0];
        self.bytes(&mut length)?;
        let found = self.take(length[0].into())?;
        if found == expected.as_bytes() {
            return Ok(());
        }
        Err(StateError::Name { found: String::from_utf8_lossy(&found).into_owned(), expected })
    }

    fn list_begins(&mut self) {
        self.lists += 1;
    }

    fn list_ends(&mut self) {
        self.lists -= 1;
    }
}

/// Reads a header with a correct checksum, and writes it back unchanged.
pub(crate) fn fuzz(bytes: &[u8]) {
    let seed = Seed::new(Uuid::nil());
    if let Some(checkpoint) = Checkpoint::fields(bytes)
        && let Some(encoded) = checkpoint.encode(seed)
    {
        assert_eq!(Checkpoint::decode(&encoded, seed), Some(checkpoint));
    }
}
