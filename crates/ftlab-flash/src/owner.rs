//! Who asked for an operation.

/// Who asked for an operation, and is told when it is complete.
pub type Owner = u32;

/// Nobody in particular.
pub const NOBODY: Owner = u32::MAX;
