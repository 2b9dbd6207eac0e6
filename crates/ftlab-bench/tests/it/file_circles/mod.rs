//! Holds the files of a crate to an order: no circle of files that name each other.
//!
//! A file names another where a path in its code, a macro or an attribute leads there, or where it
//! imports a name. A name that is handed on (`pub use`) leads to the file that defines it; handing it on,
//! and declaring a module, names nothing. Code for tests is left out.
//!
//! One exception: the message of an error, `#[error(...)]`, may show a constant of any file.

mod circles;
mod modules;
mod names;
mod rules;

use crate::packages::packages;
use circles::{circles, describe};
use modules::Tree;
use names::uses;
use std::fs;
use std::path::Path;

/// The roots of libraries and programs of the workspace.
fn roots() -> Vec<String> {
    let kinds = ["lib", "cdylib", "bin"];
    let mut roots = Vec::new();
    for package in packages() {
        let targets = package["targets"].as_array().unwrap().iter();
        let of_package = targets
            .filter(|target| kinds.iter().any(|kind| target["kind"][0] == *kind))
            .map(|target| target["src_path"].as_str().unwrap().to_owned());
        let before = roots.len();
        roots.extend(of_package);
        assert!(roots.len() > before, "{} has neither library nor program", package["name"]);
    }
    roots
}

#[test]
fn no_files_of_a_crate_name_each_other_in_a_circle() {
    let mut found = Vec::new();
    for root in roots() {
        let tree = Tree::load(Path::new(&root), &|path| fs::read_to_string(path).ok());
        let uses = uses(&tree);
        let circles = circles(&uses);
        if !circles.is_empty() {
            found.push(format!("{root}\n{}", describe(&tree, &uses, &circles)));
        }
    }
    assert!(
        found.is_empty(),
        "files name each other in circles; move what both need into a file below them\n\n{}",
        found.join("\n")
    );
}
