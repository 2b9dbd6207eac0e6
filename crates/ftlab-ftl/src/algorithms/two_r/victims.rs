//! The victim rules of 2R-FIFO and 2R++: which blocks of which region a collection takes.
//!
//! | `victims` | rule |
//! |---|---|
//! | `fifo-scan` | the circular scan of 2R-FIFO (section 4.3): oldest first, emptier than `blk-util` |
//! | `region-fifo` | the oldest blocks of the region whose oldest block is emptier, however full they are |
//! | `region-fifo-skipping` | the same, but full blocks are passed over |
//! | `greedy` | fewest valid pages first; the emptiest block of all decides the region |
//! | `cost-benefit` | one block at a time, that of the highest age x (1 - u) / u; age since it was sealed |
//! | `d-choices` | the emptiest of `d` blocks drawn at random; the first one decides the region |
//!
//! All but `cost-benefit` take blocks of one region until their invalid pages make up a block.

use crate::algorithms::tools::block_list::BlockList;
use crate::algorithms::tools::emptiest::gain_something;
use crate::algorithms::tools::sealed_blocks::SealedBlocks;
use crate::algorithms::two_r::depth::DepthControl;
use crate::algorithms::two_r::regions::{Regions, STREAMS_MAX};
use crate::algorithms::two_r::scan::{Fallback, Scan};
use crate::page::DriveState;
use crate::page::entry::DriveShape;
use crate::page::policy::Victims;
use crate::state::state;
use crate::{LINK_BITS, Metadata, STAMP_BITS};
use ftlab_flash::{BlockId, Lpn};

/// Draws for each of the `d` blocks that are compared, until that many fit.
const ROUNDS_MAX: u32 = 64;

ftlab_spec::choices! {
    /// How 2R-FIFO and 2R++ choose victims.
    pub enum VictimChoice {
        /// The scan of 2R-FIFO.
        FifoScan = "fifo-scan",
        /// The oldest blocks of the region whose oldest block is emptier.
        RegionFifo = "region-fifo",
        /// The same, but blocks without an invalid page are passed over.
        RegionFifoSkipping = "region-fifo-skipping",
        /// Fewest valid pages first.
        Greedy = "greedy",
        /// Highest age x (1 - u) / u first.
        CostBenefit = "cost-benefit",
        /// The emptiest of `d` blocks drawn at random.
        DChoices = "d-choices",
    }
}

ftlab_spec::parameters! {
    pub struct VictimParameters {
        /// How victims are chosen.
        victims: VictimChoice = VictimChoice::FifoScan, "victims", from "2R (PVLDB 2020), section 4.3";
        /// Of fifo-scan: a block is a victim only if its valid share is below this (the paper's BLK_UTIL).
        blk_util: f64 = 0.5, "blk-util" in 0.0..=1.0, from "2R (PVLDB 2020), section 4.3.2";
        /// Of fifo-scan: the oldest share of the list that is scanned (the paper's FIFO_SCAN_DEPTH).
        scan_depth: f64 = 0.8, "scan-depth" in 0.0..=1.0, from "2R (PVLDB 2020), figure 6";
        /// Of fifo-scan: what to do when no block is under the threshold.
        fallback: Fallback = Fallback::Raise, "fallback", from "our reading: the paper is silent";
        /// Of fifo-scan: sets scan-depth online, beginning with the one above.
        adapt_depth: bool = false, "adapt-depth", from "our own";
        /// Of d-choices: blocks drawn.
        d: u32 = 10, "d" in 1..=1024, from "Van Houdt (SIGMETRICS 2013)";
        /// Of d-choices: seed of the draws.
        seed: u64 = 1, "seed", from "our choice";
    }
}

/// All blocks in order of allocation, and the rule that chooses among them.
pub(super) struct RegionVictims {
    list: BlockList,
    /// Of d-choices; empty otherwise.
    sealed: SealedBlocks,
    choice: VictimChoice,
    scan: Scan,
    /// With adapt-depth.
    control: Option<DepthControl>,
    d: u32,
    regions: Regions,
}

state!(RegionVictims { list, sealed, scan, control } constant choice, d, regions);

impl RegionVictims {
    /// Of a policy with these regions.
    pub(super) fn new(parameters: &VictimParameters, regions: Regions, shape: DriveShape) -> Self {
        let VictimParameters { victims, blk_util, scan_depth, fallback, adapt_depth, d, seed } =
            *parameters;
        let drawn = if victims == VictimChoice::DChoices { shape.blocks } else { 0 };
        let pages_per_block = shape.pages_per_block;
        let scan = Scan { blk_util, depth: scan_depth, fallback, pages_per_block };
        let adapts = adapt_depth && victims == VictimChoice::FifoScan;
        Self {
            list: BlockList::new(shape.blocks),
            sealed: SealedBlocks::new(drawn, seed),
            choice: victims,
            control: adapts.then(|| DepthControl::new(&scan, regions, shape)),
            scan,
            d,
            regions,
        }
    }

    #[inline]
    pub(super) fn on_host_write(&mut self, lpn: Lpn) {
        if let Some(control) = &mut self.control
            && let Some(depth) = control.write(lpn)
        {
            self.scan.depth = depth;
        }
    }

    pub(super) fn on_trim(&mut self, lpn: Lpn) {
        if let Some(control) = &mut self.control {
            control.trim(lpn);
        }
    }

