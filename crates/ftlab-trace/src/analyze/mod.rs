//! What is in a trace: what is printed before a run, so that nobody simulates the wrong thing.

mod page_counts;
mod sizes;

pub use page_counts::{PageCounts, Skew};
pub use sizes::{SizeBucket, SizeSummary, Sizes};

use crate::pages::{self, PageSink, SECTOR_BYTES};
use crate::{AddressRange, Op, RequestBatch, Skipped, TraceError, TraceSource};
use serde::Serialize;

/// A trace in numbers. Pages are of `page_bytes`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// The format with its parameters.
    pub format: String,
    /// The page size of the numbers below.
    pub page_bytes: u32,
    /// Requests by operation.
    pub requests: Operations,
    /// Bytes by operation, as the requests say (flushes have none).
    pub bytes: Operations,
    /// Pages that the writes touch; a page written in part counts as one.
    pub page_writes: u64,
    /// Pages that the trims cover whole.
    pub page_trims: u64,
    /// Write requests that do not begin and end at page borders.
    pub unaligned_writes: u64,
    /// Pages written at least once.
    pub distinct_pages: u64,
    /// How unequally the page writes are spread over the pages written at all.
    pub skew: Skew,
    /// Sizes of the write requests.
    pub write_sizes: SizeSummary,
    /// The addresses that are used.
    pub addresses: AddressRange,
    /// Size of the drive, where the trace says so.
    pub device_bytes: Option<u64>,
    /// Times of the earliest and the latest request, in microseconds, where there are times.
    pub time_us: Option<(u64, u64)>,
    /// What was passed over, and why.
    pub skipped: Skipped,
}

impl Inspection {
    /// Bytes of a drive for this trace: what the trace says, or else what its addresses need.
    pub fn drive_bytes(&self) -> Option<u64> {
        self.device_bytes.or_else(|| self.addresses.device_bytes())
    }
}

/// One number per operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Operations {
    /// Of writes.
    pub write: u64,
    /// Of trims.
    pub trim: u64,
    /// Of flushes.
    pub flush: u64,
    /// Of reads.
    pub read: u64,
}

impl Operations {
    fn from_array([write, trim, flush, read]: [u64; 4]) -> Self {
        Self { write, trim, flush, read }
    }

    /// All together.
    pub fn total(&self) -> u64 {
        self.write + self.trim + self.flush + self.read
    }
}

/// Reads `source` to its end and counts; memory grows with the pages written (4 bytes each), not
/// with the length of the trace. Do not pass a generator, which has no end.
pub fn inspect(source: &mut dyn TraceSource, page_bytes: u32) -> Result<Inspection, TraceError> {
    let mut inspector = Inspector::new(page_bytes)?;
    let mut batch = RequestBatch::new();
    while source.next_batch(&mut batch)? {
        inspector.update(&batch)?;
    }
    Ok(inspector.finish(source))
}

/// [`inspect`] one batch at a time, for callers that use the batches otherwise too.
pub struct Inspector {
    page_bytes: u32,
    page_sectors: u32,
    requests: [u64; 4],
    sectors: [u64; 4],
    unaligned_writes: u64,
    counter: PageCounter,
    sizes: Sizes,
    addresses: AddressRange,
    time_us: Option<(u64, u64)>,
}

#[derive(Default)]
struct PageCounter {
    writes: PageCounts,
    page_trims: u64,
}

impl PageSink for PageCounter {
    fn write(&mut self, first_page: u64, pages: u64) {
        self.writes.add(first_page, pages);
    }

    fn trim(&mut self, _first_page: u64, pages: u64) {
        self.page_trims += pages;
    }
}

impl Inspector {
    /// Counts pages of `page_bytes`, a multiple of 512.
    pub fn new(page_bytes: u32) -> Result<Self, TraceError> {
        Ok(Self {
            page_bytes,
            page_sectors: pages::page_sectors(page_bytes)?,
            requests: [0; 4],
            sectors: [0; 4],
            unaligned_writes: 0,
            counter: PageCounter::default(),
            sizes: Sizes::default(),
            addresses: AddressRange::default(),
            time_us: None,
        })
    }

    /// Counts the requests of a batch.
    pub fn update(&mut self, batch: &RequestBatch) -> Result<(), TraceError> {
        let page_sectors = u64::from(self.page_sectors);
        self.addresses.update(batch)?;
        for (op, lba, sectors) in batch.iter() {
            let sectors = if op == Op::Flush { 0 } else { u64::from(sectors) };
            self.requests[op as usize] += 1;
            self.sectors[op as usize] += sectors;
            if op == Op::Write {
                let aligned =
                    lba.is_multiple_of(page_sectors) && sectors.is_multiple_of(page_sectors);
                self.unaligned_writes += u64::from(!aligned);
                self.sizes.add(sectors * SECTOR_BYTES);
            }
        }
        if let (Some(low), Some(high)) = (batch.time_us.iter().min(), batch.time_us.iter().max()) {
            let (first, last) = self.time_us.unwrap_or((*low, *high));
            self.time_us = Some((first.min(*low), last.max(*high)));
        }
        pages::expand(batch, self.page_sectors, &mut self.counter)
    }

    /// The numbers; format, drive size and skipped lines are those of `source`.
    pub fn finish(self, source: &dyn TraceSource) -> Inspection {
        let metadata = source.metadata();
        Inspection {
            format: metadata.format.clone(),
            page_bytes: self.page_bytes,
            requests: Operations::from_array(self.requests),
            bytes: Operations::from_array(self.sectors.map(|n| n.saturating_mul(SECTOR_BYTES))),
            page_writes: self.counter.writes.total(),
            page_trims: self.counter.page_trims,
            unaligned_writes: self.unaligned_writes,
            distinct_pages: self.counter.writes.distinct(),
            skew: self.counter.writes.skew(),
            write_sizes: self.sizes.summary(),
            addresses: self.addresses,
            device_bytes: metadata.device_bytes,
            time_us: self.time_us,
            skipped: source.skipped().clone(),
        }
    }
}
