//! Which categories of lifetimes share a group: the division with the fewest relocations, as a chain of groups expects
//! them of what was predicted and what came of it.

use crate::algorithms::tools::samples::Sample;
use crate::state::state;

/// Categories of lifetimes; each has a group of its own at most.
pub(super) const CATEGORIES: usize = 10;

/// The upper bound of the first category, in host writes per logical page; that of the next ones is twice as high each.
const FIRST_BOUND: f64 = 0.01;

/// The share of the writes that are not hot which a group has to be given.
const TRAFFIC_MIN: f64 = 0.0005;

/// Blocks of a group that are not filled, in the mean.
const OPEN: f64 = 0.5;

/// Category -> the longest lifetime in it, in host writes.
pub(super) fn bounds(logical_pages: u32) -> [u64; CATEGORIES] {
    let mut bound = FIRST_BOUND * f64::from(logical_pages);
    let mut bounds = [u64::MAX; CATEGORIES];
    for category in &mut bounds[..CATEGORIES - 1] {
        *category = bound.ceil() as u64;
        bound *= 2.0;
    }
    bounds
}

#[inline]
pub(super) fn category_of(lifetime: u64, bounds: &[u64; CATEGORIES]) -> usize {
    bounds[..CATEGORIES - 1].iter().map(|&bound| usize::from(lifetime > bound)).sum()
}

/// The prediction log: how many sampled writes were predicted into each category, and how long they lived.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PredictionLog {
    /// Predicted category -> category of its true lifetime -> writes, and the sum of their lifetimes.
    writes: [[(f64, f64); CATEGORIES]; CATEGORIES],
    total: f64,
}

impl PredictionLog {
    /// Of those samples for which a category was predicted when they were written.
    pub(super) fn new<const IN: usize>(samples: &[Sample<IN>], bounds: &[u64; CATEGORIES]) -> Self {
        let mut writes = [[(0.0, 0.0); CATEGORIES]; CATEGORIES];
        let mut total = 0.0;
        for sample in samples {
            if let Some(of_category) = writes.get_mut(usize::from(sample.predicted)) {
                let (count, lifetimes) = &mut of_category[category_of(sample.lifetime, bounds)];
                *count += 1.0;
                *lifetimes += sample.lifetime as f64;
                total += 1.0;
            }
        }
        Self { writes, total }
    }

    /// How many predictions there were, and which share of them was right.
    pub(super) fn quality(&self) -> (f64, f64) {
        let right: f64 = (0..CATEGORIES).map(|category| self.writes[category][category].0).sum();
        (self.total, right / self.total.max(1.0))
    }

    /// Of the writes predicted into `category`: how many, how many live longer than the bound of category `top`, and
    /// how long they live until then, summed.
    fn category(&self, category: usize, top: usize, bound: f64) -> (f64, f64, f64) {
        let (mut all, mut survivors, mut lived) = (0.0, 0.0, 0.0);
        for (actual, (writes, lifetimes)) in self.writes[category].iter().enumerate() {
            let survives = actual > top;
            all += writes;
            survivors += if survives { *writes } else { 0.0 };
            lived += if survives { writes * bound } else { *lifetimes };
        }
        (all, survivors, lived)
    }

    /// Sums over the writes predicted into categories `lowest..=top`.
    fn group(&self, lowest: usize, top: usize, bound: f64) -> (f64, f64, f64) {
        let of = (lowest..=top).map(|category| self.category(category, top, bound));
        of.fold((0.0, 0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1, a.2 + b.2))
    }

    /// The mean lifetime of the writes predicted into `category` that live longer than the bound of `top`.
    fn mean_of_survivors(&self, category: usize, top: usize) -> Option<f64> {
        let survivors = self.writes[category][top + 1..].iter();
        let (writes, lifetimes) = survivors.fold((0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
        (writes > 0.0).then(|| lifetimes / writes)
    }
}

/// The drive and the traffic for which categories are grouped.
pub(super) struct Demand {
    pub(super) bounds: [u64; CATEGORIES],
    /// Blocks of all groups.
    pub(super) blocks: f64,
    pub(super) pages_per_block: f64,
    pub(super) valid_pages: f64,
    /// The share of the host writes that the hot group takes, and the valid share of its victims.
    pub(super) hot_writes: f64,
    pub(super) hot_valid: f64,
    /// The longest lifetime of hot pages, in host writes.
    pub(super) hot_bound: f64,
}

/// How categories are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups {
    /// Category -> the lowest and the highest category of its group.
    of: [(u8, u8); CATEGORIES],
    /// Category -> the highest category of the group that its pages go to when they are moved the first time.
    moved_to: [u8; CATEGORIES],
}

state!(Groups { of, moved_to });

impl Groups {
    /// All in the last group.
    pub(super) const ONE: Self = {
        let last = CATEGORIES as u8 - 1;
        Self { of: [(0, last); CATEGORIES], moved_to: [last; CATEGORIES] }
    };

