//! Listens, and gives each connection a thread.

use super::Export;
use super::address::Address;
use super::connection::serve;
use crate::{ServeError, Store};
use rustix::net::{Shutdown as SocketShutdown, shutdown};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Maximum number of connected clients.
const CONNECTIONS_MAX: usize = 128;

/// Timeout of a silent client during the handshake.
const HANDSHAKE_PATIENCE: Duration = Duration::from_secs(30);

/// How long clients have to receive the replies to requests sent before the server stopped.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// Is notified of errors of clients.
pub type Report = dyn Fn(String) + Send + Sync;

/// A running server, on threads of its own.
pub struct Server {
    shared: Arc<Shared>,
    address: Address,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    listener: Listener,
    store: Arc<dyn Store>,
    export: Export,
    report: Box<Report>,
    is_stopping: AtomicBool,
    connections: Mutex<HashMap<u64, Socket>>,
    /// A connection has ended.
    ended: Condvar,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Server {
    /// Listens at `address`, and serves `store` from now on.
    pub fn start(
        address: &Address,
        export: Export,
        store: Arc<dyn Store>,
        report: Box<Report>,
    ) -> Result<Self, ServeError> {
        let (listener, address) = Listener::bind(address)?;
        let shared = Arc::new(Shared {
            listener,
            store,
            export,
            report,
            is_stopping: AtomicBool::new(false),
            connections: Mutex::default(),
            ended: Condvar::new(),
            threads: Mutex::default(),
        });
        let accept = {
            let shared = Arc::clone(&shared);
            move || accept(&shared)
        };
        let accepting = std::thread::Builder::new().name("nbd".to_owned()).spawn(accept);
        let accepting = accepting.map_err(|error| ServeError::io("starting a thread", error))?;
        Ok(Self { shared, address, accepting: Some(accepting) })
    }

    /// Its address, with the actual port.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The number of connected clients.
    pub fn connections(&self) -> usize {
        self.shared.connections().len()
    }
}

impl Drop for Server {
    /// Completes pending requests, sends the replies, and closes all connections.
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::SeqCst);
        self.shared.listener.close(&self.address);
        if let Some(accepting) = self.accepting.take() {
            // It cannot have panicked, and a panic would not matter here.
            let _ = accepting.join();
        }
        let connections = self.shared.close_all(Shutdown::Read);
        let none_left = |connections: &mut HashMap<u64, Socket>| !connections.is_empty();
        let waited = self.shared.ended.wait_timeout_while(connections, STOP_PATIENCE, none_left);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        drop(self.shared.close_all(Shutdown::Both));
        for thread in self.shared.threads().drain(..) {
            // A panic has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn connections(&self) -> MutexGuard<'_, HashMap<u64, Socket>> {
        self.connections.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close_all(&self, how: Shutdown) -> MutexGuard<'_, HashMap<u64, Socket>> {
        let connections = self.connections();
        for socket in connections.values() {
            // A connection that has ended by itself needs no closing.
            let _ = socket.shutdown(how);
        }
        connections
    }
}

fn accept(shared: &Arc<Shared>) {
    for id in 0.. {
        let socket = match shared.listener.accept() {
            Ok(socket) => socket,
            Err(_) if shared.is_stopping.load(Ordering::SeqCst) => return,
            Err(error) => {
                (shared.report)(format!("a connection cannot be accepted: {error}"));
                std::thread::sleep(Duration::from_millis(100));
                continue;
            }
        };
        if let Err(error) = begin(shared, id, socket) {
            (shared.report)(format!("a connection is refused: {error}"));
        }
    }
}

/// Starts the thread of a connection.
fn begin(shared: &Arc<Shared>, id: u64, socket: Socket) -> io::Result<()> {
    let mut connections = shared.connections();
    if connections.len() >= CONNECTIONS_MAX {
        return Err(io::Error::other(format!("there are already {CONNECTIONS_MAX}")));
    }
    socket.set_patience(Some(HANDSHAKE_PATIENCE))?;
    connections.insert(id, socket.try_clone()?);
    drop(connections);
    let of_thread = Arc::clone(shared);
    let run = move || {
        let shared = of_thread;
        let established = |socket: &Socket| socket.set_patience(None);
        match serve(socket, shared.store.as_ref(), &shared.export, established) {
            Err(error) if !is_departure(&error) => {
                (shared.report)(format!("connection {id} ends: {error}"));
            }
            _ => {}
        }
        shared.connections().remove(&id);
        shared.ended.notify_all();
    };
    match std::thread::Builder::new().name(format!("nbd-{id}")).spawn(run) {
        Ok(thread) => {
            let mut threads = shared.threads();
            threads.retain(|thread| !thread.is_finished());
            threads.push(thread);
            Ok(())
        }
        Err(error) => {
            shared.connections().remove(&id);
            Err(error)
        }
    }
}

/// Whether the client simply disconnected.
fn is_departure(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}

enum Listener {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    fn bind(address: &Address) -> Result<(Self, Address), ServeError> {
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

    fn accept(&self) -> io::Result<Socket> {
        match self {
            Self::Unix(listener) => listener.accept().map(|(stream, _)| Socket::Unix(stream)),
            Self::Tcp(listener) => {
                let (stream, _) = listener.accept()?;
                stream.set_nodelay(true)?;
                Ok(Socket::Tcp(stream))
            }
        }
    }

    /// Wakes the thread that waits for connections, and removes the socket.
    fn close(&self, address: &Address) {
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

enum Socket {
    Unix(UnixStream),
    Tcp(TcpStream),
}

impl Socket {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Self::Unix(stream) => Self::Unix(stream.try_clone()?),
            Self::Tcp(stream) => Self::Tcp(stream.try_clone()?),
        })
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.shutdown(how),
            Self::Tcp(stream) => stream.shutdown(how),
        }
    }

    /// Maximum time to wait for the client.
    fn set_patience(&self, patience: Option<Duration>) -> io::Result<()> {
        match self {
            Self::Unix(stream) => stream.set_read_timeout(patience),
            Self::Tcp(stream) => stream.set_read_timeout(patience),
        }
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

impl Read for Socket {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.read(buffer),
            Self::Tcp(stream) => stream.read(buffer),
        }
    }
}

impl Write for Socket {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Unix(stream) => stream.write(bytes),
            Self::Tcp(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
