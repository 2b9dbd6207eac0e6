//! `2r++`: 2R with a second chance for warm pages, at the price of one bit per block.
//!
//! # Idea
//! In 2R a page that is rewritten rarely, but is, lands in the cold region and pollutes it. A page
//! must survive two collections before it counts as cold.
//!
//! # Rule
//! Blocks are of kind 00 (host writes), 01 (valid pages of 00 victims: the second chance) or 10
//! (cold: valid pages of 01 and 10 victims). 00 and 01 form the normal region, 10 the cold one; the
//! victims of a collection come from one region, until their invalid pages make up a block.
//!
//! # Parameters
//! `victims` fifo-scan, and those of its scan: `blk-util`, `scan-depth`, `fallback`, as in 2r-fifo;
//! `regions` 2.
//!
//! # Where the paper is silent
//! It says "FIFO" of the victims and nothing more. The default is the scan of 2r-fifo with its
//! threshold, depth and fallback; `region-fifo` takes the oldest blocks, without a threshold, of the
//! region whose oldest block is emptier; `cost-benefit` takes one block at a time, that of the highest
//! age x (1 - u) / u, with age since the block was sealed. Whether 01 is a region of its own
//! (`regions=3`) makes no real difference.
//!
//! # Reference
//! "2R++" (KTCCS 2022), figure 7 (its algorithm) and section 4.

use crate::algorithms::tools::block_list::{BlockList, keep_block_list};
use crate::algorithms::tools::emptiest::take_emptiest;
use crate::algorithms::two_r::scan::{Fallback, Scan, ScanParameters};
use crate::page::Drive;
use crate::page::entry::{DriveShape, PolicyEntry};
use crate::page::policy::{HostWrite, Policy, Relocation, Victims};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{LINK_BITS, Metadata, STAMP_BITS};
use ftlab_flash::BlockId;

const HOST: StreamId = StreamId(0);
const SECOND_CHANCE: StreamId = StreamId(1);
const COLD: StreamId = StreamId(2);

ftlab_spec::choices! {
    /// How 2R++ chooses victims.
    pub enum VictimChoice {
        /// The scan of 2R-FIFO.
        FifoScan = "fifo-scan",
        /// The oldest blocks of the region whose oldest block is emptier.
        RegionFifo = "region-fifo",
        /// Highest age x (1 - u) / u first.
        CostBenefit = "cost-benefit",
    }
}

ftlab_spec::parameters! {
    /// Parameters of 2R++.
    pub struct TwoRPlusPlusParameters {
        /// How victims are chosen.
        victims: VictimChoice = VictimChoice::FifoScan, "victims", from "our reading: the paper says FIFO";
        /// 2, or 3 to keep the second-chance blocks a region of their own.
        regions: u32 = 2, "regions" in 2..=3, from "2R++ (KTCCS 2022), figure 7";
        /// Of fifo-scan: a block is a victim only if its valid share is below this.
        blk_util: f64 = 0.5, "blk-util" in 0.0..=1.0, from "2R (PVLDB 2020), section 4.3.2";
        /// Of fifo-scan: the oldest share of the list that is scanned.
        scan_depth: f64 = 0.8, "scan-depth" in 0.0..=1.0, from "2R (PVLDB 2020), figure 6";
        /// Of fifo-scan: what to do when no block is under the threshold.
        fallback: Fallback = Fallback::Raise, "fallback", from "our reading: the paper is silent";
    }
}

/// Two regions and a second chance.
pub struct TwoRPlusPlus {
    list: BlockList,
    scan: Scan,
    victims: VictimChoice,
    /// The region of each stream.
    region_of_stream: [u8; 3],
}

state!(TwoRPlusPlus { list } constant scan, victims, region_of_stream);

impl PolicyEntry for TwoRPlusPlus {
    type Parameters = TwoRPlusPlusParameters;
    const NAME: &'static str = "2r++";
    const SUMMARY: &'static str =
        "2r-fifo, and pages get a second chance before they count as cold";
    const SOURCE: &'static str = "2R++ (KTCCS 2022), figure 7";

