//! `random_generator=lfsr`: a shift register that passes every number below a bound once.
//!
//! The register has the fewest bits, at least 3, that hold more states than there are numbers; states
//! that are no number are passed over. Its feedback is an exclusive nor, so the state of all ones is
//! forbidden. The tap positions are those of maximal length in P. Alfke, Efficient Shift Registers, LFSR
//! Counters, and Long Pseudo-Random Sequence Generators, Xilinx XAPP 052, 1996.

/// Bits, from 3 on -> tap positions from 1, the highest first.
const TAPS: [&[u32]; 61] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
    &[45, 44, 42, 41],
    &[46, 45, 26, 25],
    &[47, 42],
    &[48, 47, 21, 20],
    &[49, 40],
    &[50, 49, 24, 23],
    &[51, 50, 36, 35],
    &[52, 49],
    &[53, 52, 38, 37],
    &[54, 53, 18, 17],
    &[55, 31],
    &[56, 55, 35, 34],
    &[57, 50],
    &[58, 39],
    &[59, 58, 38, 37],
    &[60, 59],
    &[61, 60, 46, 45],
    &[62, 61, 6, 5],
    &[63, 62],
];

/// Numbers below a bound, each once, and then none until it is reset.
#[derive(Debug, Clone)]
pub(super) struct Lfsr {
    numbers: u64,
    top: u64,
    taps: u64,
    state: u64,
    drawn: u64,
    /// fio takes its very first step twice.
    is_new: bool,
}

impl Lfsr {
    /// Of the numbers below `numbers`; `None` if there is no register so long, or the seed gives it the
    /// forbidden state, which fio refuses too.
    pub(super) fn new(numbers: u64, seed: u64) -> Option<Self> {
        let taps = TAPS.into_iter().find(|taps| 1_u64 << taps[0] > numbers)?;
        let top = 1 << (taps[0] - 1);
        let taps = taps.iter().fold(0, |mask, tap| mask | 1 << (tap - 1));
        let mut lfsr = Self { numbers, top, taps, state: 0, drawn: 0, is_new: true };
        lfsr.reset(seed);
        (lfsr.state != lfsr.states()).then_some(lfsr)
    }

    /// From the first number again.
    pub(super) fn reset(&mut self, seed: u64) {
        self.drawn = 0;
        self.state = seed & self.states();
    }

    /// All ones.
    fn states(&self) -> u64 {
        (self.top << 1) - 1
    }

    /// The next number; `None` after all.
    #[inline]
    pub(super) fn draw(&mut self) -> Option<u64> {
        if self.drawn == self.numbers {
            return None;
        }
        self.drawn += 1;
        loop {
            if std::mem::take(&mut self.is_new) {
                self.step();
            }
            self.step();
            if self.state < self.numbers {
                return Some(self.state);
            }
        }
    }

    #[inline]
    fn step(&mut self) {
        let feedback = if self.state & 1 == 0 { self.taps } else { 0 };
        self.state = (self.state >> 1 | self.top) ^ feedback;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_in_each_pass() {
        for numbers in [1, 2, 7, 8, 9, 100, 1000, 4095, 4096] {
            let mut lfsr = Lfsr::new(numbers, 12_345).unwrap();
            for pass in 0..3 {
                let mut drawn: Vec<u64> = std::iter::from_fn(|| lfsr.draw()).collect();
                drawn.sort_unstable();
                assert!(drawn.into_iter().eq(0..numbers), "{numbers} numbers, pass {pass}");
                lfsr.reset(54_321);
            }
        }
    }

    #[test]
    fn the_forbidden_state_and_too_many_numbers_are_refused() {
        assert!(Lfsr::new(7, 7).is_none() && Lfsr::new(7, 6).is_some());
        assert!(Lfsr::new(1 << 63, 1).is_none());
    }
}
