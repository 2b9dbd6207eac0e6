//! What a block's own losses say of its update rate.

use crate::algorithms::hazard::lifetimes::Scale;
use crate::algorithms::hazard::parameters::HazardParameters;
use crate::algorithms::hazard::sharing::OpenBlock;
use crate::page::entry::DriveShape;
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::StreamId;
use crate::{Metadata, bits_for, memory};
use ftlab_flash::BlockId;
use std::ops::Add;

/// Ages beyond this many host writes count as this.
const AGE_MAX: u32 = 1 << 31;

/// In place of the step of a lifetime: it is worked out when it is asked for.
const NOT_KEPT: u8 = u8::MAX;

/// What is worked out for an open block is kept until such a part of its age has passed.
const KEPT_SHARE: u64 = 16;

/// Pages that prior knowledge of what a block lost lately weighs at least: the first one that a small block loses
/// does not decide alone.
const LATELY_PRIOR_PAGES_MIN: f64 = 0.5;

/// What is known of the pages of every block.
pub(super) struct Evidence {
    blocks: Vec<BlockRecord>,
    scale: Scale,
    /// By how many bits counts of valid pages are shifted to fit.
    shift: u32,
    /// The older snapshot, and the newer one: the ends of epochs.
    snapshots: [Snapshot; 2],
    /// The ends of parts of epochs.
    lately: [Snapshot; 2],
    /// Parts of an epoch, and how many of the present one are over.
    parts: u32,
    parts_over: u32,
    /// When the present part began, and how many host writes it takes.
    part_began: u64,
    part_writes: u64,
    /// One by `part_writes`.
    one_by_part_writes: f32,
    /// Stream of the drive -> the pages of its open block; as many as took pages so far. Within placement handles, each
    /// stream of ours is one for every set of open blocks.
    open: Vec<OpenPages>,
    prior_pages: f32,
    /// Pages that the prior counts for in what blocks lost lately.
    lately_prior_pages: f32,
}

state!(
    Evidence { blocks, snapshots, lately, parts_over, part_began, open }
    constant scale, shift, parts, part_writes, one_by_part_writes, prior_pages, lately_prior_pages
);

/// What is kept of a block, in one place, since a host write asks for all of it.
#[derive(Debug, Clone, Copy, Default)]
struct BlockRecord {
    /// Mean write clock of its pages when they were programmed there, modulo 2^32.
    stamp: u32,
    /// Valid pages at the older snapshot and at the newer one, shifted.
    valid_then: [u16; 2],
    /// Valid pages at the ends of parts of epochs.
    valid_lately: [u16; 2],
    /// Mean step of the lifetimes expected of its pages.
    step: u8,
    /// Step of the lifetime expected of those that the host rewrites, or `NOT_KEPT`.
    rewrite_step: u8,
    /// Whether it was opened since the older snapshot.
    is_new: bool,
    /// Whether it was sealed since the older snapshot.
    was_open: bool,
}

state!(BlockRecord { stamp, valid_then, valid_lately, step, rewrite_step, is_new, was_open });

/// What the pages of a block tell of their update rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Observed {
    /// Mean age in host writes, at least 1.
    pub(super) age: f32,
    /// What was expected of their lifetimes when they were programmed there, in the geometric mean.
    pub(super) lifetime: f32,
    /// Pages that are valid now; of an open block, those that are not programmed yet among them.
    pub(super) valid: f32,
    /// What it lost; none if it is open, or was sealed since the older snapshot of parts of epochs.
    lost: Option<Lost>,
}

/// What a block lost.
#[derive(Debug, Clone, Copy)]
struct Lost {
    /// Since the older snapshot of epochs.
    long: Losses,
    /// Since that of parts.
    lately: Losses,
}

/// Evidence of a rate, which is the first by the second.
#[derive(Debug, Clone, Copy)]
pub(super) struct Losses {
    pub(super) pages: f32,
    pub(super) exposure: f32,
}

/// The pages that a stream has taken since its last block was sealed.
#[derive(Debug, Clone, Copy)]
struct OpenPages {
    /// Sum of their write clocks.
    clocks: u64,
    /// Sum of the steps of their lifetimes.
    steps: u32,
    count: u32,
    /// Step of the lifetime expected of those that the host rewrites, and the write clock until which it is kept.
    rewrite_step: u8,
    kept_until: u64,
}

state!(OpenPages { clocks, steps, count, rewrite_step, kept_until } blank Self::NONE);

