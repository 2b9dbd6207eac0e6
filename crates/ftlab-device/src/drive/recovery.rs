//! Opening a drive: its state is that of a checkpoint, plus the journal after it.
//!
//! The FTL is a function of the host's operations. So, as a rule, nothing is searched for on the medium: the
//! checkpoint is loaded, and the FTL replays the journal. What the last operations wrote and moved may not have reached
//! the medium; see [`Tracker`].
//!
//! That takes the FTL that decided, in the version that did. Where it is another one, or what it replays is not what is
//! on the medium, pages are searched for: [`locate`](crate::drive::locate).

use crate::drive::core::{Core, renew, write};
use crate::drive::healing::Wounds;
use crate::drive::locate;
use crate::media::{
    Backing, BodyReader, Checkpoint, Half, Head, Journal, JournalReader, Mark, Media, MediaError,
    Misplaced, Pages, Record, Replacement, Section, Source, Superblock, Tracker, Unplaced, Unread,
    VERSION, new_session, sequence, with_retries,
};
use ftlab_flash::Lpn;
use ftlab_ftl::registry::{self, DynPageMapped};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

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
    /// The format on the medium, if it is older than that which this program writes: it is written now, unless the
    /// drive is opened for reading only.
    pub older_format: Option<u32>,
}

/// The content of the journal.
#[derive(Debug, Clone)]
pub(crate) struct Extent {
    /// Its end.
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
    halves: Vec<Half>,
    /// Copies of the flush mark that are damaged.
    marks_damaged: u64,
}

/// A loaded checkpoint.
pub(crate) struct Loaded {
    pub(crate) ftl: DynPageMapped<Media, ()>,
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

    /// The slots, that of the newest one first.
    pub(crate) fn newest_first(&self) -> [u8; 2] {
        let number = |slot: &u8| self.of(*slot).ok().map(|checkpoint| checkpoint.number);
        let mut slots = [0, 1];
        slots.sort_by_key(|slot| std::cmp::Reverse(number(slot)));
        slots
    }
}

