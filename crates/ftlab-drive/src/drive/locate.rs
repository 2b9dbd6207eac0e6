//! Where every page is, from what the medium says and not from what an FTL would decide.
//!
//! Beside each flash page stands what it holds: the logical page, its checksum, and a sequence
//! ([`Owner`](crate::media::Owner)). Checkpoint and journal say which version of each logical page is current after
//! which operation, whatever FTL it was:
//!
//! ```text
//! the map of the newest checkpoint, changed by the journal: page -> checksum, after every operation
//! all owners: where each of these versions may be; what has moved or changed since the checkpoint is read
//! the last operation after which every version is there
//! what is in no block of the FTL (in the journal, or in a slot out of use) goes to a free one
//! a new FTL adopts the blocks, the oldest first, and learns from the beginning
//! ```
//!
//! If the map is on flash, all of it is in memory meanwhile. Translation pages are given up, and get places in free
//! blocks; what they have to hold follows from the rest.
//!
//! This changes nothing on the medium. What has to be copied is told to the tracker, and copied as after any crash.

use crate::drive::counted::Counted;
use crate::drive::opening::{
    Extent, Headers, Loaded, MayLose, Recovery, Repeated, Survey, bound, first_intact, load_again,
    measure,
};
use crate::media::{
    Backing, BodyReader, Checkpoint, Head, JournalReader, Media, MediaError, Owner, Pages, Reads,
    Record, Section, Slots, Superblock, Tracker, for_each_owner, last_without, slots_at,
};
use ftlab_flash::{BlockId, Lpn, NoPayload, Ppn};
use ftlab_ftl::Restored;
use ftlab_ftl::map::Mapping;
use ftlab_ftl::registry::{self, DynAdopting};
use ftlab_spec::Spec;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// No page.
const NONE: u32 = u32::MAX;

/// The FTL that shows the pages of a drive whose own one this program does not have.
const SHOWS: &str = "1r-greedy";

/// What a checkpoint says whatever the FTL.
struct Map {
    slot: u8,
    checkpoint: Checkpoint,
    /// By logical pages.
    flash_pages: Vec<u32>,
    checksums: Vec<u32>,
    slots: Slots,
    counted: Counted,
    /// Of each block.
    erases: Vec<u32>,
}

impl Map {
    fn load(
        backing: &dyn Backing,
        superblock: &Superblock,
        slot: u8,
        checkpoint: Checkpoint,
    ) -> Result<Self, MediaError> {
        let failed = |error| MediaError::io("read a checkpoint", error);
        let config = superblock.config;
        let mut map = Self {
            slot,
            flash_pages: vec![NONE; config.logical_pages as usize],
            checksums: vec![0; config.logical_pages as usize],
            slots: Slots::new(&config.geometry),
            counted: Counted::default(),
            erases: vec![0; config.geometry.blocks() as usize],
            checkpoint,
        };
        let mut body = BodyReader::new(backing, &superblock.layout, slot, &map.checkpoint);
        let map_bytes = 8 * u64::from(config.logical_pages);
        // Format 2 did not say where the slots are.
        let before = map.checkpoint.body_bytes.saturating_sub(map_bytes);
        let all = [(Section::Other, before), (Section::Map, map_bytes)];
        let is_named = !map.checkpoint.sections.is_empty();
        let mut maps = 0;
        let sections = if is_named { map.checkpoint.sections.clone() } else { all.to_vec() };
        for (section, bytes) in sections {
            let start = body.position();
            match section {
                Section::Slots => map.slots.load(&mut body).map_err(failed)?,
                Section::Counters => {
                    let text = body.take(bytes).map_err(failed)?;
                    map.counted = serde_json::from_slice(&text).unwrap_or_default();
                }
                Section::Wear => body.numbers(&mut map.erases).map_err(failed)?,
                Section::Map => {
                    maps += 1;
                    body.slices(config.logical_pages, |first, flash_pages, checksums| {
                        map.flash_pages[first.index()..][..flash_pages.len()]
                            .copy_from_slice(flash_pages);
                        map.checksums[first.index()..][..checksums.len()]
                            .copy_from_slice(checksums);
                        Ok(())
                    })?;
                }
                Section::Owners => {
                    maps += 1;
                    body.owners(config.geometry.pages(), |page, lpn, checksum| {
                        if lpn.0 < config.logical_pages {
                            map.flash_pages[lpn.index()] = page.0;
                            map.checksums[lpn.index()] = checksum;
                        }
                        Ok(())
                    })?;
                }
                Section::Other if !is_named => {
                    let bytes = body.take(bytes).map_err(failed)?;
                    map.find_slots(&bytes, superblock);
                }
                Section::Ftl | Section::Other => {}
            }
            body.pass_over(start + bytes).map_err(failed)?;
        }
        let (is_intact, _) = body.finish(map.checkpoint.body_checksum).map_err(failed)?;
        if !is_intact {
            return Err(MediaError::Checkpoint("its checksum is wrong".to_owned()));
        }
        if maps != 1 {
            return Err(MediaError::Checkpoint("it has no map, or more than one".to_owned()));
        }
        Ok(map)
    }

