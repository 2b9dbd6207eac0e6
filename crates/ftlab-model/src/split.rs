//! Dividing the spare pages of a drive among groups of pages that are kept apart.
//!
//! Each group has blocks of its own, its writes are uniform, and it is cleaned by itself: it amplifies
//! its writes as a drive of its own would, by [`group`]. Wolf (Dayan, Bouganim and Bonnet, "Modelling
//! and managing SSD write-amplification", 2015) asks how much of the over-provisioning each group
//! should get. The paper's printed equations 4 and 7 have misprints; what is here reads them so that
//! they follow from its equation 3, and says so.
//!
//! ```
//! use ftlab_model::split::{Allocation, Group, write_amplification};
//!
//! // Nine in ten writes go to a tenth of the pages; the spare pages are 10% of the data.
//! let groups = [Group { pages: 0.1, writes: 0.9 }, Group { pages: 0.9, writes: 0.1 }];
//! let best = Allocation::Optimum.divide(&groups, 0.1);
//! let wolf = Allocation::Wolf.divide(&groups, 0.1);
//! let [best, wolf] = [best, wolf].map(|spare| write_amplification(&groups, &spare));
//! assert!(best < wolf && wolf < 1.01 * best);
//! ```

use crate::{lambert, uniform};

/// Pages that are kept apart from others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// Logical pages, in any unit, such as shares of the drive.
    pub pages: f64,
    /// Share of the host's writes.
    pub writes: f64,
}

impl Group {
    /// Writes per page: the group's temperature.
    fn rate(&self) -> f64 {
        self.writes / self.pages
    }
}

/// Write amplification of one group of `pages` pages with `spare` spare pages, in the same unit.
///
/// A = 1 / (1 - d), where d is the share of a victim's pages that are still valid and solves
/// s / (s + OP) = (d - 1) / ln d. By Lambert's W this is [`uniform::fifo`] of OP / s.
///
/// Source: Wolf, section 4.2, equation 3 and appendix A; section 5.5, equation 4, which prints s - OP
/// where it follows from equation 3 that s + OP is meant.
///
/// # Panics
/// If `pages` is not positive or `spare` is negative.
pub fn group(pages: f64, spare: f64) -> f64 {
    assert!(pages > 0.0, "a group of {pages} pages must have some");
    uniform::fifo(spare / pages)
}

/// Write amplification of all groups together: the mean of theirs, weighted by their writes.
///
/// `spare` has the unit of [`Group::pages`] and one number for each group. A group that is not written
/// counts for nothing, one that is written and has nothing spare makes the sum infinite.
///
/// Source: Wolf, section 5.5, equation 5.
///
/// # Panics
/// If `spare` has another length than `groups`, or as [`group`].
pub fn write_amplification(groups: &[Group], spare: &[f64]) -> f64 {
    assert_eq!(groups.len(), spare.len(), "one number of spare pages for each group");
    let written = groups.iter().zip(spare).filter(|(of, _)| of.writes > 0.0);
    written.map(|(of, spare)| of.writes * group(of.pages, *spare)).sum()
}

/// A rule by which the spare pages are divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// In proportion to pages, so that all groups have the same over-provisioning.
    ///
    /// What greedy cleaning across groups comes to. Wolf, section 5.5.1, equation 6.
    BySize,
    /// In proportion to writes. Wolf, section 5.5.2, equation 7, read as OP_x = p_x OP; its second
    /// line has another unit than its first.
    ByFrequency,
    /// The mean of [`BySize`](Self::BySize) and [`ByFrequency`](Self::ByFrequency). Wolf, section
    /// 5.5.3, equation 8.
    Wolf,
    /// [`Wolf`](Self::Wolf) with a fixed part for a group that is far colder than all others.
    ///
    /// If the coldest group has less than 5% of the writes per page of the second coldest, it gets 5%
    /// of the pages of the smallest group, and the others share the rest by equation 8. Our reading: it
    /// never gets more than equation 8 gives it. Wolf, section 5.5.3.
    WolfCold,
    /// In proportion to the square root of writes x pages.
    ///
    /// Our own derivation, not in the paper: where little is spare, A is near s / (2 OP), and
    /// sum p_i s_i / (2 OP_i) is least, for a given sum of the OP_i, if OP_i is proportional to
    /// sqrt(p_i s_i).
    SquareRoot,
    /// The division that amplifies least, by [`optimum`].
    Optimum,
}

