//! The streams of hazard.

use crate::page::entry::DriveShape;
use crate::stream::Stream;

/// The most rungs that there can be.
pub(super) const RUNGS_MAX: usize = 16;

/// How many rungs are enough.
const ENOUGH: u32 = 6;

const NAMES: [&str; RUNGS_MAX] = [
    "rung 0", "rung 1", "rung 2", "rung 3", "rung 4", "rung 5", "rung 6", "rung 7", "rung 8",
    "rung 9", "rung 10", "rung 11", "rung 12", "rung 13", "rung 14", "rung 15",
];

/// How many rungs there may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rungs {
    pub(super) most: usize,
    pub(super) fewest: usize,
}

impl Rungs {
    /// At most `rungs`; 0 asks for 6, or as many as the spare blocks allow with first writes and a block to
    /// collect into. Where only blocks tell pages apart, there are at least three if there can be: with one or two,
    /// what is expected of pages becomes alike in all blocks, and nothing would tell that they differ. Where each
    /// page is known, two do.
    pub(super) fn new(rungs: u32, knows_pages: bool, shape: DriveShape) -> Self {
        let possible = shape.spare_blocks().saturating_sub(2).clamp(1, ENOUGH);
        let most = if rungs == 0 { possible as usize } else { rungs as usize };
        Self { most, fewest: most.min(if knows_pages { 2 } else { 3 }) }
    }
}

/// `count` rungs, and first writes.
pub(super) fn streams_of(count: usize) -> Vec<Stream> {
    let rungs = NAMES.iter().take(count).enumerate();
    let rungs = rungs.map(|(rung, &name)| Stream {
        name,
        takes_relocations: true,
        cold: rung + 1 == count,
    });
    // Its open block takes others too if first writes become few.
    let first_writes = Stream { name: "first writes", takes_relocations: true, cold: false };
    rungs.chain([first_writes]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_no_more_rungs_than_the_spare_blocks_allow() {
        let rungs = |blocks| {
            let shape = DriveShape {
                blocks,
                pages_per_block: 128,
                logical_pages: 65_536,
                reserve_blocks: 4,
            };
            [(0, false), (3, false), (0, true)].map(|(rungs, knows_pages)| {
                let Rungs { most, fewest } = Rungs::new(rungs, knows_pages, shape);
                (fewest, most)
            })
        };
        assert_eq!(rungs(517), [(1, 1), (3, 3), (1, 1)]);
        assert_eq!(rungs(519), [(1, 1), (3, 3), (1, 1)]);
        assert_eq!(rungs(521), [(3, 3), (3, 3), (2, 3)]);
        assert_eq!(rungs(522), [(3, 4), (3, 3), (2, 4)]);
        assert_eq!(rungs(576), [(3, 6), (3, 3), (2, 6)]);
        let streams = streams_of(3);
        assert_eq!((streams.len(), streams[3].name), (4, "first writes"));
    }
}
