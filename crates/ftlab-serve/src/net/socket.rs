//! Sockets of both kinds, and the encrypted stream over one.

use super::address::Address;
use super::tls::Tls;
use crate::ServeError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::sockopt::{
    set_socket_keepalive, set_tcp_keepcnt, set_tcp_keepidle, set_tcp_keepintvl,
};
use rustix::net::{RecvFlags, SendFlags, Shutdown as SocketShutdown, recv, send, shutdown};
use rustls::{ServerConnection, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A silent client is asked whether it is still there after this time, and then as often as
/// `KEEPALIVE_PROBES` at this interval: its machine may be gone.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(60);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_PROBES: u32 = 6;

pub(super) enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    pub(super) fn bind(address: &Address) -> Result<(Self, Address), ServeError> {
        let failed = |error| ServeError::io(format!("listening at {address}"), error);
        Ok(match address {
            Address::Unix(path) => {
                make_way(path)?;
                (Self::Unix(UnixListener::bind(path).map_err(failed)?), address.clone())
            }
            Address::Tcp(address) => {
                let listener = TcpListener::bind(address).map_err(failed)?;
                let bound = listener.local_addr().map_err(failed)?;
                (Self::Tcp(listener), Address::Tcp(bound))
            }
        })
    }

    pub(super) fn accept(&self) -> io::Result<Socket> {
        Ok(match self {
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Socket::Unix(stream))?,
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                set_socket_keepalive(&stream, true)?;
                set_tcp_keepidle(&stream, KEEPALIVE_IDLE)?;
                set_tcp_keepintvl(&stream, KEEPALIVE_INTERVAL)?;
                set_tcp_keepcnt(&stream, KEEPALIVE_PROBES)?;
                Socket::Tcp(stream)
            }
        })
    }

    /// Wakes the thread that waits for connections, and removes the socket.
    pub(super) fn close(&self, address: &Address) {
        let fd = match self {
            Self::Unix(listener) => listener.as_fd(),
            Self::Tcp(listener) => listener.as_fd(),
        };
        // Failures are ignored: nothing more can be done.
        let _ = shutdown(fd, SocketShutdown::Both);
        if let Address::Unix(path) = address {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Removes the socket of a killed server.
fn make_way(path: &Path) -> Result<(), ServeError> {
    let name = path.display().to_string();
    let Ok(metadata) = path.symlink_metadata() else { return Ok(()) };
    if !metadata.file_type().is_socket() {
        return Err(ServeError::NotASocket { path: name });
    }
    if UnixStream::connect(path).is_ok() {
        return Err(ServeError::InUse { path: name });
    }
    std::fs::remove_file(path).map_err(|error| ServeError::io(name, error))
}

pub(super) enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    /// The address of the client's machine, if it may be another one.
    pub(super) fn peer(&self) -> Option<IpAddr> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(stream) => stream.peer_addr().ok().map(|address| address.ip().to_canonical()),
        }
    }

    /// The address that the client has connected to, if that is TCP.
    pub(super) fn local(&self) -> Option<SocketAddr> {
        match self {
            Self::Unix(_) => None,
            Self::Tcp(stream) => stream.local_addr().ok(),
        }
    }

    pub(super) fn shutdown(&self, how: Shutdown) {
        // A connection that has ended by itself needs no closing.
        let _ = match self {
            Self::Unix(stream) => stream.shutdown(how),
            Self::Tcp(stream) => stream.shutdown(how),
        };
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Unix(stream) => stream.as_fd(),
            Self::Tcp(stream) => stream.as_fd(),
        }
    }
}

/// A socket shared with those who may close it; it does not block.
struct SharedSocket(Arc<Socket>);

impl Read for SharedSocket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(recv(&*self.0, buffer, RecvFlags::DONTWAIT)?.0)
    }
}

impl Write for SharedSocket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(&*self.0, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What a connection reads from and writes to.
pub(super) struct Stream {
    socket: Arc<Socket>,
    kind: Kind,
}

enum Kind {
    Plain(SharedSocket),
    Encrypted(Box<StreamOwned<ServerConnection, SharedSocket>>),
}

/// What a connection waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    ToReceive,
    ToSend,
}

impl Stream {
    pub(super) fn new(socket: Arc<Socket>) -> Self {
        Self { kind: Kind::Plain(SharedSocket(Arc::clone(&socket))), socket }
    }

    /// From now on the client speaks TLS.
    pub(super) fn encrypt(&mut self, tls: &Tls) -> io::Result<()> {
        let connection =
            ServerConnection::new(Arc::clone(&tls.config)).map_err(io::Error::other)?;
        let socket = SharedSocket(Arc::clone(&self.socket));
        self.kind = Kind::Encrypted(Box::new(StreamOwned::new(connection, socket)));
        Ok(())
    }

    /// Receives, and waits for it as long as it takes, if nothing else has to be looked after meanwhile;
    /// so an idle connection costs one call of the system for each request.
    pub(super) fn receive(&mut self, buffer: &mut [u8], may_block: bool) -> io::Result<usize> {
        match &self.kind {
            Kind::Plain(socket) if may_block => Ok(recv(&*socket.0, buffer, RecvFlags::empty())?.0),
            _ => self.read(buffer),
        }
    }

    /// Waits until there is something to do, or until a time; false in the latter case.
    pub(super) fn wait(&self, wait: Wait, until: Option<Instant>) -> io::Result<bool> {
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        // The remaining time is limited to what the type can hold.
        let timeout = left.and_then(|left| Timespec::try_from(left).ok());
        match poll(&mut [PollFd::new(&*self.socket, self.flags(wait))], timeout.as_ref()) {
            Ok(ready) => Ok(ready > 0),
            // The caller tries, and waits again.
            Err(Errno::INTR) => Ok(true),
            Err(error) => Err(error.into()),
        }
    }

    /// A handshake of TLS goes in both directions, whatever it is for.
    fn flags(&self, wait: Wait) -> PollFlags {
        let mut flags = match wait {
            Wait::ToReceive => PollFlags::IN,
            Wait::ToSend => PollFlags::OUT,
        };
        if let Kind::Encrypted(stream) = &self.kind {
            if stream.conn.is_handshaking() {
                flags = if stream.conn.wants_read() { PollFlags::IN } else { PollFlags::empty() };
            }
            if stream.conn.wants_write() {
                flags |= PollFlags::OUT;
            }
        }
        flags
    }

    /// Tells the client that nothing more follows.
    pub(super) fn finish(&mut self) {
        if let Kind::Encrypted(stream) = &mut self.kind {
            stream.conn.send_close_notify();
            // The client may have gone.
            let _ = stream.flush();
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Plain(socket) => socket.read(buffer),
            Kind::Encrypted(stream) => match stream.read(buffer) {
                // Clients say in their protocol that they leave.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(0),
                result => result,
            },
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Plain(socket) => socket.write(bytes),
            Kind::Encrypted(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Plain(socket) => socket.flush(),
            Kind::Encrypted(stream) => stream.flush(),
        }
    }
}
