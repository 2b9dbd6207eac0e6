//! The documentation as a reader sees it, if `make docs` has built it.

use crate::common::browser::{browser, check};
use std::io::Write;
use std::path::Path;

#[test]
fn no_page_is_wider_than_a_window() {
    let Some(folder) = browser() else { return };
    let pages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/docs/html");
    if !pages.join("index.html").exists() {
        let message = "SKIPPED: the documentation is not built; `make docs` builds it\n";
        return std::io::stderr().write_all(message.as_bytes()).unwrap();
    }
    check(&folder, "docs.mjs", &pages);
}
