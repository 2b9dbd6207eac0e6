//! The identity of a drive: written when it is created or upgraded, at both ends of the backing file.

use crate::media::layout::{HEADER_BYTES, Layout};
use crate::media::named::{self, CHECKSUM_AT, NEWEST, OLDEST, VERSION};
use crate::media::reading::{Unread, read_medium};
use crate::media::{Backing, MediaError, format2};
use ftlab_flash::Geometry;
use ftlab_ftl::map::Mapping;
use ftlab_ftl::page::{DriveConfig, FreeBlock, WearLeveling};
use ftlab_ftl::registry;
use ftlab_spec::{Spec, Value};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use uuid::Uuid;

pub(super) const MAGIC: &[u8; 8] = b"ftlabdrv";

/// The identity and configuration of a drive.
#[derive(Debug, Clone, PartialEq)]
pub struct Superblock {
    /// Identifies the drive; part of every checksum on it.
    pub uuid: Uuid,
    /// The FTL with all its parameters.
    pub ftl: Spec,
    /// Flash, logical pages and schedule of collection.
    pub config: DriveConfig,
    /// What of its map is in memory.
    pub mapping: Mapping,
    /// The version of the format on the medium.
    pub format: u32,
    /// The program that wrote it, with its version.
    pub program: String,
    /// Which version of the FTL's decisions that program had; none if it did not say.
    pub decisions: Option<String>,
    /// Operations from one checkpoint to the next.
    pub(crate) checkpoint_every: u64,
    pub(crate) layout: Layout,
}

/// As it is on the medium.
#[derive(Serialize, Deserialize)]
struct Fields {
    uuid: Uuid,
    program: String,
    decisions: Option<String>,
    ftl: String,
    blocks: u32,
    pages_per_block: u32,
    page_bytes: u32,
    logical_pages: u32,
    checkpoint_bytes: u64,
    journal_bytes: u64,
    checkpoint_every: u64,
    /// Of a drive whose map is on flash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mapping: Option<String>,
    #[serde(flatten)]
    collection: Collection,
}

/// When a drive collects and how it levels wear.
#[derive(Serialize, Deserialize)]
struct Collection {
    reserve_blocks: u32,
    gc: String,
    gc_start_blocks: u32,
    early_valid_pages_max: u32,
    free_block: String,
    wear_threshold: u32,
}

impl Collection {
    fn of(config: &DriveConfig) -> Self {
        Self {
            reserve_blocks: config.reserve_blocks,
            gc: config.gc.to_string(),
            gc_start_blocks: config.gc_start_blocks,
            early_valid_pages_max: config.early_valid_pages_max,
            free_block: config.wear.free_block.to_string(),
            wear_threshold: config.wear.threshold,
        }
    }

    /// What this version does not know is left out: then a drive collects when it has to, which the FTL begins to do
    /// with the map alone.
    fn apply(&self, config: &mut DriveConfig) {
        config.gc = self.gc.parse().unwrap_or(config.gc);
        config.gc_start_blocks = self.gc_start_blocks;
        config.early_valid_pages_max = self.early_valid_pages_max;
        let free_block = FreeBlock::parse(&self.free_block).unwrap_or(config.wear.free_block);
        config.wear = WearLeveling { threshold: self.wear_threshold, free_block };
    }
}

/// The smallest flash page of a drive whose map is on flash.
const PAGE_BYTES_MIN: u32 = 512;

/// The version of the format of a drive with this map.
fn format_of(mapping: &Mapping) -> u32 {
    if mapping.is_on_flash() { NEWEST } else { VERSION }
}

/// The name and version of this program.
pub(crate) const PROGRAM: &str = concat!("ftlab ", env!("CARGO_PKG_VERSION"));

impl Superblock {
    /// Of a drive that this program makes.
    pub(crate) fn new(
        uuid: Uuid,
        ftl: Spec,
        mapping: Mapping,
        config: DriveConfig,
        checkpoint_every: u64,
        layout: Layout,
    ) -> Self {
        let decisions = registry::decisions(&ftl).ok().map(|decisions| decisions.to_string());
        let program = PROGRAM.to_owned();
        let format = format_of(&mapping);
        Self { uuid, ftl, config, mapping, format, program, decisions, checkpoint_every, layout }
    }

    /// Pages that are mapped: those of the host, and translation pages.
    pub(crate) fn all_pages(&self) -> u32 {
        let engine = self.mapping.of_engine(self.config);
        self.config.logical_pages + engine.map_or(0, |engine| engine.map_pages)
    }

    /// Whether its map is on flash, and in memory in part only.
    pub fn is_paged(&self) -> bool {
        self.mapping.is_on_flash()
    }

    /// As this program would write it.
    pub(crate) fn renewed(&self) -> Self {
        let Self { uuid, ftl, mapping, config, checkpoint_every, layout, .. } = self.clone();
        Self::new(uuid, ftl, mapping, config, checkpoint_every, layout)
    }

    /// What decides where pages go: the FTL, its schedule, and which version of them this program has. None if this
    /// program does not have the FTL.
    pub(crate) fn decider(&self) -> Option<String> {
        let decisions = registry::decisions(&self.ftl).ok()?;
        let collection = serde_json::to_string(&Collection::of(&self.config)).ok()?;
        let map = if self.is_paged() {
            format!(" {} {}", self.mapping, Self::map_version())
        } else {
            String::new()
        };
        Some(format!("{} ({decisions}) {collection}{map}", self.ftl))
    }

    fn map_version() -> String {
        format!("({})", ftlab_ftl::map::VERSION)
    }

