//! Response times of requests (`unit=request`).

use ftlab_sim::result::{ExperimentResult, RunResult, TimingResult, WaitsResult};
use ftlab_sim::{DriveOptions, Experiment, Fill, Length, Logical, Workload};
use ftlab_trace::OpenOptions;
use std::fmt::Write as _;
use std::io::Write as _;

const PAGES: u64 = 4096;

/// Reads, writes and trims of one to eight pages, and flushes; a request every 100 us.
fn trace() -> String {
    let mut random = 1_u64;
    let mut draw = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % most
    };
    let mut lines = String::new();
    for request in 0..20_000 {
        let (op, pages) = (["R", "R", "W", "W", "W", "T", "F"][draw(7) as usize], 1 + draw(8));
        let page = draw(PAGES - pages);
        writeln!(lines, "{},{op},{page},{pages}", 100 * request).unwrap();
    }
    lines
}

fn experiment(text: &str, timing: &str, ftls: &[&str]) -> ExperimentResult {
    run_with(text, timing, ftls, |_| ())
}

fn run_with(
    text: &str,
    timing: &str,
    ftls: &[&str],
    change: impl FnOnce(&mut Experiment),
) -> ExperimentResult {
    let suffix = if text.starts_with('[') { ".fio" } else { ".csv" };
    let mut file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let map = (suffix == ".csv").then(|| "ts:us=1,op=2,off:pages=3,len:pages=4".into());
    let options = OpenOptions { map, ..OpenOptions::default() };
    let workload = Workload::parse(&file.path().display().to_string(), options).unwrap();
    let mut experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(PAGES),
            pages_per_block: Some(32),
            ..DriveOptions::default()
        },
        fill: Fill::Random,
        timing: Some(timing.parse().unwrap()),
        ..Experiment::new(workload, ftls.iter().map(|ftl| ftl.parse().unwrap()).collect())
    };
    change(&mut experiment);
    experiment.run(&mut ()).unwrap()
}

fn time(run: &RunResult) -> &TimingResult {
    run.timing.as_ref().unwrap()
}

/// Requests of an operation.
fn count(run: &RunResult, op: &str) -> u64 {
    time(run).requests.as_ref().unwrap().operations.get(op).map_or(0, |times| times.count)
}

#[test]
fn every_request_is_counted_and_littles_law_holds_in_every_run() {
    let trace = trace();
    let ftls = ["1r-greedy", "2r++", "fifo", "faster", "sep-gc/cost-benefit"];
    for timing in [
        "slc:unit=request",
        "femu:unit=request,queue-depth=32",
        "femu:unit=request,queue-depth=32,priority=femu",
        "enterprise:unit=request,queue-depth=8",
        "femu:unit=request,arrivals=trace",
        "tlc:channels=4,luns=4,unit=request,arrivals=poisson,rate=300",
        "femu:unit=request,queue-depth=32,priority=read-first",
        "enterprise:unit=request,queue-depth=32,priority=read-first,gc-priority=last,suspend=both",
        "tlc:luns=4,unit=request,queue-depth=8,priority=read-first,gc-priority=first,suspend=erases",
        "femu:unit=request,queue-depth=32,write-buffer=1MiB",
        "femu:unit=request,arrivals=trace,write-buffer=256KiB:plp=off",
        "enterprise:unit=request,priority=read-first,write-buffer=64KiB:plp=off:ack=program,queue-depth=8",
        "tlc:luns=4,unit=request,queue-depth=8,priority=read-first,suspend=both,page-types=one-shot,planes=2",
        "slc:unit=request,flash-page=16KiB",
        "tlc:luns=4,unit=request,arrivals=trace,flash-page=16KiB,planes=2,page-types=one-shot",
        "femu:unit=request,queue-depth=32,priority=femu,flash-page=32KiB,waits=on",
        "enterprise:unit=request,queue-depth=32,priority=read-first,suspend=both,flash-page=16KiB,write-buffer=256KiB",
        "tlc:luns=4,unit=request,queue-depth=8,priority=read-first,suspend=both,suspend-slice-us=70,command-us=9",
        "tlc:luns=4,unit=request,queue-depth=64,priority=read-first,suspend=both,write-buffer=64KiB,reads-when-full=turn",
        "tlc:luns=4,unit=request,queue-depth=64,priority=read-first,gc-priority=last,write-buffer=64KiB,reads-when-full=last",
        "enterprise:unit=request,queue-depth=32,priority=read-first,suspend=both,suspend-slice-us=70,cached-transfers=on",
        "tlc:channels=2,luns=2,transfer-us=40,unit=request,queue-depth=64,priority=read-first,planes=2,flash-page=8KiB,cached-transfers=on",
    ] {
        let result = experiment(&trace, timing, &ftls);
        for run in &result.runs {
            let requests = time(run).requests.as_ref().unwrap();
            for op in ["read", "write", "trim", "flush"] {
                // A trim of less than a page is none, and these are all of whole pages.
                assert_eq!(count(run, op), result.workload.requests[op], "{timing}, {op}");
            }
            let waited = |times: &ftlab_sim::result::OperationTimes| {
                times.per_second * times.response_ns.mean / 1e9
            };
            let expected: f64 = requests.operations.values().map(waited).sum();
            let ratio = requests.under_way_mean / expected;
            assert!((ratio - 1.0).abs() < 1e-3, "{timing}, {}: {ratio}", run.ftl);
        }
    }
}

