//! Errors of serving a drive.

use ftlab_trace::TraceError;
use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// An error of serving, with the value and the remedy.
#[derive(Debug, Error)]
#[allow(missing_docs)]
pub enum ServeError {
    #[error(
        "{address:?} is not an address: {why}; write HOST:PORT, such as 127.0.0.1:10809, or the path of a socket"
    )]
    Address { address: String, why: String },
    /// Other machines could reach it.
    #[error(
        "{address} can be reached from other machines, and any client can read and overwrite the \
         drive; listen on 127.0.0.1 or a unix socket, or give --allow-remote"
    )]
    Remote {
        /// Where to listen.
        address: String,
    },
    /// Another server listens there.
    #[error("{path} is in use: another server answers there; stop it, or use another path")]
    InUse { path: String },
    /// Another file exists there.
    #[error("{path} exists and is not a socket; remove it, or use another path")]
    NotASocket { path: String },
    /// Other machines could see the dashboard.
    #[error(
        "{address} can be reached from other machines; listen on 127.0.0.1, or give --token-file FILE \
         (or set FTLAB_TOKEN): every client must then send that token"
    )]
    NoToken {
        /// Where to listen.
        address: String,
    },
    /// A token that cannot be part of a URL.
    #[error("a token consists of letters, digits and -._~; use for example `openssl rand -hex 16`")]
    Token,
    /// Not a network.
    #[error("{text:?} is no network; write addresses or networks such as 10.0.0.0/8,192.168.1.7")]
    Network { text: String },
    /// A certificate or key that cannot be used.
    #[error("{}: {why}; TLS needs a certificate and its private key, each a file in PEM", path.display())]
    Tls { path: PathBuf, why: String },
    /// A dashboard cannot be queried.
    #[error("{url}: {why}")]
    Dashboard { url: String, why: String },
    /// A drive cannot be divided so often.
    #[error("{count} namespaces are too many for this drive: the most are {most}")]
    Namespaces { count: u32, most: u64 },
    /// Not the name of a host.
    #[error(
        "{name:?} is no name of a host; it begins with nqn. and has at most 223 characters: see /etc/nvme/hostnqn"
    )]
    Host { name: String },
    /// An FTL cannot be a shadow.
    #[error("shadow {ftl}: {why}")]
    Shadow {
        ftl: String,
        /// What is wrong with it.
        why: String,
    },
    /// The trace cannot be written.
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(
        "{} cannot be mounted: {source}; FUSE needs /dev/fuse, an empty directory, and root or \
         fusermount3 (package fuse3)", directory.display()
    )]
    Mount {
        directory: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// An error of the operating system.
    #[error("{what}: {source}")]
    Io {
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

    /// Whether the command line was wrong, and not its execution.
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Address { .. }
                | Self::Remote { .. }
                | Self::NoToken { .. }
                | Self::Token
                | Self::Network { .. }
                | Self::Tls { .. }
                | Self::NotASocket { .. }
                | Self::Namespaces { .. }
                | Self::Host { .. }
                | Self::Shadow { .. }
        )
    }
}
