//! `2r-greedy`: two regions, victims by fewest valid pages.
//!
//! # Idea
//! Cold pages must not share erase blocks with others. A page that is still valid when its block is
//! collected is taken for cold, with no statistics kept.
//!
//! # Rule
//! Every host write goes to the normal region, every relocated page to the cold region. A collection
//! takes several blocks of one region, the one that holds the block with the fewest valid pages:
//! fewest first, until their invalid pages make up a block.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! Ties go to the block that was allocated first. The open cold block is carried over from one
//! collection to the next. If the region has too few invalid pages, fewer blocks do, and the next
//! collection follows at once.
//!
//! # Reference
//! Kang et al., "2R: Efficiently Isolating Cold Pages in Flash Storages", PVLDB 13(11), 2020,
//! section 4.2 and algorithm 1.

use crate::Metadata;
use crate::algorithms::tools::block_list::BlockList;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PolicyEntry};
use crate::page::policy::{HostWrite, Policy, Relocation, Victims};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use ftlab_flash::BlockId;
use ftlab_spec::NoParameters;

const NORMAL: StreamId = StreamId(0);
const COLD: StreamId = StreamId(1);

/// Two regions with greedy victims.
pub struct TwoRGreedy {
    /// The blocks of the normal and of the cold region.
    regions: [BlockList; 2],
}

state!(TwoRGreedy { regions });

impl PolicyEntry for TwoRGreedy {
    type Parameters = NoParameters;
    const NAME: &'static str = "2r-greedy";
    const SUMMARY: &'static str = "two regions; relocated pages are cold; greedy multi-block merge";
    const SOURCE: &'static str = "2R (PVLDB 2020), section 4.2";

    fn new(_parameters: &NoParameters, shape: DriveShape) -> Self {
        Self { regions: [BlockList::new(shape.blocks), BlockList::new(shape.blocks)] }
    }
}

impl TwoRGreedy {
    fn region(&mut self, block: BlockId, drive: &DriveState) -> &mut BlockList {
        &mut self.regions[drive.stream_of(block).index()]
    }

    /// The region that holds the block with the fewest valid pages.
    fn emptiest_region(&mut self, drive: &DriveState) -> &mut BlockList {
        let fewest = |region: &BlockList| {
            region.min().map_or((u32::MAX, u64::MAX), |slot| {
                (region.valid_pages(slot), drive.allocated(region.block(slot)))
            })
        };
        let [normal, cold] = &mut self.regions;
        if fewest(cold) < fewest(normal) { cold } else { normal }
    }
}

impl Policy for TwoRGreedy {
    fn streams(&self) -> Vec<Stream> {
        vec![
            Stream { name: "normal", takes_relocations: false, cold: false },
            Stream { name: "cold", takes_relocations: true, cold: true },
        ]
    }

    fn follows_pages(&self) -> bool {
        false
    }

    #[inline]
    fn place_host(&mut self, _write: HostWrite, _drive: &DriveState) -> StreamId {
        NORMAL
    }

    #[inline]
    fn place_relocation(&mut self, _page: Relocation, _drive: &DriveState) -> StreamId {
        COLD
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        let region = self.emptiest_region(drive);
        while !victims.free_a_block()
            && let Some(slot) = region.min()
        {
            let valid_pages = region.valid_pages(slot);
            if valid_pages > victims.valid_pages_max() || valid_pages == drive.pages_per_block() {
                break;
            }
            region.take(slot, victims);
        }
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        let (pages, stamp) = (drive.pages_per_block(), drive.write_clock());
        self.region(block, drive).push(block, pages, stamp);
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.region(block, drive).seal(block);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        self.region(block, drive).invalidate(block);
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        self.region(block, drive).remove(block);
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_block(1)
    }

    fn memory_bytes(&self) -> usize {
        self.regions.iter().map(BlockList::bytes).sum()
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        self.regions[0].check(drive, |block| drive.stream_of(block) == NORMAL)?;
        self.regions[1].check(drive, |block| drive.stream_of(block) == COLD)
    }
}
