//! The host of a drive: what it asks for, when, and how long it waits.

use crate::arrivals::Arrival;
use crate::groups::Asker;
use crate::host_op::HostOp;
use crate::interval::Interval;
use crate::measured::{Before, Measured};
use crate::page_host::PageHost;
use crate::requests::{RequestTimes, Requests};
use crate::timing::Timing;
use crate::write_buffer::{Buffer, BufferedWrite};
use ftlab_flash::{Chip, Flash, Geometry, Lpn, Ppn, Timed};

/// Flash with a clock, whose page writes come as a host says.
pub type HostedFlash<F> = Timed<F, PageHost>;

/// A host, and the buffer of the drive that it writes to.
///
/// The clock is that of the [`Chip`]: the host passes time on it, asks for pages, and hears when these are complete.
#[derive(Debug, Clone)]
pub struct Host {
    /// The requests that the host waits for, if it does not wait for page writes.
    pub(crate) requests: Option<Box<Requests>>,
    /// Whether requests have begun: the drive is filled page by page before.
    serves_requests: bool,
    /// When measuring began, and the present interval.
    measured: Before,
    interval: Before,
}

/// What comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The FTL has to write a page of the write buffer.
    Program(BufferedWrite),
    /// The host asks for nothing, and all LUNs are at rest: the FTL may do some work, or tell the host that it
    /// [rests](Host::rest).
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

impl Timing {
    /// Gives `flash`, which has this geometry, the times of a chip and the page writes of a host.
    pub fn over<F: Flash>(&self, flash: F, geometry: &Geometry) -> HostedFlash<F> {
        Timed::new(flash, self.chip(geometry), PageHost::new(self))
    }
}

impl Host {
    /// A host that asks as this timing says, of a drive with this chip and geometry.
    pub fn new(timing: &Timing, chip: &Chip, geometry: &Geometry) -> Self {
        let requests = timing.has_requests();
        Self {
            requests: requests.then(|| Box::new(Requests::new(timing, chip, geometry))),
            serves_requests: false,
            measured: Before::default(),
            interval: Before::default(),
        }
    }

    /// A request arrives: its pages follow, and then its [end](Self::end_request). Before that,
    /// the FTL may have to write pages of the write buffer: the caller calls again after each. Does nothing if
    /// the host waits for page writes.
    pub fn begin_request<F: Flash>(
        &mut self,
        flash: &mut HostedFlash<F>,
        op: HostOp,
        arrival: Arrival,
    ) -> Step {
        let Some(requests) = &mut self.requests else { return Step::Arrived };
        let (chip, pages) = flash.parts_mut();
        if !std::mem::replace(&mut self.serves_requests, true) {
            chip.begin_to_choose();
            chip.take_answer();
            pages.begin_requests();
            requests.measure(chip.now_ns());
        }
        requests.hear(chip);
        requests.settle(chip);
        loop {
            if let Some(write) = requests.next_program(chip) {
                return Step::Program(write);
            }
            if requests.idle.may_work()
                && let Some(idle) = requests.idle_from(chip, pages, arrival)
            {
                chip.pass_to(idle);
                return Step::Idle;
            }
            if requests.pass(chip, pages, arrival) {
                break;
            }
        }
        requests.begin(chip, op, arrival);
        Step::Arrived
    }

    /// The present request asks for further pages, but not for `lacking` sectors of them, and this is who asks; of
    /// use with `by=` only.
    #[inline]
    pub fn ask_for_pages(&mut self, pages: u32, lacking: u32, asker: Asker) {
        if let Some(requests) = &mut self.requests {
            requests.ask_for_pages(pages, lacking, asker);
        }
    }

    /// The present request reads a page, or one that holds nothing.
    #[inline]
    pub fn read(&mut self, chip: &mut Chip, from: Option<Ppn>) {
        let Some(requests) = &mut self.requests else { return };
        if let Some(from) = from {
            chip.read_for_host(from);
        } else {
            chip.forget_map();
            requests.page_transferred(chip.now_ns());
        }
    }

    /// The present request has no more pages; when it will be complete, as far as that is known.
    #[inline]
    pub fn end_request(&mut self, chip: &mut Chip) -> u64 {
        let Some(requests) = &mut self.requests else { return 0 };
        requests.hear(chip);
        requests.end(chip.now_ns())
    }

    /// Passes time until a request of a [host](Arrival::Of) is complete, at most to `until_ns`: which host, and
    /// when; none if there is none by then. Before that, the FTL may have to write pages of the write buffer:
    /// the caller calls again after each.
    pub fn await_hosts(&mut self, chip: &mut Chip, until_ns: u64) -> Awaited {
        let Some(requests) = self.requests.as_mut().filter(|_| self.serves_requests) else {
            return Awaited::Nobody;
        };
        requests.hear(chip);
        loop {
            if let Some((host, done_ns)) = requests.ended.pop_front() {
                return Awaited::Host { host, done_ns };
            }
            if let Some(write) = requests.next_program(chip) {
                return Awaited::Program(write);
            }
            if !requests.pass_one(chip, until_ns) {
                return Awaited::Nobody;
            }
        }
    }

    /// There is nothing to do while the host asks for nothing, up to its next request.
    pub fn rest(&mut self) {
        self.requests.iter_mut().for_each(|requests| requests.idle.rest());
    }

