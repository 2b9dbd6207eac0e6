//! What a format tells of itself.

use crate::{Input, OpenOptions, TraceError, TraceSource};
use ftlab_spec::{Parameter, Spec};

/// Opens a trace of one format, with the parameters of that format.
pub type OpenFormat = fn(Input, &Spec, &OpenOptions) -> Result<Box<dyn TraceSource>, TraceError>;

/// How much the first bytes of a trace look like a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Looks {
    /// They are something else.
    Unlike,
    /// They fit, as they would fit other things: a user has to say it.
    Possible,
    /// Hardly anything else looks like this.
    Certain,
}

impl From<bool> for Looks {
    fn from(is_certain: bool) -> Self {
        if is_certain { Self::Certain } else { Self::Unlike }
    }
}

/// One format: how it is called, recognised and read.
pub struct FormatInfo {
    /// The name to type.
    pub name: &'static str,
    /// Endings of file names, without the dot and without those of packers; they decide only where
    /// the content does not.
    pub extensions: &'static [&'static str],
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where the format is described.
    pub source: &'static str,
    /// What its spec may set.
    pub parameters: fn() -> Vec<Parameter>,
    /// How much a trace that begins with these bytes (unpacked, up to 64 KiB) looks like this format.
    pub detect: fn(head: &[u8]) -> Looks,
    /// Whether the volumes of a trace belong together, so that they lie side by side unless a user
    /// says otherwise.
    pub volumes_together: bool,
    /// Opens a trace of this format.
    pub open: OpenFormat,
}

/// The whole lines at the beginning of a text, at most `count`, without blank ones and comments.
pub(super) fn first_lines(head: &[u8], count: usize) -> Vec<&[u8]> {
    // The last line may be cut, unless it is the only one.
    let whole = memchr::memrchr(b'\n', head).unwrap_or(head.len());
    let lines = head[..whole].split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    lines.filter(|line| !line.is_empty() && !line.starts_with(b"#")).take(count).collect()
}
