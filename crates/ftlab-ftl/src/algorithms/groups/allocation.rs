//! How over-provisioned space is divided among groups.

use crate::algorithms::groups::group::{GROUPS_MAX, Groups};
use crate::page::DriveState;
use crate::state::state;

/// A group whose pages are hit less than this share as often as those of the next is very cold.
const VERY_COLD_SHARE: f64 = 0.05;

/// Of a group's size: what a very cold group gets.
const VERY_COLD_OVER_PROVISIONING: f64 = 0.05;

/// Most steps of the search for the optimum, how long one may be, and how far it goes: on an almost
/// empty drive a page more is worth less than the smallest number.
const STEPS_MAX: u32 = 20;
const STEP_MAX: f64 = 30.0;
const LOG_PRICE_MAX: f64 = 300.0;

ftlab_spec::choices! {
    /// How over-provisioned space is divided among groups.
    pub enum Allocation {
        /// Wolf's mean of a division by size and one by update frequency.
        ClosedForm = "closed-form",
        /// In proportion to the root of size times update frequency; ours, not the paper's.
        Sqrt = "sqrt",
        /// The numeric minimum of expected write amplification.
        Optimum = "optimum",
    }
}

ftlab_spec::choices! {
    /// Of which group's size a very cold group gets a fixed share as over-provisioned space.
    pub enum VeryCold {
        /// Its own, but no more than the closed form gives.
        Own = "own",
        /// The smallest group's, as printed.
        Smallest = "smallest",
        /// Of none: the closed form holds for it too.
        Off = "off",
    }
}

/// A group as an allocation sees it.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    /// Valid pages.
    size: f64,
    /// Share of host writes.
    frequency: f64,
    /// The answer: pages beyond its size.
    over_provisioning: f64,
}

/// Sets the targets of groups.
pub(crate) struct Allocator {
    rule: Allocation,
    very_cold: VeryCold,
    /// Where the search for the optimum begins: the logarithm of the price it ended at.
    log_price: f64,
}

state!(Allocator { log_price } constant rule, very_cold);

impl Allocator {
    pub(crate) fn new(rule: Allocation, very_cold: VeryCold) -> Self {
        Self { rule, very_cold, log_price: 0.0 }
    }

    /// Sets the target of every group, with the update frequencies that `frequency` tells.
    pub(crate) fn apply(
        &mut self,
        groups: &mut Groups,
        drive: &DriveState,
        frequency: impl Fn(usize, &Groups) -> f64,
    ) {
        let total = groups.over_provisioning(drive);
        let mut shares = [Share::default(); GROUPS_MAX];
        let count = groups.order().len();
        for (place, share) in shares[..count].iter_mut().enumerate() {
            let size = f64::from(groups.get(groups.order()[place]).size());
            *share = Share { size, frequency: frequency(place, groups), over_provisioning: 0.0 };
        }
        self.divide(&mut shares[..count], total);
        for (place, share) in shares[..count].iter().enumerate() {
            let group = groups.order()[place];
            groups.get_mut(group).over_provisioning = share.over_provisioning;
        }
    }

    /// Divides `total` pages among groups, of which the first is the coldest.
    fn divide(&mut self, shares: &mut [Share], total: f64) {
        match self.rule {
            Allocation::ClosedForm => {
                closed_form(shares, total);
                special_case(self.very_cold, shares, total);
            }
            Allocation::Sqrt => {
                in_proportion(shares, total, |share| (share.size * share.frequency).sqrt());
            }
            Allocation::Optimum => optimum(shares, total, &mut self.log_price),
        }
    }
}

/// Equation 8: half in proportion to size, half to update frequency.
fn closed_form(shares: &mut [Share], total: f64) {
    let size: f64 = shares.iter().map(|share| share.size).sum();
    let frequency: f64 = shares.iter().map(|share| share.frequency).sum();
    for share in shares {
        let by_size = if size > 0.0 { share.size / size } else { 0.0 };
        let by_frequency = if frequency > 0.0 { share.frequency / frequency } else { by_size };
        share.over_provisioning = total * f64::midpoint(by_size, by_frequency);
    }
}

