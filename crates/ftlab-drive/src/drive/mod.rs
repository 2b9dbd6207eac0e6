//! The drive: an FTL on media, as a byte-addressed block device.
//!
//! ```
//! use ftlab_drive::{CreateOptions, Drive, OpenOptions, Store};
//! use ftlab_flash::Geometry;
//! use ftlab_ftl::map::Mapping;
//! use ftlab_ftl::page::DriveConfig;
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("drive");
//! let config = DriveConfig::new(Geometry::new(72, 128, 4096)?, 64 * 128, 4);
//! let options =
//!     CreateOptions { ftl: "2r++".parse()?, config, mapping: Mapping::FULL, checkpoint_every: None };
//! Drive::create(&path, &options)?;
//!
//! let drive = Drive::open(&path, OpenOptions::default())?;
//! drive.write(8192, b"hello")?;
//! drive.flush()?;
//! drop(drive);
//!
//! let drive = Drive::open(&path, OpenOptions::default())?;
//! let mut text = [0; 5];
//! drive.read(8192, &mut text)?;
//! assert_eq!(&text, b"hello");
//! assert_eq!(drive.snapshot().counters.host_writes, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod allocation;
mod check;
mod checkpointing;
mod copy;
mod copying;
mod core;
mod counted;
mod healing;
mod locate;
mod map_pages;
mod opening;
mod options;
mod placement;
mod recovery;
mod repair;
mod replaying;
mod requests;
mod restore;
mod scrub;
mod snapshot;
mod survey;
#[cfg(test)]
pub(crate) mod tests;
mod worker;

pub(crate) use replaying::needs_replay;

pub use check::{Checked, check, inspect};
pub use copy::Copied;
pub use opening::Recovery;
pub use options::{CreateOptions, HostObserver, OpenOptions};
pub use repair::{check_repaired, repair};
pub use restore::{Restored, restore};
pub use scrub::ScrubbedPage;
pub use snapshot::{BlockSnapshot, Snapshot};

use crate::drive::core::Core;
use crate::latency::Clock;
use crate::media::{Backing, BackingFile, MediaError, Superblock};
use ftlab_flash::{Geometry, Lpn};
use ftlab_ftl::MapCounts;
use opening::{How, MayLose};
use rustix::fs::FlockOperation;
use std::fs::{self, File};
use std::io;
use std::num::NonZeroU32;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use worker::{Shared, Worker};

/// Makes the directory entry of a new file durable.
fn sync_directory(path: &Path) -> Result<(), MediaError> {
    let directory = match path.parent() {
        Some(directory) if directory != Path::new("") => directory,
        _ => Path::new("."),
    };
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| MediaError::io(format!("make {} durable", path.display()), error))
}

/// An open drive. It is closed when dropped; [`close`](Self::close) reports whether that failed.
pub struct Drive {
    shared: Arc<Shared>,
    worker: Option<Worker>,
    recovery: Recovery,
    /// It can be read only, since it was opened: there is nothing to make durable.
    is_view: bool,
    is_closed: bool,
    endurance_cycles: Option<NonZeroU32>,
}

