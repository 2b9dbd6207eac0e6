//! Flash with a clock.
//!
//! # What takes how long
//! A program is a transfer over the channel and the program itself; a read is the read from the cells
//! and a transfer; a copyback is a read and a program, the page passing through the controller, which
//! corrects its errors; an erase takes the time of an erase on every LUN that holds a part of the
//! block. An operation starts as soon as it has been asked for, what it depends on is complete, and
//! its LUN and channel are free; each LUN and each channel serves in the order of requests. Time is
//! in whole nanoseconds and depends on nothing but the operations.
//!
//! # What a host write waits for
//! Its response time lasts from its arrival to the end of the program of its page. Whatever the FTL
//! does between [`begin_host_write`](crate::Flash::begin_host_write) and that program is a collection
//! that makes room for it: the program starts when all of it is complete, and so do the programs of
//! later host writes, since the drive serves them in order. What the FTL does after the program, such
//! as a step of incremental collection, delays later host writes only where it takes their LUN or
//! channel.
//!
//! An erase starts when every copyback before it is complete, since these may have been of its pages.
//!
//! # When a host write arrives
//! In a closed loop, when one of the `queue-depth` page writes before it is complete; the first ones
//! at once. In an open loop, at the time of its request. Reads and flushes of the host take no time:
//! experiments carry out writes and trims only. A trim takes none either.
//!
//! An operation that fails takes no time.
//!
//! With one LUN and a queue depth of one, the time that passes is exactly the sum of all operations,
//! each count times its latency.

use crate::luns::Luns;
use crate::response_times::Recorder;
use crate::timing::Timing;
use crate::{BlockId, Flash, Geometry, Lpn, Ppn, ResponseTimes};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

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
    responses: Recorder,
    measured: Measured,
    interval: Interval,
}

/// Who asks for page writes.
#[derive(Debug, Clone)]
struct Host {
    queue_depth: usize,
    speed_up: f64,
    /// Completion times of the latest page writes, `queue_depth` at most.
    under_way: BinaryHeap<Reverse<u64>>,
    /// When page writes that are yet to come arrive.
    coming: VecDeque<u64>,
    /// The time in the trace, in microseconds, of its first request, and ours in nanoseconds.
    origin: Option<(u64, u64)>,
    /// Arrival of the latest page write.
    arrival: u64,
    /// True from the arrival of a page write to its program.
    is_waiting: bool,
    /// When the latest page write was complete.
    done: u64,
    /// The last such time since [`Timed::take_done_ns`].
    latest_done: u64,
}

/// What has been measured since [`Timed::measure`].
#[derive(Debug, Clone, Default)]
pub struct Measured {
    /// Of host page writes.
    pub response_times: ResponseTimes,
    /// From the end of the last operation before to that of the last one, in nanoseconds.
    pub elapsed_ns: u64,
    /// From the end of the last operation before to the arrival of the last page write, in nanoseconds: in
    /// an open loop, the time by which the host has asked for all that was done.
    pub arrived_ns: u64,
    /// LUN -> nanoseconds for which it was occupied by an operation, waits for its channel included.
    pub busy_ns: Vec<u64>,
    /// LUN time of host programs, in nanoseconds.
    pub host_writes_ns: u64,
    /// LUN time of copybacks by collections.
    pub relocations_ns: u64,
    /// LUN time of copybacks by merges; the erases of merges are among the erases.
    pub merges_ns: u64,
    /// LUN time of erases.
    pub erases_ns: u64,
    /// LUN time of reads, and of programs that no host write asked for.
    pub others_ns: u64,
    start: u64,
    busy_before: Vec<u64>,
}

/// What happened since the last interval ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Interval {
    /// Host page writes.
    pub host_writes: u64,
    /// Time that passed, in nanoseconds.
    pub elapsed_ns: u64,
    /// Sum of the response times.
    pub response_sum_ns: u64,
    /// The longest response time.
    pub response_max_ns: u64,
    start: u64,
}

impl<F: Flash> Timed<F> {
    /// Gives `flash`, which has this geometry, a clock.
    pub fn new(flash: F, timing: &Timing, geometry: &Geometry) -> Self {
        let parameters = timing.parameters();
        let queue_depth = parameters.queue_depth as usize;
        Self {
            flash,
            luns: Luns::new(parameters, geometry),
            host: Host {
                queue_depth,
                speed_up: parameters.speed_up,
                under_way: BinaryHeap::with_capacity(queue_depth + 1),
                coming: VecDeque::new(),
                origin: None,
                arrival: 0,
                is_waiting: false,
                done: 0,
                latest_done: 0,
            },
            moved_by: [0; 2],
            collected_by: 0,
            responses: Recorder::default(),
            measured: Measured::default(),
            interval: Interval::default(),
        }
    }

