//! What opening a drive begins with, whether it is replayed or searched: the checkpoints, and how far the journal
//! reaches.

use crate::media::{
    Backing, Checkpoint, Half, Head, JournalReader, Mark, Media, MediaError, Misplaced, Owner,
    Record, Replacement, Superblock, Unread, with_retries,
};
use ftlab_flash::{Lpn, Ppn};
use ftlab_ftl::registry::DynMapped;
use std::collections::HashMap;

/// How a drive was opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovery {
    /// Operations that were replayed; none if the drive had been closed.
    pub repeated: u64,
    /// Operations in the journal that were discarded, because pages that they wrote are missing.
    /// None of them was durable, unless a page has rotted since the crash.
    pub dropped: u64,
    /// Operations that had been flushed and are lost, because their journal is damaged: only if that was
    /// asked for.
    pub lost: u64,
    /// Why the FTL could not execute the last operation, if that made the drive read-only. The
    /// operation is discarded.
    pub failed: Option<String>,
    /// Pages that were copied to their places.
    pub restored_pages: u64,
    /// Pages that had been in their places and are damaged.
    pub damaged_pages: u64,
    /// Damaged structures that were not needed.
    pub damage: Vec<String>,
    /// What was damaged and has been written again.
    pub healed: Vec<String>,
    /// Why the FTL could not repeat what it had decided: every page was searched for instead, and is where it was
    /// found; the FTL learns from the beginning.
    pub by_map: Option<String>,
    /// The map on flash that the drive had before, if it has another one from now on.
    pub other_map: Option<String>,
    /// The format on the medium, if it is older than that which this program writes: it is written now, unless the
    /// drive is opened for reading only.
    pub older_format: Option<u32>,
}

/// The content of the journal.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
    pub(crate) end: Head,
    /// Operations whose pages were all in their places.
    pub(crate) in_place: u64,
    /// Operations that were durable for certain: what is missing of them has rotted.
    pub(crate) flushed: u64,
    /// Slots that took the place of others.
    pub(crate) replacements: Vec<Replacement>,
    /// Bytes of metadata written up to its end, if there is a batch.
    pub(crate) metadata_bytes: Option<u64>,
    /// Batches that are damaged in one copy.
    pub(crate) halves: Vec<Half>,
    /// Copies of the flush mark that are damaged.
    pub(crate) marks_damaged: u64,
}

pub(crate) struct Loaded {
    pub(crate) ftl: DynMapped<Media, ()>,
    /// Where the journal ends, for what it asks of a map on flash that is not in memory as a whole.
    pub(crate) asked_to: Option<Head>,
    pub(crate) slot: u8,
    pub(crate) checkpoint: Checkpoint,
}

/// The headers of both slots.
pub(crate) struct Headers([Result<Checkpoint, MediaError>; 2]);

impl Headers {
    pub(crate) fn read(backing: &dyn Backing, superblock: &Superblock) -> Self {
        let read = |slot| Checkpoint::read(backing, &superblock.layout, superblock.uuid, slot);
        Self([read(0), read(1)])
    }

    /// Those that are intact.
    fn intact(&self) -> impl Iterator<Item = &Checkpoint> {
        self.0.iter().flatten()
    }

    /// That of `slot`, or why there is none.
    pub(crate) fn of(&self, slot: u8) -> Result<Checkpoint, String> {
        self.0[usize::from(slot)].as_ref().cloned().map_err(ToString::to_string)
    }

    /// The position from which checkpoints need the journal, if `used` is the one that is used.
    pub(crate) fn tail(&self, used: &Checkpoint) -> u64 {
        let older = self.intact().find(|other| other.number < used.number);
        older.unwrap_or(used).head.position
    }

    /// The slots, that of the newest one first.
    pub(crate) fn newest_first(&self) -> [u8; 2] {
        let number = |slot: &u8| self.of(*slot).ok().map(|checkpoint| checkpoint.number);
        let mut slots = [0, 1];
        slots.sort_by_key(|slot| std::cmp::Reverse(number(slot)));
        slots
    }
}

/// What `load` makes of the newest checkpoint of which it makes anything.
pub(crate) fn first_intact<T>(
    headers: &Headers,
    damage: &mut Vec<String>,
    mut load: impl FnMut(u8, Checkpoint) -> Result<T, MediaError>,
) -> Result<T, MediaError> {
    let mut reasons = Vec::new();
    for slot in headers.newest_first() {
        let loaded = headers
            .of(slot)
            .and_then(|checkpoint| load(slot, checkpoint).map_err(|error| error.to_string()));
        match loaded {
            Ok(loaded) => {
                damage.extend(reasons);
                return Ok(loaded);
            }
            Err(error) => reasons.push(format!("checkpoint {slot}: {error}")),
        }
    }
    let [first, second] = reasons.try_into().unwrap_or_default();
    Err(MediaError::NoCheckpoint { first, second })
}

