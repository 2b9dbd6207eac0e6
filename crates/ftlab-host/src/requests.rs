//! Requests of the host: when they arrive, how many are under way, how long each takes.

use crate::arrivals::{Arrival, Poisson};
use crate::finishing::Finishing;
use crate::groups::{Asker, GroupTimes, Groups};
use crate::host_op::HostOp;
use crate::idle::Idle;
use crate::interval::Interval;
use crate::length::Length;
use crate::page_host::PageHost;
use crate::parameters::{Arrivals, ReadsWhenFull};
use crate::response_times::ResponseTimes;
use crate::responses::Responses;
use crate::slowest::SlowRequest;
use crate::timing::Timing;
use crate::wait_times::WaitTimes;
use crate::watch::Watch;
use crate::write_buffer::{Buffer, BufferCounts, BufferedWrite, Put, entry_of, entry_owner};
use ftlab_flash::{Answer, Chip, Geometry, Log, Lpn, NEVER, NOBODY, Owner, ReadOrder, Wait, Waits};
use std::collections::VecDeque;

/// What was measured of requests.
#[derive(Debug, Clone, Default)]
pub struct RequestTimes {
    /// Response times of reads, writes, trims and flushes, in the order of [`HostOp::ALL`].
    pub of: [ResponseTimes; 4],
    /// Response times by size, tenant and stream, as far as that was asked for.
    pub groups: Vec<GroupTimes>,
    /// Requests under way, averaged over time; those in the queues of tenants included.
    pub under_way_mean: f64,
    /// Of these, requests in the queues of tenants.
    pub queued_mean: f64,
    /// The most that were.
    pub under_way_max: u64,
    /// What happened in the write buffer, if there is one.
    pub buffer: Option<BufferCounts>,
    /// What requests of each kind waited for, in the same order, with waits=on.
    pub waits: Option<[WaitTimes; 4]>,
    /// The slowest requests, the slowest first, if they are kept.
    pub slowest: Vec<SlowRequest>,
}

/// The requests of the host, and when what they asked for is complete.
#[derive(Debug, Clone)]
pub(crate) struct Requests {
    /// Pages that are written to flash later, if there is a buffer.
    pub(crate) buffer: Option<Buffer>,
    /// Whether the FTL works while the host asks for nothing.
    pub(crate) idle: Idle,
    /// Who waited for the same page or for room, for a moment.
    told: Vec<Owner>,
    transfer_ns: u64,
    /// What each request takes beside its pages.
    command_ns: u64,
    reads_when_full: ReadsWhenFull,
    arrivals: Arrivals,
    queue_depth: usize,
    poisson: Poisson,
    /// When the next request arrives, as soon as that is known.
    next_arrival: Option<u64>,
    open: Vec<Open>,
    free: Vec<Owner>,
    /// The request that is being asked for.
    present: Owner,
    /// For whom pages are programmed: the present request, or a page of the buffer.
    writer: Owner,
    /// What will be complete, where it is known when.
    finishing: Finishing,
    /// When the last of what is complete was.
    last_done: u64,
    /// Of each operation, in the order of [`HostOp::ALL`].
    responses: [Responses; 4],
    /// Response times by what requests have in common, if somebody wants to know.
    groups: Option<Box<Groups>>,
    queue: Length,
    /// Time that requests were in the queues of tenants, in nanoseconds.
    queued_ns: u64,
    /// Hosts whose requests are complete, and when these were.
    pub(crate) ended: VecDeque<(u32, u64)>,
    /// Requests under way, those from before the measurement included.
    under_way: usize,
    /// What requests wait for, if somebody wants to know.
    watch: Option<Box<Watch>>,
    tells_waits: bool,
}

/// A request under way.
#[derive(Debug, Clone, Copy)]
struct Open {
    op: HostOp,
    arrival: u64,
    /// For how long it was in the queue of its tenant before.
    queued_ns: u64,
    /// When what is complete of it was.
    done: u64,
    /// Pages of it that nobody knows yet when they are complete.
    waits: u32,
    /// The host that wants to know when it is complete, if one does.
    host: Option<u32>,
    /// Whether it has no more pages.
    is_asked: bool,
    is_measured: bool,
}

