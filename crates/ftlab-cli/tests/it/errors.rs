//! Every wrong command says what to type instead.

use crate::common::Place;
use ftlab_trace::{Input, OpenOptions, RequestBatch, open_input};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn run_without_a_workload_shows_how_to_name_one() {
    Place::new()
        .ftlab("run --ftl 2r++")
        .fails(2, &["no workload", "ftlab run trace.parquet --ftl 2r++"]);
}

#[test]
fn run_without_an_ftl_lists_them() {
    Place::new().ftlab("run uniform --logical 1MiB").fails(
        2,
        &["add --ftl NAME", "1r-greedy, ", "or a pair of these", "victim rules: greedy, "],
    );
}

#[test]
fn an_unknown_workload_lists_generators_and_says_how_to_name_a_file() {
    let place = Place::new();
    place.ftlab("run zip --logical 8MiB --ftl 2r++").fails(
        2,
        &["unknown workload \"zip\"", "did you mean \"zipf\"?", "uniform, zipf, hotcold", "./zip"],
    );
    place.ftlab("run ./zipf --ftl 2r++").fails(1, &["./zipf: No such file"]);
}

#[test]
fn an_unknown_ftl_is_refused_with_the_nearest_ones_and_how_others_are_named() {
    let place = Place::new();
    let output = place.ftlab("run uniform --logical 8MiB --ftl 2r-fif");
    output.fails(
        2,
        &[
            "unknown FTL \"2r-fif\" (did you mean \"2r-fifo\"?); known: 1r-greedy, ",
            "or a pair of these, such as single/greedy placements: single, ",
            "victim rules: greedy, ",
        ],
    );
    assert!(output.stderr.len() < 600 && output.stderr.lines().count() == 4, "{}", output.stderr);
    for (name, proposed) in [
        ("greedy", "(did you mean \"1r-greedy\" or \"2r-greedy\"?)"),
        ("sep-gc", "did you mean \"sep-gc/cat\""),
        ("sepbit-greedy", "did you mean \"sepbit/greedy\""),
        ("nothing-like-it", "unknown FTL \"nothing-like-it\"; known: "),
    ] {
        let command = format!("run uniform --logical 8MiB --ftl {name}");
        place.ftlab(&command).fails(2, &[proposed]);
    }
    let drive = "drive create d --size 8MiB --ftl faster";
    place.ftlab(drive).fails(2, &["unknown page-mapped FTL \"faster\"; known: 1r-greedy, "]);
}

#[test]
fn counts_and_lists_say_what_may_be_typed() {
    let place = Place::new();
    let run = "run uniform --logical 8MiB --ftl 2r++";
    for (more, parts) in [
        ("--writes 1MB", &["\"1MB\" is not a whole number, such as 1000000 or 1M", "--writes"][..]),
        ("--seed 1.5", &["\"1.5\" is not a whole number", "k, M and G"]),
        ("--ftl 1r-greedy,blk-util=0.4", &["a colon precedes the first: 1r-greedy:blk-util=0.4"]),
        ("--ftl 1r-greedy,,2r++", &["a comma too many"]),
    ] {
        place.ftlab(&format!("{run} {more}")).fails(2, parts);
    }
    for command in ["run uniform --jobs 2", "run uniform -j 2"] {
        place.ftlab(command).fails(2, &["the number of threads is --threads N"]);
    }
}

#[test]
fn an_unknown_parameter_is_refused_with_those_there_are() {
    let place = Place::new();
    place
        .ftlab("run uniform --logical 8MiB --ftl 2r-fifo:blk-utl=0.4")
        .fails(2, &["2r-fifo has no parameter \"blk-utl\" (did you mean \"blk-util\"?)"]);
    place
        .ftlab("run uniform --logical 8MiB --ftl 2r-fifo:blk-util=4")
        .fails(2, &["blk-util=4 is not a number in 0.0..=1.0"]);
    place
        .ftlab("run zipf:theta=x --logical 8MiB --ftl fifo")
        .fails(2, &["theta=x is not a number"]);
}

