//! The log block of FAST that takes pages written in sequence.

use crate::Observer;
use crate::hybrid::{HybridDrive, LogicalBlock, Outcome};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Cause, Flash, Lpn};

pub(super) const SEQUENTIAL: StreamId = StreamId(2);

/// Takes the pages of one logical block while they are written in order, so that it may become the
/// data block with few copies or none.
///
/// The first page of any logical block ends it and begins another. It ends as
/// - a switch, if it holds a valid version of every page: it becomes the data block;
/// - a partial merge, if all its pages are valid: the missing ones are copied, and it becomes the data
///   block;
/// - a full merge of its logical block otherwise. Any other full merge of that ends it as well.
#[derive(Debug, Default)]
pub(super) struct SequentialBlock {
    /// Whose pages it holds, and the block.
    current: Option<(LogicalBlock, BlockId)>,
}

impl SequentialBlock {
    /// The block, if it has been begun.
    pub(super) fn block(&self) -> Option<BlockId> {
        self.current.map(|(_, block)| block)
    }

    /// The block if it is to take `lpn` next.
    pub(super) fn place<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        lpn: Lpn,
    ) -> Outcome<Option<BlockId>, F> {
        let (logical, offset) = (drive.logical_block(lpn), drive.offset(lpn));
        if offset == 0 {
            self.end(drive)?;
            let block = drive.open(SEQUENTIAL)?;
            self.current = Some((logical, block));
            return Ok(Some(block));
        }
        let follows = |&(owner, block): &(LogicalBlock, BlockId)| {
            owner == logical && drive.pages_of(block).len() == offset as usize
        };
        Ok(self.current.filter(follows).map(|(_, block)| block))
    }

    /// Erases the block if `logical`, which was just merged, had pages in it.
    pub(super) fn on_full_merge<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
    ) -> Outcome<(), F> {
        match self.current.take_if(|(owner, _)| *owner == logical) {
            Some((_, block)) => drive.erase(block, Cause::Merge),
            None => Ok(()),
        }
    }

    fn end<F: Flash, O: Observer>(&mut self, drive: &mut HybridDrive<F, O>) -> Outcome<(), F> {
        match self.current.take() {
            Some((owner, block)) => drive.end(owner, block),
            None => Ok(()),
        }
    }
}
