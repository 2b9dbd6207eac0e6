//! Response times against closed forms of queueing theory.

use crate::drive::BareDrive;
use ftlab_flash::{Cause, Flash, Geometry, Lpn, Page, Ppn};
use ftlab_host::{Arrival, HostOp, Measured, Timing};

const REQUESTS: u32 = 1_000_000;

/// Blocks of 1,024 pages that are striped over all LUNs.
fn timed(timing: &str) -> BareDrive {
    let timing = Timing::from_spec(&timing.parse().unwrap()).unwrap();
    let mut timed = BareDrive::new(&timing, &Geometry::new(64, 1024, 4096).unwrap());
    timed.measure();
    timed
}

/// A request of one page.
fn ask(timed: &mut BareDrive, op: HostOp, arrival: Arrival, page: u32) {
    let _ = timed.begin_request(op, arrival);
    if op == HostOp::Write {
        timed.program(Ppn(page), Page::new(Lpn(0), &[]), Cause::Host.awaited()).unwrap();
    } else {
        timed.read_for_host(Some(Ppn(page)));
    }
    timed.end_request();
}

/// One million requests, a share of them writes, spread evenly over one LUN's random sequence.
fn mixed(timing: &str, writes: f64) -> Measured {
    let mut timed = timed(timing);
    let mut random = 1_u64;
    for request in 0..REQUESTS {
        random =
            random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let is_write = (random >> 40) as f64 / f64::from(1 << 24) < writes;
        let op = if is_write { HostOp::Write } else { HostOp::Read };
        ask(&mut timed, op, Arrival::Next, request % 1024);
    }
    timed.measured()
}

/// The mean response time of all requests, in microseconds.
fn mean_us(measured: &Measured) -> f64 {
    let of = &measured.requests.as_ref().unwrap().of;
    let sum: f64 = of.iter().map(|times| times.mean_ns() * times.count() as f64).sum();
    sum / 1e3 / f64::from(REQUESTS)
}

/// Little's law: requests under way = requests per second x mean response time.
fn check_little(measured: &Measured) {
    let rate = f64::from(REQUESTS) / (measured.elapsed_ns as f64 / 1e3);
    let under_way = measured.requests.as_ref().unwrap().under_way_mean;
    assert!((under_way / (rate * mean_us(measured)) - 1.0).abs() < 1e-3, "{under_way}");
}

#[test]
fn one_lun_with_constant_service_waits_as_m_d_1() {
    for load in [0.3, 0.5, 0.7] {
        let measured = mixed(
            &format!("slc:read-us=100,unit=request,arrivals=poisson,rate={}", load * 1e4),
            0.0,
        );
        let wait = mean_us(&measured) - 100.0;
        let expected = load * 100.0 / (2.0 * (1.0 - load));
        assert!((wait / expected - 1.0).abs() < 0.01, "{load}: {wait} us, not {expected}");
        check_little(&measured);
        // The LUN is busy for that share of the time, and the queue is as long as Little's law says.
        let elapsed = measured.elapsed_ns as f64;
        let busy = measured.occupied.busy_ns[0] as f64 / elapsed;
        assert!((busy / load - 1.0).abs() < 0.01, "{load}: busy for {busy}");
        let queue = measured.occupied.queued_ns[0] as f64 / elapsed;
        let expected = load * load / (2.0 * (1.0 - load));
        assert!((queue / expected - 1.0).abs() < 0.015, "{load}: {queue} wait, not {expected}");
    }
}

#[test]
fn bursts_wait_for_those_before_them_and_for_themselves() {
    for (burst, load) in [(2, 0.5), (8, 0.4)] {
        let rate = load * 1e4;
        let spec =
            format!("slc:read-us=100,unit=request,arrivals=poisson,rate={rate},burst={burst}");
        let measured = mixed(&spec, 0.0);
        let wait = mean_us(&measured) - 100.0;
        // Bursts are the requests of M/D/1; within one, half of the others come before on average.
        let burst = f64::from(burst);
        let expected = load * burst * 100.0 / (2.0 * (1.0 - load)) + (burst - 1.0) * 100.0 / 2.0;
        assert!((wait / expected - 1.0).abs() < 0.01, "{burst}: {wait} us, not {expected}");
        check_little(&measured);
    }
}

#[test]
fn one_lun_with_reads_and_programs_waits_as_m_g_1() {
    let (read, program, writes, load) = (40.0, 300.0, 0.2, 0.6);
    let service = (1.0 - writes) * read + writes * program;
    let square = (1.0 - writes) * read * read + writes * program * program;
    let per_us = load / service;
    let spec = format!(
        "slc:read-us={read},program-us={program},unit=request,arrivals=poisson,rate={}",
        per_us * 1e6
    );
    let measured = mixed(&spec, writes);
    // Pollaczek and Khinchine.
    let expected = per_us * square / (2.0 * (1.0 - load));
    let wait = mean_us(&measured) - service;
    assert!((wait / expected - 1.0).abs() < 0.01, "{wait} us, not {expected}");
    check_little(&measured);
}

#[test]
fn many_luns_with_regular_arrivals_wait_as_d_d_c() {
    const LUNS: u64 = 4;
    const READ_NS: u64 = 100_000;
    for gap_ns in [30_000, 25_000, 24_000] {
        let mut timed = timed("slc:read-us=100,channels=4,unit=request");
        for request in 0..1000_u64 {
            let arrival = request * gap_ns;
            timed.take_done_ns();
            ask(&mut timed, HostOp::Read, Arrival::At(arrival), (request % LUNS) as u32);
            let late = (request / LUNS) * (READ_NS.saturating_sub(LUNS * gap_ns));
            assert_eq!(timed.take_done_ns() - arrival, READ_NS + late, "{gap_ns}, {request}");
        }
    }
}

