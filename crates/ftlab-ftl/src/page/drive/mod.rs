//! What a page-mapped FTL keeps of its drive: mapping tables, erase blocks, their wear.

mod check;
pub(crate) mod tables;
pub(crate) mod wear;

pub use tables::{Drive, Phase};
pub use wear::{FreeBlock, WearLeveling};
