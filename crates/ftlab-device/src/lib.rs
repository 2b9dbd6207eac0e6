//! The live drive: an FTL as a block device under real file systems and databases.
//!
//! A front end serves a [`Store`]: [`nbd`] over sockets. [`Ram`] is a store in memory, for tests and
//! measurements.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

pub mod nbd;
mod ram;
mod serve_error;
mod store;

pub use ram::Ram;
pub use serve_error::ServeError;
pub use store::Store;
