//! Models of translation pages: a few lines through the places of their pages, and a bit for each page that they tell.
//!
//! # Rule
//! The model of a translation page has pieces, each from its first page on to the next one: a line, which tells flash
//! pages. A page has its bit if the line of its piece tells its place exactly; only then is the model asked.
//!
//! *Training* takes the places of all pages of a translation page, in order of addresses, and cuts them into the longest
//! runs that a line meets exactly. The longest runs become pieces, as many as there may be. All others have no bit. If they
//! tell no more pages than the model does as it is, that stays.
//!
//! A page that is written or moved loses its bit. Pages that the host writes one after the other, in order of addresses
//! and of places, are a run without training. It takes the place of what other pieces say of its pages; pieces on both
//! sides stay. If that makes too many, those that tell fewest pages go; if it is the run itself, all stays as it was.

use crate::ensure::ensure;
use crate::map::contract::Places;
use crate::map::learned::{ONE, line, within};
use crate::state::state;
use ftlab_flash::{Lpn, Ppn};
use std::ops::Range;

/// Bytes of a piece: a page, a slope, and a flash page.
const PIECE_BYTES: u32 = 8;

/// Bytes of memory that a model takes.
pub(super) fn bytes(pieces: u32, entries_per_page: u32) -> u32 {
    PIECE_BYTES * pieces + entries_per_page.div_ceil(8)
}

/// A line from a page on.
#[derive(Debug, Clone, Copy)]
struct Piece {
    first: u32,
    /// The page from which the slope counts, and its flash page.
    from: u32,
    base: u32,
    slope: u16,
}

state!(Piece { first, from, base, slope } blank Self { first: 0, from: 0, base: 0, slope: 0 });

impl Piece {
    /// Where it says that a page is.
    fn place(&self, page: u32) -> i64 {
        let by = i64::from(page) - i64::from(self.from);
        i64::from(self.base) + line(i64::from(self.slope), by)
    }
}

/// The pieces of a translation page, in order.
#[derive(Debug, Clone, Default)]
struct Model {
    pieces: Vec<Piece>,
}

state!(Model { pieces } blank Self::default());

/// Pages that the host wrote one after the other.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    last: u32,
    /// Where the last one is.
    place: u32,
}

state!(Run { first, last, place } blank Self { first: 0, last: 0, place: 0 });

/// The models of a drive.
pub(super) struct Models {
    most: usize,
    host_pages: u32,
    entries_per_page: u32,
    /// By translation page.
    of_page: Vec<Model>,
    /// A bit for each page.
    told: Vec<u64>,
    told_pages: u64,
    pieces: u64,
    run: Option<Run>,
    /// Kept for its memory.
    points: Vec<(u32, u32)>,
}

state!(Models { of_page, told, told_pages, pieces, run }
    constant most, host_pages, entries_per_page, points);

impl Models {
    /// Models of up to `pieces` pieces.
    pub(super) fn new(pieces: u32, host_pages: u32, entries_per_page: u32) -> Self {
        let map_pages = host_pages.div_ceil(entries_per_page);
        Self {
            most: pieces as usize,
            host_pages,
            entries_per_page,
            of_page: vec![Model::default(); map_pages as usize],
            told: vec![0; host_pages.div_ceil(64) as usize],
            told_pages: 0,
            pieces: 0,
            run: None,
            points: Vec::new(),
        }
    }

    /// Whether the place of a page is told.
    pub(super) fn tell(&self, page: Lpn) -> bool {
        self.told[page.index() / 64] >> (page.0 % 64) & 1 == 1
    }

    /// Where a page is, if that is told.
    pub(super) fn place(&self, page: Lpn) -> Option<Ppn> {
        let pieces = &self.of_page[(page.0 / self.entries_per_page) as usize].pieces;
        let after = pieces.partition_point(|piece| piece.first <= page.0);
        let piece = pieces[..after].last().filter(|_| self.tell(page))?;
        u32::try_from(piece.place(page.0)).ok().map(Ppn)
    }

    /// A page is elsewhere.
    pub(super) fn forget(&mut self, page: Lpn) {
        self.run = self.run.filter(|run| !(run.first..=run.last).contains(&page.0));
        self.set(page.0, false);
    }

    fn set(&mut self, page: u32, is_told: bool) {
        let (word, bit) = (&mut self.told[page as usize / 64], 1 << (page % 64));
        let was_told = *word & bit != 0;
        *word = if is_told { *word | bit } else { *word & !bit };
        self.told_pages = self.told_pages + u64::from(is_told) - u64::from(was_told);
    }

    /// Pages that are told of some.
    fn count(&self, pages: Range<u32>) -> u32 {
        let mut count = 0;
        let mut page = pages.start;
        while page < pages.end {
            let end = (page / 64 + 1).saturating_mul(64).min(pages.end);
            let of_word = self.told[page as usize / 64] >> (page % 64);
            count += (of_word & (u64::MAX >> (64 - (end - page)))).count_ones();
            page = end;
        }
        count
    }

    /// The pages of a translation page.
    fn pages(&self, map_page: u32) -> Range<u32> {
        let first = map_page * self.entries_per_page;
        first..first.saturating_add(self.entries_per_page).min(self.host_pages)
    }

