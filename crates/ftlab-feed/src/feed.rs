//! Turns requests into batches of page writes, cut where the schedule says.

use crate::FeedError;
use crate::expander::{Bounds, Expander, Segment};
use crate::footprint::Footprint;
use crate::lifetimes::Lifetimes;
use crate::schedule::{Pass, Schedule};
use crate::watch::WorkloadWatch;
use ftlab_trace::pages::{Lacking, PageSink, expand, page_sectors};
use ftlab_trace::{Op, RequestBatch, RequestHasher, TraceSource};

/// Segments in a chunk at most, where cuts are close.
const SEGMENTS_MAX: usize = 4096;

/// Requests that are read together: few enough that they stay in the cache, and if a segment has less room, no more than it
/// takes, but this many.
const REQUESTS: usize = 1024;
const REQUESTS_MIN: usize = 64;

/// Segments that are decoded together; the memory is used again.
#[derive(Debug, Default)]
pub struct Chunk {
    segments: Vec<Segment>,
    used: usize,
}

impl Chunk {
    /// In their order.
    pub fn segments(&self) -> &[Segment] {
        &self.segments[..self.used]
    }

    /// The same, to change when they arrive.
    pub fn segments_mut(&mut self) -> &mut [Segment] {
        &mut self.segments[..self.used]
    }

    /// Forgets everything and keeps the memory, but not of many short segments where few long ones follow.
    fn clear(&mut self) {
        if self.used <= self.segments.len() / 2 {
            self.segments.truncate(self.used);
        }
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
        segment.parts.clear();
        segment
    }
}

/// What a workload brought, warm-up included.
#[derive(Debug, Clone, Copy)]
pub struct Brought {
    /// Write requests of a trace; none of a generator.
    pub requests: Option<u64>,
    /// Page writes.
    pub page_writes: u64,
    /// Different pages of these, as far as they were looked at.
    pub footprint: u32,
}

/// Reads a source to its end, or to that of the schedule.
pub struct Feed {
    source: Box<dyn TraceSource>,
    requests: RequestBatch,
    /// Requests that are read together at most.
    requests_max: usize,
    page_sectors: u32,
    pages: Expander,
    schedule: Schedule,
    chunk_writes: u64,
    ended: bool,
    hasher: RequestHasher,
    operations: [u64; 4],
    /// Whether the streams that requests name are kept.
    wants_streams: bool,
    /// Whether any request named one.
    has_streams: bool,
    /// Of all page writes, if they are known.
    lifetimes: Option<Lifetimes>,
    /// Where page writes go, if that is watched.
    watch: Option<WorkloadWatch>,
    /// How many different pages are written, if that is looked at.
    footprint: Option<Footprint>,
    pass: Pass,
}

impl Feed {
    /// Reads `source` until `schedule` ends; a chunk has `chunk_writes` page writes at most.
    pub fn new(
        source: Box<dyn TraceSource>,
        bounds: Bounds,
        schedule: Schedule,
        chunk_writes: u64,
    ) -> Result<Self, FeedError> {
        Ok(Self {
            pass: Pass::Only,
            source,
            requests: RequestBatch::with_limit(REQUESTS),
            requests_max: REQUESTS,
            page_sectors: page_sectors(bounds.page_bytes)?,
            pages: Expander::new(bounds, schedule.end()),
            schedule,
            chunk_writes: chunk_writes.max(1),
            ended: false,
            hasher: RequestHasher::new(),
            operations: [0; 4],
            wants_streams: false,
            has_streams: false,
            lifetimes: None,
            watch: None,
            footprint: None,
        })
    }

    /// The source begins again when it ends, and knows the number of its requests from then on.
    pub fn expect_passes(&mut self) {
        self.pass = Pass::First;
    }

    /// Hands out one page write at a time at most, and reads no request before the pages of the one before it.
    pub fn read_one_by_one(&mut self) {
        self.requests_max = 1;
        self.chunk_writes = 1;
    }

    /// Whether all pages of the requests that were read have been handed out.
    pub fn is_between_requests(&self) -> bool {
        !self.pages.has_waiting()
    }

    /// Keeps the time at which each page write arrives.
    pub fn keep_times(&mut self) {
        self.pages.keeps_times = true;
    }

    /// Keeps requests, reads, trims and flushes among them.
    pub fn keep_requests(&mut self) {
        self.pages.keeps_requests = true;
    }

