//! What is expected of every page, where blocks are too few to tell.
//!
//! A page has the lifetime T that is expected of it in host writes: the mean of what it lived from rewrite to
//! rewrite, the later counting more, plus the time that it has lived since the last one until it was moved.
//! So (T + a) / 2 is the mean of what was expected of a page that is rewritten at age a and of what it lived, moves
//! included, and one number does for both.
//!
//! Pages that the host wrote and pages that were moved may live longer or shorter than that. It is counted how long
//! those of each kind did, by what was expected, and lifetimes of the two kinds are brought to one scale before they are
//! placed.

use crate::algorithms::hazard::lifetimes::Scale;
use crate::page::entry::DriveShape;
use crate::state::state;
use crate::{Metadata, hardware};
use ftlab_flash::Lpn;

/// The bit of a page that was moved to where it is; the others are its fine step.
const MOVED: u16 = 1 << 15;

/// What is left of a count after an epoch.
const DECAY: f32 = 0.9;

/// Pages that are taken to have lived as long as was expected.
const PRIOR_PAGES: f32 = 10.0;

/// A page counts as having lived so many times as long as was expected, at most.
const TIMES_MAX: f32 = 8.0;

/// How long pages of one kind lived, lately.
#[derive(Debug, Clone, Copy, Default)]
struct Lives {
    /// Sum of how long they were where they were, by what was expected.
    times: f32,
    /// How many of them the host rewrote.
    ended: f32,
}

state!(Lives { times, ended });

impl Lives {
    /// How many times as long as expected they live: that of an exponential distribution, of which those that were
    /// moved are known to have lived so long at least.
    fn mean(self) -> f32 {
        (self.times + PRIOR_PAGES) / (self.ended + PRIOR_PAGES)
    }

    fn decay(&mut self) {
        (self.times, self.ended) = (DECAY * self.times, DECAY * self.ended);
    }
}

/// The lifetime that is expected of every page.
///
/// In fine steps: a page that is moved often has outlived a little more each time, which an eighth of an octave
/// would not show.
pub(super) struct Pages {
    scale: Scale,
    /// Logical page -> the fine step of its lifetime, and whether it was moved.
    steps: Vec<u16>,
    /// That of a page of which nothing is known.
    first_step: u16,
    /// Pages that the host wrote, and those that were moved.
    written: Lives,
    moved: Lives,
    /// By how much the lifetimes of written pages are multiplied, and those of moved ones divided, when they are placed.
    factor: f32,
}

state!(Pages { steps, written, moved, factor } constant scale, first_step);

impl Pages {
    pub(super) fn new(scale: Scale, shape: DriveShape) -> Self {
        Self {
            scale,
            steps: hardware::table(shape.logical_pages as usize, 0),
            first_step: scale.fine_step_of(shape.logical_pages as f32),
            written: Lives::default(),
            moved: Lives::default(),
            factor: 1.0,
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

    /// The host rewrites a page that has lived for `age` where it was: the step of a place for it.
    #[inline]
    pub(super) fn rewritten(&mut self, lpn: Lpn, age: f32) -> u8 {
        let (lifetime, lives) = self.end_stay(lpn, age);
        lives.ended += 1.0;
        let lifetime = 0.5 * (lifetime + age);
        self.steps[lpn.index()] = self.scale.fine_step_of(lifetime);
        self.scale.step_of(lifetime * self.factor)
    }

    /// A page is moved that has lived for `age` where it was: the step of a place for it.
    #[inline]
    pub(super) fn moved(&mut self, lpn: Lpn, age: f32) -> u8 {
        let (lifetime, _) = self.end_stay(lpn, age);
        let lifetime = lifetime + age;
        self.steps[lpn.index()] = self.scale.fine_step_of(lifetime) | MOVED;
        self.scale.step_of(lifetime / self.factor)
    }

    /// A page leaves the place where it has lived for `age`: the lifetime that was expected of it there, and the lives
    /// among which it counts.
    #[inline]
    fn end_stay(&mut self, lpn: Lpn, age: f32) -> (f32, &mut Lives) {
        let step = self.steps[lpn.index()];
        let lifetime = self.scale.lifetime_of_fine(step & !MOVED);
        let lives = if step & MOVED == 0 { &mut self.written } else { &mut self.moved };
        lives.times += (age / lifetime).min(TIMES_MAX);
        (lifetime, lives)
    }

    /// An epoch has passed: brings both kinds to one scale.
    pub(super) fn on_epoch(&mut self) {
        self.factor = (self.written.mean() / self.moved.mean()).sqrt();
        self.written.decay();
        self.moved.decay();
    }

    /// A fine step for every page, and a bit.
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
        let lifetime = |pages: &Pages| pages.scale.lifetime_of_fine(pages.steps[3] & !MOVED);
        pages.first_written(Lpn(3));
        assert!((lifetime(&pages) / 1024.0 - 1.0).abs() < 1e-3, "nothing is known");
        (0..20).for_each(|_| _ = pages.moved(Lpn(3), 5.0));
        assert!((lifetime(&pages) / 1124.0 - 1.0).abs() < 0.01, "also what is little each time");
        let step = pages.rewritten(Lpn(3), 24.0);
        assert!((lifetime(&pages) / 574.0 - 1.0).abs() < 0.01);
        assert_eq!(step, pages.scale.step_of(574.0));
        assert_eq!(pages.steps[2], 0, "the others are as they were");
    }

    #[test]
    fn written_and_moved_pages_are_placed_by_how_long_each_kind_lives() {
        let shape =
            DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1024, reserve_blocks: 4 };
        let mut pages = Pages::new(Scale::new(1024), shape);
        (0..1000).map(Lpn).for_each(|lpn| pages.first_written(lpn));
        let place = |pages: &mut Pages, moved: bool| {
            pages.first_written(Lpn(1001));
            if moved { pages.moved(Lpn(1001), 1.0) } else { pages.rewritten(Lpn(1001), 1024.0) }
        };
        assert_eq!(place(&mut pages, true), place(&mut pages, false));
        for lpn in (0..1000).map(Lpn) {
            // Of the 1,024 host writes that were expected, half; once moved, six times as many as then expected.
            pages.moved(lpn, 512.0);
            pages.rewritten(lpn, 6.0 * 1536.0);
            pages.first_written(lpn);
            pages.rewritten(lpn, 512.0);
        }
        pages.on_epoch();
        // One in two written pages was moved after half of its lifetime, so both halves make one; a ratio of six.
        assert!((pages.factor * pages.factor * 6.0 - 1.0).abs() < 0.1, "{}", pages.factor);
        let octaves = f32::from(place(&mut pages, true) - place(&mut pages, false)) / 8.0;
        assert!((octaves - 6_f32.log2()).abs() < 0.3, "{octaves}");
    }
}