#[test]
fn an_oracle_asks_for_what_the_workload_does_not_tell() {
    Place::new().ftlab("run zipf --logical 8MiB --ftl oracle/greedy").fails(
        2,
        &["oracle/greedy: hot=auto is not possible: the workload does not say where", "hot=0..0.1"],
    );
}

#[test]
fn one_ftl_twice_is_refused() {
    Place::new()
        .ftlab("run uniform --logical 8MiB --ftl fifo --ftl fifo")
        .fails(2, &["fifo is named twice", "with other parameters"]);
    Place::new()
        .ftlab("run uniform --logical 8MiB --ftl 2r++ --ftl 2r++:blk-util=.50")
        .fails(2, &["2r++ and 2r++:blk-util=.50 are the same"]);
}

#[test]
fn a_bad_size_shows_good_ones() {
    let place = Place::new();
    place
        .ftlab("run uniform --logical 8Gigs --ftl fifo")
        .fails(2, &["\"8Gigs\" is not a size such as 8GiB"]);
    place
        .ftlab("run uniform --logical 8MiB --page-size 1000 --ftl fifo")
        .fails(2, &["not a multiple of 512 bytes"]);
    place
        .ftlab("run uniform --logical 100 --ftl fifo")
        .fails(2, &["has no whole page of 4096 bytes"]);
    place
        .ftlab("run uniform --logical 64MiB --pages-per-block 1 --ftl fifo")
        .fails(2, &["pages per block is 1; it must be at least 2"]);
}

#[test]
fn a_generator_needs_a_size() {
    Place::new()
        .ftlab("run uniform --ftl fifo")
        .fails(2, &["no size of its own", "--logical 8GiB"]);
}

#[test]
fn a_hybrid_mapped_ftl_needs_a_log_and_does_not_collect_early() {
    let place = Place::new();
    let small = "run uniform --logical 64MiB --pages-per-block 128 --ftl faster";
    place.ftlab(&format!("{small} --op 1%")).fails(
        2,
        &[
            "faster: 130 blocks of 128 pages are too few: 16384 logical pages have 128 data blocks",
            "needs 1 beside the log and 4 of log, 133 in all",
            "--op 4% is enough",
        ],
    );
    assert_eq!(place.ftlab(&format!("{small} --op 4% --drive-writes 1")).code, 0);
    place
        .ftlab(&format!("{small} --gc-start 10%"))
        .fails(2, &["faster:", "leave out --gc, --gc-start"]);
}

#[test]
fn too_little_over_provisioning_is_refused_with_the_arithmetic() {
    Place::new()
        .ftlab("run uniform --logical 64MiB --pages-per-block 128 --op 1% --ftl 2r++")
        .fails(
            2,
            &[
                "2r++: 130 blocks of 128 pages are too few",
                "16384 logical pages fill 128",
                "4 in reserve",
                "--op 7% is enough",
            ],
        );
}

#[test]
fn both_op_and_blocks_are_refused() {
    Place::new()
        .ftlab("run uniform --logical 64MiB --op 10% --blocks 100 --ftl fifo")
        .fails(2, &["'--op <SHARE>' cannot be used with '--blocks <N>'"]);
}

#[test]
fn a_drive_with_too_many_pages_proposes_larger_ones() {
    Place::new()
        .ftlab("run uniform --logical 1000TiB --ftl fifo")
        .fails(2, &["at most 4294967293 are possible", "--page-size 256KiB"]);
}

#[test]
fn an_address_beyond_the_drive_names_the_remedies() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\nwrite,80000,8\n");
    place.ftlab("run t.csv --logical 1MiB --pages-per-block 16 --op 100% --ftl fifo").fails(1, &[
        "a write of page 10000 (byte offset 40960000) is beyond the drive, which has 256 pages (1MiB)",
        "enlarge it with --logical 40MiB",
        "--wrap",
    ]);
    let wrapped = place
        .ftlab("run t.csv --logical 1MiB --pages-per-block 16 --op 100% --ftl fifo --wrap --json");
    assert_eq!(wrapped.json()["runs"][0]["host_writes"], 2);
}