#[test]
fn what_requests_waited_for_adds_up_to_their_response_times_and_changes_nothing() {
    let trace = trace();
    let ftls = ["1r-greedy", "2r++", "faster"];
    for timing in [
        "slc:unit=request",
        "femu:unit=request,queue-depth=32,priority=femu",
        "enterprise:unit=request,queue-depth=32",
        "enterprise:unit=request,queue-depth=32,layout=block",
        "tlc:channels=4,luns=4,unit=request,arrivals=poisson,rate=300",
        "enterprise:unit=request,queue-depth=32,priority=read-first,gc-priority=last,suspend=both",
        "tlc:luns=4,unit=request,queue-depth=8,priority=read-first,gc-priority=first,suspend=erases",
        "mlc:luns=4,unit=request,queue-depth=8,priority=read-first",
        "enterprise:unit=request,queue-depth=32,write-buffer=1MiB:plp=off",
        "tlc:channels=2,unit=request,queue-depth=8,write-buffer=64KiB:plp=off:ack=program",
        "tlc:luns=2,unit=request,priority=read-first,write-buffer=64KiB:plp=off:ack=program,queue-depth=8",
        "mlc:luns=4,unit=request,queue-depth=8,page-types=each,planes=2,read-retries=3:1/9:2",
        "mlc:luns=4,unit=request,queue-depth=8,priority=read-first,suspend=both,page-types=one-shot,read-retries=3:1",
        "mlc:luns=4,unit=request,queue-depth=8,flash-page=16KiB",
        "femu:unit=request,queue-depth=32,priority=femu,flash-page=16KiB",
        "enterprise:unit=request,queue-depth=32,priority=read-first,suspend=both,flash-page=16KiB",
        "tlc:luns=4,unit=request,queue-depth=8,priority=read-first,suspend=both,suspend-slice-us=70,command-us=9",
        "tlc:luns=4,unit=request,queue-depth=64,priority=read-first,suspend=both,write-buffer=64KiB,reads-when-full=turn",
        "tlc:luns=4,unit=request,queue-depth=64,priority=read-first,gc-priority=last,write-buffer=64KiB,reads-when-full=last",
        "enterprise:unit=request,queue-depth=32,priority=read-first,suspend=both,suspend-slice-us=70,cached-transfers=on",
        "tlc:channels=2,luns=2,transfer-us=40,unit=request,queue-depth=64,priority=read-first,planes=2,flash-page=8KiB,cached-transfers=on",
        "femu:unit=request,queue-depth=32,priority=femu,command-us=0.5",
    ] {
        let plain = experiment(&trace, timing, &ftls);
        let watched = experiment(&trace, &format!("{timing},waits=on"), &ftls);
        for (plain, watched) in plain.runs.iter().zip(&watched.runs) {
            let of = |run: &RunResult| time(run).requests.clone().unwrap().operations;
            let mut without = of(watched);
            for (op, times) in &mut without {
                let waits = times.waits.take().unwrap();
                let name = format!("{timing}, {}, {op}", plain.ftl);
                assert_eq!((waits.len(), waits[0].requests), (7, times.count), "{name}");
                let response = &times.response_ns;
                assert!((waits[0].response_ns - response.mean).abs() < 1e-3, "{name}");
                let percentiles = [response.p50, response.p90, response.p99, response.p99_9];
                for (waits, percentile) in waits[1..].iter().zip(percentiles) {
                    let ratio = waits.response_ns / percentile as f64;
                    assert!(percentile == 0 || (ratio - 1.0).abs() < 0.04, "{name}: {ratio}");
                }
                for waits in &waits {
                    let sum: f64 = waits.parts().iter().map(|(_, part)| part).sum();
                    assert!((sum - waits.response_ns).abs() < 1e-3, "{name}: {waits:?}");
                    let retries_max = if timing.contains("retries") { 2.0 } else { 0.0 };
                    let command_ns = if timing.contains("command-us=9") { 9e3 } else { 0.0 };
                    let read_max = 133e3 * (1.0 + retries_max) + command_ns;
                    let own_max = if op == "read" { read_max } else { 3_250e3 };
                    assert!(waits.own_ns <= own_max, "{name}: {waits:?}");
                    assert!(waits.buffer_ns == 0.0 || timing.contains("buffer"), "{name}");
                }
            }
            assert_eq!(of(plain), without, "{timing}");
        }
    }
}

#[test]
fn counts_are_those_of_a_run_by_pages_or_without_time() {
    let trace = trace();
    let ftls = ["1r-greedy", "2r-fifo", "fast"];
    let by_page = experiment(&trace, "slc", &ftls);
    let by_request = experiment(&trace, "slc:unit=request", &ftls);
    assert_eq!(by_page.trace_hash, by_request.trace_hash);
    for (pages, requests) in by_page.runs.iter().zip(&by_request.runs) {
        let counts = |run: &RunResult| {
            (run.host_writes, run.relocations, run.merge_copies, run.erases, run.trims)
        };
        assert_eq!(counts(pages), counts(requests), "{}", pages.ftl);
        // One LUN, and one request at a time: the sum of all operations, reads included.
        let reads = time(requests).lun_seconds.host_reads;
        assert!(reads > 0.1);
        let elapsed = (time(pages).elapsed_seconds, time(requests).elapsed_seconds - reads);
        assert!((elapsed.0 - elapsed.1).abs() < 1e-6, "{}: {elapsed:?}", pages.ftl);
    }
}

