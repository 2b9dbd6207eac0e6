//! What can be wrong with a trace.

use ftlab_spec::SpecError;
use std::io;
use thiserror::Error;

/// Why a trace cannot be read, written or generated; the message names the value, the limit and
/// the remedy.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum TraceError {
    /// The file cannot be opened, read or written.
    #[error("{name}: {source}")]
    Io {
        name: String,
        /// What the operating system or the decompressor says.
        source: io::Error,
    },
    /// The file cannot be written to its end: the disk is full, or a limit is reached.
    #[error("{name}: {source}; {left}")]
    NotWritten {
        name: String,
        /// What the operating system says.
        source: io::Error,
        /// What is left of it, and how to go on.
        left: String,
    },
    /// A format, generator or parameter that does not exist, or a value out of range.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The content is of no known format.
    #[error("{name}: the content is of no format that is recognised by itself ({looks}); {remedy}")]
    UnknownContent {
        name: String,
        /// What it looks like.
        looks: String,
        /// What to do about it; formats and what each is.
        remedy: String,
    },
    /// The content could be of several formats, or of one that nothing proves.
    #[error("{name}: the content {verdict}; say which with --format NAME: {candidates}")]
    Ambiguous {
        name: String,
        /// Whether it fits one format or several.
        verdict: &'static str,
        /// Formats that it fits, and what each is.
        candidates: String,
    },
    /// A line (or record) cannot be understood.
    #[error(
        "{name}, {unit} {line}: {text:?} is wrong: expected {expected}; fix it, or tolerate a share of such {unit}s with --skip-bad PERCENT"
    )]
    Malformed {
        name: String,
        /// `line`, or `record` in binary formats.
        unit: &'static str,
        /// Number from 1.
        line: u64,
        /// The line, cut if long.
        text: String,
        /// What would be right.
        expected: String,
    },
    /// More lines (or records) than tolerated cannot be understood.
    #[error(
        "{name}: {bad} of {lines} {unit}s are wrong, more than the tolerated {percent}%; the first is {unit} {line}: {text:?}, expected {expected}; check --format, or raise --skip-bad"
    )]
    TooManyBad {
        name: String,
        /// `line`, or `record` in binary formats.
        unit: &'static str,
        /// Wrong lines so far.
        bad: u64,
        /// Lines read so far.
        lines: u64,
        /// What is tolerated.
        percent: f64,
        /// The first wrong line's number.
        line: u64,
        /// The first wrong line, cut if long.
        text: String,
        /// What would be right there.
        expected: String,
    },
    /// The line (or record) is well formed and asks for something that would give a wrong result.
    #[error("{name}, {unit} {line}: {reason}; {remedy}")]
    Refused {
        name: String,
        /// `line`, or `record` in binary formats.
        unit: &'static str,
        /// Number from 1.
        line: u64,
        /// What cannot be done.
        reason: String,
        /// What to do instead.
        remedy: String,
    },
    /// Not one request came out of the file.
    #[error(
        "{name}: no requests in {lines} {unit}s ({skipped}); {}",
        remedy.as_deref().unwrap_or("check --format, its parameters and --map")
    )]
    NoRequests {
        name: String,
        /// `line`, or `record` in binary formats.
        unit: &'static str,
        /// How many were read.
        lines: u64,
        /// Why they were passed over.
        skipped: String,
        /// What to do about it, if that is known.
        remedy: Option<String>,
    },
    /// The end that is asked for counts page writes, and none come.
    #[error("{name}: {what}; {remedy}")]
    NoPageWrites {
        name: String,
        /// How long none came.
        what: String,
        /// What to do about it.
        remedy: &'static str,
    },
    /// A conversion has no request to write.
    #[error(
        "nothing to write: {}",
        if *taken == 0 {
            format!("that part of the trace ({format}) has no requests; take an earlier \
                     --from-phase, or a --limit of 1 or more")
        } else {
            format!("the format has no place for any of the {taken} requests; write parquet, \
                     which keeps everything")
        }
    )]
    NothingToWrite {
        /// Format of the trace that was read.
        format: String,
        /// Requests that were read.
        taken: u64,
    },
    /// A binary file ends in the middle of a record, or is damaged.
    #[error("{name}: {what}; {remedy}")]
    Damaged {
        name: String,
        /// What is wrong, with the numbers.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A column of a Parquet file is missing or of another type.
    #[error(
        "{name}: {what}; the native form has the columns t_us u64 (optional), op u8, lba u64, sectors u32, and optionally stream u16, volume u32"
    )]
    Column {
        name: String,
        /// Which column, and what was found.
        what: String,
    },
    /// A request ends beyond the last address that 64 bits can name.
    #[error(
        "a request of {sectors} sectors at sector {lba} ends beyond 2^64 sectors; the trace is damaged or read with the wrong --format"
    )]
    AddressOverflow {
        /// First sector.
        lba: u64,
        /// Length in sectors.
        sectors: u32,
    },
    /// A page size that is not a multiple of the sector.
    #[error(
        "a page of {page_bytes} bytes is not a multiple of 512 bytes, at least 512; 4096 is usual"
    )]
    PageSize {
        /// What was asked for.
        page_bytes: u64,
    },
    /// More memory than there is.
    #[error(
        "{what} needs {} of memory, and {} are available; {remedy}",
        gib(*needed_bytes),
        gib(*available_bytes)
    )]
    Memory {
        /// What needs it.
        what: String,
        /// How much it needs.
        needed_bytes: u64,
        /// How much there is.
        available_bytes: u64,
        /// How to need less.
        remedy: String,
    },
    /// Something that a format or generator cannot do.
    #[error("{what}; {remedy}")]
    Unsupported {
        /// What was asked for.
        what: String,
        /// What to do instead.
        remedy: String,
    },
}

