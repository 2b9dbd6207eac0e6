//! 2R: two regions, hot and cold, over one list of blocks.

mod depth;
mod fifo;
mod greedy;
mod plus_plus;
mod regions;
mod scan;
mod shadow;
mod victims;

pub use fifo::TwoRFifo;
pub use greedy::TwoRGreedy;
pub use plus_plus::TwoRPlusPlus;
pub use scan::Fallback;
pub use victims::{VictimChoice, VictimParameters};
