//! Why flash is asked for something.

/// What an operation on flash is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The host writes or reads a page.
    Host,
    /// Garbage collection moves pages out of a block, and erases it.
    Move,
    /// A merge brings the pages of a logical block together, and erases the blocks that they leave.
    Merge,
    /// An SLC cache hands its pages over to normal blocks, and erases its own.
    Fold,
    /// Static wear levelling moves pages off a block that is worn least.
    Wear,
    /// Pages are rewritten before their errors cannot be corrected any more.
    Refresh,
    /// Pages leave a block that has failed.
    Retire,
    /// A map that does not fit into memory reads and writes its own pages.
    Map,
    /// Pages are read and programmed with others of their unit, which the host writes.
    Rewrite,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Host,
        Self::Move,
        Self::Merge,
        Self::Fold,
        Self::Wear,
        Self::Refresh,
        Self::Retire,
        Self::Map,
        Self::Rewrite,
    ];

    /// A page write of the host waits for it.
    #[inline]
    pub const fn awaited(self) -> Purpose {
        Purpose { cause: self, is_awaited: true }
    }

    /// No page write of the host waits for it.
    #[inline]
    pub const fn unawaited(self) -> Purpose {
        Purpose { cause: self, is_awaited: false }
    }
}

/// What an operation is for, and who waits. A constant at most call sites, so that it costs nothing over a medium
/// that does not ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purpose {
    /// What it is for.
    pub cause: Cause,
    /// Whether a page write of the host waits for it: its own program, and what makes room for that.
    pub is_awaited: bool,
}

impl Purpose {
    /// The purpose of an operation for `cause`, which makes this one necessary.
    #[inline]
    #[must_use]
    pub const fn because_of(self, cause: Cause) -> Self {
        Self { cause, ..self }
    }
}
