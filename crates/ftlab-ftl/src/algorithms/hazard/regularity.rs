//! Whether pages die on time, as those of a circular log do: all after the same while.
//!
//! Lives that end at random at one rate have an exponential distribution. That is a Weibull distribution of shape 1;
//! the larger the shape, the more regular they are. Of shapes 2 and 4 that one is taken that makes it likelier what lives
//! were, by how long was expected of them. Of those that ended by a move it is known that they were longer. The scale is
//! that which fits best, so the logarithm of the likelihood is, for n lives x of which m ended, and but for a constant,
//!
//! ```text
//! m ln k  +  (k - 1) (sum of ln x that ended)  -  m ln (sum of x^k)
//! ```

use crate::state::state;

/// Lives that end before anything is concluded.
const ENDED_MIN: f64 = 10.0;

/// A life counts as that many times as long as expected, at most.
const TIMES_MAX: f32 = 4.0;

/// And as that many at least, since it has a logarithm.
const TIMES_MIN: f32 = 1.0 / 1024.0;

/// Sums over lives lately, each by how long was expected of it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Regularity {
    ended: f64,
    /// Of the logarithms of those that ended.
    logs: f64,
    /// Of the second and the fourth powers of all.
    squares: f64,
    fourths: f64,
}

state!(Regularity { ended, logs, squares, fourths });

impl Regularity {
    /// A life of `times` as long as expected, which the host ended, or a move.
    pub(super) fn add(&mut self, times: f32, has_ended: bool) {
        let times = times.clamp(TIMES_MIN, TIMES_MAX);
        let square = times * times;
        self.squares += f64::from(square);
        self.fourths += f64::from(square * square);
        if has_ended {
            self.ended += 1.0;
            self.logs += f64::from(times.ln());
        }
    }

    /// Whether a shape of 4 is likelier than one of 2.
    pub(super) fn is_high(&self) -> bool {
        let likelier =
            2_f64.ln() + 2.0 * self.logs / self.ended + (self.squares / self.fourths).ln();
        self.ended >= ENDED_MIN && likelier > 0.0
    }

    /// What was counted so far counts `share` of that from now on.
    pub(super) fn decay(&mut self, share: f64) {
        for sum in [&mut self.ended, &mut self.logs, &mut self.squares, &mut self.fourths] {
            *sum *= share;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether lives drawn from a Weibull distribution of that shape are regular, those being moved that reach
    /// `moved_at`.
    fn is_high(shape: f32, moved_at: f32) -> bool {
        let mut regularity = Regularity::default();
        for drawn in 0..1000 {
            let life = (-((drawn as f32 + 0.5) / 1000.0).ln()).powf(1.0 / shape);
            regularity.add(life.min(moved_at), life < moved_at);
        }
        regularity.is_high()
    }

    #[test]
    fn lives_that_end_on_time_are_told_from_those_that_end_at_random() {
        for moved_at in [0.7, 0.9, 10.0] {
            assert!(is_high(4.0, moved_at) && is_high(12.0, moved_at), "{moved_at}");
            assert!(!is_high(1.0, moved_at) && !is_high(2.0, moved_at), "{moved_at}");
        }
    }

    #[test]
    fn few_lives_tell_nothing_and_old_ones_are_forgotten() {
        let mut regularity = Regularity::default();
        (0..9).for_each(|_| regularity.add(1.0, true));
        assert!(!regularity.is_high());
        (0..90).for_each(|_| regularity.add(1.0, true));
        assert!(regularity.is_high());
        regularity.decay(0.01);
        assert!(!regularity.is_high());
        (0..100).for_each(|_| regularity.add(0.0, true));
        assert!(!regularity.is_high(), "a life of no time has a logarithm, too");
    }
}