#[test]
fn results_do_not_depend_on_batches_or_cuts() {
    let trace = trace();
    let timing = "femu:unit=request,arrivals=trace";
    let run = |batch_writes, interval_writes| {
        let result = run_with(&trace, timing, &["2r++"], |experiment| {
            experiment.batch_writes = batch_writes;
            experiment.interval_writes = Some(interval_writes);
            experiment.warmup_writes = 1001;
            experiment.length = Length::Writes(20_000);
        });
        let run = &result.runs[0];
        let mut requests = time(run).requests.clone().unwrap();
        for times in requests.operations.values_mut() {
            (times.running_p50_ns, times.running_p99_9_ns) = (None, None);
        }
        (run.host_writes, run.relocations, requests)
    };
    let expected = run(1 << 18, 1000);
    assert_eq!(expected.0, 20_000);
    for (batch, interval) in [(1, 1000), (7, 1000), (1 << 18, 3)] {
        assert_eq!(run(batch, interval), expected, "{batch}, {interval}");
    }
}

#[test]
fn jobs_of_fio_read_on_the_clock() {
    let jobs = "[global]\nioengine=io_uring\nfilename=/dev/drive\nbs=4k\nnorandommap\n\
                time_based\nruntime=1\nsize=16m\n\
                [reader]\nrw=randread\niodepth=4\n[writer]\nrw=randwrite\nbs=32k\n";
    let mut reads_of = Vec::new();
    // At the end, what is in the write buffer is programmed.
    for (more, slack) in
        [("", 0.02), (",priority=read-first,suspend=both", 0.02), (",write-buffer=1MiB", 0.15)]
    {
        let timing = format!("femu:unit=request{more}");
        let result = experiment(jobs, &timing, &["1r-greedy", "fifo"]);
        for run in &result.runs {
            let elapsed = time(run).elapsed_seconds;
            assert!((1.0..1.03 + slack).contains(&elapsed), "{more}: {elapsed}");
            let (reads, writes) = (count(run, "read"), count(run, "write"));
            assert!(reads > 100 && writes > 100, "{more}: {reads}, {writes}");
            // Four reads and a write are always under way.
            let under_way = time(run).requests.as_ref().unwrap().under_way_mean;
            assert!((under_way / 5.0 - 1.0).abs() < slack, "{more}: {under_way}");
            assert_eq!(run.host_writes, 8 * writes);
        }
        reads_of.push(count(&result.runs[0], "read"));
    }
    assert!(reads_of[1] > 2 * reads_of[0], "reads come first: {reads_of:?}");
}

#[test]
fn what_a_lun_does_next_changes_times_and_no_counts() {
    let trace = trace();
    let run = |timing: &str, ftl: &str| experiment(&trace, timing, &[ftl]).runs.remove(0);
    for ftl in ["1r-greedy", "2r++", "faster"] {
        let first_come = run("femu:unit=request,queue-depth=64", ftl);
        let read_first = run("femu:unit=request,queue-depth=64,priority=read-first", ftl);
        let suspend = run("femu:unit=request,queue-depth=64,priority=read-first,suspend=both", ftl);
        let counts =
            |run: &RunResult| (run.host_writes, run.relocations, run.erases, run.waf.to_bits());
        assert_eq!(counts(&first_come), counts(&read_first), "{ftl}");
        assert_eq!(counts(&first_come), counts(&suspend), "{ftl}");
        let [none, first, suspended] = [&first_come, &read_first, &suspend].map(|run| {
            let read = &time(run).requests.as_ref().unwrap().operations["read"];
            read.response_ns.mean
        });
        assert!(none > first && first > suspended, "{ftl}: {none}, {first}, {suspended}");
    }
}

#[test]
fn with_one_lun_the_sum_of_all_operations_does_not_depend_on_their_order() {
    let trace = trace();
    for more in [
        "",
        ",gc-priority=last",
        ",gc-priority=first",
        ",suspend=both,suspend-us=0",
        ",suspend=both,suspend-us=0,suspend-slice-us=33",
    ] {
        let timing =
            format!("slc:transfer-us=5,unit=request,queue-depth=16,priority=read-first{more}");
        let run = &experiment(&trace, &timing, &["2r-greedy"]).runs[0];
        let of = &time(run).lun_seconds;
        let sum =
            of.host_writes + of.host_reads + of.relocations + of.merges + of.erases + of.others;
        let busy = time(run).lun_busy_share[0] * time(run).elapsed_seconds;
        assert!((busy / sum - 1.0).abs() < 1e-9, "{more}: {busy} s, not {sum}");
        assert!(time(run).elapsed_seconds < sum * 1.01, "somebody always waits");
    }
}

