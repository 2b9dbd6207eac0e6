//! What is kept of every page: how often it was written, when first and when last.

use rustc_hash::FxHashMap;
use std::hint::black_box;

/// Pages per chunk: 4 KiB of histories, 1 MiB of 4 KiB pages.
const CHUNK_PAGES: u64 = 256;

/// The history of every page that was written, at addresses anywhere in 64 bits.
///
/// It takes [`BYTES_PER_PAGE`](Self::BYTES_PER_PAGE) bytes for each page of the areas that are
/// touched, which are 256 pages each. Time is the number of page writes so far.
#[derive(Debug)]
pub struct PageTable {
    /// Chunk number -> place in `chunks`.
    places: FxHashMap<u64, u32>,
    chunks: Vec<Box<Chunk>>,
    /// The chunk of the last write, which is often that of the next.
    last: (u64, u32),
    chunks_max: usize,
    counts: Counts,
    /// Where the pages of the present block are.
    slots: Vec<Slot>,
}

/// A place in `chunks`, and one in the chunk.
type Slot = (u32, u8);

type Chunk = [History; CHUNK_PAGES as usize];

/// Running totals of a [`PageTable`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Writes of any page, first and later ones.
    pub page_writes: u64,
    /// Pages written at least once.
    pub distinct_pages: u64,
    /// Pages that hold data: written, in the part or before it, and not trimmed since.
    pub holding_pages: u64,
    /// Pages written before the part that is looked at began.
    pub earlier_pages: u64,
}

/// A page is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageWrite {
    /// Its number.
    pub page: u64,
    /// Page writes before this one.
    pub index: u64,
    /// The index of the last write of this page, if there was one.
    pub previous: Option<u64>,
    /// [`Counts::distinct_pages`], this write included.
    pub distinct_pages: u64,
    /// [`Counts::holding_pages`], this write included.
    pub holding_pages: u64,
}

impl PageWrite {
    /// The write interval: how many page writes later than the last one of this page it comes; 1 if
    /// there was no other write in between.
    #[inline]
    pub fn interval(&self) -> Option<u64> {
        self.previous.map(|previous| self.index - previous)
    }
}

/// A page as it was written in the part that is looked at; indexes count page writes from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageSummary {
    /// How often; 0 for a page that was written before the part only. Stops at 2^32 - 1.
    pub writes: u32,
    /// Index of the first write; 0 without writes.
    pub first: u64,
    /// Index of the last write; 0 without writes.
    pub last: u64,
    /// Whether it was written before the part.
    pub is_earlier: bool,
}

impl PageSummary {
    /// The mean write interval, for pages written more than once.
    pub fn mean_interval(&self) -> Option<f64> {
        (self.writes > 1).then(|| (self.last - self.first) as f64 / f64::from(self.writes - 1))
    }
}

/// There is no memory for another page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Full;

/// 16 bytes: a count, two indexes of 48 and 46 bits (2^46 writes of 4 KiB are 256 PiB), two flags.
#[derive(Debug, Clone, Copy, Default)]
struct History {
    writes: u32,
    first_low: u32,
    last_low: u32,
    last_high: u16,
    /// The upper bits of the first index, and the flags.
    first_high: u16,
}

/// The page holds data.
const HOLDS: u16 = 1 << 15;
/// The page was written before the part that is looked at.
const EARLIER: u16 = 1 << 14;

impl History {
    #[inline]
    fn first(self) -> u64 {
        u64::from(self.first_high & !(HOLDS | EARLIER)) << 32 | u64::from(self.first_low)
    }

    #[inline]
    fn last(self) -> u64 {
        u64::from(self.last_high) << 32 | u64::from(self.last_low)
    }

    fn is(self, flag: u16) -> bool {
        self.first_high & flag != 0
    }

    /// Sets a flag; whether it was not set before.
    #[inline]
    fn set(&mut self, flag: u16) -> bool {
        let is_new = self.first_high & flag == 0;
        self.first_high |= flag;
        is_new
    }

    /// Notes a write; the index of the one before.
    #[inline]
    fn write(&mut self, index: u64) -> Option<u64> {
        let previous = (self.writes > 0).then(|| self.last());
        if previous.is_none() {
            self.first_low = index as u32;
            self.first_high |= (index >> 32) as u16 & !(HOLDS | EARLIER);
        }
        self.last_low = index as u32;
        self.last_high = (index >> 32) as u16;
        self.writes = self.writes.saturating_add(1);
        previous
    }

