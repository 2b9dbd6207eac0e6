//! Who asked for an operation.

/// Who asked for an operation, and is told when it is complete.
pub(crate) type Owner = u32;

/// Nobody in particular.
pub(crate) const NOBODY: Owner = u32::MAX;
