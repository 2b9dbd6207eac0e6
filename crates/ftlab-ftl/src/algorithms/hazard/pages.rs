//! What is expected of every page.
//!
//! A page has the lifetime T that is expected of it in host writes, and the number n of its lives from rewrite to rewrite
//! that this rests on: one, two or three. M being their mean, the later counting more once there are more than three, L
//! standing for the life before the first write, and A the time since the last rewrite until the page was moved, T = M + A / n: the inverse of the mean rate of a gamma distribution of shape n. So
//! (n T + a) / (n + 1) = (n M + A + a) / (n + 1) is the mean over one life more of a page that is rewritten at age a, moves
//! included, and one number does for both M and A.
//!
//! Pages that the host wrote and pages that were moved may live longer or shorter than that. Of a sample of
//! pages it is counted how long those of each kind did, by what was expected, and lifetimes of the two kinds are brought
//! to one scale before they are placed. Of those that the host wrote it is counted as well how regular their lives are.

use crate::algorithms::hazard::lifetimes::{
    FINE_STEP_BITS, FINE_STEPS_PER_OCTAVE, Scale, step_of_fine,
};
use crate::algorithms::hazard::regularity::Regularity;
use crate::page::entry::DriveShape;
use crate::state::state;
use crate::{Metadata, memory};
use ftlab_flash::Lpn;

/// How many of its lives a page's lifetime rests on, at most.
const LIVES_MAX: usize = 3;

/// One by one, two, and so on.
const ONE_BY: [f32; LIVES_MAX + 1] = [1.0, 1.0 / 2.0, 1.0 / 3.0, 1.0 / 4.0];

/// What is left of a count after an epoch.
const DECAY: f64 = 0.9;

/// Pages that are taken to have lived as long as was expected.
const PRIOR_PAGES: f64 = 10.0;

/// The most that a page counts as having lived, in lifetimes as expected.
const TIMES_MAX: f32 = 8.0;

/// One page in 2^`SAMPLE_BITS` tells how long pages live, and how regular lives are.
const SAMPLE_BITS: u32 = 3;

#[derive(Debug, Clone, Copy)]
struct Known {
    /// That of the lifetime that is expected of it.
    fine_step: u16,
    /// The lives from rewrite to rewrite that this rests on, one at least.
    lives: usize,
    /// Whether it was moved to where it is.
    was_moved: bool,
}

/// How long pages of one kind lived, lately.
#[derive(Debug, Clone, Copy, Default)]
struct Lives {
    /// Sum of how long they were where they were, by what was expected. On a large drive that is more than `f32` counts.
    times: f64,
    /// How many of them the host rewrote.
    ended: f64,
}

state!(Lives { times, ended });

impl Lives {
    /// How many times as long as expected they live: that of an exponential distribution, of which those that were
    /// moved are known to have lived so long at least.
    fn mean(self) -> f64 {
        (self.times + PRIOR_PAGES) / (self.ended + PRIOR_PAGES)
    }

    fn decay(&mut self) {
        (self.times, self.ended) = (DECAY * self.times, DECAY * self.ended);
    }
}

impl Known {
    const MOVED: u16 = 1 << 15;

    #[inline]
    fn pack(self) -> u16 {
        let moved = if self.was_moved { Self::MOVED } else { 0 };
        self.fine_step | (self.lives as u16 - 1) << FINE_STEP_BITS | moved
    }

    #[inline]
    fn unpack(packed: u16) -> Self {
        let lives = usize::from((packed & !Self::MOVED) >> FINE_STEP_BITS) + 1;
        let fine_step = packed & ((1 << FINE_STEP_BITS) - 1);
        Self { fine_step, lives, was_moved: packed & Self::MOVED != 0 }
    }
}

/// The lifetime that is expected of every page.
///
/// In fine steps: a page that is moved often has outlived a little more each time, which an eighth of an octave
/// would not show.
pub(super) struct Pages {
    scale: Scale,
    /// Logical page -> what is known of it, packed.
    known: Vec<u16>,
    /// A page of which nothing is known.
    first_written: u16,
    /// Pages that the host wrote, and those that were moved.
    written: Lives,
    moved: Lives,
    /// Of pages that the host wrote, and of which more is known than that they were written once.
    regularity: Regularity,
    /// By how many fine steps the lifetimes of written pages are raised, and those of moved ones lowered, when they are
    /// placed.
    raise: i32,
}

state!(
    Pages { known, written, moved, regularity, raise }
    constant scale, first_written
);

impl Pages {
    pub(super) fn new(scale: Scale, shape: DriveShape) -> Self {
        let fine_step = scale.fine_step_of(shape.logical_pages as f32);
        Self {
            scale,
            known: memory::table(shape.logical_pages as usize, 0),
            first_written: Known { fine_step, lives: 1, was_moved: false }.pack(),
            written: Lives::default(),
            moved: Lives::default(),
            regularity: Regularity::default(),
            raise: 0,
        }
    }

    #[inline]
    pub(super) fn prefetch(&self, lpn: Lpn) {
        memory::prefetch(&self.known, lpn.index());
    }

    /// Whether the lifetime expected of a page is at the lower end of the scale. Of one that was never written nothing is
    /// expected: its entry is 0.
    #[inline]
    pub(super) fn is_hottest(&self, lpn: Lpn) -> bool {
        let packed = self.known[lpn.index()];
        packed != 0 && Known::unpack(packed).fine_step == 0
    }

    /// The host writes a page that holds nothing.
    #[inline]
    pub(super) fn first_written(&mut self, lpn: Lpn) {
        self.known[lpn.index()] = self.first_written;
    }