/// Loads the newest intact checkpoint.
pub(crate) fn load_newest(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    headers: &Headers,
    damage: &mut Vec<String>,
) -> Result<Loaded, MediaError> {
    first_intact(headers, damage, |slot, checkpoint| load(backing, superblock, slot, &checkpoint))
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

/// Loads the checkpoint in `slot`; if it is not whole, what was read may have been wrong.
pub(crate) fn load(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    slot: u8,
    checkpoint: &Checkpoint,
) -> Result<Loaded, MediaError> {
    let mut failure = None;
    let loaded = with_retries(&**backing, |_| {
        load_once(backing, superblock, slot, checkpoint.clone()).map_err(|error| {
            failure = Some(error);
            Unread::Differs
        })
    });
    loaded.map_err(|differs| failure.unwrap_or_else(|| MediaError::Checkpoint(differs.to_string())))
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
    if !body.finish(checkpoint.body_checksum).map_err(failed)? {
        return Err(MediaError::Checkpoint("its checksum is wrong".to_owned()));
    }
    restored?;
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
        match section {
            Section::Ftl => ftl.transfer(body)?,
            Section::Slots => ftl.flash_mut().slots_mut().load(body).map_err(failed)?,
            Section::Map => restore_map(ftl, body, logical_pages)?,
            Section::Counters | Section::Wear | Section::Other => {
                body.take(*bytes).map_err(failed)?;
            }
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
            if let Err(reason) = write(ftl, lpn, stream) {
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

/// A drive as of the last operation that can be recovered, which has not been changed yet.
pub(crate) struct Repeated {
    pub(crate) loaded: Loaded,
    pub(crate) headers: Headers,
    pub(crate) extent: Extent,
    /// The last operation.
    pub(crate) last: u64,
    /// Pages that are known to be nowhere.
    pub(crate) lost: u64,
    /// Why nothing may be written.
    pub(crate) unwritable: Option<String>,
}

/// How a drive is opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct How {
    pub(crate) may_lose: MayLose,
    /// Whatever the FTL could repeat, it takes the drive over as that of another.
    pub(crate) is_taken_over: bool,
}

impl How {
    /// As a rule.
    pub(crate) const AS_IT_IS: Self = Self { may_lose: MayLose::Nothing, is_taken_over: false };
}

/// What may be lost for the sake of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MayLose {
    /// Nothing that was flushed.
    Nothing,
    /// Operations whose journal is damaged, and all after them.
    Operations,
}

/// Returns the state after the last operation that can be recovered; changes nothing on the medium.
pub(crate) fn repeat_all(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    how: How,
    recovery: &mut Recovery,
) -> Result<Repeated, MediaError> {
    let headers = Headers::read(&**backing, superblock);
    let may_lose = how.may_lose;
    let taken_over = how.is_taken_over.then(|| format!("{} takes the drive over", superblock.ftl));
    let why = if let Some(why) = taken_over.or_else(|| other_decider(&headers, superblock)) {
        why
    } else {
        *recovery = Recovery::default();
        match replay(backing, superblock, may_lose, headers, recovery) {
            Ok(replayed) if replayed.lost == 0 => return Ok(replayed),
            Ok(replayed) => {
                return Ok(search_lost(backing, superblock, may_lose, replayed, recovery));
            }
            Err(error) if error.is_of_replay() => error.to_string(),
            Err(error) => return Err(error),
        }
    };
    *recovery = Recovery { by_map: Some(why), ..Recovery::default() };
    locate::locate_all(backing, superblock, may_lose, recovery)
}

/// Pages are not where a replay has them: either they are damaged, or the FTL that placed them decided otherwise. In
/// that case they are elsewhere.
fn search_lost(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    may_lose: MayLose,
    replayed: Repeated,
    recovery: &mut Recovery,
) -> Repeated {
    let lost = replayed.lost;
    let why = format!("{lost} pages are not where {} would have placed them", superblock.ftl);
    let mut located = Recovery { by_map: Some(why), ..Recovery::default() };
    match locate::locate_all(backing, superblock, may_lose, &mut located) {
        Ok(found) if found.lost < lost => {
            *recovery = located;
            found
        }
        _ => replayed,
    }
}

/// Why this program cannot repeat what was decided since the newest checkpoint.
fn other_decider(headers: &Headers, superblock: &Superblock) -> Option<String> {
    let newest = headers.newest_first().into_iter().find_map(|slot| headers.of(slot).ok())?;
    let Some(own) = superblock.decider() else {
        return Some(format!("this program has no FTL {}", superblock.ftl));
    };
    match newest.decider {
        Some(decider) if decider == own => None,
        Some(decider) => {
            Some(format!("its pages were placed by {decider}, and this program has {own}"))
        }
        None if is_first(superblock) => None,
        None => Some(format!(
            "its pages were placed by an early version of {}, and this program has {own}",
            superblock.ftl
        )),
    }
}

/// Whether this program has the first version of an FTL's decisions: that of format 2, which did not say.
fn is_first(superblock: &Superblock) -> bool {
    registry::decisions(&superblock.ftl)
        .is_ok_and(|decisions| decisions.pieces().iter().all(|piece| piece.version == 1))
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

/// The same by replaying the journal.
fn replay(
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

/// The drive as it was when it was closed, or after the last operation that can be recovered.
pub(crate) fn recover(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    how: How,
) -> Result<(Core, Recovery), MediaError> {
    let mut recovery = Recovery::default();
    let mut repeated = repeat_all(backing, superblock, how, &mut recovery)?;
    if let Some(reason) = &repeated.unwritable {
        return view(backing, superblock, how, reason);
    }
    let pages = Pages { backing: &**backing, layout: &superblock.layout };
    let wounds = repeated.wounds(&mut recovery);
    wounds.mend_journal(pages.backing, superblock, &mut recovery.healed);
    let written = put_in_place(&mut repeated, superblock, pages, &mut recovery)
        .and_then(|()| go_live(repeated, superblock, &recovery))
        .and_then(|mut core| renew_superblock(&mut core, how).map(|()| core));
    match written {
        Ok(mut core) => {
            wounds.heal(&mut core, &mut recovery.healed);
            recovery.older_format = Some(superblock.format).filter(|format| *format < VERSION);
            Ok((core, recovery))
        }
        // Whatever was written, the same can still be read.
        Err(error) => view(backing, superblock, how, &error.to_string()),
    }
}

/// The same without writing anything: what is not in its place is kept in memory.
pub(crate) fn view(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    how: How,
    reason: &str,
) -> Result<(Core, Recovery), MediaError> {
    let mut recovery = Recovery::default();
    let mut repeated = repeat_all(backing, superblock, how, &mut recovery)?;
    let pages = Pages { backing: &**backing, layout: &superblock.layout };
    let (misplaced, lost) = misplaced(&mut repeated.loaded, pages)?;
    let mut overlay = HashMap::new();
    for found in &misplaced {
        overlay.extend(found.data(pages).map(|data| (found.page.place, Box::from(&*data))));
    }
    recovery.damaged_pages = (lost.len() + misplaced.len() - overlay.len()) as u64;
    let Repeated { loaded: Loaded { mut ftl, slot, checkpoint }, extent, last, .. } = repeated;
    let head = Head { operations: last, ..extent.end };
    let media = ftl.flash_mut();
    media.go_live(head, new_session(), superblock, head.position);
    media.lay_over(overlay);
    let mut core = Core::new(ftl, superblock, checkpoint, slot);
    core.give_up(reason.to_owned());
    Ok((core, recovery))
}

/// Copies every page to its place. A version whose only copy would be overwritten goes to the
/// journal first, and everything read so far is made durable: it may have been written by a process
/// that was killed before it could sync.
fn put_in_place(
    repeated: &mut Repeated,
    superblock: &Superblock,
    pages: Pages,
    recovery: &mut Recovery,
) -> Result<(), MediaError> {
    let sync = |what| pages.backing.sync().map_err(|error| MediaError::io(what, error));
    let (misplaced, lost) = misplaced(&mut repeated.loaded, pages)?;
    write_endangered(repeated, superblock, pages, &misplaced)?;
    sync("make durable what was recovered")?;
    let recoveries = repeated.loaded.ftl.flash_mut().totals().recoveries;
    let sequence = sequence(recoveries, repeated.last, true);
    misplaced.iter().try_for_each(|page| page.put_in_place(pages, sequence))?;
    if !misplaced.is_empty() {
        sync("make recovered pages durable")?;
    }
    (recovery.restored_pages, recovery.damaged_pages) = (misplaced.len() as u64, lost.len() as u64);
    let slots = repeated.loaded.ftl.flash_mut().slots_mut();
    // Where it was is given up only for a place that is known to hold it.
    let is_kept = |page: &&Misplaced| slots.unreadable_at(page.page.lpn).is_some();
    let kept = misplaced.iter().filter(is_kept).filter(|page| !page.is_in_place(pages));
    let kept: Vec<Lpn> = kept.map(|page| page.page.lpn).chain(lost).collect();
    let refound = slots.forget_all_except(&kept);
    if refound > 0 {
        recovery.healed.push(format!("{refound} pages that could not be read before are in place"));
    }
    if recovery.repeated > 0 || recovery.dropped > 0 {
        repeated.loaded.ftl.flash_mut().totals_mut().recoveries += 1;
    }
    Ok(())
}

/// The pages that are not in their places, and those that are lost.
fn misplaced(loaded: &mut Loaded, pages: Pages) -> Result<(Vec<Misplaced>, Vec<Lpn>), MediaError> {
    let mut tracker = loaded.ftl.flash_mut().replay_mut().map(std::mem::take).unwrap_or_default();
    let checksums = std::mem::take(loaded.ftl.flash_mut().checksums_vec());
    let slots = loaded.ftl.flash_mut().slots().clone();
    tracker.take_kept(&slots, &checksums);
    let drive = loaded.ftl.drive();
    let place_of = |lpn: Lpn| {
        let sum = checksums.get(lpn.index())?;
        drive.flash_page(lpn).map(|page| (slots.place(page), *sum))
    };
    let misplaced = tracker.misplaced(pages, place_of);
    *loaded.ftl.flash_mut().checksums_vec() = checksums;
    misplaced
}

/// Appends to the journal the pages whose only copies are about to be overwritten.
fn write_endangered(
    repeated: &mut Repeated,
    superblock: &Superblock,
    pages: Pages,
    misplaced: &[Misplaced],
) -> Result<(), MediaError> {
    let failed = |error| MediaError::io("write the journal", error);
    let (layout, head) = (superblock.layout, repeated.extent.end);
    let mut journal = Journal::new(superblock.uuid, layout, new_session(), head, repeated.tail());
    let Extent { in_place, flushed, metadata_bytes, .. } = repeated.extent;
    let bytes = metadata_bytes.unwrap_or(0);
    for Misplaced { page, source } in misplaced {
        if let Source::Endangered(data) = source {
            let Unplaced { lpn, checksum, .. } = *page;
            journal.append(Record::Page { lpn, checksum, data });
            if journal.is_full() {
                journal.write(pages.backing, in_place, flushed, bytes).map_err(failed)?;
            }
        }
    }
    journal.write(pages.backing, in_place, flushed, bytes).map_err(failed)?;
    repeated.extent.end = journal.head();
    Ok(())
}

impl Repeated {
    /// What is known to be damaged in one copy.
    fn wounds(&self, recovery: &mut Recovery) -> Wounds {
        let Self { loaded, headers, extent, .. } = self;
        let slot = 1 - loaded.slot;
        let is_damaged = match headers.of(slot) {
            Ok(other) => other.number > loaded.checkpoint.number,
            Err(error) => {
                recovery.damage.push(format!("checkpoint {slot}: {error}"));
                true
            }
        };
        Wounds {
            halves: extent.halves.clone(),
            checkpoint: is_damaged.then_some(slot),
            // What is lost is not what was flushed any more, which is written later.
            marks: if recovery.lost > 0 { 0 } else { extent.marks_damaged },
            flushed: extent.flushed,
        }
    }

    /// The position from which checkpoints need the journal.
    fn tail(&self) -> u64 {
        let used = &self.loaded.checkpoint;
        let is_older = |other: &&Checkpoint| other.number < used.number;
        let older = self.headers.intact().find(is_older);
        older.unwrap_or(used).head.position
    }
}

/// Lets the drive continue after the last operation that was replayed.
fn go_live(
    repeated: Repeated,
    superblock: &Superblock,
    recovery: &Recovery,
) -> Result<Core, MediaError> {
    let tail = repeated.tail();
    let Repeated { loaded: Loaded { mut ftl, slot, checkpoint }, extent, last, .. } = repeated;
    let mut head = Head { operations: last, ..extent.end };
    let is_cut_off = recovery.dropped > 0 || recovery.lost > 0;
    let is_another = recovery.by_map.is_some() || superblock.format < VERSION;
    if is_cut_off {
        // Nothing on the medium continues from here.
        head.previous = new_session();
    }
    ftl.flash_mut().go_live(head, new_session(), superblock, tail);
    if let Some(bytes) = extent.metadata_bytes {
        let totals = ftl.flash_mut().totals_mut();
        totals.metadata_bytes = totals.metadata_bytes.max(bytes);
    }
    let mut core = Core::new(ftl, superblock, checkpoint, slot);
    // Both checkpoints must belong to this history, so that neither leads to discarded operations, or to what another
    // FTL would decide.
    core.is_broken_off = is_cut_off || is_another;
    while core.is_broken_off || core.newest.is_break {
        core.checkpoint_now().map_err(|error| MediaError::io("write a checkpoint", error))?;
    }
    if recovery.lost > 0 {
        forget_lost(&mut core).map_err(|error| MediaError::io("clear the journal", error))?;
    }
    Ok(core)
}

/// Says in the superblock which program decides now, if it was another one.
fn renew_superblock(core: &mut Core, how: How) -> Result<(), MediaError> {
    let renewed = core.superblock.renewed();
    let is_same = renewed.decisions == core.superblock.decisions && !how.is_taken_over;
    if is_same && renewed.format == core.superblock.format {
        return Ok(());
    }
    let backing = Arc::clone(core.media().backing());
    renewed.write(&*backing)?;
    backing.sync().map_err(|error| MediaError::io("make the superblocks durable", error))?;
    core.superblock = renewed;
    Ok(())
}

/// Clears what says that more operations were flushed.
fn forget_lost(core: &mut Core) -> io::Result<()> {
    let superblock = core.superblock.clone();
    let operations = core.media().operations();
    let backing = Arc::clone(core.media().backing());
    Journal::clear(&*backing, &superblock.layout)?;
    Mark::new(superblock.uuid, superblock.layout).write(&*backing, operations)?;
    backing.sync()
}
