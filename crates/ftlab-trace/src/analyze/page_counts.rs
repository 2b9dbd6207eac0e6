//! How often each page is written.

use rustc_hash::FxHashMap;
use serde::Serialize;

/// Pages per chunk: 4 KiB of counters.
const CHUNK_PAGES: u64 = 1024;
/// Chunks at most: 2^30 pages, 4 GiB of counters, 4 TiB of 4 KiB pages written.
const CHUNKS_MAX: usize = 1 << 20;

/// Writes per page, for addresses anywhere in 64 bits; memory grows with the areas touched.
///
/// Counters stop at 2^32 - 1. A single request may touch far more pages than there is memory for
/// (4 GiB of 512-byte pages and more, in damaged traces): pages beyond 2^30 distinct ones are
/// counted in [`total`](Self::total) only.
#[derive(Debug, Clone, Default)]
pub struct PageCounts {
    /// Chunk number -> place in `chunks`.
    places: FxHashMap<u64, usize>,
    chunks: Vec<Box<[u32; CHUNK_PAGES as usize]>>,
    /// The chunk of the last write, which is often that of the next.
    last: Option<(u64, usize)>,
    total: u64,
}

impl PageCounts {
    /// Counts one write of each of these pages.
    #[inline]
    pub fn add(&mut self, first_page: u64, pages: u64) {
        self.total += pages;
        let end = first_page.saturating_add(pages);
        let mut page = first_page;
        while page < end {
            let offset = (page % CHUNK_PAGES) as usize;
            let run = (CHUNK_PAGES - page % CHUNK_PAGES).min(end - page);
            let Some(place) = self.place(page / CHUNK_PAGES) else { return };
            for count in &mut self.chunks[place][offset..offset + run as usize] {
                *count = count.saturating_add(1);
            }
            page += run;
        }
    }

    #[inline]
    fn place(&mut self, chunk: u64) -> Option<usize> {
        match self.last {
            Some((last, place)) if last == chunk => Some(place),
            _ => self.find(chunk),
        }
    }

    fn find(&mut self, chunk: u64) -> Option<usize> {
        let next = self.chunks.len();
        let place = match self.places.get(&chunk) {
            Some(place) => *place,
            None if next == CHUNKS_MAX => return None,
            None => {
                self.places.insert(chunk, next);
                self.chunks.push(Box::new([0; CHUNK_PAGES as usize]));
                next
            }
        };
        self.last = Some((chunk, place));
        Some(place)
    }

    /// Page writes counted.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Pages written at least once.
    pub fn distinct(&self) -> u64 {
        self.counts().count() as u64
    }

    /// Writes of a page.
    pub fn get(&self, page: u64) -> u32 {
        self.places
            .get(&(page / CHUNK_PAGES))
            .map_or(0, |place| self.chunks[*place][(page % CHUNK_PAGES) as usize])
    }

    /// Writes of every page written at least once, in no useful order.
    pub fn counts(&self) -> impl Iterator<Item = u32> + '_ {
        self.chunks.iter().flat_map(|chunk| chunk.iter().copied()).filter(|count| *count > 0)
    }

    /// Pages with their writes, in ascending order of pages.
    pub fn pages(&self) -> Vec<(u64, u32)> {
        let mut chunks: Vec<_> = self.places.iter().collect();
        chunks.sort_unstable();
        chunks
            .into_iter()
            .flat_map(|(chunk, place)| {
                let first = chunk * CHUNK_PAGES;
                (first..).zip(self.chunks[*place].iter().copied()).filter(|(_, count)| *count > 0)
            })
            .collect()
    }

    /// How unequally the writes are spread over the pages written at all.
    pub fn skew(&self) -> Skew {
        let mut counts: Vec<u32> = self.counts().collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let total: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        let share_of_top = |share: f64| {
            let pages = (counts.len() as f64 * share).floor().max(1.0) as usize;
            let top: u64 = counts.iter().take(pages).map(|count| u64::from(*count)).sum();
            if total == 0 { 0.0 } else { top as f64 / total as f64 }
        };
        Skew {
            top_1_percent: share_of_top(0.01),
            top_10_percent: share_of_top(0.1),
            top_20_percent: share_of_top(0.2),
        }
    }
}

/// Share of the page writes, in 0..=1, that goes to the most-written pages. The percentages are of
/// the pages written at least once, rounded down to whole pages, at least one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Skew {
    /// To the top 1%.
    pub top_1_percent: f64,
    /// To the top 10%.
    pub top_10_percent: f64,
    /// To the top 20%.
    pub top_20_percent: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn counts_equal_a_map(
            runs in prop::collection::vec((0u64..5000, 0u64..3000), 0..30),
            base in prop_oneof![Just(0), Just(u64::MAX - 10_000)],
        ) {
            let mut counts = PageCounts::default();
            let mut map = BTreeMap::<u64, u32>::new();
            for (first, pages) in runs {
                counts.add(base + first, pages);
                for page in base + first..base + first + pages {
                    *map.entry(page).or_default() += 1;
                }
            }
            prop_assert_eq!(counts.pages(), map.iter().map(|(p, c)| (*p, *c)).collect::<Vec<_>>());
            prop_assert_eq!(counts.distinct(), map.len() as u64);
            prop_assert_eq!(counts.total(), map.values().map(|c| u64::from(*c)).sum::<u64>());
        }
    }

    #[test]
    fn skew_is_the_share_of_the_most_written() {
        let mut counts = PageCounts::default();
        counts.add(0, 100);
        for _ in 0..100 {
            counts.add(7, 1);
        }
        let skew = counts.skew();
        assert!((skew.top_1_percent - 101.0 / 200.0).abs() < 1e-12);
        assert!((skew.top_10_percent - 110.0 / 200.0).abs() < 1e-12);
        assert_eq!(counts.get(7), 101);
        assert_eq!(PageCounts::default().skew(), Skew::default());
    }
}
