//! The comparison: every combination of FTLs, drives and workloads, on all processors.

use super::cell::{Cell, Outcome};
use super::score::RIVALS;
use super::store::CellStore;
use crate::error::ExperimentsError;
use crate::identity::changed;
use crate::parallel::{Stop, Until, lock, parallel, when_it_fits};
use ftlab_ftl::registry::{self, Kind, entries};
use ftlab_sim::result::RunResult;
use ftlab_sim::{
    DriveClass, Experiment, Fill, Mapping, Model, Physical, SimError, Workload, WorkloadIdentity,
};
use ftlab_spec::{Share, Spec};
use ftlab_trace::Contents;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// FTLs on drives under workloads: every combination.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// What all cells have in common: seed, length, reserve and the like.
    pub base: Experiment,
    /// Where the writes come from.
    pub workloads: Vec<Workload>,
    /// What serves them.
    pub ftls: Vec<Spec>,
    /// How drives are filled first.
    pub fills: Vec<Fill>,
    /// Over-provisioning of the drives.
    pub op_ratios: Vec<Share>,
    /// Pages per erase block of the drives; the usual number for their size if `None`.
    pub pages_per_block: Vec<Option<u32>>,
    /// The real drive of which every drive is a model, if one is asked about, with a model for each workload.
    pub models: Option<(DriveClass, Vec<Model>)>,
    /// Ends all runs when it is set.
    pub stop: Stop,
}

/// Over-provisioning of the drives, if none is named.
pub const USUAL_OP_RATIOS: [Share; 3] = [Share(0.07), Share(0.1), Share(0.28)];

/// Is told of every cell that is finished: how many there are by now, of how many, and the cell.
pub type OnCell<'a> = &'a (dyn Fn(usize, usize, &Outcome) + Sync);

/// Placements that are another by another name, and those that have to be told what is hot.
const NOT_ALONE: [&str; 3] = ["single", "baseline", "oracle"];

/// Every FTL that has a name of its own, and with cost-benefit victims every placement that none of them
/// stands for.
pub fn standard_ftls() -> Vec<Spec> {
    let entries = entries();
    let ftls = entries.iter().filter(|entry| entry.kind == Kind::Ftl);
    let names: Vec<_> = ftls.map(|entry| entry.name.to_owned()).collect();
    let is_named = |placement: &str| {
        let stem = |name: &str| name == placement || name.starts_with(&format!("{placement}-"));
        names.iter().any(|name| stem(name))
    };
    let alone = entries.iter().filter(|entry| {
        entry.kind == Kind::Placement && !NOT_ALONE.contains(&entry.name) && !is_named(entry.name)
    });
    let pairs: Vec<_> = alone.map(|entry| format!("{}/cost-benefit", entry.name)).collect();
    names.iter().chain(&pairs).map(Spec::bare).collect()
}

/// The FTLs of a comparison, and the baselines beside them, unless these are [`RIVALS`]. If none are named, all
/// [standard](standard_ftls) ones; on models of a drive, those that map pages.
pub fn contestants(
    named: &[Spec],
    baseline: &[Spec],
    on_models: bool,
) -> Result<Vec<Spec>, SimError> {
    let mut ftls = if named.is_empty() { standard_ftls() } else { named.to_vec() };
    if named.is_empty() && on_models {
        ftls.retain(|ftl| registry::maps_blocks(ftl).is_ok_and(|maps_blocks| !maps_blocks));
    }
    for ftl in baseline {
        if ftl.to_string() != RIVALS && !ftls.contains(ftl) {
            ftls.push(ftl.clone());
        }
    }
    for (index, ftl) in ftls.iter().enumerate() {
        registry::resolve(ftl)?;
        if ftls[..index].contains(ftl) {
            return Err(SimError::Unusable {
                what: format!("{ftl} is named twice"),
                remedy: "name each FTL once".into(),
            });
        }
    }
    Ok(ftls)
}

impl Comparison {
    /// It on models of a real drive, whose units are the blocks.
    pub fn on_models(mut self, class: DriveClass) -> Result<Self, SimError> {
        let (page_bytes, seed) = (self.base.drive.page_bytes, self.base.seed);
        let model = |workload: &Workload| class.model(workload, page_bytes, seed);
        let models = self.workloads.iter().map(model).collect::<Result<Vec<_>, _>>()?;
        self.workloads = models.iter().map(|model| model.workload.clone()).collect();
        self.pages_per_block = vec![None];
        self.models = Some((class, models));
        Ok(self)
    }

