//! What tells a trace from any other: what is read, and how.

use crate::{Contents, Input, OpenOptions, TraceError, format};
use std::path::Path;

/// What decides the requests of the trace at `path`: the content of all its files, and how they are read, with values by
/// default. A copy elsewhere is the same. Page size and whether times are read are left to the caller.
pub fn trace_identity(
    path: &Path,
    options: &OpenOptions,
    contents: &Contents,
) -> Result<String, TraceError> {
    let files = Input::files(path).into_iter().map(|file| contents.of(&file));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let OpenOptions { skip_bad_percent, volumes, layout, .. } = options;
    Ok(format!(
        "traces {} {} {skip_bad_percent} {volumes:?} {layout:?} of {}",
        format::VERSION,
        format::reading(path, options)?,
        files.join(" ")
    ))
}
