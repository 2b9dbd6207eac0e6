//! Which drive has given a series of host and media bytes: over-provisioning, unit size, reserve and FTL.
//!
//! Drives are simulated scaled down: the number of units and the number of drive writes stay, and a unit has fewer
//! pages. Every FTL is tried on a coarse grid of over-provisioning; those that come near are followed to a tenth of a
//! point of over-provisioning and to the best size of units; then [`Bounds`] tell what the series does not. All runs
//! are kept, so that a fit that was stopped goes on where it was.

mod answer;
mod bounds;
mod counters;
mod drive;
mod question;
mod search;
mod series;

pub use answer::{Fit, TRIALS, Trials, USUAL_OP_RATIOS, USUAL_PAGES, possible_ftls, unit_pages};
pub use bounds::{Bounds, ProfilePoint};
pub use drive::{Candidate, Trial, Written};
pub use question::Question;
pub use series::{Distance, Measured};
