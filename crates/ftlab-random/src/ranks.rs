//! Ranks drawn after Zipf: rank r (from 0) with a probability of about (r + 1)^-theta.
//!
//! # Reference
//! J. Gray et al., Quickly Generating Billion-Record Synthetic Databases, SIGMOD 1994, section 3.2.
//! B. F. Cooper et al., Benchmarking Cloud Serving Systems with YCSB, SoCC 2010, section 5.3: scrambled keys.

use super::draw::draw_share;
use rand_xoshiro::Xoshiro256PlusPlus;
use std::sync::Mutex;

/// Ranks of 0..n.
#[derive(Debug, Clone)]
pub struct Ranks {
    numbers: u64,
    /// The sum of i^-theta over all i.
    zeta: f64,
    /// The weight of ranks 0 and 1 together: 1 + 2^-theta.
    zeta_2: f64,
    alpha: f64,
    eta: f64,
}

/// Terms of the sum that are added up; fio adds no more.
pub const ZETA_TERMS_MAX: u64 = 10_000_000;

impl Ranks {
    /// Ranks of 0..`numbers`, with the sum given; theta is not 1.
    pub fn with_zeta(numbers: u64, theta: f64, zeta: f64) -> Self {
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
    pub fn new(numbers: u64, theta: f64) -> Self {
        let numbers = numbers.max(1);
        let terms = numbers.min(ZETA_TERMS_MAX);
        let power = |end: u64| (end as f64 + 0.5).powf(1.0 - theta) / (1.0 - theta);
        let zeta = zeta(terms, theta) + power(numbers) - power(terms);
        Self::with_zeta(numbers, theta, zeta)
    }

    /// The rank at `uniform`, a number in 0..=1; `numbers` itself may come of 1.
    #[inline]
    pub fn at(&self, uniform: f64) -> u64 {
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

    /// How many there are.
    pub fn numbers(&self) -> u64 {
        self.numbers
    }

    /// A rank from 0 on: the lower, the more often it is drawn.
    #[inline]
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        let uniform = draw_share(random);
        self.at(uniform).min(self.numbers - 1)
    }
}

/// Keys as YCSB's scrambled Zipf distribution draws them: ranks of more items than there are keys, hashed
/// onto these. The ranks behind the first few are shared out evenly, whatever the number of keys.
#[derive(Debug, Clone)]
pub struct ScrambledKeys {
    ranks: Ranks,
    keys: u64,
}

/// Items that YCSB draws from.
const SCRAMBLED_ITEMS: u64 = 10_000_000_000;

impl ScrambledKeys {
    /// Keys of 0..`keys`, at least one; theta is not 1.
    pub fn new(keys: u64, theta: f64) -> Self {
        Self { ranks: Ranks::new(SCRAMBLED_ITEMS, theta), keys: keys.max(1) }
    }

    /// How many there are.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Draws a key.
    #[inline]
    pub fn draw(&self, random: &mut Xoshiro256PlusPlus) -> u64 {
        fnv(self.ranks.draw(random)).cast_signed().unsigned_abs() % self.keys
    }
}

/// The 64-bit hash FNV-1a of the bytes of `number`, the lowest first.
#[inline]
fn fnv(number: u64) -> u64 {
    let step = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    number.to_le_bytes().into_iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// The sum of i^-theta over i = 1..=`terms`, in fio's order and rounding; remembered, because ten
/// million powers take a tenth of a second.
pub fn zeta(terms: u64, theta: f64) -> f64 {
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

    /// With theta 0.99 and 10^10 items, rank 0 has 1 / 26.469 of the draws, which is YCSB's own constant,
    /// and the first thousand ranks 7.7 times as much; the rest is spread evenly over the keys.
    #[test]
    fn keys_are_as_skewed_as_those_of_ycsb() {
        let keys = ScrambledKeys::new(100_000, 0.99);
        assert!((keys.ranks.zeta - 26.469).abs() < 0.001, "{}", keys.ranks.zeta);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut draws = vec![0_u32; 100_000];
        for _ in 0..2_000_000 {
            draws[keys.draw(&mut random) as usize] += 1;
        }
        draws.sort_unstable_by(|one, other| other.cmp(one));
        let share = |keys: usize| f64::from(draws[..keys].iter().sum::<u32>()) / 2e6;
        assert!((share(1) - 1.0 / 26.469).abs() < 0.001, "{}", share(1));
        assert!((0.29..0.31).contains(&share(1000)), "{}", share(1000));
        assert!(draws[99_000] > 0, "no key is cold");
    }

    #[test]
    fn hashes_are_those_of_fnv_1a() {
        assert_eq!(fnv(0), 0xa8c7_f832_281a_39c5);
    }

    #[test]
    fn the_smallest_sets_work() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for numbers in [1, 2, 3] {
            let ranks = Ranks::new(numbers, 0.99);
            assert!((0..1000).all(|_| ranks.draw(&mut random) < numbers));
            let keys = ScrambledKeys::new(numbers, 0.99);
            assert!((0..1000).all(|_| keys.draw(&mut random) < numbers));
        }
    }
}
