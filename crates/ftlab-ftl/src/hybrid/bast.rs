//! `bast`: a log block of its own for each logical block that is rewritten, the least recently used one goes.
//!
//! # Idea
//! A few log blocks take what is rewritten, each for one logical block. Pages that are rewritten in order leave a log
//! block that needs no merge: it takes the place of the data block. Under random writes each log block is given up with
//! few pages in it (*thrashing*), and every one of them costs a merge.
//!
//! # Rule
//! A rewritten page goes to the log block of its logical block. A logical block without one takes an unused block of
//! the log; if there is none, the log block that was written to longest ago is given up, however empty it is. A full
//! one is given up by the next write to its logical block.
//!
//! What is given up becomes the data block if all its pages are in their places: a switch, or a partial merge if pages
//! have to be added. Any other is merged with the data block into a fresh block (a full merge).
//!
//! # Parameters
//! `victim`: which log block is given up if a further one is needed: `lru`, or `fifo`, the one allocated first.
//!
//! # Where the paper is silent
//! We had only descriptions of it by others. Which log block goes, and that a log block which is not full may become
//! the data block (a partial merge), are our readings. As in all hybrid-mapped FTLs here, a page whose place in its data
//! block is clean is programmed there. `fmax` is the same idea without switches and partial merges.
//!
//! # Reference
//! Kim, Kim, Noh, Min and Cho, "A Space-Efficient Flash Translation Layer for CompactFlash Systems", IEEE Transactions
//! on Consumer Electronics 48(2), 2002.

use crate::hybrid::rings::Rings;
use crate::hybrid::{HybridDrive, LogSize, LogSpace, LogicalBlock, Outcome};
use crate::stream::{Stream, StreamId};
use crate::{Observer, PageWrite};
use ftlab_flash::{BlockId, Flash, Lpn};

ftlab_spec::choices! {
    /// Which log block is given up.
    pub enum BastVictim {
        /// The one that was written to longest ago.
        Lru = "lru",
        /// The one that was allocated first.
        Fifo = "fifo",
    }
}

ftlab_spec::parameters! {
    pub struct BastParameters {
        /// Which log block is given up if a further one is needed.
        victim: BastVictim = BastVictim::Lru, "victim", from "our reading: the paper was not at hand";
    }
}

const LOG: StreamId = StreamId(1);

/// Log blocks of logical blocks.
pub struct Bast {
    victim: BastVictim,
    log_blocks: u32,
    used: u32,
    /// Logical block -> its log block.
    log: Vec<Option<BlockId>>,
    /// Those with a log block, from the next to give it up on.
    order: Rings,
}

impl Bast {
    /// A log block for `logical` with room, after as many merges as that takes.
    fn make_room<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
    ) -> Outcome<BlockId, F> {
        if let Some(block) = self.log[logical.0 as usize] {
            if drive.has_room(block) {
                return Ok(block);
            }
            self.give_up(drive, logical)?;
        }
        if self.used == self.log_blocks
            && let Some(next) = self.order.first(0)
        {
            self.give_up(drive, LogicalBlock(next))?;
        }
        let block = drive.open(LOG)?;
        self.log[logical.0 as usize] = Some(block);
        self.order.push(0, logical.0);
        self.used += 1;
        Ok(block)
    }

    /// Gives up the log block of `logical`.
    fn give_up<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        logical: LogicalBlock,
    ) -> Outcome<(), F> {
        let Some(block) = self.log[logical.0 as usize].take() else { return Ok(()) };
        self.order.remove(logical.0);
        self.used -= 1;
        drive.count_reclaim(block);
        drive.end(logical, block)
    }
}

impl LogSpace for Bast {
    type Parameters = BastParameters;
    const NAME: &'static str = "bast";
    const SUMMARY: &'static str = "hybrid mapping; a log block for each rewritten logical block, which may become its data block";
    const SOURCE: &'static str = "BAST (TCE 2002)";

    fn log_blocks_min(_parameters: &BastParameters) -> u32 {
        1
    }

    fn new(parameters: &BastParameters, size: LogSize) -> Self {
        Self {
            victim: parameters.victim,
            log_blocks: size.log_blocks,
            used: 0,
            log: vec![None; size.data_blocks as usize],
            order: Rings::new(size.data_blocks, 1),
        }
    }

    fn streams(&self) -> Vec<Stream> {
        let stream = |name| Stream { name, takes_relocations: false, cold: false };
        vec![stream("data"), stream("log")]
    }

    #[inline]
    fn write<F: Flash, O: Observer>(
        &mut self,
        drive: &mut HybridDrive<F, O>,
        write: PageWrite<'_>,
    ) -> Outcome<(), F> {
        let logical = drive.logical_block(write.page.lpn);
        let block = self.make_room(drive, logical)?;
        if self.victim == BastVictim::Lru {
            self.order.remove(logical.0);
            self.order.push(0, logical.0);
        }
        drive.write_to(block, write)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.log[..]) + self.order.bytes()
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
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
