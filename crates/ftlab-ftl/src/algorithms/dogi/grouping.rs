//! Which categories of lifetimes share a group: the division with the fewest relocations, as the chain of groups
//! expects them of what was predicted and what came of it.

use crate::algorithms::dogi::chain::{Chain, Flows, GROUPS_MAX, fifo_valid};
use crate::state::state;

/// Categories of lifetimes.
pub(super) const CATEGORIES: usize = 10;

/// Category -> the longest lifetime in it, in host writes; the last one has none.
pub(super) type Bounds = [u64; CATEGORIES];

/// The upper bound of the first doubling category, in drive writes.
const FIRST_BOUND: f64 = 0.01;

/// The last group begins with this category at the latest, counted from 0.
const LAST_BEGINS_MAX: usize = 6;

/// The share of the host writes that a group has to be given.
const TRAFFIC_MIN: f64 = 0.0005;

/// Blocks of a group that are not filled, in the mean.
const OPEN: f64 = 0.5;

/// Blocks of a group at least, and those that are held back besides.
const BLOCKS_MIN: f64 = 2.0;
const HELD_BACK: f64 = 4.0;

/// The share of the survivors with the longest lives that do not count.
const TRIMMED: f64 = 0.15;

/// Bounds of 1% of a drive write for the first category, and twice as long for each of the next ones.
pub(super) fn doubling(logical_pages: u32) -> Bounds {
    let mut bound = FIRST_BOUND * f64::from(logical_pages);
    let mut bounds = [u64::MAX; CATEGORIES];
    for category in &mut bounds[..CATEGORIES - 1] {
        *category = bound.ceil() as u64;
        bound *= 2.0;
    }
    bounds
}

/// Bounds of categories that are equally frequent among these lifetimes.
pub(super) fn balanced(lifetimes: impl Iterator<Item = u64>) -> Bounds {
    let mut sorted: Vec<u64> = lifetimes.collect();
    sorted.sort_unstable();
    let mut bounds = [u64::MAX; CATEGORIES];
    let mut least = 0;
    for (category, bound) in bounds[..CATEGORIES - 1].iter_mut().enumerate() {
        let rank = sorted.len() * (category + 1) / CATEGORIES;
        *bound = sorted.get(rank).map_or(least, |&lifetime| lifetime.max(least));
        least = *bound + 1;
    }
    bounds
}

#[inline]
pub(super) fn category_of(lifetime: u64, bounds: &Bounds) -> usize {
    bounds[..CATEGORIES - 1].iter().map(|&bound| usize::from(lifetime > bound)).sum()
}

/// The prediction log: into which category each write was predicted, and how long what it wrote lived.
pub(super) struct PredictionLog {
    /// Predicted category -> lifetimes in whole blocks of host writes, the shortest first.
    lifetimes: [Vec<u64>; CATEGORIES],
    /// Category -> the longest lifetime in it, in the same unit. The last one is taken for as long as the one before.
    bounds: Bounds,
    writes: f64,
}

impl PredictionLog {
    /// Of predicted categories and lifetimes in host writes.
    pub(super) fn new(
        predictions: impl Iterator<Item = (usize, u64)>,
        bounds: &Bounds,
        pages_per_block: u32,
    ) -> Self {
        let blocks = |pages: u64| pages / u64::from(pages_per_block);
        let mut lifetimes: [Vec<u64>; CATEGORIES] = Default::default();
        for (category, lifetime) in predictions {
            lifetimes[category].push(blocks(lifetime));
        }
        for of_category in &mut lifetimes {
            of_category.sort_unstable();
        }
        let writes = lifetimes.iter().map(Vec::len).sum::<usize>() as f64;
        let bound = |category: usize| blocks(bounds[category.min(CATEGORIES - 2)]);
        Self { lifetimes, bounds: std::array::from_fn(bound), writes }
    }

