//! Traces of files, held against what the files become.

use super::devices::have;
use crate::common::Place;
use serde_json::Value;
use std::fs;

/// Runs `script` in a shell, recorded, in a place whose directory `data` is recorded.
fn recorded(place: &Place, script: &str) -> Value {
    fs::create_dir_all(place.path().join("data")).unwrap();
    place.write("script.sh", format!("set -e\n{script}"));
    let output = place.ftlab("record --dir data --out t.parquet --json -- sh script.sh");
    assert_eq!(output.code, 0, "{}", output.stderr);
    output.json()
}

/// The requests of the trace as (operation, first sector, sectors).
fn requests(place: &Place) -> Vec<(String, u64, u64)> {
    assert_eq!(place.ftlab("convert t.parquet t.csv").code, 0);
    let text = fs::read_to_string(place.path().join("t.csv")).unwrap();
    let lines = text.lines().skip(1).map(|line| {
        let fields: Vec<_> = line.split(',').collect();
        let [_, op, lba, sectors] = fields[..] else { panic!("{line}") };
        (op.to_owned(), lba.parse().unwrap(), sectors.parse().unwrap())
    });
    lines.collect()
}

fn expected(requests: &[(&str, u64, u64)]) -> Vec<(String, u64, u64)> {
    requests.iter().map(|(op, lba, sectors)| ((*op).to_owned(), *lba, *sectors)).collect()
}

#[test]
fn files_are_laid_side_by_side() {
    if !have(&["strace"]) {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path().join("data")).unwrap();
    place.write("data/before", vec![7; 70_000]);
    let summary = recorded(
        &place,
        "exec 2> /dev/null
         dd if=/dev/zero of=data/a bs=4k count=2 conv=fsync
         cd data
         dd if=/dev/zero of=before bs=512 count=1 seek=130 conv=notrunc
         printf 12345 >> a
         echo run > \"$FTLAB_PHASES\"
         mv a b
         (printf 678 >> b)
         truncate -s 4096 b
         rm before",
    );
    // `before` has two chunks of 128 sectors, `a` the third.
    assert_eq!(
        requests(&place),
        expected(&[
            ("write", 256, 8),
            ("write", 264, 8),
            ("flush", 0, 0),
            ("write", 130, 1),
            ("write", 272, 1),
            ("write", 272, 1),
            ("trim", 264, 120),
            ("trim", 0, 256),
        ])
    );
    assert_eq!(summary["device_bytes"], 3 * 65536);
    assert_eq!(summary["files"]["files_at_start"], 1);
    assert_eq!(summary["files"]["files_written"], 2);
    assert_eq!(summary["files"]["bytes_written"], 8192 + 512 + 8);
    assert_eq!(summary["phases_us"][1][0], "run");
    assert!(summary["warnings"].as_array().unwrap().is_empty(), "{summary}");
}

#[test]
fn sqlite_in_a_directory() {
    if !have(&["strace", "sqlite3"]) {
        return;
    }
    let place = Place::new();
    let summary = recorded(
        &place,
        r#"sqlite3 data/db "CREATE TABLE t(k INTEGER PRIMARY KEY, v BLOB);
               WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < 3000)
               INSERT INTO t SELECT i, randomblob(900) FROM n;
               DELETE FROM t WHERE k % 3 = 0; UPDATE t SET v = randomblob(900) WHERE k % 7 = 0;""#,
    );
    let database = fs::metadata(place.path().join("data/db")).unwrap().len();
    let distinct = summary["distinct_pages"].as_u64().unwrap();
    // Every page of the database was written, and those of journals that are gone.
    assert!(distinct * 4096 >= database, "{database} {summary}");
    assert!(summary["device_bytes"].as_u64().unwrap() >= database);
    let operations = requests(&place);
    let count = |name: &str| operations.iter().filter(|(op, ..)| op == name).count();
    assert!(count("flush") >= 9 && count("trim") >= 3, "{} {}", count("flush"), count("trim"));
    let written: u64 =
        operations.iter().filter(|(op, ..)| op == "write").map(|(.., sectors)| sectors * 512).sum();
    assert!(written >= summary["files"]["bytes_written"].as_u64().unwrap());
    let run = "run t.parquet --op 100% --pages-per-block 16 --ftl 2r++ --quiet --json";
    assert_eq!(place.ftlab(run).json()["runs"][0]["host_writes"], summary["page_writes"]);
}

#[test]
fn the_exit_status_and_what_the_command_prints_are_its_own() {
    if !have(&["strace"]) {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path().join("data")).unwrap();
    place.write("script.sh", "echo x > data/x; echo said; exit 7");
    let output = place.ftlab("record --dir data --out t.parquet -- sh script.sh");
    assert_eq!((output.code, output.stdout.as_str()), (7, "said\n"), "{}", output.stderr);
    assert!(output.stderr.contains("exit status 7"), "{}", output.stderr);
    let quiet = place.ftlab("record --dir data --out t.csv --quiet -- sh script.sh");
    assert_eq!((quiet.code, quiet.stderr.as_str()), (7, ""));
}

#[test]
fn a_write_through_a_mapping_is_said() {
    if !have(&["strace", "python3"]) {
        return;
    }
    let place = Place::new();
    let summary = recorded(
        &place,
        "python3 -c '
import mmap
with open(\"data/x\", \"w+b\") as file:
    file.write(bytes(4096))
    file.flush()
    mmap.mmap(file.fileno(), 4096)[0] = 1'",
    );
    let warning = summary["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("1 files were mapped for writing"), "{warning}");
}

#[test]
fn reads_and_streams_are_recorded_where_they_are_asked_for() {
    if !have(&["strace"]) {
        return;
    }
    let place = Place::new();
    fs::create_dir(place.path().join("data")).unwrap();
    place.write(
        "script.sh",
        "dd if=/dev/zero of=data/a.sst bs=4096 count=8 2> /dev/null
         dd if=/dev/zero of=data/b.log bs=4096 count=4 2> /dev/null
         dd if=data/a.sst of=/dev/null bs=8192 count=2 2> /dev/null",
    );
    let record =
        "record --dir data --reads --stream *.sst=1 --out t.parquet --json -- sh script.sh";
    let output = place.ftlab(record);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let inspection = place.ftlab("inspect t.parquet --json").json()["workloads"][0].clone();
    assert_eq!(inspection["requests"]["read"], 2, "{inspection}");
    assert_eq!(inspection["page_writes"], 12);
    let none = record.replace("*.sst=1", "*.none=1");
    let warning = place.ftlab(&none).json()["warnings"][0].clone();
    assert!(warning.as_str().unwrap().starts_with("no request was of a file"), "{warning}");
}
