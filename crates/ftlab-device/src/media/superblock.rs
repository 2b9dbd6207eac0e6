//! The identity of a drive: written once, when it is created, at both ends of the backing file.

use crate::media::fields::{FieldReader, FieldWriter};
use crate::media::layout::{HEADER_BYTES, Layout};
use crate::media::reading::{Unread, read_medium};
use crate::media::{Backing, MediaError};
use ftlab_flash::Geometry;
use ftlab_ftl::page::{DriveConfig, FreeBlock, WearLeveling};
use ftlab_spec::{Spec, Value};
use std::ops::Range;
use uuid::Uuid;

const MAGIC: &[u8; 8] = b"ftlabdrv";

/// The version of the format that this code reads and writes.
pub(crate) const VERSION: u32 = 2;

/// Offset of the checksum of a superblock.
const CHECKSUM_AT: usize = HEADER_BYTES - 4;

/// The identity and configuration of a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Superblock {
    /// Identifies the drive; part of every checksum on it.
    pub uuid: Uuid,
    /// The FTL with all its parameters.
    pub ftl: Spec,
    /// Flash, logical pages and schedule of collection.
    pub config: DriveConfig,
    /// Operations from one checkpoint to the next.
    pub(crate) checkpoint_every: u64,
    pub(crate) layout: Layout,
}

impl Superblock {
    /// Operations from one checkpoint to the next.
    pub fn checkpoint_every(&self) -> u64 {
        self.checkpoint_every
    }

    /// Offsets of the flash pages in the backing.
    pub fn flash_offsets(&self) -> Range<u64> {
        self.layout.pages()
    }

    /// As bytes; `None` if the parameters of the FTL do not fit.
    pub(crate) fn encode(&self) -> Option<Vec<u8>> {
        let mut bytes = vec![0; HEADER_BYTES];
        let DriveConfig { geometry, wear, .. } = self.config;
        let mut fields = FieldWriter::new(&mut bytes[..CHECKSUM_AT]);
        fields.put(MAGIC).u32(VERSION).u32(0).put(self.uuid.as_bytes());
        fields.u32(geometry.blocks()).u32(geometry.pages_per_block()).u32(geometry.page_bytes());
        fields.u32(self.config.logical_pages).u32(self.config.reserve_blocks);
        fields.u32(self.config.gc_start_blocks).u32(self.config.early_valid_pages_max);
        fields.u32(wear.threshold);
        fields.u64(self.layout.checkpoint_bytes).u64(self.layout.journal_bytes);
        fields.u64(self.checkpoint_every);
        let texts = [self.ftl.to_string(), self.config.gc.to_string(), wear.free_block.to_string()];
        if !texts.iter().all(|text| fields.text(text)) {
            return None;
        }
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        Some(bytes)
    }

