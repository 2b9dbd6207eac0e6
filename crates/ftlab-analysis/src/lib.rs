//! What is in a workload, in one pass and constant memory per page.
//!
//! [`inspect`] finds out everything that there is to know and gives it as one value, an
//! [`Inspection`]: plain numbers and series, for any [`TraceSource`](ftlab_trace::TraceSource), file or
//! generator.
//!
//! Below that, [`analyze`] feeds what composes: an [`Analysis`] sees every request and page write
//! as it goes by, and a [`PageTable`] keeps, in 16 bytes per page, what the rest follows from.
//!
//! | statistic | file | from |
//! |---|---|---|
//! | operations, bytes, addresses, times | `inspect/requests.rs` | requests |
//! | request sizes | `inspect/sizes.rs` | requests |
//! | sequentiality | `inspect/sequentiality.rs` | requests |
//! | write intervals | `inspect/intervals.rs` | page writes |
//! | footprint | `inspect/footprint.rs` | page writes |
//! | what streams tell of lifetimes | `inspect/hints.rs` | requests |
//! | heat map | `heat_map.rs` | page writes |
//! | skew, update histogram | `write_counts.rs` | the page table |
//! | hot, warm and cold pages | `inspect/temperature.rs` | the page table |
//! | frozen pages | `inspect/frozen.rs` | the page table |
//! | what of a drive is written | `inspect/coverage.rs` | requests |
//!
//! The heat map and the skew are also what a run tells about its workload. The others need the feature `inspect`.
#![forbid(unsafe_code)]

mod heat_map;
#[cfg(feature = "inspect")]
mod inspect;
mod page_table;
mod pass;
mod write_counts;

pub use heat_map::{HeatMap, HeatMapCounter};
#[cfg(feature = "inspect")]
pub use inspect::*;
pub use page_table::{Counts, PageSummary, PageTable, PageWrite};
pub use pass::{Analysis, Extent, Pass, Request, analyze};
pub use write_counts::{Skew, SkewPoint, Updates, WriteCounts};