#[test]
fn an_empty_trace_is_an_error() {
    let place = Place::new();
    place.write("empty.csv", "");
    place
        .ftlab("run empty.csv --map op=1,off=2 --ftl fifo")
        .fails(1, &["empty.csv", "no requests"]);
    place.write("reads.csv", "op,lba,sectors\nread,0,8\n");
    place.write("flushes.csv", "op,lba,sectors\nflush,0,0\n");
    place.ftlab("run flushes.csv --ftl fifo").fails(1, &["flushes.csv: it has no page writes"]);
    place
        .ftlab("run reads.csv --op 900% --pages-per-block 2 --logical 1MiB --ftl fifo")
        .fails(1, &["reads.csv: it has no page writes at all; take a workload that writes"]);
}

#[test]
fn a_malformed_line_is_shown_with_its_number() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\nwrite,x,8\nwrite,8,8\n");
    let arguments = "run t.csv --logical 1MiB --pages-per-block 16 --op 100% --ftl fifo --json";
    place.ftlab(arguments).fails(1, &["t.csv, line 3", "\"write,x,8\"", "--skip-bad"]);
    let skipped = place.ftlab(&format!("{arguments} --skip-bad 50%")).json();
    assert_eq!(skipped["workload"]["page_writes"], 2);
    assert_eq!(skipped["workload"]["skipped"][1]["first_line"], 3, "{skipped}");
}

#[test]
fn unknown_content_lists_the_formats() {
    let place = Place::new();
    place.write("t.bin", [1, 2, 3, 0, 5]);
    place.ftlab("run t.bin --ftl fifo").fails(1, &["of no format that is recognised", "lpn-u32"]);
}

#[test]
fn a_warm_up_longer_than_the_trace_is_an_error() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\n");
    place
        .ftlab(
            "run t.csv --logical 1MiB --pages-per-block 16 --op 100% --ftl fifo --warmup-writes 5",
        )
        .fails(1, &["1 came before its end", "--warmup-writes"]);
}

#[test]
fn early_collection_needs_a_start() {
    Place::new()
        .ftlab("run uniform --logical 64MiB --gc-min-invalid 10% --ftl fifo")
        .fails(2, &["--gc-start <SHARE>"]);
}

#[test]
fn standard_input_needs_the_drives_size() {
    Place::new()
        .ftlab_with_input("run - --map op:*=W,off=1 --ftl fifo", b"0\n")
        .fails(2, &["standard input can be read once only", "--logical"]);
}

#[test]
fn no_writes_at_all_are_refused() {
    let place = Place::new();
    place
        .ftlab("run uniform --logical 64MiB --writes 0 --ftl fifo")
        .fails(2, &["a run of no writes"]);
    place.ftlab("run uniform --logical 64MiB --interval 0 --ftl fifo").fails(2, &["--interval 1"]);
    place.ftlab("run uniform --logical 64MiB --drive-writes -1 --ftl fifo").fails(2, &["-1"]);
}

#[test]
fn wrong_numbers_are_found_before_the_trace_is_read() {
    let place = Place::new();
    for (arguments, part) in [
        ("--interval 0", "--interval 1 or more"),
        ("--writes 0", "a run of no writes"),
        ("--pages-per-block 1", "pages per block is 1"),
        ("--blocks 0", "the number of erase blocks is 0"),
        ("--gc-start 200%", "--gc-start 200% is more than the whole"),
        ("--logical 100", "has no whole page"),
    ] {
        place.ftlab(&format!("run ./absent --ftl fifo {arguments}")).fails(2, &[part]);
    }
}

#[test]
fn options_of_traces_are_refused_for_generators() {
    let place = Place::new();
    for option in ["--map off=1", "--format csv", "--skip-bad 1%"] {
        let name = option.split(' ').next().unwrap();
        let message = format!("{name} is for traces, and uniform is a generator");
        place
            .ftlab(&format!("run uniform --logical 8MiB --ftl fifo {option}"))
            .fails(2, &[&message]);
        place
            .ftlab(&format!("convert uniform u.csv --logical 8MiB --writes 9 {option}"))
            .fails(2, &[&message]);
    }
}

