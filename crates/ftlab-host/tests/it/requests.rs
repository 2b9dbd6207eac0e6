//! Response times, in microseconds, on flash of four blocks.

use crate::drive::BareDrive;
use ftlab_flash::{
    BlockId, Cause, Flash, Geometry, Hint, Lpn, LunWork, Page, Ppn, Purpose, Slice, Wait,
};
use ftlab_host::{Arrival, BufferedWrite, HostOp, ResponseTimes, Step, Timing};

const PAGE: Page<'_> = Page::new(Lpn(0), &[]);
const HOST: Purpose = Cause::Host.awaited();
const MOVE: Purpose = Cause::Move.awaited();
const MERGE: Purpose = Cause::Merge.awaited();
/// After the page write.
const LATER: Purpose = Cause::Move.unawaited();

/// 4 blocks of 4 pages; read 10, program 100, erase 1000, transfer 1, all in microseconds.
fn timed(more: &str) -> BareDrive {
    let spec = format!("slc:read-us=10,program-us=100,erase-us=1000,transfer-us=1{more}");
    let timing = Timing::from_spec(&spec.parse().unwrap()).unwrap();
    let mut timed = BareDrive::new(&timing, &Geometry::new(4, 4, 4096).unwrap());
    timed.measure();
    timed
}

/// Writes pages; the response time of each in microseconds.
fn write(timed: &mut BareDrive, pages: &[u32]) -> Vec<u64> {
    let mut response = |page: &u32| {
        timed.program(Ppn(*page), PAGE, HOST).unwrap();
        timed.end_interval().response_max_ns / 1000
    };
    pages.iter().map(&mut response).collect()
}

fn elapsed_us(timed: &BareDrive) -> u64 {
    timed.measured().elapsed_ns / 1000
}

#[test]
fn one_lun_and_one_request_at_a_time_is_the_sum_of_all_operations() {
    let mut timed = timed("");
    assert_eq!(write(&mut timed, &[0, 1]), [101, 101]);
    timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
    timed.erase(BlockId(0), MOVE).unwrap();
    timed.program(Ppn(5), PAGE, HOST).unwrap();
    assert_eq!(timed.end_interval().response_max_ns, (112 + 1000 + 101) * 1000);
    // After the program nobody waits, but the next one finds the LUN busy.
    timed.erase(BlockId(1), LATER).unwrap();
    assert_eq!(write(&mut timed, &[6]), [1101]);
    assert_eq!(elapsed_us(&timed), 4 * 101 + 112 + 2 * 1000);
    let measured = timed.measured();
    assert_eq!(measured.occupied.busy_ns, [measured.elapsed_ns]);
    let parts =
        measured.work.host_writes_ns + measured.work.relocations_ns + measured.work.erases_ns;
    assert_eq!(parts, measured.elapsed_ns);
}

#[test]
fn copies_of_merges_take_as_long_as_others_and_are_told_apart() {
    let mut timed = timed("");
    timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
    timed.program(Ppn(5), Page::copy(Lpn(0), Ppn(1)), MERGE).unwrap();
    timed.program(Ppn(6), Page::copy(Lpn(0), Ppn(2)), MERGE).unwrap();
    let measured = timed.measured();
    assert_eq!((measured.work.relocations_ns, measured.work.merges_ns), (112_000, 224_000));
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
    assert_eq!(timed.measured().occupied.busy_ns, [202_000, 101_000]);
}

#[test]
fn a_host_write_waits_for_the_collection_before_it_on_whatever_lun() {
    let mut timed = timed(",channels=4,layout=block");
    timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
    timed.erase(BlockId(0), MOVE).unwrap();
    timed.program(Ppn(8), PAGE, HOST).unwrap();
    assert_eq!(timed.end_interval().response_max_ns, (112 + 1000 + 101) * 1000);
    // The next write, on another LUN, does not wait for one that follows this write.
    timed.program(Ppn(0), Page::copy(Lpn(0), Ppn(4)), LATER).unwrap();
    timed.erase(BlockId(1), LATER).unwrap();
    assert_eq!(write(&mut timed, &[9]), [101]);
}

#[test]
fn an_erase_waits_for_the_pages_that_leave_its_block() {
    let mut timed = timed(",channels=2,layout=block");
    timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
    timed.erase(BlockId(0), MOVE).unwrap();
    // 10 to read and 1 out, 1 in and 100 to program, and only then the erase.
    assert_eq!(elapsed_us(&timed), 112 + 1000);
    assert_eq!(timed.measured().occupied.busy_ns, [1_011_000, 101_000]);
}

