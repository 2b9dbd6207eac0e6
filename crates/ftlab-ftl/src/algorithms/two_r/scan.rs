//! The circular scan of 2R-FIFO, which 2R++ shares: victims of one region, oldest first, that are
//! emptier than a threshold.

use crate::algorithms::tools::block_list::BlockList;
use crate::algorithms::tools::emptiest::take_emptiest;
use crate::page::Drive;
use crate::page::policy::Victims;
use ftlab_flash::BlockId;

ftlab_spec::choices! {
    /// What a collection does when a full sweep finds no block under the threshold.
    pub enum Fallback {
        /// Sweep again for blocks of a valid share of at most 5% more, and so on, until one is found.
        Raise = "raise",
        /// Fewest valid pages first, over the oldest `scan-depth` of the list.
        GreedyInDepth = "greedy-in-depth",
        /// Fewest valid pages first, over the whole list.
        Greedy = "greedy",
        /// Oldest first from `cur_scan` on, however full.
        Fifo = "fifo",
    }
}

ftlab_spec::parameters! {
    /// Parameters of the scan.
    pub struct ScanParameters {
        /// A block is a victim only if its valid share is below this (the paper's BLK_UTIL).
        blk_util: f64 = 0.5, "blk-util" in 0.0..=1.0, from "2R (PVLDB 2020), section 4.3.2";
        /// The oldest share of the list that is scanned (the paper's FIFO_SCAN_DEPTH).
        scan_depth: f64 = 0.8, "scan-depth" in 0.0..=1.0, from "2R (PVLDB 2020), figure 6";
        /// What to do when no block is under the threshold.
        fallback: Fallback = Fallback::Raise, "fallback", from "our reading: the paper is silent";
    }
}

/// How much `fallback=raise` raises the threshold at a time.
const RAISE_STEP: f64 = 0.05;

/// Chooses victims from a list, going round it from where the last choice ended.
#[derive(Debug, Clone)]
pub struct Scan {
    parameters: ScanParameters,
    pages_per_block: u32,
}

impl Scan {
    /// A scan over blocks of `pages_per_block` pages.
    pub fn new(parameters: ScanParameters, pages_per_block: u32) -> Self {
        Self { parameters, pages_per_block }
    }

    /// Chooses blocks of one region until their invalid pages make up a block; `region_of` tells the
    /// region of a block.
    pub fn select<R: Eq + Copy>(
        &self,
        list: &mut BlockList,
        region_of: impl Fn(BlockId) -> R + Copy,
        victims: &mut Victims,
    ) {
        let limit = self.limit(list);
        // "Fewer valid pages than a share of a block" in whole pages.
        let threshold = (self.parameters.blk_util * f64::from(self.pages_per_block)).ceil() as u32;
        sweep(list, limit, threshold, region_of, victims);
        if victims.is_empty() {
            self.fall_back(list, limit, region_of, victims);
        }
        // Blocks without an invalid page gain nothing; fallback=fifo can choose only such.
        if victims.invalid_pages() == 0 {
            take_emptiest(list, list.end(), self.pages_per_block, region_of, victims);
        }
    }

    /// The slot where the scan turns back to the head of the list.
    fn limit(&self, list: &BlockList) -> u32 {
        list.slot_after((self.parameters.scan_depth * f64::from(list.len())) as u32)
    }

    fn fall_back<R: Eq + Copy>(
        &self,
        list: &mut BlockList,
        limit: u32,
        region_of: impl Fn(BlockId) -> R + Copy,
        victims: &mut Victims,
    ) {
        match self.parameters.fallback {
            Fallback::Raise => {
                for step in 1_u32.. {
                    let share = self.parameters.blk_util + f64::from(step) * RAISE_STEP;
                    // "At most", where rounding must not take a whole page off.
                    let most = (share * f64::from(self.pages_per_block) + 1e-6) as u32;
                    sweep(list, limit, (most + 1).min(self.pages_per_block), region_of, victims);
                    if !victims.is_empty() || most >= self.pages_per_block {
                        break;
                    }
                }
            }
            Fallback::GreedyInDepth => {
                take_emptiest(list, limit, self.pages_per_block, region_of, victims);
            }
            Fallback::Greedy => {
                take_emptiest(list, list.end(), self.pages_per_block, region_of, victims);
            }
            Fallback::Fifo => {
                sweep(list, limit, self.pages_per_block + 1, region_of, victims);
            }
        }
    }
}

/// One sweep from `cur_scan` round to `cur_scan` over the slots before `limit`.
fn sweep<R: Eq + Copy>(
    list: &mut BlockList,
    limit: u32,
    threshold: u32,
    region_of: impl Fn(BlockId) -> R,
    victims: &mut Victims,
) {
    let threshold = threshold.min(victims.valid_pages_max().saturating_add(1));
    if list.cursor() >= limit {
        list.set_cursor(0);
    }
    let start = list.cursor();
    let mut region = None;
    for mut range in [start..limit, 0..start] {
        while let Some(slot) = list.next_below(range.clone(), threshold) {
            range.start = slot + 1;
            let this = region_of(list.block(slot));
            if *region.get_or_insert(this) != this {
                continue;
            }
            let valid_pages = list.valid_pages(slot);
            victims.push(list.take(slot), valid_pages);
            if victims.free_a_block() {
                // Past the last block of the depth the scan continues at the head, whatever is
                // appended before the next collection.
                let rest = list.next_in_use(slot + 1..limit);
                list.set_cursor(rest.unwrap_or(0));
                return;
            }
        }
    }
}

/// What [`Scan`] needs to know of a drive to tell regions by stream.
pub(crate) fn region_by_stream(drive: &Drive) -> impl Fn(BlockId) -> u8 + Copy + '_ {
    |block| drive.stream_of(block).0
}
