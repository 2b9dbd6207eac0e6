//! `ftlab fit` as a user types it.

use crate::common::Place;
use std::fmt::Write;
use std::fs;

/// Of the drive: 32,768 pages of 128 KiB.
const BYTES: f64 = 4_294_967_296.0;

/// A drive of the lab, whose counters are written down as `nvme fdp stats` prints them.
fn with_log() -> Place {
    let place = Place::new();
    let run = place.ftlab(
        "run fio-randwrite:bs=128 --page-size 128KiB --logical-pages 32768 --pages-per-block 64 --op 20% \
         --fill none --drive-writes 6 --interval 4096 --ftl sep-gc/greedy --seed 3 --json --quiet",
    );
    let (mut host, mut media) = (0.0, 0.0);
    let mut log = String::new();
    let mut tell = |host: f64, media: f64| {
        writeln!(log, "Mon Nov 23 20:00:00 UTC").unwrap();
        writeln!(log, "Host Bytes with Metadata Written (HBMW): {host:.0}").unwrap();
        writeln!(log, "Media Bytes with Metadata Written (MBMW): {media:.0}").unwrap();
        writeln!(log, "Media Bytes Erased (MBE): 0").unwrap();
    };
    tell(0.0, 0.0);
    for waf in run.json()["runs"][0]["running_waf"].as_array().unwrap() {
        host += BYTES / 8.0;
        media += waf.as_f64().unwrap() * BYTES / 8.0;
        tell(host, media);
    }
    fs::write(place.path().join("fdp.log"), log).unwrap();
    place
}

const FIT: &str = "fit fdp.log fio-randwrite:bs=128 --logical 4GiB --page-size 128KiB --pages 32768 --op 10%..30% \
                   --ftl sep-gc/greedy --ftl fifo --store kept";

