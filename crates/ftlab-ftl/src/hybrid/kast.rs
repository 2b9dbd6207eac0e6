//! `kast`: log blocks that pages of at most K logical blocks share.
//!
//! # Idea
//! Reclaiming a log block merges every logical block with a valid page in it. If any page may go to any log block, that
//! may be as many merges as a block has pages, and a write may wait for all of them. Let pages of at most K logical
//! blocks share a log block: no write waits for more than K merges, and more of the log is used than with a log block
//! for each logical block.
//!
//! # Rule
//! A log block is sequential or random. The first page of a logical block that has no log block with room begins a
//! sequential one, to which the following pages are added. Any other page of that logical block makes it a random one,
//! which takes that page.
//!
//! A page of a logical block with a random log block goes there while that has room. Any other page goes to an unused
//! block of the log; if there is none, to the random log block with room that the fewest logical blocks share, if they
//! are fewer than K. Of several it is the one that has been shared by that many longest.
//!
//! If there is none, the log block that was opened first is reclaimed: a sequential one becomes the data block (switch
//! or partial merge); of a random one all logical blocks with valid pages are merged, and it is erased. A logical block
//! that was merged shares no log block any more.
//!
//! # Parameters
//! `k`: the most logical blocks that share a log block; `sw`: whether there are sequential log blocks.
//!
//! # Where the paper is silent
//! We had only its abstract and descriptions by others. That a further log block is preferred to sharing one, which
//! block is shared, and which is reclaimed, are our readings, and so is the default of `k`. Sequential log blocks are
//! part of the log; there may be any number of them.
//!
//! # Reference
//! Cho, Shin and Eom, "KAST: K-Associative Sector Translation for NAND Flash Memory in Real-Time Systems", DATE 2009.

use crate::ensure::ensure;
use crate::hybrid::rings::Rings;
use crate::hybrid::{HybridDrive, LogSize, LogSpace, LogicalBlock, Outcome};
use crate::stream::{Stream, StreamId};
use crate::{Observer, PageWrite};
use ftlab_flash::{BlockId, Cause, Flash, Lpn};

ftlab_spec::parameters! {
    pub struct KastParameters {
        /// The most logical blocks that share a log block, and so the most merges that a write may wait for.
        k: u32 = 4, "k" in 1..=4096, from "KAST (DATE 2009); its value is our choice";
        /// Whether log blocks take pages that are written in sequence.
        sw: bool = true, "sw", from "our reading of descriptions by others";
    }
}

const RANDOM: StreamId = StreamId(1);
const SEQUENTIAL: StreamId = StreamId(2);

/// No log block.
const NONE: BlockId = BlockId(u32::MAX);

/// The ring of all log blocks.
const ALL: u32 = 0;

/// Log blocks, and who shares them.
pub struct Kast {
    k: u32,
    sw: bool,
    log_blocks: u32,
    used: u32,
    /// Log blocks in order of opening.
    log: Rings,
    /// Logical block -> the last log block that took a page of it since it was merged.
    home: Vec<BlockId>,
    /// Log block with room -> how many logical blocks have it as their home.
    shared: Vec<u32>,
    /// Random log blocks with room that fewer than K share, by how many do.
    open: Rings,
}

