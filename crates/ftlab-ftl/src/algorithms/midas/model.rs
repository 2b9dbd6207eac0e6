//! What a division of the blocks would cost: a Markov chain of groups.

use crate::algorithms::midas::groups::GROUPS_MAX;
use crate::algorithms::midas::hot::HotGroup;
use crate::algorithms::midas::intervals::Distribution;

/// Rounds in which every size is chosen again.
const ROUNDS: usize = 4;

/// Blocks of the hot group at most.
const HOT_BLOCKS_MAX: u32 = 29;

/// How many fewer relocations a host write has to have for a larger hot group, before there are others.
const HOT_WORTHWHILE: f64 = 0.05;

/// Blocks that the last group keeps: these, or a tenth if that is less.
const LAST_BLOCKS_MIN: u32 = 50;

/// A hot group with more valid pages than this, or a smaller share of the writes, is taken as measured.
const HOT_VALID_MAX: f64 = 0.1;
const HOT_TRAFFIC_MIN: f64 = 0.15;

/// The drive and the traffic that a chain of groups is made for.
pub(super) struct Demand<'a> {
    pub(super) writes: &'a Distribution,
    /// The hot group as it was.
    pub(super) hot: Option<HotGroup>,
    /// Blocks of all groups together.
    pub(super) blocks: u32,
    pub(super) pages_per_block: u32,
    pub(super) valid_pages: f64,
    /// Those in blocks of the last group that lose none.
    pub(super) frozen_pages: f64,
}

/// A chain of groups as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chain {
    /// Blocks of every group but the last, which has the rest; the hot group first.
    pub(super) sizes: Vec<u32>,
    /// The valid share of the victims of each group.
    pub(super) expected: Vec<f64>,
    /// Relocations per host write.
    pub(super) relocations: f64,
}

/// What the hot group leaves to the others.
struct Rest {
    /// Host writes that it takes as if it held those of the shortest intervals, up to this one.
    time: f64,
    inflow: f64,
    relocations: f64,
    pages: f64,
}

impl Demand<'_> {
    /// The chain with the fewest relocations, if any works: groups are added one by one, each as large as is
    /// best, then every size is chosen again.
    pub(super) fn best_chain(&self) -> Option<Chain> {
        let mut longest = self.hot_alone()?;
        let mut best = longest.clone();
        while longest.sizes.len() < GROUPS_MAX {
            let group = longest.sizes.len();
            longest.sizes.push(1);
            let Some(longer) = self.resized(&longest.sizes, group) else { break };
            longest = longer;
            if longest.relocations < best.relocations {
                best.clone_from(&longest);
            }
        }
        for _ in 0..ROUNDS {
            for group in usize::from(self.measured_hot().is_some())..best.sizes.len() {
                let found = self.resized(&best.sizes, group);
                best = found.filter(|found| found.relocations < best.relocations).unwrap_or(best);
            }
        }
        Some(best).filter(|best| best.sizes.len() > 1)
    }

    /// A hot group and the last group.
    fn hot_alone(&self) -> Option<Chain> {
        if let Some(hot) = self.measured_hot() {
            return self.chain(&[hot.blocks as u32]);
        }
        let mut best = self.chain(&[1])?;
        for blocks in 2..=HOT_BLOCKS_MAX {
            match self.chain(&[blocks]) {
                Some(chain) if chain.relocations < best.relocations - HOT_WORTHWHILE => {
                    best = chain;
                }
                _ => break,
            }
        }
        Some(best)
    }

    /// The hot group, if it is to stay as it is.
    fn measured_hot(&self) -> Option<HotGroup> {
        self.hot.filter(|hot| hot.valid > HOT_VALID_MAX || hot.traffic < HOT_TRAFFIC_MIN)
    }

    /// The best chain in which `group` has another size.
    fn resized(&self, sizes: &[u32], group: usize) -> Option<Chain> {
        let most = if group == 0 { HOT_BLOCKS_MAX } else { self.blocks };
        let mut sizes = sizes.to_vec();
        let mut best: Option<Chain> = None;
        let mut size = 1;
        while size <= most {
            sizes[group] = size;
            if let Some(chain) = self.chain(&sizes)
                && best.as_ref().is_none_or(|best| chain.relocations < best.relocations)
            {
                best = Some(chain);
            }
            // One by one, and by 1.6% where that is more.
            size += 1 + size / 64;
        }
        best
    }

    fn pages(&self, blocks: f64) -> f64 {
        blocks * f64::from(self.pages_per_block)
    }

    fn rest(&self, hot_blocks: u32) -> Option<Rest> {
        let writes = self.writes;
        if let Some(hot) = self.measured_hot() {
            let time = self.pages(hot.blocks - 0.5) / hot.traffic;
            let relocations = hot.traffic * hot.valid;
            let inflow = 1.0 - hot.traffic + relocations;
            return Some(Rest {
                time,
                inflow,
                relocations,
                pages: hot.traffic * writes.lived_up_to(time),
            });
        }
        let needed = self.pages(f64::from(hot_blocks) - 0.5);
        let time = writes.times().find(|time| time * writes.ended(*time) >= needed)?;
        let inflow = 1.0 - writes.ended(time);
        Some(Rest { time, inflow, relocations: 0.0, pages: writes.lived(time) })
    }

    /// What a chain of these sizes costs, if it can work: pages that outlive a group move to the next one, the
    /// last collects as FIFO does under writes of two kinds.
    fn chain(&self, sizes: &[u32]) -> Option<Chain> {
        let writes = self.writes;
        let hot = self.rest(sizes[0])?;
        let (mut time, mut inflow) = (hot.time, hot.inflow);
        let (mut relocations, mut pages) = (hot.relocations, hot.pages);
        // Of one that outlives the hot group, per host write.
        let weight = inflow / (1.0 - writes.ended(time));
        let mut expected = vec![0.0];
        for &size in &sizes[1..] {
            let until = time + self.pages(f64::from(size) - 0.5) / inflow;
            let alive = (1.0 - writes.ended(until)) / (1.0 - writes.ended(time));
            if until >= writes.longest() || alive <= 0.0 {
                return None;
            }
            pages += weight * (writes.lived_up_to(until) - writes.lived_up_to(time));
            inflow *= alive;
            relocations += inflow;
            expected.push(alive);
            time = until;
        }
        let last = self.blocks.checked_sub(sizes.iter().sum())?;
        if last < LAST_BLOCKS_MIN.min(self.blocks / 10) {
            return None;
        }
        let room = self.pages(f64::from(last)) - self.frozen_pages;
        let valid = (self.valid_pages - self.frozen_pages - pages).max(1.0);
        let share = valid_share_of_victims(room / valid, writes.two_kinds(time))?;
        relocations += inflow * share / (1.0 - share);
        expected.push(share);
        Some(Chain { sizes: sizes.to_vec(), expected, relocations })
    }
}

