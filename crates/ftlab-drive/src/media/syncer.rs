//! Group commit: one sync at a time, shared by all waiting threads.

use crate::media::Backing;
use crate::media::mark::Mark;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How far writing, or durability, has progressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Operations that can be replayed: they are in the journal, and their data is in a place or in
    /// the journal.
    pub(crate) operations: u64,
    /// Operations whose pages are all in their places.
    pub(crate) in_place: u64,
    /// Erases whose blocks may be overwritten.
    pub(crate) erases: u64,
}

impl Progress {
    fn max(self, other: Self) -> Self {
        Self {
            operations: self.operations.max(other.operations),
            in_place: self.in_place.max(other.in_place),
            erases: self.erases.max(other.erases),
        }
    }
}

/// Syncs the backing.
///
/// A thread that needs durability has written its data, [announces](Self::announce) how far it got,
/// and waits for a sync that begins afterwards. Syncs run one at a time, so that the next one,
/// started by any thread, serves all that are waiting. After a failed sync there are no further
/// ones: their success would say nothing about the writes before the failure.
pub(crate) struct Syncer {
    backing: Arc<dyn Backing>,
    mark: Mark,
    written: Mutex<Progress>,
    /// Held while syncing.
    durable: Mutex<Progress>,
    /// The parts of `durable`, readable without waiting.
    erases: AtomicU64,
    in_place: AtomicU64,
    operations: AtomicU64,
    syncs: AtomicU64,
    failure: OnceLock<String>,
}

impl Syncer {
    /// For a backing on which `durable` is already durable.
    pub(crate) fn new(backing: Arc<dyn Backing>, durable: Progress, mark: Mark) -> Self {
        Self {
            backing,
            mark,
            written: Mutex::new(durable),
            durable: Mutex::new(durable),
            erases: AtomicU64::new(durable.erases),
            in_place: AtomicU64::new(durable.in_place),
            operations: AtomicU64::new(durable.operations),
            syncs: AtomicU64::new(0),
            failure: OnceLock::new(),
        }
    }

    /// Announces what has been written.
    pub(crate) fn announce(&self, written: Progress) {
        let mut all = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        *all = all.max(written);
    }

    /// Returns when `needed`, which is written, is durable.
    pub(crate) fn sync(&self, needed: Progress) -> io::Result<()> {
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        if durable.max(needed) == *durable {
            return Ok(());
        }
        self.sync_now(&mut durable)
    }

    /// Syncs in any case.
    pub(crate) fn sync_all(&self) -> io::Result<()> {
        let mut durable = self.durable.lock().unwrap_or_else(PoisonError::into_inner);
        self.sync_now(&mut durable)
    }

    fn sync_now(&self, durable: &mut Progress) -> io::Result<()> {
        if let Some(failure) = self.failure.get() {
            return Err(io::Error::other(failure.clone()));
        }
        let written = *self.written.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = self.backing.sync() {
            let _ = self.failure.set(format!("writes could not be made durable: {error}"));
            return Err(error);
        }
        self.syncs.fetch_add(1, Ordering::Relaxed);
        if written.operations > durable.operations {
            self.mark(written.operations)?;
        }
        *durable = durable.max(written);
        self.erases.store(durable.erases, Ordering::Release);
        self.in_place.store(durable.in_place, Ordering::Release);
        self.operations.store(durable.operations, Ordering::Release);
        Ok(())
    }

    /// Writes the flush mark.
    fn mark(&self, operations: u64) -> io::Result<()> {
        self.mark.write(&*self.backing, operations).inspect_err(|error| {
            let _ = self.failure.set(format!("the flush mark could not be written: {error}"));
        })
    }

    /// Erases whose blocks may be overwritten.
    #[inline]
    pub(crate) fn erases(&self) -> u64 {
        self.erases.load(Ordering::Acquire)
    }

    /// Whether the block that was erased with this number may be overwritten.
    #[inline]
    pub(crate) fn covers(&self, erase: u64) -> bool {
        erase <= self.erases()
    }

    /// Operations whose pages are all durable in their places.
    pub(crate) fn in_place(&self) -> u64 {
        self.in_place.load(Ordering::Acquire)
    }

    /// Operations that survive any crash.
    pub(crate) fn operations(&self) -> u64 {
        self.operations.load(Ordering::Acquire)
    }

    /// Syncs so far.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// The error after which nothing can be made durable any more.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}
