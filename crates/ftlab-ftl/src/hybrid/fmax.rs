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

use crate::hybrid::own_logs::OwnLogs;
use crate::hybrid::{HybridDrive, LogSize, LogSpace, LogicalBlock, Outcome};
use crate::stream::Stream;
use crate::{Observer, PageWrite};
use ftlab_flash::{BlockId, Cause, Flash};
use ftlab_spec::NoParameters;

/// Replacement blocks, in order of allocation.
pub struct Fmax(OwnLogs);

/// Merges `logical` with its replacement block.
fn merge<F: Flash, O: Observer>(
    drive: &mut HybridDrive<F, O>,
    logical: LogicalBlock,
    replacement: BlockId,
) -> Outcome<(), F> {
    drive.full_merge(logical)?;
    drive.erase(replacement, Cause::Merge)
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
        Self(OwnLogs::new(size))
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
        let block = self.0.make_room(drive, drive.logical_block(write.page.lpn), merge)?;
        drive.write_to(block, write)
    }

    fn memory_bytes(&self) -> usize {
        self.0.bytes()
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
        self.0.check(drive)
    }
}
