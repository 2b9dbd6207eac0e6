//! Runs the binary as a user does.
#![cfg_attr(not(feature = "full"), allow(dead_code, reason = "tests of features use the rest"))]

pub(crate) mod browser;
pub(crate) mod running;

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// The results of a command.
pub(crate) struct Output {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Output {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}: {:?}\n{}", self.stdout, self.stderr))
    }

    /// Asserts that the command failed with `code` with every one of `parts` in its message; a command that was
    /// wrong (2) prints nothing on standard output.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, parts: &[&str]) {
        assert_eq!(self.code, code, "{}{}", self.stdout, self.stderr);
        // The help of options wraps messages at blanks.
        let message = self.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
        assert!(code != 2 || self.stdout.is_empty(), "{}", self.stdout);
    }
}

/// A directory to work in.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path().join(name), content).unwrap();
    }

    /// `ftlab` with these arguments, separated by blanks.
    pub(crate) fn ftlab(&self, arguments: &str) -> Output {
        self.ftlab_with_input(arguments, b"")
    }

    pub(crate) fn ftlab_with_input(&self, arguments: &str, input: &[u8]) -> Output {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that fails early does not read its input.
        let _ = child.stdin.take().unwrap().write_all(input);
        let output = child.wait_with_output().unwrap();
        Output {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ftlab"));
        command.current_dir(self.path()).args(arguments.split_whitespace());
        self.kept_here(command)
    }

    /// A command that keeps here what is kept of a user.
    pub(crate) fn kept_here(&self, mut command: Command) -> Command {
        command.env("XDG_CACHE_HOME", self.path().join("cache"));
        command
    }
}

/// What the binary says of itself: its version, with the commit that it was built from, if that is known.
pub(crate) fn written_by() -> String {
    let commit = match env!("FTLAB_COMMIT") {
        "" => String::new(),
        commit => format!(" ({commit})"),
    };
    format!("ftlab {}{commit}", env!("CARGO_PKG_VERSION"))
}

/// A golden sequence or captured trace, which is too large to ship; `None`, with a message, where it is
/// absent.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("FTLAB_SHARED").map(|folder| PathBuf::from(folder).join(name));
    if let Some(path) = path.filter(|path| path.exists()) {
        return Some(path);
    }
    let message = format!(
        "SKIPPED: {name} is absent; set FTLAB_SHARED to the folder that holds traces and golden\n"
    );
    // Not `eprintln!`, which is shown only if the test fails.
    std::io::stderr().write_all(message.as_bytes()).unwrap();
    None
}
