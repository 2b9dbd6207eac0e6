//! Log blocks that take pages of one logical block each.

use crate::Observer;
use crate::hybrid::rings::Rings;
use crate::hybrid::{HybridDrive, LogSize, LogicalBlock, Outcome};
use crate::stream::StreamId;
use ftlab_flash::{BlockId, Flash, Lpn};

/// The stream of the log blocks.
pub(super) const LOG: StreamId = StreamId(1);

/// Merges a logical block with its log block, which is given up.
pub(super) type End<F, O> = fn(&mut HybridDrive<F, O>, LogicalBlock, BlockId) -> Outcome<(), F>;

/// Logical blocks with a log block of their own.
pub(super) struct OwnLogs {
    log_blocks: u32,
    used: u32,
    /// Logical block -> its log block.
    log: Vec<Option<BlockId>>,
    /// Those with a log block, from the next to give it up on.
    order: Rings,
}

impl OwnLogs {
    /// Nothing is in the log.
    pub(super) fn new(size: LogSize) -> Self {
        Self {
            log_blocks: size.log_blocks,
            used: 0,
            log: vec![None; size.data_blocks as usize],
            order: Rings::new(size.data_blocks, 1),
        }
    }

    /// A log block for `logical` with room. A full one of its own is given up before, and so is another one if the log
    /// has no unused block.
    pub(super) fn make_room<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
        end: End<F, O>,
    ) -> Outcome<BlockId, F> {
        if let Some(block) = self.log[logical.0 as usize] {
            if drive.has_room(block) {
                return Ok(block);
            }
            self.give_up(drive, logical, end)?;
        }
        if self.used == self.log_blocks
            && let Some(next) = self.order.first(0)
        {
            self.give_up(drive, LogicalBlock(next), end)?;
        }
        let block = drive.open(LOG)?;
        self.log[logical.0 as usize] = Some(block);
        self.order.push(0, logical.0);
        self.used += 1;
        Ok(block)
    }

    /// Makes `logical` the last to give up its log block.
    #[inline]
    pub(super) fn touch(&mut self, logical: LogicalBlock) {
        self.order.remove(logical.0);
        self.order.push(0, logical.0);
    }

    fn give_up<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
        end: End<F, O>,
    ) -> Outcome<(), F> {
        let Some(block) = self.log[logical.0 as usize].take() else { return Ok(()) };
        self.order.remove(logical.0);
        self.used -= 1;
        drive.count_reclaim(block);
        end(drive, logical, block)
    }

    /// Bytes of memory that it takes.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.log[..]) + self.order.bytes()
    }

    /// Whether each log block is in use once, and has pages of its logical block only.
    pub(super) fn check<F: Flash, O: Observer>(
        &self,
        drive: &HybridDrive<F, O>,
    ) -> Result<(), String> {
        let blocks = self.order.iter(0).filter_map(|logical| self.log[logical as usize]);
        drive.check_stream(LOG, blocks, self.log_blocks as usize)?;
        for (logical, block) in self.log.iter().enumerate() {
            let pages = block.map_or(0..0, |block| drive.pages_of(block));
            let mut owners = pages.map(|page| Lpn(drive.owner_of[page as usize]));
            if owners.any(|lpn| drive.logical_block(lpn).0 as usize != logical) {
                return Err(format!("the log block of {logical} has pages of another"));
            }
        }
        Ok(())
    }
}
