//! Questions that take many experiments, and results as files.
//!
//! - [`sweep`]: an experiment file is many runs, carried out on all processors, kept, and held against
//!   what is expected of them.
//! - [`compare`]: a scoreboard of many FTLs over many workloads and drives.
//! - [`advise`]: which FTL, and how much over-provisioning, for a target.
//! - [`curve`]: what over-provisioning brings, from whole runs or from samples of pages.
//! - [`fit`]: which drive has given a series of host and media bytes.
//! - [`latency_fit`]: which times explain the latency of a real drive under load.
//! - [`zones`]: which zones a host should write on a drive that has none.
//! - [`mapping_cache`]: how much memory the map of a drive needs.
//! - [`load`]: how long requests take, the closer to what a drive can do.
//! - [`write_results`], [`read_results`]: the result of an experiment in a directory.

#![forbid(unsafe_code)]

pub mod advise;
pub mod columns;
pub mod compare;
pub mod curve;
mod error;
pub mod fit;
mod identity;
mod kept;
pub mod latency_fit;
pub mod load;
pub mod mapping_cache;
mod output;
mod parallel;
pub mod sweep;
pub mod timeline;
pub mod zones;

pub use compare::without_series;
pub use error::ExperimentsError;
pub use identity::not_reused;
pub use kept::Kept;
pub use output::{check_results, read_results, write_results};
pub use parallel::{Stop, lock, parallel, when_it_fits};