#[test]
fn cached_transfers_save_time_and_change_no_counts() {
    let trace = trace();
    let run = |more: &str, ftl: &str| {
        let timing = format!(
            "slc:channels=2,luns=2,transfer-us=60,unit=request,queue-depth=64,priority=read-first{more}"
        );
        experiment(&trace, &timing, &[ftl]).runs.remove(0)
    };
    for ftl in ["1r-greedy", "2r++", "faster"] {
        let [off, on] = ["", ",cached-transfers=on"].map(|more| run(more, ftl));
        let counts =
            |run: &RunResult| (run.host_writes, run.relocations, run.erases, run.waf.to_bits());
        assert_eq!(counts(&off), counts(&on), "{ftl}");
        let [off_s, on_s] = [&off, &on].map(|run| time(run).elapsed_seconds);
        // A transfer of 60 us beside a program of 200.
        let saved = 1.0 - on_s / off_s;
        assert!((0.02..60.0 / 260.0).contains(&saved), "{ftl}: {off_s} s, {on_s} s");
        // Channels pass the same pages.
        let passed = |run: &RunResult| {
            let share: f64 = time(run).channel_busy_share.iter().sum();
            share * time(run).elapsed_seconds
        };
        assert!((passed(&off) / passed(&on) - 1.0).abs() < 1e-9, "{ftl}");
    }
}

#[test]
fn with_one_lun_units_and_maps_take_the_time_of_their_pages() {
    for mapping in [
        "iu:size=16KiB",
        "dftl:cache=16KiB,unit=8KiB",
        "tpftl:cache=4KiB,hmb=16KiB",
        "leaftl:cache=8KiB,gamma=16,greedy=on,buffer=64",
        "learnedftl:cache=8KiB",
    ] {
        for priority in ["none", "femu", "read-first"] {
            let timing =
                format!("slc:transfer-us=5,unit=request,queue-depth=16,priority={priority}");
            let change = |it: &mut Experiment| it.drive.mapping = mapping.parse().unwrap();
            let run = run_with(&trace(), &timing, &["1r-greedy"], change).runs.remove(0);
            let (of, map) = (time(&run).lun_seconds, run.map.clone().unwrap());
            let [read, program] = [30e-6, 205e-6];
            let alike = |seconds: f64, counted: f64| (seconds / counted - 1.0).abs() < 1e-9;
            let programs = run.programs_by_cause.as_ref().unwrap().host as f64;
            assert!(alike(of.host_writes, programs * program), "{priority}");
            assert!(alike(of.relocations, run.relocations as f64 * (read + program)), "{priority}");
            let reads = map.reads + map.rewrite_reads + map.mispredicted;
            let programs = map.writes + map.rewrites;
            assert_eq!(map.mispredicted > 0, mapping.starts_with("leaftl"), "{mapping}");
            assert!(alike(of.others, reads as f64 * read + programs as f64 * program), "{map:?}");
            let sum = of.host_writes + of.host_reads + of.relocations + of.erases + of.others;
            let busy = time(&run).lun_busy_share[0] * time(&run).elapsed_seconds;
            assert!(alike(busy, sum), "{priority}: {busy} s, not {sum}");
        }
    }
}

#[test]
fn a_write_buffer_hides_programs_and_takes_rewrites_off_the_flash() {
    // Two pages of three are among sixteen.
    let mut random = 1_u64;
    let mut draw = |most: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) % most
    };
    let line = |request: u64, op: &str, page: u64| format!("{},{op},{page},1\n", 100 * request);
    let mut trace = String::new();
    for request in 0..30_000 {
        let page = if draw(3) == 0 { draw(PAGES) } else { draw(16) };
        trace += &line(request, if draw(4) == 0 { "R" } else { "W" }, page);
    }
    let run = |timing: &str| experiment(&trace, timing, &["1r-greedy"]).runs.remove(0);
    let without = run("slc:luns=4,unit=request,queue-depth=16");
    let with = run("slc:luns=4,unit=request,queue-depth=16,write-buffer=1MiB");
    assert_eq!(with.host_writes, without.host_writes);
    assert!(with.waf < 0.6 * without.waf, "{} and {}", with.waf, without.waf);
    let of = |run: &RunResult| time(run).requests.clone().unwrap();
    let buffer = of(&with).write_buffer.unwrap();
    assert_eq!(buffer.writes, with.host_writes);
    assert!(buffer.coalesced > with.host_writes / 3 && buffer.read_hits > 1000, "{buffer:?}");
    // The pages that were programmed are those of the host but for the older versions.
    let programs = with.waf * with.host_writes as f64 - with.relocations as f64;
    assert_eq!(programs.round() as u64, with.host_writes - buffer.coalesced - buffer.trimmed);
    assert!(
        of(&with).operations["read"].response_ns.mean
            < of(&without).operations["read"].response_ns.mean
    );

    // One at a time with pauses: the host waits for a transfer, and for the program if it wants that.
    let slow = "0,W,0,1\n10000,W,1,1\n10050,F,0,0\n20000,W,2,1\n20000,R,2,1\n";
    for (more, writes, flush) in
        [("plp=on", 5_000, 0), ("plp=off", 5_000, 155_000), ("ack=program", 205_000, 0)]
    {
        let timing =
            format!("slc:transfer-us=5,unit=request,arrivals=trace,write-buffer=64KiB:{more}");
        let result =
            run_with(slow, &timing, &["1r-greedy"], |experiment| experiment.fill = Fill::None);
        let operations = of(&result.runs[0]).operations;
        assert_eq!(operations["write"].response_ns.max, writes, "{more}");
        assert_eq!(operations["flush"].response_ns.max, flush, "{more}");
        assert_eq!(operations["read"].response_ns.max, 5_000, "{more}");
    }
}

