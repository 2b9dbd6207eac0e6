//! Tracks what the journal's operations wrote and moved: where the versions of pages should be.
//!
//! After the last sync anything may have been lost: records, pages that the host wrote, pages that
//! were moved. A version is *there* if one of the places where it has been, or the journal, holds
//! it. The drive can be recovered to any operation after which all current versions are there;
//! [`last_whole`](Tracker::last_whole) finds the last one.

use crate::media::checksum::checksum;
use crate::media::layout::Layout;
use crate::media::owners::Owner;
use crate::media::reading::{Origin, Unread, is_media_error, read_medium, retry_all};
use crate::media::slots::Slots;
use crate::media::{Backing, MediaError};
use ftlab_flash::{Lpn, Ppn};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::convert::Infallible;
use std::io;
use std::ops::RangeInclusive;

/// A version of a page, and the places where it has been.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Version {
    /// The operation that wrote it; none if it was written before tracking began.
    operation: Option<u64>,
    checksum: u32,
    /// Its places, in order; it should be in the last one.
    places: Vec<Ppn>,
}

/// Versions of pages written or moved by operations that may not be durable.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// Operations up to this one are durable, with every page in its place.
    in_place: u64,
    current: HashMap<Lpn, Version>,
    /// Versions that were overwritten or trimmed, and the last operation after which they were
    /// current.
    past: Vec<(Lpn, Version, u64)>,
    /// Pages whose data is in the journal.
    journaled: HashMap<(Lpn, u32), Box<[u8]>>,
    /// Other places of versions: after the operation at which this run ends, or where one could not be moved from.
    other_places: HashMap<(Lpn, u32), Vec<Ppn>>,
}

/// Read access to the medium.
#[derive(Clone, Copy)]
pub(crate) struct Pages<'a> {
    pub(crate) backing: &'a dyn Backing,
    pub(crate) layout: &'a Layout,
}

/// Flash pages read at once.
const PAGES_AT_ONCE: usize = 256;

impl Pages<'_> {
    /// Of these places in order, with the page and the checksum that each should hold, those that do not or
    /// cannot be read.
    pub(crate) fn without_those_there(self, expected: &[(Ppn, Lpn, u32)]) -> Vec<(Ppn, Lpn, u32)> {
        let mut data = vec![0; self.layout.geometry.page_bytes() as usize];
        let missing = self.missing_at_first(expected, false);
        let Ok(missing) = retry_all(self.backing, missing, |(place, lpn, sum)| {
            Ok::<_, Infallible>(self.read(*place, *lpn, *sum, &mut data).unwrap_or(false))
        });
        missing
    }

    /// Those that one read finds missing, many pages at once; or beside which something else stands, if that is looked at.
    fn missing_at_first(
        self,
        expected: &[(Ppn, Lpn, u32)],
        looks_beside: bool,
    ) -> Vec<(Ppn, Lpn, u32)> {
        let page_bytes = self.layout.geometry.page_bytes() as usize;
        let mut data = vec![0; PAGES_AT_ONCE * page_bytes];
        let mut missing = Vec::new();
        for run in expected.chunk_by(|(one, ..), (next, ..)| one.0 + 1 == next.0) {
            for run in run.chunks(PAGES_AT_ONCE) {
                let data = &mut data[..run.len() * page_bytes];
                let is_read = self.backing.read_medium_at(data, self.layout.page(run[0].0)).is_ok();
                let owners =
                    if looks_beside { self.owners(run[0].0, run.len() as u32) } else { Vec::new() };
                let found = run.iter().zip(data.chunks_exact(page_bytes)).enumerate();
                let not_there = found.filter(|(index, ((_, lpn, sum), page))| {
                    let is_beside = owners
                        .get(*index)
                        .is_none_or(|owner| (owner.lpn, owner.checksum) == (*lpn, *sum));
                    !is_read || !is_beside || checksum(*lpn, page) != *sum
                });
                missing.extend(not_there.map(|(_, (expected, _))| *expected));
            }
        }
        missing
    }

    /// What stands beside a place, if that can be read.
    pub(crate) fn owner(&self, place: Ppn) -> Option<Owner> {
        Owner::read(self.backing, self.layout, Origin::Medium, place)
    }

    /// What stands beside some places in a row.
    pub(crate) fn owners(&self, first: Ppn, count: u32) -> Vec<Owner> {
        Owner::read_all(self.backing, self.layout, Origin::Medium, first, count)
    }

    /// Whether this version of `lpn` is at `place`, as far as one read tells.
    pub(crate) fn holds(&self, place: Ppn, lpn: Lpn, sum: u32) -> bool {
        let mut data = vec![0; self.layout.geometry.page_bytes() as usize];
        self.read(place, lpn, sum, &mut data).unwrap_or(false)
    }

    /// Whether that says what a page is.
    fn says_owner(&self, page: &Unplaced) -> bool {
        let owner = self.owner(page.place);
        owner.is_some_and(|owner| (owner.lpn, owner.checksum) == (page.lpn, page.checksum))
    }

    /// Reads the page at `place` into `data`, once; false if it is not this version of `lpn`.
    fn read(&self, place: Ppn, lpn: Lpn, sum: u32, data: &mut [u8]) -> Result<bool, MediaError> {
        let offset = self.layout.page(place);
        match self.backing.read_medium_at(data, offset) {
            Ok(()) => Ok(checksum(lpn, data) == sum),
            // Equivalent to rot, and no reason to discard all others.
            Err(error) if is_media_error(&error) => Ok(false),
            Err(error) => Err(MediaError::io("read a flash page", error)),
        }
    }
}

