//! Why a question that takes many experiments cannot be answered.

use crate::sweep::FileError;
use ftlab_sim::SimError;
use ftlab_trace::{TraceError, room};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a question cannot be answered, or a result not be written or read; the message names the value,
/// the limit and the remedy.
#[derive(Debug, Error)]
pub enum ExperimentsError {
    /// The experiment file cannot be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// Something in the experiment file is wrong.
    #[error(transparent)]
    File(#[from] FileError),
    /// A series of host and media bytes cannot be read.
    #[error("{}: {reason}", path.display())]
    Series {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        reason: String,
    },
    /// Results cannot be read or written.
    #[error("{}: {message}", path.display())]
    Store {
        /// Which file or directory.
        path: PathBuf,
        /// What happened, and what to do.
        message: String,
    },
    /// The results of an experiment cannot be read.
    #[error(
        "{}: {reason}; name a directory that `ftlab run --out` of this version wrote, or run it again",
        path.display()
    )]
    Results {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Anything of a single experiment.
    #[error(transparent)]
    Sim(#[from] SimError),
}

impl ExperimentsError {
    /// Whether the request was wrong, rather than its execution.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Read { .. } | Self::Series { .. } | Self::File(_) | Self::Results { .. } => true,
            Self::Store { .. } => false,
            Self::Sim(error) => error.is_usage(),
        }
    }

    /// A file of results cannot be written; what is finished is kept, and the same command continues.
    pub fn not_kept(path: &Path, error: &io::Error) -> Self {
        let Some(room) = room(error) else { return Self::store(path, error) };
        let message = format!(
            "{error}; every run that finished before is kept; {room}, and repeat the command, which \
             continues there"
        );
        Self::Store { path: path.into(), message }
    }

    /// A file of results cannot be written or read.
    pub fn store(path: &Path, error: &impl fmt::Display) -> Self {
        Self::Store { path: path.into(), message: error.to_string() }
    }
}

impl From<TraceError> for ExperimentsError {
    fn from(error: TraceError) -> Self {
        Self::Sim(error.into())
    }
}
