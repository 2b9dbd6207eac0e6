//! `dac`: dynamic data clustering.
//!
//! # Idea
//! A page that is rewritten is hotter than it was taken for, a page that garbage collection finds still
//! valid is colder. Levels of hotness sort pages out by themselves.
//!
//! # Rule
//! N regions, each with one open block that takes host writes and relocated pages alike. A page that
//! the host writes for the first time goes to region 0, the coldest. A rewritten page goes one region
//! up from where it was, a relocated page one down.
//!
//! # Parameters
//! `regions` 4; `level` block; `window` 0.
//!
//! # Where the paper is silent
//! A page's region is that of the block that holds it (`level=block`), which needs no memory per page.
//! `level=page` keeps a level for every page, which a trim does not reset; it is what the study of
//! Lee and Kim runs. With `window` W a rewritten page is promoted only if its block was sealed less than
//! W host writes ago, or is still open; 0 promotes always.
//!
//! # Reference
//! Chiang, Lee and Chang, "Using data clustering to improve cleaning performance for flash memory",
//! Software: Practice and Experience 29(3), 1999; Lee and Kim, SYSTOR 2013, for `level=page`.

use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, STAMP_BITS, bits_for, memory};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::choices! {
    /// What carries a page's level of hotness.
    pub enum Level {
        /// The block that holds it.
        Block = "block",
        /// A table with a byte per page.
        Page = "page",
    }
}

ftlab_spec::parameters! {
    pub struct DacParameters {
        /// Regions, from cold to hot.
        regions: u32 = 4, "regions" in 1..=8, from "DAC (SPE 1999); 2R (PVLDB 2020), section 6";
        /// Whether a page's level is its block's region or is kept for each page.
        level: Level = Level::Block, "level", from "our reading";
        /// Promote only pages whose block was sealed less than this many host writes ago; 0: always.
        window: u64 = 0, "window", from "our reading";
    }
}

const NAMES: [&str; 8] = [
    "region 0", "region 1", "region 2", "region 3", "region 4", "region 5", "region 6", "region 7",
];

/// N regions from cold to hot.
pub struct Dac {
    hottest: u8,
    window: u64,
    /// Logical page -> level; empty if the block tells.
    levels: Vec<u8>,
}

state!(Dac { levels } constant hottest, window);

impl PlacementEntry for Dac {
    type Parameters = DacParameters;
    const NAME: &'static str = "dac";
    const SUMMARY: &'static str = "a rewritten page goes one region up, a relocated page one down";
    const SOURCE: &'static str = "DAC (SPE 1999)";

    fn new(parameters: &DacParameters, shape: DriveShape) -> Self {
        let levels = match parameters.level {
            Level::Block => Vec::new(),
            Level::Page => vec![0; shape.logical_pages as usize],
        };
        Self { hottest: parameters.regions as u8 - 1, window: parameters.window, levels }
    }
}

impl Dac {
    #[inline]
    fn promotes(&self, block: BlockId, drive: &DriveState) -> bool {
        self.window == 0
            || drive.phase(block) == Phase::Open
            || drive.write_clock() - drive.sealed_at(block) < self.window
    }
}

impl Placement for Dac {
    fn streams(&self) -> Vec<Stream> {
        let regions = NAMES.iter().take(usize::from(self.hottest) + 1);
        regions
            .enumerate()
            .map(|(region, &name)| Stream { name, takes_relocations: true, cold: region == 0 })
            .collect()
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.levels, lpn.index());
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        let Some(page) = drive.flash_page(write.lpn) else {
            return StreamId(self.levels.get(write.lpn.index()).copied().unwrap_or(0));
        };
        let block = drive.block_of(page);
        let step = u8::from(self.promotes(block, drive));
        match self.levels.get_mut(write.lpn.index()) {
            Some(level) => {
                *level = (*level + step).min(self.hottest);
                StreamId(*level)
            }
            None => StreamId((drive.stream_of(block).0 + step).min(self.hottest)),
        }
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        match self.levels.get_mut(page.lpn.index()) {
            Some(level) => {
                *level = level.saturating_sub(1);
                StreamId(*level)
            }
            None => StreamId(page.from.0.saturating_sub(1)),
        }
    }

    fn metadata(&self) -> Metadata {
        let bits = bits_for(u32::from(self.hottest) + 1);
        let window = if self.window > 0 { STAMP_BITS } else { 0 };
        if self.levels.is_empty() {
            Metadata::per_block(bits + window)
        } else {
            Metadata::per_page(f64::from(bits)) + Metadata::per_block(window)
        }
    }

    fn memory_bytes(&self) -> usize {
        self.levels.len()
    }
}
