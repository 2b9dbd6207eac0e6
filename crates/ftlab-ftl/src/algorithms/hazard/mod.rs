//! Hazard: blocks are judged by the rate at which they lose pages.

mod evidence;
mod lifetimes;
mod parameters;
mod policy;
mod rungs;
mod runs;
mod score_board;
mod sharing;
mod spread;

pub use parameters::{Estimates, HazardParameters};
pub use policy::Hazard;
