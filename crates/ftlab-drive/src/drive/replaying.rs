//! Replaying: a checkpoint is loaded, and the FTL carries out the operations of the journal again.

use crate::drive::core::{build, host_write, page_in, renew, write};
use crate::drive::locate;
use crate::drive::opening::{
    Extent, Headers, Loaded, MayLose, Recovery, Repeated, bound, first_intact, load_again, measure,
};
use crate::drive::survey::survey;
use crate::media::{
    Backing, BodyReader, Checkpoint, HEADER_BYTES, Head, Held, JournalReader, Media, MediaError,
    Owner, Pages, Record, Section, Superblock, Tracker, Unread, sequence, with_retries,
};
use ftlab_flash::{Lpn, Ppn};
use ftlab_ftl::map::Mapping;
use ftlab_ftl::registry::DynMapped;
use std::ops::Range;
use std::sync::Arc;

/// Whether there is something to replay after the newest checkpoint.
pub(crate) fn needs_replay(backing: &dyn Backing, superblock: &Superblock) -> bool {
    let headers = Headers::read(backing, superblock);
    let newest = headers.newest_first().into_iter().find_map(|slot| headers.of(slot).ok());
    newest.is_some_and(|newest| is_followed(backing, superblock, &newest))
}

/// Whether the journal continues after a checkpoint.
fn is_followed(backing: &dyn Backing, superblock: &Superblock, checkpoint: &Checkpoint) -> bool {
    let Superblock { uuid, layout, .. } = superblock;
    JournalReader::new(backing, *uuid, layout, checkpoint.head).next().is_some()
}

/// Loads the newest intact checkpoint.
pub(crate) fn load_newest(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    headers: &Headers,
    needs_all: bool,
    damage: &mut Vec<String>,
) -> Result<Loaded, MediaError> {
    first_intact(headers, damage, |slot, checkpoint| {
        load(backing, superblock, slot, &checkpoint, needs_all)
    })
}

/// The pages of the host of which the journal after a checkpoint tells, a bit each, and if the map weighs them, all others
/// of their translation pages; and where it ends.
struct Asked {
    bits: Vec<u64>,
    pages: u32,
    end: Head,
}

impl Asked {
    /// As much as the map in memory takes: a quarter of the pages, with their places.
    const SHARE_MAX: u32 = 4;

    fn read(
        backing: &dyn Backing,
        superblock: &Superblock,
        checkpoint: &Checkpoint,
        unreadable: impl Iterator<Item = Lpn>,
    ) -> Self {
        let Superblock { uuid, layout, .. } = superblock;
        let pages = superblock.config.logical_pages;
        let mut bits = vec![0; pages.div_ceil(64) as usize];
        let mut ask = |lpns: Range<u32>| {
            for lpn in lpns.start..lpns.end.min(pages) {
                bits[lpn as usize / 64] |= 1_u64 << (lpn % 64);
            }
        };
        let one = |lpn: Lpn| lpn.0..lpn.0.saturating_add(1);
        unreadable.for_each(|lpn| ask(one(lpn)));
        let mut reader = JournalReader::new(backing, *uuid, layout, checkpoint.head);
        while let Some(header) = reader.next() {
            for record in reader.records(&header).flatten() {
                match record {
                    Record::Write { lpn, .. }
                    | Record::Page { lpn, .. }
                    | Record::Unreadable { lpn, .. } => ask(one(lpn)),
                    Record::Trim { first, pages } => ask(first.0..first.0.saturating_add(pages)),
                    Record::Renewal { .. } | Record::Replacement(_) => {}
                }
            }
        }
        if superblock.mapping.weighs_pages() {
            let entries = Mapping::entries_per_page(superblock.config.geometry.page_bytes());
            let of_map_page = bits.chunks_mut((entries / 64).max(1) as usize);
            of_map_page
                .filter(|of| of.iter().any(|word| *word != 0))
                .for_each(|of| of.fill(u64::MAX));
            if let Some(last) = bits.last_mut() {
                *last &= u64::MAX >> (pages.wrapping_neg() % 64);
            }
        }
        let pages = bits.iter().map(|word| word.count_ones()).sum();
        Self { bits, pages, end: reader.head() }
    }
}

/// Loads the checkpoint in `slot`; if it is not whole, what was read may have been wrong. A map on flash comes into memory
/// as a whole if that is needed, or the journal tells of a large part of it.
pub(crate) fn load(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    slot: u8,
    checkpoint: &Checkpoint,
    needs_all: bool,
) -> Result<Loaded, MediaError> {
    load_again(&**backing, || load_once(backing, superblock, slot, checkpoint.clone(), needs_all))
}

