//! The status that a drive reports.

use crate::{BlockMap, Drive, DriveStatus, FlashCounters, Health, Observed, Placement, Region};
use ftlab_ftl::page::Phase;

impl Observed for Drive {
    fn status(&self) -> DriveStatus {
        let snapshot = self.snapshot();
        let (superblock, counters) = (snapshot.superblock, snapshot.counters);
        let geometry = superblock.config.geometry;
        let regions = snapshot.streams.into_iter().map(|stream| Region {
            name: stream.name.to_owned(),
            cold: stream.cold,
            blocks: stream.blocks,
        });
        DriveStatus {
            uuid: superblock.uuid.to_string(),
            ftl: superblock.ftl.to_string(),
            page_bytes: geometry.page_bytes(),
            pages_per_block: geometry.pages_per_block(),
            blocks: geometry.blocks(),
            logical_pages: superblock.config.logical_pages,
            mapped_pages: snapshot.mapped_pages,
            free_blocks: snapshot.free_blocks,
            retired_blocks: snapshot.replaced_blocks,
            flash: FlashCounters {
                metadata_bytes: snapshot.totals.metadata_bytes,
                ..FlashCounters::of(&counters)
            },
            regions: regions.collect(),
            health: Health {
                read_only: snapshot.read_only,
                media_errors: snapshot.totals.media_errors,
                unsafe_shutdowns: snapshot.totals.recoveries,
            },
            endurance_cycles: self.endurance_cycles(),
        }
    }

    fn placement(&self) -> Option<Placement> {
        self.placement()
    }

    fn block_map(&self) -> BlockMap {
        let blocks = self.snapshot_with_blocks().blocks;
        let letter = |phase| match phase {
            Phase::Free => 'f',
            Phase::Open => 'o',
            Phase::Retired => 'r',
            _ => 's',
        };
        BlockMap {
            phases: blocks.iter().map(|block| letter(block.phase)).collect(),
            regions: blocks.iter().map(|block| block.stream).collect(),
            valid_pages: blocks.iter().map(|block| block.valid_pages).collect(),
            erases: blocks.iter().map(|block| block.erases).collect(),
        }
    }
}
