//! Version 2 of the format, whose superblock and checkpoints had fields by their order: read, and never written.
//!
//! A checkpoint had the state of the FTL, whose length nothing told, then the slots, then the map, whose length
//! follows from the drive.

use crate::media::fields::FieldReader;
use crate::media::journal::Head;
use crate::media::layout::Layout;
use ftlab_flash::Geometry;
use ftlab_ftl::page::{DriveConfig, FreeBlock, WearLeveling};
use ftlab_spec::{Spec, Value};
use uuid::Uuid;

pub(super) const VERSION: u32 = 2;

/// What begins a checkpoint.
pub(super) const CHECKPOINT: &[u8; 8] = b"ftlabchk";

/// A superblock.
pub(super) struct Identity {
    pub(super) uuid: Uuid,
    pub(super) ftl: Spec,
    pub(super) config: DriveConfig,
    pub(super) checkpoint_every: u64,
    pub(super) layout: Layout,
}

/// The header of a checkpoint.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) number: u64,
    pub(super) head: Head,
    pub(super) is_break: bool,
    pub(super) body_bytes: u64,
    pub(super) body_checksum: u32,
    /// Metadata bytes, media errors, recoveries.
    pub(super) totals: [u64; 3],
}

/// The superblock in a block without its checksum.
pub(super) fn superblock(bytes: &[u8]) -> Option<Identity> {
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
    let layout = Layout { checkpoint_bytes, journal_bytes, geometry };
    Some(Identity { uuid, ftl, config, checkpoint_every, layout })
}

pub(super) fn checkpoint(bytes: &[u8]) -> Option<Header> {
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
    let totals = [fields.u64()?, fields.u64()?, fields.u64()?];
    Some(Header { number, head, is_break, body_bytes, body_checksum, totals })
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
