//! Job files of fio as workloads, as a user gives them.

use crate::common::Place;

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
        ("ioengien=sync", ["ioengien is no option that ftlab knows", "\"ioengine\""]),
        ("ioengine=libaoi", ["libaoi is no engine of fio", "\"libaio\""]),
        ("write_mode=zeroes", ["write_mode: it sends other commands", "leave it out"]),
        ("bs=4KiB", ["requests of 4000 bytes", "4kib for fio 4000"]),
        ("iodepth=${FTLAB_UNSET}", ["${FTLAB_UNSET} is not set", "set FTLAB_UNSET"]),
        ("random_distribution=zipf:1", ["exponent in 0..=10 other than 1", "correct it"]),
    ] {
        place.write("jobs.fio", format!("{JOB}[job]\nrw=randwrite\n{option}\n"));
        place.ftlab("run jobs.fio --logical 16MiB --ftl fifo").fails(1, &parts);
    }
    place.write("jobs.fio", format!("{JOB}size=1g\n[job]\nrw=randwrite\noffset=1t\n"));
    let beyond = place.ftlab("run jobs.fio --logical 16MiB --ftl fifo");
    beyond.fails(1, &["[job] begins at byte 1099511627776", "the drive larger"]);
    place.write("jobs.fio", format!("{JOB}[job]\nrw=randwrite\n"));
    let short = place.ftlab("run jobs.fio --logical 16MiB --ftl fifo --drive-writes 3");
    assert!(short.stdout.contains("at most 12,288 page writes"), "{}", short.stdout);
    place.ftlab("run jobs.fio --ftl fifo").fails(2, &["has no size of its own", "--logical 8GiB"]);
}

#[test]
fn a_job_is_that_of_the_version_that_is_asked_for() {
    let place = Place::new();
    let job = "[job]\nfilename=file\nrw=randwrite\nbs=4k\nsize=4m\n";
    place.write("new.fio", job);
    place.write("old.fio", format!("; ftlab: version=3.33\n{job}"));
    let pages = |workload: &str, version: &str| {
        let run = place.ftlab(&format!("run {workload} --pages-per-block 16 --ftl 1r-greedy"));
        assert_eq!(run.code, 0, "{}", run.stderr);
        let text = run.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&format!("version the requests of fio {version}")), "{text}");
        assert_eq!(place.ftlab(&format!("convert {workload} pages.u32")).code, 0);
        std::fs::read(place.path().join("pages.u32")).unwrap()
    };
    let (new, old) = (pages("new.fio", "3.42"), pages("old.fio", "3.33"));
    assert_ne!(new, old);
    assert_eq!(pages("fio:file=new.fio,version=3.33", "3.33"), old);
    assert_eq!(pages("fio:file=old.fio,version=3.42", "3.42"), new);
    place.write("other.fio", format!("{job}; ftlab: version=2.1.10\n"));
    let other = place.ftlab("run other.fio --ftl fifo");
    other.fails(1, &["other.fio, line 6: version=2.1.10 is no version", "one of 3.33, "]);
    let other = place.ftlab("run fio:file=new.fio,version=3.1 --ftl fifo");
    other.fails(2, &["version", "3.1", "auto or one of 3.33, "]);
}

