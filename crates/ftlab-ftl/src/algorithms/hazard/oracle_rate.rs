//! `oracle-rate`: the rate at which each page is rewritten is known, but not when.
//!
//! # Idea
//! Whoever guesses the rates of pages can do no better than guess right. What `hazard` loses to an FTL that
//! knows all rates is lost by guessing; what that one loses to `fk`, which knows when pages die, is chance.
//!
//! # Rule
//! As `hazard`, with true rates instead of estimates. The mean lifetime of each page is known: the host
//! writes during which it held data, divided by how many of its versions ended, plus one half. Lifetimes
//! are divided among streams such that what separation saves, less what open blocks cost, is greatest; a
//! page that is written or moved goes to the stream of its own mean lifetime. The victim has the highest
//! (1 - u)^2 / (u h), u being its valid share and h the mean rate of its valid pages.
//!
//! # Parameters
//! `rungs` is how many streams there are at most: 0 is 6, or two fewer than there are spare blocks; `epoch`
//! is the share of the logical pages that is written between two divisions; `merge` is the weight of what
//! open blocks cost.
//!
//! # Where the paper is silent
//! It is our own. The half of a version stands for the one that has not ended: by Bayes' rule with a prior of
//! no information (Jeffreys), the mean rate of a page that lost n versions in t host writes is (n + 1/2) / t.
//! A page has one rate from the first write to the last, also where the workload changes. Where nobody says
//! how long pages live, all have the lifetime of as many writes as there are pages.
//!
//! # Reference
//! ftlab, 2026.

use crate::algorithms::hazard::lifetimes::Scale;
use crate::algorithms::hazard::parameters::{HazardParameters, RateParameters};
use crate::algorithms::hazard::rungs::{self, Rungs};
use crate::algorithms::hazard::sharing::{OpenBlock, Sharing};
use crate::page::entry::{DriveShape, PolicyEntry};
use crate::page::policy::{BlockScore, Hints, HostWrite, Lifetime, Policy, Relocation, Victims};
use crate::page::{DriveState, Phase};
use crate::state::state;
use crate::stream::{Stream, StreamId};
use crate::{Metadata, memory};
use ftlab_flash::{BlockId, Lpn};

/// Rates are whole numbers of this part of a rewrite per host write, so that sums over pages stay exact.
const RATE_UNIT: f64 = 1.0 / (1_u64 << 40) as f64;

/// It asks for hints itself, so it is not within placement handles.
const ONLY_SET: usize = 0;

/// Knows the rate of every page.
pub struct OracleRate {
    scale: Scale,
    rungs: usize,
    /// Logical page -> the mean lifetime of its versions, in host writes.
    lifetimes: Vec<u32>,
    /// Block -> the sum of the rates of its valid pages, if it is sealed.
    rates: Vec<u64>,
    sharing: Sharing,
    /// Open block of a stream: sum of the steps of its pages, and how many they are.
    open: Vec<(u32, u32)>,
    /// Host writes between two divisions of lifetimes, and the write clock of the next.
    epoch_writes: u64,
    next_epoch: u64,
    /// The page that the host is writing, and its mean lifetime.
    writing: Option<(Lpn, u32)>,
    /// The block that a page left which is being trimmed.
    trimmed: Option<BlockId>,
    logical_pages: u32,
}

state!(
    OracleRate { lifetimes, rates, sharing, open, next_epoch, writing, trimmed }
    constant scale, rungs, epoch_writes, logical_pages
);

impl PolicyEntry for OracleRate {
    type Parameters = RateParameters;
    const NAME: &'static str = "oracle-rate";
    const SUMMARY: &'static str =
        "hazard with the true rate of each page, which only a first pass over the workload tells";
    const SOURCE: &'static str = "ours";
    const DECISIONS: u32 = 3;
    const HINTS: Hints = Hints::Lifetimes;

    fn new(parameters: &RateParameters, shape: DriveShape) -> Self {
        let rungs = Rungs::new(parameters.rungs, false, shape);
        let scale = Scale::new(shape.logical_pages);
        let step = scale.step_of(shape.logical_pages as f32);
        let epoch_writes = (parameters.epoch * f64::from(shape.logical_pages)).ceil() as u64;
        let shared = HazardParameters { merge: parameters.merge, ..HazardParameters::default() };
        Self {
            scale,
            rungs: rungs.most,
            lifetimes: memory::table(shape.logical_pages as usize, 0),
            rates: vec![0; shape.blocks as usize],
            sharing: Sharing::new(rungs, step, &shared, shape),
            open: vec![(0, 0); rungs.most],
            epoch_writes,
            next_epoch: epoch_writes,
            writing: None,
            trimmed: None,
            logical_pages: shape.logical_pages,
        }
    }
}

impl OracleRate {
    fn rate(&self, lpn: Lpn) -> u64 {
        (1.0 / (RATE_UNIT * f64::from(self.lifetimes[lpn.index()].max(1)))) as u64
    }

    fn rate_of(&self, block: BlockId, drive: &DriveState) -> u64 {
        drive.valid_owners(block).map(|lpn| self.rate(lpn)).sum()
    }

    fn open_block(&self, stream: StreamId, drive: &DriveState) -> Option<OpenBlock> {
        let &(steps, count) = self.open.get(stream.index()).filter(|(_, count)| *count > 0)?;
        let room = drive.room(stream);
        (room > 0).then_some(OpenBlock { step: (steps / count) as u8, room })
    }

