//! Sweeps and fits from beginning to end, and results.

mod fit;
mod results;
mod same_answer;
mod sweep;