#[test]
fn bytes_of_the_host_are_those_that_it_sent_whether_a_write_buffer_takes_them_or_not() {
    // 512 requests for an eighth of a page each.
    let job = "[s]\nfilename=/dev/drive\nrw=write\nbs=512\nsize=256k\n";
    let run = |buffer: &str| {
        let timing = format!("slc:luns=4,unit=request,queue-depth=4{buffer}");
        experiment(job, &timing, &["nvme-fdp:handles=2"])
    };
    for (buffer, programs) in [("", 512), (",write-buffer=1MiB:keep=100%", 64)] {
        let result = run(buffer);
        assert_eq!(result.workload.unaligned_writes, 512);
        let of = &result.runs[0];
        assert_eq!((of.host_writes, of.host_bytes), (512, 256 << 10));
        let media = (programs + of.relocations) * 4096;
        let ratio = media as f64 / f64::from(256 << 10);
        assert!((of.media_bytes_per_host_byte - ratio).abs() < 1e-9, "{buffer}");
        let fdp = of.fdp.as_ref().unwrap();
        assert_eq!((fdp.hbmw, fdp.handles[0].hbmw), (256 << 10, 256 << 10), "{buffer}");
        assert_eq!(fdp.mbmw, media, "{buffer}");
    }
}

#[test]
fn a_drive_that_falls_ever_further_behind_is_an_error() {
    let mut file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    file.write_all(trace().as_bytes()).unwrap();
    let options = OpenOptions {
        map: Some("ts:us=1,op=2,off:pages=3,len:pages=4".into()),
        ..OpenOptions::default()
    };
    let workload = Workload::parse(&file.path().display().to_string(), options).unwrap();
    let experiment = Experiment {
        drive: DriveOptions {
            logical: Logical::Pages(PAGES),
            pages_per_block: Some(32),
            ..DriveOptions::default()
        },
        timing: Some(
            "slc:unit=request,arrivals=poisson,rate=1e6,priority=read-first".parse().unwrap(),
        ),
        repeat: true,
        length: Length::Writes(20_000_000),
        ..Experiment::new(workload, vec!["1r-greedy".parse().unwrap()])
    };
    let error = experiment.run(&mut ()).unwrap_err().to_string();
    assert!(error.contains("falls ever further behind"), "{error}");
}

#[test]
fn groups_add_up_to_all_requests_and_telling_them_apart_changes_nothing() {
    let trace = trace();
    for timing in ["slc:luns=4,unit=request,queue-depth=8", "femu:unit=request,arrivals=trace"] {
        let streams = |experiment: &mut Experiment| {
            experiment.streams = Some("0..4MiB=1,4MiB..8MiB=2".parse().unwrap());
        };
        let plain = run_with(&trace, timing, &["1r-greedy"], streams);
        let apart = run_with(&trace, &format!("{timing},by=size/stream"), &["1r-greedy"], streams);
        let [plain, apart] = [&plain, &apart].map(|of| time(&of.runs[0]).requests.clone().unwrap());
        assert_eq!(plain.operations, apart.operations);
        assert!(plain.groups.is_empty());
        for by in ["size", "stream"] {
            let of_kind = apart.groups.iter().filter(|group| group.by == by);
            for op in ["read", "write", "trim", "flush"] {
                let of = of_kind.clone().filter(|group| group.operation == op);
                let all = &apart.operations[op];
                let (mut count, mut sum, mut longest) = (0, 0.0, 0);
                for group in of {
                    count += group.count;
                    sum += group.count as f64 * group.response_ns.mean;
                    longest = longest.max(group.response_ns.max);
                }
                // A flush has no size.
                let expected = if (by, op) == ("size", "flush") { 0 } else { all.count };
                assert_eq!(count, expected, "{timing}, {by}, {op}");
                if count > 0 {
                    assert!((sum / count as f64 - all.response_ns.mean).abs() < 1e-3);
                    assert_eq!(longest, all.response_ns.max);
                }
            }
            let mut names: Vec<_> = of_kind.map(|group| group.name.as_str()).collect();
            names.dedup();
            names.sort_unstable();
            names.dedup();
            let expected =
                if by == "size" { ["1", "2", "3-4", "5-8"].as_slice() } else { &["0", "1", "2"] };
            assert_eq!(names, expected, "{timing}");
        }
    }
}

