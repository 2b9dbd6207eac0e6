//! What a block's own losses say of its update rate.

use crate::algorithms::hazard::lifetimes::Scale;
use crate::algorithms::hazard::parameters::HazardParameters;
use crate::algorithms::hazard::sharing::OpenBlock;
use crate::algorithms::hazard::spread::Spread;
use crate::page::entry::DriveShape;
use crate::page::{Drive, Phase};
use crate::state::state;
use crate::stream::StreamId;
use crate::{Metadata, bits_for};
use ftlab_flash::BlockId;

/// Ages beyond this many host writes count as this.
const AGE_MAX: u32 = 1 << 31;

/// Blocks of fewer pages give less weight to the rate that all blocks have in common.
const COMMON_PAGES: u32 = 32;

/// Mean write time of the pages of every block, what was expected of them, and how many were valid at the
/// last two snapshots.
pub(super) struct Evidence {
    /// Block -> mean write clock of its pages when they were programmed there, modulo 2^32.
    stamps: Vec<u32>,
    /// Block -> mean step of the lifetimes expected of its pages.
    steps: Vec<u8>,
    scale: Scale,
    /// Block -> valid pages at the older snapshot and at the newer one, shifted to fit.
    valid_then: Vec<[u16; 2]>,
    shift: u32,
    /// The older snapshot, and the newer one.
    snapshots: [Snapshot; 2],
    /// Stream -> the pages of its open block.
    open: Vec<OpenPages>,
    spread: Spread,
    epoch_writes: u64,
    prior_pages: f32,
    /// Host writes per page lost, over the whole drive.
    common_lifetime: f32,
}

state!(
    Evidence { stamps, steps, valid_then, snapshots, open, spread }
    constant scale, shift, epoch_writes, prior_pages, common_lifetime
);

/// The pages that a stream has taken since its last block was sealed.
#[derive(Debug, Clone, Copy, Default)]
struct OpenPages {
    /// Sum of their write clocks.
    clocks: u64,
    /// Sum of the steps of their lifetimes.
    steps: u32,
    count: u32,
}

state!(OpenPages { clocks, steps, count });

impl OpenPages {
    #[inline]
    fn mean_step(self) -> u8 {
        (self.steps / self.count.max(1)) as u8
    }
}

/// When the valid pages of all blocks were taken down.
#[derive(Debug, Clone, Copy, Default)]
struct Snapshot {
    write_clock: u64,
    /// Blocks that had been allocated.
    allocations: u64,
}

state!(Snapshot { write_clock, allocations });

impl Evidence {
    pub(super) fn new(
        parameters: &HazardParameters,
        streams: usize,
        scale: Scale,
        shape: DriveShape,
    ) -> Self {
        Self {
            stamps: vec![0; shape.blocks as usize],
            steps: vec![0; shape.blocks as usize],
            scale,
            valid_then: vec![[0; 2]; shape.blocks as usize],
            shift: bits_for(shape.pages_per_block + 1).saturating_sub(16),
            snapshots: [Snapshot::default(); 2],
            open: vec![OpenPages::default(); streams],
            spread: Spread::new(parameters.common * common_share(shape.pages_per_block)),
            common_lifetime: shape.logical_pages as f32,
            epoch_writes: (parameters.epoch * f64::from(shape.logical_pages)).round().max(1.0)
                as u64,
            prior_pages: (parameters.prior * f64::from(shape.pages_per_block)) as f32,
        }
    }

    /// True if it is time for a snapshot.
    #[inline]
    pub(super) fn snapshot_is_due(&self, drive: &Drive) -> bool {
        drive.write_clock() - self.snapshots[1].write_clock >= self.epoch_writes
    }

    /// How much of an epoch has passed since the last snapshot.
    #[inline]
    pub(super) fn epoch_share(&self, drive: &Drive) -> f32 {
        (drive.write_clock() - self.snapshots[1].write_clock) as f32 / self.epoch_writes as f32
    }

    /// Takes down the valid pages of all blocks.
    pub(super) fn take_snapshot(&mut self, drive: &Drive) {
        let now = drive.write_clock();
        self.spread = self.spread.after_epoch(|| self.losses(drive));
        for (index, then) in self.valid_then.iter_mut().enumerate() {
            let valid = programmed_valid_pages(BlockId(index as u32), drive) >> self.shift;
            *then = [then[1], valid as u16];
        }
        for stamp in &mut self.stamps {
            let age = (now as u32).wrapping_sub(*stamp).min(AGE_MAX);
            *stamp = (now as u32).wrapping_sub(age);
        }
        let snapshot = Snapshot { write_clock: now, allocations: drive.allocations() };
        self.snapshots = [self.snapshots[1], snapshot];
    }

