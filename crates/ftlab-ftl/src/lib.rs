//! Flash translation layers: one page-mapped engine, and policies that decide where pages go and
//! which blocks are collected.
//!
//! An FTL is `write`, `trim` and `read` over a [`Flash`](ftlab_flash::Flash). The same FTL runs over
//! flash that keeps nothing, for simulation, and over flash that keeps real data.
//!
//! ```
//! use ftlab_flash::{Geometry, Lpn, NoPayload};
//! use ftlab_ftl::page::{DriveConfig, GcSchedule, WearLeveling};
//! use ftlab_ftl::registry;
//!
//! let config = DriveConfig {
//!     geometry: Geometry::new(72, 128, 4096)?,
//!     logical_pages: 64 * 128,
//!     reserve_blocks: 4,
//!     gc_start_blocks: 0,
//!     early_valid_pages_max: 0,
//!     gc: GcSchedule::Foreground,
//!     wear: WearLeveling::default(),
//! };
//! let mut ftl = registry::build(&"2r-fifo:blk-util=0.4".parse()?, config, NoPayload, ())?;
//! for round in 0..4_u32 {
//!     for page in 0..config.logical_pages {
//!         ftl.write(Lpn(page * (2 * round + 1) % config.logical_pages), &[])?;
//!     }
//! }
//! let counters = ftl.counters();
//! assert_eq!(counters.host_writes, 4 * 64 * 128);
//! assert!(counters.waf().unwrap() >= 1.0);
//! ftl.check()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ftl;
pub mod hardware;
mod observer;
pub mod page;
pub mod registry;

pub use ftl::{
    Broken, Counters, ErrorOf, Ftl, FtlError, MemoryBytes, PageBatch, StreamCounters, StreamUse,
    Trim,
};
pub use observer::Observer;
pub use page::ConfigError;