/// The last operation, `end` or before, after which no version is current that is missing: each from an operation to
/// another.
pub(crate) fn last_without(mut missing: Vec<(u64, u64)>, end: u64) -> u64 {
    // Backwards from the end: each missing version limits the drive to before it was written.
    missing.sort_unstable_by_key(|&(_, last)| std::cmp::Reverse(last));
    let mut whole = end;
    while let Some(&(first, _)) =
        missing.iter().find(|&&(first, last)| (first..=last).contains(&whole))
    {
        whole = first - 1;
    }
    whole
}

impl Tracker {
    /// Tracks operations after `in_place`.
    pub(crate) fn new(in_place: u64) -> Self {
        Self { in_place, ..Self::default() }
    }

    /// `operation` wrote `lpn` to `to`.
    pub(crate) fn write(&mut self, lpn: Lpn, checksum: u32, to: Ppn, operation: u64) {
        if operation > self.in_place {
            let version = Version { operation: Some(operation), checksum, places: vec![to] };
            let before = self.current.insert(lpn, version);
            self.pass(lpn, before, operation);
        }
    }

    /// `operation` moved `lpn`.
    pub(crate) fn relocate(&mut self, lpn: Lpn, checksum: u32, from: Ppn, to: Ppn, operation: u64) {
        if operation > self.in_place {
            let old = || Version { operation: None, checksum, places: vec![from] };
            self.current.entry(lpn).or_insert_with(old).places.push(to);
        }
    }

    /// `operation` trimmed `lpn`.
    pub(crate) fn trim(&mut self, lpn: Lpn, operation: u64) {
        let before = self.current.remove(&lpn);
        self.pass(lpn, before, operation);
    }

    fn pass(&mut self, lpn: Lpn, version: Option<Version>, operation: u64) {
        self.past.extend(version.map(|version| (lpn, version, operation - 1)));
    }

    /// The journal holds a version of `lpn`.
    pub(crate) fn journaled(&mut self, lpn: Lpn, checksum: u32, data: &[u8]) {
        self.journaled.insert((lpn, checksum), data.into());
    }

    /// Takes over the places of versions from a longer run of the same operations.
    pub(crate) fn take_later_places(&mut self, longer: Self) {
        let past = longer.past.into_iter().map(|(lpn, version, _)| (lpn, version));
        for (lpn, version) in past.chain(longer.current) {
            self.other_places.entry((lpn, version.checksum)).or_default().extend(version.places);
        }
    }

    /// Takes over where pages are that could not be moved.
    pub(crate) fn take_kept(&mut self, slots: &Slots, checksum: impl Fn(Lpn) -> Option<u32>) {
        for lpn in slots.unreadable() {
            if let Some((place, sum)) = slots.unreadable_at(lpn).zip(checksum(lpn)) {
                self.other_places.entry((lpn, sum)).or_default().push(place);
            }
        }
    }

    /// The pages of which it knows where they may be.
    pub(crate) fn lpns(&self) -> BTreeSet<Lpn> {
        let others = self.journaled.keys().chain(self.other_places.keys()).map(|&(lpn, _)| lpn);
        self.current.keys().copied().chain(others).collect()
    }

