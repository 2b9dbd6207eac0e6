//! Maps that do not fit into memory, or tell the place of more than a page: what that costs on flash.
//!
//! The map lies on the drive itself, in *translation pages*, each of which holds the entries of consecutive pages of
//! the host. They are pages of the same engine, with numbers after those of the host: they become garbage, are
//! collected and moved, and wear out blocks like any other. A policy places the pages of the host as it would anyway;
//! translation pages have a stream and blocks of their own beside (`stream.rs`).
//!
//! ```text
//! write(page):
//!     if its entry is not in memory:
//!         while there is no room for it: drop entries; write those that changed back to their translation page
//!         read its translation page, for it and what may come with it
//!     write the page as ever; its entry has changed
//!     for each victim of collections since:
//!         entries of moved pages that are in memory change there
//!         the translation pages of the others are read, changed and written, each once
//! ```
//!
//! What is in memory is decided by a `Map`, a file of its own; `paged.rs` carries it out. What an entry tells the place
//! of is a page, or a unit of several (`units.rs`). An FTL whose map is in memory as a whole, by pages, has none of this.
//!
//! Translation pages can be in memory of the host, too (`hmb`), and are read from there. They are written to flash all
//! the same, since the host may take its memory back.

mod cdftl;
mod coldest;
mod contract;
mod dftl;
mod emptiest;
mod in_memory;
mod index;
mod leaftl;
mod learned;
mod learnedftl;
mod links;
#[cfg(test)]
mod live_tests;
mod lru;
mod mapping;
mod models;
mod paged;
mod sftl;
#[cfg(test)]
mod slow;
mod stream;
#[cfg(test)]
mod tests;
mod tpftl;
mod translation_pages;
#[cfg(test)]
mod twin;
mod units;
#[cfg(test)]
mod units_twin;
mod uses;
mod waiting;
mod watch;

/// Which version of what maps on flash keep in memory, read and write this program has.
pub const VERSION: u32 = 1;

pub use cdftl::CdftlParameters;
pub use dftl::DftlParameters;
pub use leaftl::LeaftlParameters;
pub use learnedftl::LearnedftlParameters;
pub use mapping::Mapping;
pub(crate) use paged::PagedMap;
pub use sftl::SftlParameters;
pub use tpftl::TpftlParameters;
