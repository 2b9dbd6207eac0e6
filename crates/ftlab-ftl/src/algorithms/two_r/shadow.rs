//! A small copy of 2R beside the drive, which counts what other parameters of the scan would move.
//!
//! It holds some of the drive's pages, and fewer blocks in proportion; of a page it knows the number only.

use crate::algorithms::tools::block_list::{BlockList, Listed};
use crate::algorithms::tools::emptiest::gain_something;
use crate::algorithms::two_r::regions::{Regions, STREAMS_MAX};
use crate::algorithms::two_r::scan::Scan;
use crate::ensure::ensure;
use crate::page::policy::Victims;
use crate::state::state;
use crate::stream::StreamId;
use ftlab_flash::BlockId;
use std::collections::VecDeque;

/// A page that holds nothing, or a stream without an open block.
const NONE: u32 = u32::MAX;

/// The stream of host writes.
const HOST: usize = 0;

/// 2R with the scan of 2R-FIFO.
#[derive(Debug, Clone)]
pub(super) struct Shadow {
    scan: Scan,
    regions: Regions,
    /// Free blocks that host writes may not take.
    reserve_blocks: usize,
    list: BlockList,
    /// The flash page of each logical page.
    mapping: Vec<u32>,
    /// The logical page that was written last to each flash page.
    owners: Vec<u32>,
    /// The stream of each block.
    streams: Vec<u8>,
    /// The one that has been free longest comes first.
    free: VecDeque<BlockId>,
    /// The next page of the open block of each stream.
    next: [u32; STREAMS_MAX],
    victims: Victims,
    /// Pages moved that nobody has asked for.
    moved: u64,
}

state!(Shadow { list, mapping, owners, streams, free, next, victims, moved } constant scan, regions, reserve_blocks);

impl Shadow {
    /// An empty one of `blocks` blocks, `reserve_blocks` of which host writes may not take.
    pub(super) fn new(
        scan: Scan,
        regions: Regions,
        blocks: u32,
        reserve_blocks: u32,
        logical_pages: u32,
    ) -> Self {
        let pages_per_block = scan.pages_per_block;
        Self {
            scan,
            regions,
            reserve_blocks: reserve_blocks as usize,
            list: BlockList::new(blocks),
            mapping: vec![NONE; logical_pages as usize],
            owners: vec![NONE; blocks as usize * pages_per_block as usize],
            streams: vec![0; blocks as usize],
            free: (0..blocks).map(BlockId).collect(),
            next: [NONE; STREAMS_MAX],
            victims: Victims::new(blocks, pages_per_block),
            moved: 0,
        }
    }

    /// Pages moved since this was asked last.
    pub(super) fn take_moved(&mut self) -> u64 {
        std::mem::take(&mut self.moved)
    }

    /// The host writes `page`.
    pub(super) fn write(&mut self, page: u32) {
        while self.next[HOST] == NONE && self.free.len() <= self.reserve_blocks {
            if !self.collect() {
                // Sampled more densely than its blocks have room for: the page is left as it was.
                return;
            }
        }
        self.trim(page);
        self.append(HOST, page);
    }

    /// The host gives up `page`.
    pub(super) fn trim(&mut self, page: u32) {
        let at = std::mem::replace(&mut self.mapping[page as usize], NONE);
        if at != NONE {
            self.list.invalidate(self.block_of(at));
        }
    }

    fn block_of(&self, at: u32) -> BlockId {
        BlockId(at / self.scan.pages_per_block)
    }

    /// One collection; whether it gains anything.
    fn collect(&mut self) -> bool {
        let pages_per_block = self.scan.pages_per_block;
        self.victims.begin(StreamId(0), pages_per_block);
        let region_of =
            |block: BlockId| self.regions.of_stream[usize::from(self.streams[block.index()])];
        self.scan.select(&mut self.list, region_of, &mut self.victims);
        gain_something(&mut self.list, pages_per_block, region_of, &mut self.victims);
        for index in 0..self.victims.blocks().len() {
            self.reclaim(self.victims.blocks()[index]);
        }
        self.victims.invalid_pages() > 0
    }

    fn reclaim(&mut self, victim: BlockId) {
        let pages_per_block = self.scan.pages_per_block;
        let stream = self.regions.relocated_to[usize::from(self.streams[victim.index()])];
        let first = victim.0 * pages_per_block;
        for at in first..first + pages_per_block {
            let page = self.owners[at as usize];
            if self.mapping[page as usize] == at {
                self.append(usize::from(stream), page);
                self.moved += 1;
            }
        }
        self.list.remove(victim);
        self.free.push_back(victim);
    }

