//! How long hot pages live at most: longer while that lowers write amplification.

use crate::state::state;

/// By how much write amplification has to change for the bound to follow.
const WORTH_MOVING: f64 = 0.05;

/// The bound, and what was counted since it was judged.
pub(super) struct HotBound {
    /// The longest life of a hot page, in host writes.
    pub(super) bound: u64,
    /// How far it moves.
    step: u64,
    /// Whether it was raised, and this has not been judged yet.
    was_raised: bool,
    writes: u64,
    moved: u64,
    waf_before: f64,
}

state!(HotBound { bound, was_raised, writes, moved, waf_before } constant step);

impl HotBound {
    /// At first a number of blocks.
    pub(super) fn new(blocks: u32, pages_per_block: u32) -> Self {
        let step = u64::from(pages_per_block);
        let bound = u64::from(blocks) * step;
        Self { bound, step, was_raised: false, writes: 0, moved: 0, waf_before: 1.0 }
    }

    #[inline]
    pub(super) fn count_write(&mut self) {
        self.writes += 1;
    }

    #[inline]
    pub(super) fn count_moved(&mut self) {
        self.moved += 1;
    }

    /// A step up while write amplification falls; if it rises after that, the step is taken back.
    pub(super) fn judge(&mut self) {
        let waf = 1.0 + self.moved as f64 / self.writes.max(1) as f64;
        let change = (waf - self.waf_before) / self.waf_before;
        if change < -WORTH_MOVING {
            self.bound += self.step;
            self.was_raised = true;
        } else if change > WORTH_MOVING && std::mem::take(&mut self.was_raised) {
            self.bound -= self.step;
        }
        (self.writes, self.moved, self.waf_before) = (0, 0, waf);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_rises_while_that_helps_and_no_further() {
        let mut hot = HotBound::new(3, 100);
        let mut bounds = Vec::new();
        for moved in [50, 30, 28, 10, 40, 80, 60] {
            (hot.writes, hot.moved) = (100, moved);
            hot.judge();
            bounds.push(hot.bound);
        }
        assert_eq!(bounds, [300, 400, 400, 500, 400, 400, 500]);
    }
}
