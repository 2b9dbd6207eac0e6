//! Why an FTL cannot be made.

use ftlab_ftl::registry::BuildError;
use ftlab_spec::SpecError;
use thiserror::Error;

/// Why an FTL cannot be made; the message names the value and the remedy.
#[derive(Debug, Error)]
pub enum StackError {
    /// A name that does not parse.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The FTL does not exist, or does not work on a drive of this size.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A policy of the program cannot have this name.
    #[error("{what}; {remedy}")]
    Name {
        /// The name, and what is wrong with it.
        what: String,
        /// What to do instead.
        remedy: &'static str,
    },
    /// A policy of the program refuses the drive.
    #[error("{ftl}: {reason}")]
    Refused {
        /// Which policy.
        ftl: String,
        /// What it says.
        reason: String,
    },
}
