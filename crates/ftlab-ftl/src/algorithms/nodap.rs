//! `nodap`: groups by true lifetimes, each emptied when its pages should be dead.
//!
//! # Idea
//! Where it is known when every page dies, pages that die together share blocks, and a block is collected when
//! all of them should have died. What is left to decide is how many groups there are and which lifetimes each
//! takes.
//!
//! # Rule
//! The lifetime of every host write is known. N groups, each with one open block that takes host writes and
//! relocated pages alike; a page goes to the group of the time that is left of its life. The victim is the
//! oldest block of the first group but the last that has a block opened longer ago than the upper bound of its
//! group; if there is none, the block with the fewest valid pages in the last group.
//!
//! # Parameters
//! `groups` 0 is as many as `fk` has classes. The bounds between them rise by equal factors, from `first` 1/32
//! to `last` 4 host writes per logical page. The paper tries all bounds for each workload, with one group more
//! as long as that gains 5%; `ftlab tune nodap WORKLOAD` does so with these three.
//!
//! # Where the paper is silent
//! Its bounds are free, and groups have sizes as well, which follow from the bounds if expired blocks are
//! always taken first. Lifetimes are of the run that is simulated; what comes after its end is not known. A
//! page that is not known to die goes to the last group. An expired block without an invalid page is passed
//! over, and if no block of the last group has one, that with the fewest valid pages of all is taken. Ties go
//! to the block that was allocated first.
//!
//! # Reference
//! Kim et al., "DOGI: Data Placement with Oracle-Guided Insights for Log-Structured Systems", FAST 2026,
//! section 3.1.

use crate::Metadata;
use crate::STAMP_BITS;
use crate::algorithms::placement;
use crate::algorithms::placement::fk::{CLASSES_MAX, default_classes, octave_bounds};
use crate::page::entry::{DriveShape, FitContext, PolicyEntry};
use crate::page::policy::{BlockScore, Hints, HostWrite, Placement, Policy, Relocation, Victims};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use ftlab_flash::{BlockId, Lpn};
use ftlab_spec::SpecError;

ftlab_spec::parameters! {
    pub struct NodapParameters {
        /// Groups; 0: as many as `fk` has classes.
        groups: u32 = 0, "groups" in 0..=CLASSES_MAX as u32, from "ours";
        /// The lowest bound between groups, in host writes per logical page.
        first: f64 = 0.031_25, "first" in 0.000_1..=10.0, from "ours";
        /// The highest one.
        last: f64 = 4.0, "last" in 0.01..=100.0, from "ours";
    }
}

/// Groups by true lifetimes, and victims by what they should have come to.
pub struct Nodap {
    placement: placement::Fk,
    /// Block -> write clock when it was opened.
    opened_at: Vec<u64>,
}

state!(Nodap { placement, opened_at });

impl PolicyEntry for Nodap {
    type Parameters = NodapParameters;
    const NAME: &'static str = "nodap";
    const SUMMARY: &'static str =
        "knows when each page dies, and empties blocks when all of their pages should have died";
    const SOURCE: &'static str = "NoDaP of DOGI (FAST 2026), section 3.1";
    const HINTS: Hints = Hints::Lifetimes;
    const IS_BOXED: bool = true;

    fn fit(parameters: &mut NodapParameters, context: &FitContext) -> Result<(), SpecError> {
        let NodapParameters { first, last, .. } = *parameters;
        if last < first {
            return Err(context.refuse("last", &last, format!("at least {first}, as first= is")));
        }
        Ok(())
    }

    fn new(parameters: &NodapParameters, shape: DriveShape) -> Self {
        let groups = match parameters.groups {
            0 => default_classes(shape),
            groups => groups,
        };
        let bounds =
            octave_bounds(groups, [parameters.first, parameters.last], shape.logical_pages);
        Self {
            placement: placement::Fk::with_bounds(bounds, shape.logical_pages),
            opened_at: vec![0; shape.blocks as usize],
        }
    }
}

impl Nodap {
    /// How long ago the block was opened, beyond the bound of its group; none in the last group, or if that is still
    /// to come.
    fn expired_for(&self, block: BlockId, drive: &DriveState) -> Option<u64> {
        let bound = self.placement.bounds().get(drive.stream_of(block).index())?;
        let age = drive.write_clock() - self.opened_at[block.index()];
        age.checked_sub(*bound).filter(|&beyond| beyond > 0)
    }
}

impl Policy for Nodap {
    fn streams(&self) -> Vec<Stream> {
        Placement::streams(&self.placement)
    }

    fn reserve_blocks_min(&self) -> u32 {
        Placement::reserve_blocks_min(&self.placement)
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, block: BlockId) {
        Placement::fetch_ahead(&self.placement, lpn, block);
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        Placement::place_host(&mut self.placement, write, drive)
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, drive: &DriveState) -> StreamId {
        Placement::place_relocation(&mut self.placement, page, drive)
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        let most = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let last = self.placement.bounds().len();
        // Expired blocks by group, then those of the last group by valid pages, then all others.
        let order = |&block: &BlockId| {
            let group = drive.stream_of(block).index();
            let (rank, key) = match self.expired_for(block, drive) {
                Some(_) => (0, group as u32),
                None if group == last => (1, drive.valid_pages(block)),
                None => (2, drive.valid_pages(block)),
            };
            (rank, key, drive.allocated(block))
        };
        let blocks = drive.host_blocks().filter(|&block| {
            drive.phase(block) == Phase::Sealed && drive.valid_pages(block) <= most
        });
        if let Some(block) = blocks.min_by_key(order) {
            victims.push(block, drive.valid_pages(block));
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        let value = self.expired_for(block, drive)? as f64;
        Some(BlockScore { formula: "host writes since it was opened - bound of its group", value })
    }

    fn on_block_opened(&mut self, block: BlockId, drive: &DriveState) {
        self.opened_at[block.index()] = drive.write_clock();
    }

    fn metadata(&self) -> Metadata {
        Placement::metadata(&self.placement) + Metadata::per_block(STAMP_BITS)
    }

    fn memory_bytes(&self) -> usize {
        Placement::memory_bytes(&self.placement) + size_of_val(&self.opened_at[..])
    }
}