impl Requests {
    /// For a chip of this geometry.
    pub(crate) fn new(timing: &Timing, chip: &Chip, geometry: &Geometry) -> Self {
        let parameters = timing.parameters();
        let (luns, page_bytes) = (chip.luns(), geometry.page_bytes());
        let programs_max = timing.programs_at_once(page_bytes) as usize;
        Self {
            buffer: Buffer::new(parameters.write_buffer, page_bytes, programs_max),
            idle: Idle::new(timing.has_slc_pages()),
            told: Vec::new(),
            transfer_ns: chip.transfer_ns(),
            command_ns: (parameters.command_us * 1e3).round() as u64,
            reads_when_full: parameters.reads_when_full,
            arrivals: parameters.arrivals,
            queue_depth: parameters.queue_depth as usize,
            poisson: Poisson::new(parameters.rate, parameters.burst, parameters.arrivals_seed),
            next_arrival: None,
            open: Vec::new(),
            free: Vec::new(),
            present: NOBODY,
            writer: NOBODY,
            finishing: Finishing::new(luns),
            last_done: 0,
            responses: Default::default(),
            groups: Groups::new(parameters.by),
            queue: Length::default(),
            queued_ns: 0,
            ended: VecDeque::new(),
            under_way: 0,
            watch: timing.is_watched().then(|| Box::new(Watch::new(timing.slowest()))),
            tells_waits: parameters.waits,
        }
    }

    /// When the next request arrives, as far as that does not depend on others; not before `now`.
    pub(crate) fn arrival(&mut self, now: u64, arrival: Arrival, pages: &mut PageHost) -> u64 {
        if let Some(next) = self.next_arrival {
            return next;
        }
        let next = match (arrival, self.arrivals) {
            (Arrival::At(time_ns) | Arrival::Of { time_ns, .. }, _) => time_ns,
            (Arrival::OfTrace(time_us), _) => pages.of_trace(time_us, now),
            (Arrival::Next, Arrivals::Poisson) => self.poisson.next(now),
            (Arrival::Next, Arrivals::Closed | Arrivals::Trace) => {
                if self.under_way < self.queue_depth {
                    return now;
                }
                return NEVER;
            }
        };
        // The clock of a trace may run back a little.
        *self.next_arrival.insert(next.max(now))
    }

    /// Passes time to the arrival of the next request, or to the first completion before. True if the request
    /// arrives.
    pub(crate) fn pass(&mut self, chip: &mut Chip, pages: &mut PageHost, arrival: Arrival) -> bool {
        let until = self.arrival(chip.now_ns(), arrival, pages);
        if self.pass_one(chip, until) {
            return false;
        }
        if until < NEVER {
            chip.pass_to(until);
        }
        self.next_arrival = None;
        true
    }

    /// Completes what is complete first, if that is not after `until`: when.
    #[inline]
    fn complete_next(&mut self, chip: &mut Chip, until: u64) -> Option<u64> {
        let known = self.finishing.first();
        if let Some((time, owner)) = chip.advance(until.min(known)) {
            self.complete_page(chip, owner, time);
            return Some(time);
        }
        if known > until || known == NEVER {
            return None;
        }
        self.last_done = self.last_done.max(known);
        let owner = self.finishing.take_first();
        match entry_of(owner) {
            Some(entry) => self.programmed(chip, entry, known),
            None => self.end_complete(owner),
        }
        Some(known)
    }

    /// A page of a request is complete, or one of the buffer is in flash.
    fn complete_page(&mut self, chip: &Chip, owner: Owner, time: u64) {
        self.last_done = self.last_done.max(time);
        if let Some(entry) = entry_of(owner) {
            return self.programmed(chip, entry, time);
        }
        let open = &mut self.open[owner as usize];
        open.waits -= 1;
        if time > open.done {
            open.done = time;
            if let (Some(watch), Some(waits)) = (&mut self.watch, chip.latest_waits()) {
                watch.page(owner, waits);
            }
        }
        self.end_if_complete(owner, time);
    }

