//! Closed forms of times that depend on the page: word lines, planes and retries, with every priority.

use crate::drive::BareDrive;
use ftlab_flash::{BlockId, Cause, Flash, Geometry, Hint, Lpn, Page, Ppn};
use ftlab_host::{Arrival, BufferedWrite, HostOp, Step, Timing};

const BLOCKS: u32 = 4;
const PAGES_PER_BLOCK: u32 = 96;

fn timed(timing: &str) -> BareDrive {
    let timing = Timing::from_spec(&timing.parse().unwrap()).unwrap();
    let geometry = Geometry::new(BLOCKS, PAGES_PER_BLOCK, 4096).unwrap();
    BareDrive::new(&timing, &geometry)
}

/// Asks for all pages of a block, one request each; the mean response time in microseconds, and the LUN time.
fn mean_us(timed: &mut BareDrive, op: HostOp, block: u32) -> (f64, u64) {
    timed.measure();
    for page in block * PAGES_PER_BLOCK..(block + 1) * PAGES_PER_BLOCK {
        assert_eq!(timed.begin_request(op, Arrival::Next), ftlab_host::Step::Arrived);
        if op == HostOp::Read {
            timed.read_for_host(Some(Ppn(page)));
        } else {
            timed.program(Ppn(page), Page::new(Lpn(page), &[]), Cause::Host.awaited()).unwrap();
        }
        timed.end_request();
    }
    let measured = timed.measured();
    let times = &measured.requests.as_ref().unwrap().of[op as usize];
    assert_eq!(times.count(), u64::from(PAGES_PER_BLOCK));
    let lun_ns = measured.work.host_reads_ns + measured.work.host_writes_ns;
    let responses_ns = times.mean_ns() * f64::from(PAGES_PER_BLOCK);
    assert_eq!(responses_ns.round() as u64, lun_ns, "one at a time, nothing waits");
    (times.mean_ns() / 1e3, lun_ns)
}

const PRIORITIES: [&str; 3] = ["none", "femu", "read-first"];

#[test]
fn a_buffer_keeps_all_luns_programming_that_program_several_pages_at_once() {
    const PAGES: u32 = BLOCKS * PAGES_PER_BLOCK;
    for priority in PRIORITIES {
        for (cached, held) in [("", 12.0), (",cached-transfers=on", 8.0)] {
            if priority != "read-first" && !cached.is_empty() {
                continue;
            }
            let mut timed = timed(&format!(
                "slc:channels=4,program-us=100/100/100,page-types=one-shot,planes=2,flash-page=8KiB,transfer-us=20,\
                 unit=request,queue-depth=64,write-buffer=1MiB,priority={priority}{cached}"
            ));
            timed.measure();
            let mut next = 0;
            let mut program = |timed: &mut BareDrive| {
                timed.program(Ppn(next), Page::new(Lpn(next), &[]), Cause::Host.awaited()).unwrap();
                next += 1;
            };
            for page in 0..PAGES {
                while timed.begin_request(HostOp::Write, Arrival::Next) != Step::Arrived {
                    program(&mut timed);
                }
                assert!(timed.buffer_write(BufferedWrite { lpn: Lpn(page), hint: Hint::NONE }));
                timed.end_request();
            }
            while timed.empty_buffer().is_some() {
                program(&mut timed);
            }
            // Each LUN programs twelve pages at once in 300 us, beside the transfers that hold it: at first all do.
            let word_lines = f64::from(PAGES) / (4.0 * 12.0);
            let expected = word_lines * (300.0 + 20.0 * held) + 20.0 * (12.0 - held);
            let elapsed = timed.measured().elapsed_ns as f64 / 1e3;
            assert!(
                (elapsed / expected - 1.0).abs() < 0.02,
                "{priority}{cached}: {elapsed}, {expected}"
            );
        }
    }
}

#[test]
fn one_at_a_time_a_word_line_takes_the_sum_of_its_pages_whichever_way() {
    for (preset, read_us, program_us, transfer_us) in [
        ("mlc", 56.0, 1575.0, 52.433),
        ("tlc", 80.0, 2926.5, 52.433),
        ("qlc", 110.343_75, 4_841.056_25, 52.433),
    ] {
        for priority in PRIORITIES {
            for (types, shape) in [
                ("each", ""),
                ("one-shot", ""),
                ("each", ",channels=2,luns=2"),
                ("one-shot", ",luns=2,layout=block"),
            ] {
                let timing =
                    format!("{preset}:unit=request,page-types={types},priority={priority}{shape}");
                let mut timed = timed(&timing);
                let (mean, _) = mean_us(&mut timed, HostOp::Write, 0);
                assert!((mean - program_us - transfer_us).abs() < 1e-3, "{timing}: {mean}");
                let (mean, _) = mean_us(&mut timed, HostOp::Read, 0);
                assert!((mean - read_us - transfer_us).abs() < 1e-3, "{timing}: {mean}");
            }
        }
    }
}