    /// Requests that are not complete.
    pub fn pending(&self) -> usize {
        self.requests.as_ref().map_or(0, |requests| requests.pending())
    }
}

/// The write buffer.
impl Host {
    /// Whether there is one.
    pub fn has_buffer(&self) -> bool {
        self.requests.as_ref().is_some_and(|requests| requests.buffer.is_some())
    }

    /// The present request writes a page into it; false if there is none, and the FTL has to write the page.
    pub fn buffer_write(&mut self, chip: &Chip, write: BufferedWrite) -> bool {
        let Some(requests) = self.requests.as_mut().filter(|it| it.buffer.is_some()) else {
            return false;
        };
        requests.put(write, chip.now_ns());
        true
    }

    /// Reads a page of the present request from it; false if it is not there.
    pub fn read_buffered(&mut self, chip: &Chip, lpn: Lpn) -> bool {
        self.requests.as_mut().is_some_and(|requests| requests.hit(lpn, chip.now_ns()))
    }

    /// The present request gives up a page, which need not be programmed if it is there.
    pub fn trim_buffered(&mut self, chip: &Chip, lpn: Lpn) {
        self.requests.iter_mut().for_each(|requests| requests.trim(lpn, chip.now_ns()));
    }

    /// The present request makes everything durable that it was told is written.
    pub fn flush(&mut self) {
        self.requests.iter_mut().for_each(|requests| requests.flush());
    }

    /// It is emptied: the next page of it that the FTL has to write, until there is none left.
    pub fn empty_buffer(&mut self, chip: &mut Chip) -> Option<BufferedWrite> {
        let requests = self.requests.as_mut().filter(|_| self.serves_requests)?;
        requests.hear(chip);
        while requests.buffer.as_ref().is_some_and(|buffer| !buffer.is_empty()) {
            requests.buffer.iter_mut().for_each(Buffer::hurry);
            if let Some(write) = requests.next_program(chip) {
                return Some(write);
            }
            if !requests.pass_one(chip, u64::MAX) {
                break;
            }
        }
        None
    }

    /// Pages that the host has written and that never came to the FTL, and those that have not yet.
    pub fn absorbed(&self) -> [u64; 2] {
        let buffer = self.requests.as_ref().and_then(|requests| requests.buffer.as_ref());
        buffer.map_or([0; 2], |buffer| {
            [buffer.counts.coalesced + buffer.counts.trimmed, buffer.unheard()]
        })
    }
}

/// What is measured.
impl Host {
    /// Measures from here on, forgetting what was measured before.
    pub fn measure<F: Flash>(&mut self, flash: &mut HostedFlash<F>) {
        let (chip, pages) = flash.parts_mut();
        pages.measure();
        let now_ns = self.measured_until(chip);
        if let Some(requests) = self.requests.as_mut().filter(|_| self.serves_requests) {
            requests.measure(now_ns);
        }
        let occupied = chip.occupied(now_ns);
        self.measured = Before { now_ns, work: *chip.work(), occupied };
        self.interval = Before { now_ns, work: *chip.work(), ..Before::default() };
    }

    /// What has been measured, once everything that was asked for is complete.
    pub fn measured<F: Flash>(&self, flash: &HostedFlash<F>) -> Measured {
        let (mut completed, mut chip) = (self.requests.clone(), flash.chip().clone());
        if let Some(requests) = completed.as_mut().filter(|_| self.serves_requests) {
            requests.hear(&mut chip);
            requests.complete(&mut chip);
        }
        let end_of_requests = completed.as_ref().map_or(0, |requests| requests.end_ns());
        let before = &self.measured;
        let elapsed_ns = chip.end_ns().max(end_of_requests) - before.now_ns;
        let requests = completed.as_ref().map(|requests| RequestTimes {
            slowest: requests.slowest(chip.log()),
            ..requests.measured(elapsed_ns)
        });
        Measured {
            response_times: match &requests {
                Some(requests) => requests.of[HostOp::Write as usize].clone(),
                None => flash.pace().times(),
            },
            requests,
            elapsed_ns,
            arrived_ns: flash.chip().now_ns().saturating_sub(before.now_ns),
            occupied: chip.occupied(u64::MAX).since(&before.occupied),
            work: chip.work().since(&before.work),
        }
    }

    /// Ends an interval, and says what happened in it.
    pub fn end_interval<F: Flash>(&mut self, flash: &mut HostedFlash<F>) -> Interval {
        let (chip, pages) = flash.parts_mut();
        let mut ended = Interval::default();
        let now_ns = self.measured_until(chip);
        if let Some(requests) = self.requests.as_mut().filter(|_| self.serves_requests) {
            requests.end_interval(&mut ended);
        } else {
            pages.end_interval(&mut ended);
        }
        let work = *chip.work();
        ended.host_writes = work.since(&self.interval.work).host_writes;
        ended.elapsed_ns = now_ns - self.interval.now_ns;
        self.interval = Before { now_ns, work, ..Before::default() };
        ended
    }

    /// The end of what can be measured by now: of requests, what has arrived; of page writes, what is complete.
    fn measured_until(&self, chip: &Chip) -> u64 {
        if self.serves_requests { chip.now_ns() } else { chip.end_ns() }
    }
}
