//! One job: its requests, one after the other, as fio makes them.
//!
//! A job makes passes over its file. In each, requests go on until there is no place for the next: the random
//! map is full, or the end is reached; or, with an engine that queues requests, until as many bytes were
//! issued as the file has (fio counts no bytes of requests that are complete when they are issued). Then the
//! map is cleared, positions go back to the beginning, and with `randrepeat` all streams of random numbers
//! begin again. Passes follow each other until the job has issued what it should, or without end with
//! `time_based`, where a random job that fills its map clears it and goes on within the pass.

use super::axmap::RandomMap;
use super::distribution::{Distribution, Skewed};
use super::lfsr::Lfsr;
use super::marks::Marks;
use super::options::{Generator, Options, READ, Select, TRIM, WRITE};
use super::plan::Plan;
use super::sizes::Sizes;
use ftlab_random::seeds;
use ftlab_random::{Random, Taus88};
use ftlab_trace::{Op, TraceError};

/// A request, in bytes of the file; a flush has neither.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Request {
    pub(super) op: Op,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// The placement identifier of a write, 0 if it names none.
    pub(super) stream: u16,
    /// Microseconds after the first of its job before which it is not issued.
    pub(super) after_us: u64,
}

/// A request that has neither place nor size.
const FLUSH: Request = Request { op: Op::Flush, offset: 0, bytes: 0, stream: 0, after_us: 0 };

/// How often a place is drawn again in a file that is begun again, at most; fio would not stop.
const DRAWS_MAX: u32 = 100_000;

/// A pass over the file.
#[derive(Debug, Clone, Copy)]
struct Pass {
    /// Bytes issued in it.
    issued: u64,
    /// Those that the engine queued.
    queued: u64,
    /// How many of them end it.
    total: u64,
}

/// Everything that is drawn at random but the offsets of skewed distributions.
struct Streams {
    offsets: Random,
    /// Of reads, writes and trims; so are the next.
    sequence: [Taus88; 3],
    sizes: [Random; 3],
    mix: Taus88,
    zones: Taus88,
    placement: Random,
}

impl Streams {
    /// Those of the first pass.
    fn first(plan: &Plan) -> Self {
        let is_wide = plan.options.generator == Some(Generator::Tausworthe64);
        let widens = plan.outgrows_generator() && plan.options.version.widens_at_once();
        Self::new(plan, is_wide || widens, is_wide)
    }

    /// Those of a later pass, seeded again; where there are too many blocks, the generator is a wider one by now.
    fn again(plan: &Plan) -> Self {
        let is_wide =
            plan.options.generator == Some(Generator::Tausworthe64) || plan.outgrows_generator();
        Self::new(plan, is_wide, is_wide)
    }

    fn new(plan: &Plan, has_wide_offsets: bool, is_wide: bool) -> Self {
        let seeds = &plan.seeds;
        let mut sizes = seeds::SIZES;
        if plan.options.direction.is_trimwrite() {
            // What is trimmed is written, so their sizes are the same.
            sizes[TRIM] = sizes[WRITE];
        }
        let narrow = |stream: usize| Taus88::from_fio_seed(seeds[stream] as u32);
        Self {
            offsets: Random::new(seeds[seeds::OFFSETS], has_wide_offsets),
            sequence: [const { seeds::SEQUENCE }; 3].map(narrow),
            sizes: sizes.map(|stream| Random::new(seeds[stream], is_wide)),
            mix: narrow(seeds::MIX),
            zones: narrow(seeds::ZONES),
            placement: Random::new(
                seeds[seeds::PLACEMENT],
                is_wide && !plan.options.version.places_from_32_bits(),
            ),
        }
    }
}

