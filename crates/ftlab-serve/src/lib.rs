//! The servers of a live drive: what clients talk to, and what they are shown.
//!
//! A server takes any [`Store`](ftlab_drive::Store): [`nbd`] and [`nvme`] over [sockets](net), [`FuseMount`] as a
//! file. [`Ram`] is a store in memory, for tests and measurements. The state that a drive reports ([`Observed`]) and
//! the measurements of its requests ([`Watched`]) feed a dashboard and metrics ([`http`]). [`Companions`] record what
//! the host does, or repeat it with other FTLs.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod access;
mod companions;
mod error;
mod fuse;
pub mod http;
mod monitor;
pub mod nbd;
pub mod net;
pub mod nvme;
mod observed;
mod paced;
mod ram;
mod smart;
mod status;
mod watched;

pub use access::AllowList;
pub use companions::{CompanionOptions, Companions, Prepared};
pub use error::ServeError;
pub use fuse::{FILE_NAME, FuseMount};
pub use monitor::{CompanionStatus, Monitor};
pub use paced::Paced;
pub use ram::Ram;
pub use smart::Smart;
pub use status::{
    BlockMap, DriveStatus, FlashCounters, Health, LineStyle, MapStatus, Observed, Placement,
    PlacementEvent, PlacementHandle, PlacementStatus, RecordingStatus, Region, Sample,
    ShadowStatus, Status,
};
pub use watched::{HostRequests, Latency, Requests, Watched};
