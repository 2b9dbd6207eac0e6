//! Holds the crates to the arrows of ARCHITECTURE.md.

use crate::packages::packages;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// What each crate may use of the workspace, besides `ftlab-spec`, which everyone may use.
const MAY_USE: [(&str, &[&str]); 25] = [
    ("ftlab-spec", &[]),
    ("ftlab-memory", &[]),
    ("ftlab-flash", &[]),
    ("ftlab-ftl", &["ftlab-flash", "ftlab-memory"]),
    ("ftlab-trace", &[]),
    ("ftlab-random", &[]),
    ("ftlab-fio", &["ftlab-random", "ftlab-trace"]),
    ("ftlab-workload", &["ftlab-fio", "ftlab-memory", "ftlab-random", "ftlab-trace"]),
    ("ftlab-analysis", &["ftlab-trace"]),
    ("ftlab-model", &[]),
    ("ftlab-host", &["ftlab-flash", "ftlab-ftl"]),
    ("ftlab-stack", &["ftlab-flash", "ftlab-ftl", "ftlab-host"]),
    (
        "ftlab-feed",
        &[
            "ftlab-analysis",
            "ftlab-flash",
            "ftlab-ftl",
            "ftlab-host",
            "ftlab-stack",
            "ftlab-trace",
            "ftlab-workload",
        ],
    ),
    (
        "ftlab-sim",
        &[
            "ftlab-analysis",
            "ftlab-feed",
            "ftlab-flash",
            "ftlab-ftl",
            "ftlab-host",
            "ftlab-memory",
            "ftlab-stack",
            "ftlab-trace",
            "ftlab-workload",
        ],
    ),
    (
        "ftlab-experiments",
        &[
            "ftlab-analysis",
            "ftlab-flash",
            "ftlab-ftl",
            "ftlab-host",
            "ftlab-memory",
            "ftlab-sim",
            "ftlab-trace",
            "ftlab-workload",
        ],
    ),
    (
        "ftlab-fleet",
        &["ftlab-experiments", "ftlab-random", "ftlab-sim", "ftlab-trace", "ftlab-volumes"],
    ),
    ("ftlab-volumes", &["ftlab-analysis", "ftlab-random", "ftlab-trace"]),
    ("ftlab-record", &["ftlab-trace"]),
    ("ftlab-report", &["ftlab-analysis", "ftlab-sim", "ftlab-trace"]),
    ("ftlab-drive", &["ftlab-flash", "ftlab-ftl", "ftlab-host", "ftlab-trace"]),
    ("ftlab-serve", &["ftlab-drive", "ftlab-flash", "ftlab-ftl", "ftlab-trace"]),
    (
        "ftlab-cli",
        &[
            "ftlab-analysis",
            "ftlab-drive",
            "ftlab-experiments",
            "ftlab-fleet",
            "ftlab-ftl",
            "ftlab-memory",
            "ftlab-model",
            "ftlab-record",
            "ftlab-report",
            "ftlab-serve",
            "ftlab-sim",
            "ftlab-trace",
            "ftlab-workload",
        ],
    ),
    (
        "ftlab-python",
        &[
            "ftlab-analysis",
            "ftlab-experiments",
            "ftlab-flash",
            "ftlab-ftl",
            "ftlab-model",
            "ftlab-report",
            "ftlab-sim",
            "ftlab-trace",
            "ftlab-workload",
        ],
    ),
    ("ftlab-wheel", &["ftlab-cli", "ftlab-python"]),
    (
        "ftlab-bench",
        &[
            "ftlab-experiments",
            "ftlab-flash",
            "ftlab-ftl",
            "ftlab-host",
            "ftlab-sim",
            "ftlab-stack",
            "ftlab-trace",
            "ftlab-workload",
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

/// What `make demo` has no use for. It costs the first build most of its time, and comes back with one line of a
/// manifest: a dependency that is not optional, or a feature that is on by default.
const NOT_IN_THE_DEMO: [&str; 21] = [
    "askama",
    "cc",
    "clap_mangen",
    "ftlab-drive",
    "ftlab-experiments",
    "ftlab-fio",
    "ftlab-fleet",
    "ftlab-model",
    "ftlab-record",
    "ftlab-report",
    "ftlab-serve",
    "ftlab-volumes",
    "jsonschema",
    "plotters",
    "resvg",
    "ring",
    "svg2pdf",
    "tokio",
    "toml",
    "zip",
    "zstd-sys",
];

/// Packages of the demo, its own crates among them. One more is a decision: measure it with `make build-times`.
const DEMO_PACKAGES_MAX: usize = 99;

#[test]
fn the_demo_is_built_of_little() {
    let tree = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--offline", "--package", "ftlab-cli"])
        .args(["--edges", "normal,build", "--prefix", "none", "--format", "{p}"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).unwrap();
    let names: BTreeSet<_> = text.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(names.contains("ftlab-sim"), "{text}");
    for name in NOT_IN_THE_DEMO {
        assert!(
            !names.contains(name),
            "`make demo` builds {name}; give ftlab-cli's feature `lab` its part"
        );
    }
    assert!(names.len() <= DEMO_PACKAGES_MAX, "`make demo` builds {} packages", names.len());
}

/// Where the engine is compiled for every policy: for simulations, and to measure it.
const COMPILE_EVERY_POLICY: [&str; 2] = ["ftlab-bench", "ftlab-stack"];

/// Elsewhere `registry::build_boxed` will do; each crate more, or its tests, is up to a minute of every build.
#[test]
fn the_engine_is_compiled_for_every_policy_where_speed_matters() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let compiles = |folder: &Path| {
        ["registry::build(", "registry::build as ", "registry::build;", "registry::{build,"]
            .iter()
            .any(|call| some_source_has(folder, call))
    };
    let folders = fs::read_dir(&crates).unwrap().map(|entry| entry.unwrap().path());
    let found: BTreeSet<_> = folders
        .filter(|folder| compiles(folder))
        .map(|folder| folder.file_name().unwrap().to_string_lossy().into_owned())
        .collect();
    assert_eq!(found, COMPILE_EVERY_POLICY.map(str::to_owned).into());
}

/// Whether a file of Rust below `folder` has `text` in it.
fn some_source_has(folder: &Path, text: &str) -> bool {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return some_source_has(&path, text);
        }
        path.extension().is_some_and(|extension| extension == "rs")
            && fs::read_to_string(&path).unwrap().contains(text)
    })
}
