//! Whether blocks lose pages at different rates, or only as chance has it.
//!
//! A block that is expected to lose m pages in an epoch loses m on average, with a variance of m if
//! chance alone decides. What the variance has beyond that, divided by m^2, is the squared coefficient of
//! variation of the blocks' rates. Rates that are spread so, as a gamma distribution is, are known
//! beforehand as well as if each block had been seen to lose 1 / spread pages at the mean rate.

use crate::state::state;

/// What is left of the sums after an epoch.
const DECAY: f32 = 0.9;

/// The least spread that is told from none.
const SPREAD_MIN: f32 = 1e-4;

/// How much the rates differ at which blocks lose pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spread {
    /// Sum over blocks and epochs of (lost - m)^2 - m, m being what a block would lose at the rate of all.
    excess: f32,
    /// Sum of m^2.
    squares: f32,
    /// Pages of evidence, if the spread is 1.
    weight: f32,
    common_pages: f32,
}

state!(Spread { excess, squares, common_pages } constant weight);

impl Spread {
    pub(super) fn new(weight: f64) -> Self {
        Self { excess: 0.0, squares: 0.0, weight: weight as f32, common_pages: 0.0 }
    }

    /// Pages of evidence for the rate that all blocks have in common.
    #[inline]
    pub(super) fn common_pages(&self) -> f32 {
        self.common_pages
    }

    /// An epoch has passed. `losses` are, for each block, the pages that it lost and those that it had to
    /// lose, in the mean over the epoch.
    pub(super) fn after_epoch<I: Iterator<Item = (f32, f32)>>(
        mut self,
        losses: impl Fn() -> I,
    ) -> Self {
        let sum = |a: (f32, f32), b: (f32, f32)| (a.0 + b.0, a.1 + b.1);
        let (lost, pages) = losses().fold((0.0, 0.0), sum);
        let share = lost / pages.max(1.0);
        let terms = losses().map(|(lost, pages)| {
            let expected = share * pages;
            ((lost - expected).powi(2) - expected, expected * expected)
        });
        let (excess, squares) = terms.fold((0.0, 0.0), sum);
        self.excess = DECAY * self.excess + excess;
        self.squares = DECAY * self.squares + squares;
        if self.squares > 0.0 {
            // Of rates that do not differ, chance makes a spread as large as that.
            let by_chance = 2.0 * (2.0 / self.squares).sqrt();
            let spread = self.excess / self.squares - by_chance;
            // What chance could hide is not ruled out: blocks that all hold a mixture look alike.
            self.common_pages = self.weight / spread.max(by_chance).max(SPREAD_MIN);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pages of common evidence after twenty epochs, in which each of 200 blocks loses some of 100 pages,
    /// `chance` of them a block by a random number of 20 bits.
    fn common_pages(chance: impl Fn(usize) -> u32) -> f32 {
        let mut spread = Spread::new(1.0);
        let mut random = 1_u64;
        for _ in 0..20 {
            let losses: Vec<_> = (0..200)
                .map(|block| {
                    let lost = (0..100).filter(|_| {
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        ((random >> 44) as u32) < chance(block)
                    });
                    let lost = lost.count() as f32;
                    (lost, 100.0 - 0.5 * lost)
                })
                .collect();
            spread = spread.after_epoch(|| losses.iter().copied());
        }
        spread.common_pages()
    }

    #[test]
    fn chance_is_told_from_rates_that_differ() {
        let eighth = 1 << 17;
        assert!(common_pages(|_| eighth) > 100.0, "they do not differ");
        // By a half each way, so that the spread is a quarter; pages that are lost have no second chance.
        let quarter = common_pages(|block| [eighth / 2, eighth / 2 * 3][block % 2]);
        assert!((3.0..5.0).contains(&quarter), "{quarter}");
        let ten_hot = common_pages(|block| if block < 10 { 8 * eighth } else { eighth });
        assert!(ten_hot < 1.0, "{ten_hot}");
    }

    #[test]
    fn without_losses_nothing_is_known() {
        assert!(common_pages(|_| 0).abs() < f32::EPSILON);
        let spread = Spread::new(1.0).after_epoch(std::iter::empty);
        assert!(spread.common_pages().abs() < f32::EPSILON);
    }
}
