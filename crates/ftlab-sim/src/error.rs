//! Why an experiment cannot be run.

use crate::format::{bytes, grouped};
use ftlab_feed::FeedError;
use ftlab_flash::GeometryError;
use ftlab_ftl::registry::BuildError;
use ftlab_spec::{SpecError, did_you_mean};
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
    /// The workload, as page writes of this drive.
    #[error(transparent)]
    Feed(Box<FeedError>),
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

impl From<FeedError> for SimError {
    fn from(error: FeedError) -> Self {
        match error {
            FeedError::Trace(error) => Self::Trace(error),
            FeedError::Ftl { ftl, reason } => Self::Ftl { ftl, reason },
            other => Self::Feed(Box::new(other)),
        }
    }
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
            Self::Feed(error) => {
                use FeedError::{Backlog, NoTimes, TooManyLifetimes};
                matches!(**error, NoTimes | Backlog { .. } | TooManyLifetimes { .. })
            }
            Self::Spec(_)
            | Self::Build(_)
            | Self::Geometry(_)
            | Self::UnknownWorkload { .. }
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

#[cfg(test)]
mod tests {
    use super::*;

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
