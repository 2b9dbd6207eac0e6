//! Pages as a reader sees them, in headless Chromium.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the browser's tests, if they can run; says aloud what is missing otherwise.
pub(crate) fn browser() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ftlab-report/browser");
    let chromium = std::env::var_os("CHROMIUM").unwrap_or_else(|| "/usr/bin/chromium".into());
    let runs = |program: &std::ffi::OsStr| {
        Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    let missing = [
        ("Node.js", !runs("node".as_ref())),
        ("Chromium", !runs(&chromium)),
        ("Playwright", !folder.join("node_modules/playwright-core").exists()),
    ];
    let missing: Vec<_> = missing.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
    if missing.is_empty() {
        return Some(folder);
    }
    let message =
        format!("SKIPPED: {} absent; `make setup-report` installs it\n", missing.join(" and "));
    std::io::stderr().write_all(message.as_bytes()).unwrap();
    None
}

/// Asserts that a script of that folder finds nothing wrong with a page.
#[track_caller]
pub(crate) fn check(folder: &Path, script: &str, page: &Path) {
    let check = Command::new("node").current_dir(folder).arg(script).arg(page).output().unwrap();
    let text = String::from_utf8_lossy(&check.stdout) + String::from_utf8_lossy(&check.stderr);
    assert!(check.status.success(), "{text}");
}
