//! `ftlab tune`: what it hands over to Python, and what it says where that is missing.

use crate::common::{Output, Place};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// `ftlab` with an interpreter that is this script.
fn ftlab_over(script: &str, arguments: &str) -> Output {
    let place = Place::new();
    place.write("python", format!("#!/bin/sh\n{script}\n"));
    let path = place.path().join("python");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = place.command(arguments);
    let output = command.env("FTLAB_PYTHON", path).output().unwrap();
    Output {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn what_was_typed_is_handed_over_by_name() {
    let arguments = "tune 2r++ t.parquet --metadata-budget 4B/page --space blk-util=0.3..0.7 --fix \
        regions=3 --space scan-depth=0..1 --gc-start 5% --wrap --compact --volume a --json -q";
    let handed = ftlab_over("test \"$1\" = -c && printf '%s' \"$3\"; exit 3", arguments);
    assert_eq!(handed.code, 3, "the exit status is the interpreter's");
    let expected = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "ftl": "2r++",
        "workload": "t.parquet",
        "metadata_budget": "4B/page",
        "space": ["blk-util=0.3..0.7", "scan-depth=0..1"],
        "fix": ["regions=3"],
        "gc_start": "5%",
        "wrap": true,
        "compact": "page",
        "volume": ["a"],
        "json": true,
        "quiet": true,
    });
    assert_eq!(handed.json(), expected);
}

#[test]
fn what_is_wrong_is_said_before_python_is_asked() {
    let place = Place::new();
    for (arguments, parts) in [
        ("tune 2r++", ["required", "<WORKLOAD>"]),
        ("tune 2r++ uniform --metadata-budget 4B/sector", ["--metadata-budget", "such as 4B/page"]),
        ("tune 2r++ uniform --trials 0", ["--trials", "a whole number of at least 1"]),
        ("tune 2r++ uniform --op 10% --blocks 9", ["--op", "cannot be used with"]),
    ] {
        place.ftlab(arguments).fails(2, &parts);
    }
}

#[test]
fn an_interpreter_or_package_that_is_missing_is_named_with_a_remedy() {
    // Without the folders where packages are installed.
    ftlab_over("exec python3 -I -S \"$@\"", "tune 2r++ uniform --logical 16MiB")
        .fails(1, &["cannot import ftlab's search", "pip install '.[tune]'", "FTLAB_PYTHON"]);

    let place = Place::new();
    let mut command = place.command("tune 2r++ uniform --logical 16MiB");
    let output = command.env("FTLAB_PYTHON", "no-such-python").output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("no-such-python: there is no such program"), "{text}");
    assert!(text.contains("pip install '.[tune]'"), "{text}");
}

#[test]
fn the_package_tunes_where_it_is_built() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/python/bin/python");
    let script = format!("exec {} \"$@\"", python.display());
    if !python.exists() {
        eprintln!("skipped: `make python` builds the package that this needs");
        return;
    }
    let arguments = "tune 2r-fifo hotcold:writes=0.9,pages=0.1 --logical-pages 8192 --pages-per-block 32 \
        --fill random --trials 8 --metadata-budget 64B/block --validate rest --writes 16384 --json";
    let tuned = ftlab_over(&script, arguments);
    assert_eq!(tuned.code, 0, "{}", tuned.stderr);
    let (best, default) = (&tuned.json()["best"]["waf"], &tuned.json()["default"]["waf"]);
    assert!(best.as_f64().unwrap() <= default.as_f64().unwrap(), "{}", tuned.stdout);
    assert!(tuned.stderr.contains("after its first 16,384 page writes"), "{}", tuned.stderr);
}
