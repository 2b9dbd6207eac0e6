//! The streams of hazard.

use crate::page::entry::DriveShape;
use crate::stream::Stream;

/// The most rungs that there can be.
pub(super) const RUNGS_MAX: usize = 16;

const NAMES: [&str; RUNGS_MAX] = [
    "rung 0", "rung 1", "rung 2", "rung 3", "rung 4", "rung 5", "rung 6", "rung 7", "rung 8",
    "rung 9", "rung 10", "rung 11", "rung 12", "rung 13", "rung 14", "rung 15",
];

/// How many rungs there are; 0 asks for 6, or as many as the spare blocks allow with first writes and a
/// block to collect into.
pub(super) fn count_of(rungs: u32, shape: DriveShape) -> usize {
    let possible = shape.spare_blocks().saturating_sub(2).clamp(1, 6);
    if rungs == 0 { possible as usize } else { rungs as usize }
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
            (count_of(0, shape), count_of(3, shape))
        };
        assert_eq!([517, 519, 522, 526, 576].map(rungs), [(1, 3), (1, 3), (4, 3), (6, 3), (6, 3)]);
        let streams = streams_of(3);
        assert_eq!((streams.len(), streams[3].name), (4, "first writes"));
    }
}