#[test]
fn too_many_intervals_are_refused_with_a_number_that_works() {
    let place = Place::new();
    let run = "run uniform --logical 8MiB --pages-per-block 16 --ftl fifo --quiet";
    place.ftlab(&format!("{run} --writes 1500000 --interval 1")).fails(
        2,
        &["1,500,000 writes are 1,500,000 intervals of 1", "1,000,000", "--interval 2 or more"],
    );
    assert_eq!(place.ftlab(&format!("{run} --writes 1500000 --interval 2")).code, 0);
}

#[test]
fn a_huge_request_takes_no_more_memory_than_is_asked_for() {
    let place = Place::new();
    place.write("t.csv", "W,0,500000\n".repeat(8));
    let run = "run t.csv --map op=1,off:pages=2,len:pages=3 --logical 16MiB --pages-per-block 64 \
               --wrap --writes 1000 --ftl fifo --json";
    assert_eq!(place.ftlab(run).json()["runs"][0]["host_writes"], 1000);
}

#[test]
fn more_threads_than_work_do_no_harm() {
    let run = "run uniform --logical 8MiB --pages-per-block 16 --ftl fifo --threads 65535 --quiet";
    assert_eq!(Place::new().ftlab(run).code, 0);
}

#[test]
fn an_unknown_fill_lists_those_there_are() {
    Place::new()
        .ftlab("run uniform --logical 8MiB --ftl fifo --fill sequentially")
        .fails(2, &["\"sequentially\" is not one of none, sequential, random"]);
}

/// Whether the library that reads Parquet panics over `bytes`.
fn panics(bytes: Vec<u8>) -> bool {
    static PANICKED: AtomicBool = AtomicBool::new(false);
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if ftlab_trace::panic_becomes_error() {
                PANICKED.store(true, Ordering::Relaxed);
            } else {
                report(panic);
            }
        }));
    });
    PANICKED.store(false, Ordering::Relaxed);
    let mut batch = RequestBatch::new();
    if let Ok(mut source) =
        open_input(Input::from_bytes("test", bytes).unwrap(), &OpenOptions::default())
    {
        while source.next_batch(&mut batch).is_ok_and(|more| more) {}
    }
    PANICKED.load(Ordering::Relaxed)
}

#[test]
fn a_panic_over_a_damaged_file_is_an_error_and_nothing_else() {
    let place = Place::new();
    place.write("t.csv", "op,lba,sectors\nwrite,0,8\n");
    assert_eq!(place.ftlab("convert t.csv t.parquet").code, 0);
    let whole = std::fs::read(place.path().join("t.parquet")).unwrap();
    let mut damaged = (4..whole.len()).map(|at| {
        let mut bytes = whole.clone();
        bytes[at] = 25;
        bytes
    });
    let Some(damaged) = damaged.find(|bytes| panics(bytes.clone())) else {
        panic!("no damage makes the library panic: `caught` may not be needed any more");
    };
    place.write("damaged.parquet", damaged);
    let output = place.ftlab("inspect damaged.parquet");
    output.fails(
        1,
        &["error: damaged.parquet: not a readable Parquet file", "check that the file is complete"],
    );
    assert_eq!(output.stderr.lines().count(), 1, "{}", output.stderr);
}

#[test]
fn what_cannot_be_timed_or_scheduled_is_refused_with_what_can() {
    let place = Place::new();
    let run = "run uniform --logical 8MiB --ftl 2r++";
    for (more, parts) in [
        ("--timing slcc", ["unknown timing \"slcc\" (did you mean \"slc\"?)", "enterprise"]),
        ("--timing slc:luns=0", ["slc: luns=0", "in 1..=1024"]),
        ("--timing slc:arrivals=trace", ["uniform is a generator", "use arrivals=closed"]),
        ("--faults program=2", ["faults: program=2 is not a number in 0.0..=1.0", "--faults"]),
        ("--faults bad=999999", ["2r++: 0 blocks of 8 pages are too few", "raise --op"]),
        (
            "--gc idle",
            ["schedule of garbage collection", "foreground, incremental, background, garbage"],
        ),
        ("--free-block worn", ["\"worn\" is not one of fifo, least-worn", "--free-block"]),
        ("--wear-threshold x", ["\"x\" is not a whole number", "--wear-threshold"]),
        ("--endurance 0", ["\"0\" is not a whole number of at least 1", "--endurance"]),
        ("--reserve 4294967296", ["is not a whole number, 4294967295 at most", "--reserve"]),
    ] {
        place.ftlab(&format!("{run} {more}")).fails(2, &parts);
    }
    place.write("a.csv", "W,0,4096\n");
    place
        .ftlab(
            "run a.csv --map op=1,off:bytes=2,len:bytes=3 --logical 8MiB --pages-per-block 64 \
             --op 30% --ftl 2r++ --quiet --timing slc:arrivals=trace",
        )
        .fails(2, &["does not say when its requests come", "--map ts:us=COLUMN"]);
}

