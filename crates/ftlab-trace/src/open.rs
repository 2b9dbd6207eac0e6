//! Opening traces.

use crate::{Input, OpenOptions, TraceError, TraceSource, format};
use std::path::Path;

/// Opens the trace at `path` (`-` is standard input).
///
/// What it is packed in is recognised by content and taken off on the way; so is the format, unless
/// `options` names one.
pub fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn TraceSource>, TraceError> {
    open_input(Input::open(path)?, options)
}

/// Opens a trace that is not (or not yet) a file.
pub fn open_input(input: Input, options: &OpenOptions) -> Result<Box<dyn TraceSource>, TraceError> {
    format::open(input, options)
}