#[test]
fn requests_wait_for_pages_of_a_map_that_does_not_fit() {
    for priority in ["none", "femu", "read-first"] {
        let timing = format!("slc:channels=4,unit=request,waits=on,priority={priority}");
        let [full, large, small] = ["full", "dftl:cache=1MiB", "dftl:cache=4KiB"].map(|mapping| {
            let mapping = mapping.parse().unwrap();
            let of = |it: &mut Experiment| it.drive.mapping = mapping;
            run_with(&trace(), &timing, &["1r-greedy"], of).runs.remove(0)
        });
        let mean = |run: &RunResult, op: &str| {
            let requests = time(run).requests.clone().unwrap();
            let waits = requests.operations[op].waits.as_ref().unwrap()[0].clone();
            let sum: f64 = waits.parts().iter().map(|(_, part)| part).sum();
            assert!((sum / waits.response_ns - 1.0).abs() < 1e-9, "{priority}: {sum}");
            (waits.response_ns, waits.map_ns)
        };
        for op in ["read", "write"] {
            let [none, some, most] = [&full, &large, &small].map(|run| mean(run, op));
            assert!(none.1 == 0.0 && some.1 < 0.1 * most.1, "{priority}, {op}s: {some:?} {most:?}");
            // What is waited for is what they take longer.
            assert!(most.0 > none.0 + 0.5 * most.1, "{priority}, {op}s: {none:?} {most:?}");
        }
        let map = small.map.clone().unwrap();
        assert!(map.read_lookups > 10_000, "{map:?}");
        assert!(map.read_hit_share < 0.5 && large.map.unwrap().read_hit_share > 0.9);
        // Its reads cost two reads or three: they load an entry each, and others make room for it.
        assert!(map.loads > map.read_lookups - map.read_hits, "{map:?}");
    }
}

#[test]
fn what_memory_of_the_host_tells_takes_its_time_only() {
    for priority in ["none", "femu", "read-first"] {
        let timing = format!("slc:channels=4,unit=request,waits=on,priority={priority}");
        let mut last = f64::INFINITY;
        for hmb in ["", ",hmb=1MiB,hmb-us=5", ",hmb=1MiB,hmb-us=0"] {
            let mapping = format!("dftl:cache=4KiB{hmb}").parse().unwrap();
            let change = |it: &mut Experiment| it.drive.mapping = mapping;
            let run = run_with(&trace(), &timing, &["1r-greedy"], change).runs.remove(0);
            let requests = time(&run).requests.clone().unwrap();
            let reads = &requests.operations["read"].waits.as_ref().unwrap()[0];
            let sum: f64 = reads.parts().iter().map(|(_, part)| part).sum();
            assert!((sum / reads.response_ns - 1.0).abs() < 1e-9, "{priority}: {sum}");
            assert!(reads.map_ns < last, "{priority}{hmb}: {} {last}", reads.map_ns);
            last = reads.map_ns;
            let map = run.map.unwrap();
            assert_eq!(map.host_reads > 10_000, !hmb.is_empty(), "{map:?}");
        }
    }
}

#[test]
fn requests_wait_for_whole_units_and_for_what_is_read_of_them() {
    let mut aligned = String::new();
    for request in 0..6000_u64 {
        let unit = request * 2_654_435_761 % (PAGES / 4);
        writeln!(
            aligned,
            "{},{},{},4",
            500 * request,
            ["R", "W", "W"][request as usize % 3],
            4 * unit
        )
        .unwrap();
    }
    for priority in ["none", "femu", "read-first"] {
        let timing = format!("slc:channels=4,unit=request,waits=on,priority={priority}");
        let of = |trace: &str, mapping: &str| {
            let mapping = mapping.parse().unwrap();
            let change = |it: &mut Experiment| it.drive.mapping = mapping;
            run_with(trace, &timing, &["1r-greedy"], change).runs.remove(0)
        };
        let mean = |run: &RunResult, op: &str| {
            let requests = time(run).requests.clone().unwrap();
            let waits = requests.operations[op].waits.as_ref().unwrap()[0].clone();
            let sum: f64 = waits.parts().iter().map(|(_, part)| part).sum();
            assert!((sum / waits.response_ns - 1.0).abs() < 1e-9, "{priority}: {sum}");
            (waits.response_ns, waits.map_ns)
        };
        let [full, units] = ["full", "iu:size=16KiB"].map(|mapping| of(&trace(), mapping));
        let [write, rewrite] = [&full, &units].map(|run| mean(run, "write"));
        let map = units.map.clone().unwrap();
        assert!(map.rewrite_reads > 0 && map.read_hits == map.read_lookups, "{map:?}");
        assert!(write.1 == 0.0 && rewrite.1 > 0.0, "{priority}: {write:?} {rewrite:?}");
        assert!(rewrite.0 > 1.2 * write.0, "{priority}: {write:?} {rewrite:?}");
        let requests = time(&units).requests.clone().unwrap();
        assert!(requests.operations["trim"].count > 0 && map.kept_trims > 0);

        let [full, units] = ["full", "iu:size=16KiB"].map(|mapping| of(&aligned, mapping));
        assert_eq!(units.map.clone().unwrap().rewrites, 0, "requests of whole units");
        let [write, whole] = [&full, &units].map(|run| mean(run, "write"));
        assert!(whole.1 < 1e-9, "{priority}: nothing is read for them");
        assert!(whole.0 < 1.2 * write.0, "{priority}: {write:?} {whole:?}");
    }
}

