//! Flash with a clock.
//!
//! # What takes how long
//! A program is a transfer over the channel and the program itself; a read is the read from the cells
//! and a transfer; a copyback is a read and a program, the page passing through the controller, which
//! corrects its errors; an erase takes the time of an erase on every LUN that holds a part of the
//! block. Where pages differ, by their places in word lines and planes or by wear (`page-types`, `planes`,
//! `read-retries`), each takes its own time. An operation starts as soon as it has been asked for, what it depends on is complete, and
//! its LUN and channel are free; each LUN and each channel serves in the order of requests. Time is
//! in whole nanoseconds and depends on nothing but the operations.
//!
//! # What a host write waits for
//! Its response time lasts from its arrival to the end of the program of its page. What the FTL does before that
//! program, and says is [awaited](crate::Purpose::is_awaited), makes room for it: the program starts when all of it is
//! complete, and so do the programs of
//! later host writes, since the drive serves them in order. What nobody waits for, such
//! as a step of incremental collection after the program, delays later host writes only where it takes their LUN or
//! channel.
//!
//! An erase starts when every copyback before it is complete, since these may have been of its pages.
//!
//! # When a host write arrives
//! In a closed loop, when one of the `queue-depth` page writes before it is complete; the first ones
//! at once. In an open loop, at the time of its request. Reads, trims and flushes of the host take no
//! time.
//!
//! # Requests
//! With `unit=request` the host waits for requests instead: a request lasts from its arrival to the end
//! of the last of its pages, all of which are asked for when it arrives. Reads count too: a page is read
//! from the LUN that it is on, after whatever that LUN was asked for before; a page that holds nothing
//! takes a transfer to the host, and no LUN or channel. Trims and flushes change tables only, and take no
//! time. Filling the drive is not part of it: the first request finds all LUNs at rest.
//!
//! With `unit=transaction` these are requests of the threads of a database's clients, which the caller simulates.
//!
//! # What requests wait for
//! With `waits=on`, the time of each request is divided by what the page of it waited for that is complete last:
//! that is what the request waited for. A LUN that has nothing to do but is kept for an operation that waits is
//! busy with that, or with what that waits for; so is a channel. A host write waits for a collection until all
//! pages are moved, and from there to the end of the erase for that.
//!
//! # The rule of FEMU
//! With `priority=femu` nothing waits for anything but its LUN: not the host write for the collection
//! before it, nor the program of a copyback for its read, nor an erase for the pages that leave the block.
//!
//! An operation that fails takes no time.
//!
//! With one LUN and a queue depth of one, the time that passes is exactly the sum of all operations,
//! each count times its latency.

mod arrivals;
mod finishing;
mod groups;
mod host;
mod idle;
mod interval;
mod length;
mod measured;
mod quiet;
mod requests;
mod responses;
mod watch;

use crate::cells::Reader;
use crate::host_op::HostOp;
use crate::ledger::Ledger;
use crate::luns::Luns;
use crate::occupation::After;
use crate::occupied::Occupied;
use crate::owner::NOBODY;
use crate::schedule::Schedule;
use crate::timing::{Priority, Timing};
use crate::waits::Waits;
use crate::write_buffer::{Buffer, BufferedWrite};
use crate::{BlockId, Content, Flash, Geometry, Lpn, Merge, Page, Ppn, Purpose};
use host::Host;
use requests::Requests;
use responses::Responses;

pub use arrivals::Arrival;
pub use groups::{Asker, Group, GroupTimes};
pub use interval::Interval;
pub use measured::Measured;
pub use requests::RequestTimes;

