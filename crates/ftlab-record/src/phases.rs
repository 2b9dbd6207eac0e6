//! Phases, marked by the command itself.
//!
//! The environment variable [`VARIABLE`] names a pipe; each line that the command writes there
//! (`echo run > "$FTLAB_PHASES"`) names the phase that begins.

use crate::RecordError;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Instant;
use tempfile::TempDir;

/// The environment variable that names the pipe.
pub(crate) const VARIABLE: &str = "FTLAB_PHASES";

/// The line that ends the thread: not a name that anybody would use.
const END: &str = "\0";
const NAME_CHARS_MAX: usize = 64;

/// The pipe, and the thread that reads it.
pub(crate) struct Phases {
    directory: TempDir,
    thread: JoinHandle<Vec<(String, u64)>>,
    writer: File,
}

impl Phases {
    /// Creates the pipe; times are microseconds since `start`.
    pub(crate) fn new(start: Instant) -> Result<Self, RecordError> {
        let broken = |error: std::io::Error| RecordError::io("the pipe for phases", error);
        let directory = tempfile::Builder::new().prefix("ftlab-").tempdir().map_err(broken)?;
        let path = directory.path().join("phases");
        mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
            .map_err(|error| broken(error.into()))?;
        // The command may run as another user.
        for (path, mode) in [(directory.path(), 0o711), (&path, 0o622)] {
            fs::set_permissions(path, Permissions::from_mode(mode)).map_err(broken)?;
        }
        // Open for reading and writing, so that the pipe never ends and opening it never blocks.
        let pipe = OpenOptions::new().read(true).write(true).open(&path).map_err(broken)?;
        let writer = pipe.try_clone().map_err(broken)?;
        let thread = std::thread::spawn(move || read(pipe, start));
        Ok(Self { directory, thread, writer })
    }

    /// The value of [`VARIABLE`].
    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("phases")
    }

    /// Every phase and its beginning.
    pub(crate) fn finish(mut self) -> Vec<(String, u64)> {
        let told = self.writer.write_all(format!("{END}\n").as_bytes()).is_ok();
        if told { self.thread.join().unwrap_or_default() } else { Vec::new() }
    }
}

fn read(pipe: File, start: Instant) -> Vec<(String, u64)> {
    let mut phases = Vec::new();
    for line in BufReader::new(pipe).split(b'\n') {
        let time_us = start.elapsed().as_micros() as u64;
        let Ok(line) = line else { break };
        if line == END.as_bytes() {
            break;
        }
        let line = String::from_utf8_lossy(&line);
        let name: String = line.trim().chars().take(NAME_CHARS_MAX).collect();
        if !name.is_empty() {
            phases.push((name, time_us));
        }
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_phases_in_order() {
        let phases = Phases::new(Instant::now()).unwrap();
        for name in ["load", "", "  run  "] {
            fs::write(phases.path(), format!("{name}\n")).unwrap();
        }
        let path = phases.path();
        let phases = phases.finish();
        let names: Vec<_> = phases.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["load", "run"]);
        assert!(phases[0].1 <= phases[1].1 && !path.exists());
    }
}