#[test]
fn time_changes_no_count_of_units() {
    let mut writes = String::new();
    for line in trace().lines().filter(|line| !line.contains('R')) {
        writeln!(writes, "{line}").unwrap();
    }
    for mapping in ["iu:size=8KiB", "iu:size=32KiB", "dftl:cache=16KiB,unit=16KiB"] {
        for priority in ["none", "read-first"] {
            let timing = format!("slc:unit=request,channels=4,priority={priority}");
            let [timed, plain] = [true, false].map(|is_timed| {
                let change = |it: &mut Experiment| {
                    it.drive.mapping = mapping.parse().unwrap();
                    it.timing = it.timing.take().filter(|_| is_timed);
                };
                run_with(&writes, &timing, &["2r++"], change).runs.remove(0)
            });
            assert_eq!((&timed.map, timed.erases), (&plain.map, plain.erases), "{mapping}");
            assert_eq!((timed.host_writes, timed.trims), (plain.host_writes, plain.trims));
            assert_eq!(timed.programs_by_cause, plain.programs_by_cause, "{mapping}");
            assert!(plain.map.unwrap().rewrites > 0 && plain.trims > 0, "{mapping}");
        }
    }
}

#[test]
fn waits_of_earlier_versions_are_read_and_none_was_for_a_map() {
    let result = experiment(&trace(), "slc:unit=request,waits=on", &["1r-greedy"]);
    let requests = time(&result.runs[0]).requests.as_ref().unwrap();
    let waits = &requests.operations["read"].waits.as_ref().unwrap()[0];
    let mut kept = serde_json::to_value(waits).unwrap();
    assert!(kept.as_object_mut().unwrap().remove("map_ns").is_some());
    assert_eq!(serde_json::from_value::<WaitsResult>(kept).unwrap(), *waits);
}

#[test]
fn time_changes_no_count_of_a_map_where_nothing_is_read() {
    let mut writes = String::new();
    for line in trace().lines().filter(|line| !line.contains('R')) {
        writeln!(writes, "{line}").unwrap();
    }
    for mapping in [
        "dftl:cache=4KiB",
        "tpftl:cache=4KiB",
        "s-ftl:cache=8KiB",
        "cdftl:cache=8KiB",
        "leaftl:cache=8KiB,gamma=4,buffer=64",
        "learnedftl:cache=8KiB",
    ] {
        let [timed, page, plain] = ["slc:unit=request", "slc:channels=4", "slc"].map(|timing| {
            let change = |it: &mut Experiment| {
                it.drive.mapping = mapping.parse().unwrap();
                it.timing = it.timing.take().filter(|_| timing != "slc");
            };
            run_with(&writes, timing, &["2r++"], change).runs.remove(0)
        });
        assert_eq!((&timed.map, timed.erases), (&plain.map, plain.erases), "{mapping}");
        assert_eq!((&page.map, page.erases), (&plain.map, plain.erases), "{mapping}");
        assert!(plain.map.unwrap().writes > 0, "{mapping}");
    }
}

/// Two jobs that read and write all the time, 16 and 4 requests under way.
const TENANTS: &str = "[global]\nioengine=io_uring\nfilename=/dev/drive\nrw=randrw\nnorandommap\n\
                       time_based\nruntime=500ms\nsize=16m\n\
                       [deep]\nbs=4k\niodepth=16\n[shallow]\nbs=8k\niodepth=4\n";

#[test]
fn tenants_share_the_slots_of_a_drive_by_their_weights() {
    for (more, share) in [("", 16.0 / 20.0), (",slots=4", 0.5), (",slots=4,weights=3/1", 0.75)] {
        let timing = format!("slc:channels=16,unit=request,by=tenant/size,waits=on{more}");
        let jobs = TENANTS.replace("8k", "4k");
        let result = experiment(&jobs, &timing, &["fifo", "1r-greedy"]);
        for run in &result.runs {
            let requests = time(run).requests.clone().unwrap();
            let tenant = |name: &str| {
                let groups = requests.groups.iter().filter(|group| group.by == "tenant");
                groups.filter(|of| of.name == name).map(|of| of.per_second).sum::<f64>()
            };
            let ratio = tenant("deep") / (tenant("deep") + tenant("shallow"));
            assert!((ratio / share - 1.0).abs() < 0.02, "{more}: {ratio}");
            // Twenty are always under way, of which the slots have four.
            let queued = if more.is_empty() { 0.0 } else { 16.0 };
            let (under_way, waiting) = (requests.under_way_mean, requests.queued_mean);
            assert!((under_way / 20.0 - 1.0).abs() < 0.02, "{more}: {under_way}");
            assert!((waiting - queued).abs() < 0.3, "{more}: {waiting}");
            let mut in_queue = 0.0;
            for times in requests.operations.values() {
                let waits = &times.waits.as_ref().unwrap()[0];
                let sum: f64 = waits.parts().iter().map(|(_, part)| part).sum();
                assert!((sum / waits.response_ns - 1.0).abs() < 1e-9);
                in_queue += waits.queue_ns * times.per_second / 1e9;
            }
            assert!((in_queue - waiting).abs() < 1e-3, "Little's law");
        }
    }
}

