//! Listens, and gives each connection a thread.

use super::address::Address;
use super::connection::Connection;
use super::leases::Leases;
use super::limits::Limits;
use super::protocol::{Link, Protocol};
use super::replies::Replies;
use super::slots::{Slot, Slots};
use super::socket::{Listener, Socket};
use super::tls::Tls;
use crate::{AllowList, ServeError};
use rustix::io::Errno;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long clients have to receive the replies to requests sent before the server stopped.
const STOP_PATIENCE: Duration = Duration::from_secs(3);

/// Is notified of errors of clients.
pub type Report = dyn Fn(String) + Send + Sync;

/// Who may connect, how, and how much each may take.
#[derive(Debug, Clone, Default)]
pub struct ServerOptions {
    /// Machines that may connect.
    pub allow: AllowList,
    /// TLS, if the server can speak it.
    pub tls: Option<Tls>,
    /// Time and memory.
    pub limits: Limits,
}

/// A running server, on threads of its own.
pub struct Server {
    shared: Arc<Shared>,
    address: Address,
    accepting: Option<JoinHandle<()>>,
}

struct Shared {
    listener: Listener,
    protocol: Arc<dyn Protocol>,
    options: ServerOptions,
    report: Box<Report>,
    is_stopping: AtomicBool,
    slots: Slots,
    /// Bytes of delayed replies.
    delayed: Arc<AtomicUsize>,
    /// Memory for data that wait for the rest of their request.
    leases: Arc<Leases>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Server {
    /// Listens at `address`, and speaks `protocol` from now on.
    pub fn start(
        address: &Address,
        protocol: Arc<dyn Protocol>,
        options: ServerOptions,
        report: Box<Report>,
    ) -> Result<Self, ServeError> {
        let (listener, address) = Listener::bind(address)?;
        let shared = Arc::new(Shared {
            listener,
            protocol,
            slots: Slots::new(options.limits.connections),
            leases: Arc::new(Leases::new(options.limits.incomplete_bytes)),
            options,
            report,
            is_stopping: AtomicBool::new(false),
            delayed: Arc::default(),
            threads: Mutex::default(),
        });
        let accept = {
            let shared = Arc::clone(&shared);
            move || accept(&shared)
        };
        let accepting = thread_named(shared.protocol.name().to_owned()).spawn(accept);
        let accepting = accepting.map_err(|error| ServeError::io("starting a thread", error))?;
        Ok(Self { shared, address, accepting: Some(accepting) })
    }

    /// Its address, with the actual port.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The number of connected clients.
    pub fn connections(&self) -> usize {
        self.shared.slots.len()
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
        self.shared.slots.close_all(STOP_PATIENCE);
        for thread in self.shared.threads().drain(..) {
            // A panic has been reported where it happened.
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn threads(&self) -> MutexGuard<'_, Vec<JoinHandle<()>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, slot: &Arc<Slot>) -> io::Result<()> {
        let tls = self.options.tls.as_ref();
        let limits = &self.options.limits;
        let mut replies = Replies::new(limits.delayed_bytes, Arc::clone(&self.delayed));
        let link = Link {
            slot: Some(Arc::clone(slot)),
            leases: Arc::clone(&self.leases),
            requires_tls: tls.map(|tls| tls.is_required),
        };
        let conversation = self.protocol.begin(link, &mut replies);
        Connection::new(slot, conversation, replies, limits, tls).run()
    }
}

fn accept(shared: &Arc<Shared>) {
    for id in 0.. {
        let socket = match shared.listener.accept() {
            Ok(socket) => socket,
            Err(_) if shared.is_stopping.load(Ordering::SeqCst) => return,
            Err(error) => {
                let error_of = |errno: Errno| Some(errno.raw_os_error()) == error.raw_os_error();
                let is_full = error_of(Errno::MFILE) || error_of(Errno::NFILE);
                if !(is_full && shared.slots.make_room()) {
                    (shared.report)(format!("a connection cannot be accepted: {error}"));
                }
                std::thread::sleep(Duration::from_millis(10));
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
    if let Some(peer) = socket.peer()
        && !shared.options.allow.admits(peer)
    {
        return Err(io::Error::other(format!("{peer} is not among those allowed")));
    }
    let slot = shared.slots.add(id, socket);
    let most = shared.options.limits.connections;
    let slot = slot.ok_or_else(|| io::Error::other(format!("there are already {most} at work")))?;
    let of_thread = Arc::clone(shared);
    let run = move || {
        let shared = of_thread;
        match shared.serve(&slot) {
            Err(error) if !is_departure(&error) => {
                (shared.report)(format!("connection {id} ends: {error}"));
            }
            _ => {}
        }
        shared.slots.remove(id);
    };
    match thread_named(format!("{}-{id}", shared.protocol.name())).spawn(run) {
        Ok(thread) => {
            let mut threads = shared.threads();
            threads.retain(|thread| !thread.is_finished());
            threads.push(thread);
            Ok(())
        }
        Err(error) => {
            shared.slots.remove(id);
            Err(error)
        }
    }
}

fn thread_named(name: String) -> std::thread::Builder {
    std::thread::Builder::new().name(name)
}

/// Whether the client simply disconnected.
fn is_departure(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset)
}
