//! Random permutations of 0..n that need no memory.
//!
//! A Feistel network over pairs (left, right) with left < a, right < b, where a and b are about
//! sqrt(n) and a b >= n: six rounds add a keyed hash of one half to the other. Numbers of the pair
//! that are not below n are sent through again (cycle walking); there are fewer than 2 sqrt(n).
//! (J. Black and P. Rogaway, Ciphers with Arbitrary Finite Domains, CT-RSA 2002, section 5.)

/// With four rounds, numbers that are `rights` apart in order are too often neighbours in place
/// (the tests show it); six are enough.
const ROUNDS: usize = 6;

/// One permutation of 0..n, walked from its first number to its last.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    numbers: u64,
    lefts: u64,
    rights: u64,
    keys: [u64; ROUNDS],
    /// The pair that comes next, and how many have come.
    left: u64,
    right: u64,
    walked: u64,
}

impl Permutation {
    /// A permutation of 0..`numbers` (at least 1) that `keys` chooses.
    pub(super) fn new(numbers: u64, keys: [u64; ROUNDS]) -> Self {
        let root = numbers.isqrt();
        let rights = if root * root == numbers { root } else { root + 1 };
        let lefts = numbers.div_ceil(rights);
        Self { numbers, lefts, rights, keys, left: 0, right: 0, walked: 0 }
    }

    /// The next number; `None` when all have come.
    #[inline]
    pub(super) fn next(&mut self) -> Option<u64> {
        if self.walked == self.numbers {
            return None;
        }
        self.walked += 1;
        let mut number = self.scramble(self.left, self.right);
        while number >= self.numbers {
            number = self.scramble(number / self.rights, number % self.rights);
        }
        self.right += 1;
        if self.right == self.rights {
            self.right = 0;
            self.left += 1;
        }
        Some(number)
    }

    #[inline]
    fn scramble(&self, mut left: u64, mut right: u64) -> u64 {
        for keys in self.keys.as_chunks::<2>().0 {
            left = add_below(left, hash_below(right, keys[0], self.lefts), self.lefts);
            right = add_below(right, hash_below(left, keys[1], self.rights), self.rights);
        }
        left * self.rights + right
    }
}

/// `a + b` modulo `limit`, for both below it.
#[inline]
fn add_below(a: u64, b: u64, limit: u64) -> u64 {
    let sum = a + b;
    if sum >= limit { sum - limit } else { sum }
}

/// A hash of `half` in 0..`limit`, for `limit` up to 2^32.
#[inline]
fn hash_below(half: u64, key: u64, limit: u64) -> u64 {
    let mixed = (half ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    ((mixed >> 32) * limit) >> 32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_comes_once(numbers in 1u64..5000, keys in any::<[u64; ROUNDS]>()) {
            let mut permutation = Permutation::new(numbers, keys);
            let mut walked: Vec<u64> = std::iter::from_fn(|| permutation.next()).collect();
            walked.sort_unstable();
            prop_assert_eq!(walked, (0..numbers).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_largest_sets_stay_inside() {
        for numbers in [(1 << 40) + 1, u64::MAX >> 9] {
            let mut permutation =
                Permutation::new(numbers, [u64::MAX / 3, 2, 3, u64::MAX / 5, 5, 6]);
            assert!((0..1000).all(|_| permutation.next().unwrap() < numbers), "{numbers}");
        }
    }

    #[test]
    fn neighbours_in_order_are_strangers_in_place() {
        let numbers = 100_000;
        for seed in 0..5u64 {
            let keys = std::array::from_fn(|round| {
                (seed * 8 + round as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9)
            });
            let mut permutation = Permutation::new(numbers, keys);
            let walked: Vec<u64> = std::iter::from_fn(|| permutation.next()).collect();
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
    fn first_numbers_are_uniform_over_keys() {
        let mut counts = [0u32; 100];
        for key in 0..100_000u64 {
            let keys = std::array::from_fn(|round| {
                (key * 8 + round as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(23)
            });
            counts[Permutation::new(100, keys).next().unwrap() as usize] += 1;
        }
        let chi_square: f64 =
            counts.iter().map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0).sum();
        // 99 degrees of freedom: mean 99, standard deviation 14.
        assert!((30.0..200.0).contains(&chi_square), "{chi_square}");
    }
}
