//! Replaying: a checkpoint is loaded, and the FTL carries out the operations of the journal again.

use crate::drive::core::{host_write, renew, write};
use crate::drive::locate;
use crate::drive::opening::{
    Extent, Headers, Loaded, MayLose, Recovery, Repeated, bound, first_intact, load_again, measure,
};
use crate::media::{
    Backing, BodyReader, Checkpoint, JournalReader, Media, MediaError, Pages, Record, Section,
    Superblock, Tracker,
};
use ftlab_flash::Lpn;
use ftlab_ftl::registry::{self, DynPageMapped};
use std::sync::Arc;

/// Loads the newest intact checkpoint.
pub(crate) fn load_newest(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    headers: &Headers,
    damage: &mut Vec<String>,
) -> Result<Loaded, MediaError> {
    first_intact(headers, damage, |slot, checkpoint| load(backing, superblock, slot, &checkpoint))
}

/// Loads the checkpoint in `slot`; if it is not whole, what was read may have been wrong.
pub(crate) fn load(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    slot: u8,
    checkpoint: &Checkpoint,
) -> Result<Loaded, MediaError> {
    load_again(&**backing, || load_once(backing, superblock, slot, checkpoint.clone()))
}

fn load_once(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    slot: u8,
    checkpoint: Checkpoint,
) -> Result<Loaded, MediaError> {
    let failed = |error| MediaError::io("read a checkpoint", error);
    let media = Media::new(Arc::clone(backing), superblock, 0, checkpoint.head);
    let mut ftl = registry::build_page_mapped(&superblock.ftl, superblock.config, media, ())?;
    let layout = &superblock.layout;
    let mut body = BodyReader::new(&**backing, layout, slot, &checkpoint);
    let restored = restore(&mut ftl, &mut body, &checkpoint, superblock.config.logical_pages);
    let (is_intact, is_taken) = body.finish(checkpoint.body_checksum).map_err(failed)?;
    if !is_intact {
        return Err(MediaError::Checkpoint("its checksum is wrong".to_owned()));
    }
    restored?;
    if !is_taken {
        return Err(MediaError::Replay("a checkpoint has more than the FTL knows".to_owned()));
    }
    *ftl.flash_mut().totals_mut() = checkpoint.totals;
    Ok(Loaded { ftl, slot, checkpoint })
}

fn restore(
    ftl: &mut DynPageMapped<Media, ()>,
    body: &mut BodyReader,
    checkpoint: &Checkpoint,
    logical_pages: u32,
) -> Result<(), MediaError> {
    let failed = |error| MediaError::io("read a checkpoint", error);
    // Format 2 did not say.
    let all = [(Section::Ftl, 0), (Section::Slots, 0), (Section::Map, 0)];
    let sections = if checkpoint.sections.is_empty() { &all } else { &checkpoint.sections[..] };
    for (section, bytes) in sections {
        let start = body.position();
        match section {
            Section::Ftl => ftl.transfer(body)?,
            Section::Slots => ftl.flash_mut().slots_mut().load(body).map_err(failed)?,
            Section::Map => restore_map(ftl, body, logical_pages)?,
            Section::Counters | Section::Wear | Section::Other => {}
        }
        if !checkpoint.sections.is_empty() {
            body.pass_over(start + bytes).map_err(failed)?;
        }
    }
    Ok(())
}

fn restore_map(
    ftl: &mut DynPageMapped<Media, ()>,
    body: &mut BodyReader,
    logical_pages: u32,
) -> Result<(), MediaError> {
    body.slices(logical_pages, |first, flash_pages, checksums| {
        ftl.set_mapping(first, flash_pages)?;
        let all = ftl.flash_mut().checksums_mut();
        all[first.index()..][..checksums.len()].copy_from_slice(checksums);
        Ok(())
    })
}

