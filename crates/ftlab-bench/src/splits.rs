//! Wolf's brute force: how far each rule for dividing the spare pages is from the optimum, over all
//! workloads of a few groups whose sizes and frequencies are multiples of 1/Q.
//!
//! Dayan, Bouganim and Bonnet, 2015, section 5.5.3, figures 4 and 5.

use ftlab_model::split::{Allocation, Group, write_amplification};
use rayon::prelude::*;
use std::ops::AddAssign;
use std::time::Instant;

/// Chunks of size and of frequency, the paper's Q.
const CHUNKS: [u8; 2] = [10, 20];
const GROUPS_MIN: usize = 2;
const GROUPS_MAX: usize = 9;
/// Logical pages / physical pages, the paper's LBA/PBA.
const UTILISATIONS: [f64; 4] = [0.6, 0.7, 0.8, 0.9];
/// What figure 4 and figure 5 hold fixed.
const FIGURE_4_UTILISATION: f64 = 0.7;
const FIGURE_5_GROUPS: usize = 5;

/// Everything that is compared with the optimum.
const RULES: [Allocation; 5] = [
    Allocation::Wolf,
    Allocation::WolfCold,
    Allocation::BySize,
    Allocation::ByFrequency,
    Allocation::SquareRoot,
];

/// Workloads per task; results are summed in their order, whatever the number of threads.
const TASK: usize = 1024;

/// Chunks of size and of frequency of each group.
type Workload = Vec<(u8, u8)>;

/// Excess over the optimum.
#[derive(Debug, Clone, Default)]
struct Excess {
    sum: f64,
    max: f64,
    /// The workload of the maximum.
    worst: Workload,
}

/// Excesses of every rule over some workloads.
#[derive(Debug, Clone, Default)]
struct Study {
    workloads: u64,
    rules: [Excess; RULES.len()],
}

impl AddAssign<&Study> for Study {
    fn add_assign(&mut self, other: &Self) {
        self.workloads += other.workloads;
        for (mine, other) in self.rules.iter_mut().zip(&other.rules) {
            mine.sum += other.sum;
            if other.max > mine.max {
                (mine.max, mine.worst) = (other.max, other.worst.clone());
            }
        }
    }
}

impl Study {
    fn add(&mut self, workload: &Workload, chunks: u8, utilisation: f64) {
        let share = |part: u8| f64::from(part) / f64::from(chunks);
        let groups: Vec<_> = workload
            .iter()
            .map(|(size, writes)| Group { pages: share(*size), writes: share(*writes) })
            .collect();
        let spare = 1.0 / utilisation - 1.0;
        let waf = |rule: Allocation| write_amplification(&groups, &rule.divide(&groups, spare));
        let optimum = waf(Allocation::Optimum);
        self.workloads += 1;
        for (excess, rule) in self.rules.iter_mut().zip(RULES) {
            let over = waf(rule) / optimum - 1.0;
            assert!(over > -1e-9, "{rule:?} beats the optimum on {workload:?}, {utilisation}");
            excess.sum += over;
            if over > excess.max {
                (excess.max, excess.worst) = (over, workload.clone());
            }
        }
    }

    fn print(&self, label: &str) {
        print!("{label:22} {:>9}", self.workloads);
        for excess in &self.rules {
            let mean = 100.0 * excess.sum / self.workloads as f64;
            print!(" {:>16}", format!("{mean:.2} / {:.2}", 100.0 * excess.max));
        }
        println!();
    }
}

/// Every way to give `groups` groups at least one of `chunks` chunks of each kind. Groups have no order:
/// those that only swap groups count once.
fn workloads(chunks: u8, groups: usize) -> Vec<Workload> {
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
    extend(&mut Workload::new(), groups as u8, chunks, chunks, &mut all);
    all
}

fn study(workloads: &[Workload], chunks: u8, utilisation: f64) -> Study {
    let parts: Vec<Study> = workloads
        .par_chunks(TASK)
        .map(|part| {
            let mut study = Study::default();
            for workload in part {
                study.add(workload, chunks, utilisation);
            }
            study
        })
        .collect();
    sum(&parts)
}

fn sum<'a>(parts: impl IntoIterator<Item = &'a Study>) -> Study {
    parts.into_iter().fold(Study::default(), |mut sum, part| {
        sum += part;
        sum
    })
}

/// Runs the study and prints mean and largest excess, in percent.
pub(crate) fn run() {
    let start = Instant::now();
    print!("{:22} {:>9}", "mean / max excess, %", "workloads");
    for rule in RULES {
        print!(" {:>16}", rule.name());
    }
    println!();
    let mut total = Study::default();
    for chunks in CHUNKS {
        let (mut of_all, mut of_figure_5) = (Study::default(), Vec::new());
        for groups in GROUPS_MIN..=GROUPS_MAX {
            let workloads = workloads(chunks, groups);
            for utilisation in UTILISATIONS {
                let study = study(&workloads, chunks, utilisation);
                of_all += &study;
                if utilisation == FIGURE_4_UTILISATION {
                    study.print(&format!("Q {chunks}, {groups} groups, {utilisation}"));
                }
                if groups == FIGURE_5_GROUPS {
                    of_figure_5.push((utilisation, study));
                }
            }
        }
        for (utilisation, study) in of_figure_5 {
            study.print(&format!("Q {chunks}, {FIGURE_5_GROUPS} groups, {utilisation}"));
        }
        of_all.print(&format!("Q {chunks}, all"));
        for (rule, excess) in RULES.iter().zip(&of_all.rules) {
            let worst: Vec<_> =
                excess.worst.iter().map(|(size, writes)| format!("{size}:{writes}")).collect();
            println!("    worst for {}: {}", rule.name(), worst.join(" "));
        }
        total += &of_all;
    }
    total.print("all");
    println!("{} workloads in {:.1} s", total.workloads, start.elapsed().as_secs_f64());
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
    }

    #[test]
    fn our_square_root_is_nearer_to_the_optimum_than_the_closed_form() {
        let study = study(&workloads(10, 3), 10, 0.7);
        let [wolf, square_root] = [&study.rules[0], &study.rules[4]];
        assert!(square_root.sum < wolf.sum && square_root.max < wolf.max);
    }
}
