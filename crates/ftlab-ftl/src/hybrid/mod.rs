//! Hybrid-mapped FTLs: data blocks are mapped by block, a log of rewritten pages by page.
//!
//! Every logical block has a data block, in which a page has its place. A page is written there while
//! its place is clean; later versions go to a log block. Log blocks are few, and become free only
//! when the pages in them are rewritten or *merged*: a merge brings the newest versions of all pages
//! of a logical block together in one block, which becomes its data block.
//!
//! [`HybridDrive`] keeps both maps and carries out merges. Where a page goes that its data block cannot
//! take, and what is merged when, is up to a [`LogSpace`]: [`Fmax`], [`Bast`], [`Fast`], [`Kast`], [`Last`] and
//! [`Faster`].
//! [`Page`] is the page-mapped rival that they are compared with.
//!
//! # Size
//! The drive has as many erase blocks as any other FTL would get. With L logical pages and B pages
//! per block, D = ceil(L / B) of them are data blocks; one more is always free to merge into (and one
//! is the sequential log block, if there is one); all others, N, are the log. So `--op 10%`, rounded
//! up to whole blocks, is a log space of 10% and the block to merge into, unless 10% of D is a whole
//! number of blocks.
//!
//! A reserve of free blocks means nothing here and is ignored.

mod bast;
mod check;
mod drive;
mod entry;
mod fast;
mod faster;
mod fmax;
mod ftl;
mod isolation;
mod kast;
mod last;
mod log;
#[cfg(test)]
mod naive;
mod own_logs;
mod page;
mod rings;
mod sequential;

pub use bast::{Bast, BastParameters, BastVictim};
pub use drive::{HybridDrive, LogicalBlock, Outcome};
pub use entry::FtlEntry;
pub use fast::{Fast, FastParameters};
pub use faster::{Faster, FasterParameters};
pub use fmax::Fmax;
pub use ftl::Hybrid;
pub use isolation::IsolationKind;
pub use kast::{Kast, KastParameters};
pub use last::{Last, LastParameters};
pub use log::{LogSize, LogSpace};
pub use page::Page;
