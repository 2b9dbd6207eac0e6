//! `multilog`: logs for pages of like update frequency, each twice as hot as the next colder one.
//!
//! # Idea
//! Blocks whose pages are rewritten equally often empty evenly, and how often a page is rewritten can be
//! estimated from its last rewrites.
//!
//! # Rule
//! N logs, each with one open block that takes host writes and relocated pages alike. Log i, from the
//! coldest, stands for pages that are rewritten every 2 L / q^i host writes, L being the logical pages.
//! The period of a page is the mean of its last interval between host writes and of the period before.
//! A rewritten page goes one log up if its period is shorter than its log's by more than a factor of
//! q^(1/2); a relocated page goes one log down if its period, or the time since the host wrote it, is
//! longer by more than that. A first write goes to the coldest log.
//!
//! # Parameters
//! `logs` 6; q `ratio` 2.
//!
//! # Where the paper is silent
//! The paper was at hand only as its abstract and as Wolf's authors sum it up: groups in a fixed order,
//! each taken to be twice as hot as the one before; a page that is too hot for its group moves up on an
//! update, one that is too cold moves down when it is relocated. Their number grows with the workload;
//! here it is given. What the coldest stands for, how a period is estimated, and half the way to the next
//! log as "too hot" are ours. The space of the groups is left to the victim rule; `fdp-freq` divides it.
//! Intervals are taken modulo 2^32 host writes.
//!
//! # Reference
//! Stoica and Ailamaki, "Improving Flash Write Performance by Using Update Frequency", PVLDB 6(9),
//! 2013; Dayan, Bouganim, Bonnet, "Modelling and Managing SSD Write-amplification", 2015, section 5, for
//! its summary; Wang et al., SepBIT, FAST 2022, section 4.1, for six of them.

use crate::Metadata;
use crate::algorithms::placement::classes::{CLASSES_MAX, classes};
use crate::algorithms::tools::intervals::Intervals;
use crate::page::DriveState;
use crate::page::entry::{DriveShape, PlacementEntry};
use crate::page::policy::{HostWrite, Placement, Relocation};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use ftlab_flash::{BlockId, Lpn};

ftlab_spec::parameters! {
    pub struct MultiLogParameters {
        /// Logs, from cold to hot.
        logs: u32 = 6, "logs" in 1..=CLASSES_MAX, from "SepBIT (FAST 2022), section 4.1";
        /// How many times as often the pages of a log are rewritten as those of the next colder one.
        ratio: f64 = 2.0, "ratio" in 1.1..=100.0, from "Wolf (2015), section 5, of Stoica and Ailamaki";
    }
}

/// Logs whose update frequencies double.
pub struct MultiLog {
    /// Log -> host writes between two rewrites of one of its pages.
    periods: Vec<f32>,
    /// How many times too short or too long a period has to be: half the way to the next log.
    too_far: f32,
    intervals: Intervals,
}

state!(MultiLog { intervals } constant periods, too_far);

impl PlacementEntry for MultiLog {
    type Parameters = MultiLogParameters;
    const NAME: &'static str = "multilog";
    const SUMMARY: &'static str =
        "logs whose update frequencies double; a page moves by one at a time";
    const SOURCE: &'static str = "Stoica and Ailamaki (PVLDB 2013)";

    fn new(parameters: &MultiLogParameters, shape: DriveShape) -> Self {
        let coldest = 2.0 * shape.logical_pages as f32;
        let ratio = parameters.ratio as f32;
        Self {
            periods: (0..parameters.logs.cast_signed())
                .map(|log| coldest / ratio.powi(log))
                .collect(),
            too_far: ratio.sqrt(),
            intervals: Intervals::new(shape.logical_pages),
        }
    }
}

impl Placement for MultiLog {
    fn streams(&self) -> Vec<Stream> {
        classes(self.periods.len())
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
        let Some(flash_page) = drive.flash_page(write.lpn) else {
            self.intervals.begin(write.lpn, drive);
            return StreamId(0);
        };
        let half_way = |mean, interval| 0.5 * (mean + interval);
        let period = self.intervals.rewrite(write.lpn, drive, half_way);
        let log = drive.stream_of(drive.block_of(flash_page));
        let is_too_hot = period * self.too_far < self.periods[log.index()];
        StreamId((log.0 + u8::from(is_too_hot)).min(self.periods.len() as u8 - 1))
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        let period = self.intervals.expected(page.lpn, drive);
        let is_too_cold = period > self.too_far * self.periods[page.from.index()];
        StreamId(page.from.0.saturating_sub(u8::from(is_too_cold)))
    }

    fn metadata(&self) -> Metadata {
        Metadata::per_page(64.0)
    }

    fn memory_bytes(&self) -> usize {
        self.intervals.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coldest_log_is_rewritten_every_two_drive_writes_and_each_next_twice_as_often() {
        let shape =
            DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1000, reserve_blocks: 4 };
        let logs = MultiLog::new(&MultiLogParameters::default(), shape);
        assert_eq!(logs.periods, [2000.0, 1000.0, 500.0, 250.0, 125.0, 62.5]);
    }
}
