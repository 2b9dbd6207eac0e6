//! The placement handles of a drive.

use crate::drive::Drive;
use crate::drive::core::Core;
use crate::{Placement, PlacementHandle};
use ftlab_ftl::page::StreamId;

impl Drive {
    /// Its placement handles, if its FTL asks for the streams that the host names.
    pub fn placement(&self) -> Option<Placement> {
        self.shared.lock().placement()
    }
}

impl Core {
    fn placement(&self) -> Option<Placement> {
        if !self.takes_streams {
            return None;
        }
        let drive = self.ftl.drive();
        let geometry = drive.geometry();
        let streams = (0..).map(StreamId).zip(drive.streams());
        let handles = streams.filter(|(_, stream)| !stream.takes_relocations).zip(0..);
        let handles = handles.map(|((id, _), number)| {
            let block = drive.open_block(id);
            let written = block.map_or(0, |block| drive.programmed_pages(block));
            let left_pages = geometry.pages_per_block() - written;
            PlacementHandle {
                is_persistent: self.is_persistent(number),
                left_bytes: u64::from(left_pages) * u64::from(geometry.page_bytes()),
            }
        });
        let unit_bytes = u64::from(geometry.pages_per_block()) * u64::from(geometry.page_bytes());
        Some(Placement { unit_bytes, handles: handles.collect() })
    }

    /// Whether the FTL keeps the pages of a handle apart when it moves them: its parameter `persistent`.
    fn is_persistent(&self, handle: u32) -> bool {
        let mut arguments = self.superblock.ftl.arguments.iter();
        match arguments.find(|(key, _)| key == "persistent").map(|(_, value)| value.as_str()) {
            None | Some("none") => false,
            Some("all") => true,
            Some(numbers) => numbers.split('+').any(|number| number.parse() == Ok(handle)),
        }
    }
}
