//! Turns requests into batches of page writes, cut where the schedule says.

use crate::SimError;
use crate::schedule::{Marks, Schedule};
use ftlab_flash::Lpn;
use ftlab_ftl::PageBatch;
use ftlab_trace::pages::{PageSink, expand, page_sectors};
use ftlab_trace::{Op, RequestBatch, RequestHasher, TraceSource};
use std::collections::VecDeque;

/// Segments in a chunk at most, where cuts are close.
const SEGMENTS_MAX: usize = 4096;

/// Page writes, and what happens behind the last.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(crate) batch: PageBatch,
    pub(crate) marks: Marks,
}

/// Segments that are decoded together; the memory is used again.
#[derive(Debug, Default)]
pub(crate) struct Chunk {
    segments: Vec<Segment>,
    used: usize,
}

impl Chunk {
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments[..self.used]
    }

    fn clear(&mut self) {
        self.used = 0;
    }

    fn next(&mut self) -> &mut Segment {
        if self.used == self.segments.len() {
            self.segments.push(Segment::default());
        }
        let segment = &mut self.segments[self.used];
        self.used += 1;
        segment.batch.clear();
        segment
    }
}

/// What a feed does with addresses.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) logical_pages: u32,
    pub(crate) page_bytes: u32,
    /// Addresses beyond the end are taken modulo the drive, instead of being an error.
    pub(crate) wrap: bool,
}

/// Reads a source to its end, or to that of the schedule.
pub(crate) struct Feed {
    source: Box<dyn TraceSource>,
    requests: RequestBatch,
    page_sectors: u32,
    pages: Pages,
    schedule: Schedule,
    chunk_writes: u64,
    ended: bool,
    hasher: RequestHasher,
    operations: [u64; 4],
}

impl Feed {
    pub(crate) fn new(
        source: Box<dyn TraceSource>,
        bounds: Bounds,
        schedule: Schedule,
        chunk_writes: u64,
    ) -> Result<Self, SimError> {
        Ok(Self {
            source,
            requests: RequestBatch::new(),
            page_sectors: page_sectors(bounds.page_bytes)?,
            pages: Pages::new(bounds, schedule.end()),
            schedule,
            chunk_writes: chunk_writes.max(1),
            ended: false,
            hasher: RequestHasher::new(),
            operations: [0; 4],
        })
    }

    /// Fills `chunk`; false, and an empty chunk, at the end.
    pub(crate) fn next_chunk(&mut self, chunk: &mut Chunk) -> Result<bool, SimError> {
        chunk.clear();
        let mut left = self.chunk_writes;
        while left > 0 && chunk.used < SEGMENTS_MAX && !self.ended {
            let room = self.schedule.room().min(left);
            if room == 0 {
                self.ended = true;
                break;
            }
            let segment = chunk.next();
            self.fill(&mut segment.batch, room)?;
            let writes = segment.batch.writes.len() as u64;
            segment.marks = self.schedule.advance(writes);
            self.ended = writes < room;
            left -= writes;
        }
        Ok(chunk.used > 0)
    }

    /// Puts the next `room` page writes into `batch`; fewer at the end of the source.
    fn fill(&mut self, batch: &mut PageBatch, room: u64) -> Result<(), SimError> {
        std::mem::swap(batch, &mut self.pages.batch);
        self.pages.room = room as usize;
        self.pages.take_overflow();
        while !self.pages.is_full() && self.source.next_batch(&mut self.requests)? {
            expand(&self.requests, self.page_sectors, &mut self.pages)?;
            if let Some(error) = self.pages.beyond.take() {
                return Err(error);
            }
            if self.pages.is_past_end() {
                self.cut_requests()?;
            }
            self.hasher.update(&self.requests);
            for (count, op) in self.operations.iter_mut().zip(Op::ALL) {
                *count += self.requests.op.iter().filter(|other| **other == op).count() as u64;
            }
        }
        std::mem::swap(batch, &mut self.pages.batch);
        Ok(())
    }