    /// The `workload` on models of each of these drives.
    pub(super) fn on_each(
        self,
        classes: &[DriveClass],
        workload: &Workload,
    ) -> Result<Self, SimError> {
        let (page_bytes, seed) = (self.base.drive.page_bytes, self.base.seed);
        let model = |class: &DriveClass| class.model(workload, page_bytes, seed);
        let models = classes.iter().map(model).collect::<Result<Vec<_>, _>>()?;
        let workloads = models.iter().map(|model| model.workload.clone()).collect();
        let models = classes.first().map(|class| (*class, models));
        Ok(Self { workloads, models, ..self })
    }

    /// Runs every cell that `store` does not have, on `threads`; the outcomes of all are in order.
    pub fn run(
        &self,
        store: CellStore,
        threads: usize,
        on_cell: OnCell<'_>,
    ) -> Result<Vec<Outcome>, ExperimentsError> {
        let contents = Contents::of_user();
        let identities = self.workloads.iter().map(|workload| self.identity(workload, &contents));
        let identities = identities.collect::<Result<Vec<_>, SimError>>()?;
        let cells = self.cells();
        let store = Mutex::new(store);
        let (done, has_failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let outcomes = parallel(threads, &cells, |(workload, cell)| {
            if has_failed.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let outcome = self.outcome(cell, *workload, &identities, &contents, &store);
            match &outcome {
                Ok(outcome) => {
                    on_cell(done.fetch_add(1, Ordering::Relaxed) + 1, cells.len(), outcome);
                }
                // What cannot be kept need not be computed.
                Err(_) => has_failed.store(true, Ordering::Relaxed),
            }
            outcome.map(Some)
        });
        let outcomes: Result<Vec<_>, _> = outcomes.into_iter().collect();
        Ok(outcomes?.into_iter().flatten().collect())
    }

    /// Every combination with the number of its workload: FTLs within drives within workloads.
    fn cells(&self) -> Vec<(usize, Cell)> {
        let mut cells = Vec::new();
        for (index, workload) in self.workloads.iter().enumerate() {
            for &pages_per_block in &self.pages_per_block {
                for fill in &self.fills {
                    for (op, mapping) in self.drives() {
                        cells.extend(self.ftls.iter().map(|ftl| {
                            let cell = Cell {
                                workload: workload.name(),
                                fill: fill.to_string(),
                                op_ratio: op.0,
                                pages_per_block,
                                mapping: mapping.map(Mapping::name),
                                ftl: ftl.to_string(),
                            };
                            (index, cell)
                        }));
                    }
                }
            }
        }
        cells
    }

    /// Every over-provisioning with every map; none if that is in memory in all of them.
    fn drives(&self) -> impl Iterator<Item = (Share, Option<&Mapping>)> {
        let mappings = &self.base.drive.mapping;
        let told = !mappings.are_full();
        self.op_ratios.iter().flat_map(move |op| {
            mappings.each().iter().map(move |mapping| (*op, told.then_some(mapping)))
        })
    }

    pub(super) fn experiment(&self, cell: &Cell, workload: usize) -> Result<Experiment, SimError> {
        let mut experiment = Experiment {
            workload: self.workloads[workload].clone(),
            ftls: vec![cell.ftl.parse()?],
            fill: cell.fill.parse()?,
            threads: Some(1),
            ..self.base.clone()
        };
        experiment.drive.physical = Physical::OverProvisioning(Share(cell.op_ratio));
        experiment.drive.pages_per_block = cell.pages_per_block;
        if let Some(mapping) = &cell.mapping {
            experiment.drive.mapping = mapping.parse()?;
        }
        match &self.models {
            Some((_, models)) => models[workload].of(&experiment),
            None => Ok(experiment),
        }
    }

    fn identity(
        &self,
        workload: &Workload,
        contents: &Contents,
    ) -> Result<WorkloadIdentity, SimError> {
        workload.identity(self.base.drive.page_bytes, contents)
    }

    /// The stored outcome of a cell, or that of running it; an error if it cannot be stored.
    fn outcome(
        &self,
        cell: &Cell,
        workload: usize,
        identities: &[WorkloadIdentity],
        contents: &Contents,
        store: &Mutex<CellStore>,
    ) -> Result<Outcome, ExperimentsError> {
        let of = |run| Outcome { cell: cell.clone(), run };
        let identity = &identities[workload];
        let known = self.experiment(cell, workload).and_then(|experiment| {
            let own = experiment.identity(identity)?.of_run(&experiment.ftls[0])?;
            Ok((experiment, own))
        });
        let (experiment, own) = match known {
            Ok(known) => known,
            Err(error) => return Ok(of(Err(error.to_string()))),
        };
        if let Some(run) = lock(store).get(&own) {
            return Ok(of(Ok(run)));
        }
        let is_stopped = || self.stop.load(Ordering::Relaxed);
        let run = || experiment.run(&mut Until(&self.stop));
        let ran = when_it_fits(is_stopped, run).and_then(|result| {
            let is_same = self.identity(&experiment.workload, contents)? == *identity;
            if is_same { Ok(result) } else { Err(changed(&experiment.workload)) }
        });
        let mut result = match ran {
            Ok(result) => result,
            Err(SimError::Stopped) => return Err(SimError::Stopped.into()),
            Err(error) => return Ok(of(Err(error.to_string()))),
        };
        let mut run = result.runs.remove(0);
        without_series(&mut run);
        lock(store).put(&own, cell, &run)?;
        Ok(of(Ok(run)))
    }
}

/// Empties the running series of a run, which are most of a result, for those who show none.
pub fn without_series(run: &mut RunResult) {
    run.running_waf = Vec::new();
    run.running_host_bytes = None;
    run.running_relocations = Vec::new();
    run.running_erases = Vec::new();
    run.running_cold_region_share = None;
    run.running_groups = None;
    run.running_rule = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{CELLS, Scoreboard, csv};
    use ftlab_sim::{DriveOptions, Length, Logical};
    use std::path::Path;
    use std::sync::atomic::AtomicUsize;

    fn comparison(workload: &str, ftls: &[&str]) -> Comparison {
        let workload = Workload::parse(workload, ftlab_trace::OpenOptions::default()).unwrap();
        let base = Experiment {
            drive: DriveOptions { logical: Logical::Pages(2048), ..DriveOptions::default() },
            length: Length::DriveWrites(2.0),
            ..Experiment::new(workload.clone(), Vec::new())
        };
        Comparison {
            base,
            workloads: vec![workload],
            ftls: ftls.iter().map(|ftl| ftl.parse().unwrap()).collect(),
            fills: vec![Fill::Sequential],
            op_ratios: vec![Share(0.2), Share(0.3)],
            pages_per_block: vec![Some(16)],
            models: None,
            stop: Stop::default(),
        }
    }

    fn run(comparison: &Comparison, directory: &Path) -> Vec<Outcome> {
        comparison.run(CellStore::open(directory, CELLS).unwrap(), 2, &|_, _, _| ()).unwrap()
    }

    #[test]
    fn outcomes_are_those_of_single_runs_and_in_order() {
        let place = tempfile::tempdir().unwrap();
        let comparison = comparison("zipf:theta=0.9", &["1r-greedy", "sepbit"]);
        let outcomes = run(&comparison, place.path());
        let cells: Vec<_> = outcomes.iter().map(|outcome| outcome.cell.clone()).collect();
        let expected: Vec<_> = comparison.cells().into_iter().map(|(_, cell)| cell).collect();
        assert_eq!(cells, expected);
        let alone = comparison.experiment(&cells[1], 0).unwrap().run(&mut ()).unwrap();
        let run = outcomes[1].run.as_ref().unwrap();
        assert_eq!((run.relocations, run.waf), (alone.runs[0].relocations, alone.runs[0].waf));
    }

    #[test]
    fn every_ftl_runs_with_every_map_and_is_held_against_others_with_the_same() {
        let place = tempfile::tempdir().unwrap();
        let mut comparison = comparison("hotcold", &["1r-greedy", "sepbit"]);
        comparison.base.drive.mapping = "full,dftl:cache=4KiB".parse().unwrap();
        // Translation pages are one more stream.
        comparison.base.drive.reserve_blocks = 5;
        comparison.op_ratios = vec![Share(0.4)];
        let outcomes = run(&comparison, place.path());
        let told: Vec<_> = outcomes.iter().map(|of| of.cell.mapping.as_deref().unwrap()).collect();
        assert_eq!(told, ["full", "full", "dftl:cache=4KiB", "dftl:cache=4KiB"]);
        let waf = |index: usize| outcomes[index].run.as_ref().unwrap().waf;
        assert!(waf(0) < waf(2) && waf(1) < waf(3), "translation pages are written");
        let board = Scoreboard::new(&outcomes, &["1r-greedy".into()]);
        let of_baseline = board.scores.iter().filter(|score| score.ftl == "1r-greedy");
        let rows = of_baseline.map(|of| (of.name(), of.cells, of.relative)).collect::<Vec<_>>();
        let names = ["full", "dftl:cache=4KiB"].map(|map| format!("1r-greedy with {map}"));
        assert_eq!(rows, names.map(|name| (name, 1, 1.0)));
        assert!(csv(&outcomes).starts_with("workload,fill,op,pages_per_block,mapping,ftl,"));
    }

    #[test]
    fn what_no_model_runs_is_not_among_the_usual() {
        let names = |on_models| {
            let ftls = contestants(&[], &[Spec::bare("2r++")], on_models).unwrap();
            ftls.iter().map(Spec::to_string).collect::<Vec<_>>()
        };
        let (all, on_models) = (names(false), names(true));
        let left_out: Vec<_> = all.iter().filter(|ftl| !on_models.contains(ftl)).collect();
        assert!(left_out.iter().any(|ftl| *ftl == "fast") && left_out.len() < 10, "{left_out:?}");
        let named = contestants(&["fast".parse().unwrap()], &[], true).unwrap();
        assert_eq!(named.len(), 1, "what is asked for is refused by name");
    }

    #[test]
    fn what_is_stored_is_not_run_again_even_behind_a_torn_line() {
        let place = tempfile::tempdir().unwrap();
        let comparison = comparison("uniform", &["1r-greedy", "2r++"]);
        let first = run(&comparison, place.path());
        let path = place.path().join(CELLS);
        let lines = std::fs::read_to_string(&path).unwrap();
        // As a process leaves it that is killed while it writes the last line.
        std::fs::write(&path, &lines[..lines.len() - 40]).unwrap();
        let times = |outcomes: &[Outcome]| -> Vec<u64> {
            outcomes.iter().map(|outcome| outcome.run.as_ref().unwrap().seconds.to_bits()).collect()
        };
        let again = run(&comparison, place.path());
        let same = times(&first).iter().zip(times(&again)).filter(|(a, b)| *a == b).count();
        assert_eq!(same, 3, "times differ from run to run, unless they are stored");
        assert_eq!(times(&again), times(&run(&comparison, place.path())));
    }

    #[test]
    fn a_cell_that_cannot_run_says_why_and_disturbs_no_other() {
        let place = tempfile::tempdir().unwrap();
        let comparison = comparison("uniform", &["oracle/greedy", "1r-greedy"]);
        let seen = AtomicUsize::new(0);
        let count = |_: usize, _: usize, _: &Outcome| {
            seen.fetch_add(1, Ordering::Relaxed);
        };
        let store = CellStore::open(place.path(), CELLS).unwrap();
        let outcomes = comparison.run(store, 1, &count).unwrap();
        assert_eq!(seen.into_inner(), 4);
        assert!(outcomes[0].run.as_ref().unwrap_err().contains("hot=auto is not possible"));
        assert!(outcomes[1].run.is_ok());
    }

    #[test]
    fn the_standard_ftls_are_all_that_have_a_name() {
        let names: Vec<_> = standard_ftls().iter().map(Spec::to_string).collect();
        for name in ["1r-greedy", "hazard", "midas", "fk", "nvme-fdp", "sfs/cost-benefit"] {
            assert!(names.iter().any(|other| other == name), "{name} is not in {names:?}");
        }
        for name in ["dac/cost-benefit", "fk/cost-benefit", "single/cost-benefit"] {
            assert!(!names.iter().any(|other| other == name), "{name} is in {names:?}");
        }
    }
}