impl BlockRecord {
    #[inline]
    fn age(&self, drive: &DriveState) -> u32 {
        (drive.write_clock() as u32).wrapping_sub(self.stamp).max(1)
    }
}

impl Losses {
    /// Of a block that had `before` valid pages when `writes` host writes were still to come, and has `valid` now.
    #[inline]
    fn new(before: f32, valid: f32, writes: f32) -> Self {
        let pages = (before - valid).max(0.0);
        Self { pages, exposure: 0.5 * (before + valid) * (writes + 1.0) }
    }

    /// What is known beforehand, as if `pages` of that mean lifetime had been lost.
    #[inline]
    fn known(pages: f32, lifetime: f32) -> Self {
        Self { pages, exposure: pages * lifetime }
    }
}

impl Add for Losses {
    type Output = Self;

    #[inline]
    fn add(self, other: Self) -> Self {
        Self { pages: self.pages + other.pages, exposure: self.exposure + other.exposure }
    }
}

impl OpenPages {
    const NONE: Self = Self { clocks: 0, steps: 0, count: 0, rewrite_step: 0, kept_until: 0 };

    /// Mean age of the pages, at least 1.
    #[inline]
    fn age(&self, drive: &DriveState) -> f32 {
        let count = self.count.max(1);
        let sum = drive.write_clock().wrapping_mul(count.into()).wrapping_sub(self.clocks);
        (float(sum) / count as f32).max(1.0)
    }

