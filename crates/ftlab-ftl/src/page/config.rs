//! How large a page-mapped drive is, when it collects, and whether that can work.

use crate::page::gc_schedule::MILLION;
use crate::page::{GcSchedule, Refresh, WearLeveling};
use crate::stream::Stream;
use ftlab_flash::Geometry;
use thiserror::Error;

/// Size of a page-mapped drive and when it collects garbage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DriveConfig {
    /// The flash.
    pub geometry: Geometry,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// Pages that the map itself takes at most, where it does not fit into memory.
    pub map_pages: u32,
    /// Free blocks that host writes may not take: collection starts when no more are left.
    pub reserve_blocks: u32,
    /// While fewer blocks are free, blocks with at most `early_valid_pages_max` valid pages are
    /// collected ahead of need, one collection per host write; 0 turns that off.
    pub gc_start_blocks: u32,
    /// See `gc_start_blocks`.
    pub early_valid_pages_max: u32,
    /// Before a host write, in steps after host writes, or by the share of garbage.
    pub gc: GcSchedule,
    /// How erases are spread over blocks.
    pub wear: WearLeveling,
    /// What is rewritten because it was read too often or is too old.
    pub refresh: Refresh,
}

/// A drive on which the FTL cannot work.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[allow(missing_docs)]
pub enum ConfigError {
    /// Too little flash for the logical pages.
    #[error(
        "{blocks} blocks of {pages_per_block} pages are too few: {logical_pages} logical pages fill \
         {data_blocks}, and the FTL needs {reserve_blocks} in reserve, {streams} open (one per \
         stream) and 1 to collect into, {needed} in all; {}raise --op or --blocks ({} is enough){}",
        fitting_pages_per_block.map_or_else(String::new, |pages| {
            format!("take smaller blocks (--pages-per-block {pages} is enough), or ")
        }),
        enough(*needed, *op_percent),
        if *reserve_blocks > 1 { ", or lower --reserve" } else { "" }
    )]
    TooFewBlocks {
        /// Erase blocks there are.
        blocks: u32,
        pages_per_block: u32,
        /// Pages that the host can address.
        logical_pages: u32,
        /// Blocks that these fill.
        data_blocks: u32,
        /// Blocks held in reserve.
        reserve_blocks: u32,
        /// Streams of the FTL.
        streams: u32,
        /// Erase blocks that would be enough.
        needed: u64,
        /// Over-provisioning in percent that would be enough.
        op_percent: u64,
        /// Pages of smaller blocks, of which the least flash that can have been asked for has enough, if there are any.
        fitting_pages_per_block: Option<u32>,
    },
    /// A reserve that collection could use up.
    #[error(
        "a reserve of {reserve_blocks} blocks is too small: garbage collection of this FTL writes to \
         {streams} streams, each of which may need a new block; use --reserve {streams} or more"
    )]
    ReserveTooSmall {
        reserve_blocks: u32,
        /// Streams that take relocated pages.
        streams: u32,
    },
    /// Too little flash for a log.
    #[error(
        "{blocks} blocks of {pages_per_block} pages are too few: {logical_pages} logical pages have \
         {data_blocks} data blocks, and the FTL needs {spare_blocks} beside the log and \
         {log_blocks_min} of log, {needed} in all; raise --op or --blocks ({} is enough)",
        enough(*needed, *op_percent)
    )]
    TooFewLogBlocks {
        /// Erase blocks there are.
        blocks: u32,
        pages_per_block: u32,
        /// Pages that the host can address.
        logical_pages: u32,
        /// Data blocks of these.
        data_blocks: u32,
        /// Blocks to merge into or to write in order.
        spare_blocks: u32,
        /// The fewest log blocks.
        log_blocks_min: u32,
        /// Erase blocks that would be enough.
        needed: u64,
        /// Over-provisioning in percent that would be enough.
        op_percent: u64,
    },
    /// Merges do not come ahead of need.
    #[error(
        "a hybrid-mapped FTL has no schedule of garbage collection, no wear levelling and no refresh; leave out \
         --gc, --gc-start, --free-block, --wear-threshold and --refresh, or compare page-mapped FTLs only"
    )]
    NothingToSchedule,
    /// Merges have no other place for a page.
    #[error(
        "a hybrid-mapped FTL has no rule for blocks that fail; leave out --faults, or compare \
         page-mapped FTLs only"
    )]
    NothingToRetire,
    /// Each group collects for itself.
    #[error(
        "reclaim groups collect garbage before the host write that needs it, on flash that does not fail; \
         leave out --gc, --gc-start, --free-block, --wear-threshold and --faults, or reclaim-groups"
    )]
    GroupsNeedForeground,
    /// The map has a stream of its own.
    #[error(
        "a map on flash has a stream of its own, beside those of an FTL without placement handles that has at most \
         254; leave out --mapping, or nvme-fdp"
    )]
    StreamsNeedFullMap,
    /// The host could address nothing.
    #[error("the drive has no logical pages; give --logical or --logical-pages")]
    NoLogicalPages,
}

