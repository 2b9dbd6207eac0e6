//! What can be wrong with a drive.

use crate::media::superblock::VERSION;
use ftlab_ftl::registry::BuildError;
use ftlab_ftl::{Broken, StateError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;
use uuid::Uuid;

/// Why a drive cannot be created or opened.
#[derive(Debug, Error)]
pub enum MediaError {
    /// The system says no.
    #[error("cannot {what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        source: io::Error,
    },
    /// The file is there already.
    #[error("{} exists; remove it first, or choose another name", .0.display())]
    Exists(PathBuf),
    /// Another process has it open.
    #[error("{} is in use: another process serves or checks it", .0.display())]
    InUse(PathBuf),
    /// No superblock at either end.
    #[error(
        "this is no drive of ftlab: it has no superblock at either end; make one with `ftlab drive create`"
    )]
    NoDrive,
    /// One superblock is damaged.
    #[error("the superblock at offset {offset} is damaged: its checksum is wrong")]
    Superblock {
        /// Where.
        offset: u64,
    },
    /// Both are.
    #[error("both superblocks are damaged: nothing tells what this drive is")]
    Superblocks,
    /// A format of another version of this program.
    #[error("this drive has format version {version}, and this program reads version {VERSION}")]
    Version {
        /// Its version.
        version: u32,
    },
    /// The file is too short.
    #[error("the file is truncated: it has {bytes} bytes of {expected}")]
    Truncated {
        /// Its bytes.
        bytes: u64,
        /// What its superblock says.
        expected: u64,
    },
    /// The superblocks are of different drives.
    #[error("the file begins as drive {first} and ends as drive {second}: they were mixed up")]
    TwoDrives {
        /// The first one's.
        first: Uuid,
        /// The second one's.
        second: Uuid,
    },
    /// Not the drive that was asked for.
    #[error("this is drive {found}, not {expected}")]
    WrongDrive {
        /// Which drive was asked for.
        expected: Uuid,
        /// Which one is there.
        found: Uuid,
    },
    /// Neither checkpoint can be used.
    #[error("neither checkpoint can be used: {first}; {second}")]
    NoCheckpoint {
        /// What is wrong with the first slot.
        first: String,
        /// What is wrong with the second one.
        second: String,
    },
    /// One checkpoint cannot be used.
    #[error("{0}")]
    Checkpoint(String),
    /// The journal has a hole.
    #[error(
        "the journal is damaged behind operation {end}: operations up to {durable} were durable, and \
         cannot be repeated; this drive can't be opened without losing them"
    )]
    Journal {
        /// The last operation that can be repeated.
        end: u64,
        /// The last operation that was durable.
        durable: u64,
    },
    /// The FTL does something else than it did.
    #[error("the journal cannot be repeated: {0}")]
    Replay(String),
    /// The parameters of the FTL do not fit into a superblock.
    #[error("the parameters of the FTL are too long for a superblock; shorten lists in them")]
    LongParameters,
    /// A size that no drive can have.
    #[error("{what} is {value}; {expects}")]
    Size {
        /// Of what.
        what: &'static str,
        /// The value.
        value: u64,
        /// What it has to be.
        expects: String,
    },
    /// An FTL that asks for the future.
    #[error(
        "{0} asks how long each page will live, which nobody knows of a drive at work; record what the \
         host does (ftlab drive serve --record trace.parquet) and simulate it: ftlab run trace.parquet --ftl {0}"
    )]
    Future(String),
    /// No such FTL, or not on this drive.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The state that was saved is not one of this FTL.
    #[error("the state of the FTL cannot be restored: {0}")]
    State(#[from] StateError),
    /// What was restored contradicts itself.
    #[error(transparent)]
    Broken(#[from] Broken),
}

impl MediaError {
    /// Whether the command was wrong, and not its execution.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Build(_)
                | Self::Future(_)
                | Self::Size { .. }
                | Self::LongParameters
                | Self::Exists(_)
        )
    }

    pub(crate) fn io(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { what: what.into(), source: source.into() }
    }
}