    /// Finds the slots before the map of a checkpoint of format 2.
    fn find_slots(&mut self, before_map: &[u8], superblock: &Superblock) {
        let load = |bytes: &[u8]| {
            let mut slots = Slots::new(&superblock.config.geometry);
            slots.load(&mut Restored::new(bytes)).ok().map(|()| slots)
        };
        let start = slots_at(before_map, |bytes| load(bytes).is_some());
        let slots = start.and_then(|start| load(&before_map[start..]));
        self.slots = slots.unwrap_or_else(|| Slots::new(&superblock.config.geometry));
    }

    /// Where `lpn` was, and its checksum, if it held anything.
    fn home(&self, lpn: Lpn) -> Option<(Ppn, u32)> {
        let page = self.flash_pages[lpn.index()];
        (page != NONE).then(|| (self.slots.place(Ppn(page)), self.checksums[lpn.index()]))
    }
}

/// What an operation left of a page: a version with this checksum, or nothing.
#[derive(Debug, Clone, Copy)]
struct Change {
    operation: u64,
    checksum: Option<u32>,
}

/// What the journal says whatever the FTL.
struct Changes {
    /// Where blocks are in the end, and which pages could not be read.
    slots: Slots,
    /// In the order of operations.
    of: HashMap<Lpn, Vec<Change>>,
    /// Pages whose data is in the journal.
    pages: HashMap<(Lpn, u32), Box<[u8]>>,
}

impl Changes {
    /// Reads the journal from the checkpoint of `map` to `end`, up to operation `last`.
    fn read(
        backing: &dyn Backing,
        superblock: &Superblock,
        map: &Map,
        end: Head,
        last: u64,
    ) -> Result<Self, MediaError> {
        let (layout, head) = (&superblock.layout, map.checkpoint.head);
        let logical_pages = superblock.config.logical_pages;
        let beyond = |lpn| MediaError::Replay(format!("page {lpn} is beyond the drive"));
        let mut reader = JournalReader::new(backing, superblock.uuid, layout, head);
        let slots = map.slots.clone();
        let mut changes = Self { slots, of: HashMap::new(), pages: HashMap::new() };
        let mut operation = head.operations;
        while reader.head() != end {
            let header = reader.next().ok_or_else(|| MediaError::Journal {
                end: reader.head().operations,
                durable: end.operations,
            })?;
            for record in reader.records(&header).flatten() {
                if record.is_operation() {
                    operation += 1;
                    if operation > last {
                        return Ok(changes);
                    }
                }
                match record {
                    Record::Write { lpn, checksum, .. } if lpn.0 < logical_pages => {
                        changes.note(lpn, operation, Some(checksum));
                        changes.slots.forget(lpn);
                    }
                    Record::Trim { first, pages }
                        if u64::from(first.0) + u64::from(pages) <= logical_pages.into() =>
                    {
                        for lpn in (first.0..first.0 + pages).map(Lpn) {
                            if changes.current(map, lpn).is_some() {
                                changes.note(lpn, operation, None);
                            }
                            changes.slots.forget(lpn);
                        }
                    }
                    Record::Page { lpn, checksum, data } => {
                        changes.pages.insert((lpn, checksum), data.into());
                    }
                    Record::Unreadable { lpn, place } => {
                        changes.slots.remember(lpn, place);
                    }
                    Record::Replacement(replacement) => changes.slots.repeat(replacement),
                    Record::Renewal { .. } => {}
                    Record::Write { lpn, .. } | Record::Trim { first: lpn, .. } => {
                        return Err(beyond(lpn));
                    }
                }
            }
        }
        Ok(changes)
    }