#[test]
fn a_mistyped_path_names_the_files_beside_it() {
    let place = Place::new();
    place.write("linkbench.parquet", "");
    let drive = "--logical 8MiB --ftl 2r++";
    let near = ["there is no such file (did you mean \"linkbench.parquet\"?)"];
    place.ftlab(&format!("run ./linkbnch.parquet {drive}")).fails(1, &near);
    place.ftlab(&format!("run linkbnch.parquet {drive}")).fails(2, &near);
}

#[test]
fn a_report_is_a_page() {
    let place = Place::new();
    let run = "run uniform --logical 8MiB --ftl 2r++ --report x.pdf";
    place.ftlab(run).fails(2, &["x.pdf: a report is an HTML page, not .pdf; name it .html"]);
}

/// The map that the message about an unknown table proposes.
fn proposed_map(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once("--map \"")?;
    rest.split_once("\" reads it:").map(|(map, _)| map)
}

#[test]
fn a_map_is_proposed_that_reads_the_table() {
    let place = Place::new();
    for (table, written, read, requests) in [
        (
            "TIME(s)     COMM    PID    DISK      T SECTOR     BYTES  LAT(ms)\n\
             0.000004    tool    901    nvme0n1   W 2048       4096      0.43\n\
             0.000104    tool    902    nvme0n1   R 2056       8192      0.10\n",
            4096,
            8192,
            2,
        ),
        ("time_ms,op,offset_kb,size_kb\n1,W,4,4\n2,W,8,4\n", 8192, 0, 2),
        (
            "timestamp,device_id,op,offset_bytes,length_bytes\n1577808144360767,3,W,4096,16384\n\
             1577808144360777,3,R,4096,4096\n",
            16_384,
            4096,
            2,
        ),
        ("Time,Op,Offset,Bytes\n0.1,W,4096,4096\n0.2,W,8192,4096\n", 8192, 0, 2),
        (
            "filename,file_offset,op_type,request_io_size_bytes,start_time\n\
             a1,1048576,WRITE,65536,1700000001.25\na1,0,READ,4096,1700000001.35\n",
            65_536,
            4096,
            2,
        ),
    ] {
        place.write("t.csv", table);
        let refused = place.ftlab("inspect t.csv");
        assert_eq!(refused.code, 1, "{}", refused.stdout);
        let map = proposed_map(&refused.stderr).unwrap_or_else(|| panic!("{}", refused.stderr));
        let json = place.ftlab(&format!("inspect t.csv --map {map} --json")).json();
        let found = &json["workloads"][0];
        assert_eq!(found["bytes"]["write"].as_u64().unwrap_or(0), written, "{map} {found}");
        assert_eq!(found["bytes"]["read"].as_u64().unwrap_or(0), read, "{map}");
        let count = |op: &str| found["requests"][op].as_u64().unwrap_or(0);
        assert_eq!(count("write") + count("read"), requests, "{map}");
    }
}

#[test]
fn what_a_table_does_not_say_is_named_and_not_guessed() {
    let place = Place::new();
    for (table, missing) in [
        (
            "ts,opcode,slba,nlb\n100,write,16,7\n200,read,24,0\n",
            "nlb as NVMe counts it, where 0 is one block",
        ),
        (
            "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,1024,42932747\n",
            "in op mean",
        ),
        ("0, 114, 1, 4096, 4096, 0\n1, 120, 1, 4096, 8192, 0\n", "its columns have no names"),
        ("time=1 op=W off=4096 len=512\ntime=2 op=R off=0 len=512\n", "rows of NAME=VALUE pairs"),
        ("{\"op\": \"W\", \"off\": 4096}\n", "JSON"),
    ] {
        place.write("t.txt", table);
        let refused = place.ftlab("inspect t.txt");
        refused
            .fails(1, &["t.txt: the content is of no format", missing, "with --format: parquet"]);
        assert_eq!(proposed_map(&refused.stderr), None, "{}", refused.stderr);
    }
}