    /// The host rewrites a page that has lived for `age` where it was: the step of a place for it.
    #[inline]
    pub(super) fn rewritten(&mut self, lpn: Lpn, age: f32) -> u8 {
        let packed = &mut self.known[lpn.index()];
        let known = Known::unpack(*packed);
        let (lives, expected) = (known.lives, self.scale.lifetime_of_fine(known.fine_step));
        let lifetime = (lives as f32 * expected + age) * ONE_BY[lives];
        let fine_step = self.scale.fine_step_of(lifetime);
        *packed = Known { fine_step, lives: (lives + 1).min(LIVES_MAX), was_moved: false }.pack();
        if is_sampled(lpn) {
            self.count_stay(known, age / expected, true);
        }
        step_of_fine(fine_step, self.raise)
    }

    /// A page is moved that has lived for `age` where it was: the step of a place for it.
    #[expect(clippy::inline_always, reason = "called for each page")]
    #[inline(always)]
    pub(super) fn moved(&mut self, lpn: Lpn, age: f32) -> u8 {
        let packed = &mut self.known[lpn.index()];
        let known = Known::unpack(*packed);
        let expected = self.scale.lifetime_of_fine(known.fine_step);
        let lifetime = expected + age * ONE_BY[known.lives - 1];
        let fine_step = self.scale.fine_step_of(lifetime);
        *packed = Known { fine_step, was_moved: true, ..known }.pack();
        if is_sampled(lpn) {
            self.count_stay(known, age / expected, false);
        }
        step_of_fine(fine_step, -self.raise)
    }

    /// A page of the sample, of which this was known, was for `times` as long as expected where it was. It left that place
    /// because the host rewrote it (`has_ended`), or because it was moved.
    #[inline(never)]
    fn count_stay(&mut self, known: Known, times: f32, has_ended: bool) {
        let kind = if known.was_moved { &mut self.moved } else { &mut self.written };
        kind.times += f64::from(times.min(TIMES_MAX));
        kind.ended += if has_ended { 1.0 } else { 0.0 };
        if known.lives > 1 && !known.was_moved {
            self.regularity.add(times, has_ended);
        }
    }

    /// Whether pages die on time, rather than at random.
    pub(super) fn are_regular(&self) -> bool {
        self.regularity.is_high()
    }

    /// An epoch has passed: brings both kinds to one scale.
    pub(super) fn on_epoch(&mut self) {
        let octaves = 0.5 * (self.written.mean() / self.moved.mean()).log2();
        self.raise = (octaves * f64::from(FINE_STEPS_PER_OCTAVE)).round() as i32;
        self.written.decay();
        self.moved.decay();
        self.regularity.decay(DECAY);
    }

    /// A fine step, the number of lives and a bit for every page.
    pub(super) fn metadata() -> Metadata {
        Metadata::per_page(f64::from(u16::BITS))
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.known[..])
    }
}

/// Whether a page tells how long pages live, drawn by multiplicative hashing.
#[inline]
fn is_sampled(lpn: Lpn) -> bool {
    lpn.0.wrapping_mul(0x9E37_79B1) >> (u32::BITS - SAMPLE_BITS) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_expected_to_live_as_long_as_in_the_mean_of_its_lives_and_moves_add_to_it() {
        let shape =
            DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1024, reserve_blocks: 4 };
        let mut pages = Pages::new(Scale::new(1024), shape);
        let known = |pages: &Pages| Known::unpack(pages.known[3]);
        let is_about = |pages: &Pages, expected: f32| {
            let lifetime = pages.scale.lifetime_of_fine(known(pages).fine_step);
            assert!((lifetime / expected - 1.0).abs() < 0.02, "{lifetime}, not {expected}");
        };
        pages.first_written(Lpn(3));
        is_about(&pages, 1024.0);
        (0..20).for_each(|_| _ = pages.moved(Lpn(3), 5.0));
        is_about(&pages, 1124.0);
        assert_eq!((known(&pages).lives, known(&pages).was_moved), (1, true));
        let step = pages.rewritten(Lpn(3), 74.0);
        is_about(&pages, 599.0);
        assert_eq!(step, pages.scale.step_of(599.0));
        assert_eq!((known(&pages).lives, known(&pages).was_moved), (2, false));
        pages.moved(Lpn(3), 100.0);
        is_about(&pages, 649.0);
        pages.rewritten(Lpn(3), 24.0);
        // The mean of 1,024, 174 and 124.
        is_about(&pages, 440.7);
        pages.rewritten(Lpn(3), 1640.7);
        is_about(&pages, 740.7);
        assert_eq!(known(&pages).lives, LIVES_MAX, "the later lives count more from now on");
        assert_eq!(pages.known[2], 0, "the others are as they were");
    }

    #[test]
    fn the_hottest_pages_are_those_at_the_lower_end_of_the_scale() {
        let shape =
            DriveShape { blocks: 20, pages_per_block: 64, logical_pages: 1024, reserve_blocks: 4 };
        let mut pages = Pages::new(Scale::new(1024), shape);
        assert!(!pages.is_hottest(Lpn(3)), "never written");
        pages.first_written(Lpn(3));
        assert!(!pages.is_hottest(Lpn(3)));
        (0..100).for_each(|_| _ = pages.rewritten(Lpn(3), 0.9));
        assert!(pages.is_hottest(Lpn(3)));
        pages.rewritten(Lpn(3), 20.0);
        assert!(!pages.is_hottest(Lpn(3)));
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
        let raise = -0.5 * 6_f64.log2() * f64::from(FINE_STEPS_PER_OCTAVE);
        assert!((f64::from(pages.raise) - raise).abs() < 30.0, "{}, not {raise}", pages.raise);
        let octaves = f32::from(place(&mut pages, true) - place(&mut pages, false)) / 8.0;
        assert!((octaves - 6_f32.log2()).abs() < 0.3, "{octaves}");
    }
}
