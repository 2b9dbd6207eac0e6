//! Traces of devices, held against the devices' own counters.

use super::devices::{Device, have, is_root, output, skip};
use crate::common::Place;
use serde_json::Value;
use std::path::PathBuf;

/// Runs `script` in a shell with `$DEVICE` and `$PLACE`, recorded, and holds the trace against the
/// device's counters: within 1%. Gives the summary and what `ftlab inspect` says of the trace.
fn recorded(place: &Place, device: &Device, options: &str, script: &str) -> (Value, Value) {
    let here = place.path().display();
    place.write("script.sh", format!("set -e\nDEVICE={}\nPLACE={here}\n{script}", device.name()));
    let before = device.counters();
    let record = format!("record --device {} --out t.parquet --json {options}", device.name());
    let output = place.ftlab(&format!("{record} -- sh script.sh"));
    assert_eq!(output.code, 0, "{}", output.stderr);
    let after = device.counters();
    let summary = output.json();
    let sectors = |path: &str| summary["device"]["recorded"][path].as_u64().unwrap();
    for (name, counted) in [("written", after.0 - before.0), ("discarded", after.1 - before.1)] {
        let difference = sectors(name).abs_diff(counted);
        assert!(difference * 100 <= counted, "{name}: {} of {counted}: {summary}", sectors(name));
    }
    assert_eq!(summary["lost_events"], 0, "{summary}");
    (summary, place.ftlab("inspect t.parquet --json").json()["workloads"][0].clone())
}

#[test]
fn sqlite_on_ext4() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 64) else { return };
    if !have(&["mkfs.ext4", "sqlite3"]) {
        return;
    }
    let (summary, inspection) = recorded(
        &place,
        &device,
        "",
        r#"mkfs.ext4 -q -E nodiscard "$DEVICE"
           mkdir "$PLACE/mnt"
           mount -o discard "$DEVICE" "$PLACE/mnt"
           echo run > "$FTLAB_PHASES"
           sqlite3 "$PLACE/mnt/db" "PRAGMA journal_mode=WAL;
               CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB);
               WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 2000)
               INSERT INTO t SELECT i, randomblob(900) FROM n;
               UPDATE t SET v = randomblob(900) WHERE k % 7 = 0;"
           rm "$PLACE/mnt/db"
           umount "$PLACE/mnt""#,
    );
    assert_eq!(summary["exit_code"], 0);
    assert_eq!(inspection["device_bytes"], 64 << 20);
    assert_eq!(inspection["page_writes"], summary["page_writes"]);
    assert!(inspection["page_writes"].as_u64().unwrap() > 500, "{inspection}");
    assert!(inspection["requests"]["trim"].as_u64().unwrap() > 0, "{inspection}");
    let text = place.ftlab("inspect t.parquet").stdout;
    for part in ["command: sh script.sh", "kernel: ", "lost_events: 0", "started: 20", "[\"run\","]
    {
        assert!(text.contains(part), "{part:?} is not in\n{text}");
    }
    let run = "run t.parquet --op 10% --pages-per-block 64 --ftl 2r++ --quiet --json";
    assert_eq!(place.ftlab(run).json()["runs"][0]["host_writes"], summary["page_writes"]);
    assert_eq!(place.ftlab("convert t.parquet run.parquet --from-phase run").code, 0);
}

#[test]
fn postgresql_on_ext4() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 256) else { return };
    if !have(&["mkfs.ext4", "setpriv", "initdb", "pg_ctl", "pgbench"]) {
        return;
    }
    // PostgreSQL refuses to be root.
    let (summary, inspection) = recorded(
        &place,
        &device,
        "",
        r#"mkfs.ext4 -q "$DEVICE"
           mkdir "$PLACE/mnt"
           chmod 755 "$PLACE"
           mount "$DEVICE" "$PLACE/mnt"
           chown 65534:65534 "$PLACE/mnt"
           export LC_ALL=C PGHOST="$PLACE/mnt" PATH="$PATH:$(echo /usr/lib/postgresql/*/bin)"
           cd "$PLACE/mnt"
           as="setpriv --reuid=65534 --regid=65534 --clear-groups"
           $as initdb -D data -U nobody -A trust > /dev/null
           $as pg_ctl -D data -w -s -l log -o "-k $PLACE/mnt -h '' -c shared_buffers=16MB" start
           trap '$as pg_ctl -D data -w -s -m immediate stop' EXIT
           $as pgbench -U nobody -i -q -s 1 postgres > /dev/null 2>&1
           $as sh -c 'echo run > "$FTLAB_PHASES"'
           $as pgbench -U nobody -c 2 -T 2 postgres > /dev/null 2>&1
           trap - EXIT
           $as pg_ctl -D data -w -s -m fast stop
           cd /
           # Its last process may still be ending.
           for _ in $(seq 100); do umount "$PLACE/mnt" 2> /dev/null && exit; sleep 0.1; done
           umount "$PLACE/mnt""#,
    );
    let phases: Vec<_> =
        summary["phases_us"].as_array().unwrap().iter().map(|phase| &phase[0]).collect();
    assert_eq!(phases, ["command", "run", "write-back", "end"]);
    assert!(inspection["requests"]["flush"].as_u64().unwrap() > 20, "{inspection}");
    assert!(inspection["page_writes"].as_u64().unwrap() > 5000, "{inspection}");
}

