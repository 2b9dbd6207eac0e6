//! Why FTLs stop.

use ftlab_ftl::FtlError;

/// Why an FTL stops.
#[derive(Debug)]
pub enum Stop {
    /// Too many blocks are worn out.
    ReadOnly(String),
    /// Anything else: a bug.
    Error(String),
}

impl<E: std::error::Error> From<FtlError<E>> for Stop {
    fn from(error: FtlError<E>) -> Self {
        match error {
            FtlError::ReadOnly { .. } => Self::ReadOnly(error.to_string()),
            _ => Self::Error(error.to_string()),
        }
    }
}
