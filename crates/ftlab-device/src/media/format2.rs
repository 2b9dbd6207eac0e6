//! Version 2 of the format, whose superblock and checkpoints had fields by their order: read, and never written.
//!
//! A checkpoint had the state of the FTL, whose length nothing told, then the slots, then the map, whose length
//! follows from the drive.

use crate::media::fields::FieldReader;
use crate::media::journal::Head;
use crate::media::layout::Layout;
use crate::media::{Checkpoint, Superblock, Totals};
use ftlab_flash::Geometry;
use ftlab_ftl::page::{DriveConfig, FreeBlock, WearLeveling};
use ftlab_spec::Value;
use uuid::Uuid;

pub(super) const VERSION: u32 = 2;

/// What begins a checkpoint.
pub(super) const CHECKPOINT: &[u8; 8] = b"ftlabchk";

/// The superblock in a block without its checksum.
pub(super) fn superblock(bytes: &[u8]) -> Option<Superblock> {
    let mut fields = FieldReader::new(bytes.get(16..)?);
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
    Some(Superblock {
        uuid,
        ftl,
        config,
        format: VERSION,
        program: "ftlab 0.1.0".to_owned(),
        decisions: None,
        checkpoint_every,
        layout: Layout { checkpoint_bytes, journal_bytes, geometry },
    })
}

/// The header of a checkpoint.
pub(super) fn checkpoint(bytes: &[u8]) -> Option<Checkpoint> {
    let mut fields = FieldReader::new(bytes.get(CHECKPOINT.len()..)?);
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
    let (decider, sections) = (None, Vec::new());
    Some(Checkpoint {
        number,
        head,
        is_break,
        totals,
        body_bytes,
        body_checksum,
        decider,
        sections,
    })
}

/// Where in the bytes before the map the slots begin, of which `is_valid` tells whether they are; their length is
/// known only from within. The shortest that fits is taken.
pub(crate) fn slots_at(before_map: &[u8], is_valid: impl Fn(&[u8]) -> bool) -> Option<usize> {
    const FIXED: usize = 16;
    const PAIR: usize = 8;
    let last = before_map.len().checked_sub(FIXED)?;
    (0..=last / PAIR).map(|pairs| last - pairs * PAIR).find(|&start| {
        let mut fields = FieldReader::new(&before_map[start + 8..]);
        let counts = fields.u32().zip(fields.u32());
        let pairs =
            counts.map(|(replaced, unreadable)| u64::from(replaced) + u64::from(unreadable));
        pairs == Some(((last - start) / PAIR) as u64) && is_valid(&before_map[start..])
    })
}
