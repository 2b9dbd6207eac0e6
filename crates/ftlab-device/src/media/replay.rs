//! Tracks what the journal's operations wrote and moved: where the versions of pages should be.
//!
//! After the last sync anything may have been lost: records, pages that the host wrote, pages that
//! were moved. A version is *there* if one of the places where it has been, or the journal, holds
//! it. The drive can be recovered to any operation after which all current versions are there;
//! [`last_whole`](Tracker::last_whole) finds the last one.

use crate::media::backing::{is_media_error, with_retries};
use crate::media::checksum::checksum;
use crate::media::layout::Layout;
use crate::media::owners::Owner;
use crate::media::{Backing, MediaError};
use ftlab_flash::{Lpn, Ppn};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
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
    /// The places of versions after the operation at which this run ends.
    later_places: HashMap<(Lpn, u32), Vec<Ppn>>,
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
        let page_bytes = self.layout.geometry.page_bytes() as usize;
        let mut data = vec![0; PAGES_AT_ONCE * page_bytes];
        let mut missing = Vec::new();
        for run in expected.chunk_by(|(one, ..), (next, ..)| one.0 + 1 == next.0) {
            for run in run.chunks(PAGES_AT_ONCE) {
                let data = &mut data[..run.len() * page_bytes];
                let is_read = self.backing.read_medium_at(data, self.layout.page(run[0].0)).is_ok();
                let found = run.iter().zip(data.chunks_exact(page_bytes));
                let not_there =
                    found.filter(|((_, lpn, sum), page)| !is_read || checksum(*lpn, page) != *sum);
                missing.extend(not_there.map(|(expected, _)| *expected));
            }
        }
        missing
    }

    /// Reads the page at `place` into `data`; false if it is not this version of `lpn`.
    fn read(&self, place: Ppn, lpn: Lpn, sum: u32, data: &mut [u8]) -> Result<bool, MediaError> {
        let offset = self.layout.page(place);
        match with_retries(|| self.backing.read_medium_at(data, offset)) {
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
            self.later_places.entry((lpn, version.checksum)).or_default().extend(version.places);
        }
    }

    /// The last of these operations after which every current version is there. Versions that the first of
    /// them or an earlier one wrote were durable: if they are not there, they have rotted.
    pub(crate) fn last_whole(
        &self,
        pages: Pages,
        operations: RangeInclusive<u64>,
    ) -> Result<u64, MediaError> {
        let mut data = vec![0; pages.layout.geometry.page_bytes() as usize];
        let mut missing = Vec::new();
        let current = self.current.iter().map(|(lpn, version)| (lpn, version, u64::MAX));
        let past = self.past.iter().map(|(lpn, version, last)| (lpn, version, *last));
        for (&lpn, version, last) in past.chain(current) {
            // An older version was durable; whether it is still there matters only while it is
            // current.
            if let Some(first) = version.operation
                && first > *operations.start()
                && !self.journaled.contains_key(&(lpn, version.checksum))
                && Self::find(lpn, version, pages, &mut data)?.is_none()
            {
                missing.push((first, last));
            }
        }
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
        let later = self.later_places.get(&(lpn, sum));
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

    /// The current versions that are not in their places, and the number of lost ones. `place_of`
    /// returns where the current version of a page should be, and its checksum.
    pub(crate) fn misplaced(
        mut self,
        pages: Pages,
        place_of: impl Fn(Lpn) -> Option<(Ppn, u32)>,
    ) -> Result<(Vec<Misplaced>, u64), MediaError> {
        let mut data = vec![0; pages.layout.geometry.page_bytes() as usize];
        let mut misplaced = Vec::new();
        let journaled = self.journaled.keys().map(|&(lpn, _)| lpn);
        let lpns: BTreeSet<Lpn> = self.current.keys().copied().chain(journaled).collect();
        for lpn in lpns {
            if let Some((place, checksum)) = place_of(lpn)
                && !pages.read(place, lpn, checksum, &mut data)?
            {
                misplaced.push(Misplaced { lpn, checksum, place, source: Source::None });
            }
        }
        let targets: HashSet<Ppn> = misplaced.iter().map(|page| page.place).collect();
        for page in &mut misplaced {
            page.source = self.source(page, &targets, pages, &mut data)?;
        }
        let all = misplaced.len();
        misplaced.retain(|page| !matches!(page.source, Source::None));
        let lost = (all - misplaced.len()) as u64;
        Ok((misplaced, lost))
    }

    /// The location of a misplaced version; preferably a place to which no other one is to be
    /// copied.
    fn source(
        &mut self,
        page: &Misplaced,
        targets: &HashSet<Ppn>,
        pages: Pages,
        data: &mut [u8],
    ) -> Result<Source, MediaError> {
        if let Some(data) = self.journaled.remove(&(page.lpn, page.checksum)) {
            return Ok(Source::Journal(data));
        }
        let mut source = Source::None;
        for place in self.places(page.lpn, page.checksum) {
            if pages.read(place, page.lpn, page.checksum, data)? {
                if !targets.contains(&place) {
                    return Ok(Source::Place(place));
                }
                source = Source::Endangered(data.into());
            }
        }
        Ok(source)
    }
}

/// A current version that is not in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misplaced {
    pub(crate) lpn: Lpn,
    pub(crate) checksum: u32,
    place: Ppn,
    pub(crate) source: Source,
}

/// The location of a misplaced version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Source {
    /// Lost: it had been durable, so the cause is a rotten page and not a power cut.
    None,
    /// In another place.
    Place(Ppn),
    /// In the journal.
    Journal(Box<[u8]>),
    /// In a place that another version is to be copied to.
    Endangered(Box<[u8]>),
}

impl Misplaced {
    /// Where it belongs.
    pub(crate) fn place(&self) -> Ppn {
        self.place
    }

    /// Its data, unless it is lost.
    pub(crate) fn data(&self, pages: Pages) -> Result<Option<Cow<'_, [u8]>>, MediaError> {
        Ok(match &self.source {
            Source::None => None,
            Source::Journal(data) | Source::Endangered(data) => Some(Cow::Borrowed(data)),
            Source::Place(place) => {
                let mut page = vec![0; pages.layout.geometry.page_bytes() as usize];
                pages.read(*place, self.lpn, self.checksum, &mut page)?;
                Some(Cow::Owned(page))
            }
        })
    }

    /// Copies it to its place; `sequence` is that of the newest version.
    pub(crate) fn put_in_place(&self, pages: Pages, sequence: u64) -> Result<(), MediaError> {
        let Some(data) = self.data(pages)? else { return Ok(()) };
        let owner = Owner { lpn: self.lpn, checksum: self.checksum, sequence };
        let Pages { backing, layout } = pages;
        backing
            .write_at(&owner.encode(), layout.owner(self.place))
            .and_then(|()| backing.write_at(&data, layout.page(self.place)))
            .map_err(|error| MediaError::io("write a flash page", error))
    }
}
