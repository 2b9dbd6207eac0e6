//! 2R: two regions, hot and cold, over one list of blocks.

mod fifo;
mod greedy;
mod plus_plus;
pub(crate) mod scan;

pub use fifo::TwoRFifo;
pub use greedy::TwoRGreedy;
pub use plus_plus::TwoRPlusPlus;
pub use scan::{Fallback, Scan, ScanParameters};