    /// From bytes with a correct checksum; `None` if they are inconsistent.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = FieldReader::new(bytes.get(16..CHECKSUM_AT)?);
        let uuid = Uuid::from_slice(fields.take(16)?).ok()?;
        let geometry = Geometry::new(fields.u32()?, fields.u32()?, fields.u32()?).ok()?;
        let mut config = DriveConfig::new(geometry, fields.u32()?, fields.u32()?);
        config.gc_start_blocks = fields.u32()?;
        config.early_valid_pages_max = fields.u32()?;
        let threshold = fields.u32()?;
        let (checkpoint_bytes, journal_bytes) = (fields.u64()?, fields.u64()?);
        let checkpoint_every = fields.u64()?;
        let ftl = fields.text()?.parse().ok()?;
        config.gc = fields.text()?.parse().ok()?;
        config.wear = WearLeveling { threshold, free_block: FreeBlock::parse(fields.text()?)? };
        // Nothing overflows: only 2^32 pages of 2^32 bytes would.
        let sane = HEADER_BYTES as u64..1 << 60;
        let is_sane = sane.contains(&checkpoint_bytes)
            && sane.contains(&journal_bytes)
            && geometry.page_bytes() < 1 << 24
            && config.logical_pages < geometry.pages();
        let layout = Layout { checkpoint_bytes, journal_bytes, geometry };
        is_sane.then_some(Self { uuid, ftl, config, checkpoint_every, layout })
    }

    /// Writes both copies to a new backing.
    pub(crate) fn write(&self, backing: &dyn Backing) -> Result<(), MediaError> {
        let bytes = self.encode().ok_or(MediaError::LongParameters)?;
        for offset in [0, self.layout.second_superblock()] {
            backing
                .write_at(&bytes, offset)
                .map_err(|error| MediaError::io("write the superblock", error))?;
        }
        Ok(())
    }

    /// Reads the first intact copy, and reports whether the other is damaged.
    pub(crate) fn read(backing: &dyn Backing) -> Result<(Self, Option<MediaError>), MediaError> {
        let bytes = backing.bytes().map_err(|error| MediaError::io("look at the file", error))?;
        let first = Self::read_copy(backing, 0);
        let superblock = match &first {
            Ok(superblock) => superblock.clone(),
            // The second one is at the very end.
            Err(MediaError::Version { .. }) => return Err(first.unwrap_err()),
            Err(_) => {
                let last = bytes.checked_sub(HEADER_BYTES as u64).ok_or(MediaError::NoDrive)?;
                let second = Self::read_copy(backing, last);
                second.map_err(|_| match &first {
                    Err(MediaError::NoDrive) | Ok(_) => MediaError::NoDrive,
                    Err(_) => MediaError::Superblocks,
                })?
            }
        };
        let expected = superblock.layout.bytes();
        if bytes < expected {
            return Err(MediaError::Truncated { bytes, expected });
        }
        let second = Self::read_copy(backing, superblock.layout.second_superblock());
        if let Ok(second) = &second
            && second.uuid != superblock.uuid
        {
            let (first, second) = (superblock.uuid, second.uuid);
            return Err(MediaError::TwoDrives { first, second });
        }
        let damaged = first.err().or(second.err());
        Ok((superblock, damaged))
    }

    fn read_copy(backing: &dyn Backing, offset: u64) -> Result<Self, MediaError> {
        let mut bytes = vec![0; HEADER_BYTES];
        let read = read_medium(backing, &mut bytes, offset, |bytes| {
            let read = Self::verify(bytes, offset);
            let is_wrong = matches!(read, Err(MediaError::NoDrive | MediaError::Superblock { .. }));
            (!is_wrong).then_some(read)
        });
        read.unwrap_or_else(|unread| match unread {
            Unread::Failed(_) => Err(MediaError::NoDrive),
            Unread::Differs => Self::verify(&bytes, offset),
        })
    }

    /// Writes damaged copies again; returns the offsets of those that are whole now.
    pub(crate) fn heal(&self, backing: &dyn Backing) -> Vec<u64> {
        let is_damaged = |offset: &u64| {
            let read = Self::read_copy(backing, *offset);
            matches!(read, Err(MediaError::NoDrive | MediaError::Superblock { .. }))
        };
        let heal = |offset: &u64| {
            let written = self.encode().map(|bytes| backing.write_at(&bytes, *offset));
            matches!(written, Some(Ok(()))) && !is_damaged(offset)
        };
        let copies = [0, self.layout.second_superblock()].into_iter();
        copies.filter(is_damaged).filter(heal).collect()
    }

    /// From the bytes at `offset`.
    pub(crate) fn verify(bytes: &[u8], offset: u64) -> Result<Self, MediaError> {
        if !bytes.starts_with(MAGIC) || bytes.len() != HEADER_BYTES {
            return Err(MediaError::NoDrive);
        }
        let damaged = MediaError::Superblock { offset };
        if crc32c::crc32c(&bytes[..CHECKSUM_AT]).to_le_bytes() != bytes[CHECKSUM_AT..] {
            return Err(damaged);
        }
        match FieldReader::new(&bytes[MAGIC.len()..]).u32() {
            Some(VERSION) => Self::decode(bytes).ok_or(damaged),
            version => Err(MediaError::Version { version: version.unwrap_or(0) }),
        }
    }
}
