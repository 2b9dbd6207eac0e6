//! `strace`: the system calls with which a program writes its files.
//!
//! ```text
//! strace -f -ttt -y -e trace=desc,file -o FILE COMMAND
//!
//! 41 17.250001 pwrite64(7</d/ib>, ""..., 16384, 49152) = 16384
//! pid seconds call(arguments) = result
//! ```
//!
//! # What is read
//! - `pwrite64`, `pwritev`, `pwritev2`, `write`, `writev`, the same of reading, and writes and reads
//!   within `io_submit`. Offsets and lengths are bytes; the length is the result, not what was asked.
//! - `fsync`, `fdatasync`, `msync`, `sync`, `syncfs` as flushes.
//! - `fallocate` that punches a hole or zeroes a range, and `ftruncate`, `truncate` or `O_TRUNC` that
//!   shortens a file whose end is known, as trims.
//!
//! Calls that are interrupted (`<unfinished ...>`) are put together when they resume. Each file is a
//! volume; files are one drive's, so they lie side by side unless `--volume` chooses one.
//!
//! # Where
//! Your own machine; for programs whose device cannot be traced.
//!
//! # Traps
//! - What a program writes through mapped memory or io_uring is not in the trace, nor is what the file
//!   system adds; without direct I/O the kernel merges and delays writes.
//! - `write` has no offset: the position is followed from `open`, `lseek` and the writes before. A file
//!   that was open before the trace began is at 0.
//! - `copy_file_range`, `sendfile` and `splice` are counted and not read.

mod call;
mod drive;

use super::{FormatInfo, Looks, first_lines};
use crate::input::{ItemParser, LineSource, Verdict};
use crate::{Input, OpenOptions, RequestBatch, TraceError, TraceSource};
use call::{Call, Line};
use drive::Files;
use ftlab_spec::{Parameters, Spec, Value};
use rustc_hash::FxHashMap;
use std::fmt;

/// A directory, or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory(pub String);

impl Value for Directory {
    fn expects() -> String {
        "an absolute path such as /var/lib/mysql".into()
    }

    fn parse(text: &str) -> Option<Self> {
        text.starts_with('/').then(|| Self(text.trim_end_matches('/').into()))
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

ftlab_spec::parameters! {
    /// Which files are kept.
    pub struct StraceParameters {
        /// Only files below this directory; empty for all files but those of /proc, /sys and /dev.
        below: Directory = Directory(String::new()), "below", from "the user knows the program";
    }
}

pub(super) const FORMAT: FormatInfo = FormatInfo {
    name: "strace",
    extensions: &["strace"],
    summary: "system calls that write files: strace -f -ttt -y",
    source: "strace(1)",
    parameters: StraceParameters::describe,
    detect,
    volumes_together: true,
    open,
};

fn open(
    input: Input,
    spec: &Spec,
    options: &OpenOptions,
) -> Result<Box<dyn TraceSource>, TraceError> {
    let StraceParameters { below } = StraceParameters::from_spec(spec)?;
    let parser =
        Parser { files: Files::new(below.0), unfinished: FxHashMap::default(), joined: Vec::new() };
    Ok(Box::new(LineSource::new(input, parser, spec.to_string(), options)))
}

/// Each of the first lines is one of strace, and at least one is a call.
fn detect(head: &[u8]) -> Looks {
    let lines: Vec<_> = first_lines(head, 20).into_iter().map(Line::parse).collect();
    let is_line = |line: &Option<Line<'_>>| line.is_some();
    let is_call = |line: &Option<Line<'_>>| {
        line.as_ref()
            .is_some_and(|line| line.unfinished().is_some() || Call::parse(line.text).is_some())
    };
    (lines.iter().all(is_line) && lines.iter().any(is_call)).into()
}

/// Calls that wait to be resumed at most; more is a sign that the file is something else.
const UNFINISHED_MAX: usize = 1 << 16;
const EXPECTED: &str = "\"PID SECONDS CALL(ARGUMENTS) = RESULT\", as strace -f -ttt prints it";

struct Parser {
    files: Files,
    /// The beginnings of calls that have not resumed, by process.
    unfinished: FxHashMap<u64, Vec<u8>>,
    /// A call put together from two lines.
    joined: Vec<u8>,
}

impl ItemParser for Parser {
    fn parse(&mut self, text: &[u8], batch: &mut RequestBatch) -> Verdict {
        if text.trim_ascii().is_empty() {
            return Verdict::Skip("blank line");
        }
        let Some(line) = Line::parse(text) else { return Verdict::Bad(EXPECTED) };
        if line.text.starts_with(b"+++") || line.text.starts_with(b"---") {
            return Verdict::Skip("exit or signal");
        }
        if let Some(beginning) = line.unfinished() {
            if self.unfinished.len() >= UNFINISHED_MAX {
                return Verdict::Bad("calls that resume: too many have not");
            }
            self.unfinished.insert(line.process, beginning.to_owned());
            return Verdict::Skip("call that resumes later");
        }
        if let Some(rest) = line.resumed() {
            let Some(beginning) = self.unfinished.remove(&line.process) else {
                return Verdict::Skip("call that began before the trace");
            };
            self.joined.clear();
            self.joined.extend_from_slice(&beginning);
            self.joined.extend_from_slice(rest);
            return match Call::parse(&self.joined) {
                Some(call) => self.files.apply(&call, line.time_us, batch),
                None => Verdict::Bad(EXPECTED),
            };
        }
        match Call::parse(line.text) {
            Some(call) => self.files.apply(&call, line.time_us, batch),
            None => Verdict::Bad(EXPECTED),
        }
    }

    fn volumes(&self) -> &[String] {
        self.files.names()
    }
}

#[cfg(test)]
mod tests;