    fn note(&mut self, lpn: Lpn, operation: u64, checksum: Option<u32>) {
        self.of.entry(lpn).or_default().push(Change { operation, checksum });
    }

    /// Versions of pages, each with the first and the last operation after which it is current.
    fn versions(&self) -> impl Iterator<Item = (Lpn, u32, u64, u64)> {
        self.of.iter().flat_map(|(lpn, changes)| {
            let ends = changes[1..].iter().map(|next| next.operation - 1);
            let spans = changes.iter().zip(ends.chain([u64::MAX]));
            spans.filter_map(|(change, end)| {
                change.checksum.map(|checksum| (*lpn, checksum, change.operation, end))
            })
        })
    }

    /// The checksum of the version of `lpn` that is current in the end, if it holds anything.
    fn current(&self, map: &Map, lpn: Lpn) -> Option<u32> {
        match self.of.get(&lpn).and_then(|changes| changes.last()) {
            Some(change) => change.checksum,
            None => map.home(lpn).map(|(_, checksum)| checksum),
        }
    }

    /// Whether it is a version of `lpn` that was current at any time since the checkpoint.
    fn is_known(&self, map: &Map, lpn: Lpn, checksum: u32) -> bool {
        map.home(lpn).is_some_and(|(_, home)| home == checksum)
            || self.of.get(&lpn).is_some_and(|changes| {
                changes.iter().any(|change| change.checksum == Some(checksum))
            })
    }
}

/// Where versions were found.
#[derive(Default)]
struct Found {
    /// A bit for each logical page: its version of the checkpoint is where it was.
    at_home: Vec<u64>,
    /// Others, each in the place to which it came last.
    elsewhere: HashMap<(Lpn, u32), Ppn>,
    /// By slots the highest sequence.
    newest: Vec<u64>,
}

impl Found {
    fn search(pages: Pages, map: &Map, changes: &Changes) -> Self {
        let pages_per_block = pages.layout.geometry.pages_per_block();
        let mut found = Self {
            at_home: vec![0; map.flash_pages.len().div_ceil(64)],
            elsewhere: HashMap::new(),
            newest: vec![0; (pages.layout.places() / pages_per_block) as usize],
        };
        let mut candidates: Vec<(Ppn, Owner)> = Vec::new();
        for_each_owner(pages.backing, pages.layout, Reads::Alike, |place, owner| {
            let lpn = owner.lpn;
            if lpn.index() >= map.flash_pages.len() || !changes.is_known(map, lpn, owner.checksum) {
                return;
            }
            let newest = &mut found.newest[(place.0 / pages_per_block) as usize];
            *newest = owner.sequence.max(*newest);
            if map.home(lpn) == Some((place, owner.checksum)) {
                found.at_home[lpn.index() / 64] |= 1 << (lpn.0 % 64);
            } else {
                candidates.push((place, owner));
            }
        });
        // What stands beside a page may be damaged, and not the page.
        for lpn in (0..map.flash_pages.len() as u32).map(Lpn) {
            if let Some((place, checksum)) = map.home(lpn).filter(|_| !found.is_at_home(lpn)) {
                candidates.push((place, Owner { lpn, checksum, sequence: 0 }));
            }
        }
        found.read(pages, map, candidates);
        found
    }

