//! FTLs over flash that checks what they do, and their counters.
//!
//! What counts allocations is in `tests/metadata.rs`, a process of its own: others allocate at the same time.

mod adopt;
mod adversaries;
mod faults;
mod golden;
mod golden_hybrid;
mod placement_handles;
mod public_maps;
mod reclaim_groups;
mod resume;
mod wolf;