/// Largest step of the optimum's search, in the logarithm of the price.
const STEP_MAX: f64 = 10.0;

/// See [`Allocation::WolfCold`].
const COLD_RATE_RATIO: f64 = 0.05;
const COLD_SPARE_RATIO: f64 = 0.05;

impl Allocation {
    /// Every rule, the optimum last.
    pub const ALL: [Self; 6] = [
        Self::BySize,
        Self::ByFrequency,
        Self::Wolf,
        Self::WolfCold,
        Self::SquareRoot,
        Self::Optimum,
    ];

    /// Its name in commands and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::BySize => "by-size",
            Self::ByFrequency => "by-frequency",
            Self::Wolf => "wolf",
            Self::WolfCold => "wolf-cold",
            Self::SquareRoot => "square-root",
            Self::Optimum => "optimum",
        }
    }

    /// The spare pages of each group; they sum to `spare`, in the unit of [`Group::pages`].
    ///
    /// # Panics
    /// If there is no group, a group has no pages or a negative share of writes, the shares of writes
    /// do not sum to 1 within a millionth, or `spare` is negative or not finite.
    pub fn divide(self, groups: &[Group], spare: f64) -> Vec<f64> {
        check(groups, spare);
        match self {
            Self::BySize => shared(groups, spare, |group| group.pages),
            Self::ByFrequency => shared(groups, spare, |group| group.writes),
            Self::Wolf => mean_of_size_and_frequency(groups, spare),
            Self::WolfCold => cold_apart(groups, spare),
            Self::SquareRoot => shared(groups, spare, |group| (group.pages * group.writes).sqrt()),
            Self::Optimum => optimum(groups, spare),
        }
    }
}

fn check(groups: &[Group], spare: f64) {
    assert!(spare >= 0.0 && spare.is_finite(), "{spare} spare pages must be at least 0");
    for Group { pages, writes } in groups {
        assert!(*pages > 0.0 && pages.is_finite(), "a group of {pages} pages must have some");
        assert!(*writes >= 0.0, "a group's share of writes, {writes}, must be at least 0");
    }
    let writes: f64 = groups.iter().map(|group| group.writes).sum();
    assert!((writes - 1.0).abs() < 1e-6, "shares of writes sum to {writes}, which must be 1");
}

/// `spare` in proportion to weights.
fn shared(groups: &[Group], spare: f64, weight: impl Fn(&Group) -> f64) -> Vec<f64> {
    let sum: f64 = groups.iter().map(&weight).sum();
    groups.iter().map(|group| spare * weight(group) / sum).collect()
}

fn mean_of_size_and_frequency(groups: &[Group], spare: f64) -> Vec<f64> {
    let pages: f64 = groups.iter().map(|group| group.pages).sum();
    let writes: f64 = groups.iter().map(|group| group.writes).sum();
    let part = |group: &Group| 0.5 * (group.pages / pages + group.writes / writes);
    groups.iter().map(|group| spare * part(group)).collect()
}

fn cold_apart(groups: &[Group], spare: f64) -> Vec<f64> {
    let mut by_rate: Vec<usize> = (0..groups.len()).collect();
    by_rate.sort_by(|a, b| groups[*a].rate().total_cmp(&groups[*b].rate()));
    let usual = mean_of_size_and_frequency(groups, spare);
    let [coldest, second, ..] = by_rate[..] else { return usual };
    if groups[coldest].rate() >= COLD_RATE_RATIO * groups[second].rate() {
        return usual;
    }
    let smallest = groups.iter().map(|group| group.pages).fold(f64::INFINITY, f64::min);
    let fixed = usual[coldest].min(COLD_SPARE_RATIO * smallest);
    let mut others = groups.to_vec();
    others.remove(coldest);
    let mut spares = mean_of_size_and_frequency(&others, spare - fixed);
    spares.insert(coldest, fixed);
    spares
}