#[test]
fn requests_have_the_streams_of_the_files_that_lie_where_they_go() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 64) else { return };
    if !have(&["mkfs.ext4", "filefrag"]) {
        return;
    }
    recorded(
        &place,
        &device,
        "--stream *.sst=1 --stream log/=2",
        r#"mkfs.ext4 -q "$DEVICE"
           mkdir "$PLACE/mnt"
           mount "$DEVICE" "$PLACE/mnt"
           mkdir "$PLACE/mnt/log"
           dd if=/dev/urandom of="$PLACE/mnt/a.sst" bs=64k count=32 conv=fsync 2> /dev/null
           dd if=/dev/urandom of="$PLACE/mnt/log/1" bs=64k count=16 conv=fsync 2> /dev/null
           dd if=/dev/urandom of="$PLACE/mnt/other" bs=64k count=8 conv=fsync 2> /dev/null
           sleep 1
           umount "$PLACE/mnt""#,
    );
    let run = "run t.parquet --op 30% --pages-per-block 16 --ftl nvme-fdp --quiet --json";
    let handles = place.ftlab(run).json()["runs"][0]["fdp"]["handles"].clone();
    let bytes = |handle: usize| handles[handle]["hbmw"].as_u64().unwrap();
    assert_eq!([bytes(1), bytes(2)], [2 << 20, 1 << 20], "{handles}");
    assert!(bytes(0) >= 512 << 10, "journal, metadata and the other file: {handles}");
}

#[test]
fn what_stays_in_the_page_cache_is_written_back_unless_told_not_to() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 16) else { return };
    let script = "dd if=/dev/urandom of=\"$DEVICE\" bs=64k count=32 2> /dev/null";
    let (summary, inspection) = recorded(&place, &device, "", script);
    assert_eq!(summary["page_writes"], 512);
    assert_eq!(summary["distinct_pages"], 512);
    assert_eq!(inspection["addresses"]["first_sector"], 0);
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 16) else { return };
    // Nobody has it open, so that the kernel writes it back when the last one closes it.
    let (summary, _) = recorded(&place, &device, "--no-sync --buffer 64KiB", script);
    assert_eq!(summary["page_writes"], 512);
}

#[test]
fn a_partition_has_addresses_of_its_own() {
    let place = Place::new();
    let Some(mut device) = Device::over_file(place.path(), 32) else { return };
    let whole = device.path.clone();
    // One partition of 16 MiB, as reading a partition table would make it.
    if output("addpart", &[device.name(), "1", "2048", "32768"]).is_none() {
        return skip("the kernel makes no partitions of loop devices here (addpart)");
    }
    device.path = PathBuf::from(format!("{}p1", device.name()));
    let (summary, inspection) = recorded(
        &place,
        &device,
        "",
        &format!(
            "dd if=/dev/zero of=\"$DEVICE\" bs=4k count=3 seek=5 oflag=direct 2> /dev/null
             dd if=/dev/zero of={} bs=4k count=1 oflag=direct conv=notrunc 2> /dev/null",
            whole.display()
        ),
    );
    device.path = whole;
    assert_eq!(summary["device_bytes"], 16 << 20);
    assert_eq!(summary["page_writes"], 3);
    assert_eq!(inspection["addresses"]["first_sector"], 40);
}

#[test]
fn a_device_without_a_queue_is_recorded_too() {
    let place = Place::new();
    let Some(device) = Device::in_memory(16) else { return };
    let script = "dd if=/dev/urandom of=\"$DEVICE\" bs=8k count=100 oflag=direct 2> /dev/null
                  dd if=\"$DEVICE\" of=/dev/null bs=8k count=50 iflag=direct 2> /dev/null";
    let (summary, inspection) = recorded(&place, &device, "--reads", script);
    assert_eq!(summary["page_writes"], 200);
    assert_eq!(inspection["requests"]["read"], 50);
}

#[test]
fn what_is_lost_is_counted_and_said() {
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 64) else { return };
    place.write(
        "script.sh",
        format!(
            // While the recorder stands still, its buffers run over.
            "kill -STOP $PPID
             dd if=/dev/zero of={} bs=4k count=16000 oflag=direct 2> /dev/null
             kill -CONT $PPID",
            device.name()
        ),
    );
    let record = format!("record --device {} --out t.parquet --buffer 64KiB --json", device.name());
    let output = place.ftlab(&format!("{record} -- sh script.sh"));
    let summary = output.json();
    let (lost, requests) = (summary["lost_events"].as_u64(), summary["requests"].as_u64());
    let (lost, requests) = (lost.unwrap(), requests.unwrap());
    assert!(lost > 5000, "{summary}");
    let page_writes = summary["page_writes"].as_u64().unwrap();
    assert!(page_writes + lost >= 16_000 && requests + lost <= 16_100, "{summary}");
    assert!(output.stderr.contains("events were lost; record again with a larger --buffer"));
    let text = place.ftlab("inspect t.parquet").stdout;
    assert!(text.contains(&format!("lost_events: {lost}")), "{text}");
}

#[test]
fn no_instance_of_tracing_is_left_behind() {
    if !is_root() {
        return skip("recording a device needs root");
    }
    let place = Place::new();
    let Some(device) = Device::over_file(place.path(), 16) else { return };
    let record = format!("record --device {} --out t.parquet", device.name());
    place.write("script.sh", "ls -d /sys/kernel/tracing/instances/ftlab-$PPID-0");
    let output = place.ftlab(&format!("{record} -- sh script.sh"));
    // Nothing was written, which is an error; and while it ran there was an instance.
    output.fails(1, &["no request with data reached", "check that the command writes"]);
    let instance = PathBuf::from(output.stdout.trim());
    assert!(instance.is_absolute() && !instance.exists(), "{}", output.stdout);
    assert!(!place.path().join("t.parquet").exists());
}
