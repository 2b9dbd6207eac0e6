//! Streams of pages that an FTL keeps apart.

use crate::{Archive, State, StateError};

/// A write frontier: a sequence of blocks, one open at a time, that take pages in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u8);

impl StreamId {
    /// No stream goes by this number.
    pub(crate) const NONE: Self = Self(u8::MAX);

    /// The stream as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Which set of open blocks a page goes to. A policy within placement handles has several open blocks for
/// each of its streams, one in each set that there is one for; any other policy has one set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpenSet(pub(crate) u8);

impl OpenSet {
    /// That of policies that have one.
    pub(crate) const ONLY: Self = Self(0);
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
