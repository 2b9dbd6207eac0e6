//! `ftlab fleet` as a user types it, and as it is killed.

use crate::common::{Output, Place};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::process::{Command, Stdio};
use std::time::Duration;

/// What all runs have in common: small drives with small blocks.
const DRIVE: &str = "--op 15% --pages-per-block 8 --select all";

/// Requests of volumes 0 to 4 in Alibaba's format: volume v has (v + 2) x 512 pages, and skewed writes.
fn lines(requests: Range<u64>) -> String {
    requests.map(line).collect()
}

fn line(number: u64) -> String {
    let random = number.wrapping_mul(6_364_136_223_846_793_005).rotate_left(23) >> 11;
    let (volume, place) = (number % 5, random / 4);
    let pages = 512 * (volume + 2);
    let page = if random.is_multiple_of(4) { place % pages } else { place % (pages / 8) };
    let (op, length) = if number % 11 == 7 { ("R", 8192) } else { ("W", 4096) };
    let (offset, time) = (4096 * page.min(pages - 2), 1_577_900_000_000_000 + 40 * number);
    format!("{volume},{op},{offset},{length},{time}\n")
}

const REQUESTS: u64 = 60_000;

/// A place with a trace in two files.
fn place() -> Place {
    let place = Place::new();
    place.write("1.csv", lines(0..REQUESTS / 2));
    place.write("2.csv", lines(REQUESTS / 2..REQUESTS));
    place
}

fn ok(output: &Output) {
    assert_eq!(output.code, 0, "{}{}", output.stdout, output.stderr);
}

/// The two files that are the same however a fleet was run.
fn results(place: &Place, out: &str) -> [Vec<u8>; 2] {
    ["fleet.parquet", "totals.json"]
        .map(|name| fs::read(place.path().join(out).join(name)).unwrap())
}

fn totals(place: &Place, out: &str) -> Value {
    serde_json::from_slice(&results(place, out)[1]).unwrap()
}

/// What is kept of each cell, by volume and FTL.
fn cells(place: &Place, out: &str) -> BTreeMap<(String, String), Value> {
    let text = fs::read_to_string(place.path().join(out).join("cells.jsonl")).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    lines
        .map(|line| {
            ((text(&line["cell"]["volume"]), text(&line["cell"]["ftl"])), line["run"].clone())
        })
        .collect()
}

/// A run without its series and times.
fn counts(run: &Value) -> Value {
    let mut run = run.clone();
    let varies = |name: &str| name.starts_with("nanoseconds") || name == "seconds";
    let fields = run.as_object_mut().unwrap();
    fields.retain(|name, _| !name.starts_with("running_") && !varies(name));
    run
}