/// Section 5.5.3: if the first group is very cold, it gets a fixed space and the others the rest.
fn special_case(very_cold: VeryCold, shares: &mut [Share], total: f64) {
    let [coldest, others @ ..] = shares else { return };
    let Some(next) = others.first() else { return };
    if coldest.frequency * next.size >= VERY_COLD_SHARE * next.frequency * coldest.size {
        return;
    }
    let fixed = match very_cold {
        VeryCold::Off => return,
        VeryCold::Own => {
            (VERY_COLD_OVER_PROVISIONING * coldest.size).min(coldest.over_provisioning)
        }
        VeryCold::Smallest => {
            let smallest = others.iter().map(|share| share.size).fold(coldest.size, f64::min);
            (VERY_COLD_OVER_PROVISIONING * smallest).min(total)
        }
    };
    coldest.over_provisioning = fixed;
    closed_form(others, total - fixed);
}

/// In proportion to a weight, or to size if no group has any.
fn in_proportion(shares: &mut [Share], total: f64, weight: impl Fn(&Share) -> f64) {
    let sum: f64 = shares.iter().map(&weight).sum();
    let size: f64 = shares.iter().map(|share| share.size).sum();
    for share in shares {
        let part = if sum > 0.0 { weight(share) / sum } else { share.size / size.max(1.0) };
        share.over_provisioning = total * part;
    }
}

/// Minimises the sum of p A(s, OP), with A = 1 / (1 - d) and s / (s + OP) = (d - 1) / ln d.
///
/// With d = e^-t, A changes with OP by -1 / (s (e^t - 1 - t)): at the minimum all groups have the same
/// price p / (s (e^t - 1 - t)). Newton's steps in logarithms find it from `log_price`, where the last
/// search ended; from one interval to the next it hardly moves.
fn optimum(shares: &mut [Share], total: f64, log_price: &mut f64) {
    for _ in 0..STEPS_MAX {
        let (mut sum, mut slope) = (0.0, 0.0);
        let price = log_price.exp();
        for share in shares.iter_mut() {
            let (pages, change) = pages_at(share, price);
            share.over_provisioning = pages;
            sum += pages;
            slope += change;
        }
        let error = (sum / total).ln();
        // What is wrong with the sum is shared out below, at a loss of about its square.
        if !error.is_finite() || error.abs() < 1e-4 {
            break;
        }
        let step = (error * sum / slope).clamp(-STEP_MAX, STEP_MAX);
        *log_price = (*log_price + step).clamp(-LOG_PRICE_MAX, LOG_PRICE_MAX);
    }
    in_proportion(shares, total, |share| share.over_provisioning);
}

/// Over-provisioning at which a page more is worth `price` to a group, and by how much it falls as the
/// logarithm of the price rises.
fn pages_at(share: &Share, price: f64) -> (f64, f64) {
    if share.size <= 0.0 || share.frequency <= 0.0 {
        return (0.0, 0.0);
    }
    let y = share.frequency / (share.size * price);
    let t = inverse(y);
    if t < 1e-4 {
        return (share.size * t / 2.0, share.size * t / 4.0);
    }
    let invalid = -(-t).exp_m1();
    let slope = (invalid - t * (1.0 - invalid)) / (invalid * invalid);
    let change = y * (1.0 - invalid) / invalid;
    (share.size * (t / invalid - 1.0), share.size * slope * change)
}