    /// Drops the requests behind the one that has the last page write of the run.
    fn cut_requests(&mut self) -> Result<(), SimError> {
        let mut pages = self.pages.pulled_before_batch(&self.requests, self.page_sectors)?;
        let mut one = RequestBatch::with_limit(1);
        for index in 0..self.requests.len() {
            if pages.is_past_end() {
                self.requests.truncate(index);
                return Ok(());
            }
            one.clear();
            one.push_from(&self.requests, index);
            expand(&one, self.page_sectors, &mut pages)?;
        }
        Ok(())
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn source(&self) -> &dyn TraceSource {
        self.source.as_ref()
    }

    /// Requests so far, by operation.
    pub(crate) fn operations(&self) -> [u64; 4] {
        self.operations
    }

    pub(crate) fn hash(&self) -> String {
        self.hasher.finish()
    }
}

/// A run of pages that did not fit into the batch.
#[derive(Debug, Clone, Copy)]
struct Run {
    trim: bool,
    first_page: u64,
    pages: u64,
}

/// Checks addresses and fills a batch up to its room; what is more waits for the next.
struct Pages {
    batch: PageBatch,
    room: usize,
    overflow: VecDeque<Run>,
    bounds: Bounds,
    drive_pages: u64,
    /// Page writes so far, those that wait included.
    pulled: u64,
    /// Page writes that are wanted.
    end: u64,
    beyond: Option<SimError>,
}

impl Pages {
    fn new(bounds: Bounds, end: Option<u64>) -> Self {
        Self {
            batch: PageBatch::default(),
            room: 0,
            overflow: VecDeque::new(),
            bounds,
            drive_pages: u64::from(bounds.logical_pages),
            pulled: 0,
            end: end.unwrap_or(u64::MAX),
            beyond: None,
        }
    }

    fn is_full(&self) -> bool {
        self.batch.writes.len() >= self.room
    }

    fn is_past_end(&self) -> bool {
        self.pulled >= self.end
    }

    /// Counts as `self` did before the requests of `batch`.
    fn pulled_before_batch(
        &self,
        batch: &RequestBatch,
        page_sectors: u32,
    ) -> Result<PageCount, SimError> {
        let mut count = PageCount { pulled: 0, end: u64::MAX };
        expand(batch, page_sectors, &mut count)?;
        Ok(PageCount { pulled: self.pulled - count.pulled, end: self.end })
    }

    /// Moves waiting runs into the batch, as far as there is room.
    fn take_overflow(&mut self) {
        while !self.is_full() {
            let Some(run) = self.overflow.pop_front() else { return };
            let taken = self.append(run);
            if taken < run.pages {
                let rest =
                    Run { first_page: run.first_page + taken, pages: run.pages - taken, ..run };
                self.overflow.push_front(rest);
            }
        }
    }

    /// Adds as much of a run as there is room for, at least one page, and returns how much.
    fn append(&mut self, run: Run) -> u64 {
        if run.trim && run.pages >= self.drive_pages {
            self.batch.trim(Lpn(0), self.bounds.logical_pages);
            return run.pages;
        }
        let room = if run.trim { u64::MAX } else { (self.room - self.batch.writes.len()) as u64 };
        let pages = run.pages.min(room);
        let (mut first, mut left) = (run.first_page, pages);
        while left > 0 {
            if first >= self.drive_pages {
                first %= self.drive_pages; // only where addresses wrap
            }
            let length = left.min(self.drive_pages - first);
            if run.trim {
                self.batch.trim(Lpn(first as u32), length as u32);
            } else {
                self.batch.writes.extend((first as u32..(first + length) as u32).map(Lpn));
            }
            first += length;
            left -= length;
        }
        pages
    }

    #[inline(never)]
    fn add_slowly(&mut self, run: Run) {
        let end = run.first_page.saturating_add(run.pages);
        if end > self.drive_pages && !self.bounds.wrap {
            if self.beyond.is_none() && !(self.is_past_end()) {
                self.beyond = Some(SimError::BeyondDrive {
                    operation: if run.trim { "trim" } else { "write" },
                    page: run.first_page.max(self.drive_pages),
                    logical_pages: self.drive_pages,
                    page_bytes: self.bounds.page_bytes,
                });
            }
            return;
        }
        if self.is_full() {
            self.overflow.push_back(run);
            return;
        }
        let taken = self.append(run);
        if taken < run.pages {
            let rest = Run { first_page: run.first_page + taken, pages: run.pages - taken, ..run };
            self.overflow.push_back(rest);
        }
    }
}

impl PageSink for Pages {
    #[inline]
    fn write(&mut self, first_page: u64, pages: u64) {
        if pages == 1 && first_page < self.drive_pages && !self.is_full() {
            self.batch.writes.push(Lpn(first_page as u32));
        } else {
            self.add_slowly(Run { trim: false, first_page, pages });
        }
        self.pulled += pages;
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        self.add_slowly(Run { trim: true, first_page, pages });
    }
}

/// Counts page writes.
struct PageCount {
    pulled: u64,
    end: u64,
}

impl PageCount {
    fn is_past_end(&self) -> bool {
        self.pulled >= self.end
    }
}

impl PageSink for PageCount {
    fn write(&mut self, _first_page: u64, pages: u64) {
        self.pulled += pages;
    }
}
