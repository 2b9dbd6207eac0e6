//! The subsystem that hosts connect to: its namespaces, its controllers, and what they share.

use super::controller::Controller;
use super::controllers::Controllers;
use super::events::Event;
use super::layout::{self, ErrorEntry};
use super::lock::lock;
use super::namespace::{Namespace, divide};
use super::placement::Placements;
use super::uncorrectable::Uncorrectable;
use crate::{FlashCounters, HostRequests, Observed, Requests, ServeError, Smart, Status};
use ftlab_drive::Store;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;
use uuid::Uuid;

/// Entries of the error log.
pub(super) const ERRORS_MAX: usize = 64;

/// The most bytes of a qualified name (base 2.1, section 4.7).
const NQN_BYTES_MAX: usize = 223;

/// How a drive is presented.
#[derive(Debug, Clone, Default)]
pub struct SubsystemOptions {
    /// Namespaces, which are equal parts of the drive; 0 means one.
    pub namespaces: u32,
    /// The names of hosts that may connect; all may if there are none.
    pub allow_hosts: Vec<String>,
}

/// A drive as an NVMe subsystem.
pub struct Subsystem {
    pub(super) store: Arc<dyn Store>,
    pub(super) drive: Arc<dyn Observed>,
    pub(super) nqn: String,
    pub(super) serial: String,
    pub(super) namespaces: Vec<Namespace>,
    pub(super) placements: Placements,
    pub(super) tallies: Tallies,
    pub(super) uncorrectable: Uncorrectable,
    /// Held by a Copy onto its own source, which takes memory.
    pub(super) overlapping: Mutex<()>,
    allow_hosts: Vec<String>,
    begin: Instant,
    /// What the flash had done when serving began.
    at_begin: FlashCounters,
    controllers: Mutex<Controllers>,
    errors: Mutex<VecDeque<ErrorEntry>>,
    /// The last sanitize action.
    sanitized: Mutex<Option<u32>>,
}

/// What hosts did since serving began.
#[derive(Debug, Default)]
pub(super) struct Tallies {
    moved: Mutex<Moved>,
    errors: AtomicU64,
}

/// Commands that moved data, and how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Moved {
    pub(super) reads: u64,
    pub(super) read_bytes: u64,
    pub(super) writes: u64,
    pub(super) written_bytes: u64,
}

impl Moved {
    pub(super) fn read(&mut self, bytes: u64) {
        self.reads += 1;
        self.read_bytes += bytes;
    }

    pub(super) fn write(&mut self, bytes: u64) {
        self.writes += 1;
        self.written_bytes += bytes;
    }
}

impl Tallies {
    /// Adds what a queue has counted, and lets it begin again; false if that is nothing.
    pub(super) fn take(&self, of_queue: &mut Moved) -> bool {
        if *of_queue == Moved::default() {
            return false;
        }
        let Moved { reads, read_bytes, writes, written_bytes } = std::mem::take(of_queue);
        let mut all = lock(&self.moved);
        all.reads += reads;
        all.read_bytes += read_bytes;
        all.writes += writes;
        all.written_bytes += written_bytes;
        true
    }
}

impl Subsystem {
    /// Presents `drive`, whose requests pass through `store`.
    pub fn new(
        store: Arc<dyn Store>,
        drive: Arc<dyn Observed>,
        options: SubsystemOptions,
    ) -> Result<Self, ServeError> {
        let status = drive.status();
        let placement = drive.placement();
        let handles = placement.as_ref().map_or(0, |placement| placement.handles.len() as u16);
        let count = options.namespaces.max(1);
        let pages = store.bytes() / u64::from(store.block_bytes());
        if u64::from(count) > pages.min(NAMESPACES_MAX) {
            let most = pages.min(NAMESPACES_MAX);
            return Err(ServeError::Namespaces { count, most });
        }
        for host in &options.allow_hosts {
            if !host.starts_with("nqn.") || host.len() > NQN_BYTES_MAX {
                return Err(ServeError::Host { name: host.clone() });
            }
        }
        let uuid = status.uuid.parse().unwrap_or(Uuid::nil());
        let bytes = store.bytes();
        let namespaces = divide(bytes, store.block_bytes(), count, handles, uuid.into_bytes());
        let uncorrectable = Uncorrectable::new(namespaces[0].block_shift);
        Ok(Self {
            placements: Placements::new(placement, &namespaces, store.block_bytes()),
            nqn: format!("nqn.2014-08.org.nvmexpress:uuid:{uuid}"),
            serial: uuid.simple().to_string(),
            namespaces,
            store,
            drive,
            tallies: Tallies::default(),
            uncorrectable,
            overlapping: Mutex::default(),
            allow_hosts: options.allow_hosts,
            begin: Instant::now(),
            at_begin: status.flash,
            controllers: Mutex::default(),
            errors: Mutex::default(),
            sanitized: Mutex::default(),
        })
    }

