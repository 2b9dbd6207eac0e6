//! `last`: a log for sequences, and one for other pages in which those that are rewritten soon are apart.
//!
//! # Idea
//! Pages that are written in sequence need cheap merges only, if no other page comes between them. Of other pages, some
//! are rewritten soon: in log blocks of their own these invalidate each other, until the whole block is *dead* and can
//! be erased without a merge. What is left in the others is cold, and is merged where that costs least.
//!
//! # Rule
//! The log is divided into blocks for sequences, each of one logical block, and random ones, which any logical block
//! shares. Some of the random ones are hot, the others cold.
//! - A page that follows the last one in the sequence of its logical block is added to that.
//! - Any other page is hot if its newest version is in an unfinished sequence, or if its part of the random log, hot or
//!   cold, has taken fewer than a number of pages since (the `window`). It goes to the hot part.
//! - Any other first page of a logical block begins a sequence. If there are as many as there may be, the one that was
//!   added to longest ago ends: as a switch or a partial merge, or with a full merge if a page was rewritten elsewhere.
//! - All others go to the cold part.
//!
//! If the random log is full, a dead hot block is erased. If there is none, the cold block is reclaimed whose valid
//! pages are of the fewest logical blocks: all of these are merged. A hot part that has its share of blocks gives its
//! oldest to the cold part unless one of them is dead; pages in that are not hot any more.
//!
//! # Parameters
//! `sequential`: the share of the log for sequences, one block at least unless it is 0; `hot`: the most of the random
//! log that may be hot; `window`, as a multiple of the pages of the hot part; `candidates`: how many blocks, from the
//! oldest of a part on, are looked at to find a dead or cheap one.
//!
//! # Where the paper is silent
//! We had only its abstract and descriptions by others. The paper knows the size of requests, and takes large ones for
//! sequences; here an FTL sees pages, and page 0 of a logical block begins one, as in FAST. All values are our choices
//! and do not adapt to the workload; the paper's do. Age in pages of the own part, giving old hot blocks to the cold
//! part without a copy, and looking at some candidates only, are our readings. Among equal ones the oldest is taken.
//!
//! # Reference
//! Lee, Shin, Kim and Kim, "LAST: Locality-Aware Sector Translation for NAND Flash Memory-Based Storage Systems", ACM
//! SIGOPS Operating Systems Review 42(6), 2008.

use crate::ensure::ensure;
use crate::hybrid::rings::Rings;
use crate::hybrid::{HybridDrive, LogSize, LogSpace, LogicalBlock, Outcome};
use crate::stream::{Stream, StreamId};
use crate::{Observer, PageWrite};
use ftlab_flash::{BlockId, Cause, Flash, Lpn, Ppn};
use std::collections::VecDeque;

ftlab_spec::parameters! {
    pub struct LastParameters {
        /// The share of the log blocks that take sequences.
        sequential: f64 = 0.1, "sequential" in 0.0..=0.9, from "our choice";
        /// The most of the other log blocks that may be hot; at least one is hot and one cold.
        hot: f64 = 0.5, "hot" in 0.0..=1.0, from "our choice: the paper adapts it";
        /// A page is hot if it is rewritten before its part of the log has taken this many times the pages of the hot
        /// part.
        window: f64 = 1.0, "window" in 0.0..=1000.0, from "our choice: the paper adapts it";
        /// How many blocks of a part are looked at, the oldest first, to find what is erased or merged.
        candidates: u32 = 64, "candidates" in 1..=1_000_000, from "our choice";
    }
}

const PARTS: [StreamId; 2] = [StreamId(1), StreamId(2)];
const SEQUENTIAL: StreamId = StreamId(3);

const HOT: usize = 0;
const COLD: usize = 1;

/// The position of blocks whose pages are not hot any more.
const AGED: u64 = u64::MAX;

/// Hot or cold blocks of the random log.
#[derive(Default)]
struct Part {
    /// The oldest first.
    blocks: VecDeque<BlockId>,
    /// The one that has room.
    open: Option<BlockId>,
    /// Pages that it has taken.
    taken: u64,
}

/// A log of sequences, and both parts of the random log.
pub struct Last {
    random_blocks: usize,
    hot_blocks: usize,
    sequences: usize,
    window: f64,
    candidates: usize,
    parts: [Part; 2],
    /// Block of the random log -> pages that its part had taken when it was opened, or [`AGED`].
    position: Vec<u64>,
    /// Logical block -> the block of its sequence.
    sequence_of: Vec<Option<BlockId>>,
    /// Logical blocks with a sequence, from the one that was added to longest ago on.
    order: Rings,
    begun: usize,
    /// Logical block -> the last count of logical blocks that it was part of.
    counted: Vec<u32>,
    counts: u32,
}