    fn summary(self) -> PageSummary {
        let Self { writes, .. } = self;
        PageSummary { writes, first: self.first(), last: self.last(), is_earlier: self.is(EARLIER) }
    }
}

impl PageTable {
    /// Bytes that a page takes.
    pub const BYTES_PER_PAGE: u64 = size_of::<History>() as u64;

    /// A table that takes at most about `bytes_max` of memory.
    pub(crate) fn new(bytes_max: u64) -> Self {
        let chunks_max = (bytes_max / (CHUNK_PAGES * Self::BYTES_PER_PAGE)).min(1 << 32);
        Self {
            places: FxHashMap::default(),
            chunks: Vec::new(),
            last: (u64::MAX, 0),
            chunks_max: chunks_max as usize,
            counts: Counts::default(),
            slots: Vec::new(),
        }
    }

    /// Totals so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Notes a write of each of these pages, and appends them to `writes`.
    ///
    /// Histories lie far apart, so finding, reading and changing them are loops of their own: the
    /// second is so short that the processor waits for many of them at once, and the third has them
    /// in its cache.
    pub(crate) fn write(&mut self, pages: &[u64], writes: &mut Vec<PageWrite>) -> Result<(), Full> {
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        for page in pages {
            slots.push(self.slot(*page)?);
        }
        let read = slots.iter().fold(0, |read, (place, offset)| {
            read ^ self.chunks[*place as usize][usize::from(*offset)].writes
        });
        black_box(read);
        let Counts { mut page_writes, mut distinct_pages, mut holding_pages, .. } = self.counts;
        writes.extend(pages.iter().zip(&slots).map(|(page, (place, offset))| {
            let history = &mut self.chunks[*place as usize][usize::from(*offset)];
            let index = page_writes;
            page_writes += 1;
            holding_pages += u64::from(history.set(HOLDS));
            let previous = history.write(index);
            distinct_pages += u64::from(previous.is_none());
            PageWrite { page: *page, index, previous, distinct_pages, holding_pages }
        }));
        self.counts = Counts { page_writes, distinct_pages, holding_pages, ..self.counts };
        self.slots = slots;
        Ok(())
    }

    /// Notes that this page was written before the part that is looked at.
    pub(crate) fn write_earlier(&mut self, page: u64) -> Result<(), Full> {
        let (place, offset) = self.slot(page)?;
        let history = &mut self.chunks[place as usize][usize::from(offset)];
        self.counts.earlier_pages += u64::from(history.set(EARLIER));
        self.counts.holding_pages += u64::from(history.set(HOLDS));
        Ok(())
    }

    /// Notes that these pages hold no data any more.
    pub(crate) fn trim(&mut self, first_page: u64, pages: u64) {
        let mut page = first_page;
        let mut left = pages;
        while left > 0 {
            let run = (CHUNK_PAGES - page % CHUNK_PAGES).min(left);
            if let Some(place) = self.places.get(&(page / CHUNK_PAGES)) {
                let offset = (page % CHUNK_PAGES) as usize;
                let chunk = &mut self.chunks[*place as usize];
                for history in &mut chunk[offset..offset + run as usize] {
                    self.counts.holding_pages -= u64::from(history.is(HOLDS));
                    history.first_high &= !HOLDS;
                }
            }
            left -= run;
            page = page.wrapping_add(run);
        }
    }

    #[inline]
    fn slot(&mut self, page: u64) -> Result<Slot, Full> {
        let chunk = page / CHUNK_PAGES;
        let place = if self.last.0 == chunk { self.last.1 } else { self.find(chunk)? };
        Ok((place, (page % CHUNK_PAGES) as u8))
    }

    #[inline]
    fn find(&mut self, chunk: u64) -> Result<u32, Full> {
        let place = match self.places.get(&chunk) {
            Some(place) => *place,
            None => self.add(chunk)?,
        };
        self.last = (chunk, place);
        Ok(place)
    }

    #[cold]
    fn add(&mut self, chunk: u64) -> Result<u32, Full> {
        if self.chunks.len() >= self.chunks_max {
            return Err(Full);
        }
        let place = self.chunks.len() as u32;
        self.places.insert(chunk, place);
        self.chunks.push(Box::new([History::default(); CHUNK_PAGES as usize]));
        Ok(place)
    }