/// The division of `spare` that amplifies least.
///
/// The sum is convex, so at its least the last spare page is worth the same in every group:
/// (p_i / s_i) / (1/d_i - 1 + ln d_i) = lambda, the derivative of equation 5 by equation 3. For a given
/// lambda this gives each d_i by Lambert's W on its lower branch, and the spare pages that the groups
/// then ask for, all of which fall as lambda grows; Newton's steps in the logarithms, kept within a
/// bracket, find the lambda at which they ask for `spare`. The derivation is ours; the paper and
/// Stoica and Ailamaki (PVLDB 2013) climb hills.
///
/// # Panics
/// As [`Allocation::divide`], and if `spare` is more than 100 times the pages, where the prices of spare
/// pages leave the range of numbers.
pub fn optimum(groups: &[Group], spare: f64) -> Vec<f64> {
    check(groups, spare);
    let pages: f64 = groups.iter().map(|group| group.pages).sum();
    assert!(spare <= 100.0 * pages, "{spare} spare pages for {pages} pages are too many");
    let mut spares = vec![0.0; groups.len()];
    if spare == 0.0 {
        return spares;
    }
    // Where little is spare, p_i s_i / (2 OP_i^2) = lambda with the OP_i of the square root rule.
    let roots: f64 = groups.iter().map(|group| (group.pages * group.writes).sqrt()).sum();
    let mut log_price = (0.5 * (roots / spare).powi(2)).ln();
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for _ in 0..200 {
        let slope = ask(groups, log_price.exp(), &mut spares);
        let sum: f64 = spares.iter().sum();
        let error = (sum / spare).ln();
        if error.abs() < 1e-13 {
            break;
        }
        if error > 0.0 {
            low = log_price;
        } else {
            high = log_price;
        }
        // A step too far would overflow where much is spare.
        let newton = log_price - (error * sum / slope).clamp(-STEP_MAX, STEP_MAX);
        log_price = if newton > low && newton < high {
            newton
        } else if low.is_finite() && high.is_finite() {
            0.5 * (low + high)
        } else {
            log_price + error.signum()
        };
    }
    let sum: f64 = spares.iter().sum();
    spares.into_iter().map(|of| of * spare / sum).collect()
}

