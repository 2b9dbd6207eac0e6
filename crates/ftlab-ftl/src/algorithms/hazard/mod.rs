//! Hazard: blocks are judged by the rate at which they lose pages.

mod estimate;
mod evidence;
mod ghosts;
mod lifetimes;
mod oracle_rate;
mod pages;
mod parameters;
mod policy;
mod regularity;
mod rungs;
mod runs;
mod score_board;
mod sharing;

pub use oracle_rate::OracleRate;
pub use parameters::{Estimates, HazardParameters, KnownPages, RateParameters, RuleChoice};
pub use policy::Hazard;