    /// Every page that was written, in the part or before it, in no useful order.
    pub fn pages(&self) -> impl Iterator<Item = PageSummary> + '_ {
        let histories = self.chunks.iter().flat_map(|chunk| chunk.iter());
        histories
            .filter(|history| history.writes > 0 || history.is(EARLIER))
            .map(|history| history.summary())
    }
}

#[cfg(test)]
impl PageTable {
    /// A table of these page writes, which `analysis` has seen.
    pub(super) fn observed_by(
        analysis: &mut impl super::Analysis,
        pages: impl IntoIterator<Item = u64>,
    ) -> Self {
        let mut table = Self::new(1 << 30);
        let pages: Vec<_> = pages.into_iter().collect();
        let mut writes = Vec::new();
        // Blocks of any length are the same.
        for (block, length) in pages.chunks(100).zip([1, 99, 50].into_iter().cycle()) {
            for block in block.chunks(length) {
                writes.clear();
                table.write(block, &mut writes).unwrap();
                analysis.page_writes(&writes);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    #[derive(Default)]
    struct Naive {
        writes: BTreeMap<u64, Vec<u64>>,
        holding: BTreeSet<u64>,
        earlier: BTreeSet<u64>,
        clock: u64,
    }

    proptest! {
        #[test]
        fn histories_equal_lists_of_all_writes(
            runs in prop::collection::vec((0u8..4, 0u64..3000, 1u64..700), 0..40),
            earlier in 0usize..10,
            base in prop_oneof![Just(0), Just(u64::MAX - 4000)],
        ) {
            let mut table = PageTable::new(1 << 30);
            let mut naive = Naive::default();
            for (number, (op, first, pages)) in runs.into_iter().enumerate() {
                let run = base + first..base + first + pages;
                if op == 0 {
                    table.trim(base + first, pages);
                    run.for_each(|page| { naive.holding.remove(&page); });
                } else if number < earlier {
                    for page in run {
                        table.write_earlier(page).unwrap();
                        naive.earlier.insert(page);
                        naive.holding.insert(page);
                    }
                } else {
                    let mut visited = Vec::new();
                    table.write(&run.clone().collect::<Vec<_>>(), &mut visited).unwrap();
                    for (page, write) in run.zip(visited) {
                        let all = naive.writes.entry(page).or_default();
                        prop_assert_eq!((write.page, write.index), (page, naive.clock));
                        prop_assert_eq!(write.previous, all.last().copied());
                        all.push(naive.clock);
                        naive.clock += 1;
                        naive.holding.insert(page);
                    }
                }
            }
            let counts = table.counts();
            prop_assert_eq!(counts.page_writes, naive.clock);
            prop_assert_eq!(counts.distinct_pages, naive.writes.len() as u64);
            prop_assert_eq!(counts.holding_pages, naive.holding.len() as u64);
            prop_assert_eq!(counts.earlier_pages, naive.earlier.len() as u64);
            let found: u64 = table.pages().map(|page| u64::from(page.writes)).sum();
            prop_assert_eq!(found, naive.clock);
            let mut firsts: Vec<_> = table.pages().filter(|page| page.writes > 0)
                .map(|page| (page.first, page.last, page.writes as usize)).collect();
            firsts.sort_unstable();
            let mut expected: Vec<_> =
                naive.writes.values().map(|all| (all[0], all[all.len() - 1], all.len())).collect();
            expected.sort_unstable();
            prop_assert_eq!(firsts, expected);
        }
    }

    #[test]
    fn indexes_have_room_for_petabytes() {
        let mut history = History::default();
        history.set(EARLIER);
        let far = (1 << 46) - 1;
        assert_eq!(history.write(far - 5), None);
        assert_eq!(history.write(far), Some(far - 5));
        let page = history.summary();
        assert_eq!((page.first, page.last, page.writes), (far - 5, far, 2));
        assert!(page.is_earlier && !history.is(HOLDS));
        assert_eq!(page.mean_interval(), Some(5.0));
        assert_eq!(PageTable::BYTES_PER_PAGE, 16);
    }

    #[test]
    fn a_full_table_says_so() {
        let mut table = PageTable::new(3 * 4096);
        let pages: Vec<_> = (0..3 * CHUNK_PAGES).collect();
        table.write(&pages, &mut Vec::new()).unwrap();
        assert_eq!(table.write(&[1 << 40], &mut Vec::new()), Err(Full));
        let mut writes = Vec::new();
        table.write(&[5], &mut writes).unwrap();
        assert_eq!(writes[0].interval(), Some(3 * CHUNK_PAGES - 5));
    }
}
