//! What many cells say of an FTL.

use super::cell::{Cell, Outcome};
use ftlab_ftl::page::Hints;
use ftlab_ftl::registry;
use ftlab_sim::result::RunResult;
use serde::Serialize;
use std::collections::BTreeMap;

/// Added to WAF - 1, so that runs that amplify next to nothing do not decide a mean of ratios.
const RELOCATION_FLOOR: f64 = 0.003;

/// Instead of FTLs to hold others against: each against the best of all others in the cell, those that know
/// the future left out.
pub const RIVALS: &str = "rivals";

/// FTLs from best to worst, relative to a baseline.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scoreboard {
    /// The FTLs that others are held against: in each cell, the best of them; or [`RIVALS`].
    pub baseline: Vec<String>,
    /// Every FTL with a result.
    pub scores: Vec<Score>,
    /// Cells without a result, and why.
    pub missing: Vec<(Cell, String)>,
}

/// What all cells of an FTL say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// The FTL as it was named.
    pub ftl: String,
    /// Geometric mean over its cells of (WAF - 1 + 0.003) relative to the baseline's.
    pub relative: f64,
    /// Of the cell where it does best, and of that where it does worst.
    pub relative_range: [f64; 2],
    /// Cells in which both it and the baseline have a result.
    pub cells: usize,
    /// The relative amplification by workload.
    pub workloads: Vec<WorkloadScore>,
    /// Relative to the baseline, each cell.
    pub by_cell: Vec<(Cell, f64)>,
    /// What it has to remember beside what every FTL of its kind keeps, on the drive where that is most.
    pub metadata_bytes_max: u64,
    /// The formula of that, on the same drive.
    pub metadata: String,
    /// Nanoseconds per host write over all cells, collections included.
    pub nanoseconds_per_host_write: f64,
}

/// What the cells of one workload say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkloadScore {
    /// The workload as it was named.
    pub workload: String,
    /// Geometric mean over its cells, relative to the baseline.
    pub relative: f64,
    /// Mean write amplification over its cells.
    pub waf_mean: f64,
}

impl Scoreboard {
    /// Holds every FTL against the best of `baseline` in the same cell, or of its [`RIVALS`].
    pub fn new(outcomes: &[Outcome], baseline: &[String]) -> Self {
        let of_rivals = baseline.iter().any(|ftl| ftl == RIVALS);
        let counts = |ftl: &str| {
            if of_rivals { !knows_the_future(ftl) } else { baseline.iter().any(|name| name == ftl) }
        };
        let mut of_baseline = Baseline { best: BTreeMap::new(), of_rivals };
        for (cell, run) in results(outcomes).filter(|(cell, _)| counts(&cell.ftl)) {
            of_baseline.add(cell, amplified(run));
        }
        let mut ftls: Vec<&str> = Vec::new();
        for (cell, _) in results(outcomes) {
            if !ftls.contains(&cell.ftl.as_str()) {
                ftls.push(&cell.ftl);
            }
        }
        let score = |ftl: &&str| Score::new(ftl, outcomes, &of_baseline);
        let mut scores: Vec<_> = ftls.iter().filter_map(score).collect();
        scores.sort_by(|a, b| a.relative.total_cmp(&b.relative));
        let missing = outcomes.iter().filter_map(|outcome| {
            let reason = outcome.run.as_ref().err()?;
            Some((outcome.cell.clone(), reason.clone()))
        });
        Self { baseline: baseline.to_vec(), scores, missing: missing.collect() }
    }
}

/// What FTLs are held against.
struct Baseline<'a> {
    /// Cell without its FTL -> the two best of those that others are held against, the best first.
    best: BTreeMap<String, Vec<(f64, &'a str)>>,
    /// An FTL is not held against itself.
    of_rivals: bool,
}

impl<'a> Baseline<'a> {
    fn add(&mut self, cell: &'a Cell, amplified: f64) {
        let best = self.best.entry(place(cell)).or_default();
        let rank = best.partition_point(|(other, _)| *other <= amplified);
        best.insert(rank, (amplified, &cell.ftl));
        best.truncate(2);
    }

    /// What an FTL is held against in a cell.
    fn of(&self, cell: &Cell) -> Option<f64> {
        let best = self.best.get(&place(cell))?;
        let other = best.iter().find(|(_, ftl)| !self.of_rivals || *ftl != cell.ftl);
        other.map(|(amplified, _)| *amplified)
    }
}

/// Whether an FTL is told what no drive can know.
fn knows_the_future(ftl: &str) -> bool {
    ftl.parse()
        .is_ok_and(|spec| registry::hints(&spec).is_ok_and(|hints| hints == Hints::Lifetimes))
}

impl Score {
    /// None if there is no cell that has both a result of `ftl` and one of the baseline.
    fn new(ftl: &str, outcomes: &[Outcome], baseline: &Baseline<'_>) -> Option<Self> {
        let runs: Vec<(&Cell, &RunResult, f64)> = results(outcomes)
            .filter(|(cell, _)| cell.ftl == ftl)
            .filter_map(|(cell, run)| Some((cell, run, amplified(run) / baseline.of(cell)?)))
            .collect();
        let most = runs.iter().max_by_key(|(_, run, _)| run.memory.metadata_bytes)?.1;
        let ratios = || runs.iter().map(|(_, _, ratio)| *ratio);
        let host_writes: u64 = runs.iter().map(|(_, run, _)| run.host_writes).sum();
        let seconds: f64 = runs.iter().map(|(_, run, _)| run.seconds).sum();
        Some(Self {
            ftl: ftl.to_owned(),
            relative: geometric_mean(ratios()),
            relative_range: [ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max)],
            cells: runs.len(),
            workloads: by_workload(&runs),
            by_cell: runs.iter().map(|(cell, _, ratio)| ((*cell).clone(), *ratio)).collect(),
            metadata_bytes_max: most.memory.metadata_bytes,
            metadata: most.memory.metadata.clone(),
            nanoseconds_per_host_write: 1e9 * seconds / host_writes as f64,
        })
    }
}