    /// This drive with the map on flash of which a [decider](Self::decider) tells, if nothing else is otherwise.
    pub(crate) fn with_map_of(&self, decider: &str) -> Option<Self> {
        let name = decider.strip_suffix(&Self::map_version())?.trim_end().rsplit(' ').next()?;
        let other = Self { mapping: name.parse().ok()?, ..self.clone() };
        let is_same = other.is_paged() && other.decider().is_some_and(|own| own == decider);
        is_same.then_some(other)
    }

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
        let geometry = self.config.geometry;
        let fields = Fields {
            uuid: self.uuid,
            program: self.program.clone(),
            decisions: self.decisions.clone(),
            ftl: self.ftl.to_string(),
            blocks: geometry.blocks(),
            pages_per_block: geometry.pages_per_block(),
            page_bytes: geometry.page_bytes(),
            logical_pages: self.config.logical_pages,
            checkpoint_bytes: self.layout.checkpoint_bytes,
            journal_bytes: self.layout.journal_bytes,
            checkpoint_every: self.checkpoint_every,
            mapping: self.is_paged().then(|| self.mapping.to_string()),
            collection: Collection::of(&self.config),
        };
        let mut bytes = named::encode(*MAGIC, format_of(&self.mapping), &fields)?;
        let checksum = crc32c::crc32c(&bytes[..CHECKSUM_AT]);
        bytes[CHECKSUM_AT..].copy_from_slice(&checksum.to_le_bytes());
        Some(bytes)
    }

    /// From bytes with a correct checksum; `None` if they are inconsistent.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let decoded = match named::version(bytes)? {
            VERSION..=NEWEST => Self::from_fields(named::decode(*MAGIC, bytes)?)?,
            format2::VERSION => Self::from_format2(format2::superblock(bytes.get(..CHECKSUM_AT)?)?),
            _ => return None,
        };
        // Nothing overflows: only 2^32 pages of 2^32 bytes would.
        let sane = HEADER_BYTES as u64..1 << 60;
        let geometry = decoded.config.geometry;
        let is_sane = sane.contains(&decoded.layout.checkpoint_bytes)
            && sane.contains(&decoded.layout.journal_bytes)
            && geometry.page_bytes() < 1 << 24
            && decoded.config.logical_pages < geometry.pages();
        is_sane.then_some(decoded)
    }

    fn from_format2(old: format2::Identity) -> Self {
        Self {
            uuid: old.uuid,
            ftl: old.ftl,
            config: old.config,
            mapping: Mapping::FULL,
            format: format2::VERSION,
            program: "ftlab 0.1.0".to_owned(),
            decisions: None,
            checkpoint_every: old.checkpoint_every,
            layout: old.layout,
        }
    }

    fn from_fields(fields: Fields) -> Option<Self> {
        let geometry =
            Geometry::new(fields.blocks, fields.pages_per_block, fields.page_bytes).ok()?;
        let reserve_blocks = fields.collection.reserve_blocks;
        let mut config = DriveConfig::new(geometry, fields.logical_pages, reserve_blocks);
        fields.collection.apply(&mut config);
        let mapping = fields.mapping.map_or(Ok(Mapping::FULL), |mapping| mapping.parse()).ok()?;
        // A translation page of a smaller page has no entry.
        if mapping.is_on_flash() && geometry.page_bytes() < PAGE_BYTES_MIN
            || mapping.refused_live(&geometry).is_some()
        {
            return None;
        }
        mapping.of_engine(config).ok()?;
        let (checkpoint_bytes, journal_bytes) = (fields.checkpoint_bytes, fields.journal_bytes);
        Some(Self {
            uuid: fields.uuid,
            ftl: fields.ftl.parse().ok()?,
            config,
            mapping,
            format: format_of(&mapping),
            program: fields.program,
            decisions: fields.decisions,
            checkpoint_every: fields.checkpoint_every,
            layout: Layout { checkpoint_bytes, journal_bytes, geometry },
        })
    }

    /// Writes both copies, one after the other has become durable: a power cut may tear the one that is being
    /// written. One that is damaged already comes first.
    pub(crate) fn write(&self, backing: &dyn Backing) -> Result<(), MediaError> {
        let bytes = self.encode().ok_or(MediaError::LongParameters)?;
        let second = self.layout.second_superblock();
        let is_first_damaged = Self::read_copy(backing, 0).is_err();
        for offset in if is_first_damaged { [0, second] } else { [second, 0] } {
            backing
                .write_at(&bytes, offset)
                .and_then(|()| backing.sync())
                .map_err(|error| MediaError::io("write the superblock", error))?;
        }
        Ok(())
    }

    /// Reads the first intact copy, and reports whether the other is damaged. The format is the older one of both.
    pub(crate) fn read(backing: &dyn Backing) -> Result<(Self, Option<MediaError>), MediaError> {
        let bytes = backing.bytes().map_err(|error| MediaError::io("look at the file", error))?;
        let first = Self::read_copy(backing, 0);
        let mut superblock = match &first {
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
        // A change of both was cut off after one.
        let differs = second.as_ref().ok().filter(|second| **second != superblock).map(|second| {
            superblock.format = superblock.format.min(second.format);
            MediaError::OtherSuperblock { offset: superblock.layout.second_superblock() }
        });
        let damaged = first.err().or(second.err()).or(differs);
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
        let is_damaged = |offset: &u64| match Self::read_copy(backing, *offset) {
            Ok(read) => read != *self,
            Err(error) => matches!(error, MediaError::NoDrive | MediaError::Superblock { .. }),
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
        match named::version(bytes) {
            Some(OLDEST..=NEWEST) => Self::decode(bytes).ok_or(damaged),
            version => Err(MediaError::Version { version: version.unwrap_or(0) }),
        }
    }
}
