//! Uniform random numbers: below a limit, and below 1.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;

/// A number below `limit`, uniform but for a bias below `limit` / 2^64.
#[inline]
pub fn draw_below(random: &mut Xoshiro256PlusPlus, limit: u64) -> u64 {
    scale_below(random.next_u64(), limit)
}

/// A number in 0..1, a multiple of 2^-53.
#[inline]
pub fn draw_share(random: &mut Xoshiro256PlusPlus) -> f64 {
    (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The number below `limit` that `random`, of all numbers, stands for.
#[inline]
pub fn scale_below(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}
