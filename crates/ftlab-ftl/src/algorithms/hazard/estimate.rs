//! The rate at which a block loses its pages, from what was expected of them and what it lost.

use crate::algorithms::hazard::lifetimes::Scale;
use crate::state::state;

/// Ages beyond this many host writes count as this: signed numbers convert faster.
pub(super) const AGE_MAX: u32 = i32::MAX.cast_unsigned();

/// What is kept of a block that is not open.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record {
    /// Mean write clock of its pages when they were programmed there, modulo 2^32.
    pub(super) stamp: u32,
    /// Mean step of the lifetimes expected of its pages.
    pub(super) step: u8,
    pub(super) history: History,
    /// Valid pages now, and at the older snapshots of epochs and of parts.
    pub(super) valid: u32,
    pub(super) valid_then: u32,
    pub(super) valid_lately: u32,
}

/// What happened to a block, and how long ago: a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct History {
    bits: u8,
}

state!(History { bits });

impl History {
    const OPENED_IN_EPOCH: u8 = 1;
    const OPENED_IN_LAST_EPOCH: u8 = 1 << 1;
    const SEALED_IN_EPOCH: u8 = 1 << 2;
    const SEALED_IN_LAST_EPOCH: u8 = 1 << 3;
    const SEALED_IN_PART: u8 = 1 << 4;
    const SEALED_IN_LAST_PART: u8 = 1 << 5;
    const SEALED: u8 = 1 << 6;

    /// Bits that it takes.
    pub(super) const BITS: u32 = 7;

    /// That of a block that is opened.
    pub(super) const fn opened() -> Self {
        Self { bits: Self::OPENED_IN_EPOCH }
    }

    /// It is sealed.
    pub(super) const fn sealed(self) -> Self {
        let now = Self::SEALED | Self::SEALED_IN_EPOCH | Self::SEALED_IN_PART;
        Self { bits: self.bits | now }
    }

    /// A part of an epoch is over.
    #[inline]
    pub(super) const fn after_part(self) -> Self {
        let last = Self::SEALED_IN_LAST_PART;
        Self { bits: self.bits & !(Self::SEALED_IN_PART | last) | self.bits << 1 & last }
    }

    /// An epoch is over.
    #[inline]
    pub(super) const fn after_epoch(self) -> Self {
        let lasts = Self::OPENED_IN_LAST_EPOCH | Self::SEALED_IN_LAST_EPOCH;
        let all = lasts | Self::OPENED_IN_EPOCH | Self::SEALED_IN_EPOCH;
        Self { bits: self.bits & !all | self.bits << 1 & lasts }
    }

    /// Whether it is full, and not erased since.
    #[inline]
    pub(super) const fn is_sealed(self) -> bool {
        self.bits & Self::SEALED != 0
    }

    /// Whether it was opened since the older snapshot of epochs.
    #[inline]
    const fn is_new(self) -> bool {
        self.bits & (Self::OPENED_IN_EPOCH | Self::OPENED_IN_LAST_EPOCH) != 0
    }

    /// Whether it was sealed since that.
    #[inline]
    const fn was_open(self) -> bool {
        self.bits & (Self::SEALED_IN_EPOCH | Self::SEALED_IN_LAST_EPOCH) != 0
    }

    /// Whether it was sealed since the older snapshot of parts.
    #[inline]
    const fn was_open_lately(self) -> bool {
        self.bits & (Self::SEALED_IN_PART | Self::SEALED_IN_LAST_PART) != 0
    }
}

/// What the estimates of all blocks have in common at one moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) scale: Scale,
    /// The write clock, modulo 2^32.
    pub(super) now: u32,
    /// Pages of a block.
    pub(super) pages: f32,
    /// Host writes since the older snapshots of epochs and of parts.
    pub(super) since_then: f32,
    pub(super) since_lately: f32,
    /// Pages that the prior counts for, and those that it counts for in what blocks lost lately.
    pub(super) prior: f32,
    pub(super) lately_prior: f32,
    /// Whether something is expected of pages that the host writes, by which blocks just sealed are judged.
    pub(super) expects: bool,
}

