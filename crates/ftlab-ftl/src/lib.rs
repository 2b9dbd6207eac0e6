//! Flash translation layers: one page-mapped engine, and policies that decide where pages go and
//! which blocks are collected; and hybrid-mapped ones, whose log is merged into data blocks.
//!
//! An FTL is `write`, `trim` and `read` over a [`Flash`](ftlab_flash::Flash). The same FTL runs over
//! flash that keeps nothing, for simulation, and over flash that keeps real data.
//!
//! ```
//! use ftlab_flash::{Geometry, Lpn, NoPayload};
//! use ftlab_ftl::page::DriveConfig;
//! use ftlab_ftl::registry;
//!
//! let config = DriveConfig::new(Geometry::new(72, 128, 4096)?, 64 * 128, 4);
//! let mut ftl = registry::build_boxed(&"2r-fifo:blk-util=0.4".parse()?, config, NoPayload, ())?;
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

pub mod algorithms;
mod bits;
mod boxable;
mod chosen_rule;
pub mod colours;
mod engine;
mod ensure;
mod ftl;
pub mod hybrid;
pub mod map;
mod map_counts;
mod metadata;
mod metadata_budget;
#[cfg(test)]
mod naive;
mod observer;
pub mod page;
mod page_table;
mod placement_handles;
pub mod registry;
mod slc_counts;
mod state;
mod stream;

pub use ftlab_memory as memory;

pub use chosen_rule::ChosenRule;
pub use engine::Engine;
pub use ftl::{
    BlockUse, Broken, Counters, DynFtl, DynInner, ErrorOf, Ftl, FtlError, MemoryBytes, Merges,
    PageBatch, PageWrite, StreamCounters, StreamUse, Trim,
};
pub use map_counts::MapCounts;
pub use metadata::{LINK_BITS, Metadata, STAMP_BITS, bits_for};
pub use metadata_budget::MetadataBudget;
pub use observer::Observer;
pub use page::ConfigError;
pub use placement_handles::{
    EVENTS_KEPT, HandleCounters, HandleEvent, HandleEventKind, HandleUse, IdentifierFormat,
    Isolation, NO_HANDLE, PlacementHandles,
};
pub use slc_counts::SlcCounts;
pub use state::{Archive, Restored, Saved, State, StateError};