    /// Its qualified name.
    pub fn nqn(&self) -> &str {
        &self.nqn
    }

    /// The number of placement handles that hosts can name; 0 if the FTL does not keep them apart.
    pub fn handles(&self) -> usize {
        self.placements.handles()
    }

    /// Whether a host may connect.
    pub(super) fn admits(&self, host: &str) -> bool {
        self.allow_hosts.is_empty() || self.allow_hosts.iter().any(|allowed| allowed == host)
    }

    /// A namespace, by its number.
    pub(super) fn namespace(&self, id: u32) -> Option<&Namespace> {
        self.namespaces.get(id.checked_sub(1)? as usize)
    }

    /// Milliseconds since serving began.
    pub(super) fn uptime_ms(&self) -> u64 {
        self.begin.elapsed().as_millis() as u64
    }

    /// Takes over what has happened to placement handles.
    pub(super) fn note_events(&self) {
        if let Some(now) = self.drive.placement() {
            self.placements.take_over(&now, self.uptime_ms());
        }
    }

    /// Makes a controller with a number of its own, for which another one may have to make way. An error if there are
    /// too many.
    pub(super) fn add_controller(
        &self,
        make: impl FnOnce(u16) -> Controller,
    ) -> Result<Arc<Controller>, layout::Status> {
        let (new, gone) = self.controllers().add(make)?;
        if let Some(gone) = gone {
            gone.make_way();
        }
        Ok(new)
    }

    /// A controller, by its number.
    pub(super) fn controller(&self, id: u16) -> Option<Arc<Controller>> {
        self.controllers().all.get(&id).cloned()
    }

    /// The numbers of all controllers that are not for discovery, in order.
    pub(super) fn controller_ids(&self) -> Vec<u16> {
        let controllers = self.controllers();
        let of_storage = |(_, controller): &(&u16, &Arc<Controller>)| !controller.is_discovery;
        let mut ids: Vec<_> =
            controllers.all.iter().filter(of_storage).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids
    }

    /// Ends a controller and the connections of its queues.
    pub(super) fn end_controller(&self, controller: &Controller) {
        self.controllers().all.remove(&controller.id);
        controller.end();
    }

    /// Tells all controllers of an event.
    pub(super) fn announce(&self, event: Event) {
        for controller in self.controllers().all.values() {
            controller.announce(event);
        }
    }

    fn controllers(&self) -> MutexGuard<'_, Controllers> {
        lock(&self.controllers)
    }

    /// Adds to the error log; the number of the entry is given here.
    pub(super) fn log_error(&self, entry: ErrorEntry) {
        let count = self.tallies.errors.fetch_add(1, Ordering::Relaxed) + 1;
        let mut errors = lock(&self.errors);
        errors.truncate(ERRORS_MAX - 1);
        errors.push_front(ErrorEntry { count, ..entry });
    }

    /// The error log, newest first.
    pub(super) fn errors(&self) -> Vec<ErrorEntry> {
        lock(&self.errors).iter().copied().collect()
    }

    /// The last sanitize action, if there was one.
    pub(super) fn sanitized(&self) -> Option<u32> {
        *lock(&self.sanitized)
    }

    pub(super) fn set_sanitized(&self, action: u32) {
        *lock(&self.sanitized) = Some(action);
    }

    /// The health of the drive, and what hosts did.
    pub(super) fn smart(&self) -> Smart {
        let errors = self.tallies.errors.load(Ordering::Relaxed);
        let moved = *lock(&self.tallies.moved);
        let requests =
            |requests, bytes, failed| Requests { requests, bytes, failed, ..Requests::default() };
        let host = HostRequests {
            reads: requests(moved.reads, moved.read_bytes, 0),
            writes: requests(moved.writes, moved.written_bytes, errors),
            ..HostRequests::default()
        };
        let drive = self.drive.status();
        let serving = drive.flash.since(&self.at_begin);
        let status = Status { drive, serving, host, ..Status::default() };
        Smart::new(&status, &self.drive.block_map())
    }
}

const NAMESPACES_MAX: u64 = 1024;
