//! The packages of the workspace, as cargo knows them.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// What cargo says.
fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .arg("--offline")
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The packages of `cargo metadata`, dependencies left out.
pub(crate) fn packages() -> Vec<Value> {
    let metadata = cargo(&["metadata", "--format-version", "1", "--no-deps"]);
    let metadata: Value = serde_json::from_str(&metadata).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

/// What a build compiles: packages and their features, of dependencies too.
pub(crate) fn compiled(selection: &[&str]) -> BTreeSet<String> {
    let arguments = [&["tree", "--prefix", "none", "--format", "{p} {f}"], selection].concat();
    // What it has listed before is marked.
    cargo(&arguments).lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}