    /// Reads what is not where it was, and the places where it was: it was moved, and the newest copy counts.
    fn read(&mut self, pages: Pages, map: &Map, candidates: Vec<(Ppn, Owner)>) {
        let moved = candidates.iter().map(|(_, owner)| owner.lpn);
        let moved: HashSet<Lpn> = moved.filter(|lpn| self.is_at_home(*lpn)).collect();
        let homes = moved.into_iter().filter_map(|lpn| {
            let (place, checksum) = map.home(lpn)?;
            let sequence = pages.owner(place).map_or(0, |owner| owner.sequence);
            Some((place, Owner { lpn, checksum, sequence }))
        });
        let mut all: Vec<_> = homes.chain(candidates).collect();
        all.sort_unstable_by_key(|(place, _)| *place);
        let expected: Vec<_> =
            all.iter().map(|(place, owner)| (*place, owner.lpn, owner.checksum)).collect();
        let missing = pages.without_those_there(&expected);
        let missing: HashSet<_> = missing.into_iter().collect();
        all.retain(|(place, owner)| !missing.contains(&(*place, owner.lpn, owner.checksum)));
        all.sort_unstable_by_key(|(_, owner)| owner.sequence);
        let places = all.into_iter().map(|(place, owner)| ((owner.lpn, owner.checksum), place));
        self.elsewhere.extend(places);
    }

    fn is_at_home(&self, lpn: Lpn) -> bool {
        self.at_home[lpn.index() / 64] >> (lpn.0 % 64) & 1 == 1
    }

    fn place(&self, map: &Map, lpn: Lpn, checksum: u32) -> Option<Ppn> {
        let home = map.home(lpn).filter(|(_, home)| *home == checksum && self.is_at_home(lpn));
        self.elsewhere.get(&(lpn, checksum)).copied().or(home.map(|(place, _)| place))
    }
}

/// Which flash page every logical page has.
struct Assigned {
    /// By flash pages.
    owners: Vec<u32>,
    /// By logical pages.
    checksums: Vec<u32>,
    mapped: u32,
    /// Pages that are to be copied to theirs, their checksums, and where they are.
    loose: Vec<(Lpn, u32, Option<Ppn>)>,
    /// Translation pages that have something to tell.
    of_map: Vec<u32>,
}

impl Assigned {
    fn new(superblock: &Superblock, map: &Map, changes: &Changes, found: &Found) -> Self {
        let config = superblock.config;
        let pages_per_block = config.geometry.pages_per_block();
        let blocks = changes.slots.blocks();
        let mut assigned = Self {
            owners: vec![NONE; config.geometry.pages() as usize],
            checksums: vec![0; config.logical_pages as usize],
            mapped: 0,
            loose: Vec::new(),
            of_map: Vec::new(),
        };
        let entries = Mapping::entries_per_page(config.geometry.page_bytes());
        for lpn in (0..config.logical_pages).map(Lpn) {
            let Some(checksum) = changes.current(map, lpn) else { continue };
            assigned.checksums[lpn.index()] = checksum;
            assigned.mapped += 1;
            let of_map = config.logical_pages + lpn.0 / entries;
            if superblock.is_paged() && assigned.of_map.last() != Some(&of_map) {
                assigned.of_map.push(of_map);
            }
            let place = found.place(map, lpn, checksum);
            let block = place.and_then(|place| blocks[(place.0 / pages_per_block) as usize]);
            match (place, block) {
                (Some(place), Some(block)) => {
                    let page = config.geometry.first_page(block).0 + place.0 % pages_per_block;
                    assigned.owners[page as usize] = lpn.0;
                }
                _ => assigned.loose.push((lpn, checksum, place)),
            }
        }
        assigned
    }

