//! `fast`: a log that any page may go to, reclaimed in the order of writing.
//!
//! # Idea
//! A log block that is tied to one data block is never full when it has to go. Let every log block
//! take pages of any logical block: then all of the log is used, and a page that is rewritten soon
//! costs nothing, since its old version is invalid by the time its log block is reclaimed.
//!
//! # Rule
//! A rewritten page goes to the open log block. If that is full and all N blocks of the log are in
//! use, the block opened first is reclaimed: its pages in order, each that is still valid causes a
//! full merge of its logical block; then it is erased.
//!
//! Beside the log one block takes pages written in sequence: page 0 of a logical block begins it
//! again, and the next page of the same logical block follows. See [`SequentialBlock`] for how it
//! ends.
//!
//! # Parameters
//! `sw`: whether there is a block for sequences.
//!
//! # Where the paper is silent
//! The paper on FAST has the block for sequences; the one on FASTer does not say. With it the model's
//! means agree with those of FASTer's table 2, without it the deviations do. A whole victim is
//! reclaimed by the write that needs the room, once per block of writes. A page whose place in its
//! data block is clean is programmed there. A full merge gathers from the whole log, not only from
//! the victim.
//!
//! # Reference
//! Lee, Park, Chung, Lee, Park and Song, "A Log Buffer-Based Flash Translation Layer Using
//! Fully-Associative Sector Translation", ACM TECS 6(3), 2007; Lim, Lee and Moon, "FASTer FTL for
//! Enterprise-Class Flash Memory SSDs", SNAPI 2010, section III.

use crate::hybrid::sequential::{SEQUENTIAL, SequentialBlock};
use crate::hybrid::{HybridDrive, LogSize, LogSpace, Outcome};
use crate::stream::{Stream, StreamId};
use crate::{Observer, PageWrite};
use ftlab_flash::{BlockId, Cause, Flash};
use std::collections::VecDeque;

ftlab_spec::parameters! {
    pub struct FastParameters {
        /// Whether a block beyond the log takes pages that are written in sequence (the paper's SW
        /// log block).
        sw: bool = true, "sw", from "FAST (TECS 2007)";
    }
}

const LOG: StreamId = StreamId(1);

/// One queue of log blocks.
pub struct Fast {
    log_blocks: usize,
    /// In order of opening; the last one is open while it has room.
    log: VecDeque<BlockId>,
    sequential: Option<SequentialBlock>,
}

impl Fast {
    /// The open log block, after as many merges as that takes.
    fn make_room<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<BlockId, F> {
        if let Some(&open) = self.log.back().filter(|&&block| drive.has_room(block)) {
            return Ok(open);
        }
        if self.log.len() == self.log_blocks
            && let Some(victim) = self.log.pop_front()
        {
            self.reclaim(drive, victim)?;
        }
        let block = drive.open(LOG)?;
        self.log.push_back(block);
        Ok(block)
    }

    fn reclaim<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        victim: BlockId,
    ) -> Outcome<(), F> {
        drive.count_reclaim(victim);
        drive.merge_all(victim, |drive, logical| match &mut self.sequential {
            Some(sequential) => sequential.on_full_merge(drive, logical),
            None => Ok(()),
        })?;
        drive.erase(victim, Cause::Merge)
    }
}

impl LogSpace for Fast {
    type Parameters = FastParameters;
    const NAME: &'static str = "fast";
    const SUMMARY: &'static str =
        "hybrid mapping; any log block takes any page; full merges, oldest log block first";
    const SOURCE: &'static str = "FAST (TECS 2007); FASTer (SNAPI 2010), section III";

    fn log_blocks_min(_parameters: &FastParameters) -> u32 {
        1
    }

    fn spare_blocks(parameters: &FastParameters) -> u32 {
        1 + u32::from(parameters.sw)
    }

    fn new(parameters: &FastParameters, size: LogSize) -> Self {
        Self {
            log_blocks: size.log_blocks as usize,
            log: VecDeque::with_capacity(size.log_blocks as usize),
            sequential: parameters.sw.then(SequentialBlock::default),
        }
    }

    fn streams(&self) -> Vec<Stream> {
        let mut names = vec!["data", "log"];
        names.extend(self.sequential.is_some().then_some("sequential"));
        names
            .into_iter()
            .map(|name| Stream { name, takes_relocations: false, cold: false })
            .collect()
    }

    #[inline]
    fn write<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        write: PageWrite<'_>,
    ) -> Outcome<(), F> {
        let block = match &mut self.sequential {
            Some(sequential) => sequential.place(drive, write.page.lpn)?,
            None => None,
        };
        let block = match block {
            Some(block) => block,
            None => self.make_room(drive)?,
        };
        drive.write_to(block, write)
    }

    fn memory_bytes(&self) -> usize {
        self.log.capacity() * size_of::<BlockId>()
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
        let sequential: Vec<_> =
            self.sequential.iter().filter_map(SequentialBlock::block).collect();
        drive.check_stream(LOG, self.log.iter().copied(), self.log_blocks)?;
        drive.check_stream(SEQUENTIAL, sequential.into_iter(), 1)
    }
}
