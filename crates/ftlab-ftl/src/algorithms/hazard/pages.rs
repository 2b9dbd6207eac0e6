//! What is expected of every page, where blocks are too few to tell.
//!
//! A page has the lifetime T that is expected of it in host writes: the mean of what it lived from rewrite to
//! rewrite, the later counting more, plus the time that it has lived since the last one until it was moved.
//! So (T + a) / 2 is the mean of what was expected of a page that is rewritten at age a and of what it lived, moves
//! included, and one number does for both.

use crate::algorithms::hazard::lifetimes::{Scale, step_of_fine};
use crate::page::entry::DriveShape;
use crate::state::state;
use crate::{Metadata, hardware};
use ftlab_flash::Lpn;

/// The lifetime that is expected of every page.
///
/// In fine steps: a page that is moved often has outlived a little more each time, which an eighth of an octave
/// would not show.
pub(super) struct Pages {
    scale: Scale,
    /// Logical page -> the fine step of its lifetime.
    steps: Vec<u16>,
    /// That of a page of which nothing is known.
    first_step: u16,
}

state!(Pages { steps } constant scale, first_step);

impl Pages {
    pub(super) fn new(scale: Scale, shape: DriveShape) -> Self {
        Self {
            scale,
            steps: hardware::table(shape.logical_pages as usize, 0),
            first_step: scale.fine_step_of(shape.logical_pages as f32),
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        hardware::prefetch(&self.steps, lpn.index());
    }

    /// The host writes a page that holds nothing.
    #[inline]
    pub(super) fn first_written(&mut self, lpn: Lpn) {
        self.steps[lpn.index()] = self.first_step;
    }

    /// The host rewrites a page that has lived for `age` where it was: the step that is expected of it from now on.
    #[inline]
    pub(super) fn rewritten(&mut self, lpn: Lpn, age: f32) -> u8 {
        self.change(lpn, |lifetime| 0.5 * (lifetime + age))
    }

    /// A page is moved that has lived for `age` where it was: the step that is expected of it from now on.
    #[inline]
    pub(super) fn moved(&mut self, lpn: Lpn, age: f32) -> u8 {
        self.change(lpn, |lifetime| lifetime + age)
    }

    #[inline]
    fn change(&mut self, lpn: Lpn, lifetime: impl FnOnce(f32) -> f32) -> u8 {
        let step = &mut self.steps[lpn.index()];
        *step = self.scale.fine_step_of(lifetime(self.scale.lifetime_of_fine(*step)));
        step_of_fine(*step)
    }

    /// A fine step for every page.
    pub(super) fn metadata() -> Metadata {
        Metadata::per_page(f64::from(u16::BITS))
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.steps[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rewrite_goes_half_the_way_to_what_a_page_lived_and_moves_add_to_it() {
        let shape =
            DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1024, reserve_blocks: 4 };
        let mut pages = Pages::new(Scale::new(1024), shape);
        let lifetime = |pages: &Pages| pages.scale.lifetime_of_fine(pages.steps[3]);
        pages.first_written(Lpn(3));
        assert!((lifetime(&pages) / 1024.0 - 1.0).abs() < 1e-3, "nothing is known");
        (0..20).for_each(|_| _ = pages.moved(Lpn(3), 5.0));
        assert!((lifetime(&pages) / 1124.0 - 1.0).abs() < 0.01, "also what is little each time");
        let step = pages.rewritten(Lpn(3), 24.0);
        assert!((lifetime(&pages) / 574.0 - 1.0).abs() < 0.01);
        assert_eq!(step, pages.scale.step_of(574.0));
        assert_eq!(pages.steps[2], 0, "the others are as they were");
    }
}
