//! Beside the data: the logical page that each flash page holds, and when it came there.
//!
//! As long as the FTL can repeat what it decided, nothing needs this. If it cannot, every page is found by reading all of
//! it ([`locate`](crate::drive::locate)); if both checkpoints are lost as well, what is found is what can be saved
//! ([`restore`](crate::drive::restore)).

use crate::media::backing::Backing;
use crate::media::fields::{FieldReader, FieldWriter};
use crate::media::layout::{Layout, OWNER_BYTES};
use crate::media::reading::{Origin, Unread, read_alike, read_medium};
use ftlab_flash::{Lpn, Ppn};
use std::io;

/// What is known of a flash page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) lpn: Lpn,
    /// Of its data.
    pub(crate) checksum: u32,
    /// Rises with every version of a logical page.
    pub(crate) sequence: u64,
}

/// The sequence of what comes to a place during an operation: versions that the host writes follow those
/// that are moved, and what is written after a recovery follows what was written before.
pub(crate) fn sequence(recoveries: u64, operations: u64, is_new: bool) -> u64 {
    recoveries << 48 | operations << 1 | u64::from(is_new)
}

impl Owner {
    pub(crate) fn encode(self) -> [u8; OWNER_BYTES] {
        let mut bytes = [0; OWNER_BYTES];
        // A page that was never written has zeros here.
        FieldWriter::new(&mut bytes).u32(self.lpn.0 + 1).u32(self.checksum).u64(self.sequence);
        bytes
    }

    /// Of a page that was never written, or whose owner cannot be read.
    const NONE: Self = Self { lpn: Lpn(u32::MAX), checksum: 0, sequence: 0 };

    /// That of a place, read once; none if it cannot be read.
    pub(crate) fn read(
        backing: &dyn Backing,
        layout: &Layout,
        origin: Origin,
        place: Ppn,
    ) -> Option<Self> {
        let mut bytes = [0; OWNER_BYTES];
        read_at(backing, origin, &mut bytes, layout.owner(place)).ok()?;
        Self::decode(&bytes)
    }

    /// Those of some places in a row, read once; none of those that cannot be read.
    pub(crate) fn read_all(
        backing: &dyn Backing,
        layout: &Layout,
        origin: Origin,
        first: Ppn,
        count: u32,
    ) -> Vec<Self> {
        let mut bytes = vec![0; count as usize * OWNER_BYTES];
        let offset = layout.owner(first);
        if read_at(backing, origin, &mut bytes, offset).is_err() {
            for (owner, offset) in
                bytes.chunks_mut(OWNER_BYTES).zip((offset..).step_by(OWNER_BYTES))
            {
                if read_at(backing, origin, owner, offset).is_err() {
                    owner.fill(0);
                }
            }
        }
        let owners = bytes.chunks_exact(OWNER_BYTES);
        owners.map(|bytes| Self::decode(bytes).unwrap_or(Self::NONE)).collect()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut fields = FieldReader::new(bytes);
        let lpn = Lpn(fields.u32()?.checked_sub(1)?);
        Some(Self { lpn, checksum: fields.u32()?, sequence: fields.u64()? })
    }
}

fn read_at(backing: &dyn Backing, origin: Origin, data: &mut [u8], offset: u64) -> io::Result<()> {
    match origin {
        Origin::Anywhere => backing.read_at(data, offset),
        Origin::Medium => backing.read_medium_at(data, offset),
    }
}

/// Owners read at once.
const OWNERS_AT_ONCE: usize = 1 << 16;

/// How owners are read, which have no checksums of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Two reads have to agree.
    Alike,
    /// One read: for those who look at the page itself where its owner is not what they expect.
    Once,
}

impl Reads {
    fn read(self, backing: &dyn Backing, bytes: &mut [u8], offset: u64) -> Result<(), Unread> {
        match self {
            Self::Alike => read_alike(backing, bytes, offset),
            Self::Once => read_medium(backing, bytes, offset, |_| Some(())),
        }
    }
}

/// Calls `see` for every place that has an owner, in order. What cannot be read is passed over.
pub(crate) fn for_each_owner(
    backing: &dyn Backing,
    layout: &Layout,
    reads: Reads,
    mut see: impl FnMut(Ppn, Owner),
) {
    let mut bytes = vec![0; OWNERS_AT_ONCE * OWNER_BYTES];
    for first in (0..layout.places()).step_by(OWNERS_AT_ONCE) {
        let count = OWNERS_AT_ONCE.min((layout.places() - first) as usize);
        let bytes = &mut bytes[..count * OWNER_BYTES];
        if reads.read(backing, bytes, layout.owner(Ppn(first))).is_err() {
            let sectors = bytes.chunks_mut(512);
            for (sector, offset) in sectors.zip((layout.owner(Ppn(first))..).step_by(512)) {
                if reads.read(backing, sector, offset).is_err() {
                    sector.fill(0);
                }
            }
        }
        for (bytes, place) in bytes.chunks_exact(OWNER_BYTES).zip((first..).map(Ppn)) {
            if let Some(owner) = Owner::decode(bytes) {
                see(place, owner);
            }
        }
    }
}