#[test]
fn programs_of_planes_take_the_time_of_one() {
    for priority in PRIORITIES {
        for planes in [1, 2, 4] {
            let timing = format!("slc:unit=request,luns=2,planes={planes},priority={priority}");
            let (_, lun_ns) = mean_us(&mut timed(&timing), HostOp::Write, 0);
            assert_eq!(lun_ns, u64::from(PAGES_PER_BLOCK) * 200_000 / planes, "{timing}");
            let one_shot = format!("{timing},page-types=one-shot,program-us=10/50/60");
            let (_, lun_ns) = mean_us(&mut timed(&one_shot), HostOp::Write, 0);
            assert_eq!(lun_ns, u64::from(PAGES_PER_BLOCK) / 3 * 120_000 / planes, "{one_shot}");
        }
    }
}

#[test]
fn a_flash_page_is_read_once_for_a_collection_and_for_a_request() {
    let pages = u64::from(PAGES_PER_BLOCK);
    for priority in PRIORITIES {
        for (planes, kib, together) in [(1, 4, 1), (1, 16, 4), (2, 4, 2), (2, 16, 8), (1, 8, 2)] {
            let timing = format!(
                "slc:unit=request,read-us=40,program-us=300,transfer-us=5,luns=2,planes={planes},flash-page={kib}KiB,\
                 priority={priority}"
            );
            let mut timed = timed(&timing);
            assert_eq!(timed.begin_request(HostOp::Read, Arrival::Next), ftlab_host::Step::Arrived);
            timed.measure();
            (0..PAGES_PER_BLOCK).for_each(|page| timed.read_for_host(Some(Ppn(page))));
            timed.end_request();
            for page in 0..PAGES_PER_BLOCK {
                let (to, copy) = (Ppn(PAGES_PER_BLOCK + page), Page::copy(Lpn(page), Ppn(page)));
                timed.program(to, copy, Cause::Move.unawaited()).unwrap();
            }
            let measured = timed.measured();
            let reads_ns = pages * 5_000 + pages / together * 40_000;
            assert_eq!(measured.work.host_reads_ns, reads_ns, "{timing}");
            let programs_ns = pages * 5_000 + pages / together * 300_000;
            assert_eq!(measured.work.relocations_ns, reads_ns + programs_ns, "{timing}");
            let busy_ns: u64 = measured.occupied.busy_ns.iter().sum();
            assert!(busy_ns >= 2 * reads_ns + programs_ns, "{timing}");
            // The requests of a page each have nothing to share.
            let (mean, _) = mean_us(&mut self::timed(&timing), HostOp::Read, 0);
            assert!((mean - 45.0).abs() < 1e-9, "{timing}: {mean}");
        }
    }
}

#[test]
fn retries_make_reads_longer_step_by_step_as_blocks_wear() {
    for priority in PRIORITIES {
        let mut timed = timed(&format!(
            "slc:unit=request,read-us=40,erase-us=0,transfer-us=10,read-retries=2:1/4:3,\
             priority={priority}"
        ));
        for retries in [0.0, 0.0, 1.0, 1.0, 3.0, 3.0] {
            let worn = mean_us(&mut timed, HostOp::Read, 1).0;
            assert!((worn - 50.0 * (1.0 + retries)).abs() < 1e-9, "{priority}: {worn}");
            let new = mean_us(&mut timed, HostOp::Read, 2).0;
            assert!((new - 50.0).abs() < 1e-9, "{priority}: {new}");
            timed.erase(BlockId(1), Cause::Move.unawaited()).unwrap();
        }
    }
}

#[test]
fn copies_and_reads_of_the_ftl_take_the_time_of_their_pages_too() {
    for priority in PRIORITIES {
        let timing = format!(
            "slc:unit=request,read-us=10/20,program-us=100/300,erase-us=0,page-types=each,\
             read-retries=7:1,pe-cycles=7,priority={priority}"
        );
        let mut timed = timed(&timing);
        timed.measure();
        assert_eq!(timed.begin_request(HostOp::Write, Arrival::Next), ftlab_host::Step::Arrived);
        timed.measure();
        let copy = |from| Page::copy(Lpn(from), Ppn(from));
        timed.program(Ppn(96), copy(1), Cause::Move.awaited()).unwrap();
        timed.program(Ppn(97), copy(2), Cause::Merge.awaited()).unwrap();
        timed.read(Ppn(3), &mut [], Cause::Host.awaited()).unwrap();
        timed.program(Ppn(98), Page::new(Lpn(0), &[]), Cause::Host.awaited()).unwrap();
        timed.end_request();
        let measured = timed.measured();
        assert_eq!(measured.work.relocations_ns, 140_000, "{timing}");
        assert_eq!(measured.work.merges_ns, 320_000, "{timing}");
        assert_eq!(
            (measured.work.others_ns, measured.work.host_writes_ns),
            (40_000, 100_000),
            "{timing}"
        );
        assert_eq!(measured.occupied.busy_ns, [600_000], "{timing}");
    }
}
