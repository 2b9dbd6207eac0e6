//! `sepbit`: pages apart by the time at which they will probably be rewritten.
//!
//! # Idea
//! A page that replaces a short-lived version will probably be short-lived too; a page that has
//! survived long since the host wrote it will probably live long. Pages whose ends are near in time
//! share blocks, so blocks empty as a whole.
//!
//! # Rule
//! Six classes. A host write goes to class 1 if the version that it replaces lived for less than l host
//! writes, else to class 2. Garbage collection moves pages of class 1 to class 3, all others by their
//! age a since the host wrote them: a < 4 l to class 4, a < 16 l to class 5, the rest to class 6. l is
//! the mean time from opening to collection of the last 16 collected blocks of class 1.
//!
//! # Parameters
//! `blocks` 16, `steps` 4 and its square, as published. `history=table` keeps when the host last wrote
//! each page; `history=fifo` knows it of the latest l host writes only, and takes the age of relocated
//! pages from their spare area.
//!
//! # Where the paper is silent
//! l is infinite until 16 blocks of class 1 have been collected. A page that holds nothing has no
//! version to judge by: class 2. In the queue a page counts once, where it was written last; its
//! length follows l, but never exceeds one entry per logical page.
//!
//! # Reference
//! Wang et al., "Separating data via block invalidation time inference for write amplification
//! reduction in log-structured storage", FAST 2022, section 3.

use crate::page::DriveState;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, STAMP_BITS, memory};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::choices! {
    /// How long it is known when the host last wrote a page.
    pub enum History {
        /// Always.
        Table = "table",
        /// Among the latest l host writes.
        Fifo = "fifo",
    }
}

ftlab_spec::parameters! {
    pub struct SepBitParameters {
        /// Collected blocks of class 1 over which their mean lifespan l is taken.
        blocks: u32 = 16, "blocks" in 1..=1_000_000, from "SepBIT (FAST 2022), section 3.4";
        /// Relocated pages are divided at this multiple of l, and at its square.
        steps: u32 = 4, "steps" in 2..=1000, from "SepBIT (FAST 2022), section 3.4";
        /// Whether the time of the last host write is kept for every page, or in a queue as long as l.
        history: History = History::Table, "history", from "SepBIT (FAST 2022), section 3.5";
    }
}

const SHORT: StreamId = StreamId(0);
const LONG: StreamId = StreamId(1);
const FROM_SHORT: StreamId = StreamId(2);
const YOUNG: StreamId = StreamId(3);
const MIDDLE: StreamId = StreamId(4);
const OLD: StreamId = StreamId(5);

/// "Never written".
const NEVER: u64 = u64::MAX;

/// Classes by estimated time of invalidation.
pub struct SepBit {
    parameters: SepBitParameters,
    /// Logical page -> write clock when the host last wrote it.
    written_at: Vec<u64>,
    opened_at: Vec<u64>,
    lifespan: Lifespan,
    /// With `history=fifo`: the write clock of the oldest host write that is still in the queue.
    oldest_known: u64,
    /// The longest that the queue has been.
    queue_max: u64,
}

state!(SepBit { written_at, opened_at, lifespan, oldest_known, queue_max } constant parameters);

/// The mean lifespan of blocks of class 1.
pub(super) struct Lifespan {
    /// `u64::MAX` until it is known.
    pub(super) mean: u64,
    sum: u64,
    blocks: u32,
}

state!(Lifespan { mean, sum, blocks });

impl PlacementEntry for SepBit {
    type Parameters = SepBitParameters;
    const NAME: &'static str = "sepbit";
    const SUMMARY: &'static str = "six classes by the lifespan that a page's past lets expect";
    const SOURCE: &'static str = "SepBIT (FAST 2022)";

    fn new(parameters: &SepBitParameters, shape: DriveShape) -> Self {
        Self {
            parameters: parameters.clone(),
            written_at: memory::table(shape.logical_pages as usize, NEVER),
            opened_at: vec![0; shape.blocks as usize],
            lifespan: Lifespan::UNKNOWN,
            oldest_known: 0,
            queue_max: 0,
        }
    }
}

impl Lifespan {
    pub(super) const UNKNOWN: Self = Self { mean: u64::MAX, sum: 0, blocks: 0 };

    /// A block of class 1 has been collected, `writes` host writes after it was opened.
    pub(super) fn add(&mut self, writes: u64, blocks: u32) {
        self.sum += writes;
        self.blocks += 1;
        if self.blocks == blocks {
            *self = Self { mean: self.sum / u64::from(blocks), sum: 0, blocks: 0 };
        }
    }
}

impl SepBit {
    /// Lets the queue follow l: it loses its oldest entry for every new one, two while it is too long,
    /// none while it is too short.
    #[inline]
    fn advance_queue(&mut self, now: u64) {
        let length = now - self.oldest_known;
        let wanted = self.lifespan.mean.min(self.written_at.len() as u64);
        self.oldest_known += match length.cmp(&wanted) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => 1,
            std::cmp::Ordering::Greater => 2,
        };
        self.queue_max = self.queue_max.max(length);
    }

    fn multiple_of_lifespan(&self, power: u32) -> u64 {
        self.lifespan.mean.saturating_mul(u64::from(self.parameters.steps).pow(power))
    }
}

impl Placement for SepBit {
    fn streams(&self) -> Vec<Stream> {
        let host = |name| Stream { name, takes_relocations: false, cold: false };
        let moved = |name, cold| Stream { name, takes_relocations: true, cold };
        vec![
            host("short-lived"),
            host("long-lived"),
            moved("from short-lived", false),
            moved("young", false),
            moved("middle", false),
            moved("old", true),
        ]
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.written_at, lpn.index());
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let now = drive.write_clock();
        let written_at = std::mem::replace(&mut self.written_at[write.lpn.index()], now);
        if self.parameters.history == History::Fifo {
            self.advance_queue(now);
        }
        let is_short = written_at != NEVER
            && written_at >= self.oldest_known
            && now - written_at < self.lifespan.mean;
        if is_short { SHORT } else { LONG }
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        if page.from == SHORT {
            return FROM_SHORT;
        }
        let age = drive.write_clock() - self.written_at[page.lpn.index()];
        if age < self.multiple_of_lifespan(1) {
            YOUNG
        } else if age < self.multiple_of_lifespan(2) {
            MIDDLE
        } else {
            OLD
        }
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.opened_at[block.index()] = drive.write_clock();
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        if drive.stream_of(block) == SHORT {
            let writes = drive.write_clock() - self.opened_at[block.index()];
            self.lifespan.add(writes, self.parameters.blocks);
        }
    }

    fn on_trim(&mut self, lpn: Lpn, _drive: &DriveState) {
        self.written_at[lpn.index()] = NEVER;
    }

    /// The time of opening and the class of every block; a stamp for every page, or an entry with page
    /// number and position for every host write in the queue.
    fn metadata(&self) -> Metadata {
        let blocks = Metadata::per_block(STAMP_BITS + 3);
        blocks
            + match self.parameters.history {
                History::Table => Metadata::per_page(f64::from(STAMP_BITS)),
                History::Fifo => Metadata::fixed(8 * self.queue_max),
            }
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.written_at[..]) + size_of_val(&self.opened_at[..])
    }
}
