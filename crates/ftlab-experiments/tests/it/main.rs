//! Sweeps and fits from beginning to end, and results.

mod curve;
mod fit;
#[allow(dead_code, reason = "the example uses more of it")]
mod hidden;
mod latency_fit;
mod results;
mod same_answer;
mod sweep;
