//! Where writes come from: trace formats and generators.
//!
//! A [`TraceSource`] hands out requests in batches, whether they come from a file ([`open`]) or
//! from a generator ([`synthetic::build`]). [`pages::expand`] turns a batch into page operations,
//! [`analyze::inspect`] says what is in a trace, [`create`] and [`convert`] write one, and
//! [`RequestHasher`] gives a trace its identity.
//!
//! ```
//! use ftlab_trace::analyze::{InspectOptions, inspect};
//! use ftlab_trace::synthetic::{Space, build};
//! use ftlab_trace::{CreateOptions, OpenOptions, convert, create, open};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("zipf.parquet");
//! // Ten thousand writes of fio's zipf to a drive of 1 GiB, kept as a file ...
//! let space = Space { logical_pages: 1 << 18, page_bytes: 4096, seed: 20_240_517 };
//! let mut generator = build(&"zipf:theta=0.9".parse()?, &space)?;
//! convert(generator.as_mut(), create(&path, &CreateOptions::default())?, Some(10_000))?;
//!
//! // ... read back, and looked at.
//! let mut trace = open(&path, &OpenOptions::default())?;
//! let inspection = inspect(trace.as_mut(), &InspectOptions::default())?;
//! assert_eq!(inspection.page_writes, 10_000);
//! assert!(inspection.distinct_pages < 7_000);
//! # Ok::<(), ftlab_trace::TraceError>(())
//! ```
//!
//! # To add a format
//! Write `src/format/NAME.rs` with a `FORMAT` (for text, a parser of one line is enough; see
//! [`format::blkparse`]), add it to [`format::FORMATS`], and put a small file and its golden parse
//! into `tests/`. Help, recognition, messages and the tests against rubbish follow from that line.
//!
//! # To add a generator
//! Write `src/synthetic/NAME.rs` with a `GENERATOR` that fills a slice with page numbers, and add
//! it to [`synthetic::GENERATORS`].
#![forbid(unsafe_code)]

pub mod analyze;
pub mod fio;
pub mod format;
pub mod pages;
pub mod synthetic;

mod arbiter;
mod caught;
mod clients;
mod closed_loop;
mod contents;
mod error;
mod hash;
mod identity;
mod input;
mod memory;
mod open;
mod open_options;
mod partial_file;
mod quantity;
mod range;
mod request;
mod sink;
mod skipped;
mod source;
mod streams;
mod volumes;
mod write_watch;

pub use arbiter::Arbiter;
pub use caught::panic_becomes_error;
pub use clients::Clients;
pub use closed_loop::{ClosedLoop, Done, Issued, Turn};
pub use contents::Contents;
pub use error::{TraceError, room};
pub use ftlab_hardware::share_one_heap;
pub use hash::{RequestHasher, trace_hash};
pub use identity::trace_identity;
pub use input::{Compression, Input, decode_text, files_beside, read_text};
pub use memory::{available_bytes, check_memory};
pub use open::{open, open_input};
pub use open_options::{Layout, OpenOptions};
pub use partial_file::{NewFile, PartialFile, check_file, check_unfinished, replace_file};
pub use quantity::Bytes;
pub use range::{AddressRange, address_range, address_range_of, window};
pub use request::{BATCH_REQUESTS, DATA_SECTORS_MAX, Op, RequestBatch};
pub use sink::{
    Converted, CreateOptions, Part, TraceSink, WRITERS, WriterInfo, Written, convert, convert_file,
    create, split_file,
};
pub use skipped::{Skipped, SkippedLines};
pub use source::{TraceMetadata, TraceSource};
pub use streams::{StreamMap, name_streams};
pub use write_watch::WriteWatch;