/// Any flash, and the time that its operations take.
#[derive(Debug, Clone)]
pub struct Timed<F> {
    flash: F,
    luns: Luns,
    host: Host,
    /// Whether a host write waited -> every copyback so far that did so is complete by then.
    moved_by: [u64; 2],
    /// The same of every erase and read of a collection that a host write had to wait for.
    collected_by: u64,
    /// Whether operations wait for those that they depend on.
    has_dependencies: bool,
    /// Of page writes, if the host waits for these.
    responses: Responses,
    /// The requests that the host waits for, if it does not wait for page writes.
    requests: Option<Box<Requests>>,
    /// Whether requests have begun: the drive is filled page by page before.
    serves_requests: bool,
    measured: Measured,
    interval: Interval,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The FTL has to write a page of the write buffer.
    Program(BufferedWrite),
    /// The host asks for nothing, and all LUNs are at rest: the FTL may do some work, or tell the flash to
    /// [rest](Timed::rest).
    Idle,
    /// The request has arrived.
    Arrived,
}

/// What somebody waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The FTL has to write a page of the write buffer.
    Program(BufferedWrite),
    /// A request of a host is complete.
    Host {
        /// Its number.
        host: u32,
        /// When, in nanoseconds.
        done_ns: u64,
    },
    /// No request of a host is complete by then.
    Nobody,
}

impl<F: Flash> Timed<F> {
    /// Gives `flash`, which has this geometry, a clock.
    pub fn new(flash: F, timing: &Timing, geometry: &Geometry) -> Self {
        let parameters = timing.parameters();
        let queue_depth = parameters.queue_depth as usize;
        let by_request = timing.has_requests();
        let mut luns = Luns::new(timing, geometry);
        let is_watched = parameters.waits || timing.slowest() > 0;
        if by_request && is_watched && parameters.priority != Priority::ReadFirst {
            luns.keep_accounts(timing.slowest() > 0);
        }
        Self {
            flash,
            luns,
            host: Host::new(queue_depth, parameters.speed_up),
            moved_by: [0; 2],
            collected_by: 0,
            has_dependencies: parameters.priority != Priority::Femu,
            responses: Responses::default(),
            requests: by_request.then(|| Box::new(Requests::new(timing, geometry))),
            serves_requests: false,
            measured: Measured::default(),
            interval: Interval::default(),
        }
    }

    /// A block had been erased so often before, beside what the timing says.
    pub fn wear(&mut self, block: BlockId, erases: u32) {
        self.luns.wear(block, erases);
    }

    /// The flash below.
    pub fn below(&self) -> &F {
        &self.flash
    }

    /// Says when the next page writes arrive, in microseconds of the trace; for an open loop. The
    /// first one ever given arrives at the end of what was done before.
    pub fn expect(&mut self, times_us: &[u64]) {
        let start = self.luns.end();
        for &time_us in times_us {
            let arrival = self.host.of_trace(time_us, start);
            self.host.expect(arrival, 1);
        }
    }

    /// Says when the next page writes arrive, in nanoseconds of this clock, whatever the timing says of
    /// arrivals: for hosts that the caller simulates.
    pub fn expect_at(&mut self, arrival_ns: u64, writes: usize) {
        self.host.expect(arrival_ns, writes);
    }

    /// When the last of the host's page writes since the last call was complete, in nanoseconds; 0 if there
    /// was none.
    pub fn take_done_ns(&mut self) -> u64 {
        std::mem::take(&mut self.host.latest_done)
    }

    /// When everything so far is complete, in nanoseconds.
    pub fn end_ns(&self) -> u64 {
        self.luns.end()
    }

    /// The host's next page write begins at this time of a clock of the caller's, in nanoseconds, whatever the
    /// timing says of arrivals: for a drive that is served. Time does not run back.
    pub fn begin_host_write_at(&mut self, arrival_ns: u64) {
        self.host.now = self.host.now.max(arrival_ns);
        self.host.is_waiting = true;
    }

    /// When the latest page write of the host is complete, in nanoseconds.
    pub fn host_write_done_ns(&self) -> u64 {
        self.host.done
    }

    /// When the read of a page is complete for which the host asks at this time, both in nanoseconds.
    pub fn host_read_done_ns(&mut self, from: Ppn, arrival_ns: u64) -> u64 {
        self.luns.sense(from, Reader::Host { request: NOBODY, now: arrival_ns });
        self.measured.host_reads_ns += self.luns.read_ns(from);
        self.luns.read(from, arrival_ns, true)
    }

