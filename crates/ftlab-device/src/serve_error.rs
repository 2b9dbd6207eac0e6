//! Why a drive cannot be served.

use ftlab_trace::TraceError;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// What is wrong, with the value and the remedy.
#[derive(Debug, Error)]
pub enum ServeError {
    /// It is no address.
    #[error(
        "{address:?} is no address: {why}; write HOST:PORT, such as 127.0.0.1:10809, or the path of a socket"
    )]
    Address {
        /// What was given.
        address: String,
        /// What is wrong with it.
        why: String,
    },
    /// Other machines could reach it.
    #[error(
        "{address} can be reached from other machines, and whoever reaches it can read and overwrite \
         the drive; listen on 127.0.0.1 or a unix socket, or say --allow-remote"
    )]
    Remote {
        /// Where to listen.
        address: String,
    },
    /// Somebody else listens there.
    #[error("{path} is in use: another server answers there; stop it, or use another path")]
    InUse {
        /// The socket.
        path: String,
    },
    /// Something else is there.
    #[error("{path} exists and is no socket; remove it, or use another path")]
    NotASocket {
        /// The path.
        path: String,
    },
    /// Other machines could see the dashboard.
    #[error(
        "{address} can be reached from other machines; listen on 127.0.0.1, or say --token TOKEN, \
         which everyone who looks then has to show"
    )]
    NoToken {
        /// Where to listen.
        address: String,
    },
    /// A token that cannot stand in an address.
    #[error("a token is one or more letters, digits and -._~; take `openssl rand -hex 16`")]
    Token,
    /// A dashboard cannot be asked.
    #[error("{url}: {why}")]
    Dashboard {
        /// Its URL.
        url: String,
        /// What went wrong.
        why: String,
    },
    /// An FTL cannot be a shadow.
    #[error("shadow {ftl}: {why}")]
    Shadow {
        /// The FTL.
        ftl: String,
        /// What is wrong with it.
        why: String,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// FUSE cannot be mounted.
    #[error(
        "{} cannot be mounted: {source}; FUSE needs /dev/fuse, an empty directory, and root or \
         fusermount3 (package fuse3)", directory.display()
    )]
    Mount {
        /// Where.
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The system says no.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}

impl ServeError {
    pub(crate) fn address(address: &str, why: impl Display) -> Self {
        Self::Address { address: address.to_owned(), why: why.to_string() }
    }

    pub(crate) fn io(what: impl Into<String>, source: impl Into<io::Error>) -> Self {
        Self::Io { what: what.into(), source: source.into() }
    }

    /// Whether the command was wrong, and not its execution.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::Remote { .. }
                | Self::NoToken { .. }
                | Self::Token
                | Self::NotASocket { .. }
                | Self::Shadow { .. }
        )
    }
}
