//! Sequential runs of host writes, which one hand wrote.

use crate::state::state;
use ftlab_flash::Lpn;

/// Runs that may be under way at the same time.
const RUNS: usize = 8;

/// Bits of a slot in the order of slots.
const SLOT_BITS: u32 = 4;

/// A step, in the unit of means.
const ONE_STEP: u32 = 1 << 16;

/// The runs that went on last.
pub(super) struct Runs {
    /// The slots of runs, the one that went on last in the lowest bits. Runs stay where they are, because
    /// moving what was just written waits for it.
    order: u32,
    /// Slot -> the page with which its run would continue.
    nexts: [Lpn; RUNS],
    /// Slot -> what is expected of its run.
    means: [Mean; RUNS],
    /// Pages of a run that count, at most.
    pages_max: u32,
}

state!(Runs { order, nexts, means } constant pages_max);

/// What is expected of the pages of a run.
#[derive(Debug, Clone, Copy)]
struct Mean {
    /// Mean step of the lifetimes expected of its pages, one by one, in parts of `ONE_STEP`.
    step: u32,
    /// Pages so far.
    pages: u32,
}

state!(Mean { step, pages });

impl Runs {
    /// Of a run, at most `pages_max` pages count, the later ones more; 0 is no limit.
    pub(super) fn new(pages_max: u32) -> Self {
        let limit = i32::MAX.cast_unsigned();
        let pages_max = if pages_max == 0 { limit } else { pages_max.min(limit) };
        let none = Mean { step: 0, pages: 0 };
        Self { order: 0x7654_3210, nexts: [Lpn(u32::MAX); RUNS], means: [none; RUNS], pages_max }
    }

    /// The step of what is expected of a page that is written, `alone` being that which its own past lets
    /// expect: the geometric mean over the run that it continues, this page included.
    #[inline]
    pub(super) fn expected(&mut self, lpn: Lpn, alone: u8) -> u8 {
        if self.pages_max == 1 {
            return alone;
        }
        let alone = u32::from(alone) * ONE_STEP + ONE_STEP / 2;
        let latest = self.slot_at(0);
        let continued = if self.nexts[latest] == lpn {
            Some(latest)
        } else {
            self.nexts.contains(&lpn).then(|| self.take_run(lpn))
        };
        let (slot, mean) = if let Some(slot) = continued {
            let Mean { step, pages } = self.means[slot];
            let from_mean = alone.cast_signed() - step.cast_signed();
            let share = from_mean / (pages + 1).cast_signed();
            (slot, Mean { step: step.wrapping_add_signed(share), pages: pages + 1 })
        } else {
            (self.take_place(RUNS as u32 - 1), Mean { step: alone, pages: 1 })
        };
        self.nexts[slot] = Lpn(lpn.0.wrapping_add(1));
        self.means[slot] = Mean { pages: mean.pages.min(self.pages_max - 1), ..mean };
        (mean.step / ONE_STEP) as u8
    }

    /// The slot of the latest run that continues with `lpn`, of which there is one.
    fn take_run(&mut self, lpn: Lpn) -> usize {
        let mut place = 0;
        while self.nexts[self.slot_at(place)] != lpn {
            place += 1;
        }
        self.take_place(place)
    }

    #[inline]
    fn slot_at(&self, place: u32) -> usize {
        (self.order >> (SLOT_BITS * place)) as usize % RUNS
    }

    /// The slot at a place of the order, which goes to the first.
    #[inline]
    fn take_place(&mut self, place: u32) -> usize {
        let slot = self.slot_at(place);
        // Those before it go up a place, those behind stay.
        let end = u64::from(SLOT_BITS * (place + 1));
        let behind = u64::from(self.order) >> end << end;
        let before = self.order & ((1 << (SLOT_BITS * place)) - 1);
        self.order = behind as u32 | before << SLOT_BITS | slot as u32;
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_expects_the_mean_of_its_pages_also_between_other_runs() {
        let mut runs = Runs::new(0);
        let mut sum = 0;
        for page in 0..1000_u32 {
            let alone = if page % 3 == 0 { 40 } else { 57 };
            sum += u32::from(alone);
            let expected = runs.expected(Lpn(1000 + page), alone);
            let mean = (f64::from(sum) / f64::from(page + 1) + 0.5).floor();
            assert!((f64::from(expected) - mean).abs() <= 1.0, "{expected} instead of {mean}");
            assert_eq!(runs.expected(Lpn(5000 + page), 7), 7);
            assert_eq!(runs.expected(Lpn(9000 - page), 3), 3, "these go down");
        }
    }

    #[test]
    fn of_a_run_that_is_limited_the_later_pages_count_more() {
        let mut runs = Runs::new(4);
        (0..100).for_each(|page| _ = runs.expected(Lpn(page), 20));
        let after: Vec<_> = (100..104).map(|page| runs.expected(Lpn(page), 100)).collect();
        assert_eq!(
            after,
            [40, 55, 66, 75],
            "three quarters of the mean before, and a quarter of this"
        );
    }

    #[test]
    fn a_run_is_forgotten_behind_eight_others() {
        for (others, is_known) in [(7, true), (8, false)] {
            let mut runs = Runs::new(0);
            runs.expected(Lpn(0), 60);
            for other in 0..others {
                runs.expected(Lpn(100 + 2 * other), 10);
            }
            assert_eq!(runs.expected(Lpn(1), 10), if is_known { 35 } else { 10 });
        }
    }

    #[test]
    fn of_two_runs_that_have_met_the_latest_goes_on() {
        let mut runs = Runs::new(0);
        runs.expected(Lpn(4), 60);
        runs.expected(Lpn(100), 1);
        runs.expected(Lpn(4), 10);
        assert_eq!(runs.expected(Lpn(5), 10), 10);
        assert_eq!(runs.expected(Lpn(5), 10), 35);
    }
}
