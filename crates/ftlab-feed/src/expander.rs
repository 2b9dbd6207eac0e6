//! Checks the addresses of page operations, and puts them into batches.

use crate::FeedError;
use crate::schedule::Marks;
use ftlab_flash::Lpn;
use ftlab_ftl::PageBatch;
use ftlab_host::{Arrival, Asker, HostOp, RequestPart};
use ftlab_trace::pages::{Lacking, PageSink};
use ftlab_trace::{Op, RequestBatch};
use std::collections::VecDeque;

/// Trims in a segment after which it ends, so that trims without writes take no more memory.
pub(crate) const TRIMS_MAX: usize = 64 * 1024;

/// Parts of requests in a segment after which it ends.
const PARTS_MAX: usize = 64 * 1024;

/// Page writes, and what happens after the last.
#[derive(Debug, Default)]
pub struct Segment {
    /// Writes, and the trims between them.
    pub batch: PageBatch,
    /// Arrival of each write, in microseconds; empty unless times are kept.
    pub arrivals_us: Vec<u64>,
    /// The requests whose writes these are, and reads, trims and flushes; empty unless requests are kept.
    pub parts: Vec<RequestPart>,
    /// What happens after the last write.
    pub marks: Marks,
}

/// What a feed does with addresses.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Bytes of each.
    pub page_bytes: u32,
    /// Addresses beyond the end are taken modulo the drive, instead of being an error.
    pub wrap: bool,
    /// Trims do nothing, wherever they are.
    pub ignore_trims: bool,
}

/// Consecutive pages; after the last page of the drive comes its first.
#[derive(Debug, Clone, Copy)]
struct Run {
    first: u32,
    pages: u64,
    op: HostOp,
    /// Whether its request has not begun.
    begins: bool,
    /// What the host does not send of the first of these pages, and of the last.
    lacking: Lacking,
    of: Origin,
}

/// What every page write takes over from its request, if it is kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin {
    /// When the request arrives.
    pub(crate) time_us: u64,
    /// The stream that it names.
    pub(crate) stream: u16,
}

/// Checks addresses and expands runs of pages into a batch. Runs that do not fit wait as runs,
/// because one request may ask for more pages than memory has room for.
#[expect(clippy::struct_excessive_bools, reason = "what is kept is a set")]
pub(crate) struct Expander {
    /// What is being filled.
    pub(crate) batch: PageBatch,
    /// Writes that it takes.
    room: usize,
    /// Writes that it takes directly while nothing waits, else 0.
    direct_room: usize,
    /// What waits for the next batch.
    waiting: VecDeque<Run>,
    bounds: Bounds,
    logical_pages: u64,
    /// Page writes so far, those that wait included.
    pub(crate) pulled: u64,
    /// Of the requests for these, those that do not begin and end at page boundaries.
    pub(crate) in_part: u64,
    /// Page writes that are wanted.
    pub(crate) end: u64,
    pub(crate) beyond: Option<FeedError>,
    /// Whether each write gets its arrival.
    pub(crate) keeps_times: bool,
    /// Whether each write gets its stream.
    pub(crate) keeps_streams: bool,
    pub(crate) present: Origin,
    /// Arrivals of the writes of the batch.
    pub(crate) arrivals_us: Vec<u64>,
    /// Whether requests are kept, reads, trims and flushes among them.
    pub(crate) keeps_requests: bool,
    /// Those of the batch.
    pub(crate) parts: Vec<RequestPart>,
    /// Whether each write gets the number of pages of its request that follow it.
    pub(crate) keeps_following: bool,
}

impl Expander {
    pub(crate) fn new(bounds: Bounds, end: Option<u64>) -> Self {
        Self {
            batch: PageBatch::default(),
            room: 0,
            direct_room: 0,
            waiting: VecDeque::new(),
            bounds,
            logical_pages: u64::from(bounds.logical_pages),
            pulled: 0,
            in_part: 0,
            end: end.unwrap_or(u64::MAX),
            beyond: None,
            keeps_times: false,
            keeps_streams: false,
            present: Origin::default(),
            arrivals_us: Vec::new(),
            keeps_requests: false,
            parts: Vec::new(),
            keeps_following: false,
        }
    }

    /// How many runs there is room for that wait.
    #[cfg(test)]
    pub(crate) fn waiting_max(&self) -> usize {
        self.waiting.capacity()
    }

