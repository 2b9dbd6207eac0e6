//! Every call by which a command and its children write files below a directory.
//!
//! strace reports the calls, with the path of each descriptor (`-y`), stopping the command only at
//! the calls of interest (`--seccomp-bpf`). [`call`] parses its lines, [`processes`] keeps the
//! position of every open file, [`tree`] the names and sizes, [`drive`] the place of each file. The
//! drive contains exactly the data of the files: a call is a request at once, as if there were no
//! page cache; deleting or truncating is a trim. Writes through memory mappings and io_uring are
//! not calls; both are detected and reported.

mod call;
mod calls;
mod drive;
mod processes;
mod tree;

use crate::RecordError;
use crate::capture::{Capture, Captured, Outlet, Stop, is_set};
use crate::streams::FileStream;
use crate::summary::FileTotals;
use call::{Call, Line, Lines};
use calls::Calls;
use ftlab_trace::RequestBatch;
use rustix::fs::{CWD, FileType, Mode, OFlags, fcntl_setfl, mknodat};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;
use tree::Tree;

/// Requests are forwarded after at most this many lines, so that progress is live.
const LINES_PER_BATCH: u32 = 256;
const PAUSE: Duration = Duration::from_millis(10);

/// What is recorded of the files.
pub(crate) struct Options<'a> {
    /// What requests name as streams, if there are any.
    pub(crate) streams: &'a [FileStream],
    /// Whether reads become requests.
    pub(crate) reads: bool,
}

/// Starts recording the files below `path`; times are microseconds since `start`.
pub(crate) fn start(
    path: &Path,
    options: &Options<'_>,
    start: Instant,
    sender: Sender<RequestBatch>,
    command: &[OsString],
) -> Result<(Capture, Option<Command>), RecordError> {
    let not_a_directory = |source| RecordError::NotADirectory { path: path.into(), source };
    let Options { streams, reads } = *options;
    let root = path.canonicalize().map_err(not_a_directory)?;
    let tree = Tree::new(&root, streams.to_vec()).map_err(|error| match error {
        RecordError::Io { source, .. } => not_a_directory(source),
        other => other,
    })?;
    let version = Command::new("strace").arg("--version").output();
    let version = version.map_err(|source| RecordError::NoStrace { source })?;
    let here = std::env::current_dir().map_err(|e| RecordError::io("the working directory", e))?;
    let broken = |error: std::io::Error| RecordError::io("the pipe of strace", error);
    let directory = tempfile::Builder::new().prefix("ftlab-").tempdir().map_err(broken)?;
    let pipe = directory.path().join("strace");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)
        .map_err(|e| broken(e.into()))?;
    let mut opening = OpenOptions::new();
    opening.read(true).custom_flags(OFlags::NONBLOCK.bits().cast_signed());
    let lines = opening.open(&pipe).map_err(broken)?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let start_us = now.saturating_sub(start.elapsed()).as_micros() as u64;
    let files_at_start = tree.count();
    let ended = Arc::new(AtomicBool::new(false));
    let reader = Reader { lines, ended: ended.clone(), _directory: directory };
    let here = here.to_string_lossy().into_owned();
    let thread = std::thread::spawn(move || {
        let calls = Calls::new(tree, here, start_us, reads);
        reader.run(calls, files_at_start, Outlet::new(sender))
    });
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.lines().next().unwrap_or("strace").to_owned();
    let mut properties = BTreeMap::from([
        ("directory".to_owned(), root.display().to_string()),
        ("source".to_owned(), format!("calls on files, {version}")),
    ]);
    if !streams.is_empty() {
        let streams: Vec<_> = streams.iter().map(ToString::to_string).collect();
        properties.insert("streams".to_owned(), streams.join(" "));
    }
    let capture = Capture { thread, stop: Box::new(CommandEnded(ended)), properties };
    Ok((capture, Some(strace(&pipe, reads, command))))
}

/// The command under strace, as our own child (`-D`), so that signals and its exit status are the
/// same as without strace.
fn strace(pipe: &Path, reads: bool, command: &[OsString]) -> Command {
    let more = if reads { format!(",{}", calls::TRACED_READS) } else { String::new() };
    let mut strace = Command::new("strace");
    strace.args(["-D", "-f", "--seccomp-bpf", "-ttt", "-y", "-s", "0", "-e", "signal=none"]);
    strace.args(["-e", "abbrev=!io_submit", "-e"]).arg(format!("trace={}{more}", calls::TRACED));
    strace.arg("-o").arg(pipe).arg("--").args(command);
    strace
}

