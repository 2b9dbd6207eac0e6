//! What a simulation does for each page and each request, besides the FTL: the requests of a workload become batches of
//! page writes, cut where the schedule says, and an FTL is fed with them. Hosts with a clock wait for it.

#![forbid(unsafe_code)]

mod error;
mod expander;
mod fed;
mod feed;
mod footprint;
mod hosted;
mod lifetimes;
mod schedule;
mod sequential;
mod stopwatch;
mod transactions;
mod watch;

pub use error::FeedError;
pub use expander::{Bounds, Segment};
pub use fed::{Fed, Record, Taken};
pub use feed::{Brought, Chunk, Feed};
pub use footprint::Footprint;
pub use hosted::{Hosted, Shared, shared};
pub use lifetimes::{Lifetimes, LookAhead};
pub use schedule::{INTERVALS_MAX, Marks, Pass, Schedule};
pub use sequential::sequential;
pub use stopwatch::Spent;
pub use transactions::Transactions;
pub use watch::WorkloadWatch;
