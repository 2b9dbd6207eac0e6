//! Times and cells, compared with what is known of them.

mod cells;
mod femu;
mod merges;
mod queueing;
