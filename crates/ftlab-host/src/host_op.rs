//! What hosts ask for.

/// What a host may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostOp {
    /// To read pages.
    Read,
    /// To write pages.
    Write,
    /// To give up the content of pages.
    Trim,
    /// To make durable what it was told is written.
    Flush,
}

impl HostOp {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Trim, Self::Flush];

    /// What tables and JSON call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Trim => "trim",
            Self::Flush => "flush",
        }
    }
}