    /// Whether pages wait for the next batch.
    pub(crate) fn has_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Keeps the stream of each write from here on.
    pub(crate) fn keep_streams(&mut self) {
        self.keeps_streams = true;
        self.direct_room = 0;
    }

    pub(crate) fn is_past_end(&self) -> bool {
        self.pulled >= self.end
    }

    pub(crate) fn is_full(&self) -> bool {
        self.batch.writes.len() == self.room
            || self.batch.trims.len() >= TRIMS_MAX
            || self.parts.len() >= PARTS_MAX
    }

    /// Fills the batch of `segment`, which is swapped for the one before, from here on.
    pub(crate) fn begin(&mut self, segment: &mut Segment, room: usize) {
        std::mem::swap(&mut segment.batch, &mut self.batch);
        std::mem::swap(&mut segment.arrivals_us, &mut self.arrivals_us);
        std::mem::swap(&mut segment.parts, &mut self.parts);
        self.room = room;
        self.direct_room = self.room_for_bare_writes();
    }

    /// Puts what waits into the batch; true if that is full then. Trims after its last write keep
    /// waiting.
    pub(crate) fn move_waiting(&mut self) -> bool {
        while let Some(mut run) = self.waiting.pop_front() {
            if !self.put(&mut run) {
                self.waiting.push_front(run);
                return true;
            }
        }
        self.direct_room = self.room_for_bare_writes();
        self.is_full()
    }

    /// The room for writes that need nothing but a place.
    fn room_for_bare_writes(&self) -> usize {
        let is_bare = !self.keeps_times && !self.keeps_streams && !self.keeps_requests;
        if self.waiting.is_empty() && is_bare { self.room } else { 0 }
    }

    /// Puts as much of `run` into the batch as it takes; true if that is all.
    fn put(&mut self, run: &mut Run) -> bool {
        if self.is_full() {
            return false;
        }
        if run.op != HostOp::Write && self.keeps_requests {
            self.put_apart(run);
            return true;
        }
        if run.op == HostOp::Trim {
            let to_end = self.logical_pages - u64::from(run.first);
            self.batch.trim(Lpn(run.first), run.pages.min(to_end) as u32);
            if run.pages > to_end {
                self.batch.trim(Lpn(0), (run.pages - to_end) as u32);
            }
            return true;
        }
        let writes = &mut self.batch.writes;
        let begin = writes.len();
        let following = run.pages.saturating_sub(1);
        let mut left = run.pages.min((self.room - begin) as u64);
        run.pages -= left;
        let part = (run.first, left as u32);
        let missed = Lacking {
            first: std::mem::take(&mut run.lacking.first),
            last: if run.pages == 0 { run.lacking.last } else { 0 },
        };
        while left > 0 {
            let length = left.min(self.logical_pages - u64::from(run.first)) as u32;
            writes.extend((run.first..run.first + length).map(Lpn));
            run.first += length;
            if run.first == self.bounds.logical_pages {
                run.first = 0;
            }
            left -= u64::from(length);
        }
        self.lack(begin, missed);
        if self.keeps_following {
            self.batch.follow(begin, following);
        }
        if self.keeps_requests {
            let (first, pages) = part;
            self.add_part(run, first, pages, run.pages == 0, missed);
        } else if self.keeps_times {
            self.arrivals_us.resize(self.batch.writes.len(), run.of.time_us);
        }
        if self.keeps_streams {
            self.batch.streams.resize(self.batch.writes.len(), run.of.stream);
        }
        run.pages == 0
    }

    /// Puts a run that is no write among the requests; after the last page of the drive comes its first.
    fn put_apart(&mut self, run: &mut Run) {
        let to_end = self.logical_pages - u64::from(run.first);
        let is_whole = run.pages <= to_end;
        let Lacking { first, last } = run.lacking;
        let missed = Lacking { first, last: if is_whole { last } else { 0 } };
        self.add_part(run, run.first, run.pages.min(to_end) as u32, is_whole, missed);
        if !is_whole {
            self.add_part(run, 0, (run.pages - to_end) as u32, true, Lacking { first: 0, last });
        }
    }

    /// The host does not send this of the pages of the batch from `begin` on.
    fn lack(&mut self, begin: usize, lacking: Lacking) {
        self.batch.lack(begin, lacking.first.cast_signed());
        self.batch.lack(self.batch.writes.len() - 1, lacking.last.cast_signed());
    }

