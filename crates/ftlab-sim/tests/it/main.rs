//! Runs from beginning to end.
//!
//! What measures memory is in `tests/memory.rs`, a process of its own: others allocate at the same time.

mod caches;
mod fio_hosts;
mod golden_counters;
mod hints;
mod independence;
mod observed;
mod oracle;
mod own_policies;
mod requests;
mod schema;
mod transactions;
mod until_steady;
