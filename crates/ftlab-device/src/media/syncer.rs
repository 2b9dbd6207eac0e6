//! Making things durable, one sync at a time, for everyone who waits.

use crate::media::Backing;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// How far something has come: written, or durable.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Operations that can be repeated: they are in the journal, and what they wrote is somewhere.
    pub(crate) operations: u64,
    /// Operations of which every page is in its place.
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
/// Whoever needs something durable has written it, [announces](Self::announce) how far that goes, and waits
/// for a sync that begins afterwards. Syncs are done one at a time, so whoever had to wait finds that the
/// next one, of whomever, was for all. After one has failed there is no other: what it would say of the
/// writes before the failure is not true.
pub(crate) struct Syncer {
    backing: Arc<dyn Backing>,
    written: Mutex<Progress>,
    /// Held while syncing.
    durable: Mutex<Progress>,
    /// The parts of `durable`, to look at without waiting.
    erases: AtomicU64,
    in_place: AtomicU64,
    operations: AtomicU64,
    syncs: AtomicU64,
    failure: OnceLock<String>,
}

impl Syncer {
    /// Of a backing on which `durable` is.
    pub(crate) fn new(backing: Arc<dyn Backing>, durable: Progress) -> Self {
        Self {
            backing,
            written: Mutex::new(durable),
            durable: Mutex::new(durable),
            erases: AtomicU64::new(durable.erases),
            in_place: AtomicU64::new(durable.in_place),
            operations: AtomicU64::new(durable.operations),
            syncs: AtomicU64::new(0),
            failure: OnceLock::new(),
        }
    }

    /// Takes note of what is written.
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
            let _ =
                self.failure.set(format!("what was written could not be made durable: {error}"));
            return Err(error);
        }
        self.syncs.fetch_add(1, Ordering::Relaxed);
        *durable = durable.max(written);
        self.erases.store(durable.erases, Ordering::Release);
        self.in_place.store(durable.in_place, Ordering::Release);
        self.operations.store(durable.operations, Ordering::Release);
        Ok(())
    }

    /// Whether the block that was erased with this number may be overwritten.
    #[inline]
    pub(crate) fn covers(&self, erase: u64) -> bool {
        erase <= self.erases.load(Ordering::Acquire)
    }

    /// Operations of which every page is durable in its place.
    pub(crate) fn in_place(&self) -> u64 {
        self.in_place.load(Ordering::Acquire)
    }

    /// Operations that any crash leaves.
    pub(crate) fn operations(&self) -> u64 {
        self.operations.load(Ordering::Acquire)
    }

    /// Syncs so far.
    pub(crate) fn syncs(&self) -> u64 {
        self.syncs.load(Ordering::Relaxed)
    }

    /// Why nothing can be made durable any more.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}