impl ConfigError {
    /// What an engine says whose pages are units of `unit_pages` pages, of the `logical_pages` pages of its drive.
    pub(crate) fn in_pages(mut self, unit_pages: u32, of_drive: u32) -> Self {
        if let Self::TooFewBlocks {
            pages_per_block, logical_pages, fitting_pages_per_block, ..
        } = &mut self
        {
            *pages_per_block *= unit_pages;
            *logical_pages = of_drive;
            *fitting_pages_per_block = fitting_pages_per_block.map(|units| units * unit_pages);
        }
        self
    }
}

/// What to type; over-provisioning beyond reason is better said in blocks.
fn enough(needed: u64, op_percent: u64) -> String {
    if op_percent < 100 { format!("--op {op_percent}%") } else { format!("--blocks {needed}") }
}

impl DriveConfig {
    /// A drive that collects when it has to, all at once, and does not level wear.
    pub fn new(geometry: Geometry, logical_pages: u32, reserve_blocks: u32) -> Self {
        Self {
            geometry,
            logical_pages,
            map_pages: 0,
            reserve_blocks,
            gc_start_blocks: 0,
            early_valid_pages_max: 0,
            gc: GcSchedule::Foreground,
            wear: WearLeveling::default(),
            refresh: Refresh::default(),
        }
    }

    /// Whether it collects when it has to, all at once, and does not level wear.
    pub(crate) fn is_plain(&self) -> bool {
        let plain = Self::new(self.geometry, self.logical_pages, self.reserve_blocks);
        *self == Self { early_valid_pages_max: self.early_valid_pages_max, ..plain }
    }

    /// Free blocks below which collection begins gradually, or throttled: more than the reserve.
    pub(crate) fn ahead_start(&self) -> u32 {
        let (GcSchedule::Gradual { per_million: from } | GcSchedule::Throttled { from, .. }) =
            self.gc
        else {
            return 0;
        };
        let blocks = u64::from(self.geometry.blocks()) * u64::from(from);
        (blocks.div_ceil(MILLION as u64) as u32).max(self.reserve_blocks + 1)
    }

    /// Refuses a drive on which a policy with these streams could run out of free blocks.
    ///
    /// With R blocks in reserve and S streams, collection is called for only when at most R blocks are
    /// free and at most S - 1 have room. The sealed rest must then hold invalid pages, so it must be
    /// more than the logical pages fill. The reserve has to cover the blocks that relocations may open
    /// before they free as many: `reserve_min`, see [`Policy::reserve_blocks_min`]. Where host writes
    /// have filled the blocks that earlier collections opened, it may still be one too few for streams
    /// that both share; a relocated page then goes to any stream with room. Blocks that
    /// are bad from birth do not count.
    ///
    /// [`Policy::reserve_blocks_min`]: crate::page::Policy::reserve_blocks_min
    pub(crate) fn verify(
        &self,
        streams: &[Stream],
        reserve_min: u32,
        bad_blocks: u32,
    ) -> Result<(), ConfigError> {
        if self.logical_pages == 0 {
            return Err(ConfigError::NoLogicalPages);
        }
        if self.reserve_blocks < reserve_min {
            return Err(ConfigError::ReserveTooSmall {
                reserve_blocks: self.reserve_blocks,
                streams: reserve_min,
            });
        }
        let data_blocks = self.data_blocks();
        let needed = self.needed_blocks(streams.len() as u32);
        let streams = streams.len() as u32;
        let blocks = self.geometry.blocks() - bad_blocks;
        if u64::from(blocks) < needed {
            let pages_per_block = self.geometry.pages_per_block();
            let needed_pages = needed * u64::from(pages_per_block);
            let spare_pages = needed_pages - u64::from(self.logical_pages);
            return Err(ConfigError::TooFewBlocks {
                blocks,
                pages_per_block,
                logical_pages: self.logical_pages,
                data_blocks,
                reserve_blocks: self.reserve_blocks,
                streams,
                needed,
                op_percent: (100 * spare_pages).div_ceil(u64::from(self.logical_pages)),
                fitting_pages_per_block: self.fitting_pages_per_block(streams),
            });
        }
        Ok(())
    }

