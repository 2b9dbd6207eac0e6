//! Opening a drive: its state is that of a checkpoint, plus the journal after it.
//!
//! The FTL is a function of the host's operations. So, as a rule, nothing is searched for on the medium: the
//! checkpoint is loaded, and the FTL replays the journal. What the last operations wrote and moved may not have reached
//! the medium; see [`Tracker`](crate::media::Tracker).
//!
//! That takes the FTL that decided, in the version that did. Where it is another one, or what it replays is not what is
//! on the medium, pages are searched for: [`locate`](crate::drive::locate).

use crate::drive::core::{Core, build, page_out};
use crate::drive::healing::Wounds;
use crate::drive::locate;
use crate::drive::map_pages::{mend_owners, mend_some_owners, newer_pages, wrong_map_pages};
use crate::drive::opening::{Extent, Headers, How, Loaded, MayLose, Recovery, Repeated, Survey};
use crate::drive::replaying::replay;
use crate::media::{
    Backing, Head, Journal, Mark, Media, MediaError, Misplaced, Pages, Record, Source, Superblock,
    Unplaced, VERSION, new_session, sequence,
};
use ftlab_flash::Lpn;
use ftlab_ftl::{Restored, Saved, registry};
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

/// Returns the state after the last operation that can be recovered; changes nothing on the medium.
pub(crate) fn repeat_all(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    how: How,
    recovery: &mut Recovery,
) -> Result<Repeated, MediaError> {
    let headers = Headers::read(&**backing, superblock);
    let may_lose = how.may_lose;
    if let Some(before) = other_map(&headers, superblock) {
        *recovery = Recovery::default();
        let mut replayed = replay(backing, &before, may_lose, true, recovery)?;
        recovery.other_map = Some(before.mapping.name());
        remap(&mut replayed.loaded, superblock, backing)?;
        return Ok(replayed);
    }
    let taken_over = how.is_taken_over.then(|| format!("{} takes the drive over", superblock.ftl));
    let why = if let Some(why) = taken_over.or_else(|| other_decider(&headers, superblock)) {
        why
    } else {
        *recovery = Recovery::default();
        match replay(backing, superblock, may_lose, how.needs_all, recovery) {
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

/// The drive as it was before it got another map on flash, if that has not been carried out yet.
fn other_map(headers: &Headers, superblock: &Superblock) -> Option<Superblock> {
    let newest = headers.newest_first().into_iter().find_map(|slot| headers.of(slot).ok())?;
    let decider = newest.decider.filter(|_| superblock.is_paged())?;
    if superblock.decider().is_some_and(|own| own == decider) {
        return None;
    }
    superblock.with_map_of(&decider)
}

/// Goes on with an FTL that has the map of `superblock`, of which nothing is in memory yet. All of the mapping is, so
/// translation pages are compared with it and written as after any replay.
fn remap(
    loaded: &mut Loaded,
    superblock: &Superblock,
    backing: &Arc<dyn Backing>,
) -> Result<(), MediaError> {
    let none = Media::new(Arc::clone(backing), superblock, 0, loaded.checkpoint.head);
    let media = std::mem::replace(loaded.ftl.flash_mut(), none);
    let mut ftl = build(superblock, media)?;
    ftl.page_in();
    let mut saved = Saved::default();
    loaded.ftl.transfer_without_map(&mut saved)?;
    ftl.transfer_without_map(&mut Restored::new(&saved.0))?;
    ftl.set_mapping(Lpn(0), loaded.ftl.drive().mapping())?;
    loaded.ftl = ftl;
    Ok(())
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

/// The drive as it was when it was closed, or after the last operation that can be recovered.
pub(crate) fn recover(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    how: How,
) -> Result<(Core, Recovery), MediaError> {
    let mut recovery = Recovery::default();
    // What is cut off may have gone to the places of what is left.
    let needs_all = how.needs_all || how.may_lose == MayLose::Operations;
    let in_part = How { needs_all, ..how };
    let mut repeated = repeat_all(backing, superblock, in_part, &mut recovery)?;
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

/// Recovers without writing anything: what is not in its place is kept in memory.
pub(crate) fn view(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    how: How,
    reason: &str,
) -> Result<(Core, Recovery), MediaError> {
    let mut recovery = Recovery::default();
    let how = How { needs_all: true, ..how };
    let mut repeated = repeat_all(backing, superblock, how, &mut recovery)?;
    let pages = Pages { backing: &**backing, layout: &superblock.layout };
    let (misplaced, lost) = misplaced(&mut repeated.loaded, pages, &mut None)?;
    let mut overlay = HashMap::new();
    for found in &misplaced {
        overlay.extend(found.data(pages).map(|data| (found.page.place, Box::from(&*data))));
    }
    recovery.damaged_pages = (lost.len() + misplaced.len() - overlay.len()) as u64;
    let Repeated { loaded: Loaded { mut ftl, slot, checkpoint, .. }, extent, last, .. } = repeated;
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
    let mut survey = repeated.survey.take();
    let (misplaced, lost) = misplaced(&mut repeated.loaded, pages, &mut survey)?;
    let recoveries = repeated.loaded.ftl.flash_mut().totals().recoveries;
    let sequence = sequence(recoveries, repeated.last, true);
    if recovery.lost > 0 && superblock.is_paged() {
        let newer = newer_pages(&mut repeated.loaded, pages, sequence);
        if newer > 0 {
            return Err(MediaError::Newer { pages: newer, last: repeated.last });
        }
    }
    write_endangered(repeated, superblock, pages, &misplaced)?;
    // A search finds pages by what stands beside them. So all say what they are before any copy is overwritten.
    misplaced.iter().try_for_each(|found| found.label_source(pages, sequence))?;
    sync("make durable what was recovered")?;
    let copied: Vec<_> = misplaced.iter().filter(|found| !found.is_in_its_place()).collect();
    if !copied.is_empty() {
        if recovery.by_map.is_some() && announce_search(repeated, superblock, pages)? {
            sync("make durable that pages are going to be elsewhere")?;
        }
        // Nor is anything taken to be where it was once that is overwritten.
        copied.iter().try_for_each(|found| found.label_place(pages, sequence))?;
        sync("make durable what stands beside recovered pages")?;
        copied.iter().try_for_each(|found| found.put_in_place(pages))?;
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
    if superblock.is_paged() {
        let mended = if let Some(Survey { wrong, .. }) = survey {
            mend_some_owners(&mut repeated.loaded, pages, wrong, sequence)
        } else if repeated.loaded.ftl.drive().is_paged() {
            repeated.loaded.ftl.flash_mut().write_owners() as u64
        } else {
            mend_owners(&mut repeated.loaded, pages, sequence)
        };
        if mended > 0 {
            recovery.healed.push(format!("what stands beside {mended} pages was written again"));
            sync("make durable what stands beside pages")?;
        }
    }
    if recovery.repeated > 0 || recovery.dropped > 0 {
        repeated.loaded.ftl.flash_mut().totals_mut().recoveries += 1;
    }
    Ok(())
}

/// The pages that are not in their places, and those that are lost.
fn misplaced(
    loaded: &mut Loaded,
    pages: Pages,
    survey: &mut Option<Survey>,
) -> Result<(Vec<Misplaced>, Vec<Lpn>), MediaError> {
    if let Some(Survey { places, of_map, .. }) = survey {
        let media = loaded.ftl.flash_mut();
        let mut tracker = media.replay_mut().map(std::mem::take).unwrap_or_default();
        tracker.take_kept(media.slots(), |lpn| places.get(&lpn).map(|(_, sum)| *sum));
        let targets = of_map.iter().map(|found| found.page.place).collect();
        let slots = media.slots();
        let place_of = |lpn| places.get(&lpn).map(|(page, sum)| (slots.place(*page), *sum));
        let (mut misplaced, lost) = tracker.misplaced(pages, targets, place_of)?;
        misplaced.append(of_map);
        return Ok((misplaced, lost));
    }
    if loaded.ftl.drive().is_paged() {
        // Nothing has been replayed, and no page is elsewhere. Translation pages are looked at when they are read.
        return Ok((Vec::new(), Vec::new()));
    }
    let of_map = wrong_map_pages(loaded, pages);
    let mut tracker = loaded.ftl.flash_mut().replay_mut().map(std::mem::take).unwrap_or_default();
    let checksums = std::mem::take(loaded.ftl.flash_mut().checksums_vec());
    let slots = loaded.ftl.flash_mut().slots().clone();
    tracker.take_kept(&slots, |lpn| checksums.get(lpn.index()).copied());
    let drive = loaded.ftl.drive();
    let place_of = |lpn: Lpn| {
        // Translation pages follow from the others.
        let sum = checksums.get(lpn.index()).filter(|_| lpn.0 < drive.logical_pages())?;
        drive.flash_page(lpn).map(|page| (slots.place(page), *sum))
    };
    let targets = of_map.iter().map(|found| found.page.place).collect();
    let misplaced = tracker.misplaced(pages, targets, place_of);
    *loaded.ftl.flash_mut().checksums_vec() = checksums;
    misplaced.map(|(mut misplaced, lost)| {
        misplaced.extend(of_map);
        (misplaced, lost)
    })
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

/// Says in the journal that all operations are durable that were found by a search. Without that, a replay after a power
/// cut would take what pages of another FTL have overwritten for what was never written; and a drive that was closed for
/// one of which nothing has to be looked at. False if it says so already.
fn announce_search(
    repeated: &mut Repeated,
    superblock: &Superblock,
    pages: Pages,
) -> Result<bool, MediaError> {
    let tail = repeated.tail();
    let Repeated { loaded, extent, last, .. } = repeated;
    if extent.flushed >= *last && extent.end != loaded.checkpoint.head {
        return Ok(false);
    }
    let mut journal =
        Journal::new(superblock.uuid, superblock.layout, new_session(), extent.end, tail);
    let bytes = extent.metadata_bytes.unwrap_or(0);
    let written = journal.write_even_if_empty(pages.backing, extent.in_place, *last, bytes);
    written.map_err(|error| MediaError::io("write the journal", error))?;
    extent.end = journal.head();
    Ok(true)
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
        self.headers.tail(&self.loaded.checkpoint)
    }
}

/// Lets the drive continue after the last operation that was replayed.
fn go_live(
    repeated: Repeated,
    superblock: &Superblock,
    recovery: &Recovery,
) -> Result<Core, MediaError> {
    let tail = repeated.tail();
    let Repeated { loaded: Loaded { mut ftl, slot, checkpoint, .. }, extent, last, .. } = repeated;
    let mut head = Head { operations: last, ..extent.end };
    let is_cut_off = recovery.dropped > 0 || recovery.lost > 0;
    let is_another =
        recovery.by_map.is_some() || recovery.other_map.is_some() || superblock.format < VERSION;
    if is_cut_off {
        // Nothing on the medium continues from here.
        head.previous = new_session();
    }
    ftl.flash_mut().go_live(head, new_session(), superblock, tail);
    page_out(&mut ftl, superblock);
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
