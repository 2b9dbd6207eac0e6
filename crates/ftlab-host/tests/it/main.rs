//! Hosts over chips, with FTLs between them and without.

mod cached;
mod cells;
mod drive;
mod femu;
mod ftls;
mod incremental;
mod merges;
mod queueing;
mod requests;
