//! The lock of a drive, and its background thread.

use crate::drive::checkpointing::{self, Access};
use crate::drive::core::{Core, read_only};
use crate::media::{Aim, Backing, Layout, Syncer};
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

/// A drive, shared by its threads.
pub(crate) struct Shared {
    core: Mutex<Core>,
    /// Signals work to the worker.
    work: Condvar,
    /// Signals to writers that a checkpoint has freed space in the journal.
    room: Condvar,
    syncer: Arc<Syncer>,
    pub(crate) backing: Arc<dyn Backing>,
    pub(crate) layout: Layout,
    /// Bytes that the host can address, and bytes per page.
    pub(crate) bytes: u64,
    pub(crate) page_bytes: u32,
    has_worker: bool,
    calls: Mutex<Calls>,
}

/// The tasks of the worker.
#[derive(Debug, Default)]
struct Calls {
    sync: bool,
    checkpoint: bool,
    end: bool,
}

impl Shared {
    pub(crate) fn new(mut core: Core, backing: Arc<dyn Backing>, has_worker: bool) -> Self {
        let syncer = Arc::clone(core.media().syncer());
        let config = core.superblock.config;
        let page_bytes = config.geometry.page_bytes();
        Self {
            backing,
            layout: core.superblock.layout,
            bytes: u64::from(config.logical_pages) * u64::from(page_bytes),
            page_bytes,
            core: Mutex::new(core),
            work: Condvar::new(),
            room: Condvar::new(),
            syncer,
            has_worker,
            calls: Mutex::default(),
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        // A panic under the lock is a bug, and leaves the drive as after a crash.
        self.core.lock().unwrap_or_else(|poisoned| {
            let mut core = poisoned.into_inner();
            core.give_up("a bug of ftlab stopped a write halfway".to_owned());
            core
        })
    }

    /// Locks for writing, once the journal has space for an operation.
    pub(crate) fn lock_to_write(&self) -> io::Result<MutexGuard<'_, Core>> {
        let mut core = self.lock();
        core.require_writable()?;
        while !core.has_room() {
            core = self.make_room(core)?;
        }
        Ok(core)
    }

    #[cold]
    fn make_room<'a>(&'a self, core: MutexGuard<'a, Core>) -> io::Result<MutexGuard<'a, Core>> {
        let core = if self.has_worker {
            self.call(|calls| calls.checkpoint = true);
            // A checkpoint that ends in between is seen in the next iteration.
            let waited = self.room.wait_timeout(core, std::time::Duration::from_millis(10));
            waited.unwrap_or_else(PoisonError::into_inner).0
        } else {
            drop(core);
            self.checkpoint()?;
            self.lock()
        };
        core.require_writable()?;
        Ok(core)
    }

    /// Unlocks after operations, and triggers the work that they made necessary.
    pub(crate) fn unlock(&self, mut core: MutexGuard<'_, Core>) -> io::Result<()> {
        let is_checkpoint_due = core.is_checkpoint_due();
        let has_erased = core.has_erased();
        drop(core);
        if !is_checkpoint_due && !has_erased {
            return Ok(());
        }
        if self.has_worker {
            self.call(|calls| {
                calls.checkpoint |= is_checkpoint_due;
                calls.sync |= has_erased;
            });
            Ok(())
        } else if is_checkpoint_due {
            self.checkpoint()
        } else {
            Ok(())
        }
    }

    /// Returns when all complete operations are durable.
    pub(crate) fn flush(&self) -> io::Result<()> {
        self.sync(Aim::Flush)
    }

    fn sync(&self, aim: Aim) -> io::Result<()> {
        let written = {
            let mut core = self.lock();
            core.require_writable()?;
            core.media().drain(aim).map_err(|reason| {
                core.give_up(reason.clone());
                read_only(&reason)
            })?
        };
        self.syncer.sync(written).inspect_err(|error| {
            let reason = self.syncer.failure().map_or_else(|| error.to_string(), str::to_owned);
            self.lock().give_up(reason);
        })
    }

    /// Writes a checkpoint, unless one is being written.
    pub(crate) fn checkpoint(&self) -> io::Result<()> {
        {
            let mut core = self.lock();
            core.require_writable()?;
            if std::mem::replace(&mut core.is_checkpointing, true) {
                return Ok(());
            }
        }
        let written = checkpointing::checkpoint(&mut { self });
        self.lock().is_checkpointing = false;
        self.room.notify_all();
        written
    }

    /// Waits for the checkpoint in progress, if there is one.
    pub(crate) fn wait_for_checkpoint(&self) {
        let is_busy = |core: &mut Core| core.is_checkpointing;
        drop(self.room.wait_while(self.lock(), is_busy));
    }

    fn call(&self, set: impl FnOnce(&mut Calls)) {
        set(&mut self.calls.lock().unwrap_or_else(PoisonError::into_inner));
        self.work.notify_one();
    }

    /// The loop of the worker.
    fn work(&self) {
        loop {
            let calls = {
                let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
                let is_idle = |calls: &mut Calls| !(calls.end || calls.sync || calls.checkpoint);
                let waited = self.work.wait_while(calls, is_idle);
                std::mem::take(&mut *waited.unwrap_or_else(PoisonError::into_inner))
            };
            if calls.end {
                return;
            }
            // An error has made the drive read-only, which the next write reports.
            if calls.checkpoint {
                let _ = self.checkpoint();
            } else {
                let _ = self.sync(Aim::Erases);
            }
        }
    }
}

impl Access for &Shared {
    fn with<T>(&mut self, f: impl FnOnce(&mut Core) -> T) -> T {
        f(&mut self.lock())
    }
}

/// The thread; it ends when it is dropped.
pub(crate) struct Worker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    pub(crate) fn start(shared: &Arc<Shared>) -> Self {
        let worker = Arc::clone(shared);
        let thread = thread::Builder::new()
            .name("drive".to_owned())
            .spawn(move || worker.work())
            .expect("the system can start a thread");
        Self { shared: Arc::clone(shared), thread: Some(thread) }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared.call(|calls| calls.end = true);
        if let Some(thread) = self.thread.take() {
            // A panic has been reported by the thread itself.
            let _ = thread.join();
        }
    }
}