/// A job that runs.
pub(super) struct Job {
    plan: Plan,
    streams: Streams,
    sizes: [Sizes; 3],
    /// Blocks that random offsets are drawn from.
    blocks: [u64; 3],
    skewed: Option<Skewed>,
    map: Option<RandomMap>,
    lfsr: Option<Lfsr>,
    next_identifier: usize,
    pass: Option<Pass>,
    /// Passes that are begun whatever was issued.
    loops_left: u64,
    number_ios: u64,
    is_done: bool,
    /// Whether the last pass ended because there was no place for a request.
    is_file_done: bool,
    /// Where the last request of each direction began; none since the pass began.
    last_start: [Option<u64>; 3],
    /// Where it ended; at first the beginning of the file's part.
    last_end: [u64; 3],
    /// Requests and bytes issued so far, by direction.
    issued: [u64; 3],
    issued_bytes: [u64; 3],
    /// The direction of the mix, and the requests of it after which it is drawn again.
    mix_direction: usize,
    mix_until: u64,
    /// Requests to the next random offset.
    random_in: u64,
    /// Whether a sequence begins again at the end of its part.
    wraps: bool,
    /// Which requests the map is told of.
    marks: Marks,
    /// What was issued last; `None` at first, and, before fio 3.38, in every pass.
    last: Option<Op>,
}