    /// A request of the host arrives: its pages follow, and then its [end](Self::end_request). Before that,
    /// the FTL may have to write pages of the write buffer: the caller calls again after each. Does nothing if
    /// the host waits for page writes.
    pub fn begin_request(&mut self, op: HostOp, arrival: Arrival) -> Step {
        let Some(requests) = &mut self.requests else { return Step::Arrived };
        if !std::mem::replace(&mut self.serves_requests, true) {
            let end = self.luns.end();
            self.host.now = end;
            requests.schedule.iter_mut().for_each(|schedule| schedule.begin_at(end));
            requests.measure(end);
        }
        requests.settle(self.luns.ledger_mut());
        let host = &mut self.host;
        let mut now = host.now;
        loop {
            if let Some(write) = requests.next_program() {
                host.now = now;
                return Step::Program(write);
            }
            if requests.idle.may_work() {
                let of_trace = |time_us, now| host.of_trace(time_us, now);
                let luns_end = self.luns.end();
                if let Some(idle) = requests.idle_from(now, arrival, luns_end, of_trace) {
                    host.now = idle;
                    return Step::Idle;
                }
            }
            if requests.pass(&mut now, arrival, |time_us, now| host.of_trace(time_us, now)) {
                break;
            }
        }
        host.now = now;
        requests.begin(op, arrival, now);
        Step::Arrived
    }

    /// Passes time until a request of a [host](Arrival::Of) is complete, at most to `until_ns`: which host, and
    /// when; none if there is none by then. Before that, the FTL may have to write pages of the write buffer:
    /// the caller calls again after each.
    pub fn await_hosts(&mut self, until_ns: u64) -> Awaited {
        let Some(requests) = &mut self.requests else { return Awaited::Nobody };
        loop {
            if let Some((host, done_ns)) = requests.ended.pop_front() {
                return Awaited::Host { host, done_ns };
            }
            if let Some(write) = requests.next_program() {
                return Awaited::Program(write);
            }
            if !requests.pass_one(&mut self.host.now, until_ns) {
                return Awaited::Nobody;
            }
        }
    }

    /// The write buffer is emptied: the next page of it that the FTL has to write, until there is none left.
    pub fn empty_buffer(&mut self) -> Option<BufferedWrite> {
        let requests = self.requests.as_mut()?;
        while requests.buffer.as_ref().is_some_and(|buffer| !buffer.is_empty()) {
            requests.buffer.iter_mut().for_each(Buffer::hurry);
            if let Some(write) = requests.next_program() {
                return Some(write);
            }
            if !requests.pass_one(&mut self.host.now, u64::MAX) {
                break;
            }
        }
        None
    }

    /// The present request writes a page into the write buffer; false if there is none, and the FTL has to
    /// write it.
    pub fn buffer_write(&mut self, write: BufferedWrite) -> bool {
        let now = self.host.now;
        let Some(requests) = self.requests.as_mut().filter(|it| it.buffer.is_some()) else {
            return false;
        };
        requests.put(write, now);
        true
    }

    /// Whether there is a write buffer.
    pub fn has_buffer(&self) -> bool {
        self.requests.as_ref().is_some_and(|requests| requests.buffer.is_some())
    }

    /// LUNs of the drive.
    pub fn luns(&self) -> u32 {
        self.luns.count()
    }

    /// There is nothing to do while the host asks for nothing, up to its next request.
    pub fn rest(&mut self) {
        self.requests.iter_mut().for_each(|requests| requests.idle.rest());
    }

    /// Reads a page of the present request from the write buffer; false if it is not there.
    pub fn read_buffered(&mut self, lpn: Lpn) -> bool {
        let now = self.host.now;
        self.requests.as_mut().is_some_and(|requests| requests.hit(lpn, now))
    }