#[test]
fn a_file_that_is_larger_than_what_is_written_is_written_all_over() {
    let place = Place::new();
    let job = "[job]\nfilename=file\nrw=randwrite\nbs=4k\nfilesize=8m\nsize=4m\n";
    place.write("jobs.fio", job);
    let json = place.ftlab("inspect jobs.fio --json").json();
    assert_eq!(json["workloads"][0]["distinct_pages"], 1024);
    let run = place.ftlab("run jobs.fio --pages-per-block 16 --ftl 1r-greedy");
    assert!(run.stdout.contains("8 MiB = 2,048 pages"), "{}", run.stdout);
    assert_eq!(place.ftlab("convert jobs.fio pages.u32").code, 0);
    let pages = std::fs::read(place.path().join("pages.u32")).unwrap();
    let pages = pages.chunks_exact(4).map(|page| u32::from_le_bytes(page.try_into().unwrap()));
    let beyond = pages.filter(|page| *page >= 1024).count();
    assert!(beyond.abs_diff(512) < 100, "{beyond} of 1,024 in the second half");
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

#[test]
fn a_command_of_fio_is_the_job_file_that_says_the_same() {
    let place = Place::new();
    let job = "[job]\nioengine=libaio\nrw=randwrite\nbs=4k\nsize=4m\nloops=3\ndirect=1\n";
    place.write("jobs.fio", job);
    let command =
        "fio --direct=1 --name=job --ioengine=libaio --rw=randwrite --bs 4k --size=4m --loops=3";
    let run = "run --pages-per-block 16 --ftl 1r-greedy";
    let text = place.ftlab(&format!("{run} -- {command} --output=x")).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in [
        "workload fio --direct=1 --name=job --ioengine=libaio",
        "options without effect here: --output, direct",
        "4 MiB = 1,024 pages of 4 KiB (the files of the jobs)",
    ] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    let of_command = place.ftlab(&format!("{run} --json -q -- {command}")).json();
    let of_file = place.ftlab(&format!("{run} --json -q jobs.fio")).json();
    for same in ["relocations", "host_writes", "running_relocations"] {
        assert_eq!(of_command["runs"][0][same], of_file["runs"][0][same], "{same}");
    }
    assert_eq!(of_command["trace_hash"], of_file["trace_hash"]);
    let inspected = place.ftlab(&format!("inspect --json -- sudo /usr/bin/{command}")).json();
    assert_eq!(inspected["workloads"][0]["distinct_pages"], 1024);
    let converted = place.ftlab(&format!("convert pages.u32 -- {command}"));
    assert_eq!(converted.stdout, "wrote 3,072 requests to pages.u32\n");
    let with_file =
        place.ftlab("inspect --json -- fio jobs.fio --name=b --size=1m --section=job").json();
    assert_eq!(with_file["workloads"][0]["requests"]["read"], 256);
    // As a word of its own, wherever a workload is named.
    place.write(
        "sweep.toml",
        format!("title = \"a test\"\nworkloads = [\"{command}\"]\nftls = [\"1r-greedy\"]\n[drive]\npages-per-block = 16\n"),
    );
    let sweep = place.ftlab("sweep sweep.toml --out results");
    assert_eq!(sweep.code, 0, "{}", sweep.stderr);
}

#[test]
fn a_command_that_is_wrong_says_which_argument_and_how_it_is_given() {
    let place = Place::new();
    for (command, parts) in [
        ("--name=a --zonemode=zbd", ["argument 2: zonemode: zones", "leave it out"]),
        ("--name=a --iodep=4", ["argument 2: --iodep may be iodepth", "whole name"]),
        ("--name=a --readonly", ["argument 2: --readonly", "leave it out"]),
        ("absent.fio", ["absent.fio", "No such file"]),
        ("--bs=4k", ["has no job", "--name=job"]),
    ] {
        let run = format!("run --logical 16MiB --ftl fifo -- fio {command}");
        let code = if command == "--bs=4k" { 2 } else { 1 };
        place.ftlab(&run).fails(code, &parts);
    }
    let run = "run --logical 16MiB --ftl fifo fio --name=a --rw=write";
    place.ftlab(run).fails(2, &["--name", "comes last, after --"]);
    let both = "run uniform --logical 16MiB --ftl fifo -- fio --name=a";
    place.ftlab(both).fails(2, &["unexpected argument 'fio --name=a'", "comes last"]);
}

#[test]
fn options_that_change_no_page_are_passed_over_and_listed() {
    let place = Place::new();
    let options = "busy_poll=1\ncmdprio_percentage=10\nexperimental_verify=0\njob_start_clock_id=0\n\
                   log_issue_time=1\nramp_size=1m\nratemin=1k\nwritefua=1\n";
    place
        .write("jobs.fio", format!("[o]\nfilename=drive\nrw=randwrite\nbs=4k\nsize=1m\n{options}"));
    let text = place.ftlab("inspect jobs.fio").stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for option in options.lines() {
        let name = option.split('=').next().unwrap();
        assert!(text.contains(name), "{name} is not in {text}");
    }
    let json = place.ftlab("inspect jobs.fio --json").json();
    assert_eq!(json["workloads"][0]["requests"]["write"], 256);
}

#[test]
fn two_devices_are_two_drives_of_which_one_is_taken() {
    let place = Place::new();
    let global = "[global]\nsize=2m\nruntime=300\ntime_based\n";
    let oltp = "[oltp]\nbs=8k\nrw=randrw\niodepth=64\nfilename=/dev/nvme0n1\n";
    let wal = "[wal]\nbs=4k\nrw=write\nfsync=1\nfilename=/dev/nvme1n1\n";
    place.write("jobs.fio", format!("{global}{oltp}{wal}"));
    let inspect = "--logical 16MiB --writes 1000 --json";
    let refused = place.ftlab(&format!("inspect jobs.fio {inspect}"));
    refused.fails(2, &["/dev/nvme0n1 and /dev/nvme1n1", "drives of their own", "--volume"]);
    let of = |arguments: &str| {
        let json = place.ftlab(&format!("inspect {arguments} {inspect}")).json();
        let operations = &json["workloads"][0]["requests"];
        ["write", "flush", "read"].map(|name| operations[name].as_u64().unwrap_or(0))
    };
    let [writes, flushes, reads] = of("jobs.fio --volume /dev/nvme1n1");
    assert!(writes == 1000 && flushes >= 999 && reads == 0, "{writes}, {flushes}, {reads}");
    assert_eq!(of("fio:file=jobs.fio,device=nvme1n1"), [writes, flushes, reads]);
    let [writes, flushes, reads] = of("jobs.fio --volume nvme0n1");
    assert!(writes == 500 && flushes == 0 && reads > 400, "{writes}, {flushes}, {reads}");
    let twice = format!("inspect jobs.fio --volume a --volume b {inspect}");
    place.ftlab(&twice).fails(2, &["each a drive of its own", "--volume once"]);
}

#[test]
fn flushes_at_the_end_are_converted() {
    let place = Place::new();
    place.write(
        "end.fio",
        "[e]\nioengine=null\nfilename=drive\nrw=write\nbs=4k\nsize=220k\nend_fsync=1\n",
    );
    let converted = place.ftlab("convert end.fio end.iolog");
    assert_eq!(converted.code, 0, "{}", converted.stderr);
    let json = place.ftlab("inspect end.iolog --json").json();
    let operations = &json["workloads"][0]["requests"];
    assert_eq!((&operations["write"], &operations["flush"]), (&55.into(), &1.into()));
}

#[test]
fn sizes_shrink_with_a_drive_that_is_simulated_scaled_down() {
    let place = Place::new();
    let job = "[a]\nfilename=/dev/ng0n1\nrw=randwrite\nbs=4k\ntime_based\nruntime=9\n";
    place.write("bytes.fio", format!("{job}offset=240000000000\nsize=480000000000\n"));
    place.write("percent.fio", format!("{job}offset=25%\nsize=50%\n"));
    let run = |workload: &str| {
        let run =
            format!("run {workload} --logical 16MiB --pages-per-block 16 --ftl fifo --writes 9000");
        place.ftlab(&format!("{run} --json -q")).json()
    };
    let bytes = run("fio:file=bytes.fio,capacity=960GB");
    let percent = run("percent.fio");
    assert_eq!(bytes["runs"][0]["relocations"], percent["runs"][0]["relocations"]);
    assert_eq!(bytes["trace_hash"], percent["trace_hash"]);
    let refused = place.ftlab("run bytes.fio --logical 16MiB --ftl fifo");
    refused.fails(1, &["[a] begins at byte 240000000000", "the drive larger"]);
}
