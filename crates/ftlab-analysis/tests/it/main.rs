//! What is found in workloads.

#[path = "../../../ftlab-trace/tests/it/common/mod.rs"]
mod common;

mod captured_statistics;
mod inspection;
mod inspection_schema;