    /// Gives flash pages of free blocks to what has none, and empties blocks until as many are free as the FTL has to
    /// keep; of these at most `most` pages. Returns pages that could not be read before and are lost.
    fn place_loose(
        &mut self,
        superblock: &Superblock,
        slots: &mut Slots,
        most: u64,
    ) -> Result<Vec<Lpn>, MediaError> {
        let geometry = superblock.config.geometry;
        let pages_per_block = geometry.pages_per_block() as usize;
        let mut free = Vec::new();
        let mut held: Vec<(usize, usize)> = Vec::new();
        for (block, owners) in self.owners.chunks_exact(pages_per_block).enumerate() {
            match owners.iter().filter(|owner| **owner != NONE).count() {
                0 => free.push(block),
                pages => held.push((pages, block)),
            }
        }
        held.sort_unstable();
        let vacated = free.iter().flat_map(|block| slots.vacate(BlockId(*block as u32)));
        let gone = vacated.collect();
        let mut emptied = 0;
        let of_map = self.of_map.len().div_ceil(pages_per_block);
        for (pages, block) in held {
            let taken = self.loose.len().div_ceil(pages_per_block) + of_map;
            let left = free.len().saturating_sub(taken);
            let is_enough = left >= superblock.config.reserve_blocks as usize;
            if is_enough || pages == pages_per_block || (emptied + pages) as u64 > most {
                break;
            }
            if slots.keeps(BlockId(block as u32)) {
                continue;
            }
            emptied += pages;
            let first = geometry.first_page(BlockId(block as u32)).0;
            for page in first..first + pages_per_block as u32 {
                let lpn = std::mem::replace(&mut self.owners[page as usize], NONE);
                if lpn != NONE {
                    let place = slots.place(Ppn(page));
                    self.loose.push((Lpn(lpn), self.checksums[lpn as usize], Some(place)));
                }
            }
            free.push(block);
        }
        let of_host = self.loose.len().div_ceil(pages_per_block);
        let pages = |block: &usize| {
            let first = block * pages_per_block;
            first..first + pages_per_block
        };
        for (page, (lpn, ..)) in free.iter().flat_map(pages).zip(&self.loose) {
            self.owners[page] = lpn.0;
        }
        for (page, lpn) in free.iter().skip(of_host).flat_map(pages).zip(&self.of_map) {
            self.owners[page] = *lpn;
        }
        // One has to be left for the first collection to move pages to.
        if of_host + of_map >= free.len() {
            let left = self.loose.len() + self.of_map.len();
            return Err(MediaError::Replay(format!(
                "no free block is left beside those for {left} pages"
            )));
        }
        Ok(gone)
    }
}