#[test]
fn an_end_that_is_never_reached_is_an_error_of_every_command() {
    let place = Place::new();
    place.write("reads.csv", "op,lba,sectors\nread,0,8\n");
    place.write("trims.csv", "op,lba,sectors\ntrim,0,8\n");
    place.write("empty-writes.csv", "op,lba,sectors\nwrite,8,0\n");
    let job =
        |rw: &str| format!("[j]\nfilename=drive\nsize=1m\nrw={rw}\nbs=4k\ntime_based\nruntime=5\n");
    place.write("reads.fio", job("randread"));
    place.write("trims.fio", job("randtrim"));
    let sample = |n: u32| {
        let media = 15 * n;
        format!(
            "Host Bytes with Metadata Written (HBMW): {n}000000000000\n\
             Media Bytes with Metadata Written (MBMW): {media}00000000000\n"
        )
    };
    let log = (0..12).map(sample).collect::<Vec<_>>().concat();
    place.write("fdp.log", log);
    let drive = "--logical 1MiB --pages-per-block 16 --op 100%";
    for workload in ["reads.csv", "trims.csv", "empty-writes.csv", "reads.fio", "trims.fio"] {
        let file = format!(
            "title = \"t\"\nworkloads = [\"{workload}\"]\nftls = [\"fifo\"]\n[drive]\nlogical = \"1MiB\"\n\
             pages-per-block = 16\nop = \"100%\"\n[run]\nwrites = 100\n"
        );
        place.write("e.toml", file);
        for command in [
            format!("run {workload} {drive} --ftl fifo --writes 1000 --repeat"),
            format!("run {workload} {drive} --ftl fifo --drive-writes 2 --repeat"),
            format!("run {workload} {drive} --ftl fifo --until steady"),
            format!(
                "advise {workload} --logical 1MiB --pages-per-block 16 --target-waf 1.3 --ftl fifo"
            ),
            "sweep e.toml".to_owned(),
        ] {
            place.ftlab(&command).fails(1, &[workload, "it has no page writes at all"]);
        }
    }
    let never = "it has no page writes at all";
    place.ftlab("inspect reads.fio --logical 64MiB --writes 1000").fails(1, &["reads.fio", never]);
    let fit = "fit fdp.log trims.fio --logical 1TB --pages 16384 --ftl fifo --op 10%..30%";
    place.ftlab(fit).fails(2, &["trims.fio", never]);
    // What counts requests comes to its end.
    let converted = place.ftlab("convert trims.fio t.csv --logical 64MiB --writes 1000");
    assert_eq!(converted.stdout, "wrote 1,000 requests to t.csv\n", "{}", converted.stderr);
}

#[test]
fn an_error_in_a_very_long_line_is_a_short_one() {
    let place = Place::new();
    let long = "x".repeat(200_000);
    let text = |workloads: &str, ftl: &str| {
        format!(
            "title = \"a test\"\nworkloads = [{workloads}]\nftls = [\"{ftl}\"]\n[run]\ndrive-writes = 1\n"
        )
    };
    for (text, line) in [
        (text(&format!("\"{long}\", uniform, \"{long}\""), "2r++"), 2),
        (text(&format!("\"{long}\""), "2r++"), 2),
        (text("\"uniform\"", &long), 3),
        (text("\"uniform\"", "2r++") + &format!("{long} = 1\n"), 6),
        (text("\"uniform\"", "2r++").replace("= 1", &format!("= \"{long}\"")), 5),
    ] {
        place.write("long.toml", text);
        let output = place.ftlab("sweep long.toml");
        output.fails(2, &[&format!("long.toml:{line}: ")]);
        assert!(output.stderr.len() < 2000, "{}", output.stderr);
    }
}