    /// The share of the writes that were predicted into categories `lowest..=top`, and of these the share that does
    /// not outlive the bound of `top`.
    fn group(&self, lowest: usize, top: usize) -> (f64, f64) {
        let bound = self.bounds[top];
        let predicted = &self.lifetimes[lowest..=top];
        let writes = predicted.iter().map(Vec::len).sum::<usize>() as f64;
        let ended = |lifetimes: &Vec<u64>| lifetimes.partition_point(|&lifetime| lifetime <= bound);
        let ends = predicted.iter().map(ended).sum::<usize>() as f64;
        // Blocks that live for less than they take to fill are not worth a group.
        let ends = if bound == 0 { 0.0 } else { ends };
        (writes / self.writes.max(1.0), ends / writes.max(1.0))
    }

    /// The geometric mean of the lifetimes of what was predicted into `category` and lives as long as the bound of
    /// `top` or longer, without the longest ones; none if nothing does.
    fn survivors(&self, category: usize, top: usize) -> Option<f64> {
        let lifetimes = &self.lifetimes[category];
        let dead = lifetimes.partition_point(|&lifetime| lifetime < self.bounds[top]);
        let survivors = &lifetimes[dead..];
        let kept = survivors.len() - (survivors.len() as f64 * TRIMMED) as usize;
        let logarithms = survivors[..kept].iter().map(|&lifetime| (lifetime as f64).max(1e-9).ln());
        (kept > 0).then(|| (logarithms.sum::<f64>() / kept as f64).exp())
    }
}

/// The drive and the hot pages for which categories are grouped.
pub(super) struct Demand {
    /// Blocks of all groups.
    pub(super) blocks: f64,
    /// Valid pages of all groups, in blocks.
    pub(super) valid: f64,
    /// The share of the host writes that are hot, and of their pages those that end in the hot group.
    pub(super) hot_writes: f64,
    pub(super) hot_ends: f64,
    /// How long hot pages may live, in blocks of host writes.
    pub(super) hot_bound: f64,
}

/// How categories are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Groups {
    /// Groups that take host writes, from 1 to [`GROUPS_MAX`].
    pub(super) count: u8,
    /// Category -> its group, from 1.
    of: [u8; CATEGORIES],
    /// Category -> the group that its pages go to when they are moved the first time, from 1.
    moved_to: [u8; CATEGORIES],
    /// Group, counted from 0 -> its highest category.
    tops: [u8; GROUPS_MAX],
}

state!(Groups { count, of, moved_to, tops });

impl Groups {
    /// All in one.
    pub(super) const ONE: Self = {
        let top = CATEGORIES as u8 - 1;
        Self { count: 1, of: [1; CATEGORIES], moved_to: [2; CATEGORIES], tops: [top; GROUPS_MAX] }
    };

    /// The groups whose highest categories are these.
    fn up_to(tops: &[usize]) -> Self {
        let last = tops.len() - 1;
        let of = |category| tops.partition_point(|&top| top < category) as u8 + 1;
        Self {
            count: tops.len() as u8,
            of: std::array::from_fn(of),
            moved_to: [0; CATEGORIES],
            tops: std::array::from_fn(|group| tops[group.min(last)] as u8),
        }
    }

    /// All divisions into as few groups as possible, then one more and so on.
    fn all() -> Vec<Self> {
        let mut ends: Vec<u32> = (0..1 << LAST_BEGINS_MAX).collect();
        ends.retain(|ends| ends.count_ones() < GROUPS_MAX as u32);
        ends.sort_by_key(|ends| ends.count_ones());
        let divided = |ends: u32| {
            let inner = (0..LAST_BEGINS_MAX).filter(|category| ends >> category & 1 == 1);
            Self::up_to(&inner.chain([CATEGORIES - 1]).collect::<Vec<_>>())
        };
        ends.into_iter().map(divided).collect()
    }

    /// The group that host writes of a category go to.
    #[inline]
    pub(super) fn of(&self, category: usize) -> u8 {
        self.of[category]
    }

    /// The group to which pages of `category` go when they are moved the first time.
    #[inline]
    pub(super) fn moved_to(&self, category: usize) -> u8 {
        self.moved_to[category]
    }

