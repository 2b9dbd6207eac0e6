//! Files that a command writes are whole: they are one command's, and never the file that it reads.

use crate::common::Place;
use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::Duration;

/// More than a reader takes before it decides on a format.
const LINES: usize = 20_000;

fn trace(lines: usize) -> String {
    let requests = (0..lines).map(|line| format!("write,{},8\n", line * 8));
    ["op,lba,sectors\n".to_owned()].into_iter().chain(requests).collect()
}

/// A conversion to `target` that has begun, and waits for the rest of its input.
fn begun(place: &Place, target: &str) -> Child {
    let mut child = place
        .command(&format!("convert - {target}"))
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(trace(LINES).as_bytes()).unwrap();
    while !place.path().join(format!("{target}.partial")).exists() {
        assert!(child.try_wait().unwrap().is_none(), "the conversion ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn two_conversions_to_one_file_do_not_mix() {
    let place = Place::new();
    place.write("short.csv", trace(1));
    let mut first = begun(&place, "out.parquet");
    place
        .ftlab("convert short.csv out.parquet")
        .fails(1, &["out.parquet: another process is writing this file; wait for it, or choose"]);
    drop(first.stdin.take());
    assert!(first.wait().unwrap().success());
    let inspected = place.ftlab("inspect out.parquet --json").json();
    assert_eq!(inspected["workloads"][0]["requests"]["write"], LINES, "{inspected}");
    assert!(!place.path().join("out.parquet.partial").exists());
}

#[test]
fn a_killed_conversion_is_in_nobodys_way() {
    let place = Place::new();
    place.write("short.csv", trace(1));
    let mut first = begun(&place, "out.csv");
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(place.ftlab("convert short.csv out.csv").code, 0);
    let names: Vec<_> =
        fs::read_dir(place.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names.len(), 2, "{names:?}");
}

#[test]
fn a_trace_is_not_converted_to_itself() {
    let place = Place::new();
    let text = trace(1);
    place.write("a.csv", &text);
    std::os::unix::fs::symlink("a.csv", place.path().join("link.csv")).unwrap();
    fs::hard_link(place.path().join("a.csv"), place.path().join("hard.csv")).unwrap();
    fs::create_dir(place.path().join("below")).unwrap();
    for target in ["a.csv", "./a.csv", "below/../a.csv", "link.csv", "hard.csv"] {
        let parts = [target, "is the trace a.csv itself; write to another file"];
        place.ftlab(&format!("convert a.csv {target}")).fails(2, &parts);
        assert_eq!(fs::read_to_string(place.path().join("a.csv")).unwrap(), text);
    }
}

#[test]
fn what_an_unfinished_trace_has_is_not_converted_to_its_finished_name() {
    let place = Place::new();
    fs::create_dir(place.path().join("e")).unwrap();
    std::os::unix::fs::symlink("e/b.csv", place.path().join("link.csv")).unwrap();
    let text = "volume,op,offset,size\n7,write,0,4096\n7,write,8192,4096\n";
    for (partial, to) in [
        ("b.csv.partial", "b.csv"),
        ("e/b.csv.partial", "link.csv"),
        ("b.7.csv.partial", "b.csv --split"),
    ] {
        place.write(partial, text);
        place.write("e/b.csv", text);
        let from = format!("{partial} --map volume=1,op=2,off:bytes=3,len:bytes=4");
        let parts = ["until it is complete, which is the trace itself", "write to another file"];
        place.ftlab(&format!("convert {from} {to}")).fails(2, &parts);
        assert_eq!(fs::read_to_string(place.path().join(partial)).unwrap(), text);
        assert_eq!(place.ftlab(&format!("convert {from} other.parquet")).code, 0);
    }
}