#[test]
fn in_an_open_loop_page_writes_arrive_by_the_clock_of_the_trace() {
    let mut timed = timed(",arrivals=trace,speed-up=2");
    timed.erase(BlockId(0), LATER).unwrap();
    let (chip, pages) = timed.parts_mut();
    pages.expect(&[5000, 5010, 5004, 6000], chip.end_ns());
    // At 0, 5, 5 and 500 us after the erase.
    assert_eq!(write(&mut timed, &[0, 1, 2, 3]), [101, 197, 298, 101]);
    assert_eq!(elapsed_us(&timed), 1601);
}

#[test]
fn hosts_that_are_simulated_elsewhere_say_when_their_page_writes_arrive() {
    let mut timed = timed(",queue-depth=64");
    timed.parts_mut().1.expect_at(7_000, 2);
    assert_eq!(write(&mut timed, &[0, 1]), [101, 202]);
    assert_eq!((timed.take_done_ns(), timed.take_done_ns()), (209_000, 0));
    assert_eq!(timed.chip().end_ns(), 209_000);
}

#[test]
fn intervals_add_up_to_the_whole() {
    let mut timed = timed("");
    let mut elapsed = 0;
    for page in 0..4 {
        timed.program(Ppn(page), PAGE, HOST).unwrap();
        let interval = timed.end_interval();
        assert_eq!((interval.host_writes, interval.response_sum_ns), (1, 101_000));
        elapsed += interval.elapsed_ns;
    }
    assert_eq!(elapsed, timed.measured().elapsed_ns);
}

/// A read of these pages as a request; the response time in nanoseconds.
fn read(timed: &mut BareDrive, arrival: Arrival, pages: &[Option<u32>]) -> u64 {
    let _ = timed.begin_request(HostOp::Read, arrival);
    let begin = timed.chip().now_ns();
    for page in pages {
        timed.read_for_host(page.map(Ppn));
    }
    timed.take_done_ns();
    timed.end_request();
    timed.take_done_ns() - begin
}

#[test]
fn a_request_is_complete_when_the_last_of_its_pages_is() {
    let mut timed = timed(",channels=4,unit=request");
    let _ = timed.begin_request(HostOp::Write, Arrival::Next);
    for page in 0..6 {
        timed.program(Ppn(page), PAGE, HOST).unwrap();
    }
    timed.end_request();
    assert_eq!(timed.take_done_ns(), 202_000);
    // The next one arrives then. Four LUNs, each with a channel; what holds nothing takes a transfer.
    assert_eq!(read(&mut timed, Arrival::Next, &[Some(0), Some(1), Some(2)]), 11_000);
    assert_eq!(read(&mut timed, Arrival::Next, &[Some(0), Some(4), None]), 22_000);
    assert_eq!(read(&mut timed, Arrival::Next, &[None, None]), 1_000);
    let measured = timed.measured();
    let requests = measured.requests.unwrap();
    assert_eq!(requests.of.each_ref().map(ResponseTimes::count), [3, 1, 0, 0]);
    assert_eq!((measured.work.host_writes, measured.elapsed_ns), (6, 236_000));
    assert_eq!((measured.work.host_writes_ns, measured.work.host_reads_ns), (606_000, 55_000));
    assert_eq!((requests.under_way_mean.to_bits(), requests.under_way_max), (1_f64.to_bits(), 1));
}

#[test]
fn a_read_waits_for_whatever_its_lun_was_asked_for_before() {
    let mut timed = timed(",unit=request,queue-depth=4");
    let _ = timed.begin_request(HostOp::Write, Arrival::Next);
    timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
    timed.erase(BlockId(0), MOVE).unwrap();
    timed.program(Ppn(8), PAGE, HOST).unwrap();
    timed.end_request();
    assert_eq!(read(&mut timed, Arrival::Next, &[Some(8)]), (112 + 1000 + 101 + 11) * 1000);
    // Trims and flushes take no time, so another request may follow at once.
    for op in [HostOp::Trim, HostOp::Flush] {
        let _ = timed.begin_request(op, Arrival::Next);
        timed.end_request();
    }
    let measured = timed.measured();
    let counts = measured.requests.unwrap().of.map(|times| (times.count(), times.max_ns()));
    assert_eq!(counts, [(1, 1_224_000), (1, 1_213_000), (1, 0), (1, 0)]);
}