impl Drive {
    /// Creates a new drive in a sparse file that must not exist yet, and that only its owner can read.
    pub fn create(path: &Path, options: &CreateOptions) -> Result<Superblock, MediaError> {
        let superblock = options.plan()?;
        let mut file = File::options();
        let opened = file.read(true).write(true).create_new(true).mode(0o600).open(path);
        let file = opened.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => MediaError::Exists(path.to_owned()),
            _ => MediaError::io(format!("create {}", path.display()), error),
        })?;
        let made = file
            .set_len(superblock.layout.bytes())
            .map_err(|error| MediaError::io(format!("make {} long enough", path.display()), error))
            .and_then(|()| lock(&file, path, FlockOperation::NonBlockingLockExclusive))
            .and_then(|()| Self::format(&(Arc::new(BackingFile::new(file)) as _), &superblock))
            .and_then(|()| sync_directory(path));
        if made.is_err() {
            // We created it, and it is not a drive.
            let _ = fs::remove_file(path);
        }
        made.map(|()| superblock)
    }

    /// The size of the backing of such a drive, in bytes.
    pub fn backing_bytes(options: &CreateOptions) -> Result<u64, MediaError> {
        options.plan().map(|superblock| superblock.layout.bytes())
    }

    /// Creates a new drive on a backing of zeros.
    pub fn create_on(
        backing: &Arc<dyn Backing>,
        options: &CreateOptions,
    ) -> Result<Superblock, MediaError> {
        let superblock = options.plan()?;
        Self::format(backing, &superblock).map(|()| superblock)
    }

    fn format(backing: &Arc<dyn Backing>, superblock: &Superblock) -> Result<(), MediaError> {
        let mut core = Core::empty(Arc::clone(backing), superblock)?;
        // Both slots: one damaged sector must not cost a new drive.
        for _ in 0..2 {
            core.checkpoint_now().map_err(|error| MediaError::io("write a checkpoint", error))?;
        }
        superblock.write(&**backing)?;
        backing.sync().map_err(|error| MediaError::io("make the drive durable", error))
    }

    /// Opens a drive; if it was not closed, recovers its last durable state or a later one.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Self, MediaError> {
        let file = File::options().read(true).write(!options.read_only).open(path);
        let file =
            file.map_err(|error| MediaError::io(format!("open {}", path.display()), error))?;
        let how = if options.read_only {
            FlockOperation::NonBlockingLockShared
        } else {
            FlockOperation::NonBlockingLockExclusive
        };
        lock(&file, path, how)?;
        Self::open_with(Arc::new(BackingFile::new(file)), options, true)
    }

    /// Opens the drive on a backing that is not in use elsewhere.
    pub fn open_on(backing: Arc<dyn Backing>, options: OpenOptions) -> Result<Self, MediaError> {
        Self::open_with(backing, options, true)
    }

    /// Opens a drive without a worker thread: the writing thread does its work, so what the backing sees is
    /// deterministic.
    pub fn open_alone(backing: Arc<dyn Backing>, options: OpenOptions) -> Result<Self, MediaError> {
        Self::open_with(backing, options, false)
    }

    fn open_with(
        backing: Arc<dyn Backing>,
        options: OpenOptions,
        has_worker: bool,
    ) -> Result<Self, MediaError> {
        let (superblock, damaged) = Superblock::read(&*backing)?;
        if let Some(expected) = options.uuid.filter(|uuid| *uuid != superblock.uuid) {
            return Err(MediaError::WrongDrive { expected, found: superblock.uuid });
        }
        let may_lose = if options.salvage { MayLose::Operations } else { MayLose::Nothing };
        let (is_taken_over, needs_all) = (options.ftl.is_some(), options.read_only);
        let superblock = match options.ftl {
            Some(ftl) => superblock.taken_over(ftl)?,
            None => superblock,
        };
        let other = options.mapping.filter(|mapping| *mapping != superblock.mapping);
        let (superblock, before) = match other.filter(|_| !options.read_only) {
            Some(mapping) => (superblock.remapped(mapping)?, Some(superblock.mapping.name())),
            None => (superblock, None),
        };
        // Another FTL, and a map that is in memory from now on, take over what is found.
        let is_taken_over = is_taken_over || before.is_some() && !superblock.is_paged();
        if before.is_some() && !is_taken_over {
            // Whoever opens it from now on changes the rest.
            superblock.write(&*backing)?;
        }
        let how = How { may_lose, is_taken_over, needs_all };
        let (mut core, mut recovery) = if options.read_only {
            recovery::view(&backing, &superblock, how, "it was opened for reading only")?
        } else {
            recovery::recover(&backing, &superblock, how)?
        };
        let is_view = core.read_only.is_some();
        if damaged.is_some() && !is_view {
            core.heal_superblocks(&mut recovery.healed);
        }
        recovery.other_map = recovery.other_map.or(before);
        recovery.damage.extend(damaged.map(|damage| damage.to_string()));
        core.observer = options.observer;
        if let Some(timing) = options.timing {
            let erases = |block| core.ftl.drive().erases(block);
            let clock = Clock::new(&timing, &superblock.config.geometry, erases);
            core.media().set_clock(clock);
        }
        if let Some(notice) = options.notice {
            core.media().set_notice(notice);
        }
        let shared = Arc::new(Shared::new(core, backing, has_worker));
        let worker = (has_worker && !is_view).then(|| Worker::start(&shared));
        let endurance_cycles = options.endurance_cycles;
        Ok(Self { shared, worker, recovery, is_view, is_closed: false, endurance_cycles })
    }

    /// How it was opened.
    pub fn recovery(&self) -> &Recovery {
        &self.recovery
    }

    /// Why it can be read only since it was opened: that was asked for, or what it takes could not be written.
    pub fn read_only(&self) -> Option<String> {
        self.is_view.then(|| self.shared.lock().read_only.clone()).flatten()
    }

    /// The geometry of its flash.
    pub fn geometry(&self) -> Geometry {
        self.shared.lock().superblock.config.geometry
    }

    /// Program/erase cycles that a block endures, if it was opened with a rating.
    pub fn endurance_cycles(&self) -> Option<u32> {
        self.endurance_cycles.map(NonZeroU32::get)
    }

    /// A snapshot of its counters without the individual blocks: fast.
    pub fn snapshot(&self) -> Snapshot {
        self.shared.lock().snapshot(false)
    }

    /// A snapshot of its counters and of every block.
    pub fn snapshot_with_blocks(&self) -> Snapshot {
        self.shared.lock().snapshot(true)
    }

    /// Logical page -> flash page, [`u32::MAX`] if a page holds no data, or it cannot be read where it is.
    pub fn mapping(&self) -> Vec<u32> {
        let mut core = self.shared.lock();
        let pages = (0..core.superblock.config.logical_pages).map(Lpn);
        let place = |lpn| core.find(lpn).ok().flatten().map_or(u32::MAX, |page| page.0);
        pages.map(place).collect()
    }

    /// What its map has done, if that is on flash.
    pub fn map_counts(&self) -> Option<MapCounts> {
        self.shared.lock().ftl.map_counts()
    }

    /// Writes a checkpoint now.
    pub fn checkpoint(&self) -> io::Result<()> {
        self.shared.wait_for_checkpoint();
        self.shared.checkpoint()
    }

    /// Writes a checkpoint, so that the next opening has nothing to replay, and closes the drive.
    pub fn close(mut self) -> io::Result<()> {
        self.shut_down()
    }

    fn shut_down(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.is_closed, true) {
            return Ok(());
        }
        self.worker = None;
        if self.is_view {
            return Ok(());
        }
        let is_changed = {
            let mut core = self.shared.lock();
            core.require_writable()?;
            let operations = core.media().operations();
            operations != core.newest.head.operations || core.media().has_mended()
        };
        if is_changed { self.shared.checkpoint() } else { Ok(()) }
    }

    /// Ends like a killed process: buffered data is lost.
    pub fn abandon(mut self) {
        self.is_closed = true;
        self.worker = None;
    }
}

impl Drop for Drive {
    fn drop(&mut self) {
        // Errors are reported only by `close`.
        let _ = self.shut_down();
    }
}

/// Locks the file against other processes.
fn lock(file: &File, path: &Path, how: FlockOperation) -> Result<(), MediaError> {
    rustix::fs::flock(file, how).map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => MediaError::InUse(path.to_owned()),
        error => MediaError::io(format!("lock {}", path.display()), error),
    })
}