    /// The present request gives up a page, which need not be programmed if it is in the write buffer.
    pub fn trim_buffered(&mut self, lpn: Lpn) {
        let now = self.host.now;
        self.requests.iter_mut().for_each(|requests| requests.trim(lpn, now));
    }

    /// The present request makes everything durable that it was told is written.
    pub fn flush(&mut self) {
        self.requests.iter_mut().for_each(|requests| requests.flush());
    }

    /// Pages that the host has written and that never came to the FTL, and those that have not yet.
    pub fn absorbed(&self) -> [u64; 2] {
        let buffer = self.requests.as_ref().and_then(|requests| requests.buffer.as_ref());
        buffer.map_or([0; 2], |buffer| {
            [buffer.counts.coalesced + buffer.counts.trimmed, buffer.unheard()]
        })
    }

    /// The present request reads a page, or one that holds nothing.
    pub fn read_for_host(&mut self, from: Option<Ppn>) {
        let now = self.host.now;
        let Some(requests) = &mut self.requests else { return };
        let (present, asking) = (requests.present(), requests.asking());
        if let Some(from) = from {
            self.luns.sense(from, Reader::Host { request: present, now });
        }
        match (from, &mut requests.schedule) {
            (None, _) => requests.page_transferred(now),
            (Some(from), None) => {
                self.measured.host_reads_ns += self.luns.read_ns(from);
                ask_for(self.luns.ledger_mut(), asking);
                let done = self.luns.read(from, now, true);
                requests.page_done(done, || latest_waits(self.luns.ledger()));
            }
            (Some(from), Some(schedule)) => {
                let time = self.luns.read_ns(from);
                self.measured.host_reads_ns += time;
                ask_for(schedule.ledger_mut(), asking);
                schedule.read(from, time, present);
                requests.page_waits();
            }
        }
    }

    /// The present request asks for further pages, but not for `lacking` sectors of them, and this is who asks; of
    /// use with `by=` only.
    #[inline]
    pub fn ask_for_pages(&mut self, pages: u32, lacking: u32, asker: Asker) {
        if let Some(requests) = &mut self.requests {
            requests.ask_for_pages(pages, lacking, asker);
        }
    }

    /// The present request has no more pages.
    pub fn end_request(&mut self) {
        let Some(requests) = &mut self.requests else { return };
        let done = requests.end(self.host.now);
        self.host.latest_done = self.host.latest_done.max(done);
    }

    /// What is not complete: requests, and operations of LUNs that choose what to do next.
    pub fn pending(&self) -> usize {
        self.requests.as_ref().map_or(0, |requests| requests.pending())
    }

    /// How occupied everything was up to `now`, which is not before the present.
    fn occupied(&self, now: u64, requests: Option<&Requests>) -> Occupied {
        match requests.and_then(|requests| requests.schedule.as_ref()) {
            Some(schedule) => schedule.occupied(),
            None => self.luns.occupied(now),
        }
    }

    /// Measures from here on, forgetting what was measured before.
    pub fn measure(&mut self) {
        self.responses = Responses::default();
        let mut start = self.luns.end();
        if let Some(requests) = self.requests.as_mut().filter(|_| self.serves_requests) {
            start = self.host.now;
            requests.measure(start);
        }
        let occupied_before = self.occupied(start, self.requests.as_deref());
        self.measured = Measured { start, occupied_before, ..Measured::default() };
        self.interval = Interval { start, ..Interval::default() };
    }

    /// What has been measured, once everything that was asked for is complete.
    pub fn measured(&self) -> Measured {
        let completed = self.requests.as_ref().map(|requests| requests.completed());
        let end_of_requests = completed.as_ref().map_or(0, Requests::end_ns);
        let mut measured = self.measured.clone();
        measured.elapsed_ns = self.luns.end().max(end_of_requests) - measured.start;
        measured.arrived_ns = self.host.now.saturating_sub(measured.start);
        measured.requests = completed.as_ref().map(|requests| RequestTimes {
            slowest: requests.slowest(self.luns.ledger()),
            ..requests.measured(measured.elapsed_ns)
        });
        measured.response_times = match &measured.requests {
            Some(requests) => requests.of[HostOp::Write as usize].clone(),
            None => self.responses.times(),
        };
        let occupied = self.occupied(u64::MAX, completed.as_ref());
        measured.occupied = occupied.since(&measured.occupied_before);
        measured
    }

