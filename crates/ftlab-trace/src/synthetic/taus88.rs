//! Taus88, the random numbers of fio.
//!
//! L'Ecuyer, Maximally Equidistributed Combined Tausworthe Generators, Mathematics of Computation
//! 65 (1996) 203-213; period 2^88. Kept for one purpose: to repeat fio's sequences exactly.

/// Three shift registers, whose sum modulo 2 is the output.
#[derive(Debug, Clone)]
pub(super) struct Taus88 {
    registers: [u32; 3],
}

impl Taus88 {
    /// Seeds as fio does: a linear congruential step per register, each lifted if too
    /// low, and six outputs thrown away.
    pub(super) fn from_fio_seed(seed: u32) -> Self {
        // 53 is (2 xor 31) + (2 xor 17) + (2 xor 7): what C makes of "2^31 + 2^17 + 2^7".
        let mut state = 53u32;
        let registers = [1, 7, 15].map(|least| {
            state = state.wrapping_mul(69_069) ^ seed;
            state = if state < least { state + least } else { state };
            state
        });
        let mut random = Self { registers };
        for _ in 0..6 {
            random.next_u32();
        }
        random
    }

    /// The next number.
    #[inline]
    pub(super) fn next_u32(&mut self) -> u32 {
        let [s1, s2, s3] = self.registers;
        self.registers = [
            ((s1 & !1) << 12) ^ (((s1 << 13) ^ s1) >> 19),
            ((s2 & !7) << 4) ^ (((s2 << 2) ^ s2) >> 25),
            ((s3 & !15) << 17) ^ (((s3 << 3) ^ s3) >> 11),
        ];
        self.registers[0] ^ self.registers[1] ^ self.registers[2]
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
