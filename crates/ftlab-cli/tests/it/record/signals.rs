//! Ctrl-C.

use super::devices::{Device, have, output};
use crate::common::Place;
use serde_json::Value;
use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Starts `ftlab record` of a shell script, and waits until that says that it runs.
fn start(place: &Place, target: &str, script: &str) -> Child {
    place.write("script.sh", script);
    let arguments = format!("record {target} --out t.parquet --json -- sh script.sh");
    let mut command = place.command(&arguments);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let child = child.unwrap();
    let begin = Instant::now();
    while !place.path().join("running").exists() {
        assert!(begin.elapsed() < Duration::from_secs(120), "the script does not run");
        sleep(Duration::from_millis(10));
    }
    child
}

fn interrupt(child: &Child) {
    output("kill", &["-INT", &child.id().to_string()]).unwrap();
}

/// The exit status and the summary.
fn ended(child: Child) -> (i32, Value) {
    let output = child.wait_with_output().unwrap();
    let code = output.status.code().unwrap();
    (code, serde_json::from_slice(&output.stdout).unwrap())
}

#[test]
fn an_interrupt_ends_the_command_and_completes_the_trace() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 16) else { return };
    let script = format!(
        "trap 'dd if=/dev/zero of={0} bs=4k count=1 seek=9 oflag=direct 2> /dev/null; exit 3' INT
         dd if=/dev/zero of={0} bs=4k count=2 oflag=direct 2> /dev/null
         touch running
         while true; do sleep 0.05; done",
        device.name()
    );
    let child = start(&place, &format!("--device {}", device.name()), &script);
    interrupt(&child);
    let (code, summary) = ended(child);
    assert_eq!((code, &summary["interrupted"]), (3, &true.into()), "{summary}");
    assert_eq!(summary["page_writes"], 3);
    assert_eq!(place.ftlab("inspect t.parquet --json").json()["workloads"][0]["page_writes"], 3);
}

#[test]
fn a_second_interrupt_kills_a_command_that_does_not_end() {
    if !have(&["strace"]) {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path().join("data")).unwrap();
    let script = "trap '' INT; echo x > data/x; touch running; while true; do sleep 0.05; done";
    let mut child = start(&place, "--dir data", script);
    interrupt(&child);
    sleep(Duration::from_millis(400));
    assert!(child.try_wait().unwrap().is_none(), "the command ignores it");
    interrupt(&child);
    let (code, summary) = ended(child);
    assert_eq!((code, &summary["page_writes"]), (137, &1.into()));
    assert_eq!(place.ftlab("inspect t.parquet --json").json()["workloads"][0]["page_writes"], 1);
}

#[test]
fn without_a_command_a_device_is_recorded_until_an_interrupt() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 16) else { return };
    let record = format!("record --device {} --out t.parquet --json", device.name());
    let child =
        place.command(&record).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let instance = format!("/sys/kernel/tracing/instances/ftlab-{}-0", child.id());
    let is_on = |file: &str| {
        fs::read_to_string(format!("{instance}/{file}")).is_ok_and(|text| text.trim() == "1")
    };
    let begin = Instant::now();
    // The kernel makes an instance that traces already, but no event.
    while !is_on("events/block/block_rq_issue/enable") || !is_on("tracing_on") {
        assert!(begin.elapsed() < Duration::from_secs(120), "nothing is recorded");
        sleep(Duration::from_millis(10));
    }
    let to = format!("of={}", device.name());
    output("dd", &["if=/dev/zero", &to, "bs=4k", "count=5", "oflag=direct"]).unwrap();
    interrupt(&child);
    let (code, summary) = ended(child);
    assert_eq!((code, &summary["page_writes"], &summary["command"]), (0, &5.into(), &Value::Null));
}
