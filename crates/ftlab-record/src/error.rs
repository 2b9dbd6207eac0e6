//! Errors of recording.

use ftlab_trace::TraceError;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// An error of recording, with the value and the remedy.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum RecordError {
    /// Only root may use the kernel's trace points.
    #[error(
        "recording {} needs root, because only root may see the requests of a device; put sudo in \
         front (the command can become another user: -- runuser -u USER -- COMMAND), or \
         record the calls on its files with --dir DIRECTORY",
        device.display()
    )]
    NotRoot {
        /// What was to be recorded.
        device: PathBuf,
    },
    /// The kernel has no trace points, or hides them.
    #[error(
        "the kernel's trace points cannot be used: {what}; use a kernel with CONFIG_FTRACE and \
         CONFIG_BLK_DEV_IO_TRACE that is not locked down, or record the calls on files with --dir \
         DIRECTORY"
    )]
    NoTracing {
        /// The operation tried, and the kernel's error.
        what: String,
    },
    /// It is not a block device.
    #[error("{} {why}; name a disk, partition or loop device such as /dev/sda (lsblk lists them)", path.display())]
    NotADevice {
        /// What was named.
        path: PathBuf,
        why: String,
    },
    /// The trace would be written to the recorded device.
    #[error(
        "{} is on {}, so the recording would record itself; write it elsewhere, such as below \
         /dev/shm",
        out.display(),
        device.display()
    )]
    OutputOnDevice {
        /// The file to write.
        out: PathBuf,
        device: PathBuf,
    },
    /// Files can be recorded in a directory only.
    #[error("{}: {source}; name the directory whose files are to be recorded", path.display())]
    NotADirectory {
        /// What was named.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// strace is missing.
    #[error(
        "strace, which --dir needs, cannot be started ({source}); install it (apt-get install \
         strace, dnf install strace), or record a whole device with --device"
    )]
    NoStrace {
        /// What the system says.
        source: io::Error,
    },
    /// filefrag is missing.
    #[error(
        "filefrag, which --stream of a --device needs, cannot be started ({source}); install it (apt-get install \
         e2fsprogs, dnf install e2fsprogs), or leave out --stream"
    )]
    NoFilefrag {
        /// What the system says.
        source: io::Error,
    },
    /// strace ended without having seen the command.
    #[error(
        "strace could not start the command, for the reason above; check its name, allow tracing (in a \
         container: --cap-add SYS_PTRACE), or record a whole device with --device"
    )]
    StraceFailed,
    /// The command cannot be started.
    #[error("{command}: {source}; check the name after --")]
    Command {
        command: String,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing was written.
    #[error("nothing to record: no request with data reached {target}; {remedy}")]
    NothingWritten {
        /// The device or directory.
        target: String,
        /// What to check.
        remedy: &'static str,
    },
    /// Data from the kernel does not match its description.
    #[error("{what} is not as expected: {found}; this kernel's trace format is unknown to ftlab")]
    Format {
        what: String,
        /// Its content.
        found: String,
    },
    /// A file cannot be read or written.
    #[error("{what}: {source}")]
    Io {
        /// The file and the operation.
        what: String,
        /// What the system says.
        source: io::Error,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

impl RecordError {
    pub(crate) fn io(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { what: what.into(), source: source.into() }
    }

    pub(crate) fn path(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::io(path.display().to_string(), source)
    }

    /// Whether the command line was wrong, and not its execution.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NotADevice { .. } | Self::NotADirectory { .. } | Self::OutputOnDevice { .. }
        )
    }
}