    /// A page of the buffer is in flash: there is room for another.
    fn programmed(&mut self, chip: &Chip, entry: u32, now: u64) {
        let Some(buffer) = &mut self.buffer else { return };
        if let (Some(watch), Some(waits)) = (&mut self.watch, chip.latest_waits()) {
            watch.entry(entry, waits);
        }
        let mut told = std::mem::take(&mut self.told);
        buffer.programmed(entry, &mut told);
        let in_flash = told.len();
        buffer.take_in(&mut told);
        for (index, owner) in told.drain(..).enumerate() {
            // A page that finds room has yet to come.
            let (of, own_ns) =
                if index < in_flash { (Some(entry), 0) } else { (None, self.transfer_ns) };
            self.stop_waiting(owner, of, own_ns, now);
        }
        self.told = told;
    }

    /// A page that a request waited for is complete `own_ns` from now: one that is in flash with this page of the
    /// buffer, or one for which there is room.
    fn stop_waiting(&mut self, owner: Owner, entry: Option<u32>, own_ns: u64, now: u64) {
        let open = &mut self.open[owner as usize];
        open.waits -= 1;
        if now + own_ns > open.done {
            open.done = now + own_ns;
            let age_ns = now - open.arrival;
            match (&mut self.watch, entry) {
                (Some(watch), Some(entry)) => watch.page_of_buffer(owner, entry, age_ns),
                (Some(watch), None) => {
                    let mut waits = Waits::of(Wait::Buffer, age_ns);
                    waits.add(Wait::Own, own_ns);
                    watch.page(owner, waits);
                }
                (None, _) => {}
            }
        }
        self.end_if_complete(owner, now);
    }

    /// The present request writes a page into the buffer.
    pub(crate) fn put(&mut self, write: BufferedWrite, now: u64) {
        let Some(buffer) = &mut self.buffer else { return };
        match buffer.put(write, self.present) {
            Put::Acknowledged => self.page_transferred(now),
            Put::Waits => self.page_waits(),
        }
    }

    /// The present request flushes the buffer, if there is one.
    pub(crate) fn flush(&mut self) {
        let present = self.present;
        if self.buffer.as_mut().is_some_and(|buffer| buffer.flush(present)) {
            self.page_waits();
        }
    }

    /// The present request gives up a page.
    pub(crate) fn trim(&mut self, lpn: Lpn, now: u64) {
        let Some(buffer) = &mut self.buffer else { return };
        let mut told = std::mem::take(&mut self.told);
        buffer.trim(lpn, &mut told);
        buffer.take_in(&mut told);
        for owner in told.drain(..) {
            self.stop_waiting(owner, None, self.transfer_ns, now);
        }
        self.told = told;
    }

    /// Whether a page can be read from the buffer, which is counted.
    pub(crate) fn hit(&mut self, lpn: Lpn, now: u64) -> bool {
        let Some(buffer) = self.buffer.as_mut().filter(|buffer| buffer.holds(lpn)) else {
            return false;
        };
        buffer.counts.read_hits += 1;
        self.page_transferred(now);
        true
    }

    /// The next page of the buffer that the FTL has to write, if one is due at present; what it asks for from
    /// here on is for that page.
    #[inline]
    pub(crate) fn next_program(&mut self, chip: &mut Chip) -> Option<BufferedWrite> {
        let (entry, write) = self.buffer.as_mut()?.next_program()?;
        self.writer = entry_owner(entry);
        chip.ask_for(self.writer, None);
        Some(write)
    }

    /// Passes time to the next completion, if that is not after `until`. False if there is none.
    #[inline]
    pub(crate) fn pass_one(&mut self, chip: &mut Chip, until: u64) -> bool {
        let Some(time) = self.complete_next(chip, until) else { return false };
        chip.pass_to(time);
        true
    }

    /// Takes what the chip answers of the pages that were asked for last: those of the present request, or the page of
    /// the buffer that the FTL has written.
    #[inline]
    pub(crate) fn hear(&mut self, chip: &mut Chip) {
        let Answer { done_ns, pending } = chip.take_answer();
        let waits = || chip.answered_waits();
        if let Some(entry) = entry_of(self.writer) {
            // Of one that is pending, the chip tells when it is complete.
            let Some(done) = done_ns else { return };
            self.finishing.push(done, self.writer);
            self.watch.iter_mut().for_each(|watch| watch.entry(entry, waits()));
            return;
        }
        if pending > 0 {
            self.open[self.present as usize].waits += pending;
        }
        if let Some(done) = done_ns {
            self.page_done(done, waits);
        }
    }

