//! Victim rules: which blocks a collection takes.

mod cat;
mod cost_benefit;
pub(crate) mod d_choices;
mod fifo;
mod greedy;
mod random;
mod windowed_greedy;

pub use cat::Cat;
pub use cost_benefit::{CostBenefit, CostBenefitParameters, Score};
pub use d_choices::{DChoices, DChoicesParameters};
pub use fifo::Fifo;
pub use greedy::Greedy;
pub use random::{Random, RandomParameters};
pub use windowed_greedy::{WindowedGreedy, WindowedGreedyParameters};
