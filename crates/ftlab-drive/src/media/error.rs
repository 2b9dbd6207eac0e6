//! Errors of drives.

use crate::media::{NEWEST, OLDEST};
use ftlab_ftl::registry::BuildError;
use ftlab_ftl::{Broken, StateError};
use std::io;
use std::path::PathBuf;
use thiserror::Error;
use uuid::Uuid;

/// Why a drive cannot be created or opened.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum MediaError {
    /// An error of the operating system.
    #[error("cannot {what}: {source}")]
    Io {
        what: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file already exists.
    #[error("{} exists; remove it first, or choose another name", .0.display())]
    Exists(PathBuf),
    /// Another process has it open.
    #[error("{} is in use: another process serves or checks it", .0.display())]
    InUse(PathBuf),
    #[error(
        "this is not a drive of ftlab: it has no superblock at either end; create one with `ftlab drive create`"
    )]
    NoDrive,
    #[error("the superblock at offset {offset} is damaged: its checksum is wrong")]
    Superblock { offset: u64 },
    /// The superblocks are of one drive, and say different things.
    #[error("the superblock at offset {offset} is not like the other one: a change was cut off")]
    OtherSuperblock {
        /// The offset of the second one.
        offset: u64,
    },
    /// Both superblocks are damaged.
    #[error("both superblocks are damaged: the drive cannot be identified")]
    Superblocks,
    /// A format of another version of this program.
    #[error(
        "this drive has format version {version}, but this program reads versions {OLDEST} to {NEWEST}; open it with the \
         version of ftlab that wrote it, or a later one"
    )]
    Version { version: u32 },
    /// The file is too short.
    #[error("the file is truncated: it has {bytes} bytes of {expected}")]
    Truncated {
        /// Its length in bytes.
        bytes: u64,
        /// The length according to its superblock.
        expected: u64,
    },
    /// The superblocks are of different drives.
    #[error("the file begins as drive {first} and ends as drive {second}: they were mixed up")]
    TwoDrives {
        /// The UUID at the start.
        first: Uuid,
        /// The UUID at the end.
        second: Uuid,
    },
    #[error("this is drive {found}, not {expected}")]
    WrongDrive { expected: Uuid, found: Uuid },
    #[error("neither checkpoint can be used: {first}; {second}")]
    NoCheckpoint {
        /// The error of the first slot.
        first: String,
        /// The error of the second slot.
        second: String,
    },
    /// One checkpoint cannot be used, and this says why.
    #[error("{0}")]
    Checkpoint(String),
    /// The journal has a gap.
    #[error(
        "the journal is damaged after operation {end}: operations up to {durable} were durable, but \
         cannot be replayed; this drive cannot be opened without losing them"
    )]
    Journal {
        /// The last operation that can be replayed.
        end: u64,
        /// The last operation that was durable.
        durable: u64,
    },
    #[error(
        "the drive can be read, but not written: {0}; copy it to a new one with `ftlab drive repair --to`"
    )]
    Unwritable(String),
    /// The regions of a drive are too small for another FTL.
    #[error(
        "{ftl} needs {needs} bytes {what}, and this drive has {has}; make a new drive of it with `ftlab drive copy --ftl {ftl}`"
    )]
    NoRoomFor {
        ftl: String,
        what: &'static str,
        has: u64,
        /// The size that it needs.
        needs: u64,
    },
    /// Another copy of it is being made.
    #[error("a copy of this drive is being made already; wait until it is finished")]
    Copying,
    /// A copy that nobody wants any more.
    #[error("the copy was stopped, and nothing is left of it")]
    Stopped,
    /// The replay differs from the original execution.
    #[error("the journal cannot be replayed: {0}")]
    Replay(String),
    /// The parameters of the FTL do not fit into a superblock.
    #[error("the parameters of the FTL are too long for a superblock; shorten lists in them")]
    LongParameters,
    /// An invalid size.
    #[error("{what} is {value}; {expects}")]
    Size {
        /// What has this size.
        what: &'static str,
        value: u64,
        /// The valid values.
        expects: String,
    },
    /// An FTL that needs to know the future.
    #[error(
        "{0} needs to know how long each page will live, which is unknown on a live drive; record the \
         host's operations (ftlab drive serve --record trace.parquet) and simulate it: ftlab run trace.parquet --ftl {0}"
    )]
    Future(String),
    /// Reclaim groups, which the front ends do not tell hosts of.
    #[error(
        "{0} has several reclaim groups, which a live drive cannot have; leave out reclaim-groups, or record the \
         host's operations (ftlab drive serve --record trace.parquet) and simulate it: ftlab run trace.parquet --ftl {0}"
    )]
    ReclaimGroups(String),
    /// A map that a live drive cannot have.
    #[error("a live drive cannot have this map: {0}")]
    Mapping(String),
    /// What tells of operations that are cut off would be overwritten.
    #[error(
        "{pages} pages that were written after operation {last}, the last one in the journal, are in the places of \
         what was there before"
    )]
    Newer { pages: u64, last: u64 },
    /// No such FTL, or not on this drive.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The saved state is not one of this FTL.
    #[error("the state of the FTL cannot be restored: {0}")]
    State(#[from] StateError),
    /// The restored state is inconsistent.
    #[error(transparent)]
    Broken(#[from] Broken),
}

impl MediaError {
    /// Whether the command line was wrong, and not its execution.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Build(_)
                | Self::Future(_)
                | Self::ReclaimGroups(_)
                | Self::Mapping(_)
                | Self::Size { .. }
                | Self::LongParameters
                | Self::NoRoomFor { .. }
                | Self::Exists(_)
        )
    }

    /// Whether the FTL could not repeat what was decided, although what that takes can be read.
    pub(crate) fn is_of_replay(&self) -> bool {
        matches!(
            self,
            Self::Replay(_)
                | Self::State(_)
                | Self::Broken(_)
                | Self::Build(_)
                | Self::NoCheckpoint { .. }
        )
    }

    pub(crate) fn io(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { what: what.into(), source: source.into() }
    }
}
