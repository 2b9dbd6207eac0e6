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
//! | operations, bytes, addresses, times | `requests.rs` | requests |
//! | request sizes | `sizes.rs` | requests |
//! | sequentiality | `sequentiality.rs` | requests |
//! | write intervals | `intervals.rs` | page writes |
//! | footprint | `footprint.rs` | page writes |
//! | heat map | `heat_map.rs` | page writes |
//! | skew, update histogram | `write_counts.rs` | the page table |
//! | hot, warm and cold pages | `temperature.rs` | the page table |
//! | frozen pages | `frozen.rs` | the page table |
//! | what of a drive is written | `coverage.rs` | requests |
#![forbid(unsafe_code)]

mod coverage;
mod footprint;
mod frozen;
mod heat_map;
mod inspection;
mod intervals;
mod page_table;
mod pass;
mod requests;
mod sample;
mod sequentiality;
mod sizes;
mod stack_distances;
mod temperature;
mod write_counts;

pub use coverage::Coverage;
pub use footprint::{Footprint, FootprintPoint};
pub use frozen::{FrozenPoint, frozen};
pub use heat_map::{HeatMap, HeatMapCounter};
pub use inspection::{
    InspectOptions, Inspection, Inspections, Inspector, LogWindow, PartSummary, inspect, schema,
};
pub use intervals::{IntervalQuantile, IntervalShare, IntervalSummary, Intervals};
pub use page_table::{Counts, PageSummary, PageTable, PageWrite};
pub use pass::{Analysis, Extent, Pass, Request, analyze};
pub use requests::{Operations, RequestCounter, RequestSummary};
pub use sample::{Draw, PageWrites, Reach, Sample, SampleSource, Samples};
pub use sequentiality::{SequentialCounter, SequentialShare, Sequentiality};
pub use sizes::{SizeBucket, SizeSummary, Sizes};
pub use stack_distances::StackDistances;
pub use temperature::{Temperature, TemperatureBin, TemperatureClass};
pub use write_counts::{Skew, SkewPoint, Updates, WriteCounts};