    /// Writes `page` to the open block of `stream`, or of any that has one if no block is free.
    fn append(&mut self, mut stream: usize, page: u32) {
        if self.next[stream] == NONE && !self.open(stream) {
            let Some(other) = self.next.iter().position(|&next| next != NONE) else {
                self.mapping[page as usize] = NONE;
                return;
            };
            stream = other;
        }
        let at = self.next[stream];
        self.mapping[page as usize] = at;
        self.owners[at as usize] = page;
        self.next[stream] = at + 1;
        if (at + 1).is_multiple_of(self.scan.pages_per_block) {
            self.next[stream] = NONE;
            self.list.seal(self.block_of(at));
        }
    }

    /// Opens a block for `stream`; whether one was free.
    fn open(&mut self, stream: usize) -> bool {
        let Some(block) = self.free.pop_front() else { return false };
        self.next[stream] = block.0 * self.scan.pages_per_block;
        self.streams[block.index()] = stream as u8;
        self.list.push(block, self.scan.pages_per_block, 0);
        true
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let numbers = self.mapping.capacity() + self.owners.capacity() + self.free.capacity();
        self.list.bytes() + 4 * numbers + self.streams.capacity()
    }

    /// Verifies that mapping, owners and list agree.
    pub(super) fn check(&self) -> Result<(), String> {
        let pages_per_block = self.scan.pages_per_block;
        let blocks = self.streams.len() as u32;
        ensure!(
            self.owners.len() == blocks as usize * pages_per_block as usize,
            "a shadow's flash"
        );
        let mut valid_pages = vec![0; blocks as usize];
        for (page, &at) in self.mapping.iter().enumerate().filter(|(_, at)| **at != NONE) {
            ensure!(self.owners.get(at as usize) == Some(&(page as u32)), "a shadow's page {page}");
            valid_pages[(at / pages_per_block) as usize] += 1;
        }
        let mut listed = vec![true; blocks as usize];
        for block in &self.free {
            ensure!(block.0 < blocks && listed[block.index()], "a shadow's free block {block}");
            listed[block.index()] = false;
        }
        ensure!(self.streams.iter().all(|&stream| usize::from(stream) < STREAMS_MAX), "streams");
        let has_page = |owner: &u32| *owner == NONE || (*owner as usize) < self.mapping.len();
        ensure!(self.owners.iter().all(has_page), "a shadow's owners");
        let open = self.next.map(|next| (next != NONE).then(|| self.block_of(next)));
        let expected = self.list.blocks().map(|block| {
            let is_sealed = !open.contains(&Some(block));
            Listed { block, valid_pages: valid_pages[block.index()], is_sealed }
        });
        let expected: Vec<_> = expected.collect();
        let all = (0..blocks).map(BlockId).filter(|block| listed[block.index()]);
        ensure!(expected.len() == all.count(), "a shadow's list of blocks");
        self.list.check_against(&expected)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::two_r::scan::Fallback;
    use crate::algorithms::two_r::{fifo, plus_plus};
    use crate::page::DriveConfig;
    use crate::registry;
    use ftlab_flash::{Geometry, Lpn, NoPayload};
    use proptest::prelude::*;

    const LOGICAL_PAGES: u32 = 40 * 8;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Of all pages, with as many free blocks, it moves what the drive moves.
        #[test]
        fn a_shadow_of_the_whole_drive_moves_what_the_drive_moves(
            pages in prop::collection::vec((0..LOGICAL_PAGES, 0_u32..4, 0_u32..20), 500..4000),
            depth in 0.3_f64..1.0,
            second_chance in any::<bool>(),
            reserve in 2_u32..6,
        ) {
            let name = if second_chance { "2r++" } else { "2r-fifo" };
            let config = DriveConfig::new(Geometry::new(44 + reserve, 8, 8).unwrap(), LOGICAL_PAGES, reserve);
            let spec = format!("{name}:scan-depth={depth}").parse().unwrap();
            let mut ftl = registry::build_page_mapped(&spec, config, NoPayload, ()).unwrap();
            let regions = if second_chance { plus_plus::REGIONS } else { fifo::REGIONS };
            let streams = regions.relocation_streams();
            let scan = Scan { blk_util: 0.5, depth, fallback: Fallback::Raise, pages_per_block: 8 };
            let mut shadow = Shadow::new(scan, regions, 44 + streams, streams, LOGICAL_PAGES);
            let mut moved = 0;
            for (page, skew, kind) in pages {
                let page = page >> (2 * skew);
                if kind == 0 {
                    ftl.trim(Lpn(page)).unwrap();
                    shadow.trim(page);
                } else {
                    ftl.write(Lpn(page), &[]).unwrap();
                    shadow.write(page);
                }
                moved += shadow.take_moved();
                prop_assert_eq!(moved, ftl.counters().relocations());
            }
            shadow.check().unwrap();
        }
    }
}