fn results(outcomes: &[Outcome]) -> impl Iterator<Item = (&Cell, &RunResult)> {
    outcomes.iter().filter_map(|outcome| Some((&outcome.cell, outcome.run.as_ref().ok()?)))
}

fn amplified(run: &RunResult) -> f64 {
    run.waf - 1.0 + RELOCATION_FLOOR
}

/// A cell without its FTL.
fn place(cell: &Cell) -> String {
    let Cell { workload, fill, op_ratio, pages_per_block, .. } = cell;
    format!("{workload}\n{fill}\n{op_ratio}\n{pages_per_block:?}")
}

fn by_workload(runs: &[(&Cell, &RunResult, f64)]) -> Vec<WorkloadScore> {
    let mut names: Vec<&str> = Vec::new();
    for (cell, _, _) in runs {
        if !names.contains(&cell.workload.as_str()) {
            names.push(&cell.workload);
        }
    }
    let score = |workload: &&str| {
        let of = || runs.iter().filter(|(cell, _, _)| cell.workload == **workload);
        let sum: f64 = of().map(|(_, run, _)| run.waf).sum();
        WorkloadScore {
            workload: (*workload).to_owned(),
            relative: geometric_mean(of().map(|(_, _, ratio)| *ratio)),
            waf_mean: sum / of().count() as f64,
        }
    };
    names.iter().map(score).collect()
}

fn geometric_mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut count) = (0.0, 0.0);
    for number in numbers {
        sum += number.ln();
        count += 1.0;
    }
    (sum / count).exp()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use ftlab_sim::{DriveOptions, Experiment, Length, Logical, Workload};

    /// Outcomes with these write amplifications, of (FTL, workload).
    pub(in crate::compare) fn outcomes(wafs: &[(&str, &str, f64)]) -> Vec<Outcome> {
        let workload = Workload::parse("uniform", ftlab_trace::OpenOptions::default()).unwrap();
        let experiment = Experiment {
            drive: DriveOptions {
                logical: Logical::Pages(1024),
                pages_per_block: Some(8),
                ..DriveOptions::default()
            },
            length: Length::DriveWrites(1.5),
            ..Experiment::new(workload, vec!["2r++".parse().unwrap()])
        };
        let run = experiment.run(&mut ()).unwrap().runs.remove(0);
        let outcome = |(ftl, workload, waf): &(&str, &str, f64)| Outcome {
            cell: Cell {
                workload: (*workload).into(),
                fill: "none".into(),
                op_ratio: 0.1,
                pages_per_block: Some(8),
                ftl: (*ftl).into(),
            },
            run: Ok(RunResult { waf: *waf, seconds: 1e-3, host_writes: 1000, ..run.clone() }),
        };
        wafs.iter().map(outcome).collect()
    }

    #[test]
    fn means_are_geometric_and_of_common_cells() {
        let mut outcomes = outcomes(&[
            ("a", "x", 1.997),
            ("a", "y", 1.197),
            ("b", "x", 1.497),
            ("b", "y", 1.397),
            ("c", "x", 1.247),
        ]);
        outcomes.push(Outcome { run: Err("too small".into()), ..outcomes[0].clone() });
        let board = Scoreboard::new(&outcomes, &["a".into()]);
        let found: Vec<_> =
            board.scores.iter().map(|s| (s.ftl.as_str(), s.cells, s.relative)).collect();
        let expected = [("c", 1, 0.25), ("a", 2, 1.0), ("b", 2, 1.0)];
        for ((ftl, cells, relative), wanted) in found.into_iter().zip(expected) {
            assert_eq!((ftl, cells), (wanted.0, wanted.1));
            assert!((relative - wanted.2).abs() < 1e-9, "{ftl}: {relative}");
        }
        assert_eq!(board.missing.len(), 1);
        assert!((board.scores[0].nanoseconds_per_host_write - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn of_several_baselines_the_best_counts_in_each_cell() {
        let outcomes =
            outcomes(&[("a", "x", 2.0), ("b", "x", 1.5), ("a", "y", 1.5), ("b", "y", 2.0)]);
        let board = Scoreboard::new(&outcomes, &["a".into(), "b".into()]);
        assert!(board.scores.iter().all(|score| score.relative_range[0] >= 1.0 - 1e-12));
        assert!(board.scores.iter().all(|score| score.relative > 1.4));
    }

    #[test]
    fn rivals_are_the_best_of_the_others_that_can_be_built() {
        let outcomes = outcomes(&[
            ("2r++", "x", 1.997),
            ("sepbit", "x", 1.497),
            ("hazard", "x", 1.247),
            ("fk", "x", 1.047),
        ]);
        let board = Scoreboard::new(&outcomes, &[RIVALS.into()]);
        let found = board.scores.iter().map(|score| (score.ftl.as_str(), score.relative));
        let expected = [("fk", 0.2), ("hazard", 0.5), ("sepbit", 2.0), ("2r++", 4.0)];
        for (found, expected) in found.zip(expected) {
            assert_eq!(found.0, expected.0);
            assert!((found.1 - expected.1).abs() < 1e-9, "{found:?}");
        }
        assert!(Scoreboard::new(&outcomes[..1], &[RIVALS.into()]).scores.is_empty());
    }
}
