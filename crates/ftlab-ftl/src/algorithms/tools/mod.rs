//! What algorithms share: lists and sets of blocks, tables of pages, hashes, intervals of updates, a classifier that
//! learns and what it learns from.

pub(crate) mod block_list;
pub(crate) mod emptiest;
pub(crate) mod hash;
pub(crate) mod hotness;
pub(crate) mod intervals;
pub(crate) mod lru_lists;
pub(crate) mod network;
pub(crate) mod page_table;
pub(crate) mod random;
pub(crate) mod samples;
pub(crate) mod sealed_blocks;

pub use block_list::BlockList;
pub use hotness::Hotness;