/// Finds the end of the journal after `checkpoint`.
pub(crate) fn measure(
    backing: &dyn Backing,
    superblock: &Superblock,
    checkpoint: &Checkpoint,
    headers: &Headers,
    damage: &mut Vec<String>,
) -> Extent {
    let mut reader =
        JournalReader::new(backing, superblock.uuid, &superblock.layout, checkpoint.head);
    let mut in_place = checkpoint.head.operations;
    let mut metadata_bytes = None;
    let mut replacements = Vec::new();
    while let Some(header) = reader.next() {
        in_place = in_place.max(header.in_place);
        metadata_bytes = Some(header.metadata_bytes);
        replacements.extend(reader.records(&header).flatten().filter_map(|record| match record {
            Record::Replacement(replacement) => Some(replacement),
            _ => None,
        }));
    }
    let end = reader.head();
    let checkpointed = headers.intact().map(|header| header.head.operations).max();
    let (marked, marks_damaged) = Mark::new(superblock.uuid, superblock.layout).read(backing);
    let flushed = reader.flushed_anywhere().max(checkpointed.unwrap_or(0)).max(marked);
    let halves = reader.halves();
    // After these, a crash may have torn one copy.
    let damaged = halves.iter().filter(|half| half.operations <= flushed).count();
    if damaged > 0 {
        damage.push(format!("journal: {damaged} batches are damaged in one of its two copies"));
    }
    Extent { end, in_place, flushed, replacements, metadata_bytes, halves, marks_damaged }
}

/// A drive as of the last operation that can be recovered, which has not been changed yet.
pub(crate) struct Repeated {
    pub(crate) loaded: Loaded,
    pub(crate) headers: Headers,
    pub(crate) extent: Extent,
    pub(crate) last: u64,
    /// Pages that are known to be nowhere.
    pub(crate) lost: u64,
    /// Where pages are, if not all of the mapping is in memory.
    pub(crate) survey: Option<Survey>,
    /// Why nothing may be written.
    pub(crate) unwritable: Option<String>,
}

/// What is where after a replay, if not all of the mapping is in memory.
pub(crate) struct Survey {
    /// Where the pages are of which the tracker knows, and their checksums.
    pub(crate) places: HashMap<Lpn, (Ppn, u32)>,
    /// Translation pages that are not in their places, or are not what they have to be.
    pub(crate) of_map: Vec<Misplaced>,
    /// Places beside which something else stands than should.
    pub(crate) wrong: Vec<(Ppn, Owner)>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    pub(crate) may_lose: MayLose,
    /// Whatever the FTL could repeat, it takes the drive over as that of another.
    pub(crate) is_taken_over: bool,
    /// All of a map on flash is looked at.
    pub(crate) needs_all: bool,
}

impl How {
    /// As a rule.
    pub(crate) const AS_IT_IS: Self =
        Self { may_lose: MayLose::Nothing, is_taken_over: false, needs_all: true };
}

/// What may be lost for the sake of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayLose {
    /// Nothing that was flushed.
    Nothing,
    /// Operations whose journal is damaged, and all after them.
    Operations,
}

/// Cuts off what is damaged of the journal, if that may be lost.
pub(crate) fn bound(
    extent: &mut Extent,
    may_lose: MayLose,
    recovery: &mut Recovery,
) -> Result<(), MediaError> {
    let (end, flushed) = (extent.end.operations, extent.flushed);
    if flushed > end {
        if may_lose == MayLose::Nothing {
            return Err(MediaError::Journal { end, durable: flushed });
        }
        recovery.lost = flushed - end;
        extent.flushed = end;
    }
    Ok(())
}

/// Loads something of which every part is verified; what is not whole may have been read wrong, and is read again.
pub(crate) fn load_again<T>(
    backing: &dyn Backing,
    mut load: impl FnMut() -> Result<T, MediaError>,
) -> Result<T, MediaError> {
    let mut failure = None;
    let loaded = with_retries(backing, |_| {
        load().map_err(|error| {
            failure = Some(error);
            Unread::Differs
        })
    });
    loaded.map_err(|differs| failure.unwrap_or_else(|| MediaError::Checkpoint(differs.to_string())))
}