/// The t > 0 at which e^t - 1 - t = `y`, that is t = ln(1 + t + y).
fn inverse(y: f64) -> f64 {
    let root = (2.0 * y).sqrt();
    let mut t = if y < 1.0 { root * (1.0 - root / 6.0) } else { (1.0 + y + y.ln_1p()).ln() };
    for _ in 0..2 {
        let sum = t + y;
        t -= (t - sum.ln_1p()) * (1.0 + sum) / sum;
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shares(of: &[(f64, f64)]) -> Vec<Share> {
        of.iter()
            .map(|&(size, frequency)| Share { size, frequency, over_provisioning: 0.0 })
            .collect()
    }

    /// Expected write amplification of a division.
    fn expected(shares: &[Share]) -> f64 {
        let of = |share: &Share| {
            let (mut low, mut high) = (1e-12_f64, 1.0 - 1e-12);
            for _ in 0..200 {
                let d = f64::midpoint(low, high);
                let full = (d - 1.0) / d.ln();
                if full > share.size / (share.size + share.over_provisioning) {
                    high = d;
                } else {
                    low = d;
                }
            }
            share.frequency / (1.0 - low)
        };
        shares.iter().map(of).sum()
    }

    #[test]
    fn every_division_gives_out_all_pages() {
        for kind in [Allocation::ClosedForm, Allocation::Sqrt, Allocation::Optimum] {
            for of in
                [&[(900.0, 0.1), (100.0, 0.9)][..], &[(500.0, 0.001), (300.0, 0.2), (200.0, 0.799)]]
            {
                let mut shares = shares(of);
                Allocator::new(kind, VeryCold::Off).divide(&mut shares, 120.0);
                let sum: f64 = shares.iter().map(|share| share.over_provisioning).sum();
                assert!((sum - 120.0).abs() < 1e-6, "{kind}: {shares:?}");
            }
        }
    }

    #[test]
    fn closed_form_is_the_mean_of_two_divisions() {
        let mut shares = shares(&[(900.0, 0.1), (100.0, 0.9)]);
        Allocator::new(Allocation::ClosedForm, VeryCold::Off).divide(&mut shares, 100.0);
        assert!((shares[0].over_provisioning - 50.0).abs() < 1e-9, "{shares:?}");
    }

    #[test]
    fn a_very_cold_group_gets_a_fixed_space() {
        for (kind, expected) in
            [(VeryCold::Own, 45.0), (VeryCold::Smallest, 5.0), (VeryCold::Off, 91.0)]
        {
            let mut shares = shares(&[(900.0, 0.01), (100.0, 0.99)]);
            Allocator::new(Allocation::ClosedForm, kind).divide(&mut shares, 200.0);
            assert!((shares[0].over_provisioning - expected).abs() < 1e-9, "{kind}: {shares:?}");
            assert!((shares[1].over_provisioning - 200.0 + expected).abs() < 1e-9, "{kind}");
        }
    }

    #[test]
    fn no_small_change_improves_the_optimum() {
        let mut best = shares(&[(500.0, 0.05), (300.0, 0.25), (200.0, 0.7)]);
        Allocator::new(Allocation::Optimum, VeryCold::Off).divide(&mut best, 300.0);
        let least = expected(&best);
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)] {
            let mut other = best.clone();
            other[from].over_provisioning -= 3.0;
            other[to].over_provisioning += 3.0;
            assert!(expected(&other) > least, "{from} -> {to}: {best:?}");
        }
        for kind in [Allocation::ClosedForm, Allocation::Sqrt] {
            let mut other = best.clone();
            Allocator::new(kind, VeryCold::Off).divide(&mut other, 300.0);
            assert!(expected(&other) > least && expected(&other) < 1.03 * least, "{kind}");
        }
    }

    #[test]
    fn the_search_ends_at_the_same_price_wherever_it_begins() {
        for y in [1e-12, 1e-6, 0.01, 0.9, 1.1, 30.0, 1e9] {
            let t = inverse(y);
            let back = if t < 1e-3 { t * t / 2.0 + t * t * t / 6.0 } else { t.exp_m1() - t };
            assert!((back / y - 1.0).abs() < 1e-6, "{y}: {t}");
        }
        for total in [1e-3, 1.0, 300.0, 1e6] {
            let mut prices = [-100.0, -20.0, 0.0, 20.0, 100.0];
            for price in &mut prices {
                let mut groups = shares(&[(500.0, 1e-6), (300.0, 0.3), (1.0, 0.7), (0.0, 0.0)]);
                optimum(&mut groups, total, price);
            }
            let same = prices.iter().all(|price| (price - prices[0]).abs() < 0.01);
            assert!(same, "{total}: {prices:?}");
        }
    }
}
