//! How long pages live, and what that lets expect of a chain of groups.

use crate::state::state;

/// Buckets of a distribution at most.
const BUCKETS_MAX: u32 = 4096;

/// Groups without the hot one, at most.
pub(super) const GROUPS_MAX: usize = 7;

/// How much the relocations have to fall for a group more to be worth it.
const WORTHWHILE: f64 = 0.995;

/// Rounds in which every size is chosen again.
const ROUNDS: usize = 3;

/// The update interval distribution of an epoch: how long the sampled writes lived.
pub(super) struct Intervals {
    /// Host writes per bucket.
    unit: u32,
    deaths: Vec<u32>,
    writes: u32,
}

state!(Intervals { deaths, writes } constant unit);

impl Intervals {
    /// For intervals up to `epoch` host writes, told apart by a block of pages or coarser.
    pub(super) fn new(epoch: u64, pages_per_block: u32) -> Self {
        let unit = u64::from(pages_per_block).max(epoch.div_ceil(u64::from(BUCKETS_MAX)));
        let unit = u32::try_from(unit).unwrap_or(u32::MAX);
        let buckets = (epoch / u64::from(unit) + 1) as usize;
        Self { unit, deaths: vec![0; buckets], writes: 0 }
    }

    /// A sampled write begins to live.
    #[inline]
    pub(super) fn begin(&mut self) {
        self.writes += 1;
    }

    /// One ends after `interval` host writes.
    #[inline]
    pub(super) fn end(&mut self, interval: u32) {
        if let Some(deaths) = self.deaths.get_mut((interval / self.unit) as usize) {
            *deaths += 1;
        }
    }

    pub(super) fn clear(&mut self) {
        self.deaths.fill(0);
        self.writes = 0;
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.deaths[..])
    }

    /// Which share of the writes outlives what; none if nothing was sampled.
    pub(super) fn survival(&self) -> Option<Survival> {
        let deaths: u64 = self.deaths.iter().map(|&deaths| u64::from(deaths)).sum();
        // Some that end had begun in the epoch before.
        let writes = u64::from(self.writes).max(deaths);
        if writes == 0 {
            return None;
        }
        let unit = f64::from(self.unit);
        let (mut left, mut lived) = (writes, 0.0);
        let mut alive = vec![1.0];
        let mut lived_up_to = vec![0.0];
        for &deaths in &self.deaths {
            let before = left as f64 / writes as f64;
            left -= u64::from(deaths);
            let after = left as f64 / writes as f64;
            lived += unit * (before + after) / 2.0;
            alive.push(after);
            lived_up_to.push(lived);
        }
        Some(Survival { unit, alive, lived: lived_up_to })
    }
}

/// Survival of pages that the host writes.
pub(super) struct Survival {
    unit: f64,
    /// Multiple of the unit -> share of the pages that live longer.
    alive: Vec<f64>,
    /// Multiple of the unit -> mean time lived up to then.
    lived: Vec<f64>,
}

impl Survival {
    /// The share of pages that live longer than `time`.
    fn share(&self, time: f64) -> f64 {
        let (bucket, part) = self.bucket(time);
        self.alive[bucket] + part * (self.alive[bucket + 1] - self.alive[bucket])
    }

    /// How long a page lives up to `time` on average.
    #[inline]
    fn lived(&self, time: f64) -> f64 {
        let (bucket, part) = self.bucket(time);
        let beyond = time - self.unit * (bucket as f64 + part);
        self.lived[bucket]
            + part * (self.lived[bucket + 1] - self.lived[bucket])
            + beyond * self.alive[bucket + 1]
    }

    fn bucket(&self, time: f64) -> (usize, f64) {
        let last = self.alive.len() - 2;
        let place = time / self.unit;
        let bucket = (place as usize).min(last);
        (bucket, (place - bucket as f64).min(1.0))
    }
}

/// The drive and the traffic that a chain of groups is made for.
pub(super) struct Demand<'a> {
    pub(super) survival: &'a Survival,
    /// Pages per host write that reach the first group.
    pub(super) inflow: f64,
    /// Blocks of all groups together.
    pub(super) blocks: u32,
    pub(super) pages_per_block: u32,
    /// Valid pages in them.
    pub(super) valid_pages: f64,
    /// Those of them that have been there for longer than an epoch: the last group has them.
    pub(super) cold_pages: f64,
}

/// A chain of groups as the model sees it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Chain {
    /// Blocks of every group but the last, which has the rest.
    pub(super) sizes: Vec<u32>,
    /// Relocations per host write.
    pub(super) relocations: f64,
}

