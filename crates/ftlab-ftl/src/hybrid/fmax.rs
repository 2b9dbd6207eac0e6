//! `fmax`: a replacement block of its own for each logical block that is rewritten.
//!
//! # Idea
//! The simplest log: a logical block whose pages are rewritten gets one log block, which takes the
//! new versions in the order of writing. One table entry per logical block tells where they are.
//!
//! # Rule
//! A rewritten page goes to the replacement block of its logical block. A full replacement block is
//! merged with its data block into a fresh one, and both are erased. A logical block without one
//! takes an unused block of the log; if there is none, the replacement block that was allocated first
//! is merged, however empty it is.
//!
//! # Parameters
//! None.
//!
//! # Where the paper is silent
//! Which replacement block goes: the one allocated first. A full one is merged by the next write to
//! its logical block, not by the write that filled it.
//!
//! # Reference
//! Lim, Lee and Moon, "FASTer FTL for Enterprise-Class Flash Memory SSDs", SNAPI 2010, section II.B;
//! Ban, "Flash File System Optimized for Page-mode Flash Technologies", US patent 5,937,425, 1999.

use crate::hybrid::rings::Rings;
use crate::hybrid::{HybridDrive, LogSize, LogSpace, LogicalBlock, Outcome};
use crate::stream::{Stream, StreamId};
use crate::{Observer, PageWrite};
use ftlab_flash::{BlockId, Cause, Flash, Lpn};
use ftlab_spec::NoParameters;

const REPLACEMENT: StreamId = StreamId(1);

/// Replacement blocks, in order of allocation.
pub struct Fmax {
    log_blocks: u32,
    used: u32,
    /// Logical block -> its replacement block.
    replacements: Vec<Option<BlockId>>,
    /// Those with a replacement block, in order of allocation.
    order: Rings,
}

impl Fmax {
    /// A replacement block for `logical` with room, after as many merges as that takes.
    fn make_room<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
    ) -> Outcome<BlockId, F> {
        if let Some(block) = self.replacements[logical.0 as usize] {
            if drive.has_room(block) {
                return Ok(block);
            }
            self.merge(drive, logical)?;
        }
        if self.used == self.log_blocks
            && let Some(first) = self.order.first(0)
        {
            self.merge(drive, LogicalBlock(first))?;
        }
        let block = drive.open(REPLACEMENT)?;
        self.replacements[logical.0 as usize] = Some(block);
        self.order.push(0, logical.0);
        self.used += 1;
        Ok(block)
    }

    /// Merges `logical` and gives up its replacement block.
    fn merge<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
    ) -> Outcome<(), F> {
        let Some(block) = self.replacements[logical.0 as usize].take() else { return Ok(()) };
        self.order.remove(logical.0);
        self.used -= 1;
        drive.count_reclaim(block);
        drive.full_merge(logical)?;
        drive.erase(block, Cause::Merge)
    }
}

impl LogSpace for Fmax {
    type Parameters = NoParameters;
    const NAME: &'static str = "fmax";
    const SUMMARY: &'static str =
        "hybrid mapping; one replacement block for each rewritten logical block";
    const SOURCE: &'static str = "FASTer (SNAPI 2010), section II.B";

    fn log_blocks_min(_parameters: &NoParameters) -> u32 {
        1
    }

    fn new(_parameters: &NoParameters, size: LogSize) -> Self {
        Self {
            log_blocks: size.log_blocks,
            used: 0,
            replacements: vec![None; size.data_blocks as usize],
            order: Rings::new(size.data_blocks, 1),
        }
    }

    fn streams(&self) -> Vec<Stream> {
        let stream = |name| Stream { name, takes_relocations: false, cold: false };
        vec![stream("data"), stream("replacement")]
    }

    #[inline]
    fn write<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        write: PageWrite<'_>,
    ) -> Outcome<(), F> {
        let block = self.make_room(drive, drive.logical_block(write.page.lpn))?;
        drive.write_to(block, write)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.replacements[..]) + self.order.bytes()
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
        let blocks = self.order.iter(0).filter_map(|logical| self.replacements[logical as usize]);
        drive.check_stream(REPLACEMENT, blocks, self.log_blocks as usize)?;
        for (logical, block) in self.replacements.iter().enumerate() {
            let pages = block.map_or(0..0, |block| drive.pages_of(block));
            let mut owners = pages.map(|page| Lpn(drive.owner_of[page as usize]));
            if owners.any(|lpn| drive.logical_block(lpn).0 as usize != logical) {
                return Err(format!("the replacement block of {logical} has pages of another"));
            }
        }
        Ok(())
    }
}
