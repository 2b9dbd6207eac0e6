//! What the generator has to know of a trace before it repeats it: how long it is, and which pages
//! belong together.

use ftlab_trace::Stamp;
use ftlab_trace::pages::{self, PageSink, SECTOR_BYTES, expand};
use ftlab_trace::{Op, OpenOptions, RequestBatch, TraceError, TraceSource, address_range_of, open};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Pages of a unit at most; longer runs are cut.
pub(super) const UNIT_PAGES_MAX: u32 = 16;

/// No unit: a page that is never written.
pub(super) const NONE: u32 = u32::MAX;

/// Pages next to each other, most of whose writes come in the same requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit {
    pub(super) first: u32,
    pub(super) pages: u32,
    /// Whether it is part of a run that is longer than a unit.
    pub(super) is_part: bool,
}

/// Hands out the requests of a trace, from the first to the last.
type Open = dyn Fn() -> Result<Box<dyn TraceSource>, TraceError> + Send + Sync;

/// Where a trace comes from.
#[derive(Clone)]
pub(super) struct Origin {
    /// Its name for messages.
    pub(super) name: String,
    open: Arc<Open>,
}

impl Origin {
    pub(super) fn new(
        name: impl Into<String>,
        open: impl Fn() -> Result<Box<dyn TraceSource>, TraceError> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), open: Arc::new(open) }
    }

    /// The file at `path`, in a format that is recognised, without its times.
    fn of_file(path: &Path, page_bytes: u32) -> Self {
        let (name, path) = (path.display().to_string(), path.to_owned());
        let options = OpenOptions { page_bytes, need_time: false, ..OpenOptions::default() };
        Self::new(name, move || open(&path, &options))
    }
}

impl fmt::Debug for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Origin").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A trace as a whole.
#[derive(Debug)]
pub(super) struct Survey {
    pub(super) origin: Origin,
    page_bytes: u32,
    /// Pages of the drive that the trace is of.
    pub(super) drive_pages: u64,
    /// Requests that are not reads, and those of them that write.
    pub(super) requests: u64,
    pub(super) write_requests: u64,
    /// Whether they name streams.
    pub(super) has_streams: bool,
    /// In the order of their addresses.
    pub(super) units: Vec<Unit>,
    /// The unit of each page; [`NONE`] if it is never written.
    pub(super) unit_of: Vec<u32>,
}

impl Survey {
    /// Opens the trace.
    pub(super) fn open(&self) -> Result<Box<dyn TraceSource>, TraceError> {
        (self.origin.open)()
    }
}

/// Writes of each page, and how many of them are in one request with the next page.
struct Counter {
    page_writes: u64,
    counts: Vec<(u32, u32)>,
}

impl PageSink for Counter {
    fn write(&mut self, first_page: u64, pages: u64) {
        self.page_writes += pages;
        let (first, end) = (first_page as usize, (first_page + pages) as usize);
        if self.counts.len() < end {
            self.counts.resize(end, (0, 0));
        }
        for (writes, joined) in &mut self.counts[first..end] {
            *writes = writes.saturating_add(1);
            *joined = joined.saturating_add(1);
        }
        self.counts[end - 1].1 -= 1;
    }
}

impl Counter {
    /// Whether a page and the next one are mostly written by the same requests.
    fn is_joined(&self, page: usize) -> bool {
        let (writes, joined) = self.counts[page];
        let next = self.counts.get(page + 1).map_or(0, |(writes, _)| *writes);
        2 * u64::from(joined) > u64::from(writes.max(next))
    }

    /// The units, in order.
    fn units(&self) -> Vec<Unit> {
        let mut units = Vec::new();
        let mut first = 0;
        while first < self.counts.len() {
            if self.counts[first].0 == 0 {
                first += 1;
                continue;
            }
            let mut end = first + 1;
            while self.is_joined(end - 1) {
                end += 1;
            }
            let is_part = end - first > UNIT_PAGES_MAX as usize;
            for start in (first..end).step_by(UNIT_PAGES_MAX as usize) {
                let pages = (end - start).min(UNIT_PAGES_MAX as usize) as u32;
                units.push(Unit { first: start as u32, pages, is_part });
            }
            first = end;
        }
        units
    }
}