    /// The highest category of a group, from 1; none of the last one and of those that take no host writes.
    #[inline]
    pub(super) fn top(&self, group: u8) -> Option<usize> {
        (group < self.count).then(|| usize::from(self.tops[usize::from(group) - 1]))
    }

    /// The categories of each group: the lowest and the highest.
    fn ranges(&self) -> impl Iterator<Item = (usize, usize)> {
        let tops = self.tops.map(usize::from);
        (0..usize::from(self.count)).map(move |group| match group {
            0 => (0, tops[0]),
            _ => (tops[group - 1] + 1, tops[group]),
        })
    }

    /// The division that `demand` makes the fewest relocations with, and of equal ones that of fewer groups; none
    /// if each has a group that takes hardly any writes.
    pub(super) fn best(log: &PredictionLog, demand: &Demand) -> Option<Self> {
        let mut best: Option<(f64, Self)> = None;
        for groups in Self::all() {
            if let Some(relocations) = groups.relocations(log, demand)
                && best.is_none_or(|(least, _)| relocations < least)
            {
                best = Some((relocations, groups));
            }
        }
        best.map(|(_, mut groups)| {
            groups.choose_moves(log);
            groups
        })
    }

    /// Relocations per host write. A group holds what flows into it for as long as its bound, and its pages are valid
    /// to the share that outlives it; the last group has the rest of the blocks and of the valid pages.
    fn relocations(&self, log: &PredictionLog, demand: &Demand) -> Option<f64> {
        let Demand { hot_writes, hot_ends, hot_bound, .. } = *demand;
        let count = usize::from(self.count);
        let mut flows = Flows { hot_writes, hot_ends, ..Flows::default() };
        let hot_blocks = (hot_writes * hot_bound).ceil();
        let mut room = demand.blocks - (OPEN * (count + 1) as f64).round() - hot_blocks;
        let mut valid = demand.valid - hot_blocks * (1.0 - hot_ends).min(0.5);
        let from_hot = hot_writes * (1.0 - hot_ends);
        let mut moved = 0.0;
        for (group, (lowest, top)) in self.ranges().enumerate() {
            let (writes, ends) = log.group(lowest, top);
            let direct = (1.0 - hot_writes) * writes;
            if direct < TRAFFIC_MIN {
                return None;
            }
            flows.writes[group] = writes;
            if group + 1 == count {
                let fill = (valid.max(1e-6) / (room - HELD_BACK).max(BLOCKS_MIN)).min(0.999_999);
                flows.ends[group] = 1.0 - last_valid(fill);
                break;
            }
            // What comes from the hot group ends in the first one.
            let ended = if group == 0 { from_hot } else { 0.0 };
            let inflow = direct + moved + ended;
            let ends = ((direct + moved) * ends + ended) / inflow;
            let blocks = (inflow * log.bounds[top] as f64).ceil().max(BLOCKS_MIN);
            flows.ends[group] = ends;
            moved = inflow * (1.0 - ends);
            room -= blocks;
            valid -= blocks * (1.0 - ends);
        }
        Some(Chain::new(count, &flows).relocations())
    }

    /// Sends pages that outlive their group to the first group, their own included, that lasts for what is left of
    /// their lives.
    fn choose_moves(&mut self, log: &PredictionLog) {
        let bounds = |group: u8| log.bounds[usize::from(self.tops[usize::from(group) - 1])] as f64;
        self.moved_to = std::array::from_fn(|category| {
            let from = self.of[category];
            let top = usize::from(self.tops[usize::from(from) - 1]);
            let Some(mean) = log.survivors(category, top) else {
                return (from + 1).min(self.count);
            };
            let left = mean - bounds(from);
            (from..self.count).find(|&group| left <= bounds(group)).unwrap_or(self.count)
        });
    }
}

