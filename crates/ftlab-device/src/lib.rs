//! The live drive: an FTL as a block device under real file systems and databases.
//!
//! A [`Drive`] runs a page-mapped FTL on flash that is stored in a file, and survives crashes of
//! its process and of the machine. `docs/drive-format.md` describes the medium, and
//! `docs/notes/drive-format.md` proves that it suffices.
//!
//! Front ends serve it as a [`Store`]: [`nbd`] and [`nvme`] over [sockets](net), [`FuseMount`] as a file. [`Ram`] is a
//! store in memory, for tests and measurements. The state that a drive reports ([`Observed`]) and
//! the measurements of its requests ([`Watched`]) feed a dashboard and metrics ([`http`]).
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod access;
mod companions;
mod drive;
mod fuse;
#[doc(hidden)]
pub mod fuzz;
pub mod http;
mod latency;
mod media;
mod memory;
mod monitor;
pub mod nbd;
pub mod net;
pub mod nvme;
mod observed;
mod ram;
mod serve_error;
mod smart;
mod status;
mod store;
mod watched;

pub use access::AllowList;
pub use companions::{CompanionOptions, Companions, Prepared};
pub use drive::{
    BlockSnapshot, Checked, Copied, CreateOptions, Drive, HostObserver, OpenOptions, Recovery,
    Restored, ScrubbedPage, Snapshot, check, check_repaired, inspect, repair, restore,
};
pub use ftlab_flash::Lpn;
pub use ftlab_host::Timing;
pub use ftlab_spec::Spec;
pub use fuse::{FILE_NAME, FuseMount};
pub use latency::Paced;
pub use media::{Backing, BackingFile, MediaError, Notice, PowerCut, Superblock, Totals};
pub use memory::{check_creatable, check_openable, memory_bytes};
pub use monitor::{CompanionStatus, Monitor};
pub use ram::Ram;
pub use serve_error::ServeError;
pub use smart::Smart;
pub use status::{
    BlockMap, DriveStatus, FlashCounters, Health, LineStyle, Observed, Placement, PlacementEvent,
    PlacementHandle, PlacementStatus, RecordingStatus, Region, Sample, ShadowStatus, Status,
};
pub use store::{Extent, Store};
pub use watched::{HostRequests, Latency, Requests, Watched};
