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

/// Requests that are read together: few enough that they stay in the cache.
const REQUESTS: usize = 1024;

/// Trims in a segment after which it ends, so that trims without writes take no more memory.
const TRIMS_MAX: usize = 64 * 1024;

/// Page writes, and what happens behind the last.
#[derive(Debug, Default)]
pub(crate) struct Segment {
    pub(crate) batch: PageBatch,
    /// Arrival of each write, in microseconds; empty unless times are kept.
    pub(crate) arrivals_us: Vec<u64>,
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
        segment.arrivals_us.clear();
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
    /// Trims do nothing, wherever they are.
    pub(crate) ignore_trims: bool,
}

/// Reads a source to its end, or to that of the schedule.
pub(crate) struct Feed {
    source: Box<dyn TraceSource>,
    requests: RequestBatch,
    page_sectors: u32,
    pages: Expander,
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
            requests: RequestBatch::with_limit(REQUESTS),
            page_sectors: page_sectors(bounds.page_bytes)?,
            pages: Expander::new(bounds, schedule.end()),
            schedule,
            chunk_writes: chunk_writes.max(1),
            ended: false,
            hasher: RequestHasher::new(),
            operations: [0; 4],
        })
    }

    /// Keeps the time at which each page write arrives.
    pub(crate) fn keep_times(&mut self) {
        self.pages.keeps_times = true;
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
            self.ended = !self.fill(segment, room as usize)?;
            let writes = segment.batch.writes.len() as u64;
            segment.marks = self.schedule.advance(writes);
            self.schedule.check_intervals()?;
            left = left.saturating_sub(writes + segment.batch.trims.len() as u64);
        }
        Ok(chunk.used > 0)
    }

    /// Puts the next `room` page writes into `segment`; fewer behind very many trims. False at the end
    /// of the source.
    fn fill(&mut self, segment: &mut Segment, room: usize) -> Result<bool, SimError> {
        self.pages.begin(segment, room);
        let mut is_full = self.pages.move_waiting();
        while !is_full && self.read_requests()? {
            is_full = self.pages.is_full();
        }
        std::mem::swap(&mut segment.batch, &mut self.pages.batch);
        std::mem::swap(&mut segment.arrivals_us, &mut self.pages.arrivals_us);
        Ok(is_full)
    }

    /// Reads requests and expands them to pages; false at the end of the source.
    fn read_requests(&mut self) -> Result<bool, SimError> {
        if !self.source.next_batch(&mut self.requests)? {
            return Ok(false);
        }
        let pulled = self.pages.pulled;
        if self.pages.keeps_times {
            self.expand_with_times()?;
        } else if !self.pages.add_single_pages(&self.requests, self.page_sectors) {
            expand(&self.requests, self.page_sectors, &mut self.pages)?;
        }
        if let Some(error) = self.pages.beyond.take() {
            return Err(error);
        }
        if self.pages.is_past_end() {
            self.cut_requests(pulled)?;
        }
        self.hasher.update(&self.requests);
        for (total, op) in self.operations.iter_mut().zip(Op::ALL) {
            *total += count(&self.requests.op, op);
        }
        Ok(true)
    }

    /// Expands requests one by one, so that their pages get their times.
    fn expand_with_times(&mut self) -> Result<(), SimError> {
        let mut one = RequestBatch::with_limit(1);
        for index in 0..self.requests.len() {
            let Some(&time_us) = self.requests.time_us.get(index) else {
                return Err(SimError::NoTimes);
            };
            self.pages.time_us = time_us;
            one.clear();
            one.push_from(&self.requests, index);
            expand(&one, self.page_sectors, &mut self.pages)?;
        }
        Ok(())
    }

    /// Drops the requests behind the one that has the last page write of the run; `pulled` page
    /// writes came before all of them.
    fn cut_requests(&mut self, pulled: u64) -> Result<(), SimError> {
        let mut count = PageCount { pulled };
        let mut one = RequestBatch::with_limit(1);
        for index in 0..self.requests.len() {
            if count.pulled >= self.pages.end {
                self.requests.truncate(index);
                return Ok(());
            }
            one.clear();
            one.push_from(&self.requests, index);
            expand(&one, self.page_sectors, &mut count)?;
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

/// How many of `ops` are `op`; sums of bytes, which the compiler makes vectors of.
fn count(ops: &[Op], op: Op) -> u64 {
    let sums = ops.chunks(usize::from(u8::MAX));
    sums.map(|ops| u64::from(ops.iter().map(|other| u8::from(*other == op)).sum::<u8>())).sum()
}

/// Pages that follow each other; beyond the last page of the drive they go on at its first.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    pages: u64,
    is_trim: bool,
    /// When its request arrives, if times are kept.
    time_us: u64,
}

/// Checks addresses and expands runs of pages into a batch. Runs that do not fit wait as runs,
/// because one request may ask for more pages than memory has room for.
struct Expander {
    /// What is being filled.
    batch: PageBatch,
    /// Writes that it takes.
    room: usize,
    /// The same while nothing waits, else 0.
    direct_room: usize,
    /// What waits for the next batch.
    waiting: VecDeque<Run>,
    bounds: Bounds,
    logical_pages: u64,
    /// Page writes so far, those that wait included.
    pulled: u64,
    /// Page writes that are wanted.
    end: u64,
    beyond: Option<SimError>,
    /// Whether each write gets its arrival.
    keeps_times: bool,
    /// When the present request arrives.
    time_us: u64,
    /// Arrivals of the writes of the batch.
    arrivals_us: Vec<u64>,
}

impl Expander {
    fn new(bounds: Bounds, end: Option<u64>) -> Self {
        Self {
            batch: PageBatch::default(),
            room: 0,
            direct_room: 0,
            waiting: VecDeque::new(),
            bounds,
            logical_pages: u64::from(bounds.logical_pages),
            pulled: 0,
            end: end.unwrap_or(u64::MAX),
            beyond: None,
            keeps_times: false,
            time_us: 0,
            arrivals_us: Vec::new(),
        }
    }

    fn is_past_end(&self) -> bool {
        self.pulled >= self.end
    }

    fn is_full(&self) -> bool {
        self.batch.writes.len() == self.room || self.batch.trims.len() >= TRIMS_MAX
    }

    /// Fills the batch of `segment`, which is swapped for the one before, from here on.
    fn begin(&mut self, segment: &mut Segment, room: usize) {
        std::mem::swap(&mut segment.batch, &mut self.batch);
        std::mem::swap(&mut segment.arrivals_us, &mut self.arrivals_us);
        self.room = room;
        self.direct_room = self.room_without_times();
    }

    /// Puts what waits into the batch; true if that is full then. Trims behind its last write go on
    /// waiting.
    fn move_waiting(&mut self) -> bool {
        while let Some(mut run) = self.waiting.pop_front() {
            if !self.put(&mut run) {
                self.waiting.push_front(run);
                return true;
            }
        }
        self.direct_room = self.room_without_times();
        self.is_full()
    }

    /// The room for writes that need nothing but a place.
    fn room_without_times(&self) -> usize {
        if self.waiting.is_empty() && !self.keeps_times { self.room } else { 0 }
    }

    /// Puts as much of `run` into the batch as it takes; true if that is all.
    fn put(&mut self, run: &mut Run) -> bool {
        if self.is_full() {
            return false;
        }
        if run.is_trim {
            let to_end = self.logical_pages - u64::from(run.first);
            self.batch.trim(Lpn(run.first), run.pages.min(to_end) as u32);
            if run.pages > to_end {
                self.batch.trim(Lpn(0), (run.pages - to_end) as u32);
            }
            return true;
        }
        let writes = &mut self.batch.writes;
        let mut left = run.pages.min((self.room - writes.len()) as u64);
        run.pages -= left;
        while left > 0 {
            let length = left.min(self.logical_pages - u64::from(run.first)) as u32;
            writes.extend((run.first..run.first + length).map(Lpn));
            run.first += length;
            if run.first == self.bounds.logical_pages {
                run.first = 0;
            }
            left -= u64::from(length);
        }
        if self.keeps_times {
            self.arrivals_us.resize(self.batch.writes.len(), run.time_us);
        }
        run.pages == 0
    }

    /// Adds the most usual batch, writes of one whole page each, in loops without branches; does
    /// nothing and returns false if it is any other, or does not fit.
    fn add_single_pages(&mut self, requests: &RequestBatch, page_sectors: u32) -> bool {
        let shift = page_sectors.trailing_zeros();
        let offset = (1 << shift) - 1;
        let odd_ops = requests.op.iter().fold(0, |odd, op| odd | *op as u8);
        let odd_sizes = requests.sectors.iter().fold(0, |odd, size| odd | (size ^ page_sectors));
        let odd_offsets = requests.lba.iter().fold(0, |odd, lba| odd | (lba & offset));
        let last_page = requests.lba.iter().copied().max().unwrap_or(0) >> shift;
        if !page_sectors.is_power_of_two()
            || odd_ops != Op::Write as u8
            || odd_sizes != 0
            || odd_offsets != 0
            || last_page >= self.logical_pages
            || self.batch.writes.len() + requests.len() > self.direct_room
        {
            return false;
        }
        self.batch.writes.extend(requests.lba.iter().map(|lba| Lpn((lba >> shift) as u32)));
        self.pulled += requests.len() as u64;
        true
    }

    /// Any run but a write to the drive for which there is room.
    #[inline(never)]
    fn add_run(&mut self, is_trim: bool, first_page: u64, pages: u64) {
        let is_beyond = first_page.saturating_add(pages) > self.logical_pages;
        if is_beyond && !self.bounds.wrap {
            // What comes behind the end of the run does not matter.
            if self.beyond.is_none() && !self.is_past_end() {
                self.beyond = Some(SimError::BeyondDrive {
                    operation: if is_trim { "trim" } else { "write" },
                    page: first_page.max(self.logical_pages),
                    logical_pages: self.logical_pages,
                    page_bytes: self.bounds.page_bytes,
                });
            }
            return;
        }
        let first = (first_page % self.logical_pages) as u32;
        let pages = if is_trim { pages.min(self.logical_pages) } else { pages };
        let mut run = Run { first, pages, is_trim, time_us: self.time_us };
        self.pulled += if is_trim { 0 } else { pages };
        if !self.waiting.is_empty() || !self.put(&mut run) {
            self.waiting.push_back(run);
            self.direct_room = 0;
        }
    }
}

impl PageSink for Expander {
    #[inline]
    fn write(&mut self, first_page: u64, pages: u64) {
        let room = self.direct_room.saturating_sub(self.batch.writes.len()) as u64;
        let after = first_page.saturating_add(pages);
        if pages > room || after > self.logical_pages {
            self.add_run(false, first_page, pages);
            return;
        }
        self.pulled += pages;
        if pages == 1 {
            self.batch.writes.push(Lpn(first_page as u32));
        } else {
            self.batch.writes.extend((first_page as u32..after as u32).map(Lpn));
        }
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        if !self.bounds.ignore_trims {
            self.add_run(true, first_page, pages);
        }
    }
}

/// Counts page writes.
struct PageCount {
    pulled: u64,
}

impl PageSink for PageCount {
    fn write(&mut self, _first_page: u64, pages: u64) {
        self.pulled += pages;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftlab_trace::{Input, OpenOptions, open_input};

    const BOUNDS: Bounds =
        Bounds { logical_pages: 100, page_bytes: 4096, wrap: false, ignore_trims: false };

    /// A trace of (operation, first page, pages).
    fn feed(requests: &[(&str, u64, u64)], bounds: Bounds, schedule: Schedule, chunk: u64) -> Feed {
        let lines = requests.iter().map(|(op, page, pages)| format!("{op},{page},{pages}\n"));
        let input = Input::from_bytes("test", lines.collect::<String>().into_bytes()).unwrap();
        let options = OpenOptions {
            map: Some("op=1,off:pages=2,len:pages=3".into()),
            ..OpenOptions::default()
        };
        Feed::new(open_input(input, &options).unwrap(), bounds, schedule, chunk).unwrap()
    }

    fn all(limit: Option<u64>) -> Schedule {
        Schedule::counted(0, limit, 1 << 40, 1 << 40)
    }

    /// Every write as (page, false) and every trimmed page as (page, true), in order.
    fn drain(feed: &mut Feed) -> Result<Vec<(u32, bool)>, SimError> {
        let mut events = Vec::new();
        let mut chunk = Chunk::default();
        while feed.next_chunk(&mut chunk)? {
            for Segment { batch, .. } in chunk.segments() {
                let mut written = 0;
                for trim in &batch.trims {
                    let before = trim.after_writes as usize;
                    events.extend(batch.writes[written..before].iter().map(|lpn| (lpn.0, false)));
                    events.extend((trim.first.0..trim.first.0 + trim.pages).map(|p| (p, true)));
                    written = before;
                }
                events.extend(batch.writes[written..].iter().map(|lpn| (lpn.0, false)));
            }
        }
        Ok(events)
    }

    const REQUESTS: &[(&str, u64, u64)] = &[
        ("W", 3, 1),
        ("W", 90, 10),
        ("T", 91, 3),
        ("T", 0, 1),
        ("W", 5, 2),
        ("R", 999, 1),
        ("T", 7, 1),
    ];

    #[test]
    fn order_is_kept_whatever_the_batch() {
        let mut expected: Vec<_> = vec![(3, false)];
        expected.extend((90..100).map(|page| (page, false)));
        expected.extend([91, 92, 93, 0].map(|page| (page, true)));
        expected.extend([(5, false), (6, false), (7, true)]);
        for chunk in [1, 2, 5, 100] {
            let events = drain(&mut feed(REQUESTS, BOUNDS, all(None), chunk)).unwrap();
            assert_eq!(events, expected, "{chunk}");
        }
    }

    #[test]
    fn a_cut_run_takes_and_hashes_only_the_requests_it_needs() {
        for chunk in [1, 2, 100] {
            let mut cut = feed(REQUESTS, BOUNDS, all(Some(4)), chunk);
            let events = drain(&mut cut).unwrap();
            assert_eq!(events, [(3, false), (90, false), (91, false), (92, false)]);
            let mut short = feed(&REQUESTS[..2], BOUNDS, all(None), chunk);
            drain(&mut short).unwrap();
            assert_eq!((cut.hash(), cut.operations()), (short.hash(), [2, 0, 0, 0]));
        }
    }

    #[test]
    fn addresses_beyond_the_drive_are_an_error_or_wrap() {
        let requests = [("W", 98, 4), ("T", 199, 2), ("W", 345, 1)];
        let error = drain(&mut feed(&requests, BOUNDS, all(None), 9)).unwrap_err().to_string();
        assert!(error.starts_with("a write of page 100 (byte offset 409600)"), "{error}");
        let wrapping = Bounds { wrap: true, ..BOUNDS };
        let events = drain(&mut feed(&requests, wrapping, all(None), 9)).unwrap();
        let writes = [98, 99, 0, 1].map(|page| (page, false));
        assert_eq!(events, [&writes[..], &[(99, true), (0, true), (45, false)]].concat());
    }

    #[test]
    fn ignored_trims_do_nothing_wherever_they_are() {
        let requests = [("W", 3, 1), ("T", 0, 50), ("T", 500, 1), ("W", 4, 1)];
        let ignoring = Bounds { ignore_trims: true, ..BOUNDS };
        let mut feed = feed(&requests, ignoring, all(None), 9);
        assert_eq!(drain(&mut feed).unwrap(), [(3, false), (4, false)]);
        assert_eq!(feed.operations(), [2, 2, 0, 0], "they are counted and hashed");
    }

    #[test]
    fn what_comes_behind_the_cut_may_be_beyond_the_drive() {
        let requests = [("W", 1, 1), ("W", 500, 1)];
        assert_eq!(drain(&mut feed(&requests, BOUNDS, all(Some(1)), 9)).unwrap(), [(1, false)]);
    }

    #[test]
    fn a_huge_request_is_expanded_only_as_far_as_it_is_wanted() {
        let wrapping = Bounds { wrap: true, ..BOUNDS };
        let mut requests = [("W", 0, 500_000); 8];
        requests[0] = ("W", 1, 1);
        for chunk in [1, 7, 1000] {
            let mut feed = feed(&requests, wrapping, all(Some(1000)), chunk);
            let events = drain(&mut feed).unwrap();
            let expected = std::iter::once(1).chain((0..999).map(|page| page % 100));
            assert!(events.into_iter().eq(expected.map(|page| (page, false))), "{chunk}");
            assert_eq!(feed.operations(), [2, 0, 0, 0]);
            assert!(feed.pages.waiting.capacity() <= 2 * super::REQUESTS);
        }
    }

    #[test]
    fn trims_without_end_are_handed_on_in_parts() {
        let mut requests = vec![("T", 98, 5); 2 * TRIMS_MAX];
        requests.push(("W", 7, 1));
        let wrapping = Bounds { wrap: true, ..BOUNDS };
        let mut feed = feed(&requests, wrapping, all(None), 10);
        let (mut chunk, mut trims, mut writes) = (Chunk::default(), 0, 0);
        while feed.next_chunk(&mut chunk).unwrap() {
            for Segment { batch, .. } in chunk.segments() {
                assert!(batch.trims.len() <= TRIMS_MAX + 1);
                trims += batch.trims.len();
                writes += batch.writes.len();
            }
        }
        assert_eq!((trims, writes), (4 * TRIMS_MAX, 1));
    }
}
