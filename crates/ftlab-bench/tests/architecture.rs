//! Holds the crates to the arrows of ARCHITECTURE.md.

mod packages;

use packages::packages;
use std::collections::BTreeSet;

/// What each crate may use of the workspace, besides `ftlab-spec`, which everyone may use.
const MAY_USE: [(&str, &[&str]); 16] = [
    ("ftlab-spec", &[]),
    ("ftlab-hardware", &[]),
    ("ftlab-flash", &[]),
    ("ftlab-ftl", &["ftlab-flash", "ftlab-hardware"]),
    ("ftlab-trace", &["ftlab-hardware"]),
    ("ftlab-model", &[]),
    ("ftlab-host", &["ftlab-flash", "ftlab-ftl"]),
    ("ftlab-machine", &["ftlab-flash", "ftlab-ftl", "ftlab-host"]),
    ("ftlab-sim", &["ftlab-flash", "ftlab-ftl", "ftlab-host", "ftlab-machine", "ftlab-trace"]),
    ("ftlab-lab", &["ftlab-flash", "ftlab-ftl", "ftlab-host", "ftlab-sim", "ftlab-trace"]),
    ("ftlab-record", &["ftlab-trace"]),
    ("ftlab-report", &["ftlab-sim", "ftlab-trace"]),
    ("ftlab-device", &["ftlab-flash", "ftlab-ftl", "ftlab-host", "ftlab-trace"]),
    (
        "ftlab-cli",
        &[
            "ftlab-device",
            "ftlab-ftl",
            "ftlab-hardware",
            "ftlab-lab",
            "ftlab-model",
            "ftlab-record",
            "ftlab-report",
            "ftlab-sim",
            "ftlab-trace",
        ],
    ),
    (
        "ftlab-python",
        &[
            "ftlab-cli",
            "ftlab-flash",
            "ftlab-ftl",
            "ftlab-lab",
            "ftlab-model",
            "ftlab-report",
            "ftlab-sim",
            "ftlab-trace",
        ],
    ),
    (
        "ftlab-bench",
        &[
            "ftlab-flash",
            "ftlab-ftl",
            "ftlab-host",
            "ftlab-lab",
            "ftlab-machine",
            "ftlab-sim",
            "ftlab-trace",
        ],
    ),
];

#[test]
fn crates_use_only_what_the_architecture_lets_them() {
    let packages = packages();
    let names: BTreeSet<_> =
        packages.iter().map(|package| package["name"].as_str().unwrap()).collect();
    let known: BTreeSet<_> = MAY_USE.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, known, "a crate is missing here or in ARCHITECTURE.md");
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let may_use = MAY_USE.iter().find(|(known, _)| *known == name).unwrap().1;
        for dependency in package["dependencies"].as_array().unwrap() {
            let used = dependency["name"].as_str().unwrap();
            // Tests may look further than the code that they test.
            if dependency["kind"] == "dev" || !used.starts_with("ftlab-") || used == "ftlab-spec" {
                continue;
            }
            assert!(may_use.contains(&used), "{name} must not use {used}");
        }
    }
}
