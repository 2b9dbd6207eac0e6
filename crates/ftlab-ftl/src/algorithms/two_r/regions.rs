//! The streams of 2R-FIFO and 2R++: which region each belongs to, and where its valid pages go.

use crate::stream::StreamId;

/// Streams that a policy of the family may have.
pub(super) const STREAMS_MAX: usize = 3;

/// What tells the policies of the family apart. Stream 0 takes host writes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Regions {
    /// The region of each stream, from 0 on.
    pub(super) of_stream: [u8; STREAMS_MAX],
    /// The stream that takes the valid pages of a victim, by the victim's stream.
    pub(super) relocated_to: [u8; STREAMS_MAX],
}

impl Regions {
    #[inline]
    pub(super) fn of(self, stream: StreamId) -> u8 {
        self.of_stream[stream.index()]
    }

    /// The stream that takes the valid pages of a victim of `stream`.
    #[inline]
    pub(super) fn relocated_to(self, stream: StreamId) -> StreamId {
        StreamId(self.relocated_to[stream.index()])
    }

    /// How many regions there are.
    pub(super) fn count(self) -> usize {
        self.of_stream.iter().max().map_or(0, |&last| usize::from(last) + 1)
    }

    /// How many streams take relocated pages.
    pub(super) fn relocation_streams(self) -> u32 {
        (0..STREAMS_MAX as u8).filter(|stream| self.relocated_to.contains(stream)).count() as u32
    }
}
