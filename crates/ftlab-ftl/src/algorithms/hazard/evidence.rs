//! What is known of every block: when its pages were written, what was expected of them, and what it lost.

use crate::algorithms::hazard::estimate::{AGE_MAX, Estimate, History, Moment, Record};
use crate::algorithms::hazard::lifetimes::Scale;
use crate::algorithms::hazard::parameters::HazardParameters;
use crate::algorithms::hazard::score_board::GROUP;
use crate::algorithms::hazard::sharing::OpenBlock;
use crate::page::entry::DriveShape;
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::StreamId;
use crate::{Metadata, bits_for, memory};
use ftlab_flash::BlockId;

/// In place of the step of a lifetime: it is worked out when it is asked for.
const NOT_KEPT: u8 = u8::MAX;

/// What is worked out for an open block is kept until such a part of its age has passed.
const KEPT_SHARE: u64 = 16;

/// Pages that prior knowledge of what a block lost lately weighs at least: the first one that a small block loses
/// does not decide alone.
const LATELY_PRIOR_PAGES_MIN: f64 = 0.5;

/// What is known of the pages of every block.
///
/// Each table has whole groups of blocks, since all of a group are judged at once.
pub(super) struct Evidence {
    /// Block -> mean write clock of its pages when they were programmed there, modulo 2^32.
    stamps: Vec<u32>,
    /// Block -> mean step of the lifetimes expected of its pages.
    steps: Vec<u8>,
    /// Block -> step of the lifetime expected of those that the host rewrites, or `NOT_KEPT`.
    rewrite_steps: Vec<u8>,
    /// Block -> what happened to it.
    histories: Vec<History>,
    /// Block -> valid pages at the older snapshot and at the newer one, shifted: those of the ends of epochs.
    valid_then: [Vec<u16>; 2],
    /// The same of the ends of parts of epochs.
    valid_lately: [Vec<u16>; 2],
    scale: Scale,
    /// By how many bits counts of valid pages are shifted to fit.
    shift: u32,
    /// The write clock at the snapshots of epochs, and of parts.
    then: [u64; 2],
    lately: [u64; 2],
    /// Parts of an epoch, and how many of the present one are over.
    parts: u32,
    parts_over: u32,
    /// How many host writes a part takes.
    part_writes: u64,
    /// Stream of the drive -> the pages of its open block; as many as took pages so far. Within placement handles, each
    /// stream of ours is one for every set of open blocks.
    open: Vec<OpenPages>,
    prior_pages: f32,
    /// Pages that the prior counts for in what blocks lost lately.
    lately_prior_pages: f32,
    /// Whether something is expected of pages that the host writes.
    expects: bool,
}

