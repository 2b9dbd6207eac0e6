//! The scripts of docs/paths, which four kinds of users begin with, in short form.
#![cfg(all(feature = "full", target_os = "linux"))]

use crate::common::Place;
use std::path::Path;
use std::process::Command;

/// Runs a script with these arguments in an empty directory; returns what it printed.
fn run(place: &Place, script: &str, arguments: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/paths").join(script);
    let output = Command::new("sh")
        .arg(path)
        .args(arguments.split(' '))
        .env("FTLAB", env!("CARGO_BIN_EXE_ftlab"))
        .current_dir(place.path())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

fn has(program: &str) -> bool {
    let found = Command::new("sh").args(["-c", &format!("command -v {program}")]).output().unwrap();
    if !found.status.success() {
        eprintln!("SKIPPED: {program} is missing; `make setup-record` installs it");
    }
    found.status.success()
}

fn read(place: &Place, name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(place.path().join(name)).unwrap()).into_owned()
}

#[test]
fn a_database_engineer_gets_a_justified_number() {
    if !(has("strace") && has("sqlite3")) {
        return;
    }
    let place = Place::new();
    let text = run(&place, "database.sh", "1500 --once --ftl hazard --op 40%");
    assert!(text.contains("For a write amplification of 1.5, a drive of 7.68 TB needs "), "{text}");
    assert!(text.contains("rewrites "), "the evidence is weighed: {text}");
    assert!(text.contains("See it at work: ftlab run sqlite.parquet --ftl "), "{text}");
    assert!(read(&place, "advice.html").contains("<svg"));
}

#[test]
fn a_researcher_gets_a_figure_for_a_paper() {
    let place = Place::new();
    let text = run(&place, "researcher.sh", "32MiB");
    assert!(text.contains("yes, in all 2"), "{text}");
    assert!(read(&place, "paper/skew.pdf").contains("/FontFile2"));
    assert!(read(&place, "paper/works.bib").contains("@article{2rpp,"));
}

#[test]
fn a_firmware_engineer_learns_what_waits_and_what_handles_bring() {
    let place = Place::new();
    let text = run(&place, "firmware.sh", "512MiB 2");
    for part in ["1r-greedy, reads, p99", "NVMe statistics", "handle"] {
        assert!(text.contains(part), "{part:?} is not in {text}");
    }
    assert!(read(&place, "waits.html").contains("2r++"));
    assert!(read(&place, "handles.svg").contains("nvme-fdp"));
}

#[test]
fn start_runs_the_path_that_is_named() {
    let place = Place::new();
    let output = place.ftlab("start teach");
    assert_eq!(output.code, 0, "{}", output.stderr);
    assert!(output.stderr.contains("ftlab teach --ftl 1r-greedy,2r-fifo"), "{}", output.stderr);
    assert!(read(&place, "lesson.html").contains("2r-fifo"));
    place.ftlab("start drive 0").fails(2, &["ftlab drive create drive.ftl --size 0"]);
    let without = std::process::Command::new(env!("CARGO_BIN_EXE_ftlab"))
        .arg("start")
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&without.stderr);
    assert!(message.contains("ftlab start trace FILE"), "{message}");
}

#[test]
fn a_teacher_gets_a_lesson() {
    let place = Place::new();
    run(&place, "teacher.sh", "32MiB");
    for page in ["lesson.html", "report.html"] {
        let html = read(&place, page);
        assert!(html.contains("2r-fifo") && !html.contains("src=\"http"), "{page} needs a network");
    }
}