impl Job {
    /// Ready to issue its first request.
    pub(super) fn new(plan: Plan) -> Result<Self, TraceError> {
        let options = &plan.options;
        let is_random = options.direction.is_random;
        let range = plan.least([READ, WRITE]);
        let numbers = plan.range_bytes().div_ceil(range);
        let skewed = Skewed::new(&options.distribution, numbers.max(1), plan.file_seed);
        let blocks = plan.map_blocks();
        let (mut map, mut lfsr) = (None, None);
        if is_random && skewed.is_none() {
            if options.generator == Some(Generator::Lfsr) {
                lfsr = Some(plan.lfsr(blocks)?);
            } else if plan.has_map {
                map = Some(RandomMap::new(blocks));
            }
        }
        let sizes = [READ, WRITE, TRIM].map(|direction| plan.sizes(direction));
        let map_is_partial = map.is_some() && plan.may_not_mark();
        Ok(Self {
            streams: Streams::first(&plan),
            sizes,
            blocks: [READ, WRITE, TRIM].map(|direction| plan.blocks(direction)),
            skewed,
            map,
            lfsr,
            next_identifier: 0,
            pass: None,
            loops_left: options.loops,
            number_ios: options.number_ios,
            is_done: false,
            is_file_done: false,
            last_start: [None; 3],
            last_end: [plan.offset; 3],
            issued: [0; 3],
            issued_bytes: [0; 3],
            mix_direction: READ,
            mix_until: 0,
            random_in: 1,
            wraps: options.time_based || plan.wraps(),
            marks: Marks::new(map_is_partial, plan.depth),
            last: None,
            plan,
        })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    fn options(&self) -> &Options {
        &self.plan.options
    }

    /// The next request; `None` at the end of the job.
    #[inline]
    pub(super) fn next_request(&mut self) -> Option<Request> {
        loop {
            let Some(pass) = self.pass else {
                self.begin_pass()?;
                continue;
            };
            let is_over =
                !self.options().time_based && (self.has_issued_all() || pass.queued >= pass.total);
            let request = if is_over { None } else { self.make_in_pass() };
            if request.is_some() {
                return request;
            }
            let issued = self.pass.take().map_or(0, |pass| pass.issued);
            self.is_done |= issued == 0;
            self.is_file_done = !is_over && !self.options().begins_again;
            if self.options().ends_with_flush() && self.last != Some(Op::Flush) {
                self.last = Some(Op::Flush);
                return Some(FLUSH);
            }
        }
    }

    /// Begins the next pass; `None` if there is none.
    fn begin_pass(&mut self) -> Option<()> {
        if self.is_done || !self.has_another_pass() {
            return None;
        }
        if self.issued.iter().any(|issued| *issued > 0) {
            self.mix_until = 0;
            if !self.options().version.flushes_after_writes_only() {
                self.last = None;
            }
            if self.plan.is_repeatable {
                self.streams = Streams::again(&self.plan);
            }
        }
        self.reset_file();
        self.marks.begin_pass();
        let options = &self.plan.options;
        let mut total = self.plan.size;
        let overwrites =
            options.direction.does[WRITE] && options.direction.is_random && !self.plan.has_map;
        let wraps = self.plan.wraps() && !options.direction.is_random;
        if overwrites || wraps {
            total = total.max(options.io_size.unwrap_or(0));
        }
        if options.direction.is_trimwrite() {
            total = total.saturating_add(self.plan.issue_bytes().saturating_mul(options.loops));
            self.number_ios = self.number_ios.saturating_mul(2);
        }
        if self.stays_done() {
            total = 0;
        }
        self.pass = Some(Pass { issued: 0, queued: 0, total });
        Some(())
    }

    fn has_another_pass(&mut self) -> bool {
        if self.options().time_based {
            return true;
        }
        if self.loops_left > 0 {
            self.loops_left -= 1;
            return true;
        }
        if self.is_file_done && self.options().io_size.is_none() {
            return false;
        }
        let issued: u64 = self.issued_bytes.iter().sum();
        let left = self.plan.issue_bytes().saturating_sub(issued);
        !self.has_issued_number() && left > 0 && left >= self.plan.most()
    }

    /// Whether nothing more is issued to the file, as its end was reached: one more pass is empty, but for a flush.
    fn stays_done(&self) -> bool {
        let options = self.options();
        self.is_file_done && !options.do_verify && options.loops == 1
    }

    /// Positions at the beginning, and all blocks free.
    fn reset_file(&mut self) {
        self.last_end = [self.plan.offset; 3];
        self.last_start = [None; 3];
        if let Some(map) = &mut self.map {
            map.clear();
        }
        if let Some(lfsr) = &mut self.lfsr {
            lfsr.reset(self.plan.seeds[seeds::OFFSETS]);
        }
    }

    fn has_issued_number(&self) -> bool {
        let loops = self.options().loops;
        self.number_ios > 0
            && self.issued.iter().sum::<u64>() >= self.number_ios.saturating_mul(loops)
    }

    fn has_issued_all(&self) -> bool {
        let options = self.options();
        let [read, written, trimmed] = self.issued_bytes;
        let bytes = match options.direction.does {
            [true, true, _] => read + written,
            [_, true, _] => written,
            [true, ..] => read,
            _ => trimmed,
        };
        bytes >= self.plan.issue_bytes().saturating_mul(options.loops) || self.has_issued_number()
    }

    /// The next request of this pass; `None` if there is no place for one, not even in a file that is begun again.
    #[inline]
    fn make_in_pass(&mut self) -> Option<Request> {
        let mut draws = 0;
        loop {
            let request = self.make_request();
            if request.is_some() || !self.options().begins_again || draws == DRAWS_MAX {
                return request;
            }
            // A place that is drawn may have no room; fio draws until one has.
            draws += 1;
            self.reset_file();
        }
    }

    /// The next request; `None` if there is no place for one.
    #[inline]
    fn make_request(&mut self) -> Option<Request> {
        self.marks.begin_request();
        let Some(direction) = self.next_direction() else {
            self.last = Some(Op::Flush);
            self.marks.issue(self.plan.queues_flushes);
            return Some(FLUSH);
        };
        let request = self.make(direction);
        match request {
            Some(_) => self.marks.issue(self.plan.queues[direction]),
            None => self.marks.give_up(),
        }
        request
    }

    /// The next read, write or trim; `None` if there is no place for one.
    #[inline]
    fn make(&mut self, direction: usize) -> Option<Request> {
        let (offset, is_random) = self.next_offset(direction)?;
        let mut bytes = self.next_size(direction, offset, is_random)?;
        let stream = self.next_stream(direction);
        if offset + bytes > self.plan.file_bytes {
            return None;
        }
        if let Some(map) = self.map.as_mut().filter(|_| self.marks.marks()) {
            let least = self.sizes[direction].least;
            let block = (offset - self.plan.offset) / least;
            bytes = bytes.min(map.take(block, bytes.div_ceil(least)) * least);
        }
        self.last_start[direction] = Some(offset);
        self.last_end[direction] = offset + bytes;
        self.issued[direction] += 1;
        self.issued_bytes[direction] += bytes;
        if let Some(pass) = &mut self.pass {
            pass.issued += bytes;
            pass.queued += bytes * u64::from(self.plan.queues[direction]);
        }
        let op = [Op::Read, Op::Write, Op::Trim][direction];
        self.last = Some(op);
        Some(Request { op, offset, bytes, stream, after_us: 0 })
    }

    /// Whether it reads, writes or trims next; `None` if it flushes.
    #[inline]
    fn next_direction(&mut self) -> Option<usize> {
        let options = &self.plan.options;
        let does = options.direction.does;
        if does[WRITE] && (options.fsync > 0 || options.fdatasync > 0) && self.flushes() {
            return None;
        }
        Some(match does {
            [true, true, _] => self.next_of_mix(),
            [true, ..] => READ,
            [_, true, true] if self.last_start[WRITE] == self.last_start[TRIM] => TRIM,
            [_, true, _] => WRITE,
            _ => TRIM,
        })
    }

    /// Whether a flush is due.
    fn flushes(&self) -> bool {
        let options = &self.plan.options;
        let may_follow = if options.version.flushes_after_writes_only() {
            self.last == Some(Op::Write)
        } else {
            self.last != Some(Op::Flush) && !options.direction.is_trimwrite()
        };
        let written = self.issued[WRITE];
        let is_due = |every: u64| every > 0 && written > 0 && written.is_multiple_of(every);
        may_follow && (is_due(options.fsync) || is_due(options.fdatasync))
    }

    fn next_of_mix(&mut self) -> usize {
        let reads = self.plan.options.rwmixread;
        if self.issued[self.mix_direction] >= self.mix_until {
            let direction = if self.streams.mix.one_to(100) <= reads { READ } else { WRITE };
            if direction != self.mix_direction {
                let other = if self.mix_direction == READ { 100 - reads } else { reads };
                self.mix_until = self.issued[self.mix_direction] * u64::from(other) / 100;
            }
            self.mix_direction = direction;
        }
        self.mix_direction
    }

    /// Where the next request begins, in the file, and whether that was drawn at random. If the random map is not
    /// told, it says so.
    #[inline]
    fn next_offset(&mut self, direction: usize) -> Option<(u64, bool)> {
        self.random_in -= 1;
        let is_due = self.random_in == 0;
        if is_due {
            self.random_in = self.plan.options.random_every;
        }
        let (within, is_random) = self.next_place(direction, is_due)?;
        let plan = &self.plan;
        let offset = plan.offset.checked_add(within)?;
        if within >= plan.io_bytes || offset >= plan.file_bytes {
            return None;
        }
        let trims_first = plan.options.direction.is_random_trimwrite() && direction == TRIM;
        if trims_first && self.last_start[TRIM] == Some(offset) {
            // A trim of that place was the last, too: a write has to follow nonetheless.
            let written = self.last_start[WRITE].unwrap_or(u64::MAX);
            self.last_start[WRITE] = Some(written.wrapping_sub(1));
        }
        Some((offset, is_random))
    }

    /// The next place, from the beginning of the file's part.
    #[inline]
    fn next_place(&mut self, direction: usize, is_due: bool) -> Option<(u64, bool)> {
        let Plan { offset, ref options, .. } = self.plan;
        if options.direction.is_random_trimwrite() && direction == WRITE {
            self.marks.leave_out();
            let trimmed = self.last_start[TRIM].unwrap_or(offset);
            let before = if options.version.writes_where_it_trimmed() { offset } else { 0 };
            return Some((trimmed - before, true));
        }
        if is_due && !options.direction.is_random {
            return Some((self.next_in_sequence(direction)?, false));
        }
        if is_due {
            let percent = options.percentage_random[direction];
            if percent == 100 || self.streams.sequence[direction].one_to(100) <= percent {
                return Some((self.next_at_random(direction)?, true));
            }
        }
        self.marks.leave_out();
        if !is_due && self.plan.options.repeats_offset {
            let last = self.last_start[direction].unwrap_or(offset);
            return Some((last.wrapping_sub(offset), false));
        }
        let next = self.next_in_sequence(direction);
        Some((next.or_else(|| self.next_at_random(direction))?, false))
    }

    /// Where the last request ended, with the gap; `None` at the end of the file.
    fn next_in_sequence(&mut self, direction: usize) -> Option<u64> {
        let Plan { offset, io_bytes, file_bytes, ref options, .. } = self.plan;
        let end = &mut self.last_end[direction];
        if self.wraps && *end >= io_bytes + offset {
            *end = offset;
        }
        if *end >= file_bytes {
            return None;
        }
        if *end == offset && offset > 0 && options.gap < 0 {
            *end = io_bytes.min(file_bytes);
        }
        // Backwards, it may be before the beginning, and so, as in fio, beyond the end.
        let at = end.wrapping_sub(offset);
        if at == 0 || options.gap == 0 {
            return Some(at);
        }
        let next = at.wrapping_add_signed(options.gap);
        if next < file_bytes {
            return Some(next);
        }
        if options.gap > 0 {
            Some(offset)
        } else {
            Some(io_bytes.min(file_bytes).wrapping_add_signed(options.gap))
        }
    }

    /// A place drawn at random; with `time_based`, from a clear map if there is none left.
    #[inline]
    fn next_at_random(&mut self, direction: usize) -> Option<u64> {
        let mut block = self.next_block(direction);
        let options = &self.plan.options;
        if block.is_none() && (options.time_based || options.begins_again) {
            self.reset_file();
            block = self.next_block(direction);
        }
        Some(block? * self.plan.align[direction])
    }

    /// A block as the distribution draws it.
    #[inline]
    fn next_block(&mut self, direction: usize) -> Option<u64> {
        if let Some(skewed) = &mut self.skewed {
            return Some(skewed.draw());
        }
        let blocks = self.blocks[direction];
        if blocks == 0 {
            return None;
        }
        let (start, blocks) = match &self.plan.options.distribution {
            Distribution::Zoned(zones) => {
                let (start, end) = zones[direction].at(self.streams.zones.one_to(100));
                (start * blocks / 100, blocks * (end - start) / 100)
            }
            Distribution::ZonedAbsolute(zones) => {
                let (start, end) = zones[direction].at(self.streams.zones.one_to(100));
                let align = self.plan.align[direction];
                if end / align > blocks {
                    return None;
                }
                (start / align, end / align - start / align)
            }
            _ => (0, blocks),
        };
        Some(start + self.next_of(blocks)?)
    }

    /// One of `blocks` blocks, by the generator and, if there is one, the random map.
    #[inline]
    fn next_of(&mut self, blocks: u64) -> Option<u64> {
        let block = match &mut self.lfsr {
            Some(lfsr) => lfsr.draw()?,
            None => (blocks as f64 * self.streams.offsets.share()) as u64,
        };
        match &self.map {
            Some(map) if !map.is_free(block) => map.next_free(block),
            _ => Some(block),
        }
    }

    #[inline]
    fn next_size(&mut self, direction: usize, offset: u64, is_random: bool) -> Option<u64> {
        let options = &self.plan.options;
        if options.direction.is_random_trimwrite() && direction == WRITE {
            return Some(self.last_end[TRIM] - self.last_start[TRIM]?);
        }
        let of = match (options.bs_is_seq_rand, is_random) {
            (false, _) => direction,
            (true, true) => WRITE,
            (true, false) => READ,
        };
        let room = (self.plan.io_bytes + self.plan.offset).saturating_sub(offset);
        self.sizes[of].draw(&mut self.streams.sizes[of], room)
    }

    /// The placement identifier of a write.
    #[inline]
    fn next_stream(&mut self, direction: usize) -> u16 {
        let Some(placement) = self.plan.placement.as_ref().filter(|_| direction == WRITE) else {
            return 0;
        };
        let identifiers = &placement.identifiers;
        let index = match placement.select {
            Select::Random => self.streams.placement.one_to(identifiers.len() as u32) as usize - 1,
            Select::RoundRobin => {
                let index = self.next_identifier;
                self.next_identifier = (index + 1) % identifiers.len();
                index
            }
        };
        identifiers[index]
    }
}