    /// Ends an interval, and says what happened in it.
    pub fn end_interval(&mut self) -> Interval {
        let mut ended = self.interval;
        let mut end = self.luns.end();
        if let Some(requests) = self.requests.as_mut().filter(|_| self.serves_requests) {
            end = self.host.now;
            requests.end_interval(&mut ended);
        } else {
            self.responses.end_interval(&mut ended);
        }
        ended.elapsed_ns = end - ended.start;
        self.interval = Interval { start: end, ..Interval::default() };
        ended
    }

    /// LUNs that choose what to do next, once they do.
    #[inline]
    fn schedule(&mut self) -> Option<&mut Schedule> {
        if !self.serves_requests {
            return None;
        }
        self.requests.as_mut()?.schedule.as_mut()
    }

    /// Where an operation cannot start before: the arrival of the present host write.
    #[inline]
    fn now(&self) -> u64 {
        self.host.now
    }

    /// If this is the first of what a page write of the host waits for, that arrives.
    #[inline]
    fn arrive(&mut self, is_awaited: bool) {
        if is_awaited && !self.host.is_waiting && !self.serves_requests {
            self.host.begin();
        }
    }

    /// Reads `from` and programs `to`; the time that it takes of their LUNs.
    #[expect(clippy::inline_always, reason = "called for each page that is moved")]
    #[inline(always)]
    fn copy(&mut self, from: Ppn, to: Ppn, is_awaited: bool) -> u64 {
        self.arrive(is_awaited);
        self.luns.sense(from, Reader::Ftl);
        let times = [self.luns.read_ns(from), self.luns.program_ns(to)];
        if let Some(schedule) = self.schedule() {
            schedule.copy(from, to, times, is_awaited);
            return times[0] + times[1];
        }
        let done = self.luns.copy(from, to, self.now());
        self.moved_until(done, is_awaited);
        times[0] + times[1]
    }

    /// Takes note of copies, which are complete at `done`.
    #[inline]
    fn moved_until(&mut self, done: u64, is_awaited: bool) {
        if self.has_dependencies {
            let moved_by = &mut self.moved_by[usize::from(is_awaited)];
            *moved_by = done.max(*moved_by);
        }
    }

    /// Programs a page that a page write of the host asked for, or the FTL itself.
    #[inline]
    fn program_new(&mut self, to: Ppn, is_awaited: bool) {
        self.arrive(is_awaited);
        let time = self.luns.program_ns(to);
        if !is_awaited {
            self.luns.program(to, self.now(), After::default(), false);
            self.measured.others_ns += time;
            return;
        }
        let after = After { moved: self.moved_by[1], erased: self.collected_by };
        let done = self.luns.program(to, self.now(), after, true);
        self.measured.host_writes_ns += time;
        self.measured.host_writes += 1;
        self.interval.host_writes += 1;
        self.responses.record(self.host.end(done));
    }

    /// Programs a page that the present request asked for, or the FTL itself.
    fn program_for_request(&mut self, to: Ppn, is_awaited: bool) {
        let (now, time) = (self.host.now, self.luns.program_ns(to));
        let Some(requests) = &mut self.requests else { return };
        if is_awaited {
            self.measured.host_writes_ns += time;
            self.measured.host_writes += 1;
            self.interval.host_writes += 1;
        } else {
            self.measured.others_ns += time;
        }
        let owner = if is_awaited { requests.writer } else { NOBODY };
        let asking = requests.asking();
        if let Some(schedule) = &mut requests.schedule {
            ask_for(schedule.ledger_mut(), asking);
            schedule.program(to, time, is_awaited, owner);
            if is_awaited {
                requests.program_waits();
            }
            return;
        }
        let after = if is_awaited {
            After { moved: self.moved_by[1], erased: self.collected_by }
        } else {
            After::default()
        };
        ask_for(self.luns.ledger_mut(), asking);
        let done = self.luns.program(to, now, after, is_awaited);
        if is_awaited {
            requests.program_done(done, || latest_waits(self.luns.ledger()));
        }
    }