#[test]
fn the_size_and_the_tenant_of_a_request_are_those_of_its_job() {
    let result = experiment(TENANTS, "femu:unit=request,by=tenant/size", &["fifo"]);
    let groups = time(&result.runs[0]).requests.clone().unwrap().groups;
    let named: Vec<_> = groups.iter().map(|of| (of.by.as_str(), of.name.as_str())).collect();
    let [one, two, deep, shallow] =
        [("size", "1"), ("size", "2"), ("tenant", "deep"), ("tenant", "shallow")];
    assert_eq!(named, [one, one, two, two, deep, deep, shallow, shallow], "reads and writes");
    for (size, tenant, pages) in [(0, 4, 1.0), (1, 5, 1.0), (2, 6, 2.0), (3, 7, 2.0)] {
        assert_eq!(groups[size].response_ns, groups[tenant].response_ns);
        let bytes = groups[size].bytes_per_second / groups[size].per_second;
        assert!((bytes / (4096.0 * pages) - 1.0).abs() < 1e-9);
    }
}

#[test]
fn tenants_that_are_not_there_are_refused() {
    for (text, timing, part) in [
        (
            TENANTS,
            "femu:unit=request,slots=4,weights=1/2/3",
            "weights=1/2/3 for the 2 jobs deep, shallow",
        ),
        (TENANTS, "femu:unit=request,arrivals=poisson,by=tenant", "is a single tenant here"),
    ] {
        let mut file = tempfile::Builder::new().suffix(".fio").tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let name = file.path().display().to_string();
        let workload = Workload::parse(&name, OpenOptions::default()).unwrap();
        let experiment = Experiment {
            drive: DriveOptions { logical: Logical::Pages(PAGES), ..DriveOptions::default() },
            timing: Some(timing.parse().unwrap()),
            ..Experiment::new(workload, vec!["fifo".parse().unwrap()])
        };
        let error = experiment.run(&mut ()).unwrap_err().to_string();
        assert!(error.contains(part), "{timing}: {error}");
    }
}

#[test]
fn percentiles_over_time_are_those_of_each_interval() {
    let trace = trace();
    let timing = "slc:luns=4,unit=request,queue-depth=8";
    let run = |interval| {
        let result = run_with(&trace, timing, &["1r-greedy"], |experiment| {
            experiment.interval_writes = Some(interval);
        });
        time(&result.runs[0]).requests.clone().unwrap().operations
    };
    // One interval with nearly all of it, and many.
    let whole = run(38_000);
    let parts = run(1000);
    for op in ["read", "write"] {
        let [p50, p99_9] = [&whole[op].running_p50_ns, &whole[op].running_p99_9_ns];
        let [p50, p99_9] = [p50, p99_9].map(|running| running.as_ref().unwrap()[0].unwrap() as f64);
        let all = &whole[op].response_ns;
        assert!((p50 / all.p50 as f64 - 1.0).abs() < 0.05, "{op}: {p50}");
        assert!((p99_9 / all.p99_9 as f64 - 1.0).abs() < 0.1, "{op}: {p99_9}");
        let running = parts[op].running_p99_9_ns.as_ref().unwrap();
        assert!(running.len() > 30 && running.iter().all(Option::is_some));
        let longest = running.iter().flatten().max().unwrap();
        assert!(*longest >= all.p99_9 && *longest <= all.max + all.max / 31, "{op}");
    }
    assert_eq!(whole["trim"].running_p50_ns, None);
}

#[test]
fn an_slc_cache_takes_what_the_host_writes_and_is_counted_apart() {
    let trace = trace();
    let run = |cache: Option<&str>, timing: &str| {
        let result = run_with(&trace, timing, &["1r-greedy", "fast"], |experiment| {
            experiment.drive.slc_cache = cache.map(|cache| cache.parse().unwrap());
            experiment.interval_writes = Some(1000);
        });
        assert_eq!(result.config.drive.option("slc_cache").is_some(), cache.is_some());
        result.runs
    };
    let timing = "tlc:luns=4,unit=request,arrivals=poisson,rate=100";
    let without = run(None, timing);
    for more in ["", ",priority=read-first,suspend=both", ",write-buffer=64KiB"] {
        let with = run(Some("size=1MiB"), &format!("{timing}{more}"));
        for (with, without) in with.iter().zip(&without) {
            let slc = with.slc.as_ref().unwrap();
            assert_eq!((slc.blocks, slc.pages_per_block), (26, 10));
            assert_eq!(with.host_writes, without.host_writes);
            assert!(slc.folds <= with.relocations && slc.dropped > 0 && slc.read_hits > 0);
            assert!(slc.running_folds.iter().sum::<u64>() <= slc.folds);
            let programs = with.waf * with.host_writes as f64;
            let moved = with.relocations + with.merge_copies;
            let absorbed = time(with).requests.as_ref().unwrap().write_buffer;
            let absorbed = absorbed.map_or(0, |buffer| buffer.coalesced + buffer.trimmed);
            assert_eq!(programs.round() as u64, with.host_writes - absorbed + moved, "{more}");
            let mean = |run: &RunResult| time(run).response_ns.mean;
            assert!(mean(with) < 0.6 * mean(without), "{more}: {} {}", mean(with), mean(without));
        }
    }
}