impl Last {
    fn place<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        lpn: Lpn,
    ) -> Outcome<BlockId, F> {
        let (logical, offset) = (drive.logical_block(lpn), drive.offset(lpn));
        let sequence = self.sequence_of[logical.0 as usize];
        let written = sequence.map_or(0, |block| drive.pages_of(block).len());
        if let Some(block) = sequence.filter(|_| offset > 0 && written == offset as usize) {
            self.order.remove(logical.0);
            self.order.push(0, logical.0);
            return Ok(block);
        }
        let is_unfinished = written < drive.pages_in(logical).len();
        if self.is_hot(drive, lpn, sequence.filter(|_| is_unfinished)) {
            self.make_room(drive, HOT)
        } else if offset == 0 && self.sequences > 0 {
            self.begin(drive, logical)
        } else {
            self.make_room(drive, COLD)
        }
    }

    /// Whether the newest version of `lpn` is young, or in `unfinished`.
    fn is_hot<F: Flash, O: Observer>(
        &self,
        drive: &HybridDrive<F, O>,
        lpn: Lpn,
        unfinished: Option<BlockId>,
    ) -> bool {
        let Some(page) = drive.log_page(lpn) else { return false };
        let (block, place) = drive.place_of(page);
        let Some(part) = PARTS.iter().position(|&part| part == drive.stream_of(block)) else {
            return unfinished == Some(block);
        };
        let position = self.position[block.index()];
        let since = || self.parts[part].taken - position - u64::from(place);
        position != AGED && (since() as f64) < self.window
    }

    /// Begins a sequence of `logical`.
    fn begin<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
    ) -> Outcome<BlockId, F> {
        let own = self.sequence_of[logical.0 as usize].map(|_| logical);
        let full = self.begun == self.sequences;
        let ended = own.or_else(|| self.order.first(0).map(LogicalBlock).filter(|_| full));
        if let Some(ended) = ended
            && let Some(block) = self.forget(ended)
        {
            drive.count_reclaim(block);
            drive.end(ended, block)?;
        }
        let block = drive.open(SEQUENTIAL)?;
        self.sequence_of[logical.0 as usize] = Some(block);
        self.order.push(0, logical.0);
        self.begun += 1;
        Ok(block)
    }

    /// The block of the sequence of `logical`, which has none any more.
    fn forget(&mut self, logical: LogicalBlock) -> Option<BlockId> {
        let block = self.sequence_of[logical.0 as usize].take()?;
        self.order.remove(logical.0);
        self.begun -= 1;
        Some(block)
    }

    /// The open block of a part, after as many merges as that takes.
    fn make_room<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        part: usize,
    ) -> Outcome<BlockId, F> {
        if let Some(open) = self.parts[part].open {
            return Ok(open);
        }
        let is_full = |last: &Self| {
            last.parts.iter().map(|part| part.blocks.len()).sum::<usize>() == last.random_blocks
        };
        let wants_more = part == HOT && self.parts[HOT].blocks.len() == self.hot_blocks;
        if (wants_more || is_full(self)) && !self.erase_dead(drive)? {
            if wants_more && let Some(aged) = self.parts[HOT].blocks.pop_front() {
                drive.hand_over(aged, PARTS[COLD]);
                self.position[aged.index()] = AGED;
                self.parts[COLD].blocks.push_back(aged);
            }
            if is_full(self) {
                self.reclaim(drive)?;
            }
        }
        let block = drive.open(PARTS[part])?;
        let Part { blocks, open, taken } = &mut self.parts[part];
        blocks.push_back(block);
        *open = Some(block);
        self.position[block.index()] = *taken;
        Ok(block)
    }

    /// The full blocks of a part that are looked at, and their places in it.
    fn candidates(&self, part: usize) -> impl Iterator<Item = (usize, BlockId)> {
        let Part { blocks, open, .. } = &self.parts[part];
        let full = blocks.iter().copied().enumerate().filter(|&(_, block)| Some(block) != *open);
        full.take(self.candidates)
    }

    /// Erases a hot block without valid pages: whether there is one.
    fn erase_dead<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
    ) -> Outcome<bool, F> {
        let found = self.candidates(HOT).find(|&(_, block)| drive.is_dead(block));
        let Some((index, dead)) = found else { return Ok(false) };
        self.parts[HOT].blocks.remove(index);
        drive.count_reclaim(dead);
        drive.erase(dead, Cause::Merge)?;
        Ok(true)
    }

    /// Empties the cold block whose valid pages are of the fewest logical blocks.
    fn reclaim<F: Flash, O: Observer>(&mut self, drive: &mut HybridDrive<F, O>) -> Outcome<(), F> {
        let mut best = None;
        let (mut counted, mut counts) = (std::mem::take(&mut self.counted), self.counts);
        for (index, block) in self.candidates(COLD) {
            counts = counts.wrapping_add(1);
            let mut merges = 0_u32;
            for lpn in drive.pages_of(block).filter_map(|page| drive.valid(Ppn(page))) {
                let last = &mut counted[drive.logical_block(lpn).0 as usize];
                merges += u32::from(std::mem::replace(last, counts) != counts);
            }
            if best.is_none_or(|(least, _, _)| merges < least) {
                best = Some((merges, index, block));
            }
        }
        (self.counted, self.counts) = (counted, counts);
        let Some((_, index, victim)) = best else { return Ok(()) };
        self.parts[COLD].blocks.remove(index);
        drive.count_reclaim(victim);
        drive.merge_all(victim, |drive, logical| match self.forget(logical) {
            Some(block) => drive.erase(block, Cause::Merge),
            None => Ok(()),
        })?;
        drive.erase(victim, Cause::Merge)
    }
}

