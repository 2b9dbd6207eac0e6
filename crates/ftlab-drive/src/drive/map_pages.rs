//! Translation pages of a drive that is opened.
//!
//! Until it is live, all of the mapping is in memory, and tells what they have to be. So whatever became of them, they are
//! put in their places as everything else that is not there.

use crate::drive::opening::Loaded;
use crate::media::{
    Misplaced, Owner, Pages, Source, Unplaced, Unread, checksum, read_medium, retry_all,
    with_retries,
};
use ftlab_flash::{BlockId, Lpn, Ppn};
use std::convert::Infallible;

/// Writes again what does not stand beside pages as it should, once all pages are in their places; how many these are. What
/// stands there is all that tells the checksums of a live drive.
pub(crate) fn mend_owners(loaded: &mut Loaded, pages: Pages, sequence: u64) -> u64 {
    let wrong = wrong_owners(loaded, pages);
    for WrongOwner { place, expected, .. } in &wrong {
        loaded.ftl.flash_mut().write_owner(*place, Owner { sequence, ..*expected });
    }
    wrong.len() as u64
}

/// A place beside which something else stands than should.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WrongOwner {
    pub(crate) place: Ppn,
    /// Without its sequence.
    pub(crate) expected: Owner,
    pub(crate) found: Owner,
}

/// What does not stand beside pages as it should.
pub(crate) fn wrong_owners(loaded: &mut Loaded, pages: Pages) -> Vec<WrongOwner> {
    let geometry = pages.layout.geometry;
    let mut all = Vec::new();
    for block in (0..geometry.blocks()).map(BlockId) {
        let held = loaded.ftl.drive().held_owners(block);
        let media = loaded.ftl.flash_mut();
        let first = media.slots().place(geometry.first_page(block));
        let expected = |lpn: Lpn| {
            let checksum = *media.checksums().get(lpn.index())?;
            Some(Owner { lpn, checksum, sequence: 0 })
        };
        let expected = held.iter().map(|lpn| expected(*lpn));
        let expected: Vec<_> = (first.0..).map(Ppn).zip(expected).collect();
        let is_wrong = |found: &Owner, owner: &Owner| {
            (found.lpn, found.checksum) != (owner.lpn, owner.checksum)
        };
        let mut wrong = Vec::new();
        let read = with_retries(pages.backing, |_| {
            let found = pages.owners(first, held.len() as u32);
            wrong = expected
                .iter()
                .zip(found)
                .filter_map(|(&(place, expected), found)| {
                    Some(WrongOwner { place, expected: expected?, found })
                })
                .filter(|WrongOwner { expected, found, .. }| is_wrong(found, expected))
                .collect();
            if wrong.is_empty() { Ok(()) } else { Err(Unread::Differs) }
        });
        if read.is_err() {
            all.append(&mut wrong);
        }
    }
    all
}

/// The same of places that were noted before all pages were in theirs.
pub(crate) fn mend_some_owners(
    loaded: &mut Loaded,
    pages: Pages,
    noted: Vec<(Ppn, Owner)>,
    sequence: u64,
) -> u64 {
    let Ok(wrong) = retry_all(pages.backing, noted, |(place, expected)| {
        let found = pages.owner(*place);
        let is_right =
            |found: Owner| (found.lpn, found.checksum) == (expected.lpn, expected.checksum);
        Ok::<_, Infallible>(found.is_some_and(is_right))
    });
    for (place, expected) in &wrong {
        loaded.ftl.flash_mut().write_owner(*place, Owner { sequence, ..*expected });
    }
    wrong.len() as u64
}

/// Of operations that are cut off after the one with this sequence, how many pages took the places of what is current
/// without them.
pub(crate) fn newer_pages(loaded: &mut Loaded, pages: Pages, sequence: u64) -> u64 {
    let wrong = wrong_owners(loaded, pages);
    wrong.iter().filter(|wrong| wrong.found.sequence > sequence).count() as u64
}

/// Translation pages that are not in their places, or are not what they have to be.
pub(crate) fn wrong_map_pages(loaded: &mut Loaded, pages: Pages) -> Vec<Misplaced> {
    let first = loaded.ftl.drive().logical_pages();
    let mut data = vec![0; pages.layout.geometry.page_bytes() as usize];
    let mut wrong = Vec::new();
    for number in 0..loaded.ftl.map_pages() {
        let lpn = Lpn(first + number);
        let Some(page) = loaded.ftl.drive().flash_page(lpn) else { continue };
        let place = loaded.ftl.flash_mut().slots().place(page);
        let ftl = &loaded.ftl;
        let read = read_medium(pages.backing, &mut data, pages.layout.page(place), |data| {
            let sum = checksum(lpn, data);
            let owner = pages.owner(place)?;
            let is_right = (owner.lpn, owner.checksum) == (lpn, sum) && ftl.is_told(number, data);
            is_right.then_some(sum)
        });
        let sum = read.unwrap_or_else(|_| {
            ftl.tell(number, &mut data);
            let checksum = checksum(lpn, &data);
            let page = Unplaced { lpn, checksum, place };
            wrong.push(Misplaced { page, source: Source::Journal(data.as_slice().into()) });
            checksum
        });
        loaded.ftl.flash_mut().checksums_mut()[lpn.index()] = sum;
    }
    wrong
}
