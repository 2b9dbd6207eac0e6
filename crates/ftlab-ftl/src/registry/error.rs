//! Why an FTL cannot be built.

use crate::page::ConfigError;
use ftlab_spec::SpecError;
use thiserror::Error;

/// Why an FTL cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum BuildError {
    /// The name or a parameter is wrong.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The drive is too small.
    #[error("{ftl}: {source}")]
    Config {
        ftl: String,
        /// Why.
        source: ConfigError,
    },
}
