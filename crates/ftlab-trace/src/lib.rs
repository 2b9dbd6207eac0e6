//! Requests, and traces that hold them: reading, writing, converting.
//!
//! A [`TraceSource`] hands out requests in batches: a file that was opened ([`open`]), or a generator of
//! `ftlab-workload`. [`pages::expand`] turns a batch into page operations, [`create`] and [`convert`] write a trace, and
//! [`RequestHasher`] gives one its identity.
//!
//! ```
//! use ftlab_trace::{CreateOptions, Input, OpenOptions, convert, create, open, open_input};
//!
//! # let directory = tempfile::tempdir().unwrap();
//! # let path = directory.path().join("a.parquet");
//! // Two writes and a trim as text, kept as Parquet ...
//! let text = "fio version 2 iolog\nd open\nd write 0 4096\nd write 8192 4096\nd trim 0 4096\n";
//! let options = OpenOptions::default();
//! let mut log = open_input(Input::from_bytes("a.log", text)?, &options)?;
//! let converted = convert(log.as_mut(), create(&path, &CreateOptions::default())?, None)?;
//! assert_eq!(converted.requests, 3);
//!
//! // ... and read back.
//! let trace = open(&path, &options)?;
//! assert_eq!(trace.metadata().format, "parquet");
//! # Ok::<(), ftlab_trace::TraceError>(())
//! ```
//!
//! # To add a format
//! Write `src/format/NAME.rs` with a `FORMAT` (for text, a parser of one line is enough; see
//! [`format::blkparse`]), add it to [`format::FORMATS`], and put a small file and its golden parse
//! into `tests/`. Help, recognition, messages and the tests against rubbish follow from that line.
#![forbid(unsafe_code)]

pub mod format;
pub mod pages;

mod caught;
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
#[cfg(feature = "write")]
mod sink;
mod skipped;
mod source;
mod space;
mod streams;
mod volumes;

pub use caught::panic_becomes_error;
pub use closed_loop::{ClosedLoop, Done, Issued, Turn};
pub use contents::{Contents, Stamp};
pub use error::{TraceError, excerpt, room};
pub use hash::{RequestHasher, trace_hash};
pub use identity::trace_identity;
pub use input::{
    Compression, Input, ItemParser, LineSource, RecordSource, Verdict, decode_text, files_beside,
    read_text,
};
pub use memory::{available_bytes, check_memory};
pub use open::{open, open_input};
pub use open_options::{Layout, OpenOptions};
pub use partial_file::{NewFile, PartialFile, check_file, check_unfinished, replace_file};
pub use quantity::Bytes;
pub use range::{AddressRange, address_range, address_range_of, window};
pub use request::{BATCH_REQUESTS, DATA_SECTORS_MAX, Op, RequestBatch};
#[cfg(feature = "write")]
pub use sink::{
    Converted, CreateOptions, Part, TraceSink, WRITERS, WriterInfo, Written, convert, convert_file,
    create, split_file,
};
pub use skipped::{Skipped, SkippedLines};
pub use source::{TraceMetadata, TraceSource};
pub use space::{Space, TRIAL};
pub use streams::{StreamMap, name_streams};
pub use volumes::lay_out;