impl TraceError {
    /// An input or output error of `name`; of a file that is made, nothing is left.
    pub fn io(name: &str, source: io::Error) -> Self {
        match room(&source) {
            Some(remedy) => Self::NotWritten {
                name: name.into(),
                source,
                left: format!("{NOTHING_LEFT}; {remedy} or choose another, and repeat the command"),
            },
            None => Self::Io { name: name.into(), source },
        }
    }

    /// An error of the parquet library.
    pub(crate) fn parquet(name: &str, source: impl std::fmt::Display) -> Self {
        Self::Damaged {
            name: name.into(),
            what: format!("not a readable Parquet file: {source}"),
            remedy: "check that the file is complete".into(),
        }
    }
}

/// What is left of a file that is not kept if it cannot be completed.
const NOTHING_LEFT: &str = "nothing of it is kept, and a file that had this name is as it was";

/// How to make room, if `error` is that there is none.
pub fn room(error: &io::Error) -> Option<&'static str> {
    match error.kind() {
        io::ErrorKind::StorageFull => Some("make room on its disk"),
        io::ErrorKind::QuotaExceeded => Some("free some of the quota"),
        io::ErrorKind::FileTooLarge => Some("raise the limit of file sizes (ulimit -f)"),
        _ => None,
    }
}

fn gib(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

/// A line as it is shown in a message: lossy text, at most 120 characters.
pub fn excerpt(line: &[u8]) -> String {
    const SHOWN: usize = 120;
    let text = String::from_utf8_lossy(&line[..line.len().min(4 * SHOWN)]);
    if text.chars().count() <= SHOWN && line.len() <= 4 * SHOWN {
        return text.into_owned();
    }
    text.chars().take(SHOWN).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_lossy() {
        assert_eq!(excerpt(b"W 8"), "W 8");
        assert_eq!(excerpt(b"\xff"), "\u{fffd}");
        assert_eq!(excerpt(&[b'x'; 1000]), format!("{}...", "x".repeat(120)));
    }

    #[test]
    fn a_full_disk_is_an_error_with_a_remedy() {
        for (code, remedy) in [
            (28, "make room on its disk"),
            (122, "free some of the quota"),
            (27, "raise the limit of file sizes (ulimit -f)"),
        ] {
            let error = TraceError::io("t", io::Error::from_raw_os_error(code)).to_string();
            assert!(error.contains(remedy) && error.contains(NOTHING_LEFT), "{error}");
        }
        let other = TraceError::io("t", io::Error::from_raw_os_error(5)).to_string();
        assert_eq!(other, "t: Input/output error (os error 5)");
    }

    #[test]
    fn errors_stay_small() {
        assert!(size_of::<TraceError>() <= 128, "{}", size_of::<TraceError>());
    }
}
