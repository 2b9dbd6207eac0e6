//! What a page-mapped FTL keeps of its drive: mapping tables, erase blocks, their wear.
//!
//! Fields are private to this folder. The engine changes a drive by methods that say, and in tests
//! assert, what holds before and after: those of blocks in `blocks.rs`, those of pages in `pages.rs`.

mod block;
mod blocks;
mod check;
mod mapping;
mod paged;
mod paged_tables;
mod pages;
mod places;
mod runs;
mod tables;
#[cfg(test)]
mod twin;
mod walk;
mod wear;

pub use block::Phase;
pub use paged_tables::sum_of_owners;
pub use tables::{DriveState, SeenAs};
#[cfg(test)]
pub(crate) use twin::{Twin, TwinBlock};
pub use wear::{FreeBlock, WearLeveling};
