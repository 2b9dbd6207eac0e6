//! Generators, and jobs of fio among them.

#[path = "../../../ftlab-trace/tests/it/common/mod.rs"]
mod common;

mod generators;
mod jobs;
mod replays;
