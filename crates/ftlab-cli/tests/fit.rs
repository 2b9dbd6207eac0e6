//! `ftlab fit` as a user types it.

mod common;

use common::Place;
use std::fmt::Write;
use std::fs;

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
        host += 1e12 / 8.0;
        media += waf.as_f64().unwrap() * 1e12 / 8.0;
        tell(host, media);
    }
    fs::write(place.path().join("fdp.log"), log).unwrap();
    place
}

const FIT: &str = "fit fdp.log fio-randwrite:bs=128 --logical 1TB --page-size 128KiB --pages 32768 --op 10%..30% \
                   --ftl sep-gc/greedy --ftl fifo --store kept";

#[test]
fn fit_names_the_drive_and_what_it_does_not_know() {
    let place = with_log();
    let output = place.ftlab(&format!("{FIT} --figure fit.svg"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    for part in ["sep-gc/greedy with ", "of over-provisioning (", "32,768 pages", "for 1.000 TB"] {
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
fn fit_says_what_is_wrong_with_its_input() {
    let place = Place::new();
    fs::write(place.path().join("a.csv"), "a,b\n1,2\n").unwrap();
    fs::write(place.path().join("b.csv"), "host_bytes,media_bytes\n5,5\n4,6\n").unwrap();
    for (arguments, reason) in [
        ("a.csv uniform --logical 1TB", "nvme fdp stats"),
        ("b.csv uniform --logical 1TB", "sample 2 counts less"),
        ("absent.csv uniform --logical 1TB", "absent.csv"),
        ("b.csv uniform", "--logical"),
        ("b.csv uniform --logical 1TB --op 9%", "5%..20%"),
    ] {
        let output = place.ftlab(&format!("fit {arguments}"));
        assert_eq!(output.code, 2, "{}", output.stderr);
        assert!(output.stderr.contains(reason), "{arguments}: {}", output.stderr);
    }
}