    /// Ends a request whose pages are all complete by `now`; if they will be, notes when.
    #[inline]
    fn end_if_complete(&mut self, owner: Owner, now: u64) {
        let open = &self.open[owner as usize];
        if open.waits > 0 || !open.is_asked {
            return;
        }
        let open = &mut self.open[owner as usize];
        open.done += self.command_ns;
        self.watch.iter_mut().for_each(|watch| watch.command(owner, self.command_ns));
        if open.done > now {
            return self.finishing.push(open.done, owner);
        }
        self.end_complete(owner);
    }

    fn end_complete(&mut self, owner: Owner) {
        let Open { op, arrival, queued_ns, done, host, is_measured, .. } =
            self.open[owner as usize];
        self.under_way -= 1;
        self.free.push(owner);
        self.ended.extend(host.map(|host| (host, done)));
        if is_measured {
            self.queue.leave(done);
            let response_ns = done - arrival + queued_ns;
            if let Some(watch) = &mut self.watch {
                watch.end(owner, op, [arrival - queued_ns, arrival, done]);
            }
            if let Some(groups) = &mut self.groups {
                groups.end(owner, op, response_ns);
            }
            self.responses[op as usize].record(response_ns);
        }
    }

    /// Whether no request is under way, nor anything that is known to be complete later.
    pub(crate) fn is_quiet(&self) -> bool {
        self.under_way == 0 && self.finishing.is_empty()
    }

    #[inline]
    pub(crate) fn begin(&mut self, chip: &mut Chip, op: HostOp, arrival: Arrival) {
        let now = chip.now_ns();
        self.idle.wake();
        self.queue.pass(now);
        self.queue.join();
        self.under_way += 1;
        let (host, queued_ns) = match arrival {
            Arrival::Of { host, queued_ns, .. } => (Some(host), queued_ns),
            _ => (None, 0),
        };
        self.queued_ns += queued_ns;
        let open = Open {
            op,
            arrival: now,
            queued_ns,
            done: now,
            waits: 0,
            host,
            is_asked: false,
            is_measured: true,
        };
        self.present = self.free.pop().unwrap_or(self.open.len() as Owner);
        if let Some(free) = self.open.get_mut(self.present as usize) {
            *free = open;
        } else {
            self.open.push(open);
        }
        self.writer = self.present;
        self.watch.iter_mut().for_each(|watch| watch.begin(self.present));
        self.groups.iter_mut().for_each(|groups| groups.begin(self.present));
        let number = self.watch.as_ref().map(|watch| watch.number(self.present));
        chip.ask_for(self.present, number);
        if self.reads_when_full != ReadsWhenFull::First && op == HostOp::Read {
            let is_full = self.buffer.as_ref().is_some_and(Buffer::is_full);
            chip.order_reads(match self.reads_when_full {
                ReadsWhenFull::Turn if is_full => ReadOrder::Turn,
                ReadsWhenFull::Last if is_full => ReadOrder::Last,
                _ => ReadOrder::First,
            });
        }
    }

    /// The present request asks for further pages, but not for `lacking` sectors of them.
    #[inline]
    pub(crate) fn ask_for_pages(&mut self, pages: u32, lacking: u32, asker: Asker) {
        if let Some(groups) = &mut self.groups {
            groups.ask(self.present, pages, lacking, asker);
        }
    }

    /// A page of the present request will be complete at this time, after it has waited for this.
    #[inline]
    pub(crate) fn page_done(&mut self, done: u64, waits: impl Fn() -> Waits) {
        let open = &mut self.open[self.present as usize];
        if done > open.done {
            open.done = done;
            self.watch.iter_mut().for_each(|watch| watch.page(self.present, waits()));
        }
    }

    /// A page of the present request takes a transfer to or from the drive, and nothing else.
    pub(crate) fn page_transferred(&mut self, now: u64) {
        let own_ns = self.transfer_ns;
        self.page_done(now + own_ns, || Waits::of(Wait::Own, own_ns));
    }

    /// When a page of the present request will be complete, nobody knows.
    #[inline]
    pub(crate) fn page_waits(&mut self) {
        self.open[self.present as usize].waits += 1;
    }

