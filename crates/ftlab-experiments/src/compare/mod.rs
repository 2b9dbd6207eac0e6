//! The scoreboard: many FTLs over many workloads and drives, one cell at a time.
//!
//! A cell is one FTL on one drive under one workload. Cells are independent: they run on as many threads
//! as there are processors, one that fails does not disturb the others, and each is kept in a
//! [`CellStore`] as soon as it is finished, under a key that tells everything that decides it. What is
//! stored is not run again, however the run before ended.

mod cell;
mod comparison;
mod render;
mod score;
mod store;
mod trust;

pub use cell::{Cell, Outcome};
pub use comparison::{
    Comparison, OnCell, USUAL_OP_RATIOS, contestants, standard_ftls, without_series,
};
pub use render::{csv, markdown, short};
pub use score::{RIVALS, Score, Scoreboard, WorkloadScore};
pub use store::{CELLS, CellStore};
