//! Rungs that share a stream, because they are too thin for an open block of their own.
//!
//! An open block is half empty on average. Without it, spare space of S blocks grows by the share
//! 1 / 2S, and about so much fewer pages are moved. A page in the stream of another rung is moved about once
//! more. So a rung that takes fewer pages than 1 / 2S of those that are moved goes with the next slower
//! one, and slow ones that are too thin together with the slowest that is not. Blocks that thin rungs have
//! open are filled first, by all that go together.

use crate::algorithms::hazard::parameters::HazardParameters;
use crate::algorithms::hazard::rungs::RUNGS_MAX;
use crate::page::entry::DriveShape;
use crate::state::state;
use crate::stream::StreamId;

/// What is left of a count after an epoch.
const DECAY: f32 = 0.75;

/// How many pages each rung has to take, and which rungs go together.
pub(super) struct Sharing {
    /// Rung -> pages of its lifetime, lately.
    pages: [f32; RUNGS_MAX],
    /// Pages that were moved, lately.
    moved: f32,
    /// Rung -> the one with which it goes, or itself.
    leaders: [StreamId; RUNGS_MAX],
    /// Rung -> the stream that takes its pages.
    streams: [StreamId; RUNGS_MAX],
    rungs: usize,
    /// Pages that a rung has to take for each that is moved.
    pages_per_moved: f32,
}

state!(Sharing { pages, moved, leaders, streams } constant rungs, pages_per_moved);

impl Sharing {
    /// For `rungs` rungs, each alone at first.
    pub(super) fn new(rungs: usize, parameters: &HazardParameters, shape: DriveShape) -> Self {
        let half_blocks = 2 * shape.spare_blocks().max(1);
        let alone = std::array::from_fn(|rung| StreamId(rung as u8));
        Self {
            pages: [0.0; RUNGS_MAX],
            moved: 0.0,
            leaders: alone,
            streams: alone,
            rungs,
            pages_per_moved: (parameters.merge / f64::from(half_blocks)) as f32,
        }
    }

    /// The host writes a page of `rung`.
    #[inline]
    pub(super) fn on_host_page(&mut self, rung: StreamId) {
        self.pages[rung.index()] += 1.0;
    }

    /// `pages` pages are moved, all to `rung`.
    pub(super) fn on_moved_pages(&mut self, rung: StreamId, pages: u32) {
        self.pages[rung.index()] += pages as f32;
        self.moved += pages as f32;
    }

    /// The stream that takes the pages of `rung`.
    #[inline]
    pub(super) fn stream_of(&self, rung: StreamId) -> StreamId {
        self.streams[rung.index()]
    }

    /// An epoch has passed: decides again which rungs go together. `has_room` tells whether a stream has an
    /// open block.
    pub(super) fn on_epoch(&mut self, has_room: impl Fn(StreamId) -> bool) {
        let needed = self.pages_per_moved * self.moved;
        let (mut pages, mut first, mut last_kept) = (0.0, 0, self.rungs - 1);
        for rung in 0..self.rungs {
            pages += self.pages[rung];
            if pages >= needed {
                self.leaders[first..=rung].fill(StreamId(rung as u8));
                (pages, first, last_kept) = (0.0, rung + 1, rung);
            }
        }
        self.leaders[first..self.rungs].fill(StreamId(last_kept as u8));
        self.pages.iter_mut().for_each(|pages| *pages *= DECAY);
        self.moved *= DECAY;
        self.direct(has_room);
    }

    /// The open block of `stream` is full.
    pub(super) fn on_sealed(&mut self, stream: StreamId, has_room: impl Fn(StreamId) -> bool) {
        if self.leaders.get(stream.index()).is_some_and(|&leader| leader != stream) {
            self.direct(has_room);
        }
    }

    /// Sends the pages of rungs that go together to a block that a thin one of them has open, or else
    /// to the stream that they share.
    fn direct(&mut self, has_room: impl Fn(StreamId) -> bool) {
        self.streams = self.leaders;
        for thin in (0..self.rungs).map(|rung| StreamId(rung as u8)) {
            let leader = self.leaders[thin.index()];
            if leader != thin && has_room(thin) {
                let together = self.leaders.iter().zip(&mut self.streams);
                together.filter(|(of, _)| **of == leader).for_each(|(_, stream)| *stream = thin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thin_rungs_go_with_slower_ones_and_the_slowest_with_the_last_that_is_kept() {
        let shape =
            DriveShape { blocks: 114, pages_per_block: 10, logical_pages: 1000, reserve_blocks: 4 };
        let mut sharing = Sharing::new(6, &HazardParameters::default(), shape);
        let streams = |sharing: &Sharing| -> Vec<u8> {
            (0..6).map(|rung| sharing.stream_of(StreamId(rung)).0).collect()
        };
        sharing.on_epoch(|_| false);
        assert_eq!(streams(&sharing), [0, 1, 2, 3, 4, 5], "nothing is moved");
        // A page for each twenty that are moved: 10 spare blocks.
        for (rung, pages) in [(0, 6), (1, 3), (2, 8), (4, 9), (5, 9)] {
            (0..pages).for_each(|_| sharing.on_host_page(StreamId(rung)));
        }
        sharing.on_moved_pages(StreamId(3), 200);
        sharing.on_epoch(|_| false);
        assert_eq!(streams(&sharing), [2, 2, 2, 3, 5, 5]);
        sharing.on_moved_pages(StreamId(3), 400);
        sharing.on_epoch(|_| false);
        assert_eq!(streams(&sharing), [3, 3, 3, 3, 3, 3]);
    }

    #[test]
    fn rungs_that_go_together_fill_what_is_open_first() {
        let shape =
            DriveShape { blocks: 114, pages_per_block: 10, logical_pages: 1000, reserve_blocks: 4 };
        let mut sharing = Sharing::new(3, &HazardParameters::default(), shape);
        sharing.on_moved_pages(StreamId(1), 200);
        sharing.on_epoch(|stream| stream == StreamId(0));
        let streams = |sharing: &Sharing| [0, 1, 2].map(|rung| sharing.stream_of(StreamId(rung)).0);
        assert_eq!(streams(&sharing), [0, 0, 0]);
        sharing.on_sealed(StreamId(1), |_| unreachable!("its block is its own"));
        sharing.on_sealed(StreamId(0), |_| false);
        assert_eq!(streams(&sharing), [1, 1, 1]);
    }
}