fn load_once(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    slot: u8,
    checkpoint: Checkpoint,
    needs_all: bool,
) -> Result<Loaded, MediaError> {
    let failed = |error| MediaError::io("read a checkpoint", error);
    let media = Media::new(Arc::clone(backing), superblock, 0, checkpoint.head);
    let mut ftl = build(superblock, media)?;
    // What is written beside pages counts on from there.
    *ftl.flash_mut().totals_mut() = checkpoint.totals;
    let layout = &superblock.layout;
    // What is damaged may be anything, and lists of what a map holds are followed while they are restored.
    if superblock.is_paged() && !BodyReader::verify(&**backing, layout, slot, &checkpoint) {
        return Err(MediaError::Checkpoint("its checksum is wrong".to_owned()));
    }
    let mut body = BodyReader::new(&**backing, layout, slot, &checkpoint);
    let restored = restore(&mut ftl, &mut body, (slot, &checkpoint), superblock, needs_all);
    let (is_intact, is_taken) = body.finish(checkpoint.body_checksum).map_err(failed)?;
    if !is_intact {
        return Err(MediaError::Checkpoint("its checksum is wrong".to_owned()));
    }
    let asked_to = restored?;
    if !is_taken {
        return Err(MediaError::Replay("a checkpoint has more than the FTL knows".to_owned()));
    }
    Ok(Loaded { ftl, asked_to, slot, checkpoint })
}

/// Returns where the journal ends if a map on flash knows what that asks for, and no more.
fn restore(
    ftl: &mut DynMapped<Media, ()>,
    body: &mut BodyReader,
    (slot, checkpoint): (u8, &Checkpoint),
    superblock: &Superblock,
    needs_all: bool,
) -> Result<Option<Head>, MediaError> {
    let mut asked_to = None;
    let failed = |error| MediaError::io("read a checkpoint", error);
    // Format 2 did not say.
    let all = [(Section::Ftl, 0), (Section::Slots, 0), (Section::Map, 0)];
    let sections = if checkpoint.sections.is_empty() { &all } else { &checkpoint.sections[..] };
    for (section, bytes) in sections {
        let start = body.position();
        match section {
            Section::Ftl => ftl.transfer(body)?,
            Section::Slots => ftl.flash_mut().slots_mut().load(body).map_err(failed)?,
            Section::Map => restore_map(ftl, body, superblock.config.logical_pages)?,
            Section::Owners => {
                let backing = Arc::clone(ftl.flash_mut().backing());
                let unreadable: Vec<Lpn> = ftl.flash_mut().slots().unreadable().collect();
                let asks = !unreadable.is_empty() || is_followed(&*backing, superblock, checkpoint);
                let asked = (asks && !needs_all).then(|| {
                    Asked::read(&*backing, superblock, checkpoint, unreadable.into_iter())
                });
                let most = superblock.config.logical_pages / Asked::SHARE_MAX;
                match asked.filter(|asked| asked.pages <= most) {
                    Some(Asked { bits, end, .. }) => {
                        asked_to = Some(end);
                        ftl.begin_replay(bits);
                        let layout = &superblock.layout;
                        let told = layout.checkpoint(slot) + HEADER_BYTES as u64 + start;
                        *ftl.flash_mut().held_mut() = Some(Held::new(layout.geometry, told));
                    }
                    None if asks || needs_all => page_in(ftl, superblock),
                    None => {}
                }
                restore_owners(ftl, body, superblock)?;
            }
            Section::Counters | Section::Wear | Section::Other => {}
        }
        if !checkpoint.sections.is_empty() {
            body.pass_over(start + bytes).map_err(failed)?;
        }
    }
    Ok(asked_to)
}

