//! What many cells say of an FTL.

use super::cell::{Cell, Contestant, Outcome};
use ftlab_ftl::page::Hints;
use ftlab_ftl::registry;
use ftlab_sim::format::with_map;
use ftlab_sim::result::RunResult;
use ftlab_sim::trust::Trust;
use ftlab_sim::{are_steady, compared_wafs};
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
    /// Every FTL with a result, with each of its maps.
    pub scores: Vec<Score>,
    /// Cells without a result, and why.
    pub missing: Vec<(Cell, String)>,
    /// Cells that are no evidence and in no mean, and what each lacks.
    pub without_evidence: Vec<(Cell, String)>,
    /// The real drive of which every drive is a model, in words, if it is about one.
    pub drive: Option<String>,
    /// What it rests on.
    pub trust: Trust,
    /// What to keep in mind.
    pub caveats: Vec<String>,
}

/// What all cells of an FTL with one map say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Score {
    /// The FTL as it was named.
    pub ftl: String,
    /// Where its map is; none if it is in memory in every cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mapping: Option<String>,
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
    /// Mean write amplification over its cells: the steady value where all FTLs of a cell have one.
    pub waf_mean: f64,
    /// The same of whole runs.
    pub run_waf_mean: f64,
    /// Cells in which all FTLs have a steady value.
    pub steady_cells: usize,
}

/// A cell with a result that is evidence.
#[derive(Clone, Copy)]
struct Measured<'a> {
    cell: &'a Cell,
    run: &'a RunResult,
    /// The write amplification by which the FTLs of the cell are compared.
    waf: f64,
    /// Whether that is the steady value.
    is_steady: bool,
}

impl Measured<'_> {
    fn amplified(&self) -> f64 {
        self.waf - 1.0 + RELOCATION_FLOOR
    }
}

impl Scoreboard {
    /// Holds every FTL against the best of `baseline` in the same cell, or of its [`RIVALS`].
    pub fn new(outcomes: &[Outcome], baseline: &[String]) -> Self {
        let of_rivals = baseline.iter().any(|ftl| ftl == RIVALS);
        let counts = |ftl: &str| {
            if of_rivals { !knows_the_future(ftl) } else { baseline.iter().any(|name| name == ftl) }
        };
        let measured = measured(outcomes);
        let mut of_baseline = Baseline { best: BTreeMap::new(), of_rivals };
        for one in measured.iter().filter(|one| counts(&one.cell.ftl)) {
            of_baseline.add(one.cell, one.amplified());
        }
        let mut contestants: Vec<Contestant<'_>> = Vec::new();
        for one in &measured {
            if !contestants.contains(&one.cell.contestant()) {
                contestants.push(one.cell.contestant());
            }
        }
        let score = |of: &Contestant<'_>| Score::new(*of, &measured, &of_baseline);
        let mut scores: Vec<_> = contestants.iter().filter_map(score).collect();
        scores.sort_by(|a, b| a.relative.total_cmp(&b.relative));
        let missing = outcomes.iter().filter_map(|outcome| {
            let reason = outcome.run.as_ref().err()?;
            Some((outcome.cell.clone(), reason.clone()))
        });
        let without_evidence = outcomes.iter().filter_map(|outcome| {
            let evidence = outcome.run.as_ref().ok()?.evidence.as_ref()?;
            Some((outcome.cell.clone(), evidence.lacks.clone()?))
        });
        let runs = outcomes.iter().filter_map(|outcome| outcome.run.as_ref().ok());
        Self {
            baseline: baseline.to_vec(),
            scores,
            missing: missing.collect(),
            without_evidence: without_evidence.collect(),
            drive: None,
            trust: Trust::of(runs.filter_map(|run| run.evidence.as_ref()), Vec::new()),
            caveats: Vec::new(),
        }
    }

    /// Why there is no score: what the first cell of the baseline lacks, and whether that is evidence rather than a result.
    pub fn why_none(&self) -> (&str, bool) {
        let of_baseline = |cell: &Cell| {
            self.baseline.contains(&cell.ftl) || self.baseline.iter().any(|ftl| ftl == RIVALS)
        };
        let first = |of: &'_ [(Cell, String)]| of.iter().position(|(cell, _)| of_baseline(cell));
        match (first(&self.missing), first(&self.without_evidence)) {
            (None, Some(at)) => (&self.without_evidence[at].1, true),
            (Some(at), _) => (&self.missing[at].1, false),
            (None, None) => ("", false),
        }
    }

    /// The FTL that does best of those that can be built, and the next one with the same map.
    pub(super) fn leaders(&self) -> Option<[&Score; 2]> {
        let mut built = self.scores.iter().filter(|score| !knows_the_future(&score.ftl));
        let best = built.next()?;
        Some([best, built.find(|score| score.mapping == best.mapping)?])
    }

