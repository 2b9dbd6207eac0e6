//! Job files of fio as workloads, as a user gives them.

mod common;

use common::Place;

const JOB: &str = "[global]\nioengine=io_uring\nfilename=/dev/nvme0n1\ndirect=1\nbs=4k\n";

/// The three streams of docs/fio.md, on any drive.
const THREE: &str = "norandommap\ntime_based\nruntime=2h\nfdp=1\n\
    [sequential]\nrw=write\nbs=128k\nsize=90%\nfdp_pli=0\n\
    [overwrites]\nrw=randwrite\nsize=90%\niodepth=32\nrandom_distribution=zipf:1.2\nfdp_pli=2\n\
    [uniform]\nrw=randwrite\noffset=90%\nsize=10%\niodepth=32\nfdp_pli=1\n";

#[test]
fn a_job_runs_on_a_drive_of_its_own_size_to_its_end() {
    let place = Place::new();
    let job = "[job]\nrw=randwrite\nsize=4m\nloops=3\nrate_iops=100\n";
    place.write("jobs.fio", format!("[global]\nioengine=libaio\ndirect=1\nbs=4k\n{job}"));
    let run = place.ftlab("run jobs.fio --pages-per-block 16 --ftl 1r-greedy");
    let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "jobs job (iodepth 1)",
        "ignored rate_iops (there is no clock)",
        "options without effect here: direct",
        "4 MiB = 1,024 pages of 4 KiB (the files of the jobs)",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let json = place.ftlab("run jobs.fio --pages-per-block 16 --ftl 1r-greedy --json -q").json();
    assert_eq!(json["runs"][0]["host_writes"], 3 * 1024);
    assert_eq!(
        place.ftlab("convert jobs.fio pages.u32").stdout,
        "wrote 3,072 requests to pages.u32\n"
    );
    let inspected = place.ftlab("inspect jobs.fio --json").json();
    assert_eq!(inspected["workloads"][0]["distinct_pages"], 1024);
}

#[test]
fn a_job_file_is_a_workload_of_a_sweep_and_of_a_scoreboard() {
    let place = Place::new();
    let job = format!("{JOB}[job]\nrw=randwrite\nsize=4m\nloops=3\n");
    place.write("jobs.fio", job.replace("/dev/nvme0n1", "file"));
    place.write(
        "sweep.toml",
        "title = \"a test\"\nworkloads = [\"jobs.fio\"]\nftls = [\"1r-greedy\"]\n\
         [drive]\npages-per-block = 16\n",
    );
    let sweep = place.ftlab("sweep sweep.toml --out results");
    assert_eq!(sweep.code, 0, "{}", sweep.stderr);
    let again = place.ftlab("sweep sweep.toml --out results");
    assert_eq!(again.code, 0, "{}", again.stderr);
    let advise = place.ftlab("advise jobs.fio --target-waf 3 --pages-per-block 16");
    assert!(advise.code < 2, "{}", advise.stderr);
}

#[test]
fn placement_identifiers_reach_the_handles() {
    let place = Place::new();
    place.write("three.fio", format!("{JOB}{THREE}"));
    let run = "run three.fio --logical 32MiB --pages-per-block 32 --op 30% --ftl nvme-fdp";
    let text = place.ftlab(&format!("{run} --drive-writes 2")).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "jobs sequential (iodepth 1), overwrites (iodepth 32), uniform (iodepth 32)",
        "turns jobs at once take turns, each for as many requests as its iodepth",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let json = place.ftlab(&format!("{run} --drive-writes 2 --json -q")).json();
    assert_eq!(json["workload"]["has_streams"], true);
    // 32 pages of one, 32 of another and 32 of the third, in turn.
    let requests = json["workload"]["requests"]["write"].as_f64().unwrap();
    let pages = json["workload"]["page_writes"].as_f64().unwrap();
    assert!((pages / requests - 96.0 / 65.0).abs() < 0.01, "{pages} pages in {requests}");
}

#[test]
fn with_timing_each_job_is_a_host() {
    let place = Place::new();
    let three = THREE.replace("runtime=2h", "runtime=2s");
    place.write("three.fio", format!("{JOB}{three}"));
    let run = "run three.fio --logical 32MiB --pages-per-block 32 --op 30% --timing femu \
               --ftl nvme-fdp --ftl 1r-greedy";
    let text = place.ftlab(run).stdout;
    assert!(text.contains("each job is a host of its own"), "{text}");
    let json = place.ftlab(&format!("{run} --json -q")).json();
    let [fdp, greedy] = [0, 1].map(|index| {
        let run = &json["runs"][index];
        let seconds = run["timing"]["elapsed_seconds"].as_f64().unwrap();
        // What is under way at the end is completed.
        assert!((2.0..2.5).contains(&seconds), "{seconds}");
        // What each was asked for is told of each.
        assert_eq!(run["own_workload"]["page_writes"], run["host_writes"]);
        run["host_writes"].as_u64().unwrap()
    });
    let [of_fdp, of_greedy] = [0, 1].map(|index| &json["runs"][index]["own_workload"]);
    assert_eq!(json["workload"]["requests"], of_fdp["requests"]);
    assert_ne!(of_fdp["requests"], of_greedy["requests"]);
    assert_eq!(json["trace_hash"], of_fdp["trace_hash"]);
    assert!(fdp > greedy, "fewer collections leave more time for writes: {fdp} and {greedy}");
}

