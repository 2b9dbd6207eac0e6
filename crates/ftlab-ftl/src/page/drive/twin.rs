//! A drive as the naive twin describes it, for tests.

use crate::page::config::DriveConfig;
use crate::page::drive::block::{Block, Frontier, Phase};
use crate::page::drive::tables::DriveState;
use crate::page::drive::wear::Wear;
use crate::stream::{Stream, StreamId};
use ftlab_flash::{BlockId, Lpn, Ppn};
use std::collections::VecDeque;

/// An erase block as a list of what it holds.
#[derive(Clone)]
pub(crate) struct TwinBlock {
    pub(crate) phase: Phase,
    pub(crate) stream: StreamId,
    pub(crate) allocated: u64,
    pub(crate) sealed_at: u64,
    pub(crate) erases: u32,
    /// What was programmed, in order; `None` once it is invalid.
    pub(crate) pages: Vec<Option<Lpn>>,
}

/// What the naive twin keeps of a drive.
pub(crate) struct Twin<'a, M> {
    pub(crate) config: &'a DriveConfig,
    pub(crate) streams: Vec<Stream>,
    pub(crate) blocks: &'a [TwinBlock],
    pub(crate) free: &'a VecDeque<BlockId>,
    /// Where pages are, in any order.
    pub(crate) mapping: M,
    pub(crate) write_clock: u64,
    pub(crate) allocations: u64,
}

impl DriveState {
    /// The drive that a twin describes.
    pub(crate) fn of_twin(twin: Twin<impl Iterator<Item = (Lpn, Ppn)>>) -> Self {
        let Twin { config, streams, blocks, free, mapping, write_clock, allocations } = twin;
        let wear = Wear::of(blocks.iter().map(|block| block.erases).collect());
        let mut drive = Self { wear, write_clock, allocations, ..Self::new(config, streams) };
        drive.free.clone_from(free);
        for (lpn, page) in mapping {
            drive.flash_page_of[lpn.index()] = page.0;
            drive.owner_of[page.index()] = lpn.0;
            drive.valid_bits[page.index() / 64] |= 1 << (page.0 % 64);
            drive.mapped_pages += 1;
        }
        for (id, block) in (0..).map(BlockId).zip(blocks) {
            drive.put(id, block);
        }
        drive
    }

    fn put(&mut self, id: BlockId, block: &TwinBlock) {
        let first = self.geometry.first_page(id).0;
        let end = first + self.geometry.pages_per_block();
        let &TwinBlock { phase, stream, allocated, sealed_at, .. } = block;
        self.stream_of[id.index()] = stream;
        self.blocks[id.index()] = Block { phase, allocated, sealed_at };
        if phase != Phase::Free {
            let invalid = block.pages.iter().filter(|page| page.is_none()).count() as u32;
            self.valid_pages[id.index()] = end - first - invalid;
            self.stream_blocks[stream.index()] += 1;
        }
        if phase == Phase::Open {
            let next = first + block.pages.len() as u32;
            self.frontiers[stream.index()] = Frontier { next, end };
            // None is left for a moment when the block is closed early.
            if next < end {
                self.set_valid(next, end);
            }
        }
    }
}