    /// Whether rows differ in their maps, or have one that is not in memory as a whole.
    pub fn has_maps(&self) -> bool {
        self.scores.iter().any(|score| score.mapping.is_some())
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
    /// Itself, with its map if that is told.
    pub fn name(&self) -> String {
        with_map(&self.ftl, self.mapping.as_deref())
    }

    /// None if there is no cell that has both a result of it and one of the baseline.
    fn new(of: Contestant<'_>, measured: &[Measured<'_>], baseline: &Baseline<'_>) -> Option<Self> {
        let runs: Vec<(Measured<'_>, f64)> = measured
            .iter()
            .filter(|one| one.cell.contestant() == of)
            .filter_map(|one| Some((*one, one.amplified() / baseline.of(one.cell)?)))
            .collect();
        let most =
            runs.iter().map(|(one, _)| one.run).max_by_key(|run| run.memory.metadata_bytes)?;
        let ratios = || runs.iter().map(|(_, ratio)| *ratio);
        let host_writes: u64 = runs.iter().map(|(one, _)| one.run.host_writes).sum();
        let seconds: f64 = runs.iter().map(|(one, _)| one.run.seconds).sum();
        Some(Self {
            ftl: of.0.to_owned(),
            mapping: of.1.map(str::to_owned),
            relative: geometric_mean(ratios()),
            relative_range: [ratios().fold(f64::INFINITY, f64::min), ratios().fold(0.0, f64::max)],
            cells: runs.len(),
            workloads: by_workload(&runs),
            by_cell: runs.iter().map(|(one, ratio)| (one.cell.clone(), *ratio)).collect(),
            metadata_bytes_max: most.memory.metadata_bytes,
            metadata: most.memory.metadata.clone(),
            nanoseconds_per_host_write: 1e9 * seconds / host_writes as f64,
        })
    }
}

/// The cells whose results are evidence, by what each is compared.
fn measured(outcomes: &[Outcome]) -> Vec<Measured<'_>> {
    let results = || {
        let results = outcomes.iter().filter_map(|of| Some((&of.cell, of.run.as_ref().ok()?)));
        results.filter(|(_, run)| run.is_evidence())
    };
    let mut places: BTreeMap<String, Vec<&RunResult>> = BTreeMap::new();
    for (cell, run) in results() {
        places.entry(place(cell)).or_default().push(run);
    }
    let measured = results().map(|(cell, run)| {
        let runs = &places[&place(cell)];
        let index = runs.iter().position(|other| std::ptr::eq(*other, run)).unwrap_or(0);
        let is_steady = are_steady(runs);
        Measured { cell, run, waf: compared_wafs(runs)[index], is_steady }
    });
    measured.collect()
}

/// A cell without its FTL.
fn place(cell: &Cell) -> String {
    let Cell { workload, fill, op_ratio, pages_per_block, mapping, ftl: _ } = cell;
    format!("{workload}\n{fill}\n{op_ratio}\n{pages_per_block:?}\n{mapping:?}")
}

fn by_workload(runs: &[(Measured<'_>, f64)]) -> Vec<WorkloadScore> {
    let mut names: Vec<&str> = Vec::new();
    for (one, _) in runs {
        if !names.contains(&one.cell.workload.as_str()) {
            names.push(&one.cell.workload);
        }
    }
    let score = |workload: &&str| {
        let of = || runs.iter().filter(|(one, _)| one.cell.workload == **workload);
        let mean = |waf: fn(&Measured<'_>) -> f64| {
            of().map(|(one, _)| waf(one)).sum::<f64>() / of().count() as f64
        };
        WorkloadScore {
            workload: (*workload).to_owned(),
            relative: geometric_mean(of().map(|(_, ratio)| *ratio)),
            waf_mean: mean(|one| one.waf),
            run_waf_mean: mean(|one| one.run.waf),
            steady_cells: of().filter(|(one, _)| one.is_steady).count(),
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
            length: Length::DriveWrites(3.0),
            ..Experiment::new(workload, vec!["2r++".parse().unwrap()])
        };
        let run = experiment.run(&mut ()).unwrap().runs.remove(0);
        let outcome = |(ftl, workload, waf): &(&str, &str, f64)| Outcome {
            cell: Cell {
                workload: (*workload).into(),
                fill: "none".into(),
                op_ratio: 0.1,
                pages_per_block: Some(8),
                mapping: None,
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
    fn what_is_no_evidence_is_named_and_in_no_mean() {
        let mut outcomes =
            outcomes(&[("a", "x", 1.997), ("b", "x", 1.497), ("a", "y", 1.997), ("b", "y", 9.0)]);
        let run = outcomes[3].run.as_mut().unwrap();
        run.evidence.as_mut().unwrap().lacks = Some("no block was erased".into());
        let board = Scoreboard::new(&outcomes, &["a".into()]);
        let b = &board.scores[0];
        assert_eq!((b.ftl.as_str(), b.cells), ("b", 1));
        assert!((b.relative - 0.5).abs() < 1e-9);
        let [(cell, lacks)] = &board.without_evidence[..] else { panic!("{board:?}") };
        assert_eq!((cell.workload.as_str(), lacks.as_str()), ("y", "no block was erased"));
    }

    #[test]
    fn steady_values_are_compared_where_all_of_a_cell_have_one() {
        let mut outcomes =
            outcomes(&[("a", "x", 1.9), ("b", "x", 1.8), ("a", "y", 1.9), ("b", "y", 1.8)]);
        for (outcome, steady) in outcomes.iter_mut().zip([1.997, 1.497, 1.997]) {
            outcome.run.as_mut().unwrap().steady_waf = Some(steady);
        }
        let board = Scoreboard::new(&outcomes, &["a".into()]);
        let [x, y] = &board.scores[0].workloads[..] else { panic!("{board:?}") };
        assert!((x.relative - 0.5).abs() < 1e-9 && (y.relative - 0.803 / 0.903).abs() < 1e-9);
        assert_eq!([x.steady_cells, y.steady_cells], [1, 0]);
        assert!((x.waf_mean - 1.497).abs() < 1e-9 && (x.run_waf_mean - 1.8).abs() < 1e-9);
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
