//! Page-mapped FTLs: one engine, and policies that only decide.
//!
//! The write path is in `engine.rs`: `write_page`, `make_room`, `collect`, `reclaim`. What it keeps is
//! [`Drive`], what decides is a [`Policy`], and what a policy remembers of the blocks is mostly a
//! [`BlockList`]. What may be due behind a write is in `background.rs`, with collection in steps
//! (`incremental.rs`), wear levelling (`wear.rs`) and blocks that fail (`retire.rs`) behind it.

mod background;
mod block_list;
mod check;
mod composed;
mod config;
mod drive;
mod engine;
mod ftl;
mod gc_schedule;
mod hash;
mod hotness;
mod incremental;
mod intervals;
mod lru_lists;
#[cfg(test)]
mod naive;
mod page_table;
pub mod placement;
pub mod policy;
mod resume;
mod retire;
pub mod scan;
mod sealed_blocks;
pub mod victim;
mod wear;

pub use block_list::BlockList;
pub use composed::Composed;
pub use config::{ConfigError, DriveConfig};
pub use drive::{Drive, Phase};
pub use engine::PageMapped;
pub use gc_schedule::{GarbageParameters, GcSchedule, IncrementalParameters};
pub use hotness::Hotness;
pub use policy::{Hint, Hints, HostWrite, Policy, Relocation, Stream, StreamId, Victims};
pub use resume::Resume;
pub use wear::{FreeBlock, WearLeveling};