fn restore_map(
    ftl: &mut DynMapped<Media, ()>,
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

/// The map of a drive that has it on flash.
fn restore_owners(
    ftl: &mut DynMapped<Media, ()>,
    body: &mut BodyReader,
    superblock: &Superblock,
) -> Result<(), MediaError> {
    let geometry = superblock.config.geometry;
    let backing = Arc::clone(ftl.flash_mut().backing());
    let pages = Pages { backing: &*backing, layout: &superblock.layout };
    let is_replayed = ftl.flash_mut().held_mut().is_some();
    let is_paged = ftl.drive().is_paged() && !is_replayed;
    let mut of_block: Vec<(Ppn, Owner)> = Vec::new();
    body.owners(geometry.pages(), |page, lpn, checksum| {
        ftl.set_mapping(lpn, &[page.0])?;
        ftl.flash_mut().restore_checksum(lpn, checksum);
        if let Some(held) = ftl.flash_mut().held_mut() {
            held.note(page, (lpn.0, checksum));
        }
        if is_paged {
            let block = |page: Ppn| page.0 / geometry.pages_per_block();
            if of_block.first().is_some_and(|(first, _)| block(*first) != block(page)) {
                look_beside(ftl, pages, &mut of_block);
            }
            of_block.push((page, Owner { lpn, checksum, sequence: 0 }));
        }
        Ok(())
    })?;
    look_beside(ftl, pages, &mut of_block);
    Ok(())
}

/// Keeps in memory what does not stand beside these pages of a block as it should: nothing else tells it later.
fn look_beside(ftl: &mut DynMapped<Media, ()>, pages: Pages, owners: &mut Vec<(Ppn, Owner)>) {
    let Some((first, _)) = owners.first() else { return };
    let count = owners.last().map_or(0, |(last, _)| last.0 - first.0 + 1);
    let media = ftl.flash_mut();
    let place = media.slots().place(*first);
    let mut wrong = Vec::new();
    // What is wrong is read again.
    let _ = with_retries(pages.backing, |_| {
        let found = pages.owners(place, count);
        let differ = |(page, owner): &(Ppn, Owner)| {
            let found = found[(page.0 - first.0) as usize];
            (found.lpn, found.checksum) != (owner.lpn, owner.checksum)
        };
        wrong = owners.iter().copied().filter(differ).collect();
        if wrong.is_empty() { Ok(()) } else { Err(Unread::Differs) }
    });
    // A translation page that was damaged may have been put together since the checkpoint.
    wrong.retain(|(page, owner)| {
        let place = media.slots().place(*page);
        let found = pages.owner(place).filter(|found| media.is_of_map(found.lpn));
        let found = found.filter(|found| found.lpn == owner.lpn);
        let is_whole = |found: &Owner| pages.holds(place, found.lpn, found.checksum);
        let found = found.filter(is_whole);
        found.inspect(|found| media.restore_checksum(found.lpn, found.checksum)).is_none()
    });
    let sequence = sequence(media.totals().recoveries, media.operations(), true);
    let apart: Vec<_> = wrong
        .into_iter()
        .map(|(page, owner)| (media.slots().place(page), Owner { sequence, ..owner }))
        .collect();
    media.keep_owners(apart);
    owners.clear();
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
    ftl: &mut DynMapped<Media, ()>,
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

/// Recovers the FTL by replaying the journal. A map on flash comes into memory as a whole if that is needed, or something
/// cannot be read without.
pub(crate) fn replay(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    may_lose: MayLose,
    needs_all: bool,
    recovery: &mut Recovery,
) -> Result<Repeated, MediaError> {
    let headers = || Headers::read(&**backing, superblock);
    let replayed = replay_once(backing, superblock, may_lose, headers(), needs_all, recovery);
    match replayed {
        Err(_) if superblock.is_paged() && !needs_all => {
            *recovery = Recovery::default();
            replay_once(backing, superblock, may_lose, headers(), true, recovery)
        }
        replayed => replayed,
    }
}

fn replay_once(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    may_lose: MayLose,
    headers: Headers,
    needs_all: bool,
    recovery: &mut Recovery,
) -> Result<Repeated, MediaError> {
    let damage = &mut recovery.damage;
    let mut loaded = load_newest(backing, superblock, &headers, needs_all, damage)?;
    let damage = &mut recovery.damage;
    let mut extent = measure(&**backing, superblock, &loaded.checkpoint, &headers, damage);
    bound(&mut extent, may_lose, recovery)?;
    let was_read_otherwise = |loaded: &Loaded| loaded.asked_to.is_some_and(|end| end != extent.end);
    let other = || MediaError::Replay("what the journal says was not the same twice".to_owned());
    if was_read_otherwise(&loaded) {
        return Err(other());
    }
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
        loaded = load(backing, superblock, loaded.slot, &loaded.checkpoint, needs_all)?;
        if was_read_otherwise(&loaded) {
            return Err(other());
        }
        repeat(&mut loaded, &**backing, superblock, &extent, last)?;
        if let Some((tracker, longer)) = loaded.ftl.flash_mut().replay_mut().zip(longer) {
            tracker.take_later_places(longer);
        }
    }
    recovery.repeated = last - loaded.checkpoint.head.operations;
    recovery.dropped = journaled - last;
    if let Some(failure) = loaded.ftl.flash_mut().failure() {
        return Err(MediaError::Replay(failure.to_owned()));
    }
    let survey = loaded.asked_to.map(|_| survey(&mut loaded, pages)).transpose()?;
    let lost = match &survey {
        _ if extent.end == loaded.checkpoint.head => 0,
        Some(survey) => locate::strangers_beside(&mut loaded, pages, survey)?,
        None => locate::strangers(&mut loaded, pages)?,
    };
    Ok(Repeated { loaded, headers, extent, last, lost, survey, unwritable: None })
}