impl Demand<'_> {
    /// The chain with the fewest relocations; of two that are about as good the shorter one.
    pub(super) fn best_chain(&self) -> Chain {
        let mut best = self.chain(Vec::new());
        for _ in 1..GROUPS_MAX {
            let mut longer = best.clone();
            longer.sizes.push(1);
            longer = self.refine(self.chain(longer.sizes));
            if longer.relocations >= best.relocations * WORTHWHILE {
                break;
            }
            best = longer;
        }
        best
    }

    /// Chooses the size of one group after the other among powers of about 2^(1/2).
    fn refine(&self, mut best: Chain) -> Chain {
        for _ in 0..ROUNDS {
            for group in (0..best.sizes.len()).rev() {
                let mut size = 1;
                while size < self.blocks {
                    let mut sizes = best.sizes.clone();
                    sizes[group] = size;
                    let chain = self.chain(sizes);
                    if chain.relocations < best.relocations {
                        best = chain;
                    }
                    size = (size + size / 2).max(size + 1);
                }
            }
        }
        best
    }

    /// The relocations of a chain: pages that outlive a group move to the next one; the last collects
    /// as FIFO does under uniform writes.
    fn chain(&self, sizes: Vec<u32>) -> Chain {
        let pages = |blocks: u32| f64::from(blocks) * f64::from(self.pages_per_block);
        let (mut inflow, mut time, mut relocations) = (self.inflow, 0.0, 0.0);
        for &size in &sizes {
            time += pages(size) / inflow.max(1e-9);
            inflow = self.inflow * self.survival.share(time);
            relocations += inflow;
        }
        let last = self.blocks.saturating_sub(sizes.iter().sum());
        let valid = self.valid_pages - self.inflow * self.survival.lived(time);
        relocations += match valid_share_of_victims(valid.max(self.cold_pages) / pages(last)) {
            Some(share) => inflow * share / (1.0 - share),
            None => f64::INFINITY,
        };
        Chain { sizes, relocations }
    }

    /// The valid share that the model expects of a group's blocks when they leave it.
    pub(super) fn valid_shares(&self, sizes: &[u32]) -> Vec<f64> {
        let (mut inflow, mut time, mut alive) = (self.inflow, 0.0, 1.0);
        let share = |&size: &u32| {
            time += f64::from(size) * f64::from(self.pages_per_block) / inflow.max(1e-9);
            let before = std::mem::replace(&mut alive, self.survival.share(time));
            inflow = self.inflow * alive;
            if before > 0.0 { alive / before } else { 0.0 }
        };
        sizes.iter().map(share).collect()
    }
}

/// The valid share v of the oldest block where a share u of all pages is valid: u = (v - 1) / ln v; none
/// where the pages do not fit.
fn valid_share_of_victims(valid_share: f64) -> Option<f64> {
    if !(0.0..0.999).contains(&valid_share) {
        return None;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..40 {
        let middle: f64 = 0.5 * (low + high);
        let share = (middle - 1.0) / middle.ln();
        if share < valid_share { low = middle } else { high = middle }
    }
    Some(0.5 * (low + high))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the writes live for 1,000 host writes, the others beyond the epoch.
    fn two_lifetimes() -> Survival {
        let mut intervals = Intervals::new(40_000, 100);
        for write in 0..1000 {
            intervals.begin();
            if write % 2 == 0 {
                intervals.end(1000);
            }
        }
        intervals.survival().unwrap()
    }

    #[test]
    fn survival_falls_where_writes_end() {
        let survival = two_lifetimes();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9;
        assert!(close(survival.share(1000.0), 1.0) && close(survival.share(1100.0), 0.5));
        assert!(close(survival.share(1e9), 0.5) && close(survival.lived(1000.0), 1000.0));
        assert!(close(survival.lived(2100.0), 1075.0 + 500.0));
        assert!(Intervals::new(10, 10).survival().is_none());
    }

    #[test]
    fn victims_are_emptier_than_the_rest() {
        for (valid, expected) in [(0.5, 0.2032), (0.8, 0.6286), (0.0, 0.0)] {
            let share = valid_share_of_victims(valid).unwrap();
            assert!((share - expected).abs() < 1e-3, "{valid}: {share}");
        }
        assert_eq!(valid_share_of_victims(1.0), None);
    }

    #[test]
    fn the_first_group_holds_short_lived_pages_until_they_end() {
        let survival = two_lifetimes();
        let demand = Demand {
            survival: &survival,
            inflow: 1.0,
            blocks: 100,
            pages_per_block: 100,
            valid_pages: 7_000.0,
            cold_pages: 0.0,
        };
        let chain = demand.best_chain();
        // 11 blocks take 1,100 host writes.
        assert!((11..=16).contains(&chain.sizes[0]), "{chain:?}");
        assert!((demand.valid_shares(&chain.sizes)[0] - 0.5).abs() < 1e-9);
    }
}
