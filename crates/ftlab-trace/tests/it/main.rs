//! Traces from bytes to requests and back.

mod common;

mod formats;
mod golden_formats;
mod parquet;
mod round_trips;
mod sources;