    /// The next part of the request of `run`, and what that lacks of its pages.
    fn add_part(&mut self, run: &mut Run, first: u32, pages: u32, ends: bool, lacking: Lacking) {
        let arrival =
            if self.keeps_times { Arrival::OfTrace(run.of.time_us) } else { Arrival::Next };
        let begins = std::mem::replace(&mut run.begins, false);
        let asker = Asker { tenant: 0, stream: run.of.stream };
        let op = run.op;
        let (first, lacking) = (Lpn(first), lacking.first + lacking.last);
        let part = RequestPart { op, first, pages, lacking, arrival, asker, begins, ends };
        self.parts.push(part);
    }

    /// Adds the most usual batch, writes of one whole page each, in loops without branches; does
    /// nothing and returns false if it is any other, or does not fit.
    pub(crate) fn add_single_pages(&mut self, requests: &RequestBatch, page_sectors: u32) -> bool {
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

    /// Appends pages to the batch if they are on the drive and there is room: where in it, or none.
    #[inline]
    fn append(&mut self, first_page: u64, pages: u64) -> Option<usize> {
        let begin = self.batch.writes.len();
        let room = self.direct_room.saturating_sub(begin) as u64;
        let after = first_page.saturating_add(pages);
        if pages > room || after > self.logical_pages {
            return None;
        }
        self.pulled += pages;
        if pages == 1 {
            self.batch.writes.push(Lpn(first_page as u32));
        } else {
            self.batch.writes.extend((first_page as u32..after as u32).map(Lpn));
            if self.keeps_following {
                self.batch.follow(begin, pages - 1);
            }
        }
        Some(begin)
    }

    /// Any run but a write to the drive for which there is room.
    #[inline(never)]
    fn add_run(&mut self, op: HostOp, first_page: u64, pages: u64, lacking: Lacking) {
        let is_beyond = first_page.saturating_add(pages) > self.logical_pages;
        if is_beyond && !self.bounds.wrap {
            // What comes after the end of the run does not matter.
            if self.beyond.is_none() && !self.is_past_end() {
                self.beyond = Some(FeedError::BeyondDrive {
                    operation: op.name(),
                    page: first_page.max(self.logical_pages),
                    logical_pages: self.logical_pages,
                    page_bytes: self.bounds.page_bytes,
                    last_page: None,
                });
            }
            return;
        }
        let first = (first_page % self.logical_pages) as u32;
        let is_write = op == HostOp::Write;
        let pages = if is_write { pages } else { pages.min(self.logical_pages) };
        let mut run = Run { first, pages, op, begins: true, lacking, of: self.present };
        self.pulled += if is_write { pages } else { 0 };
        if !self.waiting.is_empty() || !self.put(&mut run) {
            self.waiting.push_back(run);
            self.direct_room = 0;
        }
    }
}

impl PageSink for Expander {
    #[inline]
    fn write(&mut self, first_page: u64, pages: u64) {
        if self.append(first_page, pages).is_none() {
            self.add_run(HostOp::Write, first_page, pages, Lacking::NOTHING);
        }
    }

    #[inline]
    fn write_in_part(&mut self, first_page: u64, pages: u64, lacking: Lacking) {
        self.in_part += 1;
        if let Some(begin) = self.append(first_page, pages) {
            self.lack(begin, lacking);
        } else {
            self.add_run(HostOp::Write, first_page, pages, lacking);
        }
    }

    fn trim(&mut self, first_page: u64, pages: u64) {
        if !self.bounds.ignore_trims {
            self.add_run(HostOp::Trim, first_page, pages, Lacking::NOTHING);
        }
    }

    fn read(&mut self, first_page: u64, pages: u64) {
        if self.keeps_requests {
            self.add_run(HostOp::Read, first_page, pages, Lacking::NOTHING);
        }
    }

    fn read_in_part(&mut self, first_page: u64, pages: u64, lacking: Lacking) {
        if self.keeps_requests {
            self.add_run(HostOp::Read, first_page, pages, lacking);
        }
    }

    fn flush(&mut self) {
        if self.keeps_requests {
            self.add_run(HostOp::Flush, 0, 0, Lacking::NOTHING);
        }
    }
}