    /// Trains the model of a translation page.
    pub(super) fn train(&mut self, map_page: u32, places: &Places<'_>) {
        let pages = self.pages(map_page);
        let mut points = std::mem::take(&mut self.points);
        points.clear();
        points.extend(
            pages.clone().filter_map(|page| places(Lpn(page)).map(|place| (page, place.0))),
        );
        let mut runs = Vec::new();
        let mut start = 0;
        while start < points.len() {
            let (taken, slope) = within(&points[start..], 0);
            runs.push((start, taken, slope as u16));
            start += taken;
        }
        runs.sort_by_key(|(_, taken, _)| std::cmp::Reverse(*taken));
        runs.truncate(self.most);
        runs.sort_unstable_by_key(|(start, ..)| *start);
        let told: usize = runs.iter().map(|(_, taken, _)| *taken).sum();
        if told <= self.count(pages.clone()) as usize {
            self.points = points;
            return;
        }
        for page in pages {
            self.set(page, false);
        }
        let mut pieces = Vec::with_capacity(runs.len());
        for (start, taken, slope) in runs {
            let (first, base) = points[start];
            pieces.push(Piece { first, from: first, base, slope });
            for (page, _) in &points[start..start + taken] {
                self.set(*page, true);
            }
        }
        self.replace(map_page, pieces);
        self.points = points;
    }

    fn replace(&mut self, map_page: u32, pieces: Vec<Piece>) {
        let old = &mut self.of_page[map_page as usize].pieces;
        self.pieces = self.pieces + pieces.len() as u64 - old.len() as u64;
        *old = pieces;
    }

    /// The host wrote a page, which is at `place` now.
    pub(super) fn wrote(&mut self, page: Lpn, place: Ppn) {
        let (page, place) = (page.0, place.0);
        let follows = |run: &&mut Run| {
            (run.last.checked_add(1), run.place.checked_add(1)) == (Some(page), Some(place))
                && !page.is_multiple_of(self.entries_per_page)
        };
        match self.run.as_mut().filter(follows) {
            None => self.run = Some(Run { first: page, last: page, place }),
            Some(run) => {
                (run.last, run.place) = (page, place);
                let run = *run;
                self.insert(run);
            }
        }
    }

    /// A run becomes a piece, if it tells more than what goes.
    fn insert(&mut self, Run { first, last, place }: Run) {
        let map_page = first / self.entries_per_page;
        let pages = self.pages(map_page);
        let old = &self.of_page[map_page as usize].pieces;
        // Pieces, and the pages that they tell; the run is one of them.
        let mut pieces: Vec<(Piece, Range<u32>, u32)> = Vec::with_capacity(old.len() + 2);
        for (index, piece) in old.iter().enumerate() {
            let end = old.get(index + 1).map_or(pages.end, |next| next.first);
            for part in [piece.first..end.min(first), piece.first.max(last + 1)..end] {
                let count = self.count(part.clone());
                if count > 0 {
                    pieces.push((Piece { first: part.start, ..*piece }, part, count));
                }
            }
        }
        let at = pieces.partition_point(|(piece, ..)| piece.first < first);
        let base = place - (last - first);
        let run = Piece { first, from: first, base, slope: ONE as u16 };
        pieces.insert(at, (run, first..last + 1, last + 1 - first));
        let mut gone = Vec::new();
        while pieces.len() > self.most {
            let fewest = |(_, (piece, _, count)): &(usize, &(Piece, Range<u32>, u32))| {
                (*count, piece.first != first, piece.first)
            };
            let least = pieces.iter().enumerate().min_by_key(fewest).map(|(index, _)| index);
            let (piece, part, _) = pieces.remove(least.unwrap_or(0));
            if piece.first == first {
                return;
            }
            gone.push(part);
        }
        for page in gone.into_iter().flatten() {
            self.set(page, false);
        }
        let are_told = self.count(first..last) == last - first;
        for page in if are_told { last } else { first }..=last {
            self.set(page, true);
        }
        self.replace(map_page, pieces.into_iter().map(|(piece, ..)| piece).collect());
    }

    /// Pieces of all models.
    pub(super) fn pieces(&self) -> u64 {
        self.pieces
    }

    /// Pages that are told.
    pub(super) fn told_pages(&self) -> u64 {
        self.told_pages
    }

    /// Bytes of memory that its simulation takes.
    pub(super) fn memory_bytes(&self) -> usize {
        let pieces: usize = self.of_page.iter().map(|model| model.pieces.capacity()).sum();
        pieces * size_of::<Piece>()
            + size_of_val(&self.of_page[..])
            + size_of_val(&self.told[..])
            + self.points.capacity() * size_of::<(u32, u32)>()
    }

    /// Verifies that pieces are in order, within their translation page, and as many as there may be.
    pub(super) fn check(&self) -> Result<(), String> {
        let mut all = 0;
        for (map_page, Model { pieces }) in (0..).zip(&self.of_page) {
            let pages = self.pages(map_page);
            ensure!(pieces.len() <= self.most, "page {map_page} has {} pieces", pieces.len());
            ensure!(
                pieces.is_sorted_by(|a, b| a.first < b.first),
                "pieces of page {map_page} are not in order"
            );
            for piece in pieces {
                ensure!(pages.contains(&piece.first), "{piece:?} is not of page {map_page}");
            }
            let told = pieces.first().map_or(0, |piece| self.count(piece.first..pages.end));
            ensure!(told == self.count(pages), "page {map_page} tells a page without a piece");
            all += pieces.len() as u64;
        }
        let told: u64 = self.told.iter().map(|word| u64::from(word.count_ones())).sum();
        ensure!((all, told) == (self.pieces, self.told_pages), "{all} pieces tell {told} pages");
        Ok(())
    }
}
