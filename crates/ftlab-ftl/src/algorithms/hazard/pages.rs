//! What is expected of every page, where blocks are too few to know it.

use crate::algorithms::hazard::lifetimes::{STEPS, Scale, step_of_fine};
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

/// The lifetime that is expected of every page.
///
/// In fine steps: a page that is moved often has outlived a little more each time, which an eighth of an octave
/// would not show.
pub(super) struct Pages {
    scale: Scale,
    /// Logical page -> the fine step of its lifetime.
    steps: Vec<u16>,
    /// Block -> the sum of the rates of its valid pages, if it is sealed.
    rates: Vec<u64>,
    /// Step -> rate.
    rate_of: [u64; STEPS],
    logical_pages: f32,
    /// The page that the host is writing, and the fine step that it will have.
    writing: Option<(Lpn, u16)>,
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

    /// The host is about to write a page that holds nothing.
    #[inline]
    pub(super) fn begin_first_write(&mut self, lpn: Lpn) {
        self.writing = Some((lpn, self.scale.fine_step_of(self.logical_pages)));
    }

    /// The host is about to rewrite a page of this age: the step that is expected of it from then on, the mean of
    /// what was expected and of what it was. Until it is written, what is known is of the version before.
    #[inline]
    pub(super) fn begin_rewrite(&mut self, lpn: Lpn, age: f32) -> u8 {
        let lifetime = self.scale.lifetime_of_fine(self.steps[lpn.index()]);
        let step = self.scale.fine_step_of(0.5 * (lifetime + age));
        self.writing = Some((lpn, step));
        step_of_fine(step)
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
        *step = self.scale.fine_step_of(self.scale.lifetime_of_fine(*step) + age);
        step_of_fine(*step)
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
        self.rate_of[usize::from(step_of_fine(self.steps[lpn.index()]))]
    }

    fn sum_of(&self, block: BlockId, drive: &Drive) -> u64 {
        drive.valid_owners(block).map(|lpn| self.rate(lpn)).sum()
    }

    /// A fine step for every page, a sum for every block.
    pub(super) fn metadata() -> Metadata {
        Metadata::per_page(f64::from(u16::BITS)) + Metadata::per_block(SUM_BITS)
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

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: DriveShape =
        DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1024, reserve_blocks: 4 };

    fn lifetime(pages: &Pages, lpn: u32) -> f32 {
        pages.scale.lifetime_of_fine(pages.steps[lpn as usize])
    }

    #[test]
    fn a_rewrite_halves_the_way_to_what_a_page_lived_and_moves_add_to_it() {
        let mut pages = Pages::new(Scale::new(1024), SHAPE);
        pages.begin_first_write(Lpn(3));
        pages.end_write();
        assert!((lifetime(&pages, 3) / 1024.0 - 1.0).abs() < 1e-3, "nothing is known");
        (0..20).for_each(|_| _ = pages.moved(Lpn(3), 5.0));
        assert!((lifetime(&pages, 3) / 1124.0 - 1.0).abs() < 0.01, "also what is little each time");
        let before = lifetime(&pages, 3);
        let step = pages.begin_rewrite(Lpn(3), 24.0);
        assert_eq!(lifetime(&pages, 3).to_bits(), before.to_bits(), "until it is written");
        pages.end_write();
        assert!((lifetime(&pages, 3) / 574.0 - 1.0).abs() < 0.01);
        assert_eq!(step, pages.scale.step_of(574.0));
    }

    #[test]
    fn rates_are_inverse_to_lifetimes() {
        let mut pages = Pages::new(Scale::new(1024), SHAPE);
        for lpn in [1, 2] {
            pages.begin_first_write(Lpn(lpn));
            pages.end_write();
        }
        pages.begin_rewrite(Lpn(2), 1.0);
        pages.end_write();
        let ratio = pages.rate(Lpn(2)) as f32 / pages.rate(Lpn(1)) as f32;
        assert!((ratio / 2.0 - 1.0).abs() < 0.01, "{ratio}");
        assert!(pages.rate_of.is_sorted_by(|a, b| a > b), "{:?}", pages.rate_of);
    }
}