#[test]
fn fit_names_the_drive_and_what_it_does_not_know() {
    let place = with_log();
    let output = place.ftlab(&format!("{FIT} --figure fit.svg"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let read =
        "host: Host Bytes with Metadata Written in bytes (NVMe FDP statistics); media: Media Bytes";
    for part in [
        read,
        "sep-gc/greedy with ",
        "of over-provisioning (",
        "32,768 pages",
        "for 4.29 GB",
        "Fitted to this series",
    ] {
        assert!(output.stdout.contains(part), "{part}: {}", output.stdout);
    }
    let figure = fs::read_to_string(place.path().join("fit.svg")).unwrap();
    for part in ["measured", "not told apart below", "over-provisioning, %"] {
        assert!(figure.contains(part), "{part}");
    }
    let kept = place.path().join("kept/trials.jsonl");
    let runs = || fs::read_to_string(&kept).unwrap().lines().count();
    let first = runs();
    let again = place.ftlab(&format!("{FIT} --json"));
    assert_eq!(runs(), first, "nothing is run twice");
    assert!(again.stderr.contains("finished runs are in the store"), "{}", again.stderr);
    let json = again.json();
    let media = &json["read"][0]["media"][0];
    assert_eq!(
        (&media["counter"], &media["unit_bytes"]),
        (&"Media Bytes with Metadata Written".into(), &1.0.into())
    );
    let op_ratio = json["drives"][0]["op_ratio"].as_f64().unwrap();
    assert!((op_ratio - 0.2).abs() < 0.005, "{op_ratio}");
    assert!(json["bounds"]["op_ratio"][0].as_f64().unwrap() <= op_ratio);
    // As a program left them whose engine decided otherwise.
    let old = fs::read_to_string(&kept).unwrap().replace("engine 1", "engine 0");
    fs::write(&kept, old).unwrap();
    let other = place.ftlab(FIT);
    let said = format!("{first} results in kept will not be reused");
    assert!(other.stderr.starts_with(&said), "{}", other.stderr);
    assert!(runs() > first, "they stay, and are run again");
}

#[test]
fn a_drive_whose_counters_tell_nothing_is_fitted_by_how_long_writes_took() {
    let place = Place::new();
    let run = place.ftlab(
        "run uniform --page-size 128KiB --logical-pages 32768 --pages-per-block 64 --op 20% --fill none \
         --drive-writes 6 --interval 4096 --ftl sep-gc/greedy --seed 3 --json --quiet",
    );
    // A drive that takes half of the time of a write to read what it moves, and 1 GB a second if it moves nothing.
    let (mut host, mut seconds) = (0.0, 0.0);
    let mut table = "host_bytes,seconds\n0,0\n".to_owned();
    for waf in run.json()["runs"][0]["running_waf"].as_array().unwrap() {
        host += BYTES / 8.0;
        seconds += (1.0 + 1.5 * (waf.as_f64().unwrap() - 1.0)) * BYTES / 8.0 / 1e9;
        writeln!(table, "{host:.0},{seconds}").unwrap();
    }
    fs::write(place.path().join("paced.csv"), table).unwrap();
    let fit = "fit paced.csv uniform --logical 4GiB --page-size 128KiB --pages 32768 --op 10%..30% --gc foreground \
               --ftl sep-gc/greedy";
    let json = place.ftlab(&format!("{fit} --sequential 1GB --json")).json();
    let drive = &json["drives"][0];
    assert!((drive["op_ratio"].as_f64().unwrap() - 0.2).abs() < 0.02, "{drive}");
    let bounds: Vec<f64> =
        (0..2).map(|at| json["bounds"]["op_ratio"][at].as_f64().unwrap()).collect();
    assert!(bounds[0] < 0.2 && 0.2 < bounds[1] && bounds[1] - bounds[0] > 0.01, "{bounds:?}");
    for (options, reason) in [
        ("", "no counter of the medium"),
        ("--sequential 700MB", "times as fast as --sequential"),
        ("--sequential 1KB", "less than 1 MB a second"),
        ("--sequential 1GB --media-counter seconds=1GB", "give one of them"),
    ] {
        place.ftlab(&format!("{fit} {options}")).fails(2, &[reason]);
    }
    fs::write(place.path().join("paced.csv"), "host_bytes,minutes\n5,5\n6,6\n").unwrap();
    let missing = place.ftlab(&format!("{fit} --sequential 1GB"));
    missing.fails(2, &["no counter \"seconds\" (--sequential)"]);
}

#[test]
fn steady_rates_are_means_and_a_saved_drive_says_what_tells_it() {
    let place = Place::new();
    for (name, workload, lines) in [("uniform", "uniform", 1), ("zipf", "zipf:theta=0.6", 24)] {
        let run = place.ftlab(&format!(
            "run {workload} --page-size 128KiB --logical-pages 32768 --pages-per-block 64 --op 20% --fill sequential \
             --drive-writes 6 --ftl sep-gc/greedy --seed 3 --json --quiet"
        ));
        let waf = run.json()["runs"][0]["waf_last_tenth"].as_f64().unwrap();
        let mut table = "host_bytes,seconds\n".to_owned();
        for line in 0..=lines {
            let host = 2.0 * BYTES * f64::from(line) / f64::from(lines);
            writeln!(table, "{host:.0},{}", (1.0 + 1.4 * (waf - 1.0)) * host / 1e9).unwrap();
        }
        fs::write(place.path().join(format!("{name}.csv")), table).unwrap();
    }
    let fit = place.ftlab(
        "fit uniform.csv uniform --and zipf.csv zipf:theta=0.6 --fill sequential --after 16GiB --sequential 1GB \
         --logical 4GiB --page-size 128KiB --pages 32768 --op 10%..30% --gc foreground --ftl sep-gc/greedy \
         --save steady.toml",
    );
    for said in
        ["uniform.csv: 2 samples, ", "zipf.csv: 25 samples, one mean since the pace does not"]
    {
        assert!(fit.stdout.contains(said), "{}", fit.stdout);
    }
    let saved = fs::read_to_string(place.path().join("steady.toml")).unwrap();
    assert!(saved.contains("error = \"10.0%\"") && saved.contains("error = 0.1\n"), "{saved}");
    let known = place.ftlab("run uniform --drive steady.toml --writes 1000");
    let rests = "WAF - 1 is known within 10.0%, one standard deviation); half of the series that were left out";
    assert!(known.stdout.contains(rests), "{}", known.stdout);
    let bounds = saved.lines().find_map(|line| line.strip_prefix("op = [\"")).unwrap();
    let bounds: Vec<f64> =
        bounds.split(['%', '"', ',', ' ']).filter_map(|own| own.parse().ok()).collect();
    assert!(bounds[0] < 19.0 && bounds[1] > 21.0 && bounds[1] < 40.0, "{bounds:?}");
    fs::write(place.path().join("short.csv"), "host_bytes,seconds\n0,0\n400000000,1\n").unwrap();
    fs::write(place.path().join("one.csv"), "host_bytes,seconds\n0,0\n").unwrap();
    for (series, options, reason) in [
        ("zipf", "", "one mean, which an empty drive has not: it writes faster at first"),
        ("zipf", "--fill sequential --skip 1", "--skip would leave nothing of it"),
        ("short", "--fill sequential", "has the mean of 0.093 drive writes, and one or more are"),
        ("one", "--fill sequential", "a steady rate is a line of zeros and one of a drive write"),
    ] {
        place
            .ftlab(&format!(
                "fit {series}.csv uniform {options} --sequential 1GB --logical 4GiB --page-size 128KiB --ftl fifo"
            ))
            .fails(2, &[reason]);
    }
}

#[test]
fn fit_says_what_is_wrong_with_its_input() {
    let place = Place::new();
    fs::write(place.path().join("a.csv"), "a,b\n1,2\n").unwrap();
    fs::write(place.path().join("b.csv"), "host_bytes,media_bytes\n5,5\n4,6\n").unwrap();
    // A drive in use, which collects from the first byte on.
    let mut in_use = "host_bytes,media_bytes\n".to_owned();
    for bytes in 0..20_u64 {
        writeln!(in_use, "{},{}", bytes * 100_000_000_000, bytes * 250_000_000_000).unwrap();
    }
    fs::write(place.path().join("d.csv"), in_use).unwrap();
    let mut nothing_moved = "host_bytes,media_bytes\n".to_owned();
    for bytes in 0..20 {
        writeln!(nothing_moved, "{bytes},{bytes}").unwrap();
    }
    fs::write(place.path().join("c.csv"), nothing_moved).unwrap();
    place.write("once.fio", "[job]\nrw=randwrite\nbs=4k\n");
    for (arguments, reason) in [
        (
            "d.csv once.fio --logical 1TB --fill sequential --ftl fifo --pages 16384 --overhead 0%",
            "d.csv: the host wrote 1.900 drive writes, and its workload fio:file=once.fio ends after 1.000",
        ),
        ("a.csv uniform --logical 1TB", "nvme fdp stats"),
        ("b.csv uniform --logical 1TB", "sample 2 counts less"),
        ("absent.csv uniform --logical 1TB", "absent.csv"),
        ("b.csv uniform", "--logical"),
        ("b.csv uniform --logical 1TB --op 9%", "5%..20%"),
        (
            "c.csv uniform --logical 1TB --ftl fifo --ftl fast",
            "fast merges blocks, so what it copies",
        ),
        (
            "d.csv uniform --logical 1TB --overhead 200%",
            "an overhead of 200% is more than all that d.csv",
        ),
        ("b.csv uniform --logical 0", "a drive of 0 bytes holds nothing; give its capacity"),
        ("c.csv uniform --logical 1TB", "nothing was collected"),
        (
            "d.csv uniform --logical 1TB",
            "d.csv writes 150% more than the host in the first quarter",
        ),
        ("d.csv uniform --logical 1TB", "--fill sequential"),
        ("c.csv uniform --and c.csv zipf --logical 1TB --fill none,none,none", "one value for all"),
        ("c.csv uniform --and c.csv --logical 1TB", "2 values required"),
    ] {
        let output = place.ftlab(&format!("fit {arguments}"));
        assert_eq!(output.code, 2, "{}", output.stderr);
        assert!(output.stderr.contains(reason), "{arguments}: {}", output.stderr);
    }
    // Before anything is run.
    let save = place.ftlab("fit a.csv uniform --logical 1TB --save nowhere/mine.toml");
    save.fails(1, &["nowhere/mine.toml"]);
}

/// Samples of a drive whose host wrote H and whose medium M bytes at the last but one, and then counted less.
const RISING: [(u64, u64); 4] = [
    (123_456_789_000_000, 234_567_891_000_000),
    (123_840_789_000_000, 235_220_691_000_000),
    (127_680_789_000_000, 243_092_691_000_000),
    (98_765_432_101_000, 198_765_432_109_000),
];

#[test]
fn fit_reads_counters_in_the_units_of_their_tools() {
    let place = Place::new();
    let log = |sample: fn(u64, u64) -> String| -> String {
        RISING.iter().map(|(host, media)| sample(*host, *media)).collect()
    };
    let page = "--media-counter Host_Program_Page_Count=16KiB --media-counter 248=16KiB";
    for (text, options, read) in [
        (
            log(|h, m| {
                format!(
                    "data_units_written : {}\n  NAND Bytes Written   0  {m}\n",
                    h.div_ceil(512_000)
                )
            }),
            "",
            "98765432320000 host and 198765432109000 media bytes",
        ),
        (
            log(|h, m| format!("{{\"hbmw\": {h}, \"mbmw\": {m}, \"mbe\": 1}}\n")),
            "",
            "98765432101000 host and 198765432109000 media bytes",
        ),
        (
            format!("\u{feff}host_bytes;media_bytes\n{}", log(|h, m| format!("{h};{m}\n"))),
            "",
            "98765432101000 host and 198765432109000 media bytes",
        ),
        (
            log(|h, m| {
                format!(
                    "246 Total_LBAs_Written      0x0032   100   100   000    Old_age   Always       -       {}\n\
                     247 Host_Program_Page_Count 0x0032   100   100   000    Old_age   Always       -       {}\n\
                     248 FTL_Program_Page_Count  0x0032   100   100   000    Old_age   Always       -       {}\n",
                    h / 512,
                    h / 16_384,
                    m / 16_384 - h / 16_384
                )
            }),
            page,
            "98765432100864 host and 198765432094720 media bytes",
        ),
    ] {
        fs::write(place.path().join("drive.log"), &text).unwrap();
        let output =
            place.ftlab(&format!("fit drive.log uniform --logical 960GB --quiet {options}"));
        assert_eq!(output.code, 2, "{}", output.stderr);
        let said = format!("sample 4 counts less than the one before it: {read}");
        assert!(output.stderr.contains(&said), "{said}: {}\n{text}", output.stderr);
    }
}

#[test]
fn fit_names_the_counters_that_it_cannot_read() {
    let place = Place::new();
    for (text, reasons) in [
        ("HBMW: 123.46 TB\nMBMW: 234.57 TB\n", ["line 1: HBMW is 123.46 TB", "rounded"]),
        (
            "247 Host_Program_Page_Count 0x0032 100 100 000 Old_age Always - 5\n\
             248 FTL_Program_Page_Count 0x0032 100 100 000 Old_age Always - 5\n",
            ["Host_Program_Page_Count + FTL_Program_Page_Count", "--media-counter"],
        ),
        (
            "Smart Log for NVME device:nvme0\nHBMW: 1\nMBMW: 2\nSmart Log for NVME device:nvme1\nHBMW: 3\nMBMW: 4\n",
            ["several drives", "nvme0 and nvme1"],
        ),
        ("Data Units Written: 5\n", ["no counter of the medium", "nvme ocp smart-add-log"]),
    ] {
        fs::write(place.path().join("drive.log"), text).unwrap();
        let output = place.ftlab("fit drive.log uniform --logical 960GB --quiet");
        assert_eq!(output.code, 2, "{}", output.stderr);
        for reason in reasons {
            assert!(output.stderr.contains(reason), "{reason}: {}", output.stderr);
        }
    }
}

const LOADS: &str = "drive,set_writes_per_s,writes_per_s,read_mean_us,read_p50_us,read_p99_us\n\
                     A,1000,1000,70,65,200\nA,90000,20000,,300,2000\nB,1000,1000,70,65,200\n";

#[test]
fn latencies_are_compared_with_a_timing() {
    let place = Place::new();
    fs::write(place.path().join("loads.csv"), LOADS).unwrap();
    let timing = "slc:luns=4,unit=request,priority=read-first,suspend=both,command-us=20";
    let output = place.ftlab(&format!(
        "fit --latency loads.csv --name A --reads 1000 --depth 32 --over-provisioning 15% --timing {timing} --json --quiet"
    ));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let fit = output.json();
    assert_eq!(fit["timing"], timing);
    let loads = fit["loads"].as_array().unwrap();
    let [light, saturated] = loads.as_slice() else { panic!("{fit}") };
    let of = |load: &serde_json::Value, what: &str| load[what]["writes_per_second"].as_f64();
    assert!((of(light, "simulated").unwrap() / 1000.0 - 1.0).abs() < 0.05, "{light}");
    let off = of(saturated, "simulated").unwrap() / 20_000.0 - 1.0;
    assert!((of(saturated, "off").unwrap() - off).abs() < 1e-9, "{saturated}");
    assert!(saturated["off"]["read_mean"].is_null(), "{saturated}");
    assert!(light["predicted"].is_null(), "{light}");
    // In two queues, of which the one that reads is served first.
    let output = place.ftlab(&format!(
        "fit --latency loads.csv --name A --reads 1000 --depth 32 --queues 2 --over-provisioning 15% \
         --timing {timing},write-buffer=1MiB,slots=8 --json --quiet"
    ));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let fit = output.json();
    let saturated = &fit["loads"][1]["simulated"];
    assert!((saturated["reads_per_second"].as_f64().unwrap() / 1000.0 - 1.0).abs() < 0.05, "{fit}");
    for part in [
        "THESE LATENCIES of A",
        "90,000",
        "measured",
        "simulated",
        "--op 15.00%",
        "--pages-per-block 4",
        timing,
    ] {
        assert!(output.stderr.contains(part), "{part}: {}", output.stderr);
    }
}

/// What fio 3.33 wrote about two loads, and about two others without bins.
const FIO: &str = include_str!("../../../ftlab-experiments/tests/data/fio-3.33-json-plus.json");
const FIO_PLAIN: &str = include_str!("../../../ftlab-experiments/tests/data/fio-3.33-json.json");

#[test]
fn latencies_of_fio_need_neither_reads_nor_depths() {
    let place = Place::new();
    // Warnings come first.
    fs::write(place.path().join("a.json"), format!("fio: a warning\n{FIO}")).unwrap();
    fs::write(place.path().join("b.json"), FIO_PLAIN).unwrap();
    let timing = "slc:luns=4,unit=request,priority=read-first,suspend=both,write-buffer=1MiB";
    let output = place.ftlab(&format!(
        "fit --latency a.json --latency b.json --over-provisioning 15% --timing {timing} --json --quiet"
    ));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let fit = output.json();
    let loads = fit["loads"].as_array().unwrap();
    let names: Vec<&str> =
        loads.iter().map(|load| load["measured"]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["qd1", "qd4", "readers", "qd4"]);
    let of = |load: usize, what: &str, key: &str| loads[load][what][key].as_f64();
    assert_eq!(loads[0]["measured"]["queue_depth"], 1, "{fit:#}");
    // One request at a time is always under way.
    let simulated = &loads[0]["simulated"];
    let under_way = |op: &str| {
        let rate = simulated[format!("{op}_per_second")].as_f64().unwrap();
        rate * simulated[op]["mean_us"].as_f64().unwrap() / 1e6
    };
    assert!((under_way("reads") + under_way("writes") - 1.0).abs() < 0.01, "{fit:#}");
    let rate = of(0, "simulated", "reads_per_second").unwrap();
    let off = rate / of(0, "measured", "reads_per_second").unwrap() - 1.0;
    assert!((of(0, "off", "reads_per_second").unwrap() - off).abs() < 1e-9, "{fit:#}");
    assert!(of(0, "measured", "asked_per_second").is_none(), "{fit:#}");
    assert!(output.stderr.contains("reads/s") && output.stderr.contains("readers"));
    for (arguments, message) in [
        ("--latency a.json --name A", "--name A chooses a drive of a table"),
        ("--latency a.json", "needs --sequential SIZE"),
        ("--latency a.json --sequential 1GB --random 70000", "needs --depth N"),
    ] {
        let output = place.ftlab(&format!("fit {arguments}"));
        assert_eq!(output.code, 2, "{arguments}: {}", output.stderr);
        assert!(output.stderr.contains(message), "{arguments}: {}", output.stderr);
    }
}

#[test]
fn what_a_fit_of_latencies_lacks_is_said() {
    let place = Place::new();
    fs::write(place.path().join("loads.csv"), LOADS).unwrap();
    let all = "--name A --reads 1000 --depth 32";
    for (arguments, message) in [
        ("--reads 1000", "name one with --name: \"A\", \"B\""),
        ("--name C --reads 1000", "no drive \"C\""),
        ("--name A", "needs --reads N"),
        ("--name A --reads 1000", "needs --depth N"),
        (all, "needs --sequential SIZE"),
        (&format!("{all} --sequential 1KB"), "less than 1 MB a second"),
        ("--name B --reads 1000 --sequential 1GB --random 70000", "needs --depth N"),
        ("--name B --reads 1000 --sequential 1GB", "needs --random N or --over-provisioning SHARE"),
        (&format!("{all} --timing slc"), "needs --over-provisioning SHARE"),
        (&format!("{all} --timing slc --over-provisioning 9%"), "add unit=request to --timing"),
        (&format!("{all} --sequential 1GB --queues 33"), "more than --depth 32 requests under way"),
        ("--name B --reads 1000 --depth 8 --queues 2", "and it did at all loads"),
        ("--name B --reads 1000 --queues 2", "--depth"),
        (
            &format!("{all} --timing slc:unit=request,slots=8 --over-provisioning 9%"),
            "slots=8 of --timing are those of several queues",
        ),
        ("--name A --reads 0", "--reads"),
        ("--logical 1GB", "cannot be used with"),
        ("--figure a.svg", "cannot be used with"),
        ("--skip 2", "cannot be used with"),
        ("--width 900", "cannot be used with"),
        (&format!("{all} --sequential 1GB --gc foreground"), "--gc is searched for"),
        (&format!("{all} --sequential 1GB --timing slc"), "cannot be used with"),
    ] {
        let output = place.ftlab(&format!("fit --latency loads.csv {arguments}"));
        assert_eq!(output.code, 2, "{arguments}: {}", output.stderr);
        assert!(output.stderr.contains(message), "{arguments}: {}", output.stderr);
    }
    let output = place.ftlab("fit --reads 5");
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(output.stderr.contains("--latency"), "{}", output.stderr);
}