    /// The last of these operations after which every current version is there. Versions that the first of
    /// them or an earlier one wrote were durable: if they are not there, they have rotted.
    pub(crate) fn last_whole(
        &self,
        pages: Pages,
        operations: RangeInclusive<u64>,
    ) -> Result<u64, MediaError> {
        let mut data = vec![0; pages.layout.geometry.page_bytes() as usize];
        let current = self.current.iter().map(|(lpn, version)| (lpn, version, u64::MAX));
        let past = self.past.iter().map(|(lpn, version, last)| (lpn, version, *last));
        // An older version was durable; whether it is still there matters only while it is current.
        let recent = past.chain(current).filter_map(|(lpn, version, last)| {
            let first = version.operation.filter(|first| first > operations.start())?;
            let is_journaled = self.journaled.contains_key(&(*lpn, version.checksum));
            (!is_journaled).then_some((*lpn, version, first, last))
        });
        let mut recent: Vec<_> = recent.collect();
        // Nearly all are in their last places, and found many at once.
        let place = |version: &Version| version.places.last().copied();
        recent.sort_unstable_by_key(|(lpn, version, ..)| (place(version), *lpn));
        let expected: Vec<_> = recent
            .iter()
            .filter_map(|(lpn, version, ..)| Some((place(version)?, *lpn, version.checksum)))
            .collect();
        let missing: HashSet<_> = pages.missing_at_first(&expected, false).into_iter().collect();
        recent.retain(|(lpn, version, ..)| {
            place(version).is_none_or(|place| missing.contains(&(place, *lpn, version.checksum)))
        });
        let missing = retry_all(pages.backing, recent, |(lpn, version, ..)| {
            Self::find(*lpn, version, pages, &mut data).map(|place| place.is_some())
        })?;
        let missing: Vec<_> = missing.iter().map(|(.., first, last)| (*first, *last)).collect();
        Ok(last_without(missing, *operations.end()))
    }

    /// Of a drive whose pages were searched for: versions that are to be put elsewhere, and where they were found; pages
    /// whose data is in the journal.
    pub(crate) fn of_found(
        found: impl IntoIterator<Item = (Lpn, u32, Option<Ppn>)>,
        journaled: HashMap<(Lpn, u32), Box<[u8]>>,
    ) -> Self {
        let current = found.into_iter().map(|(lpn, checksum, place)| {
            let places = place.into_iter().collect();
            (lpn, Version { operation: None, checksum, places })
        });
        Self { current: current.collect(), journaled, ..Self::default() }
    }

    /// Whether it knows where the current version of `lpn` may be.
    pub(crate) fn knows(&self, lpn: Lpn) -> bool {
        self.current.contains_key(&lpn)
    }

    /// The last place that holds a version, whose data is then in `data`.
    fn find(
        lpn: Lpn,
        version: &Version,
        pages: Pages,
        data: &mut [u8],
    ) -> Result<Option<Ppn>, MediaError> {
        for &place in version.places.iter().rev() {
            if pages.read(place, lpn, version.checksum, data)? {
                return Ok(Some(place));
            }
        }
        Ok(None)
    }

    /// Whether the current version of a page is in its place, or can be copied there.
    pub(crate) fn is_there(
        &self,
        pages: Pages,
        lpn: Lpn,
        place: Ppn,
        sum: u32,
    ) -> Result<bool, MediaError> {
        let mut data = vec![0; pages.layout.geometry.page_bytes() as usize];
        Ok(pages.read(place, lpn, sum, &mut data)?
            || self.journaled.contains_key(&(lpn, sum))
            || self.find_any(lpn, sum, pages, &mut data)?)
    }

    /// All places where the current version of `lpn` may be.
    fn places(&self, lpn: Lpn, sum: u32) -> impl Iterator<Item = Ppn> {
        let version = self.current.get(&lpn).filter(|version| version.checksum == sum);
        let later = self.other_places.get(&(lpn, sum));
        let places = version.map(|version| &version.places).into_iter().chain(later);
        places.flatten().copied()
    }

