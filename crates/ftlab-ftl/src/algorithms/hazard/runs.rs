//! Sequential runs of host writes, which one hand wrote.

use crate::state::state;
use ftlab_flash::Lpn;

/// Runs that may be under way at the same time.
const RUNS: usize = 8;

/// Bits of a slot in the order of slots.
const SLOT_BITS: u32 = 4;

/// The runs that went on last: what is expected of the pages of each.
pub(super) struct Runs {
    /// The slots of runs, the one that went on last in the lowest bits. They stay where they are, because
    /// moving what was just written waits for it.
    order: u32,
    /// The page with which each would continue.
    next: [Lpn; RUNS],
    /// Geometric mean of what was expected of the lifetimes of its pages, one by one.
    lifetimes: [f32; RUNS],
    /// Pages so far.
    pages: [u32; RUNS],
    /// Pages of a run that count, at most.
    pages_max: u32,
}

state!(Runs { order, next, lifetimes, pages } constant pages_max);

impl Runs {
    /// Of a run, at most `pages_max` pages count, the later ones more; 0 is no limit.
    pub(super) fn new(pages_max: u32) -> Self {
        let pages_max = if pages_max == 0 { u32::MAX } else { pages_max };
        Self {
            order: 0x7654_3210,
            next: [Lpn(u32::MAX); RUNS],
            lifetimes: [1.0; RUNS],
            pages: [0; RUNS],
            pages_max,
        }
    }

    /// What is expected of a page that is written, `alone` being what its own past lets expect: the
    /// geometric mean over the run that it continues, this page included.
    #[inline]
    pub(super) fn expected(&mut self, lpn: Lpn, alone: f32) -> f32 {
        let (slot, lifetime, pages) = if self.next.contains(&lpn) {
            let slot = self.take_run(lpn);
            (slot, self.mean(slot, alone), self.pages[slot] + 1)
        } else {
            (self.take_place(RUNS as u32 - 1), alone, 1)
        };
        self.next[slot] = Lpn(lpn.0.wrapping_add(1));
        self.lifetimes[slot] = lifetime;
        self.pages[slot] = pages.min(self.pages_max - 1);
        lifetime
    }

    /// The slot of the latest run that continues with `lpn`, of which there is one.
    fn take_run(&mut self, lpn: Lpn) -> usize {
        let mut place = 0;
        while self.next[self.slot_at(place)] != lpn {
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

    /// The mean of a run with one more page.
    #[inline(never)]
    fn mean(&self, run: usize, alone: f32) -> f32 {
        let mean = self.lifetimes[run];
        mean * ((alone / mean).log2() / (self.pages[run] as f32 + 1.0)).exp2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_near(a: f32, b: f32) -> bool {
        (a / b - 1.0).abs() < 1e-4
    }

    #[test]
    fn a_run_expects_the_geometric_mean_of_its_pages_also_between_other_runs() {
        let mut runs = Runs::new(0);
        let mut product = 1.0_f32;
        for page in 0..20_u32 {
            let alone = if page % 2 == 0 { 100.0 } else { 400.0 };
            product *= alone;
            let mean = product.powf(1.0 / (page as f32 + 1.0));
            assert!(is_near(runs.expected(Lpn(1000 + page), alone), mean));
            assert!(is_near(runs.expected(Lpn(5000 + page), 7.0), 7.0));
            assert!(is_near(runs.expected(Lpn(9000 - page), 3.0), 3.0), "these go down");
            product = mean.powf(page as f32 + 1.0);
            if page >= 10 {
                // Enough of a run; a product of more overflows.
                break;
            }
        }
    }

    #[test]
    fn a_run_is_forgotten_behind_eight_others() {
        for (others, is_known) in [(7, true), (8, false)] {
            let mut runs = Runs::new(0);
            runs.expected(Lpn(0), 64.0);
            for other in 0..others {
                runs.expected(Lpn(100 + 2 * other), 1.0);
            }
            let expected = if is_known { 8.0 } else { 1.0 };
            assert!(is_near(runs.expected(Lpn(1), 1.0), expected));
        }
    }
}
