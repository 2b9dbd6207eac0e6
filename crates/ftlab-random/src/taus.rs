//! The random numbers of fio, kept for one purpose: to repeat its sequences exactly.
//!
//! Taus88: L'Ecuyer, Maximally Equidistributed Combined Tausworthe Generators, Mathematics of Computation
//! 65 (1996) 203-213; period 2^88. Taus258, with 64 bits: L'Ecuyer, Tables of Maximally Equidistributed
//! Combined LFSR Generators, Mathematics of Computation 68 (1999) 261-269; period 2^258.

/// 2^32, by which a number of 32 bits is divided for one in 0..1.
const NARROW_SPAN: f64 = 4_294_967_296.0;

/// 2^64, for a number of 64 bits.
const WIDE_SPAN: f64 = NARROW_SPAN * NARROW_SPAN;

/// What C makes of "2^31 + 2^17 + 2^7", with which fio begins to seed: (2 xor 31) + (2 xor 17) +
/// (2 xor 7).
const SEEDING: u32 = 53;

/// Outputs that are thrown away after seeding.
const DISCARDED: usize = 6;

/// Three shift registers, whose sum modulo 2 is the output.
#[derive(Debug, Clone)]
pub struct Taus88 {
    registers: [u32; 3],
}

impl Taus88 {
    /// Seeds as fio does: a linear congruential step per register, each lifted if too
    /// low, and six outputs thrown away.
    pub fn from_fio_seed(seed: u32) -> Self {
        let mut state = SEEDING;
        let registers = [1, 7, 15].map(|least| {
            state = state.wrapping_mul(69_069) ^ seed;
            state = if state < least { state + least } else { state };
            state
        });
        let mut random = Self { registers };
        for _ in 0..DISCARDED {
            random.next_u32();
        }
        random
    }

    /// The next number.
    #[inline]
    pub fn next_u32(&mut self) -> u32 {
        let [s1, s2, s3] = self.registers;
        self.registers = [
            ((s1 & !1) << 12) ^ (((s1 << 13) ^ s1) >> 19),
            ((s2 & !7) << 4) ^ (((s2 << 2) ^ s2) >> 25),
            ((s3 & !15) << 17) ^ (((s3 << 3) ^ s3) >> 11),
        ];
        self.registers[0] ^ self.registers[1] ^ self.registers[2]
    }

    /// A number in 1..=`most`.
    #[inline]
    pub fn one_to(&mut self, most: u32) -> u32 {
        1 + (f64::from(most) * (f64::from(self.next_u32()) / NARROW_SPAN)) as u32
    }
}

/// Five shift registers of 64 bits, whose sum modulo 2 is the output.
#[derive(Debug, Clone)]
pub struct Taus258 {
    registers: [u64; 5],
}

impl Taus258 {
    /// Seeds as fio does.
    fn from_fio_seed(seed: u64) -> Self {
        let mut state = u64::from(SEEDING);
        let registers = [1, 7, 15, 33, 49].map(|least| {
            state = state.wrapping_mul(6_906_969_069) ^ seed;
            state = if state < least { state + least } else { state };
            state
        });
        let mut random = Self { registers };
        for _ in 0..DISCARDED {
            random.next_u64();
        }
        random
    }

    /// The next number.
    #[inline]
    fn next_u64(&mut self) -> u64 {
        // Of each register: how far it is shifted for the feedback, forward and back, the low bits that
        // are dropped, and how far the rest moves.
        const STEPS: [(u32, u32, u32, u32); 5] =
            [(1, 53, 1, 10), (24, 50, 9, 5), (3, 23, 12, 29), (5, 24, 17, 23), (3, 33, 23, 8)];
        for (register, (left, right, dropped, shift)) in self.registers.iter_mut().zip(STEPS) {
            let feedback = ((*register << left) ^ *register) >> right;
            *register = ((*register >> dropped << dropped) << shift) ^ feedback;
        }
        self.registers.iter().fold(0, |sum, register| sum ^ register)
    }
}

/// Either, as `random_generator` chooses.
#[derive(Debug, Clone)]
pub enum Random {
    /// Of 32 bits.
    Narrow(Taus88),
    /// Of 64 bits.
    Wide(Taus258),
}

impl Random {
    /// Seeded as fio does; of a narrow one, the low 32 bits of the seed count.
    pub fn new(seed: u64, is_wide: bool) -> Self {
        if is_wide {
            Self::Wide(Taus258::from_fio_seed(seed))
        } else {
            Self::Narrow(Taus88::from_fio_seed(seed as u32))
        }
    }

    /// The next number, and the largest that there is.
    #[inline]
    pub fn draw(&mut self) -> (u64, u64) {
        match self {
            Self::Narrow(random) => (u64::from(random.next_u32()), u64::from(u32::MAX)),
            Self::Wide(random) => (random.next_u64(), u64::MAX),
        }
    }

    /// A number in 1..=`most`.
    #[inline]
    pub fn one_to(&mut self, most: u32) -> u32 {
        match self {
            Self::Narrow(random) => random.one_to(most),
            Self::Wide(random) => {
                1 + (f64::from(most) * (random.next_u64() as f64 / WIDE_SPAN)) as u32
            }
        }
    }

    /// The next number as a share, in 0..1; of a wide one, rounding may make it 1.
    #[inline]
    pub fn share(&mut self) -> f64 {
        match self {
            Self::Narrow(random) => f64::from(random.next_u32()) / NARROW_SPAN,
            Self::Wide(random) => random.next_u64() as f64 / WIDE_SPAN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_seed_gets_stuck() {
        // The third seed makes the first register 0 for ever, in fio too: it lifts a register of 0
        // to 1, which is still one too low. The other two carry on.
        for seed in [0, 1, 53u32.wrapping_mul(69_069), u32::MAX] {
            let mut random = Taus88::from_fio_seed(seed);
            let drawn: Vec<u32> = (0..100).map(|_| random.next_u32()).collect();
            let distinct: std::collections::BTreeSet<_> = drawn.iter().collect();
            assert!(distinct.len() == 100, "seed {seed}: {distinct:?}");
        }
    }

    #[test]
    fn wide_numbers_differ_and_are_balanced() {
        let mut random = Random::new(42, true);
        let drawn: Vec<u64> = (0..10_000).map(|_| random.draw().0).collect();
        let distinct: std::collections::BTreeSet<_> = drawn.iter().collect();
        let ones: u32 = drawn.iter().map(|number| number.count_ones()).sum();
        // 640,000 tosses: a deviation of 2,000 is five standard deviations.
        assert!(distinct.len() == 10_000 && ones.abs_diff(320_000) < 2_000, "{ones}");
    }

    #[test]
    fn draws_within_bounds_reach_both() {
        let mut random = Taus88::from_fio_seed(7);
        let drawn: Vec<u32> = (0..10_000).map(|_| random.one_to(100)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&1), Some(&100)));
    }

    #[test]
    fn bits_are_balanced() {
        let mut random = Taus88::from_fio_seed(42);
        let mut ones = [0u32; 32];
        for _ in 0..100_000 {
            let drawn = random.next_u32();
            for (bit, count) in ones.iter_mut().enumerate() {
                *count += drawn >> bit & 1;
            }
        }
        // 100,000 tosses: a deviation of 800 is five standard deviations.
        assert!(ones.iter().all(|count| count.abs_diff(50_000) < 800), "{ones:?}");
    }
}