/// Lets the FTL replay the journal up to operation `last`. If the FTL cannot execute that
/// operation, returns the reason: then it could not when the host requested it either, and nothing
/// followed it.
pub(crate) fn repeat(
    loaded: &mut Loaded,
    backing: &dyn Backing,
    superblock: &Superblock,
    extent: &Extent,
    mut last: u64,
) -> Result<Option<String>, MediaError> {
    let head = loaded.checkpoint.head;
    let mut reader = JournalReader::new(backing, superblock.uuid, &superblock.layout, head);
    if let Some(tracker) = loaded.ftl.flash_mut().replay_mut() {
        *tracker = Tracker::new(extent.in_place);
    }
    loaded.ftl.flash_mut().slots_mut().begin_replay(&extent.replacements);
    let mut failed = None;
    while reader.head() != extent.end {
        let header = reader.next().ok_or_else(|| MediaError::Journal {
            end: reader.head().operations,
            durable: extent.end.operations,
        })?;
        for record in reader.records(&header).flatten() {
            let operations = loaded.ftl.flash_mut().operations();
            // After the last operation there may still be pages from before it.
            if record.is_operation() && operations == last {
                continue;
            }
            match repeat_record(&mut loaded.ftl, record, superblock.config.logical_pages)? {
                Ok(()) => {}
                Err(reason) if operations + 1 == last => {
                    last = operations;
                    failed = Some(reason);
                }
                Err(reason) => return Err(MediaError::Replay(reason)),
            }
        }
    }
    Ok(failed)
}

/// Replays one record; the inner error is the FTL's.
fn repeat_record(
    ftl: &mut DynPageMapped<Media, ()>,
    record: Record,
    logical_pages: u32,
) -> Result<Result<(), String>, MediaError> {
    let beyond = |lpn| MediaError::Replay(format!("page {lpn} is beyond the drive"));
    let operation = ftl.flash_mut().operations() + 1;
    match record {
        Record::Write { lpn, checksum, stream } if lpn.0 < logical_pages => {
            ftl.flash_mut().stage(lpn, checksum);
            if let Err(reason) = write(ftl, host_write(lpn, &[], stream, 0)) {
                return Ok(Err(reason));
            }
        }
        Record::Trim { first, pages }
            if u64::from(first.0) + u64::from(pages) <= u64::from(logical_pages) =>
        {
            for lpn in (first.0..first.0 + pages).map(Lpn) {
                if let Err(error) = ftl.trim(lpn) {
                    return Ok(Err(error.to_string()));
                }
                ftl.flash_mut().slots_mut().forget(lpn);
                if let Some(tracker) = ftl.flash_mut().replay_mut() {
                    tracker.trim(lpn, operation);
                }
            }
        }
        Record::Renewal { handle } => {
            if let Err(reason) = renew(ftl, handle) {
                return Ok(Err(reason));
            }
        }
        Record::Page { lpn, checksum, data } => {
            if let Some(tracker) = ftl.flash_mut().replay_mut() {
                tracker.journaled(lpn, checksum, data);
            }
            return Ok(Ok(()));
        }
        Record::Unreadable { lpn, place } => {
            ftl.flash_mut().slots_mut().remember(lpn, place);
            return Ok(Ok(()));
        }
        Record::Replacement(_) => return Ok(Ok(())),
        Record::Write { lpn, .. } | Record::Trim { first: lpn, .. } => return Err(beyond(lpn)),
    }
    ftl.flash_mut().complete();
    Ok(Ok(()))
}

/// Recovers the FTL by replaying the journal.
pub(crate) fn replay(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    may_lose: MayLose,
    headers: Headers,
    recovery: &mut Recovery,
) -> Result<Repeated, MediaError> {
    let mut loaded = load_newest(backing, superblock, &headers, &mut recovery.damage)?;
    let damage = &mut recovery.damage;
    let mut extent = measure(&**backing, superblock, &loaded.checkpoint, &headers, damage);
    bound(&mut extent, may_lose, recovery)?;
    let journaled = extent.end.operations;
    recovery.failed = repeat(&mut loaded, &**backing, superblock, &extent, journaled)?;
    let pages = Pages { backing: &**backing, layout: &superblock.layout };
    let done = loaded.ftl.flash_mut().operations();
    let tracker = loaded.ftl.flash_mut().replay_mut();
    let last =
        tracker.map(|tracker| tracker.last_whole(pages, extent.flushed..=done)).transpose()?;
    let last = last.unwrap_or(done);
    if last < journaled {
        let longer = loaded.ftl.flash_mut().replay_mut().map(std::mem::take);
        loaded = load(backing, superblock, loaded.slot, &loaded.checkpoint)?;
        repeat(&mut loaded, &**backing, superblock, &extent, last)?;
        if let Some((tracker, longer)) = loaded.ftl.flash_mut().replay_mut().zip(longer) {
            tracker.take_later_places(longer);
        }
    }
    recovery.repeated = last - loaded.checkpoint.head.operations;
    recovery.dropped = journaled - last;
    let lost = if recovery.repeated > 0 { locate::strangers(&mut loaded, pages)? } else { 0 };
    Ok(Repeated { loaded, headers, extent, last, lost, unwritable: None })
}