    /// A bit of `ends` is set for every category after which a group ends, and another begins.
    fn divided_at(ends: u32) -> Self {
        let is_end = |category: usize| ends >> category & 1 == 1 || category == CATEGORIES - 1;
        let mut groups = Self::ONE;
        let mut lowest = 0;
        for category in 0..CATEGORIES {
            if is_end(category) {
                groups.of[lowest..=category].fill((lowest as u8, category as u8));
                lowest = category + 1;
            }
        }
        groups.moved_to = std::array::from_fn(|category| groups.after(category) as u8);
        groups
    }

    /// The group that takes a category: its lowest and its highest one.
    #[inline]
    pub(super) fn of(&self, category: usize) -> (usize, usize) {
        let (lowest, top) = self.of[category];
        (usize::from(lowest), usize::from(top))
    }

    /// The next colder group, by its highest category.
    #[inline]
    pub(super) fn after(&self, category: usize) -> usize {
        let (_, top) = self.of(category);
        self.of((top + 1).min(CATEGORIES - 1)).1
    }

    /// The group to which pages of `category` go when they are moved the first time, by its highest category.
    #[inline]
    pub(super) fn moved_to(&self, category: usize) -> usize {
        usize::from(self.moved_to[category])
    }

    /// The groups from hot to cold: lowest and highest category.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..CATEGORIES)
            .map(|category| self.of(category))
            .enumerate()
            .filter_map(|(category, group)| (group.1 == category).then_some(group))
    }

    /// The division that `demand` makes the fewest relocations with; none if none fits.
    pub(super) fn best(log: &PredictionLog, demand: &Demand) -> Option<Self> {
        let mut best: Option<(f64, Self)> = None;
        for ends in 0..1 << (CATEGORIES - 1) {
            let mut groups = Self::divided_at(ends);
            groups.choose_moves(log, &demand.bounds);
            if let Some(relocations) = groups.relocations(log, demand)
                && best.is_none_or(|(least, _)| relocations < least)
            {
                best = Some((relocations, groups));
            }
        }
        best.map(|(_, groups)| groups)
    }

    /// Relocations per host write: what outlives its group goes to another one, and if it outlives that to the next
    /// colder ones; the last group collects the emptiest of uniformly written blocks.
    fn relocations(&self, log: &PredictionLog, demand: &Demand) -> Option<f64> {
        let per_write = (1.0 - demand.hot_writes) / log.total;
        // Group, by its highest category -> pages that are moved there from others for the first time.
        let mut first_moves = [0.0; CATEGORIES];
        for category in 0..CATEGORIES {
            let (_, top) = self.of(category);
            let (_, survivors, _) = log.category(category, top, 0.0);
            first_moves[self.moved_to(category)] += per_write * survivors;
        }
        let hot_pages = demand.hot_writes * demand.hot_bound;
        first_moves[self.of(0).1] += demand.hot_writes * demand.hot_valid;
        let mut room = demand.blocks * demand.pages_per_block - hot_pages;
        let mut valid = demand.valid_pages - hot_pages * f64::midpoint(1.0, demand.hot_valid);
        let mut relocations: f64 = first_moves.iter().sum();
        let mut moved = 0.0;
        for (lowest, top) in self.all() {
            let bound = demand.bounds[top] as f64;
            let (writes, survivors, lived) = log.group(lowest, top, bound);
            if writes < TRAFFIC_MIN * log.total {
                return None;
            }
            moved += first_moves[top];
            room -= OPEN * demand.pages_per_block;
            if top < CATEGORIES - 1 {
                let alive = survivors / writes;
                room -= (per_write * writes + moved) * bound;
                valid -= per_write * lived + moved * bound * f64::midpoint(1.0, alive);
                moved *= alive;
                relocations += moved;
            } else {
                let share = emptiest_of_uniform(valid.max(1.0) / room)?;
                relocations += (per_write * writes + moved) * share / (1.0 - share);
            }
        }
        Some(relocations)
    }

