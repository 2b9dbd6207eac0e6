//! Transfers ahead of programs, against a LUN that is simulated from one instant to the next.

use crate::drive::BareDrive;
use ftlab_flash::{Cause, Flash, Geometry, Lpn, Page, Ppn};
use ftlab_host::{Arrival, HostOp, Timing};
use std::collections::VecDeque;

const READ_NS: u64 = 40_000;
const PROGRAM_NS: u64 = 100_000;
const ERASE_NS: u64 = 700_000;
const REQUESTS: usize = 3000;

/// A request: when it arrives, and the page that it programs, or none if it reads one.
type Request = (u64, Option<u32>);

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Cells,
    Out,
    In,
    Work,
}

/// A LUN with a channel of its own.
struct Twin<'a> {
    requests: &'a [Request],
    transfer_ns: u64,
    /// Pages that may come ahead, and pages of which the last takes the whole program.
    most: usize,
    at_once: u32,
    now: u64,
    reads: VecDeque<usize>,
    programs: VecDeque<usize>,
    present: Option<(usize, Phase, u64)>,
    /// Has read, and waits for the channel.
    holds: Option<usize>,
    ahead: VecDeque<usize>,
    coming: Option<u64>,
    done: Vec<u64>,
}

impl Twin<'_> {
    fn has_channel(&self) -> bool {
        let passes =
            self.present.is_some_and(|(_, phase, _)| matches!(phase, Phase::In | Phase::Out));
        passes || self.coming.is_some()
    }

    fn program_ns(&self, request: usize) -> u64 {
        let page = self.requests[request].1.unwrap();
        if (page + 1).is_multiple_of(self.at_once) { PROGRAM_NS } else { 0 }
    }

    /// Begins whatever can begin.
    fn begin(&mut self) {
        if self.present.is_none() && self.holds.is_none() {
            if let Some(first) = self.ahead.pop_front() {
                let is_coming = self.ahead.is_empty() && self.coming.is_some();
                self.present = Some(if is_coming {
                    (first, Phase::In, self.coming.take().unwrap())
                } else {
                    (first, Phase::Work, self.now + self.program_ns(first))
                });
            } else if let Some(read) = self.reads.pop_front() {
                self.present = Some((read, Phase::Cells, self.now + READ_NS));
            } else if !self.has_channel()
                && let Some(program) = self.programs.pop_front()
            {
                self.present = Some((program, Phase::In, self.now + self.transfer_ns));
            }
        }
        if !self.has_channel()
            && let Some(read) = self.holds.take()
        {
            self.present = Some((read, Phase::Out, self.now + self.transfer_ns));
        }
        let works = self.present.is_some_and(|(_, phase, _)| phase == Phase::Work);
        let is_turn = self.reads.is_empty() && self.ahead.len() < self.most;
        if works
            && is_turn
            && !self.has_channel()
            && let Some(program) = self.programs.pop_front()
        {
            self.ahead.push_back(program);
            self.coming = Some(self.now + self.transfer_ns);
        }
    }

    /// When everything is done.
    fn run(mut self) -> Vec<u64> {
        let mut arrived = 0;
        loop {
            let of_present = self.present.map_or(u64::MAX, |(_, _, end)| end);
            let coming = self.coming.unwrap_or(u64::MAX);
            let arrival = self.requests.get(arrived).map_or(u64::MAX, |(arrival, _)| *arrival);
            self.now = of_present.min(coming).min(arrival);
            if self.now == u64::MAX {
                return self.done;
            }
            if of_present == self.now {
                let (id, phase, _) = self.present.take().unwrap();
                match phase {
                    Phase::Cells => self.holds = Some(id),
                    Phase::In => {
                        let end = self.now + self.program_ns(id);
                        self.present = Some((id, Phase::Work, end));
                    }
                    Phase::Out | Phase::Work => self.done[id] = self.now,
                }
            } else if coming == self.now {
                self.coming = None;
            } else {
                let of_kind = if self.requests[arrived].1.is_some() {
                    &mut self.programs
                } else {
                    &mut self.reads
                };
                of_kind.push_back(arrived);
                arrived += 1;
            }
            self.begin();
        }
    }
}