    /// Takes note of an operation of a collection, which is complete at `done`.
    #[inline]
    fn collect_until(&mut self, done: u64, is_awaited: bool) {
        if is_awaited && self.has_dependencies {
            self.collected_by = self.collected_by.max(done);
        }
    }
}

impl<F: Flash> Flash for Timed<F> {
    type Error = F::Error;

    const WEARS_OUT: bool = F::WEARS_OUT;

    fn is_bad(&self, block: BlockId) -> bool {
        self.flash.is_bad(block)
    }

    fn is_wear_out(error: &F::Error) -> bool {
        F::is_wear_out(error)
    }

    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    fn program(&mut self, to: Ppn, page: Page<'_>, purpose: Purpose) -> Result<(), F::Error> {
        self.flash.program(to, page, purpose)?;
        if let Content::At(from) = page.content {
            let lun_ns = self.copy(from, to, purpose.is_awaited);
            *self.measured.copies_ns(purpose.cause) += lun_ns;
        } else if self.serves_requests {
            self.program_for_request(to, purpose.is_awaited);
        } else {
            self.program_new(to, purpose.is_awaited);
        }
        Ok(())
    }

    #[inline]
    fn merge(&mut self, merge: Merge, purpose: Purpose) -> Result<(), F::Error> {
        if self.schedule().is_some() || !self.luns.add_up() {
            let mut copies = merge.copies();
            return copies.try_for_each(|(to, page)| self.program(to, page, purpose));
        }
        self.flash.merge(merge, purpose)?;
        self.arrive(purpose.is_awaited);
        let copied = self.luns.merge(merge, self.now());
        *self.measured.copies_ns(purpose.cause) += copied.lun_ns;
        self.moved_until(copied.done, purpose.is_awaited);
        Ok(())
    }

    #[inline]
    fn erase(&mut self, block: BlockId, purpose: Purpose) -> Result<(), F::Error> {
        let is_awaited = purpose.is_awaited;
        self.flash.erase(block, purpose)?;
        self.arrive(is_awaited);
        self.luns.wear(block, 1);
        self.measured.erases_ns += self.luns.luns_of(block).len() as u64 * self.luns.erase_ns;
        if let Some(schedule) = self.schedule() {
            schedule.erase(block, is_awaited);
            return Ok(());
        }
        let moved = self.moved_by[0].max(self.moved_by[1]);
        let done = self.luns.erase(block, self.now(), moved);
        self.collect_until(done, is_awaited);
        Ok(())
    }

    fn read(&mut self, from: Ppn, data: &mut [u8], purpose: Purpose) -> Result<(), F::Error> {
        let is_awaited = purpose.is_awaited;
        self.flash.read(from, data, purpose)?;
        self.arrive(is_awaited);
        self.luns.sense(from, Reader::Ftl);
        let time = self.luns.read_ns(from);
        self.measured.others_ns += time;
        if let Some(schedule) = self.schedule() {
            schedule.read_for_ftl(from, time, is_awaited);
            return Ok(());
        }
        let done = self.luns.read(from, self.now(), false);
        self.collect_until(done, is_awaited);
        Ok(())
    }
}

/// The host asks for this request from here on.
#[inline]
fn ask_for(ledger: Option<&mut Ledger>, request: Option<u64>) {
    if let Some(ledger) = ledger {
        ledger.request = request;
    }
}

/// What the operation waits for that the host asked for last.
fn latest_waits(ledger: Option<&Ledger>) -> Waits {
    ledger.map_or_else(Waits::default, |ledger| ledger.latest)
}

#[cfg(test)]
mod tests;
