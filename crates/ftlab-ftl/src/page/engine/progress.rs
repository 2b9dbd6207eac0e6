//! How far a collection in steps is.

use crate::state::state;

/// How far the collection is that is under way.
#[derive(Debug, Default)]
pub(crate) struct Progress {
    pub(crate) is_under_way: bool,
    /// The victim, by its place in the selection.
    pub(crate) victim: usize,
    /// The first flash page of it that has not been looked at.
    pub(crate) page: u32,
    /// Pages to relocate, at most.
    pub(crate) left_pages: u32,
    /// Host writes until they should be.
    pub(crate) left_writes: u32,
    /// Since the last block was borrowed, relocated pages went to the stream that asked for it.
    pub(crate) has_served: bool,
}

state!(Progress { is_under_way, victim, page, left_pages, left_writes, has_served });

impl Progress {
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_under_way
    }
}
