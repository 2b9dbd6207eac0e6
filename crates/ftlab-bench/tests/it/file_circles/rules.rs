//! What counts as naming another file, on crates of a few lines.

use super::circles::{circles, describe};
use super::modules::Tree;
use super::names::uses;
use std::path::Path;

/// The circles of a crate that has these files.
fn found(files: &[(&str, &str)]) -> String {
    let read = |path: &Path| {
        let path = path.strip_prefix("src").ok()?;
        files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned())
    };
    let tree = Tree::load(Path::new("src/lib.rs"), &read);
    let uses = uses(&tree);
    describe(&tree, &uses, &circles(&uses))
}

#[test]
fn two_files_that_import_each_other_are_a_circle() {
    let circle = found(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "use crate::b::{B, make}; pub struct A;"),
        ("b.rs", "use super::a::A; pub struct B; pub fn make() {}"),
    ]);
    assert_eq!(
        circle,
        "a circle of 2 files:\n  a.rs takes B, make from b.rs\n  b.rs takes A from a.rs\n"
    );
}

#[test]
fn a_name_that_is_handed_on_leads_to_the_file_that_defines_it() {
    let circle = found(&[
        ("lib.rs", "mod a; mod deep; pub use deep::inner::Deep as Handed; pub use a::*;"),
        ("a.rs", "use crate::Handed; pub struct A;"),
        ("deep/mod.rs", "pub mod inner; pub use inner::Deep;"),
        ("deep/inner.rs", "pub struct Deep(crate::A);"),
    ]);
    assert!(circle.contains("a.rs takes Deep from deep/inner.rs"), "{circle}");
    assert!(circle.contains("deep/inner.rs takes A from a.rs"), "{circle}");
    assert_eq!(circle.lines().count(), 3, "declaring and handing on name nothing: {circle}");
}

#[test]
fn a_parent_and_its_child_may_be_a_circle() {
    let circle = found(&[
        ("lib.rs", "mod a;"),
        ("a/mod.rs", "mod child; pub use child::Child; pub struct Parent(Child);"),
        ("a/child.rs", "pub struct Child; fn of(parent: &super::Parent) {}"),
    ]);
    assert!(circle.contains("a/mod.rs takes Child from a/child.rs"), "{circle}");
    assert!(circle.contains("a/child.rs takes Parent from a/mod.rs"), "{circle}");
}

#[test]
fn the_shortest_circle_through_each_file_is_told() {
    let circle = found(&[
        ("lib.rs", "mod a; mod b; mod c; mod apart;"),
        ("a.rs", "pub fn a() { crate::b::b() }"),
        ("b.rs", "pub fn b() { crate::c::c() }"),
        ("c.rs", "pub fn c() { crate::a::a(); crate::apart::apart() }"),
        ("apart.rs", "pub fn apart() {}"),
    ]);
    let lines: Vec<_> = circle.lines().collect();
    assert_eq!(
        lines,
        [
            "a circle of 3 files:",
            "  a.rs takes b from b.rs",
            "  b.rs takes c from c.rs",
            "  c.rs takes a from a.rs"
        ]
    );
}

#[test]
fn paths_in_macros_attributes_and_bodies_count() {
    for other in [
        "fn f() { let _ = crate::a::A; }",
        "fn f() { assert!(crate::a::A == 1); }",
        "fn f() { use crate::a; println!(\"{}\", a::A); }",
        "#[serde(with = \"crate::a::A\")] struct S;",
        "#[arg(default_value_t = crate::a::A)] struct S;",
        "macro_rules! m { () => { $crate::a::A } }",
        "impl crate::a::T for u8 {}",
        "use crate::a::*; fn f() { let _: u8 = A; }",
        "fn f() { told!(); }",
    ] {
        let a = "pub const A: u8 = 1; pub trait T {} macro_rules! told { () => {} } fn f(_: B) {}";
        let circle = found(&[
            ("lib.rs", "#[macro_use] mod a; mod b;"),
            ("a.rs", &format!("use crate::b::B; {a}")),
            ("b.rs", &format!("pub struct B; {other}")),
        ]);
        assert!(circle.starts_with("a circle of 2 files"), "{other}: {circle}");
    }
}

#[test]
fn code_for_tests_fields_and_other_crates_do_not_count() {
    for other in [
        "#[cfg(test)] mod tests { use crate::a::A; }",
        "#[cfg(test)] use crate::a::A;",
        "impl B { #[cfg(test)] fn f() { crate::a::A; } }",
        "fn f(b: &B) { assert!(b.A == 1); }",
        "use std::a::A;",
        "/// [`A`](crate::a::A)\nfn f() {}",
        "pub(in crate::a) struct C;",
        "pub(crate) use crate::a::A;",
    ] {
        let circle = found(&[
            ("lib.rs", "mod a; mod b;"),
            ("a.rs", "use crate::b::B; pub const A: u8 = 1;"),
            ("b.rs", &format!("pub struct B; {other}")),
        ]);
        assert_eq!(circle, "", "{other}");
    }
}

#[test]
fn only_the_message_of_an_error_may_show_a_constant_of_any_file() {
    let with = |error: &str| {
        let circle = found(&[
            ("lib.rs", "mod error; mod limits;"),
            ("error.rs", error),
            ("limits.rs", "use crate::error::E; pub const MOST: u8 = 9; pub fn most() -> u8 { 9 }"),
        ]);
        !circle.is_empty()
    };
    assert!(!with("#[derive(Error)] pub enum E { #[error(\"{}\", crate::limits::MOST)] A }"));
    assert!(!with("use crate::limits::MOST; pub enum E { #[error(\"{MOST}{}\", MOST)] A }"));
    assert!(with("pub enum E { #[error(\"{}\", crate::limits::most())] A }"));
    assert!(with("pub enum E { A } fn f() -> u8 { crate::limits::MOST }"));
    assert!(with("use crate::limits::MOST; pub enum E { A } const N: u8 = MOST;"));
}
