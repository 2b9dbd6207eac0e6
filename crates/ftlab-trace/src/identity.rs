//! What tells a trace from any other: what is read, and how.

use crate::{Contents, Input, OpenOptions, PartialFile, TraceError, format};
use std::path::Path;

/// What decides the requests of the trace at `path`: the content of all its files, and how they are read, with values by
/// default. A copy elsewhere is the same, unless only one of them is called unfinished. Page size and whether times are read are left to the caller.
pub fn trace_identity(
    path: &Path,
    options: &OpenOptions,
    contents: &Contents,
) -> Result<String, TraceError> {
    let files = Input::files(path).into_iter().map(|file| {
        let content = contents.of(&file)?;
        // Its name alone lets it end in the middle of a request.
        let is_unfinished = PartialFile::is_provisional(&file.display().to_string());
        Ok::<_, TraceError>(if is_unfinished { content + " unfinished" } else { content })
    });
    let files = files.collect::<Result<Vec<_>, _>>()?;
    let OpenOptions { skip_bad_percent, volumes, layout, .. } = options;
    Ok(format!(
        "traces {} {} {skip_bad_percent} {volumes:?} {layout:?} of {}",
        format::VERSION,
        format::reading(path, options)?,
        files.join(" ")
    ))
}