#[test]
fn with_the_rule_of_femu_nothing_waits_but_for_its_lun() {
    let mut timed = timed(",channels=4,layout=block,priority=femu");
    timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
    timed.erase(BlockId(2), MOVE).unwrap();
    timed.program(Ppn(12), PAGE, HOST).unwrap();
    assert_eq!(timed.end_interval().response_max_ns, 101_000);
    assert_eq!(timed.measured().occupied.busy_ns, [11_000, 101_000, 1_000_000, 101_000]);
}

#[test]
fn what_was_under_way_before_is_not_measured() {
    let mut timed = timed(",unit=request,queue-depth=2");
    for _ in 0..2 {
        read(&mut timed, Arrival::Next, &[Some(0)]);
    }
    timed.measure();
    // One after 11 us, the other after 22, when the first page is free again.
    assert_eq!(read(&mut timed, Arrival::Next, &[Some(0)]), 22_000);
    let measured = timed.measured();
    let requests = measured.requests.unwrap();
    assert_eq!((requests.of[0].count(), measured.elapsed_ns), (1, 33_000));
    assert!((requests.under_way_mean - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(measured.occupied.busy_ns, [33_000]);
}

#[test]
fn random_arrivals_come_at_their_rate() {
    let mut timed = timed(",unit=request,arrivals=poisson,rate=1e6");
    for _ in 0..100_000 {
        let _ = timed.begin_request(HostOp::Flush, Arrival::Next);
        timed.end_request();
    }
    let seconds = timed.measured().arrived_ns as f64 / 1e9;
    assert!((seconds - 0.1).abs() < 0.001, "{seconds}");
}

/// A write of this page as a request, with a collection before it or not.
fn ask_to_write(timed: &mut BareDrive, arrival_ns: u64, page: u32) {
    let _ = timed.begin_request(HostOp::Write, Arrival::At(arrival_ns));
    timed.program(Ppn(page), PAGE, HOST).unwrap();
    timed.end_request();
}

fn ask_to_read(timed: &mut BareDrive, arrival_ns: u64, page: u32) {
    let _ = timed.begin_request(HostOp::Read, Arrival::At(arrival_ns));
    timed.read_for_host(Some(Ppn(page)));
    timed.end_request();
}

/// The longest response times of reads and writes, and the elapsed time, in microseconds.
fn longest_us(timed: &BareDrive) -> [u64; 3] {
    let measured = timed.measured();
    let [read, write, ..] = measured.requests.unwrap().of.map(|times| times.max_ns() / 1000);
    [read, write, measured.elapsed_ns / 1000]
}

#[test]
fn a_read_overtakes_programs_and_erases_that_have_not_begun() {
    for (priority, expected) in [("none", [1211, 1201, 1213]), ("read-first", [110, 1212, 1213])] {
        let mut timed = timed(&format!(",unit=request,priority={priority}"));
        ask_to_write(&mut timed, 0, 0);
        let _ = timed.begin_request(HostOp::Write, Arrival::At(1000));
        timed.erase(BlockId(3), MOVE).unwrap();
        timed.program(Ppn(12), PAGE, HOST).unwrap();
        timed.end_request();
        ask_to_read(&mut timed, 2000, 4);
        assert_eq!(longest_us(&timed), expected, "{priority}");
    }
}

#[test]
fn nothing_overtakes_what_it_depends_on() {
    let mut timed = timed(",unit=request,priority=read-first,luns=2,layout=block");
    // Block 0 and 2 are on one LUN, 1 and 3 on the other.
    ask_to_write(&mut timed, 0, 0);
    ask_to_write(&mut timed, 0, 1);
    // The read of a page that has not been programmed waits for that.
    ask_to_read(&mut timed, 0, 1);
    assert_eq!(longest_us(&timed), [213, 202, 213]);
    // A collection: its programs follow its reads, the erase the programs, the write the erase.
    let _ = timed.begin_request(HostOp::Write, Arrival::At(1_000_000));
    timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
    timed.erase(BlockId(0), MOVE).unwrap();
    timed.program(Ppn(0), PAGE, HOST).unwrap();
    timed.end_request();
    assert_eq!(longest_us(&timed), [213, 11 + 101 + 1000 + 101, 1000 + 1213]);
    // A program follows the erase of its block, though the host does not wait for that.
    timed.erase(BlockId(0), MOVE).unwrap();
    ask_to_write(&mut timed, 10_000_000, 0);
    timed.erase(BlockId(2), MOVE).unwrap();
    ask_to_write(&mut timed, 20_000_000, 8);
    ask_to_write(&mut timed, 20_000_000, 0);
    assert_eq!(longest_us(&timed)[1..], [1213, 20_000 + 202]);
}

#[test]
fn a_read_suspends_a_program_or_erase_as_often_as_it_may() {
    let begin = ",unit=request,priority=read-first";
    for (more, expected) in [
        ("", [1000 - 50 + 11, 1101 + 22, 1123]),
        (",suspend=both,suspend-us=5", [16, 1000 + 101 + 22 + 10, 1133]),
        (",suspend=erases,suspend-us=5,suspend-max=1", [1000 - 64 + 11, 1000 + 101 + 22 + 5, 1128]),
        // It can be interrupted when 900, 600 and 300 are left; the second read comes before that, and follows the first.
        (",suspend=both,suspend-us=5,suspend-slice-us=300", [50 + 16, 1000 + 101 + 22 + 5, 1128]),
        (",suspend=both,suspend-us=5,suspend-slice-us=960", [1000 - 50 + 11, 1101 + 22, 1123]),
    ] {
        let mut timed = timed(&format!("{begin}{more}"));
        let _ = timed.begin_request(HostOp::Write, Arrival::At(0));
        timed.erase(BlockId(1), MOVE).unwrap();
        timed.program(Ppn(4), PAGE, HOST).unwrap();
        timed.end_request();
        ask_to_read(&mut timed, 50_000, 0);
        ask_to_read(&mut timed, 80_000, 0);
        assert_eq!(longest_us(&timed), expected, "{more}");
    }
}

#[test]
fn commands_take_time_beside_the_pages_of_requests() {
    for priority in ["none", "femu", "read-first"] {
        let mut timed = timed(&format!(",unit=request,waits=on,command-us=7,priority={priority}"));
        ask_to_write(&mut timed, 0, 0);
        ask_to_read(&mut timed, 1_000_000, 0);
        assert_eq!(longest_us(&timed), [18, 108, 1018], "{priority}");
        assert_eq!(waits_us(&timed), [[18, 0, 0, 0, 0, 0], [108, 0, 0, 0, 0, 0]], "{priority}");
    }
}

#[test]
fn reads_come_first_or_not_while_writes_wait_for_room_in_the_buffer() {
    for (when_full, expected) in [("first", 11), ("turn", 62), ("last", 275)] {
        for is_full in [false, true] {
            let mut timed = timed(&format!(
                ",unit=request,priority=read-first,gc-priority=last,suspend=programs,suspend-us=0,write-buffer=4KiB,\
                 reads-when-full={when_full}"
            ));
            let mut next = 0;
            for page in 0..=u32::from(is_full) {
                program_buffered(&mut timed, &mut next, |timed| {
                    timed.begin_request(HostOp::Write, Arrival::At(0)) != Step::Arrived
                });
                assert!(timed.buffer_write(BufferedWrite { lpn: Lpn(page), hint: Hint::NONE }));
                timed.end_request();
            }
            // While the first page is programmed, a page is moved, and a read comes.
            program_buffered(&mut timed, &mut next, |timed| {
                timed.begin_request(HostOp::Read, Arrival::At(50_000)) != Step::Arrived
            });
            timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(8)), LATER).unwrap();
            timed.read_for_host(Some(Ppn(12)));
            timed.end_request();
            program_buffered(&mut timed, &mut next, |timed| timed.empty_buffer().is_some());
            let expected = if is_full { expected } else { 11 };
            assert_eq!(longest_us(&timed)[0], expected, "{when_full}, {is_full}");
        }
    }
}

