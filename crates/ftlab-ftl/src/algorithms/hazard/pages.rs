//! What is expected of every page, where blocks are too few to know it.

use crate::algorithms::hazard::lifetimes::{STEPS, Scale};
use crate::page::entry::DriveShape;
use crate::page::{Drive, Phase};
use crate::state::state;
use crate::{Metadata, hardware};
use ftlab_flash::{BlockId, Lpn};

/// Bits of the sum of the rates of a block's pages.
const SUM_BITS: u32 = 48;

/// The rate of a lifetime of as many host writes as there are logical pages: rates are whole, so that sums of
/// them stay exact.
const RATE_OF_ALL: f32 = (1 << 16) as f32;

/// A byte for each logical page: the step of the lifetime that is expected of it.
pub(super) struct Pages {
    scale: Scale,
    /// Logical page -> the step of its lifetime.
    steps: Vec<u8>,
    /// Block -> the sum of the rates of its valid pages, if it is sealed.
    rates: Vec<u64>,
    /// Step -> rate.
    rate_of: [u64; STEPS],
    logical_pages: f32,
    /// The page that the host is writing, and the step that it will have.
    writing: Option<(Lpn, u8)>,
    /// The block that a page left which is being trimmed.
    trimmed: Option<BlockId>,
}

state!(
    Pages { steps, rates, writing, trimmed }
    constant scale, rate_of, logical_pages
);

impl Pages {
    pub(super) fn new(scale: Scale, shape: DriveShape) -> Self {
        let logical_pages = shape.logical_pages as f32;
        let rate = |step: usize| RATE_OF_ALL * logical_pages / scale.lifetime(step as u8);
        Self {
            scale,
            steps: hardware::table(shape.logical_pages as usize, 0),
            rates: vec![0; shape.blocks as usize],
            rate_of: std::array::from_fn(|step| rate(step) as u64),
            logical_pages,
            writing: None,
            trimmed: None,
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        hardware::prefetch(&self.steps, lpn.index());
    }

    /// The host rewrites a page of this age: the step that is expected of it from then on, the mean of what was
    /// expected and of what it was.
    #[inline]
    pub(super) fn rewritten(&self, lpn: Lpn, age: f32) -> u8 {
        let lifetime = self.scale.lifetime(self.steps[lpn.index()]);
        self.scale.step_of(0.5 * (lifetime + age))
    }

    /// The host is about to write a page, of which a lifetime of `step` is expected then. Until it is written, what
    /// is known is of the version before.
    #[inline]
    pub(super) fn begin_write(&mut self, lpn: Lpn, step: u8) {
        self.writing = Some((lpn, step));
    }

    /// The host has written it.
    #[inline]
    pub(super) fn end_write(&mut self) {
        if let Some((lpn, step)) = self.writing.take() {
            self.steps[lpn.index()] = step;
        }
    }

    /// A page is moved that has lived for `age` where it was: the step that is expected of it from now on.
    #[inline]
    pub(super) fn moved(&mut self, lpn: Lpn, age: f32) -> u8 {
        let step = &mut self.steps[lpn.index()];
        *step = self.scale.step_of(self.scale.lifetime(*step) + age);
        *step
    }

    /// The lifetime of the valid pages of a sealed block, in the harmonic mean: the inverse of their mean rate.
    #[inline]
    pub(super) fn lifetime(&self, block: BlockId, drive: &Drive) -> f32 {
        let pages = drive.valid_pages(block) as f32;
        let rates = self.rates[block.index()].max(1) as f32;
        RATE_OF_ALL * self.logical_pages * pages / rates
    }

    pub(super) fn on_sealed(&mut self, block: BlockId, drive: &Drive) {
        self.rates[block.index()] = self.sum_of(block, drive);
    }

    /// A page of `block` is invalid.
    #[inline]
    pub(super) fn on_invalidate(&mut self, block: BlockId, drive: &Drive) {
        if drive.phase(block) == Phase::Sealed {
            match self.writing {
                Some((lpn, _)) => self.rates[block.index()] -= self.rate(lpn),
                None => self.trimmed = Some(block),
            }
        }
    }

    pub(super) fn on_trim(&mut self, lpn: Lpn) {
        if let Some(block) = self.trimmed.take() {
            self.rates[block.index()] -= self.rate(lpn);
        }
    }

    #[inline]
    fn rate(&self, lpn: Lpn) -> u64 {
        self.rate_of[usize::from(self.steps[lpn.index()])]
    }

    fn sum_of(&self, block: BlockId, drive: &Drive) -> u64 {
        drive.valid_owners(block).map(|lpn| self.rate(lpn)).sum()
    }

    /// Seven bits tell the steps apart, which a controller would keep in a byte; a sum for every block.
    pub(super) fn metadata() -> Metadata {
        Metadata::per_page(8.0) + Metadata::per_block(SUM_BITS)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.steps[..]) + size_of_val(&self.rates[..])
    }

    /// Verifies the sums.
    pub(super) fn check(&self, drive: &Drive) -> Result<(), String> {
        let blocks = (0..drive.geometry().blocks()).map(BlockId);
        for block in blocks.filter(|&block| drive.phase(block) == Phase::Sealed) {
            let (kept, sum) = (self.rates[block.index()], self.sum_of(block, drive));
            if kept != sum {
                return Err(format!("the rates of block {block} add up to {sum}, not {kept}"));
            }
        }
        Ok(())
    }
}