    fn new(parameters: &TwoRPlusPlusParameters, shape: DriveShape) -> Self {
        let TwoRPlusPlusParameters { victims, regions, blk_util, scan_depth, fallback } =
            parameters.clone();
        let scan = ScanParameters { blk_util, scan_depth, fallback };
        Self {
            list: BlockList::new(shape.blocks),
            scan: Scan::new(scan, shape.pages_per_block),
            victims,
            region_of_stream: if regions == 2 { [0, 0, 1] } else { [0, 1, 2] },
        }
    }
}

impl Policy for TwoRPlusPlus {
    fn streams(&self) -> Vec<Stream> {
        vec![
            Stream { name: "normal", takes_relocations: false, cold: false },
            Stream { name: "second-chance", takes_relocations: true, cold: false },
            Stream { name: "cold", takes_relocations: true, cold: true },
        ]
    }

    #[inline]
    fn place_host(&mut self, _write: HostWrite, _drive: &Drive) -> StreamId {
        HOST
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &Drive) -> StreamId {
        if page.from == HOST { SECOND_CHANCE } else { COLD }
    }

    fn select_victims(&mut self, drive: &Drive, victims: &mut Victims) {
        let regions = self.region_of_stream;
        let region_of = |block: BlockId| regions[drive.stream_of(block).index()];
        match self.victims {
            VictimChoice::FifoScan => self.scan.select(&mut self.list, region_of, victims),
            VictimChoice::RegionFifo => {
                let count = usize::from(regions[COLD.index()]) + 1;
                take_oldest(&mut self.list, drive, count, region_of, victims);
            }
            VictimChoice::CostBenefit => take_best(&mut self.list, drive, victims),
        }
        if victims.invalid_pages() == 0 {
            let end = self.list.end();
            take_emptiest(&mut self.list, end, drive.pages_per_block(), region_of, victims);
        }
    }

    fn metadata(&self) -> Metadata {
        let order = match self.victims {
            VictimChoice::FifoScan | VictimChoice::RegionFifo => LINK_BITS,
            VictimChoice::CostBenefit => STAMP_BITS,
        };
        Metadata::per_block(2 + order)
    }

    keep_block_list!();
}

/// Takes the oldest blocks of the region whose oldest block has fewer valid pages.
fn take_oldest(
    list: &mut BlockList,
    drive: &Drive,
    regions: usize,
    region_of: impl Fn(BlockId) -> u8,
    victims: &mut Victims,
) {
    let threshold = victims.valid_pages_max().saturating_add(1);
    let mut oldest: [Option<u32>; 3] = [None; 3];
    let oldest = &mut oldest[..regions];
    let mut from = 0;
    while let Some(slot) = list.next_below(from..list.end(), drive.pages_per_block() + 1)
        && oldest.contains(&None)
    {
        oldest[usize::from(region_of(list.block(slot)))].get_or_insert(slot);
        from = slot + 1;
    }
    let emptier = oldest.iter().flatten().copied().min_by_key(|&slot| list.valid_pages(slot));
    let Some(region) = emptier.map(|slot| region_of(list.block(slot))) else { return };
    let mut from = 0;
    while !victims.free_a_block()
        && let Some(slot) = list.next_below(from..list.end(), threshold)
    {
        from = slot + 1;
        if region_of(list.block(slot)) == region {
            let valid_pages = list.valid_pages(slot);
            victims.push(list.take(slot), valid_pages);
        }
    }
}

/// Takes the block of the highest age x (1 - u) / u; the next one may be of the other region.
fn take_best(list: &mut BlockList, drive: &Drive, victims: &mut Victims) {
    let most = victims.valid_pages_max();
    let score = |stamp: u64, valid_pages: u32| {
        let valid = f64::from(valid_pages);
        let age = (drive.write_clock() - stamp + 1) as f64;
        age * (f64::from(drive.pages_per_block()) - valid) / valid
    };
    // A block is appended to the list when it is opened, and its age counts from when it was sealed.
    let best = list.best(score, |slot, valid_pages| {
        if valid_pages > most {
            return 0.0;
        }
        score(drive.sealed_at(list.block(slot)), valid_pages)
    });
    if let Some(slot) = best {
        let valid_pages = list.valid_pages(slot);
        victims.push(list.take(slot), valid_pages);
    }
}