impl Kast {
    /// The log block that takes `lpn`, after as many merges as that takes.
    fn place<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        lpn: Lpn,
    ) -> Outcome<BlockId, F> {
        let (logical, offset) = (drive.logical_block(lpn), drive.offset(lpn));
        let home = self.home[logical.0 as usize];
        if home != NONE && drive.has_room(home) {
            let follows = drive.pages_of(home).len() == offset as usize;
            if drive.stream_of(home) == SEQUENTIAL && !follows {
                drive.hand_over(home, RANDOM);
                self.share(home, self.shared[home.index()]);
            }
            return Ok(home);
        }
        let block = if self.sw && offset == 0 {
            self.open(drive, SEQUENTIAL)?
        } else {
            let shared = (0..self.k).find_map(|number| self.open.first(number));
            match shared.filter(|_| self.used == self.log_blocks).map(BlockId) {
                Some(block) => {
                    self.share(block, self.shared[block.index()] + 1);
                    block
                }
                None => self.open(drive, RANDOM)?,
            }
        };
        self.home[logical.0 as usize] = block;
        Ok(block)
    }

    /// A further log block for one logical block, after the merges of another one if there is none.
    fn open<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        stream: StreamId,
    ) -> Outcome<BlockId, F> {
        if self.used == self.log_blocks
            && let Some(victim) = self.log.first(ALL)
        {
            self.reclaim(drive, BlockId(victim))?;
        }
        let block = drive.open(stream)?;
        self.used += 1;
        self.log.push(ALL, block.0);
        self.shared[block.index()] = 1;
        if stream == RANDOM {
            self.share(block, 1);
        }
        Ok(block)
    }

    /// Says that `number` logical blocks share the random log block `block`, which has room.
    fn share(&mut self, block: BlockId, number: u32) {
        self.shared[block.index()] = number;
        self.open.remove(block.0);
        if number < self.k {
            self.open.push(number, block.0);
        }
    }

    fn reclaim<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        victim: BlockId,
    ) -> Outcome<(), F> {
        drive.count_reclaim(victim);
        self.used -= 1;
        self.log.remove(victim.0);
        self.open.remove(victim.0);
        let first = drive.pages_of(victim).start;
        let owner = drive.logical_block(Lpn(drive.owner_of[first as usize]));
        for page in drive.pages_of(victim) {
            let logical = drive.logical_block(Lpn(drive.owner_of[page as usize]));
            let home = &mut self.home[logical.0 as usize];
            if *home == victim {
                *home = NONE;
            }
        }
        if drive.stream_of(victim) == SEQUENTIAL && drive.is_in_place(owner, victim) {
            drive.adopt(owner, victim)?;
            self.on_merge(drive, owner);
            return Ok(());
        }
        drive.merge_all(victim, |drive, logical| {
            self.on_merge(drive, logical);
            Ok(())
        })?;
        drive.erase(victim, Cause::Merge)
    }

    /// Forgets the log block of `logical`, none of whose pages is in the log any more.
    fn on_merge<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
    ) {
        let home = std::mem::replace(&mut self.home[logical.0 as usize], NONE);
        if home != NONE && drive.has_room(home) {
            if drive.stream_of(home) == SEQUENTIAL {
                drive.hand_over(home, RANDOM);
            }
            self.share(home, self.shared[home.index()] - 1);
        }
    }
}

impl LogSpace for Kast {
    type Parameters = KastParameters;
    const NAME: &'static str = "kast";
    const SUMMARY: &'static str = "hybrid mapping; at most K logical blocks share a log block, so no write waits for \
                                   more than K merges";
    const SOURCE: &'static str = "KAST (DATE 2009)";

    fn log_blocks_min(_parameters: &KastParameters) -> u32 {
        1
    }

    fn new(parameters: &KastParameters, size: LogSize) -> Self {
        let blocks = size.data_blocks + size.log_blocks + Self::spare_blocks(parameters);
        Self {
            k: parameters.k,
            sw: parameters.sw,
            log_blocks: size.log_blocks,
            used: 0,
            log: Rings::new(blocks, 1),
            home: vec![NONE; size.data_blocks as usize],
            shared: vec![0; blocks as usize],
            open: Rings::new(blocks, parameters.k),
        }
    }

    fn streams(&self) -> Vec<Stream> {
        let stream = |name| Stream { name, takes_relocations: false, cold: false };
        let mut streams = vec![stream("data"), stream("random")];
        streams.extend(self.sw.then(|| stream("sequential")));
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
        if !drive.has_room(block) {
            self.open.remove(block.0);
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.home[..])
            + size_of_val(&self.shared[..])
            + self.log.bytes()
            + self.open.bytes()
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
        let of = |stream| {
            let log = self.log.iter(ALL).map(BlockId);
            log.filter(move |&block| drive.stream_of(block) == stream)
        };
        let most = self.log_blocks as usize;
        drive.check_stream(RANDOM, of(RANDOM), most)?;
        drive.check_stream(SEQUENTIAL, of(SEQUENTIAL), most)?;
        ensure!(self.used <= self.log_blocks, "{} log blocks are in use", self.used);
        for block in self.log.iter(ALL).map(BlockId) {
            let mut merges: Vec<_> = drive
                .pages_of(block)
                .filter_map(|page| drive.valid(ftlab_flash::Ppn(page)))
                .map(|lpn| drive.logical_block(lpn))
                .collect();
            merges.sort_unstable();
            merges.dedup();
            ensure!(merges.len() <= self.k as usize, "{} share {block}", merges.len());
            let shared = self.home.iter().filter(|&&home| home == block).count();
            let number = self.shared[block.index()];
            ensure!(
                !drive.has_room(block) || shared == number as usize,
                "{shared} share {block}, counted {number}"
            );
            let is_open = (0..self.k).any(|ring| self.open.iter(ring).any(|open| open == block.0));
            let may_be = drive.has_room(block) && drive.stream_of(block) == RANDOM;
            ensure!(is_open == (may_be && number < self.k), "whether {block} can be shared");
        }
        Ok(())
    }
}