/// Sets what each group asks for where the last spare page is worth `price`, and returns the derivative
/// of their sum by the logarithm of the price.
fn ask(groups: &[Group], price: f64, spares: &mut [f64]) -> f64 {
    let mut slope = 0.0;
    for (group, spare) in groups.iter().zip(spares) {
        let worth = group.rate() / price;
        if worth == 0.0 {
            *spare = 0.0;
            continue;
        }
        // With t = 1/d - 1: t - ln(1 + t) = worth, and OP / s = (1 + t) ln(1 + t) / t - 1.
        let t = lambert::excess(worth);
        *spare = group.pages * lambert::spare_of_excess(t);
        slope -= group.pages * (worth / t).powi(2) * (1.0 + t) / t;
    }
    slope
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn close(value: f64, expected: f64, tolerance: f64) {
        assert!((value / expected - 1.0).abs() < tolerance, "{value} is not {expected}");
    }

    fn groups(pairs: &[(f64, f64)]) -> Vec<Group> {
        pairs.iter().map(|(pages, writes)| Group { pages: *pages, writes: *writes }).collect()
    }

    fn amplification(allocation: Allocation, groups: &[Group], spare: f64) -> f64 {
        write_amplification(groups, &allocation.divide(groups, spare))
    }

    #[test]
    fn a_group_solves_equation_3() {
        for spare in [1e-6, 0.005, 0.02, 0.1, 0.5, 3.0, 10.0] {
            let valid = 1.0 - 1.0 / group(2.0, spare);
            close((valid - 1.0) / valid.ln(), 2.0 / (2.0 + spare), 1e-9);
        }
    }

    #[test]
    fn the_optimum_of_90_10_is_just_below_the_closed_form() {
        // The drive of the golden values: 65,536 pages, 572 usable blocks of 128. Simulations of Wolf's
        // split: 2.2477 with FIFO cleaning, which is what equation 3 describes.
        let groups = groups(&[(6553.0, 0.9), (58_983.0, 0.1)]);
        let spare = 572.0 * 128.0 - 65_536.0;
        let wolf = amplification(Allocation::Wolf, &groups, spare);
        let best = amplification(Allocation::Optimum, &groups, spare);
        close(wolf, 2.2477, 0.005);
        close(wolf, best, 5e-4);
        assert!(best < wolf);
    }

    #[test]
    fn equal_groups_get_equal_parts() {
        let groups = groups(&[(0.25, 0.25); 4]);
        for allocation in Allocation::ALL {
            for part in allocation.divide(&groups, 0.2) {
                close(part, 0.05, 1e-12);
            }
            close(amplification(allocation, &groups, 0.2), uniform::fifo(0.2), 1e-12);
        }
    }

    #[test]
    fn a_cold_group_gets_its_fixed_part() {
        let groups = groups(&[(0.3, 0.599), (0.2, 0.4), (0.5, 0.001)]);
        let spare = Allocation::WolfCold.divide(&groups, 0.1);
        close(spare[2], 0.05 * 0.2, 1e-12);
        close(spare[0] + spare[1], 0.09, 1e-12);
        let at_hand = |allocation| amplification(allocation, &groups, 0.1);
        assert!(at_hand(Allocation::WolfCold) < at_hand(Allocation::Wolf));
    }

    #[test]
    fn the_optimum_is_found_at_the_ends_of_what_can_be_asked() {
        let groups = groups(&[(1e-6, 0.9), (0.3, 0.1 - 1e-9), (0.7, 1e-9)]);
        for spare in [1e-6, 1e-3, 10.0, 100.0] {
            let parts = optimum(&groups, spare);
            close(parts.iter().sum::<f64>(), spare, 1e-12);
            let best = write_amplification(&groups, &parts);
            assert!(best <= amplification(Allocation::SquareRoot, &groups, spare) * (1.0 + 1e-9));
        }
    }

    #[test]
    fn a_group_that_is_not_written_gets_nothing() {
        let groups = groups(&[(0.5, 0.0), (0.5, 1.0)]);
        let spare = optimum(&groups, 0.1);
        assert!(spare[0] <= 0.0);
        close(write_amplification(&groups, &spare), uniform::fifo(0.2), 1e-12);
        assert!(amplification(Allocation::BySize, &groups, 0.0).is_infinite());
    }

    #[test]
    fn the_square_root_meets_the_optimum_where_little_is_spare() {
        let groups = groups(&[(0.05, 0.5), (0.15, 0.3), (0.8, 0.2)]);
        let [root, best] = [Allocation::SquareRoot, Allocation::Optimum]
            .map(|allocation| amplification(allocation, &groups, 1e-4));
        close(root, best, 1e-7);
    }

    #[test]
    #[should_panic(expected = "shares of writes sum to 0.5")]
    fn shares_that_do_not_sum_to_1_are_a_bug() {
        Allocation::Wolf.divide(&groups(&[(1.0, 0.5)]), 0.1);
    }

    fn any_groups() -> impl Strategy<Value = Vec<Group>> {
        // Sizes and rates over four orders of magnitude each.
        let group = (-4.0..0.0, -4.0..0.0);
        prop::collection::vec(group, 2..=10).prop_map(|logs| {
            let pairs: Vec<(f64, f64)> = logs
                .into_iter()
                .map(|(pages, writes): (f64, f64)| (10_f64.powf(pages), 10_f64.powf(writes)))
                .collect();
            let pages: f64 = pairs.iter().map(|pair| pair.0).sum();
            let writes: f64 = pairs.iter().map(|pair| pair.1).sum();
            groups(&pairs.iter().map(|pair| (pair.0 / pages, pair.1 / writes)).collect::<Vec<_>>())
        })
    }

    proptest! {
        #[test]
        fn every_rule_divides_all_there_is(groups in any_groups(), log_spare in -4.0..1.0) {
            let spare = 10_f64.powf(log_spare);
            for allocation in Allocation::ALL {
                let parts = allocation.divide(&groups, spare);
                prop_assert!(parts.iter().all(|part| *part >= 0.0), "{allocation:?} {parts:?}");
                let sum: f64 = parts.iter().sum();
                prop_assert!((sum / spare - 1.0).abs() < 1e-12, "{allocation:?} {sum}");
            }
        }

        #[test]
        fn the_optimum_is_never_worse(
            groups in any_groups(),
            log_spare in -3.0..1.0,
            (from, to) in (0..10_usize, 0..10_usize),
            moved in 0.0..1.0,
        ) {
            let spare = 10_f64.powf(log_spare);
            let mut parts = optimum(&groups, spare);
            let best = write_amplification(&groups, &parts) * (1.0 - 1e-9);
            for allocation in Allocation::ALL {
                let other = amplification(allocation, &groups, spare);
                prop_assert!(other >= best, "{allocation:?} {other} < {best}");
            }
            // Nor does it help to move anything from one group to another.
            let (from, to) = (from % groups.len(), to % groups.len());
            let part = moved * parts[from];
            parts[from] -= part;
            parts[to] += part;
            let other = write_amplification(&groups, &parts);
            prop_assert!(other >= best, "{other} < {best}");
        }
    }
}
