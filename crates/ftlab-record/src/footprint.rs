//! The number of pages written at least once so far.

use ftlab_trace::pages::PageSink;
use rustc_hash::FxHashMap;

const CHUNK_PAGES: u64 = 4096;
type Chunk = Box<[u64; CHUNK_PAGES as usize / 64]>;

/// Page writes, and the pages that they touched: one bit per page of the areas touched.
#[derive(Default)]
pub(crate) struct Footprint {
    chunks: FxHashMap<u64, Chunk>,
    pub(crate) page_writes: u64,
    pub(crate) distinct_pages: u64,
}

impl PageSink for Footprint {
    fn write(&mut self, first_page: u64, pages: u64) {
        self.page_writes += pages;
        for page in first_page..first_page.saturating_add(pages) {
            let chunk = self.chunks.entry(page / CHUNK_PAGES).or_insert_with(|| Box::new([0; _]));
            let word = &mut chunk[(page % CHUNK_PAGES / 64) as usize];
            let bit = 1 << (page % 64);
            self.distinct_pages += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_distinct_once() {
        let mut footprint = Footprint::default();
        footprint.write(4090, 10);
        footprint.write(4095, 1);
        footprint.write(1 << 40, 2);
        assert_eq!((footprint.page_writes, footprint.distinct_pages), (13, 12));
    }
}