    /// All of the present request has been asked for; when what is known of it will be complete.
    #[inline]
    pub(crate) fn end(&mut self, now: u64) -> u64 {
        let Open { op, arrival, done, waits, .. } = self.open[self.present as usize];
        if op == HostOp::Write && waits == 0 && done == arrival {
            // The map keeps all of it in memory (leaftl:buffer): its pages have come at once, as into a write buffer, and
            // the channels of the flash stay free.
            self.page_transferred(now);
        }
        let open = &mut self.open[self.present as usize];
        open.is_asked = true;
        let done = open.done + self.command_ns;
        self.end_if_complete(self.present, now);
        done
    }

    /// Measures from here on.
    pub(crate) fn measure(&mut self, now: u64) {
        self.open.iter_mut().for_each(|open| open.is_measured = false);
        self.responses = Default::default();
        self.watch.iter_mut().for_each(|watch| watch.measure());
        self.groups.iter_mut().for_each(|groups| groups.measure());
        self.queue = Length::beginning_at(now);
        self.queued_ns = 0;
        self.buffer.iter_mut().for_each(|buffer| buffer.counts = BufferCounts::default());
    }

    /// The responses since the last call; those of writes in sum, and quantiles of reads, too.
    pub(crate) fn end_interval(&mut self, ended: &mut Interval) {
        let [reads, writes, trims, flushes] = &mut self.responses;
        for others in [trims, flushes] {
            others.end_interval(&mut Interval::default());
        }
        let of_reads = reads.end_interval(&mut Interval::default());
        ended.quantiles_ns = [of_reads, writes.end_interval(ended)];
    }

    /// Requests that are not complete.
    pub(crate) fn pending(&self) -> usize {
        self.under_way
    }

    /// Passes time until everything is complete.
    pub(crate) fn complete(&mut self, chip: &mut Chip) {
        while self.complete_next(chip, NEVER).is_some() {}
    }

    /// When the last of all that is complete was.
    pub(crate) fn end_ns(&self) -> u64 {
        self.last_done
    }

    /// Gives the slowest requests their slices, which are in the log of the chip, and keeps that short.
    #[inline]
    pub(crate) fn settle(&mut self, chip: &mut Chip) {
        let Some(slowest) = self.watch.as_mut().and_then(|watch| watch.slowest.as_mut()) else {
            return;
        };
        let Some(log) = chip.log_mut() else { return };
        if log.is_full() {
            slowest.settle(log);
            log.forget(oldest(&self.open, &self.free));
        }
    }

    /// The slowest requests, once all are complete, with what is in the log.
    pub(crate) fn slowest(&self, log: Option<&Log>) -> Vec<SlowRequest> {
        let slowest = self.watch.as_ref().and_then(|watch| watch.slowest.clone());
        let (Some(mut slowest), Some(log)) = (slowest, log) else { return Vec::new() };
        slowest.settle(log);
        slowest.requests().to_vec()
    }

    pub(crate) fn measured(&self, elapsed_ns: u64) -> RequestTimes {
        RequestTimes {
            of: self.responses.each_ref().map(Responses::times),
            groups: self.groups.as_ref().map_or_else(Vec::new, |groups| groups.measured()),
            under_way_mean: (self.queue.integral() + u128::from(self.queued_ns)) as f64
                / elapsed_ns.max(1) as f64,
            queued_mean: self.queued_ns as f64 / elapsed_ns.max(1) as f64,
            under_way_max: self.queue.most(),
            buffer: self.buffer.as_ref().map(|buffer| buffer.counts),
            waits: self.watch.as_ref().filter(|_| self.tells_waits).map(|watch| watch.measured()),
            slowest: Vec::new(),
        }
    }
}

/// From when on the log of LUNs is needed: a little before the first arrival of the requests under way.
fn oldest(open: &[Open], free: &[Owner]) -> u64 {
    let mut is_under_way = vec![true; open.len()];
    for free in free {
        is_under_way[*free as usize] = false;
    }
    let under_way = || open.iter().zip(&is_under_way).filter(|(_, is)| **is).map(|(open, _)| open);
    let Some(arrival) = under_way().map(|open| open.arrival).min() else { return 0 };
    let done = under_way().map(|open| open.done).max().unwrap_or(arrival);
    arrival.saturating_sub((done - arrival) / 8)
}