#[test]
fn collections_come_before_or_after_the_host() {
    let expected = [("same", [123, 224]), ("last", [112, 213]), ("first", [224, 325])];
    for (gc, expected) in expected {
        let mut timed = timed(&format!(",unit=request,priority=read-first,gc-priority={gc}"));
        // While a page is programmed, a step of a collection and two requests come.
        ask_to_write(&mut timed, 0, 0);
        timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(8)), LATER).unwrap();
        ask_to_write(&mut timed, 0, 1);
        ask_to_read(&mut timed, 0, 12);
        assert_eq!(longest_us(&timed)[..2], expected, "{gc}");
    }
}

/// What all reads and all writes waited for, in microseconds: own, LUN, channel, collection, erase, buffer.
fn waits_us(timed: &BareDrive) -> [[u64; 6]; 2] {
    let waits = timed.measured().requests.unwrap().waits.unwrap();
    [&waits[0], &waits[1]]
        .map(|of| std::array::from_fn(|cause| of.all().waits.get(Wait::ALL[cause]) / 1000))
}

#[test]
fn requests_wait_for_what_is_in_their_way() {
    // A write after a collection, and a read of its LUN.
    for (priority, read) in
        [("none", [11, 101, 0, 112, 1000, 0]), ("read-first", [11, 0, 0, 11, 0, 0])]
    {
        let mut timed = timed(&format!(",unit=request,waits=on,priority={priority}"));
        let _ = timed.begin_request(HostOp::Write, Arrival::At(0));
        timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
        timed.erase(BlockId(0), MOVE).unwrap();
        timed.program(Ppn(8), PAGE, HOST).unwrap();
        timed.end_request();
        ask_to_read(&mut timed, 0, 12);
        let later = if priority == "none" { 0 } else { 11 };
        assert_eq!(waits_us(&timed), [read, [101, 0, 0, 112 + later, 1000, 0]], "{priority}");
    }
    // Two LUNs on a channel: one read holds its page until the other's has passed.
    for priority in ["none", "read-first"] {
        let mut timed = timed(&format!(",luns=2,unit=request,waits=on,priority={priority}"));
        ask_to_read(&mut timed, 0, 0);
        ask_to_read(&mut timed, 0, 1);
        assert_eq!(waits_us(&timed)[0], [22, 0, 1, 0, 0, 0], "{priority}");
        // Two programs, whose transfers follow each other; a read waits for one of them.
        ask_to_write(&mut timed, 100_000, 4);
        ask_to_write(&mut timed, 100_000, 5);
        ask_to_read(&mut timed, 110_000, 5);
        let expected = [[33, 92, 1, 0, 0, 0], [202, 0, 1, 0, 0, 0]];
        assert_eq!(waits_us(&timed), expected, "{priority}");
    }
    // A read suspends the erase, and so the write waits longer for that.
    let mut timed = timed(",unit=request,waits=on,priority=read-first,suspend=both,suspend-us=5");
    let _ = timed.begin_request(HostOp::Write, Arrival::At(0));
    timed.erase(BlockId(1), MOVE).unwrap();
    timed.program(Ppn(4), PAGE, HOST).unwrap();
    timed.end_request();
    ask_to_read(&mut timed, 50_000, 0);
    assert_eq!(waits_us(&timed), [[11, 0, 0, 0, 5, 0], [101, 0, 0, 0, 1016, 0]]);
}