/// The end of the pipe is the end of the trace: strace continues to write until the last child has
/// ended.
struct CommandEnded(Arc<AtomicBool>);

impl Stop for CommandEnded {
    fn stop(&mut self) -> Result<(), RecordError> {
        self.0.store(true, Ordering::Release);
        Ok(())
    }
}

impl Drop for CommandEnded {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

struct Reader {
    lines: File,
    ended: Arc<AtomicBool>,
    /// Holds the pipe.
    _directory: TempDir,
}

impl Reader {
    fn run(
        mut self,
        mut calls: Calls,
        files_at_start: u64,
        mut outlet: Outlet,
    ) -> Result<Captured, RecordError> {
        let broken = |error| RecordError::io("the pipe of strace", error);
        let first = self.first_bytes()?;
        fcntl_setfl(&self.lines, OFlags::empty()).map_err(|error| broken(error.into()))?;
        let mut pipe = BufReader::with_capacity(1 << 20, first.as_slice().chain(&self.lines));
        let mut lines = Lines::default();
        let mut unknown = Unknown::default();
        let mut line = Vec::new();
        let mut lines_of_batch = 0;
        let mut last_us = 0;
        while pipe.read_until(b'\n', &mut line).map_err(broken)? > 0 {
            let text = String::from_utf8_lossy(line.trim_ascii_end());
            if !take(&text, &mut lines, &mut calls, &mut last_us, outlet.batch()) {
                unknown.add(&text);
            }
            line.clear();
            lines_of_batch += 1;
            if lines_of_batch == LINES_PER_BATCH {
                lines_of_batch = 0;
                // Without a receiver the command continues, and strace must be read.
                let _ = outlet.send();
            }
        }
        let _ = outlet.send();
        let mut warnings = calls.blind_spots.warnings();
        warnings.extend(unknown.warning());
        Ok(Captured {
            device_bytes: calls.tree.drive.bytes(),
            files: Some(FileTotals {
                files_at_start,
                files_written: calls.tree.files_written(),
                bytes_written: calls.tree.bytes_written,
            }),
            warnings,
            ..Captured::default()
        })
    }

    /// Waits for the first line: until then the other end may not have been opened, and reading
    /// would return end of file.
    fn first_bytes(&mut self) -> Result<Vec<u8>, RecordError> {
        let mut bytes = vec![0; 4096];
        loop {
            let ended = is_set(&self.ended);
            match self.lines.read(&mut bytes) {
                // The other end is not open, and never will be.
                Ok(0) if ended => return Err(RecordError::StraceFailed),
                Ok(0) => std::thread::sleep(PAUSE),
                Ok(length) => {
                    bytes.truncate(length);
                    return Ok(bytes);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
                Err(error) => return Err(RecordError::io("the pipe of strace", error)),
            }
        }
    }
}

/// Processes a line; `false` if it is not understood.
fn take(
    text: &str,
    lines: &mut Lines,
    calls: &mut Calls,
    last_us: &mut u64,
    batch: &mut RequestBatch,
) -> bool {
    let cloning = lines.cloning().map(|(parent, call)| (parent, call.to_owned()));
    match lines.take(text) {
        Line::Call { pid, time_us, text } => {
            *last_us = time_us;
            if let Some((parent, call)) = cloning.filter(|_| !calls.processes.knows(pid)) {
                calls.early_child(parent, pid, &call);
            }
            let call = Call::parse(pid, time_us, text);
            call.map(|call| calls.take(&call, batch)).is_some()
        }
        Line::Exit { pid } => {
            calls.exit(pid, *last_us, batch);
            true
        }
        Line::Nothing => true,
        Line::Unknown => false,
    }
}

/// Lines that are not understood.
#[derive(Default)]
struct Unknown {
    count: u64,
    first: String,
}

impl Unknown {
    fn add(&mut self, text: &str) {
        if self.count == 0 {
            self.first = text.chars().take(120).collect();
        }
        self.count += 1;
    }

    fn warning(&self) -> Option<String> {
        let Self { count, first } = self;
        (*count > 0)
            .then(|| format!("{count} lines of strace were not understood, first {first:?}"))
    }
}
