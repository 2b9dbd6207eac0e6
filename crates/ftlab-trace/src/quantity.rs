//! Sizes as parameters.

use ftlab_spec::{ByteSize, Value};
use std::fmt;

/// A size in bytes as a parameter, such as `page=4KiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

impl Value for Bytes {
    fn expects() -> String {
        "a size such as 4KiB".into()
    }

    fn parse(text: &str) -> Option<Self> {
        text.parse::<ByteSize>().ok().map(|size| Self(size.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ByteSize(self.0).fmt(f)
    }
}