#[test]
fn every_volume_does_what_it_does_alone() {
    let place = place();
    let all = place.ftlab(&format!(
        "fleet 1.csv 2.csv --ftl 1r-greedy,sepbit {DRIVE} --memory 1GiB --out all"
    ));
    ok(&all);
    assert!(all.stdout.contains("5 in 2 traces: 60,000 requests"), "{}", all.stdout);
    assert!(all.stderr.contains("wrote fleet.parquet, totals.json"), "{}", all.stderr);
    let whole = fs::read_to_string(place.path().join("1.csv")).unwrap()
        + &fs::read_to_string(place.path().join("2.csv")).unwrap();
    place.write("whole.csv", whole);
    let cells = cells(&place, "all");
    assert_eq!(cells.len(), 10);
    for volume in [0, 3] {
        let alone = place.ftlab(&format!(
            "run whole.csv --volume {volume} --ftl 1r-greedy --ftl sepbit --op 15% --pages-per-block 8 --json"
        ));
        ok(&alone);
        let alone = alone.json();
        for run in alone["runs"].as_array().unwrap() {
            let name = (volume.to_string(), run["ftl"].as_str().unwrap().to_owned());
            assert_eq!(counts(&cells[&name]["run"]), counts(run), "{name:?}");
            assert_eq!(cells[&name]["trace_hash"], alone["trace_hash"]);
        }
    }
    let totals = totals(&place, "all");
    let sepbit = &totals["ftls"][1];
    assert_eq!(sepbit["compared"], 5);
    let of = |name: &(String, String)| {
        let run = &cells[name]["run"];
        (run["host_writes"].as_f64().unwrap(), run["waf"].as_f64().unwrap())
    };
    let runs: Vec<_> = cells.keys().filter(|(_, ftl)| ftl == "sepbit").map(of).collect();
    let host: f64 = runs.iter().map(|(host, _)| host).sum();
    let media: f64 = runs.iter().map(|(host, waf)| host * waf).sum();
    assert!((sepbit["waf_of_all"].as_f64().unwrap() - media / host).abs() < 1e-9);
    for file in ["fleet.svg", "fleet.html", "manifest.json"] {
        assert!(place.path().join("all").join(file).exists(), "{file}");
    }
    // With addresses that are left out, too.
    ok(&place.ftlab(&format!("fleet whole.csv --ftl 1r-greedy {DRIVE} --compact --out compact")));
    let alone = place.ftlab(
        "run whole.csv --volume 2 --compact --ftl 1r-greedy --op 15% --pages-per-block 8 --json",
    );
    let run = counts(&alone.json()["runs"][0]);
    assert_eq!(
        counts(&self::cells(&place, "compact")[&("2".into(), "1r-greedy".into())]["run"]),
        run
    );
}

#[test]
fn memory_threads_parts_and_standard_input_change_nothing() {
    let place = place();
    let fleet = format!("--ftl 1r-greedy,2r-fifo {DRIVE} --quiet");
    ok(&place.ftlab(&format!("fleet *.csv {fleet} --out whole --threads 1")));
    ok(&place.ftlab(&format!("fleet *.csv {fleet} --out little --threads 3 --memory 40MiB")));
    assert!(results(&place, "whole") == results(&place, "little"));
    let planned = place.ftlab(&format!("fleet *.csv {fleet} --out parts --plan"));
    ok(&planned);
    assert!(planned.stdout.contains("planned 10 runs"), "{}", planned.stdout);
    // Parts need the traces no longer.
    fs::rename(place.path().join("1.csv"), place.path().join("elsewhere")).unwrap();
    for part in ["2/2", "1/2"] {
        ok(&place.ftlab(&format!("fleet --out parts --shard {part}")));
    }
    let last = place.ftlab("fleet --out parts --shard 1/2");
    assert!(last.stdout.contains("10 of 10 runs of the fleet are finished"), "{}", last.stdout);
    ok(&place.ftlab("fleet --out parts"));
    assert!(results(&place, "whole")[0] == results(&place, "parts")[0]);
    fs::rename(place.path().join("elsewhere"), place.path().join("1.csv")).unwrap();
    let text = lines(0..REQUESTS);
    ok(&place.ftlab_with_input(&format!("fleet - {fleet} --out input"), text.as_bytes()));
    assert!(results(&place, "whole")[0] == results(&place, "input")[0]);
}

