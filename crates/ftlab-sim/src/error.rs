//! Why an experiment cannot be run.

use crate::format::{bytes, grouped};
use ftlab_flash::GeometryError;
use ftlab_ftl::registry::BuildError;
use ftlab_spec::{ByteSize, SpecError, did_you_mean};
use ftlab_stack::StackError;
use ftlab_trace::{TraceError, files_beside};
use std::path::Path;
use thiserror::Error;

/// Why an experiment cannot be set up or run; the message names the value, the limit and the
/// remedy.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum SimError {
    /// A name or value that does not parse.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The trace or generator.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The FTL does not exist, or does not work on a drive of this size.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The flash cannot be.
    #[error("{0}; see --page-size, --pages-per-block and --logical")]
    Geometry(#[from] GeometryError),
    /// Neither a file nor a generator.
    #[error(
        "unknown workload {text:?}: there is no such file{}, and the generators are {}; a name \
         with a path separator is always a file, as in ./{text}",
        near(text, generators),
        generators.join(", ")
    )]
    UnknownWorkload {
        /// What was typed.
        text: String,
        generators: Vec<String>,
    },
    /// No FTL was named, or one twice.
    #[error("{what}; {remedy}")]
    Unusable {
        /// What was asked for.
        what: String,
        /// What to type instead.
        remedy: String,
    },
    /// A workload is no longer what it was when its run began.
    #[error(
        "{name}, which was changed while it was read, is no trace to count by; run it again when nothing writes to it"
    )]
    Changed { name: String },
    /// A request goes beyond the end of the drive.
    #[error(
        "a {operation} of page {page} (byte offset {}) is beyond the drive, which has {} pages \
         ({}){}; enlarge it with --logical {}, or map such addresses into it with --wrap",
        u128::from(*page) * u128::from(*page_bytes),
        grouped(*logical_pages),
        ByteSize(logical_pages * u64::from(*page_bytes)),
        last_page.map_or_else(String::new, |last| format!(", and the last page of the trace is {last}")),
        enlarged(last_page.unwrap_or(*page), *page_bytes)
    )]
    BeyondDrive {
        /// "write" or "trim".
        operation: &'static str,
        /// The first page that the drive does not have.
        page: u64,
        logical_pages: u64,
        page_bytes: u32,
        /// The last page that the trace uses, if it could be read again.
        last_page: Option<u64>,
    },
    /// Nothing was left to count.
    #[error(
        "{name}: no page writes to count: {} came before its end, and {} of them were to warm up; \
         lower --warmup-writes, or take a longer workload",
        grouped(*writes),
        grouped(*warmup_writes)
    )]
    NothingCounted {
        name: String,
        /// Page writes that it had.
        writes: u64,
        /// Page writes to warm up.
        warmup_writes: u64,
    },
    /// The workload writes nothing.
    #[error("{name}: it has no page writes at all; take a workload that writes")]
    NoWrites { name: String },
    /// The trace has no clock.
    #[error(
        "the trace does not say when its requests come, and arrivals=trace needs it; use \
         arrivals=closed with a queue-depth, or for a CSV file name its column with --map ts:us=COLUMN"
    )]
    NoTimes,
    /// The running write amplification would take too much memory.
    #[error(
        "the workload has more than {} intervals of {} page writes, which are as many as are \
         recorded; give a larger --interval, or fewer --writes",
        grouped(*intervals_max),
        grouped(*interval_writes)
    )]
    TooManyIntervals {
        /// Host writes of an interval.
        interval_writes: u64,
        /// Intervals that are recorded at most.
        intervals_max: u64,
    },
    /// More memory than there is.
    #[error(
        "{ftls} FTLs on this drive need {} of memory, and {} are available; simulate a smaller \
         drive (--logical), larger pages (--page-size) or fewer FTLs at a time, with --threads 1",
        bytes(*needed_bytes),
        bytes(*available_bytes)
    )]
    Memory { ftls: usize, needed_bytes: u64, available_bytes: u64 },
    /// The FTL stopped: a bug.
    #[error("{ftl}: {reason}")]
    Ftl {
        ftl: String,
        /// What it says.
        reason: String,
    },
    /// Whoever watched the progress stopped it.
    #[error("stopped before the end; what was counted so far is dropped")]
    Stopped,
    /// No threads.
    #[error(
        "the threads cannot be started: {0}; if there is too little memory for them, try --threads 1, simulate a smaller \
         drive (--logical), fewer FTLs at a time, or raise the limit"
    )]
    Threads(String),
}

impl From<StackError> for SimError {
    fn from(error: StackError) -> Self {
        match error {
            StackError::Spec(error) => Self::Spec(error),
            StackError::Build(error) => Self::Build(error),
            StackError::Name { what, remedy } => Self::Unusable { what, remedy: remedy.into() },
            StackError::Refused { ftl, reason } => Self::Ftl { ftl, reason },
        }
    }
}

impl SimError {
    /// Whether the request was wrong, rather than its execution.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Trace(error) => {
                matches!(
                    error,
                    TraceError::Spec(_)
                        | TraceError::PageSize { .. }
                        | TraceError::Unsupported { .. }
                )
            }
            Self::Spec(_)
            | Self::Build(_)
            | Self::Geometry(_)
            | Self::UnknownWorkload { .. }
            | Self::NoTimes
            | Self::Changed { .. }
            | Self::Unusable { .. } => true,
            _ => false,
        }
    }
}

/// Proposes a generator or a file that was mistyped.
fn near(text: &str, generators: &[String]) -> String {
    let files = files_beside(Path::new(text));
    let file = did_you_mean(text, &files);
    if file.is_empty() {
        did_you_mean(text.split(':').next().unwrap_or(text), generators)
    } else {
        file
    }
}

/// A size that has `page`.
fn enlarged(page: u64, page_bytes: u32) -> String {
    let bytes = page.saturating_add(1).saturating_mul(u64::from(page_bytes));
    let mib = 1 << 20;
    ByteSize(bytes.checked_next_multiple_of(mib).unwrap_or(bytes)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_beyond_the_drive_names_the_remedies() {
        let error = SimError::BeyondDrive {
            operation: "write",
            page: 300_000,
            logical_pages: 262_144,
            page_bytes: 4096,
            last_page: None,
        };
        assert_eq!(
            error.to_string(),
            "a write of page 300000 (byte offset 1228800000) is beyond the drive, which has 262,144 \
             pages (1GiB); enlarge it with --logical 1172MiB, or map such addresses into it with --wrap"
        );
    }

    #[test]
    fn a_mistyped_generator_is_proposed() {
        let error = SimError::UnknownWorkload {
            text: "zip:theta=0.9".into(),
            generators: vec!["uniform".into(), "zipf".into()],
        };
        let message = error.to_string();
        assert!(message.contains("(did you mean \"zipf\"?)"), "{message}");
        assert!(message.contains("./zip:theta=0.9"), "{message}");
    }
}