/// The state of a drive after the last operation of which every page can be found; changes nothing on the medium.
pub(crate) fn locate_all(
    backing: &Arc<dyn Backing>,
    superblock: &Superblock,
    may_lose: MayLose,
    recovery: &mut Recovery,
) -> Result<Repeated, MediaError> {
    let headers = Headers::read(&**backing, superblock);
    let load = |slot, checkpoint: Checkpoint| {
        load_again(&**backing, || Map::load(&**backing, superblock, slot, checkpoint.clone()))
    };
    let map = first_intact(&headers, &mut recovery.damage, load)?;
    let damage = &mut recovery.damage;
    let mut extent = measure(&**backing, superblock, &map.checkpoint, &headers, damage);
    bound(&mut extent, may_lose, recovery)?;
    let journaled = extent.end.operations;
    let mut changes = Changes::read(&**backing, superblock, &map, extent.end, journaled)?;
    let pages = Pages { backing: &**backing, layout: &superblock.layout };
    let found = Found::search(pages, &map, &changes);
    let last = last_whole(&extent, &map, &changes, &found);
    if last < journaled {
        let pages = std::mem::take(&mut changes.pages);
        changes = Changes::read(&**backing, superblock, &map, extent.end, last)?;
        changes.pages = pages;
    }
    recovery.repeated = last - map.checkpoint.head.operations;
    recovery.dropped = journaled - last;
    let mut assigned = Assigned::new(superblock, &map, &changes, &found);
    let page_bytes = u64::from(superblock.config.geometry.page_bytes());
    let used = extent.end.position.saturating_sub(headers.tail(&map.checkpoint));
    let room = superblock.layout.journal_bytes.saturating_sub(used);
    let most = room / 2 / (page_bytes + 16);
    let gone = assigned.place_loose(superblock, &mut changes.slots, most)?;
    if !gone.is_empty() {
        recovery.damage.push(format!(
            "pages that could not be read before are lost, because no spare block is left: {gone:?}"
        ));
    }
    let head = Head { operations: last, ..extent.end };
    let media = Media::new(Arc::clone(backing), superblock, 0, head);
    let (mut ftl, unwritable) = build(superblock, media)?;
    adopt(&mut ftl, &map, &changes, &found, &assigned);
    let media = ftl.flash_mut();
    *media.totals_mut() = map.checkpoint.totals;
    *media.slots_mut() = changes.slots;
    // Those of translation pages follow.
    assigned.checksums.resize(superblock.all_pages() as usize, 0);
    *media.checksums_vec() = assigned.checksums;
    let is_lost = |(lpn, checksum, place): &&(Lpn, u32, Option<Ppn>)| {
        place.is_none() && !changes.pages.contains_key(&(*lpn, *checksum))
    };
    let lost = assigned.loose.iter().filter(is_lost).count() as u64;
    if let Some(tracker) = media.replay_mut() {
        *tracker = Tracker::of_found(assigned.loose, changes.pages);
    }
    ftl.check()?;
    let loaded =
        Loaded { ftl: ftl as _, asked_to: None, slot: map.slot, checkpoint: map.checkpoint };
    Ok(Repeated { loaded, headers, extent, last, lost, survey: None, unwritable })
}

/// The last operation after which every version is there.
fn last_whole(extent: &Extent, map: &Map, changes: &Changes, found: &Found) -> u64 {
    let is_there = |lpn, checksum| {
        changes.pages.contains_key(&(lpn, checksum)) || found.place(map, lpn, checksum).is_some()
    };
    // Versions that were durable and are not there have rotted: no reason to go back.
    let missing = changes
        .versions()
        .filter(|&(lpn, checksum, first, _)| first > extent.flushed && !is_there(lpn, checksum));
    let missing = missing.map(|(_, _, first, last)| (first, last)).collect();
    last_without(missing, extent.end.operations)
}

/// The drive's FTL; or, if this program does not have it, one that shows its pages, and why it must not write.
fn build(
    superblock: &Superblock,
    media: Media,
) -> Result<(DynAdopting<Media, ()>, Option<String>), MediaError> {
    let Superblock { ftl, mapping, config, .. } = superblock;
    let build = |ftl: &Spec, media: Media| {
        let mut built = registry::build_to_adopt(mapping, ftl, *config, media, ())?;
        if superblock.is_paged() {
            built.page_in();
            built.flash_mut().page_in();
        }
        Ok::<_, MediaError>(built)
    };
    let Err(error) = registry::build_to_adopt(mapping, ftl, *config, NoPayload, ()) else {
        return Ok((build(ftl, media)?, None));
    };
    let shows = SHOWS.parse().map_err(registry::BuildError::from)?;
    let shown = build(&shows, media)?;
    let reason = format!("{error}; choose another FTL with `ftlab drive upgrade --ftl`");
    Ok((shown, Some(reason)))
}

