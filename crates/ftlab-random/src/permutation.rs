//! Random permutations of 0..n in O(sqrt(n)) memory.
//!
//! A Feistel network over pairs (left, right) with left < a, right < b, where a and b are about
//! sqrt(n) and a b >= n: six rounds add a random function of one half to the other. Each function is
//! a table of random numbers, which is faster than a hash of the same quality and 24 bytes x sqrt(n)
//! large: 50 KB for a drive of 16 GiB. Numbers of the pair that are not below n are sent through
//! again (cycle walking); there are fewer than 2 sqrt(n). (J. Black and P. Rogaway, Ciphers with
//! Arbitrary Finite Domains, CT-RSA 2002, section 5.)

use super::draw::draw_below;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Two rounds, of which there are three. With two such pairs, numbers that are `rights` apart in
/// order are too often neighbours in place (a test shows it).
#[derive(Debug, Clone)]
struct RoundPair {
    /// For every right half, what is added to the left one.
    to_left: Vec<u32>,
    /// For every left half, what is added to the right one.
    to_right: Vec<u32>,
}

/// Largest set that is permuted: the tables then take 24 MB.
pub const NUMBERS_MAX: u64 = 1 << 40;

/// One permutation of 0..n, walked from its first number to its last.
#[derive(Debug, Clone)]
pub struct Permutation {
    numbers: u64,
    lefts: u32,
    rights: u32,
    rounds: [RoundPair; 3],
    /// The pair that comes next, and how many have come.
    left: u32,
    right: u32,
    walked: u64,
}

impl Permutation {
    /// A random permutation of 0..`numbers`, at least 1 and at most [`NUMBERS_MAX`] of them.
    pub fn new(numbers: u64, random: &mut Xoshiro256PlusPlus) -> Self {
        assert!((1..=NUMBERS_MAX).contains(&numbers), "{numbers} numbers");
        let root = numbers.isqrt();
        let rights = if root * root == numbers { root } else { root + 1 };
        let lefts = numbers.div_ceil(rights);
        let rounds = std::array::from_fn(|_| RoundPair {
            to_left: vec![0; rights as usize],
            to_right: vec![0; lefts as usize],
        });
        let (lefts, rights) = (lefts as u32, rights as u32);
        let mut permutation = Self { numbers, lefts, rights, rounds, left: 0, right: 0, walked: 0 };
        permutation.redraw(random);
        permutation
    }

    /// Begins another random permutation of the same numbers.
    pub fn redraw(&mut self, random: &mut Xoshiro256PlusPlus) {
        for round in &mut self.rounds {
            let lefts = u64::from(self.lefts);
            round.to_left.fill_with(|| draw_below(random, lefts) as u32);
            let rights = u64::from(self.rights);
            round.to_right.fill_with(|| draw_below(random, rights) as u32);
        }
        (self.left, self.right, self.walked) = (0, 0, 0);
    }

    /// The number at `index`, below the numbers permuted, whatever has been walked.
    #[inline]
    pub fn at(&self, index: u64) -> u64 {
        let rights = u64::from(self.rights);
        self.place((index / rights) as u32, (index % rights) as u32)
    }

    /// Where the pair goes, sent through again while that is not below `numbers`.
    #[inline]
    fn place(&self, left: u32, right: u32) -> u64 {
        let mut number = self.scramble(left, right);
        while number >= self.numbers {
            let rights = u64::from(self.rights);
            number = self.scramble((number / rights) as u32, (number % rights) as u32);
        }
        number
    }

    #[inline]
    fn scramble(&self, mut left: u32, mut right: u32) -> u64 {
        for round in &self.rounds {
            left = add_below(left, round.to_left[right as usize], self.lefts);
            right = add_below(right, round.to_right[left as usize], self.rights);
        }
        u64::from(left) * u64::from(self.rights) + u64::from(right)
    }
}

/// `a + b` modulo `limit`, for both below it; halves are at most 2^20, so nothing overflows.
#[inline]
fn add_below(a: u32, b: u32, limit: u32) -> u32 {
    let sum = a + b;
    sum.min(sum.wrapping_sub(limit))
}

impl Iterator for Permutation {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        if self.walked == self.numbers {
            return None;
        }
        self.walked += 1;
        let number = self.place(self.left, self.right);
        self.right += 1;
        if self.right == self.rights {
            self.right = 0;
            self.left += 1;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_xoshiro::rand_core::SeedableRng;

    fn permutation(numbers: u64, seed: u64) -> Permutation {
        Permutation::new(numbers, &mut Xoshiro256PlusPlus::seed_from_u64(seed))
    }

    proptest! {
        #[test]
        fn every_number_comes_once(numbers in 1u64..5000, seed: u64) {
            let mut permutation = permutation(numbers, seed);
            let mut walked: Vec<u64> = permutation.by_ref().collect();
            prop_assert_eq!(&walked, &(0..numbers).map(|index| permutation.at(index)).collect::<Vec<_>>());
            walked.sort_unstable();
            prop_assert_eq!(walked, (0..numbers).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_largest_sets_stay_inside() {
        for numbers in [(1 << 32) + 1, NUMBERS_MAX - 1, NUMBERS_MAX] {
            let mut permutation = permutation(numbers, 1);
            assert!((0..1000).all(|_| permutation.next().unwrap() < numbers), "{numbers}");
        }
    }

    #[test]
    fn neighbours_in_order_are_strangers_in_place() {
        let numbers = 100_000;
        for seed in 0..5 {
            let mut permutation = permutation(numbers, seed);
            let walked: Vec<u64> = permutation.by_ref().collect();
            for distance in [1, 2, 317] {
                let mut bins = [0u32; 100];
                for (a, b) in walked.iter().zip(&walked[distance..]) {
                    bins[((b + numbers - a) % numbers * 100 / numbers) as usize] += 1;
                }
                let expected = (walked.len() - distance) as f64 / 100.0;
                let chi_square: f64 =
                    bins.iter().map(|n| (f64::from(*n) - expected).powi(2) / expected).sum();
                // 99 degrees of freedom: mean 99, standard deviation 14.
                assert!(chi_square < 180.0, "seed {seed}, distance {distance}: {chi_square}");
            }
        }
    }

    #[test]
    fn first_numbers_are_uniform_over_seeds() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut permutation = Permutation::new(100, &mut random);
        let mut counts = [0u32; 100];
        for _ in 0..100_000 {
            permutation.redraw(&mut random);
            counts[permutation.next().unwrap() as usize] += 1;
        }
        let chi_square: f64 =
            counts.iter().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        // 99 degrees of freedom: mean 99, standard deviation 14.
        assert!((30.0..200.0).contains(&chi_square), "{chi_square}");
    }
}
