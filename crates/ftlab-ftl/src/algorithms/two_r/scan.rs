//! The circular scan of 2R-FIFO (section 4.3): victims of one region, oldest first, that are emptier than
//! a threshold.

use crate::algorithms::tools::block_list::BlockList;
use crate::algorithms::tools::emptiest::take_emptiest;
use crate::page::policy::Victims;
use crate::state::state;
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

/// How much `fallback=raise` raises the threshold at a time.
const RAISE_STEP: f64 = 0.05;

/// Chooses victims from a list, going round it from where the last choice ended.
#[derive(Debug, Clone)]
pub(super) struct Scan {
    pub(super) blk_util: f64,
    /// `scan-depth`; another one from time to time with `adapt-depth`.
    pub(super) depth: f64,
    pub(super) fallback: Fallback,
    pub(super) pages_per_block: u32,
}

state!(Scan { depth } constant blk_util, fallback, pages_per_block);

impl Scan {
    /// Chooses blocks of one region until their invalid pages make up a block; `region_of` tells the
    /// region of a block.
    pub(super) fn select<R: Eq + Copy>(
        &self,
        list: &mut BlockList,
        region_of: impl Fn(BlockId) -> R + Copy,
        victims: &mut Victims,
    ) {
        let limit = self.limit(list);
        // "Fewer valid pages than a share of a block" in whole pages.
        let threshold = (self.blk_util * f64::from(self.pages_per_block)).ceil() as u32;
        sweep(list, limit, threshold, region_of, victims);
        if victims.is_empty() {
            self.fall_back(list, limit, region_of, victims);
        }
    }

    /// The slot where the scan turns back to the head of the list.
    fn limit(&self, list: &BlockList) -> u32 {
        list.slot_after((self.depth * f64::from(list.len())) as u32)
    }

    fn fall_back<R: Eq + Copy>(
        &self,
        list: &mut BlockList,
        limit: u32,
        region_of: impl Fn(BlockId) -> R + Copy,
        victims: &mut Victims,
    ) {
        match self.fallback {
            Fallback::Raise => {
                for step in 1_u32.. {
                    let share = self.blk_util + f64::from(step) * RAISE_STEP;
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
    // Where no block is left between the cursor and the limit, the scan has turned back.
    if list.next_in_use(list.cursor()..limit).is_none() {
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
            list.take(slot, victims);
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