    /// The flash below.
    pub fn below(&self) -> &F {
        &self.flash
    }

    /// Says when the next page writes arrive, in microseconds of the trace; for an open loop. The
    /// first one ever given arrives at the end of what was done before.
    pub fn expect(&mut self, times_us: &[u64]) {
        let Some(&first) = times_us.first() else { return };
        let (first, start) = *self.host.origin.get_or_insert((first, self.luns.end()));
        let speed_up = self.host.speed_up;
        let arrival = |time: &u64| {
            start + (time.saturating_sub(first) as f64 * 1e3 / speed_up).round() as u64
        };
        self.host.coming.extend(times_us.iter().map(arrival));
    }

    /// Says when the next page writes arrive, in nanoseconds of this clock, whatever the timing says of
    /// arrivals: for hosts that the caller simulates.
    pub fn expect_at(&mut self, arrival_ns: u64, writes: usize) {
        self.host.coming.extend(std::iter::repeat_n(arrival_ns, writes));
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
    /// timing says of arrivals: for a drive that is served, in place of
    /// [`begin_host_write`](Flash::begin_host_write). Time does not run back.
    pub fn begin_host_write_at(&mut self, arrival_ns: u64) {
        self.flash.begin_host_write();
        self.host.arrival = self.host.arrival.max(arrival_ns);
        self.host.is_waiting = true;
    }

    /// When the latest page write of the host is complete, in nanoseconds.
    pub fn host_write_done_ns(&self) -> u64 {
        self.host.done
    }

    /// When the read of a page is complete for which the host asks at this time, both in nanoseconds.
    pub fn host_read_done_ns(&mut self, from: Ppn, arrival_ns: u64) -> u64 {
        let done = self.luns.read(from, arrival_ns);
        self.measured.others_ns += self.luns.read_ns;
        done
    }

    /// Measures from here on, forgetting what was measured before.
    pub fn measure(&mut self) {
        self.responses = Recorder::default();
        self.measured = Measured {
            start: self.luns.end(),
            busy_before: self.luns.busy_ns(),
            ..Measured::default()
        };
        self.interval = Interval { start: self.luns.end(), ..Interval::default() };
    }

    /// What has been measured.
    pub fn measured(&self) -> Measured {
        let mut measured = self.measured.clone();
        measured.response_times = self.responses.times();
        measured.elapsed_ns = self.luns.end() - measured.start;
        measured.arrived_ns = self.host.arrival.saturating_sub(measured.start);
        let before = measured.busy_before.iter().copied().chain(std::iter::repeat(0));
        measured.busy_ns =
            self.luns.busy_ns().iter().zip(before).map(|(now, then)| now - then).collect();
        measured
    }

    /// Ends an interval, and says what happened in it.
    pub fn end_interval(&mut self) -> Interval {
        let mut ended = self.interval;
        ended.elapsed_ns = self.luns.end() - ended.start;
        self.interval = Interval { start: self.luns.end(), ..Interval::default() };
        ended
    }

    /// Where an operation cannot start before: the arrival of the present host write.
    #[inline]
    fn now(&self) -> u64 {
        self.host.arrival
    }

    /// Reads `from` and programs `to`; the time that it takes of their LUNs.
    #[expect(clippy::inline_always, reason = "called for each page that is moved")]
    #[inline(always)]
    fn copy(&mut self, from: Ppn, to: Ppn) -> u64 {
        let done = self.luns.copy(from, to, self.now());
        let moved_by = &mut self.moved_by[usize::from(self.host.is_waiting)];
        *moved_by = done.max(*moved_by);
        self.luns.copy_ns
    }

    /// Takes note of an operation of a collection, which is complete at `done`.
    #[inline]
    fn collect_until(&mut self, done: u64) {
        if self.host.is_waiting {
            self.collected_by = self.collected_by.max(done);
        }
    }
}

impl Host {
    #[inline]
    fn begin(&mut self) {
        let next = self.coming.pop_front().or_else(|| {
            let first = self.under_way.peek().filter(|_| self.under_way.len() == self.queue_depth);
            first.map(|Reverse(done)| *done)
        });
        // The clock of a trace may run back a little.
        self.arrival = self.arrival.max(next.unwrap_or(0));
        self.is_waiting = true;
    }