#[test]
fn what_would_write_something_else_is_refused_with_its_place() {
    let place = Place::new();
    for (option, parts) in [
        ("zonemode=zbd", ["jobs.fio, line 8: zonemode: zones", "leave it out"]),
        ("nrfiles=4", ["nrfiles: several files", "several jobs"]),
        ("bs=1000", ["requests of 1000 bytes", "multiples of 512"]),
        ("fdp=1", ["whatever identifiers the drive has", "plids=0,1"]),
        ("ioengien=sync", ["ioengien is no option that ftlab knows", "leave it out"]),
        ("random_distribution=zipf:1", ["exponent in 0..=10 other than 1", "correct it"]),
    ] {
        place.write("jobs.fio", format!("{JOB}[job]\nrw=randwrite\n{option}\n"));
        place.ftlab("run jobs.fio --logical 16MiB --ftl fifo").fails(1, &parts);
    }
    place.write("jobs.fio", format!("{JOB}size=1g\n[job]\nrw=randwrite\noffset=1t\n"));
    let beyond = place.ftlab("run jobs.fio --logical 16MiB --ftl fifo");
    beyond.fails(1, &["[job] begins at byte 1099511627776", "the drive larger"]);
    place.write("jobs.fio", format!("{JOB}[job]\nrw=randwrite\n"));
    place.ftlab("run jobs.fio --ftl fifo").fails(2, &["has no size of its own", "--logical 8GiB"]);
}

#[test]
fn those_who_choose_are_told_of_the_random_map() {
    let text = Place::new().ftlab("list workloads").stdout;
    assert!(text.contains("fio-randwrite (generator)"), "{text}");
    let uniform = text.split("\n\n").find(|item| item.starts_with("uniform (")).unwrap();
    assert!(uniform.contains("fio-randwrite") && uniform.contains("random map"), "{uniform}");
}

/// Three tenants, as docs/fio.md has them: a database, a generator, and a log of fio.
const REPLAYS: &str = "[global]\nfilename=/dev/nvme0n1\nioengine=io_uring\n\
    [oltp]\nread_iolog=tpcc:start=0.4,buffer=0.2\nsize=50%\niodepth=8\n\
    [cache]\nread_iolog=uniform:reads=0.5\noffset=50%\nsize=25%\niodepth=16\n\
    [recorded]\nread_iolog=log.txt\nreplay_no_stall=1\noffset=75%\niodepth=4\n";

#[test]
fn a_job_replays_any_workload_with_a_clock_and_a_trace_without() {
    let place = Place::new();
    place.write("jobs.fio", REPLAYS);
    let mut log = vec!["fio version 2 iolog\nd add\nd open".to_owned()];
    log.extend((0..500).map(|page| format!("d write {} 4096", 4096 * (page * 7 % 1024))));
    place.write("log.txt", log.join("\n") + "\nd close\n");
    let drive = "--logical 32MiB --op 20% --pages-per-block 64 --ftl 1r-greedy";
    let timing = "--timing femu:unit=request,by=tenant,slots=8,weights=4/1/1";
    let run = |more: &str| place.ftlab(&format!("run jobs.fio {drive} {more}"));
    let result = run(&format!("--writes 20000 {timing} --json -q")).json();
    let groups = &result["runs"][0]["timing"]["requests"]["groups"];
    let of = |operation: &str, tenant: &str| {
        let groups = groups.as_array().unwrap().iter();
        let mut found = groups.filter(|it| it["name"] == tenant && it["operation"] == operation);
        found.next().map_or(0, |it| it["count"].as_u64().unwrap())
    };
    assert_eq!(of("write", "recorded"), 500, "{groups}");
    assert!(of("write", "oltp") > 500 && of("write", "cache") > 500, "{groups}");
    assert!(of("read", "cache").abs_diff(of("write", "cache")) < of("read", "cache") / 5);
    for (text, more, message) in [
        (REPLAYS, "--writes 100", "without a clock"),
        ("[a]\nread_iolog=tpcx\nsize=4m\n", "--timing femu:unit=request --writes 9", "tpcx"),
        ("[a]\nread_iolog=uniform\nloops=2\nsize=4m\n", "--writes 9", "replays once"),
    ] {
        place.write("jobs.fio", text);
        let refused = run(more).stderr;
        assert!(refused.contains(message), "{message}: {refused}");
    }
    place.write("jobs.fio", "[a]\nread_iolog=log.txt\nsize=8m\n[b]\nrw=write\nsize=8m\n");
    let json = run("--json -q").json();
    assert_eq!(json["runs"][0]["host_writes"], 500 + 2048);
}