    /// A page of a lifetime of `step` goes to `stream`.
    #[inline]
    fn count(&mut self, stream: StreamId, step: u8) {
        let (steps, count) = &mut self.open[stream.index()];
        *steps += u32::from(step);
        *count += 1;
    }

    #[cold]
    fn divide(&mut self, drive: &DriveState) {
        self.next_epoch = drive.write_clock() + self.epoch_writes;
        let open: Vec<_> = self.open_blocks(drive);
        self.sharing.on_epoch(false, |_, stream| *open.get(stream.index())?);
    }

    fn open_blocks(&self, drive: &DriveState) -> Vec<Option<OpenBlock>> {
        (0..self.rungs).map(|s| self.open_block(StreamId(s as u8), drive)).collect()
    }

    /// (1 - u)^2 / (u h); infinite for a block without valid pages.
    fn score(&self, block: BlockId, drive: &DriveState) -> f64 {
        let pages = f64::from(drive.pages_per_block());
        let invalid = pages - f64::from(drive.valid_pages(block));
        invalid * invalid / (pages * RATE_UNIT * self.rates[block.index()] as f64)
    }
}

impl Policy for OracleRate {
    fn streams(&self) -> Vec<Stream> {
        let mut streams = rungs::streams_of(self.rungs);
        streams.truncate(self.rungs);
        streams
    }

    /// Where free blocks run out, streams share one.
    fn reserve_blocks_min(&self) -> u32 {
        1
    }

    #[inline]
    fn fetch_ahead(&self, lpn: Lpn, _block: BlockId) {
        memory::prefetch(&self.lifetimes, lpn.index());
    }

    #[inline]
    fn place_host(&mut self, write: HostWrite, drive: &DriveState) -> StreamId {
        if drive.write_clock() >= self.next_epoch {
            self.divide(drive);
        }
        let known = write.hint.lifetime != Lifetime::UNKNOWN;
        let lifetime = if known { write.hint.lifetime.mean } else { self.logical_pages };
        self.writing = Some((write.lpn, lifetime));
        let step = self.scale.step_of(lifetime as f32);
        let stream = self.sharing.on_host_page(ONLY_SET, step);
        self.count(stream, step);
        stream
    }

    #[inline]
    fn place_relocation(&mut self, page: Relocation, _drive: &DriveState) -> StreamId {
        let step = self.scale.step_of(self.lifetimes[page.lpn.index()] as f32);
        self.sharing.on_moved_pages(ONLY_SET, step, 1);
        let stream = self.sharing.stream_of(ONLY_SET, step);
        self.count(stream, step);
        stream
    }

    #[inline]
    fn on_written(&mut self, _to: ftlab_flash::Ppn, _stream: StreamId) {
        // Until now, what is known is of the version before.
        if let Some((lpn, lifetime)) = self.writing.take() {
            self.lifetimes[lpn.index()] = lifetime;
        }
    }

    fn select_victims(&mut self, drive: &DriveState, victims: &mut Victims) {
        let most = victims.valid_pages_max().min(drive.pages_per_block() - 1);
        let blocks = drive.host_blocks();
        let fitting = blocks.filter(|&block| {
            drive.phase(block) == Phase::Sealed && drive.valid_pages(block) <= most
        });
        let scored = fitting.map(|block| (self.score(block, drive), block));
        let earlier = |a: BlockId, b: BlockId| drive.allocated(b).cmp(&drive.allocated(a));
        let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| earlier(a.1, b.1)));
        if let Some((_, block)) = best {
            victims.push(block, drive.valid_pages(block));
        }
    }

    fn block_score(&self, block: BlockId, drive: &DriveState) -> Option<BlockScore> {
        Some(BlockScore { formula: "(1 - u)^2 / (u h)", value: self.score(block, drive) })
    }

    fn on_block_sealed(&mut self, block: BlockId, drive: &DriveState) {
        self.rates[block.index()] = self.rate_of(block, drive);
        self.open[drive.stream_of(block).index()] = (0, 0);
        let open = self.open_blocks(drive);
        self.sharing.on_sealed(ONLY_SET, |stream| *open.get(stream.index())?);
    }

    #[inline]
    fn on_invalidate(&mut self, block: BlockId, drive: &DriveState) {
        if drive.phase(block) != Phase::Sealed {
            return;
        }
        match self.writing {
            Some((lpn, _)) => self.rates[block.index()] -= self.rate(lpn),
            None => self.trimmed = Some(block),
        }
    }

    /// They are of an open block.
    fn on_pages_lost(&mut self, _block: BlockId, _pages: u32, _drive: &DriveState) {}

    fn on_trim(&mut self, lpn: Lpn, _drive: &DriveState) {
        if let Some(block) = self.trimmed.take() {
            self.rates[block.index()] -= self.rate(lpn);
        }
    }

    /// The mean lifetime of every page, and the sum of every block.
    fn metadata(&self) -> Metadata {
        Metadata::per_page(f64::from(u32::BITS)) + Metadata::per_block(u64::BITS)
    }

    fn memory_bytes(&self) -> usize {
        size_of_val(&self.lifetimes[..]) + size_of_val(&self.rates[..])
    }

    fn check(&self, drive: &DriveState) -> Result<(), String> {
        let blocks = drive.host_blocks();
        for block in blocks.filter(|&block| drive.phase(block) == Phase::Sealed) {
            let (kept, sum) = (self.rates[block.index()], self.rate_of(block, drive));
            if kept != sum {
                return Err(format!("the rates of block {block} add up to {sum}, not {kept}"));
            }
        }
        Ok(())
    }
}
