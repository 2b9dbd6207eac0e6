//! `faster`: FAST whose pages get a second chance before they are merged, a few at a time.
//!
//! # Idea
//! A page that is still valid when its log block is reclaimed may be only warm: rewritten a little
//! later than the log is long. Moving it costs one copy, merging it a whole block. So every page is
//! moved once, which doubles the length of the log for it. What is valid even then is cold: it is
//! isolated, and merged a little at each host write, so that no write waits for many merges.
//!
//! # Rule
//! Log blocks of host writes and of second chances are one queue in order of opening. While at most
//! one block of the log is unused, the head of the queue is reclaimed: the valid pages of a host
//! block go to the open second-chance block; those of a second-chance block go to the isolation area,
//! see [`Isolation`]. Before every host write one logical block with isolated pages is merged.
//!
//! # Parameters
//! `isolation`: how cold pages are isolated, or that they are merged at once instead;
//! `isolation-blocks`: how many blocks that takes; `merge-step`: how many logical blocks are merged
//! before a host write.
//!
//! # Where the paper is silent
//! Second-chance pages have blocks of their own, opened when needed and counted in the log; mixed
//! with host writes they would make response times vary half as much as published. Without isolation
//! the second-chance victim is merged at once: carrying cold pages on for ever would fill the log
//! with them. The area has two blocks within the log, and when a third were needed the oldest is
//! emptied at once; with one block response times would vary more than published. One merge per write
//! fits table 2, two do not. The text copies pages to the area; leaving them in their block
//! (`isolation=inplace`) is as good. An open second-chance block at the head of the queue is
//! reclaimed as it is. A page that is rewritten starts afresh. There is no block for sequences.
//!
//! # Reference
//! Lim, Lee and Moon, "FASTer FTL for Enterprise-Class Flash Memory SSDs", SNAPI 2010, section IV.

use crate::hybrid::isolation::{Isolation, IsolationKind};
use crate::hybrid::{HybridDrive, LogSize, LogSpace, Outcome};
use crate::stream::{Stream, StreamId};
use crate::{Observer, PageWrite};
use ftlab_flash::{BlockId, Cause, Flash, Ppn};
use std::collections::VecDeque;

ftlab_spec::parameters! {
    pub struct FasterParameters {
        /// How pages are isolated that are valid after their second chance; off merges them at once.
        isolation: IsolationKind = IsolationKind::Copy, "isolation", from "FASTer (SNAPI 2010), section IV.B";
        /// Blocks of the log that the isolation area may take.
        isolation_blocks: u32 = 2, "isolation-blocks" in 1..=1_000_000, from "our reading: the paper is silent";
        /// Logical blocks with isolated pages that are merged before each host write.
        merge_step: u32 = 1, "merge-step" in 1..=1_000_000, from "our reading: the paper says \"a few cold pages\"";
    }
}

const HOST: StreamId = StreamId(1);
const SECOND_CHANCE: StreamId = StreamId(2);

/// One queue of log blocks of two kinds, and the isolation area.
pub struct Faster {
    log_blocks: usize,
    /// Host and second-chance blocks, in order of opening.
    queue: VecDeque<BlockId>,
    /// The block of the queue that takes host writes.
    host: Option<BlockId>,
    /// The block of the queue that takes second chances.
    second_chance: Option<BlockId>,
    isolation: Isolation,
}

impl Faster {
    /// Blocks of the log that are in use.
    fn used(&self) -> usize {
        self.queue.len() + self.isolation.blocks().len()
    }

    /// The open block of host writes, after as many reclaims as that takes.
    fn make_room<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<BlockId, F> {
        if let Some(open) = self.host.filter(|&block| drive.has_room(block)) {
            return Ok(open);
        }
        while self.log_blocks - self.used() <= 1
            && let Some(victim) = self.queue.front().copied()
        {
            self.reclaim(drive, victim)?;
        }
        let open = self.open(drive, HOST)?;
        self.host = Some(open);
        Ok(open)
    }

    fn open<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        stream: StreamId,
    ) -> Outcome<BlockId, F> {
        let block = drive.open(stream)?;
        self.queue.push_back(block);
        Ok(block)
    }

    /// Gives the valid pages of `victim`, the head of the queue, what they have coming.
    fn reclaim<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        victim: BlockId,
    ) -> Outcome<(), F> {
        drive.count_reclaim(victim);
        if drive.stream_of(victim) == HOST {
            self.give_second_chance(drive, victim)?;
            self.queue.pop_front();
            drive.erase(victim, Cause::Move)
        } else {
            self.second_chance.take_if(|open| *open == victim);
            self.queue.pop_front();
            self.isolation.take(drive, victim)
        }
    }

    /// Moves the valid pages of `victim` to the open second-chance block.
    fn give_second_chance<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        victim: BlockId,
    ) -> Outcome<(), F> {
        for page in drive.pages_of(victim).map(Ppn) {
            if let Some(lpn) = drive.valid(page) {
                let open = match self.second_chance.filter(|&block| drive.has_room(block)) {
                    Some(open) => open,
                    None => self.open(drive, SECOND_CHANCE)?,
                };
                self.second_chance = Some(open);
                drive.relocate(page, lpn, open)?;
            }
        }
        Ok(())
    }
}

impl LogSpace for Faster {
    type Parameters = FasterParameters;
    const NAME: &'static str = "faster";
    const SUMMARY: &'static str =
        "hybrid mapping; FAST with a second chance, cold pages isolated and merged a few at a time";
    const SOURCE: &'static str = "FASTer (SNAPI 2010), section IV";

    /// The isolation area, a block for host writes, and one that second chances may open.
    fn log_blocks_min(parameters: &FasterParameters) -> u32 {
        2 + match parameters.isolation {
            IsolationKind::Off => 0,
            IsolationKind::Copy | IsolationKind::InPlace => parameters.isolation_blocks,
        }
    }

    fn new(parameters: &FasterParameters, size: LogSize) -> Self {
        Self {
            log_blocks: size.log_blocks as usize,
            queue: VecDeque::with_capacity(size.log_blocks as usize),
            host: None,
            second_chance: None,
            isolation: Isolation::new(
                parameters.isolation,
                parameters.isolation_blocks,
                parameters.merge_step,
            ),
        }
    }

    fn streams(&self) -> Vec<Stream> {
        let stream = |name| Stream { name, takes_relocations: false, cold: false };
        let moved = |name, cold| Stream { name, takes_relocations: true, cold };
        vec![stream("data"), stream("log"), moved("second-chance", false), moved("isolation", true)]
    }

    #[inline]
    fn before_write<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<(), F> {
        self.isolation.merge_some(drive)
    }

    #[inline]
    fn write<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        write: PageWrite<'_>,
    ) -> Outcome<(), F> {
        let block = self.make_room(drive)?;
        drive.write_to(block, write)
    }

    fn memory_bytes(&self) -> usize {
        (self.queue.capacity() + self.isolation.blocks().capacity()) * size_of::<BlockId>()
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
        let of = |stream| {
            self.queue.iter().copied().filter(move |&block| drive.stream_of(block) == stream)
        };
        drive.check_stream(HOST, of(HOST), self.log_blocks)?;
        drive.check_stream(SECOND_CHANCE, of(SECOND_CHANCE), self.log_blocks)?;
        self.isolation.check(drive)?;
        if self.used() > self.log_blocks {
            return Err(format!("{} of {} log blocks are in use", self.used(), self.log_blocks));
        }
        Ok(())
    }
}