    /// Tells of each page write how many pages of its request follow.
    pub fn keep_following(&mut self) {
        self.pages.keeps_following = true;
    }

    /// Keeps the stream that each page write belongs to, if the source names them.
    pub fn keep_streams(&mut self) {
        self.wants_streams = true;
    }

    /// Tells of each page write how long it lives.
    pub fn tell_lifetimes(&mut self, lifetimes: Lifetimes) {
        self.lifetimes = Some(lifetimes);
    }

    /// Watches where the page writes go, on a drive of `logical_pages`.
    pub fn watch(&mut self, logical_pages: u32) {
        self.watch = Some(WorkloadWatch::new(logical_pages));
    }

    /// Looks at how many different pages are written.
    pub fn measure_footprint(&mut self, footprint: Footprint) {
        self.footprint = Some(footprint);
    }

    /// What it has handed out; write requests count if they are those of a trace.
    pub fn brought(&self, is_trace: bool) -> Brought {
        Brought {
            requests: is_trace.then(|| self.operations[Op::Write as usize]),
            page_writes: self.schedule.done(),
            footprint: self.footprint.as_ref().map_or(0, Footprint::pages),
        }
    }

    /// What watched where they went, if something did.
    pub fn take_watch(&mut self) -> Option<WorkloadWatch> {
        self.watch.take()
    }

    /// Fills `chunk`; false, and an empty chunk, at the end.
    pub fn next_chunk(&mut self, chunk: &mut Chunk) -> Result<bool, FeedError> {
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
            segment.marks.pass = self.pass;
            self.schedule.check_intervals()?;
            let parts = segment.parts.len() as u64;
            left = left.saturating_sub(parts.max(writes + segment.batch.trims.len() as u64));
            if self.schedule.ends_when_steady() && segment.marks.round {
                break;
            }
        }
        Ok(chunk.used > 0)
    }

    /// Puts the next `room` page writes into `segment`; fewer after very many trims. False at the end
    /// of the source.
    fn fill(&mut self, segment: &mut Segment, room: usize) -> Result<bool, FeedError> {
        self.pages.begin(segment, room);
        let mut is_full = self.pages.move_waiting();
        while !is_full {
            let room = room - self.pages.batch.writes.len();
            self.requests.set_limit(room.max(REQUESTS_MIN).min(self.requests_max));
            if !self.read_requests()? {
                break;
            }
            is_full = self.pages.is_full() || self.requests_max == 1;
        }
        std::mem::swap(&mut segment.batch, &mut self.pages.batch);
        std::mem::swap(&mut segment.arrivals_us, &mut self.pages.arrivals_us);
        std::mem::swap(&mut segment.parts, &mut self.pages.parts);
        if let Some(lifetimes) = &mut self.lifetimes {
            lifetimes.tell(&mut segment.batch);
        }
        if let Some(footprint) = &mut self.footprint {
            footprint.add(&segment.batch.writes);
        }
        if let Some(watch) = &mut self.watch {
            watch.add(&segment.batch.writes);
        }
        Ok(is_full)
    }

    /// Reads requests and expands them to pages; false at the end of the source.
    fn read_requests(&mut self) -> Result<bool, FeedError> {
        if !self.source.next_batch(&mut self.requests)? {
            return Ok(false);
        }
        let before = PageCount { pulled: self.pages.pulled, in_part: self.pages.in_part };
        if self.pass == Pass::First && self.source.metadata().requests.is_some() {
            self.pass = Pass::Of(before.pulled);
        }
        self.has_streams |= !self.requests.stream.is_empty();
        if self.wants_streams && self.has_streams {
            self.pages.keep_streams();
        }
        if self.pages.keeps_times || self.pages.keeps_streams {
            self.expand_one_by_one()?;
        } else if !self.pages.add_single_pages(&self.requests, self.page_sectors) {
            expand(&self.requests, self.page_sectors, &mut self.pages)?;
        }
        if let Some(error) = self.pages.beyond.take() {
            return Err(error);
        }
        if self.pages.is_past_end() {
            self.cut_requests(before)?;
        }
        self.hasher.update(&self.requests);
        for (total, op) in self.operations.iter_mut().zip(Op::ALL) {
            *total += count(&self.requests.op, op);
        }
        Ok(true)
    }

    /// Expands requests one by one, so that their pages get their times and streams.
    fn expand_one_by_one(&mut self) -> Result<(), FeedError> {
        let mut one = RequestBatch::with_limit(1);
        for index in 0..self.requests.len() {
            if self.pages.keeps_times {
                let time_us = self.requests.time_us.get(index);
                self.pages.present.time_us = *time_us.ok_or(FeedError::NoTimes)?;
            }
            if self.pages.keeps_streams {
                self.pages.present.stream = *self.requests.stream.get(index).unwrap_or(&0);
            }
            one.clear();
            one.push_from(&self.requests, index);
            expand(&one, self.page_sectors, &mut self.pages)?;
        }
        Ok(())
    }

    /// Drops the requests after the one that has the last page write of the run; `count` is of those before all of
    /// them.
    fn cut_requests(&mut self, mut count: PageCount) -> Result<(), FeedError> {
        let mut one = RequestBatch::with_limit(1);
        for index in 0..self.requests.len() {
            if count.pulled >= self.pages.end {
                self.requests.truncate(index);
                break;
            }
            one.clear();
            one.push_from(&self.requests, index);
            expand(&one, self.page_sectors, &mut count)?;
        }
        self.pages.in_part = count.in_part;
        Ok(())
    }

    /// Where it is cut.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// What it reads.
    pub fn source(&self) -> &dyn TraceSource {
        self.source.as_ref()
    }

    /// Share of it that has been decoded, where that is known.
    pub fn share(&self) -> Option<f64> {
        let by_writes = self.schedule.end().map(|end| self.schedule.done() as f64 / end as f64);
        match (by_writes, self.source.progress()) {
            // A trace may end before the writes that were asked for.
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        }
    }

    /// Requests so far, by operation.
    pub fn operations(&self) -> [u64; 4] {
        self.operations
    }

    /// Write requests so far that do not begin and end at page boundaries.
    pub fn unaligned_writes(&self) -> u64 {
        self.pages.in_part
    }

    /// Whether the requests name streams, as far as they were read.
    pub fn has_streams(&self) -> bool {
        self.has_streams
    }

    /// The hash of the requests so far.
    pub fn hash(&self) -> String {
        self.hasher.finish()
    }
}