/// Requests at random, of which this share in sixteenths read.
fn requests(seed: u64, reads: u64, apart_ns: u64) -> Vec<Request> {
    let (mut random, mut arrival, mut page) = (seed, 0, 0);
    let mut draw = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % most
    };
    let mut request = || {
        // Some come together, others when all is done.
        arrival += if draw(4) == 0 { draw(8 * apart_ns) } else { draw(apart_ns) };
        if draw(16) < reads {
            return (arrival, None);
        }
        page += 1;
        (arrival, Some((page - 1) % 8))
    };
    (0..REQUESTS).map(|_| request()).collect()
}

fn drive(more: &str) -> BareDrive {
    let spec = format!(
        "slc:read-us={},program-us={},erase-us={},unit=request,priority=read-first{more}",
        READ_NS / 1000,
        PROGRAM_NS / 1000,
        ERASE_NS / 1000
    );
    let timing = Timing::from_spec(&spec.parse().unwrap()).unwrap().keep_slowest(REQUESTS);
    let mut drive = BareDrive::new(&timing, &Geometry::new(4, 8, 4096).unwrap());
    drive.measure();
    drive
}

/// When each request is done.
fn done(drive: &mut BareDrive, requests: &[Request]) -> Vec<u64> {
    for &(arrival_ns, programs) in requests {
        let op = if programs.is_some() { HostOp::Write } else { HostOp::Read };
        let _ = drive.begin_request(op, Arrival::At(arrival_ns));
        match programs {
            Some(page) => {
                drive.program(Ppn(page), Page::new(Lpn(0), &[]), Cause::Host.awaited()).unwrap();
            }
            None => drive.read_for_host(Some(Ppn(24))),
        }
        drive.end_request();
    }
    let mut done = vec![0; requests.len()];
    for slow in drive.measured().requests.unwrap().slowest {
        done[slow.number as usize] = slow.arrival_ns + slow.response_ns();
    }
    done
}

#[test]
fn transfers_ahead_are_those_of_a_lun_that_is_simulated_step_by_step() {
    for transfer_us in [7, 60, 130] {
        for (more, most, at_once) in [
            ("", 0, 1),
            (",cached-transfers=on", 1, 1),
            (",cached-transfers=on,planes=2", 2, 2),
            (",cached-transfers=on,planes=2,flash-page=8KiB,page-types=mean", 4, 4),
        ] {
            for (reads, apart_ns) in [(0, 60_001), (0, 150_001), (5, 70_001), (12, 40_001)] {
                let requests = requests(transfer_us + reads, reads, apart_ns);
                let mut drive = drive(&format!("{more},transfer-us={transfer_us}"));
                let twin = Twin {
                    requests: &requests,
                    transfer_ns: 1000 * transfer_us,
                    most,
                    at_once,
                    now: 0,
                    reads: VecDeque::new(),
                    programs: VecDeque::new(),
                    present: None,
                    holds: None,
                    ahead: VecDeque::new(),
                    coming: None,
                    done: vec![0; requests.len()],
                };
                let (expected, found) = (twin.run(), done(&mut drive, &requests));
                let differs = (0..requests.len()).find(|index| expected[*index] != found[*index]);
                let around = differs.map(|index| (index, expected[index], found[index]));
                assert_eq!(around, None, "{transfer_us}{more}, {reads} reads");
            }
        }
    }
}

#[test]
fn a_lun_that_always_programs_is_as_fast_as_the_slower_of_program_and_transfer() {
    let count = 200;
    for (transfer_us, elapsed_us) in [(30, 30 + count * 100), (130, count * 130 + 100)] {
        let writes: Vec<Request> = (0..count).map(|index| (0, Some(index as u32 % 8))).collect();
        let mut drive = drive(&format!(",cached-transfers=on,transfer-us={transfer_us}"));
        let last = done(&mut drive, &writes).into_iter().max();
        assert_eq!(last, Some(1000 * elapsed_us), "{transfer_us}");
    }
}
