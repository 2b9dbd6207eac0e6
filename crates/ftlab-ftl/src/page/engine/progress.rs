//! How far a collection in steps is.

use crate::state::state;

/// How far the collection is that is under way.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) is_under_way: bool,
    /// The victim, by its place in the selection.
    pub(super) victim: usize,
    /// The first flash page of it that has not been looked at.
    pub(super) page: u32,
    /// Pages to relocate, at most.
    pub(super) left_pages: u32,
    /// Host writes until they should be.
    pub(super) left_writes: u32,
    /// Since the last block was borrowed, relocated pages went to the stream that asked for it.
    pub(super) has_served: bool,
    /// Of collection that begins gradually: what is still to be regained, or, below 0, was regained ahead. Of throttled
    /// collection: relocations, in the same way.
    pub(super) due: i64,
}

state!(Progress { is_under_way, victim, page, left_pages, left_writes, has_served, due });

impl Progress {
    #[inline]
    pub(super) fn is_under_way(&self) -> bool {
        self.is_under_way
    }
}