/// Lets the FTL adopt the blocks, the oldest first.
fn adopt(
    ftl: &mut DynAdopting<Media, ()>,
    map: &Map,
    changes: &Changes,
    found: &Found,
    assigned: &Assigned,
) {
    let all = || changes.of.values().flatten();
    let writes = all().filter(|change| change.checksum.is_some()).count() as u64;
    let trims = all().count() as u64 - writes;
    let geometry = *ftl.drive().geometry();
    let pages_per_block = geometry.pages_per_block() as usize;
    let owners =
        |block: BlockId| &assigned.owners[block.index() * pages_per_block..][..pages_per_block];
    let holds = |block: &BlockId| owners(*block).iter().any(|owner| *owner != NONE);
    let mut by_age: Vec<BlockId> = (0..geometry.blocks()).map(BlockId).filter(holds).collect();
    let slot =
        |block: BlockId| map.slots.place(geometry.first_page(block)).0 as usize / pages_per_block;
    by_age.sort_by_key(|block| found.newest[slot(*block)]);
    let counters = map.counted.after(writes, trims);
    ftl.begin_adoption(&by_age, assigned.mapped, &counters, &map.erases);
    ftl.continue_map_counts(&map.counted.map());
    for block in by_age {
        ftl.adopt(block, owners(block));
    }
}

/// The same after a replay without all of the mapping in memory: beside pages that are not there stands something else.
pub(crate) fn strangers_beside(
    loaded: &mut Loaded,
    pages: Pages,
    survey: &Survey,
) -> Result<u64, MediaError> {
    let media = loaded.ftl.flash_mut();
    let tracker = media.replay_mut().map(std::mem::take).unwrap_or_default();
    let mut strange = Vec::new();
    let mut missing = 0;
    for (place, Owner { lpn, checksum, .. }) in &survey.wrong {
        if media.slots().unreadable_at(*lpn).is_some() {
            continue;
        }
        if tracker.knows(*lpn) {
            missing += u64::from(!tracker.is_there(pages, *lpn, *place, *checksum)?);
        } else {
            strange.push((*place, *lpn, *checksum));
        }
    }
    strange.sort_unstable();
    missing += pages.without_those_there(&strange).len() as u64;
    if let Some(kept) = media.replay_mut() {
        *kept = tracker;
    }
    Ok(missing)
}

/// How many pages are not where a replay has them, and in no other place that it knows.
pub(crate) fn strangers(loaded: &mut Loaded, pages: Pages) -> Result<u64, MediaError> {
    let tracker = loaded.ftl.flash_mut().replay_mut().map(std::mem::take).unwrap_or_default();
    let slots = loaded.ftl.flash_mut().slots().clone();
    let checksums = std::mem::take(loaded.ftl.flash_mut().checksums_vec());
    let blocks = slots.blocks();
    let geometry = pages.layout.geometry;
    let drive = loaded.ftl.drive();
    let mut strange = Vec::new();
    let mut missing = 0;
    // Translation pages follow from the others.
    let host_pages = drive.logical_pages();
    let mut seen = vec![0_u64; host_pages.div_ceil(64) as usize];
    for_each_owner(pages.backing, pages.layout, Reads::Once, |place, owner| {
        let (slot, lpn) = (place.0 / geometry.pages_per_block(), owner.lpn);
        let Some(block) = blocks[slot as usize] else { return };
        let page = Ppn(geometry.first_page(block).0 + place.0 % geometry.pages_per_block());
        let is_current = lpn.0 < host_pages && drive.flash_page(lpn) == Some(page);
        if is_current && checksums[lpn.index()] == owner.checksum {
            seen[lpn.index() / 64] |= 1 << (lpn.0 % 64);
        }
    });
    for lpn in (0..host_pages).map(Lpn) {
        let is_seen = seen[lpn.index() / 64] >> (lpn.0 % 64) & 1 == 1;
        let Some(page) = drive.flash_page(lpn) else { continue };
        let (place, checksum) = (slots.place(page), checksums[lpn.index()]);
        if slots.unreadable_at(lpn).is_some() {
            continue;
        }
        if tracker.knows(lpn) {
            missing += u64::from(!tracker.is_there(pages, lpn, place, checksum)?);
        } else if !is_seen {
            strange.push((place, lpn, checksum));
        }
    }
    strange.sort_unstable();
    missing += pages.without_those_there(&strange).len() as u64;
    let media = loaded.ftl.flash_mut();
    *media.checksums_vec() = checksums;
    if let Some(kept) = media.replay_mut() {
        *kept = tracker;
    }
    Ok(missing)
}