#[test]
fn what_a_program_does_until_it_can_be_interrupted_is_its_own_work() {
    for (slice, pulse_us) in [("", 0), (",suspend-slice-us=60", 20), (",suspend-slice-us=30", 20)] {
        // After the transfer, 80 us of the program are left when the read comes, 60 when the LUN interrupts it.
        let mut timed = timed(&format!(
            ",unit=request,waits=on,priority=read-first,suspend=programs,suspend-us=5{slice}"
        ));
        ask_to_write(&mut timed, 0, 0);
        ask_to_read(&mut timed, 21_000, 12);
        let read = [11, 5 + pulse_us, 0, 0, 0, 0];
        assert_eq!(waits_us(&timed), [read, [101, 16, 0, 0, 0, 0]], "{slice}");
    }
}

/// Pages of the write buffer go to flash page after page, from `next` on.
fn program_buffered(timed: &mut BareDrive, next: &mut u32, step: impl Fn(&mut BareDrive) -> bool) {
    while step(timed) {
        timed.program(Ppn(*next), PAGE, HOST).unwrap();
        *next += 1;
    }
}

#[test]
fn writes_wait_for_room_in_the_buffer_or_there_for_their_program() {
    for (more, priority, expected) in [
        // The second waits until the first is in flash, and then for its transfer.
        ("4KiB", "none", [2, 0, 0, 0, 0, 101]),
        ("4KiB", "read-first", [2, 0, 0, 0, 0, 101]),
        // Both wait for their programs, and the second before that for its turn.
        ("8KiB:ack=program", "none", [202, 0, 0, 0, 0, 101]),
        ("8KiB:ack=program", "read-first", [202, 0, 0, 0, 0, 101]),
    ] {
        let mut timed =
            timed(&format!(",unit=request,waits=on,priority={priority},write-buffer={more}"));
        let mut next = 0;
        for page in 0..2 {
            program_buffered(&mut timed, &mut next, |timed| {
                timed.begin_request(HostOp::Write, Arrival::At(0)) != Step::Arrived
            });
            let write = BufferedWrite { lpn: Lpn(page), hint: Hint::NONE };
            assert!(timed.buffer_write(write));
            timed.end_request();
        }
        program_buffered(&mut timed, &mut next, |timed| timed.empty_buffer().is_some());
        assert_eq!(waits_us(&timed)[1], expected, "{more}, {priority}");
    }
}