    /// Of each block that has been sealed since before the newer snapshot: the pages it has lost since, and
    /// those it could have lost, in the mean over that time.
    fn losses(&self, drive: &Drive) -> impl Iterator<Item = (f32, f32)> {
        let newer = self.snapshots[1];
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        let old = blocks.filter(move |&block| {
            drive.phase(block) == Phase::Sealed
                && drive.allocated(block) < newer.allocations
                && drive.sealed_at(block) <= newer.write_clock
        });
        old.map(|block| {
            let then = (u32::from(self.valid_then[block.index()][1]) << self.shift) as f32;
            let valid = drive.valid_pages(block) as f32;
            ((then - valid).max(0.0), 0.5 * (then + valid))
        })
    }

    /// Mean age of the pages of a block in host writes, at least 1.
    #[inline]
    pub(super) fn age(&self, block: BlockId, drive: &Drive) -> f32 {
        let now = drive.write_clock();
        let stream = drive.stream_of(block);
        let age = if drive.phase(block) == Phase::Open {
            let open = self.open[stream.index()];
            now - open.clocks / u64::from(open.count.max(1))
        } else {
            u64::from((now as u32).wrapping_sub(self.stamps[block.index()]))
        };
        age.max(1) as f32
    }

    /// What was expected of the lifetimes of the pages of a block when they were programmed there, in the
    /// geometric mean.
    #[inline]
    pub(super) fn lifetime(&self, block: BlockId, drive: &Drive) -> f32 {
        let stream = drive.stream_of(block);
        let is_open = drive.phase(block) == Phase::Open;
        let step =
            if is_open { self.open[stream.index()].mean_step() } else { self.steps[block.index()] };
        self.scale.lifetime(step)
    }

    /// What `stream` has open.
    pub(super) fn open_block(&self, stream: StreamId, drive: &Drive) -> Option<OpenBlock> {
        let (step, room) = (self.open[stream.index()].mean_step(), drive.least_room(stream));
        (room > 0).then_some(OpenBlock { step, room })
    }

    /// Pages lost per page and host write since the older snapshot, `prior` being what the lifetime expected
    /// of its pages and its age let expect.
    pub(super) fn hazard_rate(&self, block: BlockId, prior: f32, drive: &Drive) -> f32 {
        let valid = programmed_valid_pages(block, drive) as f32;
        let (before, writes) = self.before(block, drive);
        let lost = (before - valid).max(0.0);
        let exposure = 0.5 * (before + valid) * (writes + 1.0);
        let common_pages = self.spread.common_pages();
        (lost + self.prior_pages + common_pages)
            / (exposure + self.prior_pages / prior + common_pages * self.common_lifetime)
    }

    /// How many pages of the block were valid in the past, and how many host writes ago that was.
    fn before(&self, block: BlockId, drive: &Drive) -> (f32, f32) {
        let older = self.snapshots[0];
        let then = u32::from(self.valid_then[block.index()][0]) << self.shift;
        let is_new = drive.allocated(block) >= older.allocations;
        let has_grown = drive.phase(block) == Phase::Sealed
            && drive.sealed_at(block) > older.write_clock
            && then < drive.valid_pages(block);
        if is_new || has_grown {
            (drive.programmed_pages(block) as f32, self.age(block, drive))
        } else {
            (then as f32, (drive.write_clock() - older.write_clock) as f32)
        }
    }

    /// A page of a lifetime of `step` is about to be programmed for `stream`.
    #[inline]
    pub(super) fn on_page(&mut self, stream: StreamId, step: u8, drive: &Drive) {
        let open = &mut self.open[stream.index()];
        open.steps += u32::from(step);
        open.clocks += drive.write_clock();
        open.count += 1;
    }

    pub(super) fn on_sealed(&mut self, block: BlockId, drive: &Drive) {
        let open = &mut self.open[drive.stream_of(block).index()];
        let step = open.mean_step();
        self.steps[block.index()] = step;
        self.stamps[block.index()] = (open.clocks / u64::from(open.count.max(1))) as u32;
        // The page of a host write that is still to come, if collections before it filled the block.
        let is_pending = open.count > drive.pages_per_block();
        *open = OpenPages {
            clocks: if is_pending { drive.write_clock() } else { 0 },
            steps: if is_pending { step.into() } else { 0 },
            count: u32::from(is_pending),
        };
    }

    /// A stamp, a step of lifetimes and two counts; whether the block was opened or sealed since the older
    /// snapshot.
    pub(super) fn metadata() -> Metadata {
        Metadata::per_block(32 + 8 + 2 * 16 + 2)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.stamps[..]) + self.steps.len() + size_of_val(&self.valid_then[..])
    }
}

/// The weight of the common rate in blocks of so many pages: as the prior, it is less in small ones, whose
/// ages would count for nothing beside it.
fn common_share(pages_per_block: u32) -> f64 {
    (f64::from(pages_per_block) / f64::from(COMMON_PAGES)).min(1.0)
}

/// Valid pages among those that have been programmed.
fn programmed_valid_pages(block: BlockId, drive: &Drive) -> u32 {
    match drive.phase(block) {
        Phase::Open => {
            drive.valid_pages(block) + drive.programmed_pages(block) - drive.pages_per_block()
        }
        _ => drive.valid_pages(block),
    }
}
