//! The address of a server.

use crate::ServeError;
use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;

/// The address of a server: a unix socket, or TCP.
///
/// ```
/// use ftlab_serve::net::Address;
///
/// let socket: Address = "/run/drive.sock".parse()?;
/// let tcp: Address = "127.0.0.1:10809".parse()?;
/// assert!(socket.is_local() && tcp.is_local());
/// assert!(!"0.0.0.0:10809".parse::<Address>()?.is_local());
/// # Ok::<(), ftlab_serve::ServeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// A path.
    Unix(PathBuf),
    /// An address of this machine and a port; 0 selects any free port.
    Tcp(SocketAddr),
}

impl FromStr for Address {
    type Err = ServeError;

    /// `HOST:PORT`, or the path of a socket: anything with a slash or without a colon.
    fn from_str(text: &str) -> Result<Self, ServeError> {
        if text.is_empty() {
            return Err(ServeError::address(text, "it is empty"));
        }
        if text.contains('/') || !text.contains(':') {
            return Ok(Self::Unix(text.into()));
        }
        let mut found = text.to_socket_addrs().map_err(|error| ServeError::address(text, error))?;
        found
            .next()
            .map(Self::Tcp)
            .ok_or_else(|| ServeError::address(text, "it resolves to no address"))
    }
}

impl Address {
    /// Whether only this machine can reach it.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Tcp(address) => address.ip().is_loopback(),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => path.display().fmt(f),
            Self::Tcp(address) => address.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_hosts_are_told_apart() {
        let address = |text: &str| text.parse::<Address>().map_err(|error| error.to_string());
        for path in ["drive.sock", "./a:1", "/run/x"] {
            assert_eq!(address(path), Ok(Address::Unix(path.into())));
        }
        assert_eq!(address("[::1]:7"), Ok(Address::Tcp("[::1]:7".parse().unwrap())));
        assert!(address("localhost:10809").unwrap().is_local());
        for wrong in ["127.0.0.1:", "127.0.0.1:99999", ":10809", ""] {
            let error = address(wrong).unwrap_err();
            assert!(error.starts_with(&format!("{wrong:?} is not an address")), "{error}");
        }
    }
}
