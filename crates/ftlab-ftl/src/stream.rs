//! Streams of pages that an FTL keeps apart.

use crate::{Archive, State, StateError};

/// A write frontier: a sequence of blocks, one open at a time, that take pages in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u8);

impl StreamId {
    /// The stream as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a stream is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stream {
    /// Its name in reports, such as "cold".
    pub name: &'static str,
    /// True if it takes pages that garbage collection moves.
    pub takes_relocations: bool,
    /// True if its blocks count as the cold region in reports.
    pub cold: bool,
}

impl State for StreamId {
    fn transfer(&mut self, archive: &mut dyn Archive) -> Result<(), StateError> {
        self.0.transfer(archive)
    }

    fn blank() -> Option<Self> {
        Some(Self(0))
    }
}