    /// Chooses the blocks to collect.
    pub(super) fn select(&mut self, drive: &DriveState, victims: &mut Victims) {
        let regions = self.regions;
        let region_of = |block| regions.of(drive.stream_of(block));
        let list = &mut self.list;
        match self.choice {
            VictimChoice::FifoScan => self.scan.select(list, region_of, victims),
            VictimChoice::RegionFifo => take_oldest(list, drive, regions, true, victims),
            VictimChoice::RegionFifoSkipping => take_oldest(list, drive, regions, false, victims),
            VictimChoice::Greedy => {}
            VictimChoice::CostBenefit => take_best(list, drive, victims),
            VictimChoice::DChoices => self.take_drawn(drive, region_of, victims),
        }
        gain_something(&mut self.list, drive.pages_per_block(), region_of, victims);
    }

    /// Takes the emptiest of `d` blocks drawn, and more of its region in the same way.
    fn take_drawn(
        &mut self,
        drive: &DriveState,
        region_of: impl Fn(BlockId) -> u8,
        victims: &mut Victims,
    ) {
        let most = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let mut region = None;
        while !victims.free_a_block() {
            let taken = victims.blocks();
            let fits = |block: &BlockId| {
                drive.valid_pages(*block) <= most
                    && region.is_none_or(|region| region == region_of(*block))
                    && !taken.contains(block)
            };
            let draws = (0..ROUNDS_MAX * self.d).filter_map(|_| self.sealed.draw());
            let drawn = draws.filter(fits).take(self.d as usize);
            let emptiest = drawn.min_by_key(|&block| drive.valid_pages(block));
            let Some(block) = emptiest.or_else(|| self.sealed.find(fits)) else { return };
            region = Some(region_of(block));
            self.list.take(self.list.slot_of(block), victims);
        }
    }

    pub(super) fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.list.push(block, drive.pages_per_block(), drive.write_clock());
    }

    pub(super) fn on_block_sealed(&mut self, block: BlockId) {
        self.list.seal(block);
        if self.choice == VictimChoice::DChoices {
            self.sealed.insert(block);
        }
    }

    #[inline]
    pub(super) fn on_invalidate(&mut self, block: BlockId) {
        self.list.invalidate(block);
    }

    pub(super) fn on_block_erased(&mut self, block: BlockId) {
        self.list.remove(block);
        if self.choice == VictimChoice::DChoices {
            self.sealed.remove(block);
        }
    }

    /// What a drive would have to keep for the rule.
    pub(super) fn metadata(&self) -> Metadata {
        let control = self.control.as_ref().map_or(Metadata::NONE, DepthControl::metadata);
        control
            + Metadata::per_block(match self.choice {
                VictimChoice::FifoScan
                | VictimChoice::RegionFifo
                | VictimChoice::RegionFifoSkipping => LINK_BITS,
                VictimChoice::CostBenefit => STAMP_BITS,
                VictimChoice::Greedy | VictimChoice::DChoices => 0,
            })
    }

    pub(super) fn memory_bytes(&self) -> usize {
        let control = self.control.as_ref().map_or(0, DepthControl::memory_bytes);
        self.list.bytes() + self.sealed.bytes() + control
    }

    pub(super) fn check(&self, drive: &DriveState) -> Result<(), String> {
        if self.choice == VictimChoice::DChoices {
            self.sealed.check(drive)?;
        }
        if let Some(control) = &self.control {
            control.check()?;
        }
        self.list.check(drive, |block| !drive.holds_map(block))
    }
}

/// Forwards the hooks of a policy to its `RegionVictims` in the field `victims`.
macro_rules! keep_region_victims {
    () => {
        fn on_block_opened(
            &mut self,
            block: ftlab_flash::BlockId,
            drive: &$crate::page::DriveState,
        ) {
            self.victims.on_block_opened(block, drive);
        }

        fn on_block_sealed(
            &mut self,
            block: ftlab_flash::BlockId,
            _drive: &$crate::page::DriveState,
        ) {
            self.victims.on_block_sealed(block);
        }

        #[inline]
        fn on_invalidate(
            &mut self,
            block: ftlab_flash::BlockId,
            _drive: &$crate::page::DriveState,
        ) {
            self.victims.on_invalidate(block);
        }

        fn on_block_erased(
            &mut self,
            block: ftlab_flash::BlockId,
            _drive: &$crate::page::DriveState,
        ) {
            self.victims.on_block_erased(block);
        }

        fn on_trim(&mut self, lpn: ftlab_flash::Lpn, _drive: &$crate::page::DriveState) {
            self.victims.on_trim(lpn);
        }

        fn memory_bytes(&self) -> usize {
            self.victims.memory_bytes()
        }

        fn check(&self, drive: &$crate::page::DriveState) -> Result<(), String> {
            self.victims.check(drive)
        }
    };
}
pub(super) use keep_region_victims;

/// Takes the oldest blocks of the region whose oldest block has fewer valid pages, full blocks
/// included if it `takes_full`.
fn take_oldest(
    list: &mut BlockList,
    drive: &DriveState,
    regions: Regions,
    takes_full: bool,
    victims: &mut Victims,
) {
    let region_of = |block| regions.of(drive.stream_of(block));
    let limit = drive.pages_per_block() + u32::from(takes_full);
    let threshold = victims.valid_pages_max().saturating_add(1).min(limit);
    let mut oldest: [Option<u32>; STREAMS_MAX] = [None; STREAMS_MAX];
    let oldest = &mut oldest[..regions.count()];
    let mut from = 0;
    while let Some(slot) = list.next_below(from..list.end(), limit)
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
            list.take(slot, victims);
        }
    }
}

/// Takes the block of the highest age x (1 - u) / u; the next one may be of the other region.
fn take_best(list: &mut BlockList, drive: &DriveState, victims: &mut Victims) {
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
        list.take(slot, victims);
    }
}
