//! The placement handles of a drive.

use crate::drive::Drive;
use ftlab_ftl::PlacementHandles;

impl Drive {
    /// Its placement handles, if its FTL asks for the streams that the host names.
    pub fn placement_handles(&self) -> Option<PlacementHandles> {
        self.shared.lock().ftl.placement_handles()
    }
}