    /// Pages of the largest blocks, a power of two, with which the same flash is enough. It may have been rounded up
    /// to whole blocks, so all that is known of it is that fewer were not enough.
    fn fitting_pages_per_block(&self, streams: u32) -> Option<u32> {
        let geometry = self.geometry;
        let least = geometry.pages() - geometry.pages_per_block() + 1;
        let sizes = (2..u32::BITS).rev().map(|power| 1_u32 << power);
        sizes.filter(|pages| *pages < geometry.pages_per_block()).find(|&pages| {
            let smaller = Geometry::new(least.div_ceil(pages), pages, geometry.page_bytes());
            smaller.is_ok_and(|geometry| {
                let config = Self { geometry, ..*self };
                u64::from(geometry.blocks()) >= config.needed_blocks(streams)
            })
        })
    }

    /// Blocks that the logical pages fill, and those of the map.
    pub(crate) fn data_blocks(&self) -> u32 {
        self.logical_pages.saturating_add(self.map_pages).div_ceil(self.geometry.pages_per_block())
    }

    /// The fewest blocks with which a policy of `streams` streams cannot run out of free ones.
    pub(crate) fn needed_blocks(&self, streams: u32) -> u64 {
        [self.data_blocks(), self.reserve_blocks, streams, 1].map(u64::from).iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(blocks: u32, reserve_blocks: u32) -> DriveConfig {
        DriveConfig::new(Geometry::new(blocks, 128, 4096).unwrap(), 65_536, reserve_blocks)
    }

    fn streams(count: usize) -> Vec<Stream> {
        vec![Stream { name: "s", takes_relocations: true, cold: false }; count]
    }

    #[test]
    fn the_sum_is_exact_and_in_the_message() {
        assert_eq!(config(512 + 4 + 2 + 1, 4).verify(&streams(2), 2, 0), Ok(()));
        let error = config(512 + 4 + 2, 4).verify(&streams(2), 2, 0).unwrap_err().to_string();
        for part in [
            "518 blocks",
            "fill 512",
            "4 in reserve",
            "2 open",
            "519 in all",
            "--op 2%",
            "block 64",
        ] {
            assert!(error.contains(part), "{part} is not in: {error}");
        }
    }

    #[test]
    fn smaller_blocks_are_proposed_where_they_are_enough() {
        let small = DriveConfig::new(Geometry::new(18, 1024, 4096).unwrap(), 16_384, 4);
        let error = small.verify(&streams(2), 2, 0).unwrap_err().to_string();
        let remedy = "take smaller blocks (--pages-per-block 128 is enough), or raise --op";
        assert!(error.contains(remedy), "{error}");
        // 17 blocks are too few for what was asked for, by a page at least.
        let least = 17 * 1024 + 1_u32;
        let geometry = Geometry::new(least.div_ceil(128), 128, 4096).unwrap();
        assert_eq!(DriveConfig { geometry, ..small }.verify(&streams(2), 2, 0), Ok(()));
        let geometry = Geometry::new(least.div_ceil(256), 256, 4096).unwrap();
        assert!(DriveConfig { geometry, ..small }.verify(&streams(2), 2, 0).is_err());
    }

    #[test]
    fn smaller_blocks_that_are_proposed_are_enough_for_the_same_over_provisioning() {
        let mut proposed = 0;
        for (logical_pages, percent, streams_open) in (0..4000_u32)
            .map(|case| (10_000 + 37 * (case % 400), 1 + case / 400 % 5 * 3, 1 + case as usize % 7))
        {
            let drive = |pages_per_block: u32| {
                let pages = u64::from(logical_pages) * u64::from(100 + percent);
                let blocks = pages.div_ceil(100 * u64::from(pages_per_block)) as u32;
                DriveConfig::new(
                    Geometry::new(blocks, pages_per_block, 4096).unwrap(),
                    logical_pages,
                    4,
                )
            };
            let verify = |pages| drive(pages).verify(&streams(streams_open), 1, 0);
            if let Err(ConfigError::TooFewBlocks { fitting_pages_per_block: Some(pages), .. }) =
                verify(512)
            {
                proposed += 1;
                assert_eq!(verify(pages), Ok(()), "{logical_pages} pages, {percent}%, {pages}");
            }
        }
        assert!(proposed > 500, "{proposed}");
    }

    #[test]
    fn a_tiny_drive_is_advised_in_blocks() {
        let tiny = DriveConfig { logical_pages: 1, ..config(3, 4) };
        let error = tiny.verify(&streams(2), 2, 0).unwrap_err().to_string();
        assert!(error.contains("8 in all") && error.contains("--blocks 8 is enough"), "{error}");
        let huge = config(600, u32::MAX).verify(&streams(2), 2, 0).unwrap_err().to_string();
        assert!(huge.contains("4294967810 in all"), "{huge}");
    }

    #[test]
    fn the_reserve_covers_every_stream_that_takes_relocations() {
        let error = config(600, 1).verify(&streams(2), 2, 0).unwrap_err();
        assert_eq!(error, ConfigError::ReserveTooSmall { reserve_blocks: 1, streams: 2 });
    }
}
