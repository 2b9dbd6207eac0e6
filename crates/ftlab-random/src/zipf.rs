//! fio's zipf distribution, number for number.

use super::taus::Taus88;
use crate::ranks::{Ranks, ZETA_TERMS_MAX, zeta};

/// By what fio multiplies a rank to spread it over the drive, modulo 2^64.
pub const SPREAD: u64 = 0x61c8_8646_80b5_83eb;

/// Numbers of 0..n, some more often than others.
#[derive(Debug, Clone)]
pub struct Zipf {
    random: Taus88,
    ranks: Ranks,
    /// n - 1 where that makes `%` a mask.
    mask: Option<u64>,
    multiplier: u64,
    offset: u64,
}

impl Zipf {
    /// Of `numbers`, with an exponent other than 1; the hottest is at `centre`, a share of them, or
    /// anywhere if that is `None`.
    pub fn new(numbers: u64, theta: f64, centre: Option<f64>, multiplier: u64, seed: u32) -> Self {
        let mut random = Taus88::from_fio_seed(seed);
        let first = u64::from(random.next_u32());
        Self {
            random,
            ranks: Ranks::with_zeta(numbers, theta, zeta(numbers.min(ZETA_TERMS_MAX), theta)),
            mask: numbers.is_power_of_two().then_some(numbers - 1),
            multiplier,
            offset: centre.map_or(first, |centre| (numbers as f64 * centre) as u64),
        }
    }

    /// Where rank 0 is, modulo the numbers.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next number.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        let rank = self.ranks.at(f64::from(self.random.next_u32()) / f64::from(u32::MAX));
        let spread = rank.wrapping_mul(self.multiplier).wrapping_add(self.offset);
        match self.mask {
            Some(mask) => spread & mask,
            None => spread % self.ranks.numbers(),
        }
    }
}