    /// Ends the page write, and returns its response time.
    #[inline]
    fn end(&mut self, done: u64) -> u64 {
        self.is_waiting = false;
        self.done = done;
        self.latest_done = self.latest_done.max(done);
        if self.under_way.len() < self.queue_depth {
            self.under_way.push(Reverse(done));
        } else if let Some(mut first) = self.under_way.peek_mut() {
            *first = Reverse(done);
        }
        done - self.arrival
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

    #[inline]
    fn begin_host_write(&mut self) {
        self.flash.begin_host_write();
        self.host.begin();
    }

    #[inline]
    fn program(&mut self, to: Ppn, lpn: Lpn, data: &[u8]) -> Result<(), F::Error> {
        self.flash.program(to, lpn, data)?;
        let time = self.luns.program_ns;
        if !self.host.is_waiting {
            self.luns.program(to, self.now());
            self.measured.others_ns += time;
            return Ok(());
        }
        let done = self.luns.program(to, self.now().max(self.collected_by).max(self.moved_by[1]));
        let response = self.host.end(done);
        self.measured.host_writes_ns += time;
        self.responses.record(response);
        self.interval.host_writes += 1;
        self.interval.response_sum_ns += response;
        self.interval.response_max_ns = self.interval.response_max_ns.max(response);
        Ok(())
    }

    #[expect(clippy::inline_always, reason = "called for each page that is moved")]
    #[inline(always)]
    fn copyback(&mut self, from: Ppn, to: Ppn, lpn: Lpn) -> Result<(), F::Error> {
        self.flash.copyback(from, to, lpn)?;
        self.measured.relocations_ns += self.copy(from, to);
        Ok(())
    }

    #[inline]
    fn merge_copy(&mut self, from: Ppn, to: Ppn, lpn: Lpn) -> Result<(), F::Error> {
        self.flash.merge_copy(from, to, lpn)?;
        self.measured.merges_ns += self.copy(from, to);
        Ok(())
    }

    #[inline]
    fn erase(&mut self, block: BlockId) -> Result<(), F::Error> {
        self.flash.erase(block)?;
        let done = self.luns.erase(block, self.now().max(self.moved_by[0]).max(self.moved_by[1]));
        self.collect_until(done);
        self.measured.erases_ns += self.luns.luns_of(block).len() as u64 * self.luns.erase_ns;
        Ok(())
    }

    fn read(&mut self, from: Ppn, data: &mut [u8]) -> Result<(), F::Error> {
        self.flash.read(from, data)?;
        let done = self.luns.read(from, self.now());
        self.collect_until(done);
        self.measured.others_ns += self.luns.read_ns;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoPayload;

    /// 4 blocks of 4 pages; read 10, program 100, erase 1000, transfer 1, all in microseconds.
    fn timed(more: &str) -> Timed<NoPayload> {
        let spec = format!("slc:read-us=10,program-us=100,erase-us=1000,transfer-us=1{more}");
        let timing = Timing::from_spec(&spec.parse().unwrap()).unwrap();
        let mut timed = Timed::new(NoPayload, &timing, &Geometry::new(4, 4, 4096).unwrap());
        timed.measure();
        timed
    }

    /// Writes pages; the response time of each in microseconds.
    fn write(timed: &mut Timed<NoPayload>, pages: &[u32]) -> Vec<u64> {
        let mut response = |page: &u32| {
            timed.begin_host_write();
            timed.program(Ppn(*page), Lpn(0), &[]).unwrap();
            timed.end_interval().response_max_ns / 1000
        };
        pages.iter().map(&mut response).collect()
    }

    fn elapsed_us(timed: &Timed<NoPayload>) -> u64 {
        timed.measured().elapsed_ns / 1000
    }

    #[test]
    fn one_lun_and_one_request_at_a_time_is_the_sum_of_all_operations() {
        let mut timed = timed("");
        assert_eq!(write(&mut timed, &[0, 1]), [101, 101]);
        timed.begin_host_write();
        timed.copyback(Ppn(0), Ppn(4), Lpn(0)).unwrap();
        timed.erase(BlockId(0)).unwrap();
        timed.program(Ppn(5), Lpn(0), &[]).unwrap();
        assert_eq!(timed.end_interval().response_max_ns, (112 + 1000 + 101) * 1000);
        // Behind the program nobody waits, but the next one finds the LUN busy.
        timed.erase(BlockId(1)).unwrap();
        assert_eq!(write(&mut timed, &[6]), [1101]);
        assert_eq!(elapsed_us(&timed), 4 * 101 + 112 + 2 * 1000);
        let measured = timed.measured();
        assert_eq!(measured.busy_ns, [measured.elapsed_ns]);
        let parts = measured.host_writes_ns + measured.relocations_ns + measured.erases_ns;
        assert_eq!(parts, measured.elapsed_ns);
    }

    #[test]
    fn copies_of_merges_take_as_long_as_others_and_are_told_apart() {
        let mut timed = timed("");
        timed.begin_host_write();
        timed.copyback(Ppn(0), Ppn(4), Lpn(0)).unwrap();
        timed.merge_copy(Ppn(1), Ppn(5), Lpn(0)).unwrap();
        timed.merge_copy(Ppn(2), Ppn(6), Lpn(0)).unwrap();
        let measured = timed.measured();
        assert_eq!((measured.relocations_ns, measured.merges_ns), (112_000, 224_000));
        assert_eq!(measured.elapsed_ns, 336_000);
    }

    #[test]
    fn pages_of_a_superblock_are_programmed_at_once_as_far_as_the_queue_reaches() {
        // Transfers of the same channel follow each other.
        let mut one_channel = timed(",luns=2,queue-depth=2");
        assert_eq!(write(&mut one_channel, &[0, 1, 2, 3]), [101, 102, 101, 101]);
        assert_eq!(elapsed_us(&one_channel), 203);
        let mut two_channels = timed(",channels=2,queue-depth=4");
        assert_eq!(write(&mut two_channels, &[0, 1, 2, 3]), [101, 101, 202, 202]);
        let mut one_at_a_time = timed(",channels=2");
        assert_eq!(write(&mut one_at_a_time, &[0, 1, 2, 3]), [101; 4]);
    }

    #[test]
    fn a_block_on_one_lun_is_programmed_page_by_page() {
        let mut timed = timed(",channels=2,queue-depth=2,layout=block");
        assert_eq!(write(&mut timed, &[0, 1, 4]), [101, 202, 101]);
        assert_eq!(timed.measured().busy_ns, [202_000, 101_000]);
    }

    #[test]
    fn a_host_write_waits_for_the_collection_before_it_on_whatever_lun() {
        let mut timed = timed(",channels=4,layout=block");
        timed.begin_host_write();
        timed.copyback(Ppn(0), Ppn(4), Lpn(0)).unwrap();
        timed.erase(BlockId(0)).unwrap();
        timed.program(Ppn(8), Lpn(0), &[]).unwrap();
        assert_eq!(timed.end_interval().response_max_ns, (112 + 1000 + 101) * 1000);
        // The next write, on another LUN, does not wait for one that follows this write.
        timed.copyback(Ppn(4), Ppn(0), Lpn(0)).unwrap();
        timed.erase(BlockId(1)).unwrap();
        assert_eq!(write(&mut timed, &[9]), [101]);
    }

    #[test]
    fn an_erase_waits_for_the_pages_that_leave_its_block() {
        let mut timed = timed(",channels=2,layout=block");
        timed.begin_host_write();
        timed.copyback(Ppn(0), Ppn(4), Lpn(0)).unwrap();
        timed.erase(BlockId(0)).unwrap();
        // 10 to read and 1 out, 1 in and 100 to program, and only then the erase.
        assert_eq!(elapsed_us(&timed), 112 + 1000);
        assert_eq!(timed.measured().busy_ns, [1_011_000, 101_000]);
    }

    #[test]
    fn in_an_open_loop_page_writes_arrive_by_the_clock_of_the_trace() {
        let mut timed = timed(",arrivals=trace,speed-up=2");
        timed.erase(BlockId(0)).unwrap();
        timed.expect(&[5000, 5010, 5004, 6000]);
        // At 0, 5, 5 and 500 us after the erase.
        assert_eq!(write(&mut timed, &[0, 1, 2, 3]), [101, 197, 298, 101]);
        assert_eq!(elapsed_us(&timed), 1601);
    }

    #[test]
    fn hosts_that_are_simulated_elsewhere_say_when_their_page_writes_arrive() {
        let mut timed = timed(",queue-depth=64");
        timed.expect_at(7_000, 2);
        assert_eq!(write(&mut timed, &[0, 1]), [101, 202]);
        assert_eq!((timed.take_done_ns(), timed.take_done_ns()), (209_000, 0));
        assert_eq!(timed.end_ns(), 209_000);
    }

    #[test]
    fn intervals_add_up_to_the_whole() {
        let mut timed = timed("");
        let mut elapsed = 0;
        for page in 0..4 {
            timed.begin_host_write();
            timed.program(Ppn(page), Lpn(0), &[]).unwrap();
            let interval = timed.end_interval();
            assert_eq!((interval.host_writes, interval.response_sum_ns), (1, 101_000));
            elapsed += interval.elapsed_ns;
        }
        assert_eq!(elapsed, timed.measured().elapsed_ns);
    }
}
