//! `priority=femu` against its rule written down as such: each LUN has a time from which it is available; an
//! operation starts then or now, whichever is later, and that time becomes its end.

use crate::drive::BareDrive;
use ftlab_flash::{BlockId, Cause, Flash, Geometry, Lpn, Page, Ppn};
use ftlab_host::{Arrival, HostOp, Timing};

const LUNS: usize = 64;
const READ_NS: u64 = 40_000;
const PROGRAM_NS: u64 = 200_000;
const ERASE_NS: u64 = 2_000_000;
const PAGES: u32 = 256 * 64;

struct Twin {
    available: [u64; LUNS],
}

impl Twin {
    /// When an operation on the LUN of a page is over that is asked for now.
    fn advance(&mut self, page: u32, now: u64, takes: u64) -> u64 {
        let available = &mut self.available[page as usize % LUNS];
        *available = now.max(*available) + takes;
        *available
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u32) -> u32 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(most)) as u32
    }
}

/// A collection: some pages move, and a block is erased on every LUN.
fn collect(timed: &mut BareDrive, twin: &mut Twin, random: &mut Random, now: u64) {
    for _ in 0..random.below(40) {
        let (from, to) = (random.below(PAGES), random.below(PAGES));
        timed.program(Ppn(to), Page::copy(Lpn(0), Ppn(from)), Cause::Move.awaited()).unwrap();
        twin.advance(from, now, READ_NS);
        twin.advance(to, now, PROGRAM_NS);
    }
    timed.erase(BlockId(random.below(PAGES / 256)), Cause::Move.awaited()).unwrap();
    for lun in 0..LUNS as u32 {
        twin.advance(lun, now, ERASE_NS);
    }
}

#[test]
fn ten_thousand_random_requests_take_the_same_time_as_by_the_rule() {
    let timing = Timing::from_spec(&"femu:unit=request,priority=femu".parse().unwrap()).unwrap();
    let mut timed = BareDrive::new(&timing, &Geometry::new(64, 256, 4096).unwrap());
    let mut twin = Twin { available: [0; LUNS] };
    let (mut random, mut now, mut waits) = (Random(1), 0, 0);
    for request in 0..10_000 {
        now += u64::from(random.below(400_000));
        let op = if random.below(2) == 0 { HostOp::Read } else { HostOp::Write };
        timed.take_done_ns();
        assert_eq!(timed.begin_request(op, Arrival::At(now)), ftlab_host::Step::Arrived);
        let mut done = now;
        for _ in 0..=random.below(16) {
            let page = random.below(PAGES);
            if op == HostOp::Read {
                timed.read_for_host(Some(Ppn(page)));
                done = done.max(twin.advance(page, now, READ_NS));
                continue;
            }
            if random.below(200) == 0 {
                collect(&mut timed, &mut twin, &mut random, now);
            }
            timed.program(Ppn(page), Page::new(Lpn(0), &[]), Cause::Host.awaited()).unwrap();
            done = done.max(twin.advance(page, now, PROGRAM_NS));
        }
        timed.end_request();
        assert_eq!(timed.take_done_ns(), done, "request {request}");
        waits += u64::from(done - now > PROGRAM_NS);
    }
    assert!((1000..9000).contains(&waits), "some wait and some do not: {waits}");
}
