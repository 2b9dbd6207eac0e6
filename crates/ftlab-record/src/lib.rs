//! Records what a command writes, as a trace.
//!
//! [`record`] runs the command and records one of two things, as selected by [`Target`]:
//!
//! - every request that reaches a block device, from the kernel's own trace points (`device`):
//!   exact, for any file system and any way of writing; requires root;
//! - every call by which the command and its children write files below a directory (`files`), laid
//!   out as a drive: requires only strace, and sees calls, not the effect of the page cache.
//!
//! Both run as a `capture` on a thread of its own, which never waits for the trace file;
//! `recording` takes their batches, watches the command, and summarises.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod capture;
mod command;
mod device;
mod error;
mod files;
mod footprint;
mod phases;
mod recording;
mod streams;
mod summary;

pub use error::RecordError;
pub use recording::{Observer, Options, State, Status, Target, record};
pub use streams::FileStream;
pub use summary::{DeviceComparison, FileTotals, SectorCounts, Summary};
