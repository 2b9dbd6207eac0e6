//! What is in a volume, from one pass over its requests.

use ftlab_analysis::{
    Analysis, Extent, Intervals, PageTable, Request, RequestCounter, SequentialCounter,
    WriteCounts, analyze,
};
use ftlab_trace::{Op, TraceError, TraceSource, pages::SECTOR_BYTES};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// What is in a volume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Bytes of the writes, the trims and the reads.
    pub written_bytes: u64,
    /// Bytes of the trims.
    pub trimmed_bytes: u64,
    /// Bytes of the reads.
    pub read_bytes: u64,
    /// Pages that the writes touch, counted each time.
    pub page_writes: u64,
    /// Pages written at least once.
    pub footprint_pages: u64,
    /// Pages written or read at least once.
    pub working_set_pages: u64,
    /// Pages written more than once.
    pub updated_pages: u64,
    /// The share of the page writes that goes to 1% of the pages written.
    pub top_1_percent: f64,
    /// To 10%.
    pub top_10_percent: f64,
    /// To 20%.
    pub top_20_percent: f64,
    /// The share of the write requests that continue one of the last 64.
    pub sequential: f64,
    /// The median number of page writes from one write of a page to the next; none if no page is written twice.
    pub update_interval: Option<u64>,
}

/// How far the requests of a volume reach, as far as it bounds the memory that looking at them takes.
#[derive(Debug, Clone, Copy)]
pub struct Reach {
    /// Requests by operation: writes, trims, flushes, reads.
    pub requests: [u64; 4],
    /// Sectors of these requests.
    pub sectors: [u64; 4],
    /// One past the highest sector.
    pub end_sector: u64,
}

impl Facts {
    /// Looks at all requests of a volume. Histories of pages may take `memory_bytes_max`.
    pub fn of(
        source: &mut dyn TraceSource,
        page_bytes: u32,
        memory_bytes_max: u64,
    ) -> Result<Self, TraceError> {
        let extent = Extent { page_bytes, memory_bytes_max, ..Extent::default() };
        let page_sectors = u64::from(page_bytes) / SECTOR_BYTES;
        let analyses = (
            RequestCounter::new(page_bytes)?,
            Touched::new(page_sectors),
            SequentialCounter::default(),
            Intervals::default(),
        );
        let ((requests, touched, sequential, intervals), table) =
            analyze(source, &extent, analyses)?;
        let counts = WriteCounts::of(&table);
        let skew = counts.skew();
        let distinct = table.counts().distinct_pages;
        Ok(Self {
            written_bytes: requests.bytes.write,
            trimmed_bytes: requests.bytes.trim,
            read_bytes: requests.bytes.read,
            page_writes: table.counts().page_writes,
            footprint_pages: distinct,
            working_set_pages: touched,
            updated_pages: distinct - counts.updates().once_pages,
            top_1_percent: skew.top_1_percent,
            top_10_percent: skew.top_10_percent,
            top_20_percent: skew.top_20_percent,
            sequential: sequential.recent.requests,
            update_interval: (intervals.count() > 0).then(|| intervals.quantile(0.5)),
        })
    }
}

impl Reach {
    /// Bytes that looking at a volume takes at most: histories of the pages that are written, and a bit for each page that
    /// is written or read, both for many pages at a time.
    pub fn bytes_max(&self, page_bytes: u32) -> [u64; 2] {
        const CHUNK_PAGES: u64 = 256;
        /// A chunk and its place.
        const CHUNK_BYTES: u64 = CHUNK_PAGES * PageTable::BYTES_PER_PAGE + 128;
        /// A piece and its place in a table that has just grown.
        const PIECE_BYTES: u64 = 8 * PIECE_WORDS as u64 + 96;
        let page_sectors = (u64::from(page_bytes) / SECTOR_BYTES).max(1);
        let pages = self.end_sector.div_ceil(page_sectors);
        let touched = |op: Op, of_pages: u64| {
            let [requests, sectors] = [self.requests, self.sectors].map(|of| of[op as usize]);
            (sectors / (of_pages * page_sectors)).saturating_add(requests.saturating_mul(2))
        };
        let chunks = touched(Op::Write, CHUNK_PAGES).min(pages.div_ceil(CHUNK_PAGES)) + 16;
        let pieces = touched(Op::Write, PIECE_PAGES).saturating_add(touched(Op::Read, PIECE_PAGES));
        let pieces = pieces.min(pages.div_ceil(PIECE_PAGES)) + 16;
        [chunks.saturating_mul(CHUNK_BYTES), pieces.saturating_mul(PIECE_BYTES)]
    }
}

/// Counts the pages that are written or read.
struct Touched {
    page_sectors: u64,
    /// Bits of [`PIECE_PAGES`] pages.
    pieces: FxHashMap<u64, Box<[u64; PIECE_WORDS]>>,
    pages: u64,
}

const PIECE_WORDS: usize = 64;
const PIECE_PAGES: u64 = 64 * PIECE_WORDS as u64;

impl Touched {
    fn new(page_sectors: u64) -> Self {
        Self { page_sectors: page_sectors.max(1), pieces: FxHashMap::default(), pages: 0 }
    }
}

impl Analysis for Touched {
    type Report = u64;

    fn request(&mut self, request: &Request) {
        if !matches!(request.op, Op::Write | Op::Read) || request.sectors == 0 {
            return;
        }
        let last = request.lba.saturating_add(u64::from(request.sectors) - 1);
        for page in request.lba / self.page_sectors..=last / self.page_sectors {
            let piece = self.pieces.entry(page / PIECE_PAGES);
            let piece = piece.or_insert_with(|| Box::new([0; PIECE_WORDS]));
            let place = page % PIECE_PAGES;
            let (word, bit) = (&mut piece[(place / 64) as usize], 1 << (place % 64));
            self.pages += u64::from(*word & bit == 0);
            *word |= bit;
        }
    }

    fn finish(self) -> u64 {
        self.pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_count_towards_memory_and_few_requests_need_little() {
        let of = |requests, sectors| Reach { requests, sectors, end_sector: 1 << 40 };
        let [histories, touched] = of([1, 0, 0, 0], [8, 0, 0, 0]).bytes_max(4096);
        assert!(histories < 100_000 && touched < 100_000, "{histories} {touched}");
        // A terabyte is read: 2^28 pages, a bit each.
        let [histories, touched] = of([1, 0, 0, 1], [8, 0, 0, 1 << 31]).bytes_max(4096);
        assert!(histories < 100_000 && touched > 1 << 25, "{histories} {touched}");
    }

    #[test]
    fn pages_that_are_touched_count_once() {
        let mut touched = Touched::new(8);
        let request = |op, lba, sectors| Request { op, lba, sectors, time_us: None, stream: None };
        for one in [
            request(Op::Write, 0, 8),
            request(Op::Read, 7, 2),
            request(Op::Trim, 800, 8),
            request(Op::Write, 1 << 40, 17),
            request(Op::Read, 4, 0),
        ] {
            touched.request(&one);
        }
        assert_eq!(touched.finish(), 5);
    }
}
