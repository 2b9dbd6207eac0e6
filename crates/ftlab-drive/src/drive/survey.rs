//! Where pages are after a replay, if the map is on flash and not in memory as a whole.
//!
//! What all flash pages hold is read block by block, from the checkpoint and from what was programmed since. On the way,
//! what was asked for is noted, and what stands beside pages is compared. Of each translation page, what it has to tell is
//! added up, and compared with what it tells. Those that differ are put together in a second pass.

use crate::drive::opening::{Loaded, Survey};
use crate::media::{
    MediaError, Misplaced, NOTHING, Owner, Pages, Source, Unplaced, checksum, read_medium,
};
use ftlab_flash::{BlockId, Lpn, Ppn};
use std::collections::HashMap;

/// Some pages, a bit each.
struct Set(Vec<u64>);

impl Set {
    fn new(pages: u32, of: impl Iterator<Item = Lpn>) -> Self {
        let mut bits = vec![0; pages.div_ceil(64) as usize];
        of.filter(|lpn| lpn.0 < pages).for_each(|lpn| bits[lpn.index() / 64] |= 1 << (lpn.0 % 64));
        Self(bits)
    }

    fn has(&self, lpn: u32) -> bool {
        self.0[lpn as usize / 64] >> (lpn % 64) & 1 == 1
    }
}

