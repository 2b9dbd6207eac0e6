//! Which drive to try next, to find the smallest that meets a target in few runs.
//!
//! What is moved falls about as a power of the spare flash. So two drives tell where a third is that just meets the
//! target; one alone tells it by the power of -1, as under uniform writes. The guess only saves runs: an answer has a drive
//! that meets the target, and one that misses it, however they were found.

/// Guesses in a row that may leave more than half: the first is next to where the target is met, on one side of it, and the
/// second on the other.
const SLOW_MAX: u32 = 2;

/// What is known of a drive: its spare flash, as a share of the logical capacity, and how far it is from the target, as a
/// logarithm, which is above 0 if it misses; none if it could not be run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tried {
    pub(super) op: f64,
    pub(super) gap: Option<f64>,
}

/// The spare flash at which a target is just met, by the drive that was tried last and, if there is one, another.
pub(super) fn expected(last: Tried, other: Option<Tried>) -> Option<f64> {
    let gap = last.gap?;
    let power = other.and_then(|other| {
        let power = (gap - other.gap?) / (last.op / other.op).ln();
        // Noise may make it rise, or hardly fall.
        (power.is_finite() && power < -0.2).then_some(power)
    });
    let op = last.op * (-gap / power.unwrap_or(-1.0)).exp();
    op.is_finite().then_some(op)
}

/// A drive that misses the target and a larger one that meets it, and what is between.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bracket {
    pub(super) missed: (u32, Tried),
    pub(super) met: (u32, Tried),
    /// Blocks with which nothing would be spare.
    pub(super) data_blocks: f64,
    /// Blocks to which the answer has to be known.
    pub(super) step: u32,
    /// Drives in a row that left more than half of it.
    pub(super) slow: u32,
}

impl Bracket {
    /// The blocks of the drive to try next; none if it is small enough.
    pub(super) fn next(&self) -> Option<u32> {
        let (missed, met) = (self.missed.0, self.met.0);
        let width = met - missed;
        if width <= self.step {
            return None;
        }
        let middle = missed + width / 2;
        if self.slow >= SLOW_MAX || width <= 2 * self.step {
            return Some(middle);
        }
        let Some(op) = expected(self.met.1, Some(self.missed.1)) else { return Some(middle) };
        // Half a step more: if it meets the target, one a step smaller misses it.
        let blocks = self.data_blocks * (1.0 + op) + 0.5 * f64::from(self.step);
        Some((blocks.round() as u32).clamp(missed + self.step, met - self.step))
    }

    /// It with a drive between, that meets the target or misses it.
    pub(super) fn with(self, blocks: u32, tried: Tried, is_met: bool) -> Self {
        let width = self.met.0 - self.missed.0;
        let mut of = self;
        *(if is_met { &mut of.met } else { &mut of.missed }) = (blocks, tried);
        let is_slow = 2 * (of.met.0 - of.missed.0) > width && self.slow < SLOW_MAX;
        Self { slow: if is_slow { self.slow + 1 } else { 0 }, ..of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where pages are moved as this power of the spare flash, and the target is met at this share.
    fn law(power: f64, needs: f64) -> impl Fn(f64) -> Tried {
        move |op| Tried { op, gap: (op > 0.0).then(|| power * (op / needs).ln()) }
    }

    fn search(of: impl Fn(f64) -> Tried, from: u32, upto: u32) -> (u32, u32) {
        let (data_blocks, step) = (2048.0, 5);
        let tried = |blocks: u32| of(f64::from(blocks) / data_blocks - 1.0);
        let [missed, met] = [from, upto].map(|blocks| (blocks, tried(blocks)));
        let mut bracket = Bracket { missed, met, data_blocks, step, slow: 0 };
        let mut runs = 0;
        while let Some(blocks) = bracket.next() {
            assert!((bracket.missed.0 + 1..bracket.met.0).contains(&blocks), "{bracket:?}");
            let found = tried(blocks);
            bracket = bracket.with(blocks, found, found.gap.is_some_and(|gap| gap <= 0.0));
            runs += 1;
        }
        (bracket.met.0, runs)
    }

    #[test]
    fn a_power_of_the_spare_flash_takes_two_runs() {
        for (power, needs) in [(-1.0, 0.146), (-1.7, 0.09), (-0.6, 0.19)] {
            let (blocks, runs) = search(law(power, needs), 2191, 2458);
            let exact = 2048.0 * (1.0 + needs);
            assert!((0.0..=5.0).contains(&(f64::from(blocks) - exact)), "{blocks} for {exact}");
            assert!(runs <= 2, "{runs} runs for {power}");
        }
    }

    #[test]
    fn any_other_law_takes_at_most_three_times_as_many_as_halving() {
        // A step: nothing helps until there is enough.
        let step = |op: f64| Tried { op, gap: Some(if op < 0.17 { 2.0 } else { -0.01 }) };
        let (blocks, runs) = search(step, 2048, 3277);
        let exact = 2048.0 * 1.17;
        assert!((0.0..=5.0).contains(&(f64::from(blocks) - exact)), "{blocks}");
        assert!(runs <= 24, "{runs}");
        // Nothing is known of drives that miss it.
        let unknown = |op: f64| Tried { op, gap: (op >= 0.007).then(|| -(op / 0.007).ln()) };
        let (blocks, runs) = search(unknown, 2048, 2130);
        assert!((0..=5).contains(&(blocks - 2062)) && runs <= 8, "{blocks} in {runs}");
    }

    #[test]
    fn one_drive_tells_by_the_power_of_uniform_writes() {
        let last = Tried { op: 0.07, gap: Some(2.0_f64.ln()) };
        assert!((expected(last, None).unwrap() - 0.14).abs() < 1e-12);
        let other = Tried { op: 0.04, gap: Some(0.1) };
        assert!((expected(last, Some(other)).unwrap() - 0.14).abs() < 1e-12, "it seems to rise");
        assert!(expected(Tried { op: 0.07, gap: None }, None).is_none());
    }
}
