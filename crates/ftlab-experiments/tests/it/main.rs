//! Sweeps and fits from beginning to end.

mod fit;
mod sweep;
