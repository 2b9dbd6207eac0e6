//! Holds the crates to what a registry asks of a package, and to one version.

use crate::packages::{compiled, packages};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What says what the registry shows.
const FIELDS: [&str; 6] =
    ["description", "license", "readme", "rust_version", "keywords", "categories"];

/// What is not for the registry: benchmarks, and what makes the Python package.
const PRIVATE: [&str; 3] = ["ftlab-bench", "ftlab-python", "ftlab-wheel"];

#[test]
fn every_crate_can_be_packaged() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        for field in FIELDS {
            let value = &package[field];
            let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
            let key = field.replace('_', "-");
            assert!(!is_empty, "{name} has no {key}; {key}.workspace = true gives it one");
        }
        let folder = Path::new(package["manifest_path"].as_str().unwrap()).parent().unwrap();
        for file in ["LICENSE-APACHE", "LICENSE-MIT"] {
            let has = fs::read(folder.join(file)).unwrap_or_default();
            let text = fs::read(folder.join("../..").join(file)).unwrap();
            assert!(has == text, "{name} lacks a symbolic link {file} to ../../{file}");
        }
        let is_private = package["publish"].as_array().is_some_and(Vec::is_empty);
        assert_eq!(is_private, PRIVATE.contains(&name), "whether {name} is published");
    }
}

#[test]
fn crates_and_citation_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        assert_eq!(package["version"], version, "{name}");
        for used in package["dependencies"].as_array().unwrap() {
            if used["path"].is_string() {
                let wants = used["req"].as_str().unwrap();
                assert_eq!(wants, format!("^{version}"), "{name} uses {}", used["name"]);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let citation = fs::read_to_string(root.join("CITATION.cff")).unwrap();
    assert!(
        citation.lines().any(|line| line == format!("version: {version}")),
        "CITATION.cff is not of version {version}"
    );
}

#[test]
fn an_image_holds_the_program_and_is_the_same_whenever_it_is_made() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("program");
    fs::write(&program, "#!/bin/sh\necho hello\n").unwrap();
    let image = |arguments: &[&str]| {
        let script =
            Command::new("python3").arg(root.join("scripts/image.py")).args(arguments).output();
        let output = script.unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), errors)
    };
    let of = |name: &str| place.path().join(name).display().to_string();
    for name in ["one.tar", "other.tar"] {
        let packed = image(&["pack", &of("program"), "1.2.3", &of(name)]);
        assert!(packed.0, "{}", packed.1);
    }
    let bytes = fs::read(place.path().join("one.tar")).unwrap();
    assert_eq!(bytes, fs::read(place.path().join("other.tar")).unwrap());
    let unpacked = image(&["unpack", &of("one.tar"), &of("root")]);
    assert!(unpacked.0, "{}", unpacked.1);
    let inside = place.path().join("root/usr/bin/ftlab");
    assert_eq!(fs::read(&inside).unwrap(), fs::read(&program).unwrap());
    assert_eq!(Command::new(&inside).output().unwrap().stdout, b"hello\n");
    // One byte of a layer is another.
    let at = bytes.windows(2).position(|pair| pair == [0x1f, 0x8b]).unwrap();
    let mut damaged = bytes;
    damaged[at + 20] ^= 1;
    fs::write(place.path().join("damaged.tar"), damaged).unwrap();
    let (is_unpacked, error) = image(&["unpack", &of("damaged.tar"), &of("again")]);
    assert!(!is_unpacked && error.contains("make the image again"), "{error}");
}

/// Otherwise `make test-python` compiles most of the workspace once more, after `make test`.
#[test]
fn the_python_package_is_built_from_what_the_tests_compile() {
    let module = "extension-module";
    let python = ["--package", "ftlab-wheel", "--features", module, "--edges", "normal,build"];
    let features = format!("ftlab-cli/full,ftlab-wheel/{module}");
    let tests = ["--workspace", "--features", &features, "--edges", "normal,build,dev"];
    let (python, tests) = (compiled(&python), compiled(&tests));
    let apart: Vec<_> = python.difference(&tests).collect();
    assert!(
        apart.is_empty(),
        "the tests turn on other features than {apart:?}: add theirs to crates/ftlab-python/Cargo.toml"
    );
    assert!(python.iter().any(|line| line.starts_with("ftlab-sim ")), "{python:?}");
}