/// The trace at `path` in pages of `page_bytes`; remembered, because it is asked for again as a run is
/// prepared.
pub(super) fn of(path: &Path, page_bytes: u32) -> Result<Arc<Survey>, TraceError> {
    type Known = (PathBuf, Option<Stamp>, Arc<Survey>);
    static KNOWN: Mutex<Vec<Known>> = Mutex::new(Vec::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let stamp = fs::metadata(path).ok().map(|metadata| Stamp::of(&metadata));
    let is_of = |(known, _, survey): &Known| known == path && survey.page_bytes == page_bytes;
    if let Some((.., survey)) = known().iter().find(|one| is_of(one) && one.1 == stamp) {
        return Ok(Arc::clone(survey));
    }
    let survey = Arc::new(read(Origin::of_file(path, page_bytes), page_bytes)?);
    let mut known = known();
    known.retain(|one| !is_of(one));
    known.push((path.to_owned(), stamp, Arc::clone(&survey)));
    Ok(survey)
}

/// The trace of `origin` in pages of `page_bytes`.
pub(super) fn read(origin: Origin, page_bytes: u32) -> Result<Survey, TraceError> {
    let page_sectors = pages::page_sectors(page_bytes)?;
    let drive_pages = drive_pages(&origin, page_bytes)?;
    if drive_pages >= u64::from(NONE) {
        return Err(TraceError::Unsupported {
            what: format!("{} of a drive of {drive_pages} pages", origin.name),
            remedy: format!(
                "trace-like works with fewer than {NONE}: close its gaps with ftlab convert \
                 --compact, or give larger pages"
            ),
        });
    }
    let mut source = (origin.open)()?;
    let mut batch = RequestBatch::new();
    let mut counter = Counter { page_writes: 0, counts: Vec::new() };
    let (mut requests, mut write_requests, mut has_streams) = (0, 0, false);
    while source.next_batch(&mut batch)? {
        drop_reads(&mut batch);
        requests += batch.len() as u64;
        write_requests += batch.op.iter().filter(|op| **op == Op::Write).count() as u64;
        has_streams |= batch.stream.iter().any(|stream| *stream > 0);
        expand(&batch, page_sectors, &mut counter)?;
    }
    if counter.page_writes == 0 {
        return Err(TraceError::Unsupported {
            what: format!("{}, which has no writes,", origin.name),
            remedy: "give a trace that writes".into(),
        });
    }
    let units = counter.units();
    let mut unit_of = vec![NONE; counter.counts.len()];
    for (number, unit) in (0..).zip(&units) {
        unit_of[unit.first as usize..(unit.first + unit.pages) as usize].fill(number);
    }
    Ok(Survey {
        origin,
        page_bytes,
        drive_pages: drive_pages.max(unit_of.len() as u64),
        requests,
        write_requests,
        has_streams,
        units,
        unit_of,
    })
}

/// Takes the reads out of `batch`.
pub(super) fn drop_reads(batch: &mut RequestBatch) {
    if batch.op.contains(&Op::Read) {
        let kept: Vec<bool> = batch.op.iter().map(|op| *op != Op::Read).collect();
        batch.retain(&kept);
    }
}

/// Pages of the drive, as the trace says, or else up to the highest address.
fn drive_pages(origin: &Origin, page_bytes: u32) -> Result<u64, TraceError> {
    let mut source = (origin.open)()?;
    let bytes = match source.metadata().device_bytes {
        Some(bytes) => bytes,
        None => address_range_of(source.as_mut())?.end_sector.saturating_mul(SECTOR_BYTES),
    };
    Ok(bytes.div_ceil(u64::from(page_bytes)).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(requests: &[(u64, u64)]) -> Vec<(u32, u32, bool)> {
        let mut counter = Counter { page_writes: 0, counts: Vec::new() };
        for (first, pages) in requests {
            counter.write(*first, *pages);
        }
        counter.units().iter().map(|unit| (unit.first, unit.pages, unit.is_part)).collect()
    }

    #[test]
    fn pages_that_requests_write_together_are_a_unit() {
        // A load, and then pages in pairs: the pairs are what belongs together.
        let requests = [(2, 4), (2, 2), (4, 2), (2, 2), (4, 2)];
        assert_eq!(units(&requests), [(2, 2, false), (4, 2, false)]);
        // Neighbours that are written one by one do not, nor does a page with twice the writes.
        assert_eq!(units(&[(0, 1), (1, 1)]), [(0, 1, false), (1, 1, false)]);
        assert_eq!(units(&[(0, 2), (1, 1)]), [(0, 1, false), (1, 1, false)]);
    }

    #[test]
    fn long_runs_are_cut() {
        assert_eq!(units(&[(1, 40)]), [(1, 16, true), (17, 16, true), (33, 8, true)]);
    }
}
