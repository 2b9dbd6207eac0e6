//! The live drive: an FTL as a block device under real file systems and databases.
//!
//! A front end serves a [`Store`]: [`nbd`] over sockets, [`FuseMount`] as a file. [`Ram`] is a store in
//! memory, for tests and measurements. What a drive tells of itself ([`Observed`]) and what is measured
//! while it serves ([`Watched`]) goes to a dashboard and metrics.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod fuse;
pub mod http;
mod monitor;
pub mod nbd;
mod ram;
mod serve_error;
mod status;
mod store;
mod watched;

pub use fuse::{FILE_NAME, FuseMount};
pub use monitor::{Company, Monitor};
pub use ram::Ram;
pub use serve_error::ServeError;
pub use status::{
    BlockMap, DriveStatus, FlashCounters, Health, Observed, RecordingStatus, Region, Sample,
    ShadowStatus, Status,
};
pub use store::Store;
pub use watched::{HostRequests, Latency, Requests, Watched};
