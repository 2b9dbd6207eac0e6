//! The live drive: an FTL as a block device under real file systems and databases.
//!
//! A [`Drive`] runs a page-mapped FTL on flash that is stored in a file, and survives crashes of
//! its process and of the machine. `docs/notes/drive-format.md` describes the
//! medium, and proves that it suffices.
//!
//! It is a [`Store`], which the servers of `ftlab-serve` take. It knows none of them.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod drive;
#[doc(hidden)]
pub mod fuzz;
pub mod latency;
mod media;
mod memory;
mod store;

pub use drive::{
    BlockSnapshot, Checked, Copied, CreateOptions, Drive, HostObserver, OpenOptions, Recovery,
    Restored, ScrubbedPage, Snapshot, check, check_repaired, inspect, repair, restore,
};
pub use ftlab_flash::Lpn;
pub use ftlab_host::Timing;
pub use ftlab_spec::Spec;
pub use media::{Backing, BackingFile, MediaError, Notice, PowerCut, Superblock, Totals};
pub use memory::{check_creatable, check_openable, memory_bytes};
pub use store::{Extent, Store};
