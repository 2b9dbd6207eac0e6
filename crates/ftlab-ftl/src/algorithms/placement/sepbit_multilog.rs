//! `sepbit-multilog`: host writes as `sepbit` divides them, relocated pages as `multilog` does.
//!
//! # Idea
//! SepBIT knows of relocated pages how long ago they were written, and MultiLog how often they are. MultiLog
//! mixes them with host writes, which SepBIT keeps apart.
//!
//! # Rule
//! A host write goes to the short-lived stream if the version that it replaces lived for less than l host
//! writes, else to the long-lived one; l is the mean time from opening to collection of the last 16 collected
//! blocks of the first. Relocated pages go to one of N logs, of which log i, from the coldest, stands for pages
//! that are rewritten every 2 L / q^i host writes, L being the logical pages: to the one that is nearest, by
//! its logarithm, to the period of the page. This is the mean of its last interval between host writes and of
//! the period before, or the time since the host wrote it if that is longer.
//!
//! # Parameters
//! `blocks` 16 as in SepBIT; `logs` 4 and q `ratio` 2.
//!
//! # Where the paper is silent
//! There is none. MultiLog moves pages by one log at a time, from that of the block where they lie; here they
//! come from host streams, so that the log is chosen again each time.
//!
//! # Reference
//! Our choice, of parts of `sepbit` and `multilog`.

use crate::algorithms::placement::sepbit::Lifespan;
use crate::algorithms::tools::intervals::Intervals;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, STAMP_BITS};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::parameters! {
    pub struct SepBitMultiLogParameters {
        /// Collected blocks of the short-lived stream over which their mean lifespan l is taken.
        blocks: u32 = 16, "blocks" in 1..=1_000_000, from "SepBIT (FAST 2022), section 3.4";
        /// Logs of relocated pages, from cold to hot.
        logs: u32 = 4, "logs" in 1..=LOGS.len() as u32, from "ours";
        /// How many times as often the pages of a log are rewritten as those of the next colder one.
        ratio: f64 = 2.0, "ratio" in 1.1..=100.0, from "Wolf (2015), section 5, of Stoica and Ailamaki";
    }
}

const SHORT: StreamId = StreamId(0);
const LONG: StreamId = StreamId(1);

/// The stream of the coldest log.
const COLDEST: StreamId = StreamId(2);

const LOGS: [&str; 8] = ["log 0", "log 1", "log 2", "log 3", "log 4", "log 5", "log 6", "log 7"];

/// SepBIT's host writes and MultiLog's relocated pages.
pub struct SepBitMultiLog {
    opened_at: Vec<u64>,
    lifespan: Lifespan,
    intervals: Intervals,
    /// The periods between two logs, from cold to hot.
    borders: Vec<f32>,
    blocks: u32,
}

state!(SepBitMultiLog { opened_at, lifespan, intervals } constant borders, blocks);

impl PlacementEntry for SepBitMultiLog {
    type Parameters = SepBitMultiLogParameters;
    const NAME: &'static str = "sepbit-multilog";
    const SUMMARY: &'static str =
        "host writes by their last lifespan, relocated pages by update frequency";
    const SOURCE: &'static str =
        "our choice, of SepBIT (FAST 2022) and Stoica and Ailamaki (PVLDB 2013)";

    fn new(parameters: &SepBitMultiLogParameters, shape: DriveShape) -> Self {
        let coldest = 2.0 * shape.logical_pages as f32;
        let ratio = parameters.ratio as f32;
        let border = |log: u32| coldest / ratio.powi(log.cast_signed()) / ratio.sqrt();
        Self {
            opened_at: vec![0; shape.blocks as usize],
            lifespan: Lifespan::UNKNOWN,
            intervals: Intervals::new(shape.logical_pages),
            borders: (0..parameters.logs - 1).map(border).collect(),
            blocks: parameters.blocks,
        }
    }
}

impl Placement for SepBitMultiLog {
    fn streams(&self) -> Vec<Stream> {
        let host = |name| Stream { name, takes_relocations: false, cold: false };
        let log = |(log, &name)| Stream { name, takes_relocations: true, cold: log == 0 };
        let logs = LOGS.iter().take(self.borders.len() + 1).enumerate().map(log);
        [host("short-lived"), host("long-lived")].into_iter().chain(logs).collect()
    }

    /// Where free blocks run out, pages of different temper may share one.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        self.intervals.prefetch(lpn);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        if drive.flash_page(write.lpn).is_none() {
            self.intervals.begin(write.lpn, drive);
            return LONG;
        }
        let mut last = 0.0;
        self.intervals.rewrite(write.lpn, drive, |mean, interval| {
            last = interval;
            0.5 * (mean + interval)
        });
        if (last as u64) < self.lifespan.mean { SHORT } else { LONG }
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let period = self.intervals.expected(page.lpn, drive);
        let hotter = self.borders.iter().map(|&border| u8::from(period < border)).sum::<u8>();
        StreamId(COLDEST.0 + hotter)
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.opened_at[block.index()] = drive.write_clock();
    }

    fn on_block_erased(&mut self, block: BlockId, drive: &DriveState) {
        if drive.stream_of(block) == SHORT {
            let writes = drive.write_clock() - self.opened_at[block.index()];
            self.lifespan.add(writes, self.blocks);
        }
    }

    /// The period and a stamp of every page; the time of opening and the stream of every block.
    fn metadata(&self) -> Metadata {
        Metadata::per_page(64.0) + Metadata::per_block(STAMP_BITS + 3)
    }

    fn memory_bytes(&self) -> usize {
        self.intervals.bytes() + size_of_val(&self.opened_at[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_divide_periods_half_way_between_them() {
        let shape =
            DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1000, reserve_blocks: 4 };
        let parameters = SepBitMultiLogParameters { ratio: 4.0, ..Default::default() };
        let placement = SepBitMultiLog::new(&parameters, shape);
        assert_eq!(placement.borders, [1000.0, 250.0, 62.5]);
    }
}
