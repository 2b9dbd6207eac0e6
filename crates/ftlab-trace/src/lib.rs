//! Where writes come from: trace formats and generators.

pub mod analyze;
pub mod format;
pub mod pages;
pub mod synthetic;

mod error;
mod hash;
mod input;
mod quantity;
mod range;
mod request;
mod sink;
mod skipped;
mod source;

pub use error::TraceError;
pub use hash::{RequestHasher, trace_hash};
pub use input::{Compression, Input};
pub use quantity::Bytes;
pub use range::{AddressRange, address_range, window};
pub use request::{BATCH_REQUESTS, Op, RequestBatch};
pub use sink::{
    CreateOptions, TraceSink, WRITERS, WriterInfo, Written, convert, convert_file, create,
};
pub use skipped::{Skipped, SkippedLines};
pub use source::{OpenOptions, TraceMetadata, TraceSource, open, open_input};
