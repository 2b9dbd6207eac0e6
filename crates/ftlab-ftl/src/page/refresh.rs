//! What is rewritten before its errors cannot be corrected any more.

use ftlab_spec::{Parameters, Spec, SpecError};
use std::fmt;
use std::str::FromStr;

ftlab_spec::parameters! {
    /// When the pages of a block are rewritten: what was read too often (read disturb) or is too old (retention).
    #[derive(Copy, Eq)]
    pub struct Refresh {
        /// Reads of pages of a block by the host since it was erased, from which on its pages are rewritten; 0
        /// is any number.
        reads: u32 = 0, "reads", from "no read disturb";
        /// Host page writes since a block became full, from which on its pages are rewritten; 0 is any number.
        age_writes: u64 = 0, "age", from "no retention errors";
    }
}

impl Refresh {
    /// Whether nothing is ever rewritten.
    pub fn is_off(&self) -> bool {
        *self == Self::default()
    }
}

impl FromStr for Refresh {
    type Err = SpecError;

    /// Reads `reads=100000,age=5000000`, either part of which may be left out.
    fn from_str(text: &str) -> Result<Self, SpecError> {
        format!("refresh:{text}").parse::<Spec>().and_then(|spec| Self::from_spec(&spec))
    }
}

impl fmt::Display for Refresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "reads={},age={}", self.reads, self.age_writes)
    }
}

/// What was rewritten.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Refreshed {
    /// Blocks that had been read too often, or were too old.
    pub blocks: u64,
    /// Valid pages of these, which are among the relocations.
    pub pages: u64,
}

impl Refreshed {
    /// What was rewritten since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self { blocks: self.blocks - earlier.blocks, pages: self.pages - earlier.pages }
    }
}
