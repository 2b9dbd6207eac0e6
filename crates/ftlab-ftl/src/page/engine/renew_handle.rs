//! What the host may ask of placement handles.

use crate::page::engine::page_mapped::{Forgotten, PageMapped};
use crate::page::policy::Policy;
use crate::stream::StreamId;
use crate::{FtlError, Observer};
use ftlab_flash::{BlockId, Cause, Flash};

impl<F: Flash, O: Observer> PageMapped<dyn Policy, F, O> {
    /// Moves the handle to fresh units: what is left of its open blocks is given up, and counts as invalid.
    /// False if there is no such handle.
    pub(crate) fn renew_units(&mut self, handle: u16) -> Result<bool, FtlError<F::Error>> {
        let Some(streams) = self.host_streams(handle) else { return Ok(false) };
        // A collection in steps counts on the room of open blocks.
        self.complete(Cause::Move.unawaited())?;
        for stream in streams {
            if self.drive.has_room(stream) {
                self.close_early(stream);
            }
        }
        self.schedule_background();
        Ok(true)
    }

    /// Closes the open block of `stream` as it is.
    pub(super) fn close_early(&mut self, stream: StreamId) -> BlockId {
        let (block, pages) = self.drive.give_up(stream);
        self.policy.on_pages_lost(block, pages, &self.drive);
        if let Some(handles) = self.policy.handles_mut() {
            handles.on_closed_early(stream, pages, true, &self.drive);
        }
        self.seal(stream);
        debug_assert!(!self.drive.has_room(stream));
        block
    }
}

impl<P: Forgotten + ?Sized, F: Flash, O: Observer> PageMapped<P, F, O> {
    /// The streams of host writes by `handle`; none if there is no such handle.
    pub(crate) fn host_streams(&self, handle: u16) -> Option<Vec<StreamId>> {
        self.policy.handles()?.host_streams(handle)
    }
}
