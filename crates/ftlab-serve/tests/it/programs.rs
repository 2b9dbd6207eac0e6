//! Programs that others wrote.

use std::io::Write;
use std::process::Command;

/// Says why a test does nothing.
pub(crate) fn skip(why: &str) {
    // Not `eprintln!`, which is shown only if the test fails.
    std::io::stderr().write_all(format!("SKIPPED: {why}\n").as_bytes()).unwrap();
}

/// Whether every one of `programs` is here; says so if not.
pub(crate) fn have(programs: &[&str]) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<_> = std::env::split_paths(&path).collect();
    let found = |name: &str| directories.iter().any(|directory| directory.join(name).is_file());
    let missing: Vec<_> = programs.iter().copied().filter(|name| !found(name)).collect();
    if !missing.is_empty() {
        skip(&format!("{} not installed (make setup-drive)", missing.join(", ")));
    }
    missing.is_empty()
}

/// A Python that knows libnbd; reported if there is none.
pub(crate) fn python_with_libnbd() -> Option<&'static str> {
    let knows = |python: &&str| {
        let output = Command::new(python).args(["-c", "import nbd"]).output();
        output.is_ok_and(|output| output.status.success())
    };
    // The distribution's Python has the distribution's libraries.
    let found = ["/usr/bin/python3", "python3"].into_iter().find(knows);
    if found.is_none() {
        skip("libnbd for Python not installed (make setup-drive)");
    }
    found
}

/// The output of a program, and its exit status.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
}

pub(crate) fn run(program: &str, arguments: &[&str]) -> Run {
    let output = Command::new(program).args(arguments).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    Run { code: output.status.code(), output: String::from_utf8_lossy(&text).into_owned() }
}

impl Run {
    #[track_caller]
    pub(crate) fn succeeds(self) -> String {
        assert_eq!(self.code, Some(0), "{}", self.output);
        self.output
    }

    #[track_caller]
    pub(crate) fn fails(self) -> String {
        assert_ne!(self.code, Some(0), "{}", self.output);
        self.output
    }
}
