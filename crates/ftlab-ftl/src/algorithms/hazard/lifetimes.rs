//! Lifetimes on a scale of eighths of an octave.

use crate::algorithms::hazard::score_board::{STEPS_PER_OCTAVE_BITS, steps};

pub(super) const CLASSES: usize = 32;

/// Steps of a class, as a power of two.
const STEPS_PER_CLASS_BITS: u32 = 2;

/// Bits by which a fine step divides a step.
const FINE_BITS: u32 = 6;

/// Bits of a number's mantissa that are finer than a fine step.
const FINE_SHIFT: u32 = f32::MANTISSA_DIGITS - 1 - STEPS_PER_OCTAVE_BITS - FINE_BITS;

/// Steps of the scale.
const STEPS: u32 = (CLASSES as u32) << STEPS_PER_CLASS_BITS;

pub(super) const FINE_STEP_BITS: u32 = STEPS.ilog2() + FINE_BITS;

/// Into how many fine steps an octave is divided.
pub(super) const FINE_STEPS_PER_OCTAVE: u32 = 1 << (STEPS_PER_OCTAVE_BITS + FINE_BITS);

/// How wide a class is.
pub(super) const OCTAVES_PER_CLASS: f32 = 0.5;

/// Octaves of the scale below a lifetime of as many host writes as there are pages.
pub(super) const OCTAVES_BELOW: u32 = 10;

/// Lifetimes of 16 octaves, from a 1,024th of the logical pages to 64 times all of them in host writes;
/// those beyond count as the nearest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    /// What stands for step 0.
    origin: i32,
}

impl Scale {
    pub(super) fn new(logical_pages: u32) -> Self {
        let below = (OCTAVES_BELOW << STEPS_PER_OCTAVE_BITS).cast_signed();
        Self { origin: steps(logical_pages as f32) - below }
    }

    /// The step of a lifetime in host writes.
    #[inline]
    pub(super) fn step_of(self, lifetime: f32) -> u8 {
        (steps(lifetime) - self.origin).clamp(0, STEPS.cast_signed() - 1) as u8
    }

    /// The fine step of a lifetime in host writes: its step, and how far within that step it lies.
    #[inline]
    pub(super) fn fine_step_of(self, lifetime: f32) -> u16 {
        let fine_steps =
            (lifetime.to_bits() >> FINE_SHIFT).cast_signed() - (self.origin << FINE_BITS);
        fine_steps.clamp(0, (STEPS << FINE_BITS).cast_signed() - 1) as u16
    }

    /// The lifetime in the middle of a fine step, in host writes.
    #[inline]
    pub(super) fn lifetime_of_fine(self, fine_step: u16) -> f32 {
        let fine_steps = ((self.origin << FINE_BITS) + i32::from(fine_step)).cast_unsigned();
        f32::from_bits((2 * fine_steps + 1) << (FINE_SHIFT - 1))
    }

    /// The lifetime in the middle of a step, in host writes.
    #[inline]
    pub(super) fn lifetime(self, step: u8) -> f32 {
        let steps = (self.origin + i32::from(step)).cast_unsigned();
        f32::from_bits((2 * steps + 1) << (f32::MANTISSA_DIGITS - 2 - STEPS_PER_OCTAVE_BITS))
    }
}

/// The step of a lifetime that is longer by `raise` fine steps than that of `fine_step`. A lifetime beyond the scale counts
/// as its end before that.
#[inline]
pub(super) fn step_of_fine(fine_step: u16, raise: i32) -> u8 {
    ((i32::from(fine_step) + raise) >> FINE_BITS).clamp(0, STEPS.cast_signed() - 1) as u8
}

#[inline]
pub(super) fn class_of(step: u8) -> usize {
    usize::from(step >> STEPS_PER_CLASS_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_eighths_of_an_octave_around_the_logical_pages() {
        let scale = Scale::new(65_536);
        let steps = [1.0, 64.0, 127.9, 65_536.0, 131_071.0, 131_072.0, 1e12];
        assert_eq!(steps.map(|lifetime| scale.step_of(lifetime)), [0, 0, 7, 80, 87, 88, 127]);
        assert_eq!((class_of(3), class_of(4), class_of(127)), (0, 1, CLASSES - 1));
        for step in 0..128 {
            let middle = scale.lifetime(step);
            assert_eq!(scale.step_of(middle), step);
            assert_eq!(scale.step_of(middle * 1.03), step);
        }
        assert!((scale.lifetime(80) / 65_536.0 - 1.0625).abs() < 1e-5);
    }

    #[test]
    fn fine_steps_divide_steps() {
        let scale = Scale::new(65_536);
        for lifetime in [1.0, 64.0, 777.7, 65_536.0, 131_071.0, 1e6, 1e12] {
            let fine = scale.fine_step_of(lifetime);
            assert_eq!((fine >> FINE_BITS) as u8, scale.step_of(lifetime), "{lifetime}");
            assert_eq!(scale.fine_step_of(scale.lifetime_of_fine(fine)), fine, "{lifetime}");
        }
        assert!((scale.lifetime_of_fine(scale.fine_step_of(777.7)) / 777.7 - 1.0).abs() < 1.2e-3);
    }
}