/// The valid share of the victims of the last group. One that would hold next to nothing is not believed.
fn last_valid(fill: f64) -> f64 {
    match fifo_valid(fill) {
        valid if valid <= 0.05 => 0.8,
        valid => valid.min(0.999),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(predictions: &[(usize, u64, usize)]) -> PredictionLog {
        let each = |&(category, lifetime, count)| std::iter::repeat_n((category, lifetime), count);
        PredictionLog::new(predictions.iter().flat_map(each), &doubling(100_000), 100)
    }

    fn demand() -> Demand {
        Demand { blocks: 1100.0, valid: 1000.0, hot_writes: 0.2, hot_ends: 1.0, hot_bound: 15.0 }
    }

    #[test]
    fn doubling_bounds_begin_with_one_percent() {
        let bounds = doubling(100_000);
        assert_eq!((bounds[0], bounds[1], bounds[8], bounds[9]), (1000, 2000, 256_000, u64::MAX));
        let categories = [0, 1000, 1001, 2000, 256_001].map(|l| category_of(l, &bounds));
        assert_eq!(categories, [0, 0, 1, 1, 9]);
    }

    #[test]
    fn balanced_bounds_divide_lifetimes_into_tenths() {
        let bounds = balanced((0..1000).rev());
        assert_eq!((bounds[0], bounds[4], bounds[8], bounds[9]), (100, 500, 900, u64::MAX));
        assert_eq!([0, 100, 101, 900, 901].map(|l| category_of(l, &bounds)), [0, 0, 1, 8, 9]);
        // Where all lived as long, bounds still rise.
        assert_eq!(balanced([7; 50].into_iter())[..3], [7, 8, 9]);
    }

    #[test]
    fn there_are_at_most_four_groups_and_the_last_has_the_long_lives() {
        let all = Groups::all();
        assert_eq!(all.len(), 1 + 6 + 15 + 20);
        assert!(all.iter().all(|groups| groups.count <= 4 && groups.of(6) == groups.count));
        let groups = Groups::up_to(&[1, 3, 9]);
        assert_eq!(groups.ranges().collect::<Vec<_>>(), [(0, 1), (2, 3), (4, 9)]);
        assert_eq!([0, 1, 2, 3, 4, 9].map(|category| groups.of(category)), [1, 1, 2, 2, 3, 3]);
        assert_eq!([1, 2, 3, 4].map(|group| groups.top(group)), [Some(1), Some(3), None, None]);
    }

    #[test]
    fn right_predictions_are_kept_apart_and_wrong_ones_cost_more() {
        let lifetimes = [(1, 1500), (4, 12_000), (9, 400_000)];
        let right = log(&lifetimes.map(|(category, lifetime)| (category, lifetime, 300)));
        let found = Groups::best(&right, &demand()).unwrap();
        assert!(found.of(1) < found.of(9), "{found:?}");
        // Predictions that say nothing.
        let wrong: Vec<_> = lifetimes
            .iter()
            .flat_map(|&(category, _)| lifetimes.map(|(_, lifetime)| (category, lifetime, 100)))
            .collect();
        let wrong = log(&wrong);
        let least = Groups::best(&wrong, &demand()).unwrap().relocations(&wrong, &demand());
        assert!(found.relocations(&right, &demand()).unwrap() < least.unwrap());
    }

    #[test]
    fn survivors_go_where_what_is_left_of_their_lives_belongs() {
        let mut groups = Groups::up_to(&[1, 4, 9]);
        // Of category 1, six of seven that outlive 20 blocks live for 25: 5 are left. The seventh does not count.
        let log =
            log(&[(1, 1500, 400), (1, 2500, 6), (1, 900_000, 1), (4, 12_000, 300), (4, 99_000, 5)]);
        groups.choose_moves(&log);
        // Of category 4 they live for 990 blocks; category 0 has none.
        assert_eq!([0, 1, 4, 9].map(|category| groups.moved_to(category)), [2, 1, 3, 3]);
    }

    #[test]
    fn relocations_of_one_group_are_those_of_a_log() {
        let log = log(&[(3, 500, 100)]);
        let demand = Demand { hot_writes: 0.0, hot_bound: 0.0, ..demand() };
        let found = Groups::ONE.relocations(&log, &demand).unwrap();
        let valid = fifo_valid(1000.0 / 1095.0);
        assert!((found - valid / (1.0 - valid)).abs() < 1e-9, "{found}");
    }
}
