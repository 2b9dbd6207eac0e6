//! Random draws that are part of the state of a drive, so that a resumed one draws alike.

use crate::state::state;

/// The xorshift generator (Marsaglia, "Xorshift RNGs", 2003).
#[derive(Debug, Clone)]
pub(crate) struct Random {
    /// Never 0.
    bits: u64,
}

state!(Random { bits });

impl Random {
    /// Draws that depend on `seed` only.
    pub(crate) fn new(seed: u64) -> Self {
        // Spreads small seeds over all bits; odd, hence not 0 for any of them but one.
        Self { bits: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).max(1) }
    }

    /// A number below `end`, or 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.bits ^= self.bits << 13;
        self.bits ^= self.bits >> 7;
        self.bits ^= self.bits << 17;
        ((u128::from(self.bits) * end as u128) >> 64) as usize
    }
}
