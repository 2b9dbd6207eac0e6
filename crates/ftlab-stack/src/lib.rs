//! The stack of a simulated drive as one type, [`AnyFtl`]: an FTL of any kind on flash of any kind.
//!
//! ```
//! use ftlab_flash::{Geometry, Lpn};
//! use ftlab_ftl::{PageBatch, map::Mapping, page::DriveConfig};
//! use ftlab_stack::{AnyFtl, OwnPolicies};
//!
//! let drive = DriveConfig::new(Geometry::new(28, 16, 4096)?, 256, 4);
//! let (spec, own) = ("2r++".parse()?, OwnPolicies::default());
//! let mut ftl = AnyFtl::new(&spec, &own, &Mapping::FULL, drive, None, None, false)?;
//! let writes = (0..256).chain(0..256).map(Lpn).collect();
//! ftl.apply(&PageBatch { writes, ..PageBatch::default() }, &[]).unwrap();
//! assert_eq!(ftl.tally().host_pages, 512);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The engines of `ftlab-ftl` are generic; every combination of policy, flash and observer that a
//! simulation needs becomes machine code here, and nowhere else. That takes most of the time of a build.
//! So nothing public is generic, which would be compiled again wherever it is used, and the crate uses no
//! more than the engines do: it is compiled while traces and results are.

#![forbid(unsafe_code)]

mod any_ftl;
mod error;
mod page_ages;
mod picture;
mod policies;
mod slc_cache;
mod steps;
mod stop;
mod tally;
mod watch;
mod watching;
#[cfg(test)]
mod workload;

pub use any_ftl::AnyFtl;
pub use error::StackError;
pub use page_ages::Moves;
pub use picture::{BlockPages, Picture};
pub use policies::{OwnPolicies, OwnPolicy};
pub use slc_cache::{SlcCache, WhenFull};
pub use steps::{Candidate, Step};
pub use stop::Stop;
pub use tally::Tally;
pub use watch::{BINS, Watch};
