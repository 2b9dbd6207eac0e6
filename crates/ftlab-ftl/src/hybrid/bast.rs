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

use crate::hybrid::own_logs::OwnLogs;
use crate::hybrid::{HybridDrive, LogSize, LogSpace, Outcome};
use crate::stream::Stream;
use crate::{Observer, PageWrite};
use ftlab_flash::Flash;

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

/// Log blocks of logical blocks.
pub struct Bast {
    victim: BastVictim,
    logs: OwnLogs,
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
        Self { victim: parameters.victim, logs: OwnLogs::new(size) }
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
        let block = self.logs.make_room(drive, logical, HybridDrive::end)?;
        if self.victim == BastVictim::Lru {
            self.logs.touch(logical);
        }
        drive.write_to(block, write)
    }

    fn memory_bytes(&self) -> usize {
        self.logs.bytes()
    }

    fn check<F: Flash, O: Observer>(&self, drive: &HybridDrive<F, O>) -> Result<(), String> {
        self.logs.check(drive)
    }
}
