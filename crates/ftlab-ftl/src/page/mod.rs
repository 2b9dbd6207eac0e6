//! Page-mapped FTLs: one engine, and policies that only decide.
//!
//! The write path is in `engine.rs`: `write_page`, `make_room`, `collect`, `reclaim`. What it keeps is
//! [`Drive`], what decides is a [`Policy`], and what a policy remembers of the blocks is mostly a
//! [`BlockList`].

mod block_list;
mod check;
mod composed;
mod config;
mod drive;
mod engine;
mod ftl;
mod hash;
mod hotness;
mod lru_lists;
#[cfg(test)]
mod naive;
mod page_table;
pub mod placement;
pub mod policy;
pub mod scan;
mod sealed_blocks;
pub mod victim;

pub use block_list::BlockList;
pub use composed::Composed;
pub use config::{ConfigError, DriveConfig};
pub use drive::{Drive, Phase};
pub use engine::PageMapped;
pub use hotness::Hotness;
pub use policy::{HostWrite, Policy, Relocation, Stream, StreamId, Victims};