/// The valid share of the oldest block where there is `room` for each valid page, if they fit: the write
/// amplification A of pages of two kinds, the first of which has `pages` of all pages and `writes` of all writes, is
/// 1 + the sum over both of writes / (exp(writes x room / (pages x A)) - 1) (Desnoyers).
fn valid_share_of_victims(room: f64, (writes, pages): (f64, f64)) -> Option<f64> {
    if room <= 1.001 {
        return None;
    }
    let moved = |writes: f64, pages: f64, waf: f64| {
        if writes <= 0.0 || pages <= 0.0 {
            0.0
        } else {
            writes / (writes * room / (pages * waf)).exp_m1()
        }
    };
    let is_too_low =
        |waf: f64| 1.0 + moved(writes, pages, waf) + moved(1.0 - writes, 1.0 - pages, waf) > waf;
    let (mut low, mut high) = (1.0, 10_000.0);
    for _ in 0..50 {
        let middle = f64::midpoint(low, high);
        if is_too_low(middle) { low = middle } else { high = middle }
    }
    Some(1.0 - 1.0 / low)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::midas::intervals::tests::two_lifetimes;

    #[test]
    fn victims_are_emptier_than_the_rest() {
        // u = (v - 1) / ln v for one kind of pages.
        for (valid, expected) in [(0.5, 0.2032), (0.8, 0.6286)] {
            let share = valid_share_of_victims(1.0 / valid, (0.5, 0.5)).unwrap();
            assert!((share - expected).abs() < 1e-3, "{valid}: {share}");
        }
        assert_eq!(valid_share_of_victims(1.0, (0.5, 0.5)), None);
        let skewed = valid_share_of_victims(1.25, (0.9, 0.1)).unwrap();
        assert!(skewed > 0.3 && skewed < 0.95, "{skewed}");
    }

    #[test]
    fn the_first_groups_hold_short_lived_pages_until_they_end() {
        let writes = two_lifetimes();
        let demand = Demand {
            writes: &writes,
            hot: Some(HotGroup { blocks: 1.0, traffic: 0.1, valid: 0.5 }),
            blocks: 100,
            pages_per_block: 100,
            valid_pages: 7_000.0,
            frozen_pages: 0.0,
        };
        let chain = demand.best_chain().unwrap();
        assert_eq!(chain.sizes[0], 1);
        let blocks: u32 = chain.sizes.iter().sum();
        assert!((6..=20).contains(&blocks), "{chain:?}");
        let alive: f64 = chain.expected[1..chain.sizes.len()].iter().product();
        assert!((alive - 0.5).abs() < 0.01, "{chain:?}");
        assert!(chain.relocations < demand.chain(&[1]).unwrap().relocations);
    }
}