impl LogSpace for Last {
    type Parameters = LastParameters;
    const NAME: &'static str = "last";
    const SUMMARY: &'static str = "hybrid mapping; log blocks for sequences, for hot pages, and for cold ones, of which \
                                   those with the fewest merges go";
    const SOURCE: &'static str = "LAST (OSR 2008)";

    fn log_blocks_min(parameters: &LastParameters) -> u32 {
        2 + u32::from(parameters.sequential > 0.0)
    }

    fn new(parameters: &LastParameters, size: LogSize) -> Self {
        let share = |of: u32, share: f64| (f64::from(of) * share) as u32;
        let spare_blocks = Self::spare_blocks(parameters);
        let least = u32::from(parameters.sequential > 0.0);
        let sequences =
            share(size.log_blocks, parameters.sequential).clamp(least, size.log_blocks - 2);
        let random_blocks = size.log_blocks - sequences;
        let hot_blocks = share(random_blocks, parameters.hot).clamp(1, random_blocks - 1);
        let part =
            |most: u32| Part { blocks: VecDeque::with_capacity(most as usize), ..Part::default() };
        Self {
            random_blocks: random_blocks as usize,
            hot_blocks: hot_blocks as usize,
            sequences: sequences as usize,
            window: parameters.window * f64::from(hot_blocks) * f64::from(size.pages_per_block),
            candidates: parameters.candidates as usize,
            parts: [part(hot_blocks), part(random_blocks)],
            position: vec![0; (size.data_blocks + size.log_blocks + spare_blocks) as usize],
            sequence_of: vec![None; size.data_blocks as usize],
            order: Rings::new(size.data_blocks, 1),
            begun: 0,
            counted: vec![0; size.data_blocks as usize],
            counts: 0,
        }
    }

    fn streams(&self) -> Vec<Stream> {
        let stream = |name, cold| Stream { name, takes_relocations: false, cold };
        let mut streams = vec![stream("data", false), stream("hot", false), stream("cold", true)];
        streams.extend((self.sequences > 0).then(|| stream("sequential", false)));
        streams
    }

    #[inline]
    fn write<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        write: PageWrite<'_>,
    ) -> Outcome<(), F> {
        let block = self.place(drive, write.page.lpn)?;
        drive.write_to(block, write)?;
        if let Some(part) = PARTS.iter().position(|&part| part == drive.stream_of(block)) {
            let part = &mut self.parts[part];
            part.taken += 1;
            part.open.take_if(|&mut open| !drive.has_room(open));
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        let blocks: usize = self.parts.iter().map(|part| part.blocks.capacity()).sum();
        blocks * size_of::<BlockId>()
            + size_of_val(&self.position[..])
            + size_of_val(&self.sequence_of[..])
            + self.order.bytes()
            + size_of_val(&self.counted[..])
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
        let [hot, cold] = self.parts.each_ref().map(|part| part.blocks.iter().copied());
        drive.check_stream(PARTS[HOT], hot, self.hot_blocks)?;
        drive.check_stream(PARTS[COLD], cold, self.random_blocks)?;
        let sequences = self.order.iter(0).filter_map(|logical| self.sequence_of[logical as usize]);
        drive.check_stream(SEQUENTIAL, sequences, self.sequences)?;
        let used: usize = self.parts.iter().map(|part| part.blocks.len()).sum();
        ensure!(used <= self.random_blocks, "{used} of {} random log blocks", self.random_blocks);
        for (logical, block) in self.sequence_of.iter().enumerate() {
            let pages = block.map_or(0..0, |block| drive.pages_of(block));
            for (page, place) in pages.zip(drive.pages_in(LogicalBlock(logical as u32))) {
                let owner = drive.owner_of[page as usize];
                ensure!(owner == place, "page {owner} is out of the sequence of {logical}");
            }
        }
        Ok(())
    }
}
