//! The status that a drive reports.

use crate::{
    BlockMap, DriveStatus, FlashCounters, Health, MapStatus, Observed, Placement, PlacementHandle,
    Region,
};
use ftlab_drive::Drive;
use ftlab_flash::Geometry;
use ftlab_ftl::page::Phase;
use ftlab_ftl::{HandleUse, Isolation, PlacementHandles};

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
        let name = superblock.mapping.name();
        let memory_bytes = snapshot.memory.drive as u64;
        let counted = snapshot.map.filter(|_| superblock.is_paged());
        let map = counted.map(|map| MapStatus {
            name,
            memory_bytes,
            lookups: map.write_lookups,
            hits: map.write_hits,
            reads: map.reads(),
            writes: map.writes(),
        });
        DriveStatus {
            uuid: superblock.uuid.to_string(),
            ftl: superblock.ftl.to_string(),
            map,
            page_bytes: geometry.page_bytes(),
            pages_per_block: geometry.pages_per_block(),
            blocks: geometry.blocks(),
            logical_pages: superblock.config.logical_pages,
            mapped_pages: snapshot.mapped_pages,
            free_blocks: snapshot.free_blocks,
            retired_blocks: snapshot.replaced_blocks,
            flash: FlashCounters {
                map_pages: snapshot.map.map_or(0, |map| map.writes()),
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
        let handles = self.placement_handles()?;
        Some(Placement::of(handles, &self.geometry()))
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

impl Placement {
    /// What a drive of this geometry tells of its handles, in bytes.
    fn of(now: PlacementHandles, geometry: &Geometry) -> Self {
        let page_bytes = u64::from(geometry.page_bytes());
        let unit_bytes = u64::from(geometry.pages_per_block()) * page_bytes;
        let handle = |handle: &HandleUse| PlacementHandle {
            is_persistent: handle.isolation == Isolation::Persistent,
            left_bytes: u64::from(handle.remaining_pages) * page_bytes,
            host_bytes: handle.counters.host_bytes(geometry.page_bytes()),
            media_bytes: handle.counters.media_bytes(geometry.page_bytes()),
            moved_bytes: handle.counters.relocations * page_bytes,
            erased_bytes: handle.counters.erases * unit_bytes,
            units: handle.units,
        };
        Self {
            unit_bytes,
            handles: now.handles.iter().map(handle).collect(),
            shared_units: now.shared_units,
            shared_erased_bytes: now.shared_erases * unit_bytes,
            logged: now.events.iter().map(|(_, count)| count).sum(),
            events: now.latest,
        }
    }
}