    /// Whether the current version of `lpn` is in any place.
    fn find_any(
        &self,
        lpn: Lpn,
        sum: u32,
        pages: Pages,
        data: &mut [u8],
    ) -> Result<bool, MediaError> {
        for place in self.places(lpn, sum) {
            if pages.read(place, lpn, sum, data)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The current versions that are not in their places, and the lost ones. `place_of`
    /// returns where the current version of a page should be, and its checksum; `targets` are places to which something
    /// else is going to be written.
    pub(crate) fn misplaced(
        mut self,
        pages: Pages,
        mut targets: HashSet<Ppn>,
        place_of: impl Fn(Lpn) -> Option<(Ppn, u32)>,
    ) -> Result<(Vec<Misplaced>, Vec<Lpn>), MediaError> {
        let mut data = vec![0; pages.layout.geometry.page_bytes() as usize];
        let expected = self.lpns().into_iter().filter_map(|lpn| {
            place_of(lpn).map(|(place, checksum)| Unplaced { lpn, checksum, place })
        });
        let mut expected: Vec<Unplaced> = expected.collect();
        expected.sort_unstable_by_key(|page| page.place);
        let all: Vec<_> =
            expected.iter().map(|page| (page.place, page.lpn, page.checksum)).collect();
        let missing: HashSet<_> = pages.missing_at_first(&all, true).into_iter().collect();
        expected.retain(|page| missing.contains(&(page.place, page.lpn, page.checksum)));
        let unplaced = retry_all(pages.backing, expected, |page| {
            let is_there = pages.read(page.place, page.lpn, page.checksum, &mut data)?;
            Ok::<_, MediaError>(is_there && pages.says_owner(page))
        })?;
        targets.extend(unplaced.iter().map(|page| page.place));
        let mut misplaced = Vec::new();
        let lost = retry_all(pages.backing, unplaced, |page| {
            let source = self.source(page, &targets, pages, &mut data)?;
            let found = source.map(|source| Misplaced { page: *page, source });
            let is_found = found.is_some();
            misplaced.extend(found);
            Ok::<_, MediaError>(is_found)
        })?;
        misplaced.sort_unstable_by_key(|found| found.page.lpn);
        Ok((misplaced, lost.into_iter().map(|page| page.lpn).collect()))
    }

    /// The location of a misplaced version; preferably a place to which no other one is to be
    /// copied.
    fn source(
        &mut self,
        page: &Unplaced,
        targets: &HashSet<Ppn>,
        pages: Pages,
        data: &mut [u8],
    ) -> Result<Option<Source>, MediaError> {
        if let Some(data) = self.journaled.remove(&(page.lpn, page.checksum)) {
            return Ok(Some(Source::Journal(data)));
        }
        let mut source = None;
        for place in self.places(page.lpn, page.checksum) {
            if pages.read(place, page.lpn, page.checksum, data)? {
                // In its own place it is only its owner that is missing.
                if !targets.contains(&place) || place == page.place {
                    return Ok(Some(Source::Place(place)));
                }
                source = Some(Source::Endangered(data.into()));
            }
        }
        Ok(source)
    }
}

/// A current version that is not in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unplaced {
    pub(crate) lpn: Lpn,
    pub(crate) checksum: u32,
    /// Where it belongs.
    pub(crate) place: Ppn,
}

/// A version that is not in its place, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misplaced {
    pub(crate) page: Unplaced,
    pub(crate) source: Source,
}

/// The location of a misplaced version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// In another place.
    Place(Ppn),
    /// In the journal.
    Journal(Box<[u8]>),
    /// In a place that another version is to be copied to.
    Endangered(Box<[u8]>),
}

impl Unplaced {
    /// Writes beside its place what it is.
    fn label(&self, pages: Pages, sequence: u64) -> Result<(), MediaError> {
        let owner = Owner { lpn: self.lpn, checksum: self.checksum, sequence };
        let written = pages.backing.write_at(&owner.encode(), pages.layout.owner(self.place));
        written.map_err(|error| MediaError::io("write beside a flash page", error))
    }

    fn read(&self, place: Ppn, pages: Pages) -> Result<Vec<u8>, Unread> {
        let mut page = vec![0; pages.layout.geometry.page_bytes() as usize];
        let is_right = |page: &[u8]| (checksum(self.lpn, page) == self.checksum).then_some(());
        read_medium(pages.backing, &mut page, pages.layout.page(place), is_right)?;
        Ok(page)
    }
}

impl Misplaced {
    /// Its data; an error if it was read before, and cannot be any more.
    pub(crate) fn data(&self, pages: Pages) -> Result<Cow<'_, [u8]>, MediaError> {
        let place = match &self.source {
            Source::Journal(data) | Source::Endangered(data) => return Ok(Cow::Borrowed(data)),
            Source::Place(place) => *place,
        };
        self.page.read(place, pages).map(Cow::Owned).map_err(|unread| {
            let error = match unread {
                Unread::Failed(error) => error,
                differs @ Unread::Differs => io::Error::other(differs.to_string()),
            };
            MediaError::io(format!("copy page {} to its place", self.page.lpn), error)
        })
    }

    /// Whether it is in its place by now.
    pub(crate) fn is_in_place(&self, pages: Pages) -> bool {
        self.page.read(self.page.place, pages).is_ok()
    }

    /// Whether it was found in its place, and only what stands beside it may be missing.
    pub(crate) fn is_in_its_place(&self) -> bool {
        self.source == Source::Place(self.page.place)
    }

    /// Writes beside the place where it was found what it is, unless that stands there.
    pub(crate) fn label_source(&self, pages: Pages, sequence: u64) -> Result<(), MediaError> {
        match self.source {
            Source::Place(place) => {
                let found = Unplaced { place, ..self.page };
                if pages.says_owner(&found) { Ok(()) } else { found.label(pages, sequence) }
            }
            Source::Journal(_) | Source::Endangered(_) => Ok(()),
        }
    }

    /// The same beside its place; `sequence` is that of the newest version.
    pub(crate) fn label_place(&self, pages: Pages, sequence: u64) -> Result<(), MediaError> {
        self.page.label(pages, sequence)
    }

    /// Copies it to its place.
    pub(crate) fn put_in_place(&self, pages: Pages) -> Result<(), MediaError> {
        let data = self.data(pages)?;
        let written = pages.backing.write_at(&data, pages.layout.page(self.page.place));
        written.map_err(|error| MediaError::io("write a flash page", error))
    }
}