#[test]
fn channels_are_busy_for_the_pages_that_pass_and_queues_are_what_is_not_served() {
    for priority in ["none", "femu", "read-first"] {
        let spec = format!(
            "slc:transfer-us=10,channels=2,luns=2,unit=request,queue-depth=16,priority={priority}"
        );
        let measured = mixed(&spec, 0.5);
        let elapsed = measured.elapsed_ns as f64;
        for channel in &measured.occupied.channel_ns {
            let share = f64::from(REQUESTS) / 2.0 * 10_000.0 / elapsed;
            assert!((*channel as f64 / elapsed / share - 1.0).abs() < 1e-3, "{priority}");
        }
        // Of sixteen, those that no LUN is at wait for one.
        let sum = |of: &[u64]| of.iter().sum::<u64>() as f64 / elapsed;
        let (busy, queued) = (sum(&measured.occupied.busy_ns), sum(&measured.occupied.queued_ns));
        assert!(((busy + queued) / 16.0 - 1.0).abs() < 1e-3, "{priority}: {busy} + {queued}");
    }
}

#[test]
fn in_a_closed_loop_the_requests_under_way_are_those_that_were_asked_for() {
    for (luns, depth) in [(1, 1), (1, 8), (8, 8), (4, 64)] {
        let spec = format!("slc:transfer-us=10,luns={luns},unit=request,queue-depth={depth}");
        let measured = mixed(&spec, 0.5);
        let requests = measured.requests.as_ref().unwrap();
        assert_eq!(requests.under_way_max, depth);
        assert!((requests.under_way_mean / depth as f64 - 1.0).abs() < 1e-3);
        check_little(&measured);
    }
}

/// Mean response times of reads and of writes, in microseconds.
fn means_us(measured: &Measured) -> [f64; 2] {
    let of = &measured.requests.as_ref().unwrap().of;
    [&of[0], &of[1]].map(|times| times.mean_ns() / 1e3)
}

const READ: f64 = 40.0;
const PROGRAM: f64 = 300.0;
const WRITES: f64 = 0.2;

/// One LUN at this load, reads first: rates of reads and writes per microsecond, and what was measured.
fn read_first(load: f64, more: &str) -> ([f64; 2], Measured) {
    let rate = load / ((1.0 - WRITES) * READ + WRITES * PROGRAM);
    let spec = format!(
        "slc:read-us={READ},program-us={PROGRAM},unit=request,arrivals=poisson,rate={},\
         priority=read-first{more}",
        rate * 1e6
    );
    ([(1.0 - WRITES) * rate, WRITES * rate], mixed(&spec, WRITES))
}

#[test]
fn reads_first_wait_as_with_priorities_that_do_not_preempt() {
    for load in [0.4, 0.6] {
        let ([reads, writes], measured) = read_first(load, "");
        // Cobham's formula: what is left of the service that an arrival finds, over the shares that are left.
        let residual = f64::midpoint(reads * READ * READ, writes * PROGRAM * PROGRAM);
        let read_wait = residual / (1.0 - reads * READ);
        let write_wait = residual / ((1.0 - reads * READ) * (1.0 - load));
        let [read, write] = means_us(&measured);
        for (kind, wait, expected) in
            [("reads", read - READ, read_wait), ("writes", write - PROGRAM, write_wait)]
        {
            assert!((wait / expected - 1.0).abs() < 0.01, "{load}, {kind}: {wait}, not {expected}");
        }
        check_little(&measured);
    }
}

#[test]
fn reads_that_suspend_programs_wait_as_with_priorities_that_preempt_and_resume() {
    for load in [0.4, 0.6] {
        let more = ",suspend=programs,suspend-us=0";
        let ([reads, writes], measured) = read_first(load, more);
        let read_load = reads * READ;
        let read_expected = READ + reads * READ * READ / 2.0 / (1.0 - read_load);
        let residual = f64::midpoint(reads * READ * READ, writes * PROGRAM * PROGRAM);
        let write_expected =
            PROGRAM / (1.0 - read_load) + residual / ((1.0 - read_load) * (1.0 - load));
        let [read, write] = means_us(&measured);
        for (kind, time, expected) in
            [("reads", read, read_expected), ("writes", write, write_expected)]
        {
            assert!((time / expected - 1.0).abs() < 0.01, "{load}, {kind}: {time}, not {expected}");
        }
        check_little(&measured);
    }
}

#[test]
fn a_limit_of_suspensions_lies_between_none_and_any_number() {
    let mean = |more: &str| means_us(&read_first(0.6, more).1);
    let [none, once, any] =
        ["", ",suspend=programs,suspend-us=0,suspend-max=1", ",suspend=programs,suspend-us=0"]
            .map(mean);
    assert!(none[0] > once[0] && once[0] > any[0], "{none:?}, {once:?}, {any:?}");
    assert!(none[1] < once[1] && once[1] < any[1], "{none:?}, {once:?}, {any:?}");
    let [_, dear] = ["", ",suspend=programs,suspend-us=20"].map(mean);
    assert!(dear[0] > any[0] && dear[1] > any[1], "{dear:?}, {any:?}");
}
