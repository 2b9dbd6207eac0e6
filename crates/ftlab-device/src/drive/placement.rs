//! The placement handles of a drive.

use crate::drive::Drive;
use crate::drive::core::Core;
use crate::{Placement, PlacementHandle};
use ftlab_ftl::{HandleUse, Isolation};

impl Drive {
    /// Its placement handles, if its FTL asks for the streams that the host names.
    pub fn placement(&self) -> Option<Placement> {
        self.shared.lock().placement()
    }
}

impl Core {
    fn placement(&self) -> Option<Placement> {
        let now = self.ftl.placement_handles()?;
        let geometry = &self.superblock.config.geometry;
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
        Some(Placement {
            unit_bytes,
            handles: now.handles.iter().map(handle).collect(),
            shared_units: now.shared_units,
            shared_erased_bytes: now.shared_erases * unit_bytes,
            logged: now.events.iter().map(|(_, count)| count).sum(),
            events: now.latest,
        })
    }
}
