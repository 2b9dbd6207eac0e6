//! Ranks drawn after Zipf: rank r (from 0) with a probability of about (r + 1)^-theta.
//!
//! # Reference
//! J. Gray et al., Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994, section 3.2.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::sync::Mutex;

/// Ranks of 0..n.
#[derive(Debug, Clone)]
pub(super) struct Ranks {
    pub(super) numbers: u64,
    /// The sum of i^-theta over all i.
    pub(super) zeta: f64,
    /// The weight of ranks 0 and 1 together: 1 + 2^-theta.
    zeta_2: f64,
    alpha: f64,
    eta: f64,
}

/// Terms of the sum that are added up; fio adds no more.
pub(super) const ZETA_TERMS_MAX: u64 = 10_000_000;

impl Ranks {
    /// Ranks of 0..`numbers`, with the sum given; theta is not 1.
    pub(super) fn with_zeta(numbers: u64, theta: f64, zeta: f64) -> Self {
        let zeta_2 = 1.0 + 0.5f64.powf(theta);
        Self {
            numbers,
            zeta,
            zeta_2,
            alpha: 1.0 / (1.0 - theta),
            eta: (1.0 - (2.0 / numbers as f64).powf(1.0 - theta)) / (1.0 - zeta_2 / zeta),
        }
    }

    /// Ranks of 0..`numbers`; theta is not 1. Behind ten million terms, the sum is an integral.
    pub(super) fn new(numbers: u64, theta: f64) -> Self {
        let numbers = numbers.max(1);
        let terms = numbers.min(ZETA_TERMS_MAX);
        let power = |end: u64| (end as f64 + 0.5).powf(1.0 - theta) / (1.0 - theta);
        let zeta = zeta(terms, theta) + power(numbers) - power(terms);
        Self::with_zeta(numbers, theta, zeta)
    }

    /// The rank at `uniform`, a number in 0..=1; `numbers` itself may come of 1.
    #[inline]
    pub(super) fn at(&self, uniform: f64) -> u64 {
        let weight = uniform * self.zeta;
        if weight < 1.0 {
            0
        } else if weight < self.zeta_2 {
            1
        } else {
            // Not fused: fio's compiler does not, and the last bit counts.
            (self.numbers as f64 * (self.eta * uniform - self.eta + 1.0).powf(self.alpha)) as u64
        }
    }

    /// Draws a rank.
    #[inline]
    pub(super) fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let uniform = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
        self.at(uniform).min(self.numbers - 1)
    }

    /// Draws a rank and returns the number that has it: ranks lie scattered over 0..n, each in one
    /// place.
    #[inline]
    pub(super) fn draw_scattered(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        // A prime, so that no two ranks below 2^32 meet.
        const MULTIPLIER: u64 = 2_654_435_761;
        self.draw(random).wrapping_mul(MULTIPLIER) % self.numbers
    }
}

/// The sum of i^-theta over i = 1..=`terms`, in fio's order and rounding; remembered, because ten
/// million powers take a tenth of a second.
pub(super) fn zeta(terms: u64, theta: f64) -> f64 {
    static KNOWN: Mutex<Vec<((u64, u64), f64)>> = Mutex::new(Vec::new());
    let key = (terms, theta.to_bits());
    let known = || KNOWN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, sum)) = known().iter().find(|(present, _)| *present == key) {
        return *sum;
    }
    let sum = (1..=terms).map(|i| (1.0 / i as f64).powf(theta)).fold(0.0, |sum, term| sum + term);
    known().push((key, sum));
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::SeedableRng;
    use std::collections::BTreeSet;

    #[test]
    fn every_number_has_a_rank_of_its_own() {
        let ranks = Ranks::new(1000, 0.5);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let drawn: BTreeSet<u64> = (0..30_000).map(|_| ranks.draw_scattered(&mut random)).collect();
        assert_eq!((drawn.len(), drawn.last().copied()), (1000, Some(999)));
    }

    #[test]
    fn the_smallest_sets_work() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for numbers in [1, 2, 3] {
            let ranks = Ranks::new(numbers, 0.99);
            assert!((0..1000).all(|_| ranks.draw_scattered(&mut random) < numbers));
        }
    }
}