    #[inline]
    fn mean_step(&self) -> u8 {
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

impl Snapshot {
    fn now(drive: &DriveState) -> Self {
        Self { write_clock: drive.write_clock(), allocations: drive.allocations() }
    }
}

impl Evidence {
    /// Each epoch has `parts`, and what blocks lost in the last of them counts for itself.
    pub(super) fn new(
        parameters: &HazardParameters,
        parts: u32,
        streams: usize,
        scale: Scale,
        shape: DriveShape,
    ) -> Self {
        let prior_pages = parameters.prior * f64::from(shape.pages_per_block);
        let lately_prior_pages = (prior_pages / f64::from(parts)).max(LATELY_PRIOR_PAGES_MIN);
        let part_writes = parameters.epoch * f64::from(shape.logical_pages) / f64::from(parts);
        let part_writes = part_writes.round().max(1.0) as u64;
        Self {
            blocks: vec![BlockRecord::default(); shape.blocks as usize],
            scale,
            shift: bits_for(shape.pages_per_block + 1).saturating_sub(16),
            snapshots: [Snapshot::default(); 2],
            lately: [Snapshot::default(); 2],
            parts,
            parts_over: 0,
            part_began: 0,
            part_writes,
            one_by_part_writes: 1.0 / float(part_writes),
            open: vec![OpenPages::NONE; streams],
            prior_pages: prior_pages as f32,
            lately_prior_pages: lately_prior_pages as f32,
        }
    }

    /// Whether it is time for a snapshot.
    #[inline]
    pub(super) fn snapshot_is_due(&self, drive: &DriveState) -> bool {
        drive.write_clock() - self.part_began >= self.part_writes
    }

    /// How much of the time between two snapshots has passed since the last one.
    #[inline]
    pub(super) fn part_share(&self, drive: &DriveState) -> f32 {
        float(drive.write_clock() - self.part_began) * self.one_by_part_writes
    }

    /// A part of an epoch is over; true if it was the last. The valid pages of blocks are still to be taken down.
    pub(super) fn end_part(&mut self, drive: &DriveState) -> bool {
        self.part_began = drive.write_clock();
        self.parts_over += 1;
        self.lately = [self.lately[1], Snapshot::now(drive)];
        let is_end = self.parts_over == self.parts;
        if is_end {
            self.parts_over = 0;
            self.end_epoch(drive);
        }
        is_end
    }

    /// Takes down the valid pages of `block` at the end of a part; true if they are as they were at the ends of the two
    /// parts before, so that what is known of the block has hardly changed.
    #[inline]
    pub(super) fn end_part_of(&mut self, block: BlockId, drive: &DriveState) -> bool {
        let valid = (programmed_valid_pages(block, drive) >> self.shift) as u16;
        let record = &mut self.blocks[block.index()];
        let [before, then] = record.valid_lately;
        record.valid_lately = [then, valid];
        before == then && then == valid
    }

    fn end_epoch(&mut self, drive: &DriveState) {
        let now = drive.write_clock();
        self.snapshots = [self.snapshots[1], Snapshot::now(drive)];
        let older = self.snapshots[0];
        for (record, block) in self.blocks.iter_mut().zip((0..).map(BlockId)) {
            let valid = programmed_valid_pages(block, drive) >> self.shift;
            record.valid_then = [record.valid_then[1], valid as u16];
            let age = (now as u32).wrapping_sub(record.stamp).min(AGE_MAX);
            record.stamp = (now as u32).wrapping_sub(age);
            record.is_new = drive.allocated(block) >= older.allocations;
            record.was_open = drive.sealed_at(block) > older.write_clock;
        }
    }

    /// Asks the processor for what is known of `block`.
    #[inline]
    pub(super) fn prefetch(&self, block: BlockId) {
        memory::prefetch(&self.blocks, block.index());
    }

    /// Mean age of the pages of `block` in host writes, at least 1.
    #[inline]
    pub(super) fn age(&self, block: BlockId, drive: &DriveState) -> f32 {
        match drive.phase(block) {
            Phase::Open => self.open_pages(block, drive).age(drive),
            _ => self.age_of_sealed(block, drive),
        }
    }

    /// Mean age of the pages of a block that is not open.
    #[inline]
    pub(super) fn age_of_sealed(&self, block: BlockId, drive: &DriveState) -> f32 {
        self.blocks[block.index()].age(drive) as f32
    }

    /// What is known of the pages of `block` now.
    #[inline]
    pub(super) fn of(&self, block: BlockId, drive: &DriveState) -> Observed {
        if drive.phase(block) == Phase::Open {
            self.of_open(block, drive)
        } else {
            self.of_sealed(block, drive)
        }
    }

    /// What is known of the pages of a block that is not open.
    #[inline]
    pub(super) fn of_sealed(&self, block: BlockId, drive: &DriveState) -> Observed {
        let record = &self.blocks[block.index()];
        let valid = drive.valid_pages(block);
        let is_older = drive.sealed_at(block) <= self.lately[0].write_clock;
        Observed {
            age: record.age(drive) as f32,
            lifetime: self.scale.lifetime(record.step),
            valid: valid as f32,
            lost: is_older.then(|| self.lost(record, valid, drive)),
        }
    }

    /// What a block lost that has `valid` pages left.
    #[inline]
    fn lost(&self, record: &BlockRecord, valid: u32, drive: &DriveState) -> Lost {
        let then = u32::from(record.valid_then[0]) << self.shift;
        let has_grown = record.was_open && then < valid;
        let (before, writes) = if record.is_new || has_grown {
            (drive.pages_per_block(), record.age(drive).into())
        } else {
            (then, self.writes_since_older(drive))
        };
        let lately = u32::from(record.valid_lately[0]) << self.shift;
        let since_lately = drive.write_clock() - self.lately[0].write_clock;
        Lost {
            long: Losses::new(before as f32, valid as f32, float(writes)),
            lately: Losses::new(lately as f32, valid as f32, float(since_lately)),
        }
    }

    fn of_open(&self, block: BlockId, drive: &DriveState) -> Observed {
        let open = self.open_pages(block, drive);
        Observed {
            age: open.age(drive),
            lifetime: self.scale.lifetime(open.mean_step()),
            valid: drive.valid_pages(block) as f32,
            lost: None,
        }
    }

    #[inline]
    fn writes_since_older(&self, drive: &DriveState) -> u64 {
        drive.write_clock() - self.snapshots[0].write_clock
    }

    pub(super) fn open_block(&self, stream: StreamId, drive: &DriveState) -> Option<OpenBlock> {
        let (step, room) = (self.open.get(stream.index())?.mean_step(), drive.room(stream));
        (room > 0).then_some(OpenBlock { step, room })
    }

    /// Pages lost since the older snapshot, and the page-writes through which pages lived meanwhile, `expected`
    /// being the inverse of the rate that the lifetime expected of them and their age let expect. The rate
    /// that follows is in turn what is expected of what was lost lately; of blocks sealed since nothing
    /// is lost yet, since the pages that go first say little of those that stay. What counts is the ratio of both.
    #[inline]
    pub(super) fn losses_of(&self, observed: &Observed, expected: f32) -> Losses {
        let prior = self.lately_prior_pages;
        let Some(Lost { long, lately }) = observed.lost else {
            return Losses::known(prior, expected);
        };
        let long = long + Losses::known(self.prior_pages, expected);
        // As lately + Losses::known(prior, long.exposure / long.pages), but for a division.
        Losses {
            pages: (lately.pages + prior) * long.pages,
            exposure: lately.exposure * long.pages + prior * long.exposure,
        }
    }

    /// The step of the lifetime that is expected of a page that the host rewrites, its present version lying
    /// in `block`, as of the last time when it was worked out; none while the block is open.
    #[inline]
    pub(super) fn rewrite_step(&self, block: BlockId) -> Option<u8> {
        let step = self.blocks[block.index()].rewrite_step;
        (step != NOT_KEPT).then_some(step)
    }

    pub(super) fn set_rewrite_step(&mut self, block: BlockId, step: u8) {
        self.blocks[block.index()].rewrite_step = step;
    }

    /// The step that is expected where the block is open, as of a short while ago.
    #[inline]
    pub(super) fn rewrite_step_of_open(&self, block: BlockId, drive: &DriveState) -> Option<u8> {
        let open = self.open_pages(block, drive);
        (drive.write_clock() < open.kept_until).then_some(open.rewrite_step)
    }

    /// Keeps the step of a block that is open until a sixteenth of its `age` has passed.
    pub(super) fn keep_for_open(&mut self, block: BlockId, step: u8, age: f32, drive: &DriveState) {
        if let Some(open) = self.open.get_mut(drive.frontier_of(block).index()) {
            open.rewrite_step = step;
            open.kept_until = drive.write_clock() + age as u64 / KEPT_SHARE;
        }
    }

    pub(super) fn on_opened(&mut self, block: BlockId) {
        let record = &mut self.blocks[block.index()];
        record.is_new = true;
        record.rewrite_step = NOT_KEPT;
    }

    /// A page of a lifetime of `step` is about to be programmed for `stream` of the drive.
    #[inline]
    pub(super) fn on_page(&mut self, stream: StreamId, step: u8, drive: &DriveState) {
        let Some(open) = self.open.get_mut(stream.index()) else {
            return self.add_stream(stream, step, drive);
        };
        open.steps += u32::from(step);
        open.clocks += drive.write_clock();
        open.count += 1;
    }

    /// The pages of a block that is open, or being sealed.
    #[inline]
    fn open_pages(&self, block: BlockId, drive: &DriveState) -> &OpenPages {
        self.open.get(drive.frontier_of(block).index()).unwrap_or(&OpenPages::NONE)
    }

    /// What `stream` of the drive, which has taken pages, has open.
    #[inline]
    fn open_pages_mut(&mut self, stream: StreamId) -> &mut OpenPages {
        &mut self.open[stream.index()]
    }

    /// The first page of `stream` of the drive.
    #[cold]
    #[inline(never)]
    fn add_stream(&mut self, stream: StreamId, step: u8, drive: &DriveState) {
        self.open.resize(stream.index() + 1, OpenPages::NONE);
        self.on_page(stream, step, drive);
    }

    pub(super) fn on_sealed(&mut self, block: BlockId, drive: &DriveState) {
        let open =
            std::mem::replace(self.open_pages_mut(drive.frontier_of(block)), OpenPages::NONE);
        let step = open.mean_step();
        let record = &mut self.blocks[block.index()];
        record.step = step;
        record.stamp = (open.clocks / u64::from(open.count.max(1))) as u32;
        record.was_open = true;
        // The page of a host write that is still to come, if collections before it filled the block.
        if open.count > drive.pages_per_block() {
            let clocks = drive.write_clock();
            let pending = OpenPages { clocks, steps: step.into(), count: 1, ..OpenPages::NONE };
            *self.open_pages_mut(drive.frontier_of(block)) = pending;
        }
    }

    /// A stamp, two steps of lifetimes and four counts; whether the block was opened or sealed since the older snapshot.
    pub(super) fn metadata() -> Metadata {
        Metadata::per_block(32 + 2 * 8 + 4 * 16 + 2)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.blocks[..])
    }
}

/// A count of host writes, which is below 2^63: signed numbers convert faster.
#[inline]
fn float(writes: u64) -> f32 {
    writes.cast_signed() as f32
}

/// Valid pages among those that have been programmed.
#[inline]
fn programmed_valid_pages(block: BlockId, drive: &DriveState) -> u32 {
    match drive.phase(block) {
        Phase::Open => {
            drive.valid_pages(block) + drive.programmed_pages(block) - drive.pages_per_block()
        }
        _ => drive.valid_pages(block),
    }
}