    /// Sends pages that outlive their group to the group that covers what is left of their lives, in the mean.
    fn choose_moves(&mut self, log: &PredictionLog, bounds: &[u64; CATEGORIES]) {
        for category in 0..CATEGORIES {
            let (_, top) = self.of(category);
            if let Some(mean) = log.mean_of_survivors(category, top) {
                let left = mean as u64 - bounds[top];
                self.moved_to[category] = self.of(category_of(left, bounds)).1 as u8;
            }
        }
    }
}

/// The valid share of the oldest block, where a share `valid` of the pages of all blocks is, and each of these is
/// as likely to be written next: v with (v - 1) / ln v = `valid`. None if they do not fit.
fn emptiest_of_uniform(valid: f64) -> Option<f64> {
    if !(0.0..0.999).contains(&valid) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        if (middle - 1.0) / middle.ln() < valid { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(predictions: &[(usize, u64, usize)], bounds: &[u64; CATEGORIES]) -> PredictionLog {
        let samples: Vec<_> = predictions
            .iter()
            .flat_map(|&(category, lifetime, count)| {
                let sample = Sample { features: [], predicted: category as u8, lifetime };
                std::iter::repeat_n(sample, count)
            })
            .collect();
        PredictionLog::new(&samples, bounds)
    }

    fn demand(bounds: [u64; CATEGORIES]) -> Demand {
        Demand {
            bounds,
            blocks: 220.0,
            pages_per_block: 500.0,
            valid_pages: 100_000.0,
            hot_writes: 0.2,
            hot_valid: 0.0,
            hot_bound: 1500.0,
        }
    }

    #[test]
    fn bounds_double_and_the_last_category_has_none() {
        let bounds = bounds(100_000);
        assert_eq!((bounds[0], bounds[1], bounds[8], bounds[9]), (1000, 2000, 256_000, u64::MAX));
        let categories = [0, 1000, 1001, 2000, 256_000, 256_001].map(|l| category_of(l, &bounds));
        assert_eq!(categories, [0, 0, 1, 1, 8, 9]);
    }

    #[test]
    fn groups_are_what_lies_between_their_ends() {
        let groups = Groups::divided_at(0b100_0010);
        assert_eq!(groups.all().collect::<Vec<_>>(), [(0, 1), (2, 6), (7, 9)]);
        assert_eq!([0, 1, 2, 6, 7].map(|category| groups.after(category)), [6, 6, 9, 9, 9]);
        assert_eq!(Groups::divided_at(0).all().collect::<Vec<_>>(), [(0, 9)]);
    }

    #[test]
    fn right_predictions_are_kept_apart_and_wrong_ones_together() {
        let bounds = bounds(100_000);
        let right = log(&[(1, 1500, 400), (4, 12_000, 300), (9, 400_000, 300)], &bounds);
        let found = Groups::best(&right, &demand(bounds)).unwrap();
        assert_ne!(found.of(1), found.of(4));
        assert_ne!(found.of(4), found.of(9));
        // Predictions that say nothing.
        let lifetimes = [1500, 12_000, 400_000];
        let wrong: Vec<_> = [1, 4, 9]
            .into_iter()
            .flat_map(|category| lifetimes.map(|lifetime| (category, lifetime, 100)))
            .collect();
        let found = Groups::best(&log(&wrong, &bounds), &demand(bounds)).unwrap();
        assert_eq!(found.of(1), found.of(4));
    }

    #[test]
    fn survivors_go_where_what_is_left_of_their_lives_belongs() {
        let bounds = bounds(100_000);
        let mut groups = Groups::divided_at(0b1_0010);
        // Of category 1 those that survive 2000 live for 2500 in the mean, those of category 4 for 316,000.
        let log = log(&[(1, 1500, 400), (1, 2500, 10), (4, 12_000, 300), (4, 316_000, 5)], &bounds);
        groups.choose_moves(&log, &bounds);
        assert_eq!([1, 4, 9].map(|category| groups.moved_to(category)), [1, 9, 9]);
    }

    #[test]
    fn victims_of_uniform_writes_are_emptier_than_the_rest() {
        assert!((emptiest_of_uniform(0.5).unwrap() - 0.2032).abs() < 1e-3);
        assert!((emptiest_of_uniform(0.8).unwrap() - 0.6286).abs() < 1e-3);
        assert_eq!(emptiest_of_uniform(1.0), None);
    }
}
