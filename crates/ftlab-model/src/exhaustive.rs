//! Every workload of a few groups, and how far a rule for dividing the spare pages is from the optimum.
//!
//! Source: Wolf (Dayan, Bouganim and Bonnet, 2015), section 5.5.3, figures 4 and 5: sizes and
//! frequencies of the groups are multiples of 1/Q, at least one each.
//!
//! ```
//! use ftlab_model::exhaustive::{excesses, workloads};
//! use ftlab_model::split::Allocation;
//!
//! let workloads = workloads(10, 3);
//! let [wolf, root] = excesses([Allocation::Wolf, Allocation::SquareRoot], &workloads, 10, 0.7);
//! assert_eq!(wolf.workloads, 224);
//! assert!(root.mean() < wolf.mean() && wolf.mean() < 0.005);
//! ```

use crate::split::{Allocation, Group, write_amplification};

/// Chunks of size and of frequency of each group.
pub type Workload = Vec<(u8, u8)>;

/// How much more a rule amplifies than the optimum.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Excess {
    /// Workloads that were compared.
    pub workloads: u64,
    /// The largest excess, as a share of the optimum's write amplification.
    pub max: f64,
    /// The workload that has it.
    pub worst: Workload,
    sum: f64,
}

impl Excess {
    /// The mean excess, as a share of the optimum's write amplification.
    pub fn mean(&self) -> f64 {
        self.sum / self.workloads.max(1) as f64
    }

    fn add(&mut self, over: f64, workload: &Workload) {
        self.workloads += 1;
        self.sum += over;
        if over > self.max {
            (self.max, self.worst) = (over, workload.clone());
        }
    }
}

/// Every way to give `groups` groups at least one of `chunks` chunks of each kind. Groups have no
/// order: workloads that only swap groups count once.
pub fn workloads(chunks: u8, groups: u8) -> Vec<Workload> {
    fn extend(prefix: &mut Workload, groups: u8, size: u8, writes: u8, all: &mut Vec<Workload>) {
        let previous = prefix.last().copied().unwrap_or((1, 1));
        if groups == 1 {
            if (size, writes) >= previous {
                prefix.push((size, writes));
                all.push(prefix.clone());
                prefix.pop();
            }
            return;
        }
        for own_size in previous.0..=size / groups {
            for own_writes in 1..=writes - (groups - 1) {
                if (own_size, own_writes) >= previous {
                    prefix.push((own_size, own_writes));
                    extend(prefix, groups - 1, size - own_size, writes - own_writes, all);
                    prefix.pop();
                }
            }
        }
    }
    let mut all = Vec::new();
    if groups > 0 && groups <= chunks {
        extend(&mut Workload::new(), groups, chunks, chunks, &mut all);
    }
    all
}

/// The excess of each rule over workloads of `chunks` chunks, with logical / physical pages of
/// `utilisation`, between 0 and 1.
///
/// # Panics
/// If `utilisation` is not between 0 and 1.
pub fn excesses<const N: usize>(
    rules: [Allocation; N],
    workloads: &[Workload],
    chunks: u8,
    utilisation: f64,
) -> [Excess; N] {
    assert!(utilisation > 0.0 && utilisation < 1.0, "{utilisation} is not between 0 and 1");
    let mut excesses = rules.map(|_| Excess::default());
    let share = |part: u8| f64::from(part) / f64::from(chunks);
    let spare = 1.0 / utilisation - 1.0;
    for workload in workloads {
        let groups = workload
            .iter()
            .map(|(size, writes)| Group { pages: share(*size), writes: share(*writes) });
        let groups: Vec<_> = groups.collect();
        let waf = |rule: Allocation| write_amplification(&groups, &rule.divide(&groups, spare));
        let optimum = waf(Allocation::Optimum);
        for (excess, rule) in excesses.iter_mut().zip(rules) {
            excess.add(waf(rule) / optimum - 1.0, workload);
        }
    }
    excesses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_all_there_are_and_each_once() {
        // Two groups of four chunks: sizes 1+3 with writes 1+3, 2+2, 3+1; sizes 2+2 with 1+3, 2+2.
        let expected: [Workload; 5] = [
            vec![(1, 1), (3, 3)],
            vec![(1, 2), (3, 2)],
            vec![(1, 3), (3, 1)],
            vec![(2, 1), (2, 3)],
            vec![(2, 2), (2, 2)],
        ];
        assert_eq!(workloads(4, 2), expected);
        for workload in workloads(10, 5) {
            let sums = workload.iter().fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
            assert_eq!(sums, (10, 10), "{workload:?}");
        }
        assert!(workloads(3, 4).is_empty() && workloads(3, 0).is_empty());
    }

    #[test]
    fn no_rule_beats_the_optimum() {
        for excess in excesses(Allocation::ALL, &workloads(10, 4), 10, 0.8) {
            assert!(excess.mean() > -1e-9, "{excess:?}");
        }
    }
}
