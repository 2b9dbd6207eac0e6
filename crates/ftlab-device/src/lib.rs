//! The live drive: an FTL as a block device under real file systems and databases.
//!
//! A [`Drive`] runs a page-mapped FTL over flash that is kept in a file, and survives crashes of its process
//! and of the machine; `docs/drive-format.md` says what is on the medium, and why that suffices. Front ends
//! serve it as a [`Store`].
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod drive;
#[doc(hidden)]
pub mod fuzz;
mod media;
mod store;

pub use drive::{
    BlockSnapshot, Checked, CreateOptions, Drive, HostObserver, OpenOptions, Recovery, Snapshot,
    check, inspect,
};
pub use media::{Backing, MediaError, PowerCut, Superblock, Totals};
pub use store::Store;