#[test]
fn killed_at_any_time_it_comes_to_the_same_bytes() {
    let place = place();
    let fleet = format!("fleet *.csv --ftl 1r-greedy,sepbit {DRIVE} --quiet --threads 2 --out");
    ok(&place.ftlab(&format!("{fleet} whole")));
    let mut random = 1_u64;
    let mut killed = 0;
    for kill in 0..20 {
        let mut child = place
            .command(&format!("{fleet} killed"))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // From the pass over the traces to the last runs.
        std::thread::sleep(Duration::from_millis(random >> 33 & 31 | kill));
        killed += u32::from(child.try_wait().unwrap().is_none());
        // SIGKILL: the process has no chance to tidy up.
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(killed > 0, "it is never stopped");
    ok(&place.ftlab(&format!("{fleet} killed")));
    assert!(results(&place, "whole") == results(&place, "killed"));
}

#[test]
fn what_is_wrong_is_named_and_the_rest_is_run() {
    let place = place();
    let text = lines(0..20_000);
    // A file that ends in the middle of its packing, a copy, times that go back, a size that changes.
    place.write("cut.csv", &text);
    let packed = Command::new("gzip").arg("-k").arg("cut.csv").current_dir(place.path()).status();
    if !packed.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: gzip is missing");
        return;
    }
    let bytes = fs::read(place.path().join("cut.csv.gz")).unwrap();
    place.write("0.csv.gz", &bytes[..bytes.len() / 2]);
    place.write("copy.csv", fs::read(place.path().join("1.csv")).unwrap());
    place.write("sizes.csv", "device_id,size\n0,4MiB\n1,8MiB\n2,8MiB\n2,16MiB\n3,12MiB\n4,3MiB\n");
    let fleet = format!(
        "fleet 0.csv.gz 2.csv 1.csv copy.csv absent.csv --sizes sizes.csv --ftl 1r-greedy {DRIVE}"
    );
    let all = place.ftlab(&format!("{fleet} --out all"));
    ok(&all);
    for part in [
        "0.csv.gz",
        "copy.csv is the same as 1.csv, and is left out",
        "absent.csv",
        "ends before its end, so requests are missing",
        "comes before the one that precedes it in the traces",
        "sizes.csv has two sizes of it, 8388608 and 16777216 bytes; the larger one is taken",
        "volume 4: failed, in no mean: a write of page",
    ] {
        assert!(all.stdout.contains(part), "{part}: {}", all.stdout);
    }
    let totals = totals(&place, "all");
    assert_eq!(totals["ftls"][0]["states"]["failed"], 1);
    assert_eq!(totals["ftls"][0]["compared"], 4);
    assert_eq!(totals["problems"].as_array().unwrap().len(), 3);
    place
        .ftlab(&format!("{fleet} --out strict --strict"))
        .fails(1, &["without --strict it is named"]);
    let strict = "fleet 1.csv --sizes sizes.csv --ftl 1r-greedy --select all --strict --out strict";
    place.ftlab(strict).fails(2, &["volume 2: sizes.csv has two sizes"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_named_and_what_was_read_is_kept() {
    let place = place();
    let fleet = format!("fleet 1.csv 2.csv --ftl 1r-greedy {DRIVE} --threads 1 --quiet --out");
    ok(&place.ftlab(&format!("{fleet} whole")));
    // The requests of the second trace go where there is never room.
    let parts = place.path().join("full/parts");
    fs::create_dir_all(&parts).unwrap();
    std::os::unix::fs::symlink("/dev/full", parts.join("00001.part")).unwrap();
    let kept =
        "traces that were read whole are kept; make room on its disk, and repeat the command";
    place.ftlab(&format!("{fleet} full")).fails(1, &["00001.part", "No space left", kept]);
    assert!(parts.join("00000.json").exists() && !parts.join("00001.json").exists());
    ok(&place.ftlab(&format!("{fleet} full")));
    assert!(results(&place, "whole") == results(&place, "full"));
}

#[test]
fn volumes_that_never_fill_are_flagged_and_in_no_mean() {
    let place = Place::new();
    let idle =
        (0..40).map(|n| format!("9,W,{},4096,{}\n", 4096 * 50 * n, 1_577_900_000_000_000_u64 + n));
    place.write(
        "t.csv",
        lines(0..40_000) + &idle.collect::<String>() + "8,R,0,4096,1577900000000001\n",
    );
    let fleet = "fleet t.csv --ftl 1r-greedy --op 15% --pages-per-block 8 --fill none --out out";
    let all = place.ftlab(fleet);
    ok(&all);
    assert!(all.stdout.contains("the usual condition, written > 2 * footprint and footprint > 10GiB, selects none of the 7 volumes"), "{}", all.stdout);
    assert!(all.stdout.contains("5 of them"), "{}", all.stdout);
    let all = place.ftlab(&format!("{fleet} --select all"));
    ok(&all);
    assert!(
        all.stdout.contains("volume 9: never fills, in no mean: no block was erased"),
        "{}",
        all.stdout
    );
    let totals = totals(&place, "out");
    let states = &totals["ftls"][0]["states"];
    assert_eq!(
        (&states["never fills"], &states["evidence"], &states["not selected"]),
        (&1.into(), &5.into(), &1.into())
    );
    place
        .ftlab(&format!("{fleet} --select footprint>1TiB"))
        .fails(2, &["selects none of 7 volumes", "--select all"]);
}

#[test]
fn a_fleet_that_is_made_up_is_the_same_as_a_trace() {
    let place = Place::new();
    let made_up = "fleet:volumes=6,scale=0.00005,seed=2";
    ok(&place.ftlab(&format!("fleet {made_up} --write alibaba=a.csv.gz --write sizes=sizes.csv")));
    let fleet = "--sizes sizes.csv --ftl 1r-greedy --op 25% --select all --quiet --out";
    ok(&place.ftlab(&format!("fleet {made_up} {fleet} one")));
    ok(&place.ftlab(&format!("fleet a.csv.gz {fleet} other")));
    assert!(results(&place, "one")[0] == results(&place, "other")[0]);
    place
        .ftlab("fleet a.csv.gz --write tencent=t.csv")
        .fails(2, &["a.csv.gz is a trace", "ftlab convert"]);
    place.ftlab(&format!("fleet {made_up} --write msr=t.csv")).fails(2, &["alibaba=fleet.csv.gz"]);
    place.ftlab("fleet fleet:volume=6 --ftl sepbit --out out").fails(2, &["volumes"]);
}

#[test]
fn what_cannot_be_asked_says_what_can() {
    let place = place();
    for (command, code, parts) in [
        ("fleet --out empty", 2, vec!["no trace is named", "ftlab fleet trace.csv.gz"]),
        ("fleet 1.csv --out out", 2, vec!["no FTL is named", "--ftl sepbit"]),
        ("fleet 1.csv --ftl sepbit,sepbit --out out", 2, vec!["sepbit is named twice"]),
        ("fleet 1.csv --ftl sepbitt --out out", 2, vec!["sepbitt", "did you mean"]),
        (
            "fleet 1.csv --ftl sepbit --out out --select writen>1",
            2,
            vec!["did you mean \"written\""],
        ),
        ("fleet absent.csv --ftl sepbit --out out", 2, vec!["no request was read", "absent.csv"]),
        (
            "fleet 1.csv --volume 77 --ftl sepbit --out out",
            2,
            vec!["no request is of the volumes 77"],
        ),
        ("fleet 1.csv --ftl sepbit --out out --shard 3/2", 2, vec!["3/2"]),
        ("fleet x*.csv --ftl sepbit --out out", 2, vec!["no file is called x*.csv"]),
        ("fleet 1.csv --ftl sepbit --sizes absent --out out", 1, vec!["absent"]),
        (
            "fleet 1.csv --ftl sepbit --sizes 2.csv --logical 1GiB --out out",
            2,
            vec!["--logical gives all drives one size", "--sizes 2.csv"],
        ),
        (
            "fleet --out empty --threads 2 --ftl=sepbit",
            2,
            vec!["what empty has planned is continued, and --ftl=sepbit cannot change that"],
        ),
    ] {
        place.ftlab(command).fails(code, &parts);
    }
}

#[test]
fn a_pack_does_what_its_volumes_do_side_by_side() {
    let place = place();
    let sizes: Vec<_> = (0..5).map(|of| format!("{of},{}KiB", 4 * 512 * (of + 2))).collect();
    place.write("sizes.csv", sizes.join("\n"));
    let packs =
        "--ftl 1r-greedy,sepbit,nvme-fdp --sizes sizes.csv --pack 5 --by size,random:draws=2,alone";
    let all = place.ftlab(&format!("fleet 1.csv 2.csv {packs} {DRIVE} --out packs"));
    ok(&all);
    assert!(
        all.stdout.contains("1 by size; 1 by random, 2 times; 5, one for each volume"),
        "{}",
        all.stdout
    );
    // By size, volume v begins where those before it end; times never go back from line to line.
    let moved = (0..REQUESTS).map(|number| {
        let line = line(number);
        let fields: Vec<_> = line.trim().split(',').collect();
        let volume: u64 = fields[0].parse().unwrap();
        let first: u64 = (0..volume).map(|before| 4096 * 512 * (before + 2)).sum();
        let offset = fields[2].parse::<u64>().unwrap() + first;
        format!("9,{},{offset},{},{}\n", fields[1], fields[3], fields[4])
    });
    place.write("moved.csv", moved.collect::<String>());
    let alone = place.ftlab(
        "run moved.csv --logical 40MiB --ftl 1r-greedy,sepbit --op 15% --pages-per-block 8 --json",
    );
    ok(&alone);
    let cells = cells(&place, "packs");
    for run in alone.json()["runs"].as_array().unwrap() {
        let ftl = run["ftl"].as_str().unwrap().to_owned();
        let packed = counts(&cells[&("size 1".into(), ftl.clone())]["run"]);
        for name in ["host_writes", "relocations", "erases", "waf", "waf_last_tenth"] {
            assert!(packed[name].is_number() && packed[name] == counts(run)[name], "{ftl}: {name}");
        }
    }
    // A drive for each volume is what a fleet without packs has.
    ok(&place.ftlab(&format!(
        "fleet 1.csv 2.csv --ftl 1r-greedy,sepbit --sizes sizes.csv {DRIVE} --quiet --out single"
    )));
    let single = self::cells(&place, "single");
    for volume in 0..5 {
        let name = |drive: String| (drive, "sepbit".to_owned());
        let packed = &cells[&name(format!("alone {}", volume + 1))];
        assert_eq!(counts(&packed["run"]), counts(&single[&name(volume.to_string())]["run"]));
    }
    let totals = totals(&place, "packs");
    assert_eq!((&totals["packs"], &totals["selected"]), (&8.into(), &5.into()));
    let of = |order: &str, ftl: &str| {
        let is_it = |of: &&Value| of["packed_by"] == order && of["ftl"] == ftl;
        totals["ftls"].as_array().unwrap().iter().find(is_it).unwrap().clone()
    };
    assert_eq!(of("random", "sepbit")["waf_of_draws"].as_array().unwrap().len(), 2);
    assert_eq!(of("size", "sepbit")["share_of_writes"], 1.0);
    // The same volumes in another order of addresses do much the same; a handle for each does better than none.
    let waf = |order: &str, ftl: &str| of(order, ftl)["waf_of_all"].as_f64().unwrap();
    assert!((waf("random", "1r-greedy") / waf("size", "1r-greedy") - 1.0).abs() < 0.05);
    for (text, code, part) in [
        ("--pack 1", 2, "2..=512"),
        ("--by age --pack 2", 2, "lifetime, size"),
        ("--by size", 2, "--pack"),
        ("--pack 2 --handles 17", 2, "1..=16"),
    ] {
        place.ftlab(&format!("fleet 1.csv --ftl sepbit --out wrong {text}")).fails(code, &[part]);
    }
    place.write("untimed.csv", "W,0,8\nW,8,8\n");
    let untimed =
        "fleet untimed.csv --format lpn-u32 --select all --ftl sepbit --pack 2 --out untimed";
    place.ftlab(untimed).fails(2, &["merged by time", "leave --pack out"]);
}