state!(
    Evidence {
        stamps, steps, rewrite_steps, histories, valid_then, valid_lately, then, lately, parts_over, open,
        expects
    }
    constant scale, shift, parts, part_writes, prior_pages, lately_prior_pages
);

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
        let blocks = (shape.blocks as usize).next_multiple_of(GROUP);
        let counts = || [vec![0; blocks], vec![0; blocks]];
        Self {
            stamps: vec![0; blocks],
            steps: vec![0; blocks],
            rewrite_steps: vec![NOT_KEPT; blocks],
            histories: vec![History::default(); blocks],
            valid_then: counts(),
            valid_lately: counts(),
            scale,
            shift: bits_for(shape.pages_per_block + 1).saturating_sub(16),
            then: [0; 2],
            lately: [0; 2],
            parts,
            parts_over: 0,
            part_writes,
            open: vec![OpenPages::NONE; streams],
            prior_pages: prior_pages as f32,
            lately_prior_pages: lately_prior_pages as f32,
            expects: true,
        }
    }

    /// Whether something is expected of pages that the host writes, from now on.
    pub(super) fn expect(&mut self, expects: bool) {
        self.expects = expects;
    }

    /// Whether it is time for a snapshot.
    #[inline]
    pub(super) fn snapshot_is_due(&self, drive: &DriveState) -> bool {
        drive.write_clock() - self.lately[1] >= self.part_writes
    }

    /// A part of an epoch is over; true if it was the last.
    pub(super) fn end_part(&mut self, drive: &DriveState) -> bool {
        self.lately = [self.lately[1], drive.write_clock()];
        self.take_down(drive);
        self.histories.iter_mut().for_each(|history| *history = history.after_part());
        self.parts_over += 1;
        let is_end = self.parts_over == self.parts;
        if is_end {
            self.parts_over = 0;
            self.end_epoch();
        }
        is_end
    }

    /// The newer counts of valid pages become the older ones, and those of now the newer ones; of an open block, pages
    /// count that are programmed.
    fn take_down(&mut self, drive: &DriveState) {
        let Self { valid_lately, shift, .. } = self;
        valid_lately.swap(0, 1);
        let newer = &mut valid_lately[1];
        for (newer, valid) in newer.iter_mut().zip(drive.valid_pages_of_blocks()) {
            *newer = (valid >> *shift) as u16;
        }
        for block in
            (0..drive.streams().len()).filter_map(|stream| drive.open_block(StreamId(stream as u8)))
        {
            newer[block.index()] = (programmed_valid_pages(block, drive) >> *shift) as u16;
        }
    }

    /// An epoch ends with its last part.
    fn end_epoch(&mut self) {
        let now = self.lately[1];
        self.then = [self.then[1], now];
        self.valid_then.swap(0, 1);
        self.valid_then[1].copy_from_slice(&self.valid_lately[1]);
        for stamp in &mut self.stamps {
            let age = (now as u32).wrapping_sub(*stamp).min(AGE_MAX);
            *stamp = (now as u32).wrapping_sub(age);
        }
        self.histories.iter_mut().for_each(|history| *history = history.after_epoch());
    }

    /// Asks the processor for what tells the age of `block`.
    #[inline]
    pub(super) fn prefetch(&self, block: BlockId) {
        memory::prefetch(&self.stamps, block.index());
        memory::prefetch(&self.histories, block.index());
    }

    /// Mean age of the pages of `block` in host writes, at least 1.
    #[inline]
    pub(super) fn age(&self, block: BlockId, drive: &DriveState) -> f32 {
        if self.is_sealed(block) {
            self.age_of_sealed(block, drive)
        } else {
            self.open_pages(block, drive).age(drive)
        }
    }

    /// Mean age of the pages of a block that is not open; at the end of an epoch, at most `AGE_MAX`.
    #[inline]
    pub(super) fn age_of_sealed(&self, block: BlockId, drive: &DriveState) -> f32 {
        (drive.write_clock() as u32).wrapping_sub(self.stamps[block.index()]).max(1) as f32
    }

    /// Whether `block` is full, and not erased since.
    #[inline]
    pub(super) fn is_sealed(&self, block: BlockId) -> bool {
        self.histories[block.index()].is_sealed()
    }

    /// What all blocks have in common now.
    #[inline]
    fn moment(&self, drive: &DriveState) -> Moment {
        let now = drive.write_clock();
        Moment {
            scale: self.scale,
            now: now as u32,
            pages: drive.pages_per_block() as f32,
            since_then: float(now - self.then[0]),
            since_lately: float(now - self.lately[0]),
            prior: self.prior_pages,
            lately_prior: self.lately_prior_pages,
            expects: self.expects,
        }
    }

    /// What is known of the pages of `block` now.
    pub(super) fn estimate(&self, block: BlockId, drive: &DriveState) -> Estimate {
        if self.is_sealed(block) {
            return self.estimate_sealed(block, drive);
        }
        let open = self.open_pages(block, drive);
        let valid = drive.valid_pages(block);
        self.moment(drive).estimate_open(open.mean_step(), open.age(drive), valid)
    }

    /// What is known of the pages of a block that is not open.
    #[inline]
    pub(super) fn estimate_sealed(&self, block: BlockId, drive: &DriveState) -> Estimate {
        let index = block.index();
        self.moment(drive).estimate(Record {
            stamp: self.stamps[index],
            step: self.steps[index],
            history: self.histories[index],
            valid: drive.valid_pages(block),
            valid_then: u32::from(self.valid_then[0][index]) << self.shift,
            valid_lately: u32::from(self.valid_lately[0][index]) << self.shift,
        })
    }

    /// At a snapshot, the scores of a group of blocks; 0 of those that are not sealed. If `keeps_steps`, what is expected
    /// of pages that the host rewrites is worked out, too.
    #[expect(clippy::needless_range_loop, reason = "several blocks at once by index alone")]
    pub(super) fn scores(
        &mut self,
        group: usize,
        keeps_steps: bool,
        drive: &DriveState,
    ) -> [f32; GROUP] {
        let moment = self.moment(drive);
        let (shift, scale) = (self.shift, self.scale);
        // Copied to arrays of known length, so that the compiler works out several blocks at once.
        let (stamps, steps) = (in_group(&self.stamps, group), in_group(&self.steps, group));
        let histories = in_group(&self.histories, group);
        let mut valid = [0; GROUP];
        let of_drive = drive.valid_pages_of_blocks().chunks(GROUP).nth(group).unwrap_or_default();
        valid[..of_drive.len()].copy_from_slice(of_drive);
        let valid_lately = in_group(&self.valid_lately[0], group);
        let valid_then = in_group(&self.valid_then[0], group);
        let estimate = |at: usize| {
            moment.estimate(Record {
                stamp: stamps[at],
                step: steps[at],
                history: histories[at],
                valid: valid[at],
                valid_then: u32::from(valid_then[at]) << shift,
                valid_lately: u32::from(valid_lately[at]) << shift,
            })
        };
        let if_sealed = |at: usize, score: f32| if histories[at].is_sealed() { score } else { 0.0 };
        let mut scores = [0.0; GROUP];
        // Two loops, since a single one that asked whether to keep steps would take the blocks one by one.
        if keeps_steps {
            let mut rewrite_steps = in_group(&self.rewrite_steps, group);
            for at in 0..GROUP {
                let (estimate, kept) = (estimate(at), rewrite_steps[at]);
                let step = scale.step_of(estimate.rewritten());
                scores[at] = if_sealed(at, estimate.score(moment.pages));
                rewrite_steps[at] = if histories[at].is_sealed() { step } else { kept };
            }
            self.rewrite_steps.as_chunks_mut().0[group] = rewrite_steps;
        } else {
            for at in 0..GROUP {
                scores[at] = if_sealed(at, estimate(at).score(moment.pages));
            }
        }
        debug_assert!(self.agrees(group, &scores, drive), "alone, a block has another score");
        scores
    }

    /// Whether the score of one block, another one each time, is the one that it gets alone.
    fn agrees(&self, group: usize, scores: &[f32; GROUP], drive: &DriveState) -> bool {
        let at = (drive.write_clock() / self.part_writes) as usize % GROUP;
        let block = BlockId((group * GROUP + at) as u32);
        let score = || self.estimate_sealed(block, drive).score(drive.pages_per_block() as f32);
        let expected = if self.is_sealed(block) { score() } else { 0.0 };
        scores[at].to_bits() == expected.to_bits()
    }

    pub(super) fn open_block(&self, stream: StreamId, drive: &DriveState) -> Option<OpenBlock> {
        let (step, room) = (self.open.get(stream.index())?.mean_step(), drive.room(stream));
        (room > 0).then_some(OpenBlock { step, room })
    }

    /// The step of the lifetime that is expected of a page that the host rewrites, its present version lying
    /// in `block`, as of the last time when it was worked out; none while the block is open.
    #[inline]
    pub(super) fn rewrite_step(&self, block: BlockId) -> Option<u8> {
        let step = self.rewrite_steps[block.index()];
        (step != NOT_KEPT).then_some(step)
    }

    pub(super) fn set_rewrite_step(&mut self, block: BlockId, step: u8) {
        self.rewrite_steps[block.index()] = step;
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
        self.histories[block.index()] = History::opened();
        self.rewrite_steps[block.index()] = NOT_KEPT;
    }

    pub(super) fn on_erased(&mut self, block: BlockId) {
        self.histories[block.index()] = History::default();
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
        let index = block.index();
        self.steps[index] = step;
        self.stamps[index] = (open.clocks / u64::from(open.count.max(1))) as u32;
        self.histories[index] = self.histories[index].sealed();
        // The page of a host write that is still to come, if collections before it filled the block.
        if open.count > drive.pages_per_block() {
            let clocks = drive.write_clock();
            let pending = OpenPages { clocks, steps: step.into(), count: 1, ..OpenPages::NONE };
            *self.open_pages_mut(drive.frontier_of(block)) = pending;
        }
    }

    /// Verifies which blocks are sealed.
    pub(super) fn check(&self, drive: &DriveState) -> Result<(), String> {
        let is_wrong = |block: &BlockId| {
            let is_sealed = matches!(drive.phase(*block), Phase::Sealed | Phase::Victim);
            self.is_sealed(*block) != is_sealed
        };
        match drive.host_blocks().find(is_wrong) {
            Some(block) => {
                let taken_for = if self.is_sealed(block) { "sealed" } else { "not sealed" };
                Err(format!("block {block} is {:?}, and taken for {taken_for}", drive.phase(block)))
            }
            None => Ok(()),
        }
    }

    /// A stamp, two steps of lifetimes, four counts and what happened.
    pub(super) fn metadata() -> Metadata {
        Metadata::per_block(32 + 2 * 8 + 4 * 16 + History::BITS)
    }

    pub(super) fn bytes(&self) -> usize {
        self.stamps.len() * (size_of::<u32>() + 2 + 4 * size_of::<u16>() + size_of::<History>())
    }
}

/// A count of host writes, which is below 2^63: signed numbers convert faster.
#[inline]
fn float(writes: u64) -> f32 {
    writes.cast_signed() as f32
}

/// What a table has of a group of blocks.
#[inline]
fn in_group<T: Copy>(table: &[T], group: usize) -> [T; GROUP] {
    table.as_chunks().0[group]
}

/// Valid pages of an open block among those that have been programmed.
#[inline]
fn programmed_valid_pages(block: BlockId, drive: &DriveState) -> u32 {
    drive.valid_pages(block) + drive.programmed_pages(block) - drive.pages_per_block()
}