/// How many of `ops` are `op`; sums of bytes, which the compiler makes vectors of.
fn count(ops: &[Op], op: Op) -> u64 {
    let sums = ops.chunks(usize::from(u8::MAX));
    sums.map(|ops| u64::from(ops.iter().map(|other| u8::from(*other == op)).sum::<u8>())).sum()
}

/// Counts page writes, and the requests for them that do not begin and end at page boundaries.
struct PageCount {
    pulled: u64,
    in_part: u64,
}

impl PageSink for PageCount {
    fn write(&mut self, _first_page: u64, pages: u64) {
        self.pulled += pages;
    }

    fn write_in_part(&mut self, first_page: u64, pages: u64, _lacking: Lacking) {
        self.in_part += 1;
        self.write(first_page, pages);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expander::TRIMS_MAX;
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
    fn drain(feed: &mut Feed) -> Result<Vec<(u32, bool)>, FeedError> {
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

    #[test]
    fn each_write_knows_how_many_pages_of_its_request_follow_wherever_batches_are_cut() {
        let requests =
            [("w", 3, 1), ("w", 10, 5), ("d", 0, 9), ("w", 96, 7), ("w", 4, 1), ("w", 0, 2)];
        let bounds = Bounds { wrap: true, ..BOUNDS };
        let expected = [0, 4, 3, 2, 1, 0, 6, 5, 4, 3, 2, 1, 0, 0, 1, 0];
        for chunk in [1, 2, 3, 5, 100] {
            let mut feed = feed(&requests, bounds, all(None), chunk);
            feed.keep_following();
            let (mut told, mut chunk) = (Vec::new(), Chunk::default());
            while feed.next_chunk(&mut chunk).unwrap() {
                for Segment { batch, .. } in chunk.segments() {
                    told.extend((0..batch.writes.len()).map(|index| batch.following(index)));
                }
            }
            assert_eq!(told, expected);
        }
        let mut bare = feed(&requests, bounds, all(None), 100);
        let mut chunk = Chunk::default();
        bare.next_chunk(&mut chunk).unwrap();
        assert!(chunk.segments().iter().all(|of| of.batch.following.is_empty()));
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
            assert!(feed.pages.waiting_max() <= 2 * super::REQUESTS);
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