/// What is known of a block's update rate.
#[derive(Debug, Clone, Copy)]
pub(super) struct Estimate {
    /// Mean age of its pages in host writes, at least 1.
    pub(super) age: f32,
    /// What was expected of their lifetimes when they were programmed there, in the geometric mean.
    lifetime: f32,
    /// Valid pages.
    valid: f32,
    /// What is expected of pages that have reached their age.
    expected: f32,
    /// The posterior hazard rate, before the division.
    losses: Losses,
}

/// Evidence of a rate, which is the first by the second.
#[derive(Debug, Clone, Copy)]
struct Losses {
    pages: f32,
    exposure: f32,
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

    #[inline]
    fn and(self, other: Self) -> Self {
        Self { pages: self.pages + other.pages, exposure: self.exposure + other.exposure }
    }

    /// What is known before what a block lost lately: the rate that follows from these. What counts is the ratio of both.
    #[inline]
    fn and_lately(self, lately: Self, prior: f32) -> Self {
        // As lately + Losses::known(prior, self.exposure / self.pages), but for a division.
        Self {
            pages: (lately.pages + prior) * self.pages,
            exposure: lately.exposure * self.pages + prior * self.exposure,
        }
    }
}

impl Moment {
    /// That of a block that is not open. Without branches, since it is worked out for many blocks at once.
    ///
    /// Pages lost since the older snapshot, and the page-writes through which pages lived meanwhile, correct what the
    /// lifetime expected of them and their age let expect. The rate that follows is in turn what is expected of what was
    /// lost lately. Of blocks sealed since nothing is lost yet, since the pages that go first say little of those that
    /// stay; but if nothing is expected of pages, what they lost is all that tells.
    #[expect(clippy::inline_always, reason = "called for many blocks")]
    #[inline(always)]
    pub(super) fn estimate(&self, record: Record) -> Estimate {
        let age = self.now.wrapping_sub(record.stamp).clamp(1, AGE_MAX).cast_signed() as f32;
        let beforehand = self.estimate_open(record.step, age, record.valid);
        let Estimate { valid, expected, losses: alone, .. } = beforehand;
        let then = record.valid_then.cast_signed() as f32;
        let lately = record.valid_lately.cast_signed() as f32;
        let is_whole = record.history.is_new() || (record.history.was_open() && then < valid);
        let before = if is_whole { self.pages } else { then };
        let writes = if is_whole { age } else { self.since_then };
        let long = Losses::new(before, valid, writes).and(Losses::known(self.prior, expected));
        let lately = Losses::new(lately, valid, self.since_lately);
        let all = long.and_lately(lately, self.lately_prior);
        let is_alone = self.expects && record.history.was_open_lately();
        let losses = Losses {
            pages: if is_alone { alone.pages } else { all.pages },
            exposure: if is_alone { alone.exposure } else { all.exposure },
        };
        Estimate { losses, ..beforehand }
    }

    /// That of an open block with `valid` pages, of which nothing is known but what was expected, and the mean age.
    #[expect(clippy::inline_always, reason = "called for many blocks")]
    #[inline(always)]
    pub(super) fn estimate_open(&self, step: u8, age: f32, valid: u32) -> Estimate {
        let lifetime = self.scale.lifetime(step);
        let expected = lifetime + 2.0 * age;
        let losses = Losses::known(self.lately_prior, expected);
        Estimate { age, lifetime, valid: valid.cast_signed() as f32, expected, losses }
    }
}

impl Estimate {
    /// (1 - u)^2 / (u h_b) of a sealed block of `pages`; infinite for one without valid pages, 0 for a full one.
    #[inline]
    pub(super) fn score(&self, pages: f32) -> f32 {
        let invalid = pages - self.valid;
        invalid * invalid * self.losses.exposure / (self.valid * pages * self.losses.pages)
    }