/// A number that tells that `lpn` is at `page`.
fn mark(lpn: u32, page: u32) -> u64 {
    let both = (u64::from(page) << 32 | u64::from(lpn)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (both ^ both >> 29).wrapping_mul(0x94d0_49bb_1331_11eb)
}

/// The flash pages that hold something valid, what that is, and its checksum: by blocks, each with its first page.
fn for_each_block(
    loaded: &mut Loaded,
    mut see: impl FnMut(&mut Loaded, Ppn, &[(Ppn, u32, u32)]) -> Result<(), MediaError>,
) -> Result<(), MediaError> {
    let geometry = *loaded.ftl.drive().geometry();
    let mut held = Vec::new();
    for block in (0..geometry.blocks()).map(BlockId) {
        held.clear();
        held.extend(loaded.ftl.drive().held_pages(block).map(|page| (page, NOTHING, 0)));
        if held.is_empty() {
            continue;
        }
        let first = geometry.first_page(block);
        let found = loaded.ftl.flash_mut().held(block).map_err(|unread| {
            MediaError::Replay(format!("what block {block} holds cannot be read: {unread}"))
        })?;
        for (page, lpn, checksum) in &mut held {
            let told = found.get((page.0 - first.0) as usize);
            (*lpn, *checksum) = told.copied().unwrap_or((NOTHING, 0));
            if *lpn == NOTHING {
                let why = format!("nothing tells what flash page {page} holds");
                return Err(MediaError::Replay(why));
            }
        }
        see(loaded, first, &held)?;
    }
    Ok(())
}

/// Looks at all pages after a replay.
pub(crate) fn survey(loaded: &mut Loaded, pages: Pages) -> Result<Survey, MediaError> {
    let geometry = pages.layout.geometry;
    let (entries, host_pages) = (geometry.page_bytes() / 4, loaded.ftl.drive().logical_pages());
    let media = loaded.ftl.flash_mut();
    let mut asked = media.replay_mut().map(|tracker| tracker.lpns()).unwrap_or_default();
    asked.extend(media.slots().unreadable());
    let asked = Set::new(host_pages, asked.into_iter());
    let in_memory = Set::new(host_pages, loaded.ftl.held());
    let mut places = HashMap::new();
    let mut wrong = Vec::new();
    let mut sums = vec![0_u64; loaded.ftl.map_pages() as usize];
    for_each_block(loaded, |loaded, first, held| {
        let place = loaded.ftl.flash_mut().slots().place(first);
        let beside = pages.owners(place, geometry.pages_per_block());
        for &(page, lpn, checksum) in held {
            if lpn >= host_pages {
                continue;
            }
            if asked.has(lpn) {
                places.insert(Lpn(lpn), (page, checksum));
            }
            let mut is_told = true;
            if in_memory.has(lpn) {
                loaded.ftl.restore_held(Lpn(lpn), page);
                is_told = !loaded.ftl.is_changed(Lpn(lpn));
            }
            if is_told {
                let sum = &mut sums[(lpn / entries) as usize];
                *sum = sum.wrapping_add(mark(lpn, page.0));
            }
            let index = page.0 - first.0;
            let found = beside[index as usize];
            if (found.lpn.0, found.checksum) != (lpn, checksum) {
                wrong.push((Ppn(place.0 + index), Owner { lpn: Lpn(lpn), checksum, sequence: 0 }));
            }
        }
        Ok(())
    })?;
    let differ = differing_map_pages(loaded, pages, &in_memory, &sums);
    let of_map = put_together(loaded, pages, &differ)?;
    Ok(Survey { places, of_map, wrong })
}

/// The translation pages, by their numbers, that do not tell what adds up to these sums; and their places. Takes note of
/// the checksums of the others.
fn differing_map_pages(
    loaded: &mut Loaded,
    pages: Pages,
    in_memory: &Set,
    sums: &[u64],
) -> Vec<(u32, Ppn)> {
    let page_bytes = pages.layout.geometry.page_bytes();
    let (entries, host_pages) = (page_bytes / 4, loaded.ftl.drive().logical_pages());
    let mut data = vec![0; page_bytes as usize];
    let mut differ = Vec::new();
    for (number, expected) in (0..).zip(sums) {
        let lpn = Lpn(host_pages + number);
        let Some(page) = loaded.ftl.drive().flash_page(lpn) else { continue };
        let place = loaded.ftl.flash_mut().slots().place(page);
        let ftl = &loaded.ftl;
        let read = read_medium(pages.backing, &mut data, pages.layout.page(place), |data| {
            let sum = checksum(lpn, data);
            let owner = pages.owner(place)?;
            let told = (number * entries..host_pages).zip(data.as_chunks().0);
            let told = told.map(|(lpn, entry)| (lpn, u32::from_le_bytes(*entry)));
            let told = told.filter(|(lpn, page)| {
                let is_changed = in_memory.has(*lpn) && ftl.is_changed(Lpn(*lpn));
                *page != NOTHING && !is_changed
            });
            let told = told.fold(0, |sum: u64, (lpn, page)| sum.wrapping_add(mark(lpn, page)));
            let is_right = (owner.lpn, owner.checksum) == (lpn, sum) && told == *expected;
            is_right.then_some(sum)
        });
        match read {
            Ok(sum) => loaded.ftl.flash_mut().restore_checksum(lpn, sum),
            Err(_) => differ.push((number, place)),
        }
    }
    differ
}

/// What these translation pages have to be.
fn put_together(
    loaded: &mut Loaded,
    pages: Pages,
    differ: &[(u32, Ppn)],
) -> Result<Vec<Misplaced>, MediaError> {
    if differ.is_empty() {
        return Ok(Vec::new());
    }
    let page_bytes = pages.layout.geometry.page_bytes();
    let (entries, host_pages) = (page_bytes / 4, loaded.ftl.drive().logical_pages());
    let wanted = Set::new(loaded.ftl.map_pages(), differ.iter().map(|(number, _)| Lpn(*number)));
    let empty = || vec![u8::MAX; page_bytes as usize].into_boxed_slice();
    let mut all: HashMap<u32, Box<[u8]>> =
        differ.iter().map(|(number, _)| (*number, empty())).collect();
    for_each_block(loaded, |_, _, held| {
        for (page, lpn, _) in held.iter().filter(|(_, lpn, _)| *lpn < host_pages) {
            let number = lpn / entries;
            if wanted.has(number)
                && let Some(data) = all.get_mut(&number)
            {
                data.as_chunks_mut().0[(lpn % entries) as usize] = page.0.to_le_bytes();
            }
        }
        Ok(())
    })?;
    let misplaced = differ.iter().filter_map(|&(number, place)| {
        let data = all.remove(&number)?;
        let lpn = Lpn(host_pages + number);
        let checksum = checksum(lpn, &data);
        loaded.ftl.flash_mut().restore_checksum(lpn, checksum);
        let page = Unplaced { lpn, checksum, place };
        Some(Misplaced { page, source: Source::Journal(data) })
    });
    Ok(misplaced.collect())
}