/// A timing with the slowest requests.
fn watched(more: &str, slowest: usize) -> BareDrive {
    let spec =
        format!("slc:read-us=10,program-us=100,erase-us=1000,transfer-us=1,unit=request{more}");
    let timing = Timing::from_spec(&spec.parse().unwrap()).unwrap().keep_slowest(slowest);
    let mut timed = BareDrive::new(&timing, &Geometry::new(4, 4, 4096).unwrap());
    timed.measure();
    timed
}

#[test]
fn the_slowest_requests_are_kept_with_what_luns_did_meanwhile() {
    for priority in ["none", "read-first"] {
        let mut timed = watched(&format!(",priority={priority}"), 2);
        ask_to_read(&mut timed, 0, 12);
        let _ = timed.begin_request(HostOp::Write, Arrival::At(100_000));
        timed.program(Ppn(4), Page::copy(Lpn(0), Ppn(0)), MOVE).unwrap();
        timed.erase(BlockId(0), MOVE).unwrap();
        timed.program(Ppn(8), PAGE, HOST).unwrap();
        timed.end_request();
        ask_to_read(&mut timed, 2_000_000, 8);
        ask_to_write(&mut timed, 3_000_000, 9);
        let requests = timed.measured().requests.unwrap();
        assert!(requests.waits.is_none());
        let slowest = requests.slowest;
        let of = slowest
            .iter()
            .map(|of| (of.number, of.op, of.arrival_ns / 1000, of.response_ns() / 1000));
        assert_eq!(
            of.collect::<Vec<_>>(),
            [(1, HostOp::Write, 100, 1213), (3, HostOp::Write, 3000, 101)]
        );
        let us = |slice: &Slice| {
            (slice.work, slice.begin_ns / 1000, slice.end_ns / 1000, slice.page, slice.request)
        };
        assert_eq!(
            slowest[0].slices.iter().map(us).collect::<Vec<_>>(),
            [
                (LunWork::HostRead, 0, 11, 12, Some(0)),
                (LunWork::Read, 100, 111, 0, None),
                (LunWork::Program, 111, 212, 4, None),
                (LunWork::Erase, 212, 1212, 0, None),
                (LunWork::HostProgram, 1212, 1313, 8, Some(1)),
            ],
            "{priority}"
        );
        assert_eq!(slowest[0].waits.get(Wait::Erase), 1_000_000);
    }
}

#[test]
fn a_suspended_operation_is_two_slices() {
    for (more, erased_us) in [("", 50), (",suspend-slice-us=300", 100)] {
        check_two_slices(more, erased_us);
    }
}

/// An erase is interrupted after so long, by a read that comes at 50 us.
fn check_two_slices(more: &str, erased_us: u64) {
    let mut timed = watched(&format!(",priority=read-first,suspend=both,suspend-us=5{more}"), 1);
    let _ = timed.begin_request(HostOp::Write, Arrival::At(0));
    timed.erase(BlockId(1), MOVE).unwrap();
    timed.program(Ppn(4), PAGE, HOST).unwrap();
    timed.end_request();
    ask_to_read(&mut timed, 50_000, 0);
    let slowest = timed.measured().requests.unwrap().slowest;
    let us =
        |slice: &Slice| (slice.work, slice.begin_ns / 1000, slice.end_ns / 1000, slice.request);
    assert_eq!(
        slowest[0].slices.iter().map(us).collect::<Vec<_>>(),
        [
            (LunWork::Erase, 0, erased_us, None),
            (LunWork::HostRead, erased_us + 5, erased_us + 16, Some(1)),
            (LunWork::Erase, erased_us + 16, 1016, None),
            (LunWork::HostProgram, 1016, 1117, Some(0)),
        ]
    );
}