    /// Root of the prior hazard rate over the posterior one: how much slower the block is than expected.
    #[inline]
    fn factor(&self) -> f32 {
        (self.losses.exposure / (self.losses.pages * self.expected)).sqrt()
    }

    /// How long a page will live that the host rewrites.
    #[inline]
    pub(super) fn rewritten(&self) -> f32 {
        0.5 * (self.factor() * self.lifetime + self.age)
    }

    /// How long a page will live that has survived into a collection.
    pub(super) fn surviving(&self) -> f32 {
        self.factor() * self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a history tells: new, was open, was open lately.
    fn tells(history: History) -> [bool; 3] {
        [history.is_new(), history.was_open(), history.was_open_lately()]
    }

    #[test]
    fn a_history_forgets_after_two_parts_and_two_epochs() {
        let opened = History::opened();
        assert_eq!((tells(opened), opened.is_sealed()), ([true, false, false], false));
        let sealed = opened.after_part().after_epoch().sealed();
        assert_eq!(tells(sealed), [true, true, true]);
        assert_eq!(tells(sealed.after_part()), [true, true, true]);
        assert_eq!(tells(sealed.after_part().after_part()), [true, true, false]);
        let after_epoch = sealed.after_part().after_part().after_epoch();
        assert_eq!(tells(after_epoch), [false, true, false], "opened in the epoch before");
        let after_two = after_epoch.after_epoch();
        assert_eq!((tells(after_two), after_two.is_sealed()), ([false; 3], true));
        assert_eq!(after_two.after_part().after_epoch(), after_two);
    }

    /// A drive of 65,536 pages and blocks of 100, at the end of an epoch.
    fn moment() -> Moment {
        Moment {
            scale: Scale::new(65_536),
            now: 10_000,
            pages: 100.0,
            since_then: 2000.0,
            since_lately: 500.0,
            prior: 5.0,
            lately_prior: 1.25,
            expects: true,
        }
    }

    fn record(history: History, valid: u32, valid_then: u32, valid_lately: u32) -> Record {
        Record { stamp: 4000, step: 100, history, valid, valid_then, valid_lately }
    }

    #[test]
    fn what_a_block_lost_makes_it_faster_or_slower_than_expected() {
        let moment = moment();
        let old = History::opened().sealed().after_part().after_part().after_epoch().after_epoch();
        let rate = |record: Record| {
            let Losses { pages, exposure } = moment.estimate(record).losses;
            f64::from(pages) / f64::from(exposure)
        };
        let expected = moment.estimate(record(old, 60, 60, 60)).expected;
        let prior = 1.0 / f64::from(expected);
        // By the formulas of the rule.
        let (lost, exposure) = (20.0, 70.0 * 2001.0);
        let long = (lost + 5.0) / (exposure + 5.0 / prior);
        let lately = (10.0 + 1.25) / (65.0 * 501.0 + 1.25 / long);
        let found = rate(record(old, 60, 80, 70));
        assert!((found / lately - 1.0).abs() < 1e-5, "{found} instead of {lately}");
        assert!(rate(record(old, 60, 60, 60)) < prior && found > prior);
        // Since it was opened, of all its pages.
        let new = History::opened().sealed().after_part().after_part();
        assert!(rate(record(new, 60, 0, 60)) > rate(record(old, 60, 60, 60)));
        // Nothing is lost yet that counts.
        let sealed = History::opened().sealed();
        assert!((rate(record(sealed, 10, 0, 0)) / prior - 1.0).abs() < 1e-5);
        // It does if nothing was expected of its pages.
        let nothing = Moment { expects: false, ..moment };
        let Losses { pages, exposure } = nothing.estimate(record(sealed, 10, 0, 0)).losses;
        assert!(f64::from(pages) / f64::from(exposure) > 2.0 * prior);
        let open = moment.estimate_open(100, 6000.0, 60);
        assert_eq!(open.losses.pages.to_bits(), 1.25_f32.to_bits());
        assert!((open.expected - expected).abs() < 1.0);
    }
}
